"""The studies: known verdicts, numbers against closed forms, and the tables of docs/theory.md."""

import json
from math import inf, log
from pathlib import Path

import numpy as np
import pytest

from backplay.curricula import Standard, Uniform
from backplay.errors import BackplayError
from backplay.theory import (
    STUDIES,
    Chain,
    Sizes,
    Study,
    merging_cost,
    phases,
    run_studies,
    stepwise,
)
from backplay.theory.study import Finding, judged, short

DOC = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()


@pytest.fixture(scope="module")
def studies() -> dict[str, Study]:
    return {study.name: study for study in run_studies(Sizes.quick())}


def verdicts(study: Study, part: str = "") -> dict[str, str]:
    return {f.where: f.verdict for f in study.findings if part in f.claim}


def test_every_study_is_there_in_order_and_is_plain_data(studies: dict[str, Study]) -> None:
    assert list(studies) == list(STUDIES)
    for study in studies.values():
        plain = study.as_json()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert study.findings
        assert study.panels or study.tables
        for table in study.tables:
            assert all(len(row) == len(table.head) for row in table.rows)


def test_the_seed_decides_what_is_simulated(studies: dict[str, Study]) -> None:
    for name, place in (("graphs", 5), ("trees", 6)):
        again = STUDIES[name](Sizes.quick(), np.random.default_rng([0, place]))
        other = STUDIES[name](Sizes.quick(), np.random.default_rng([1, place]))
        assert again.as_json() == studies[name].as_json()
        assert other.tables[0].rows != again.tables[0].rows
        # Random graphs are part of the study: another seed is other runs on the same ones.
        assert [row[0] for row in other.tables[0].rows] == [row[0] for row in again.tables[0].rows]


def test_the_gap_keeps_the_claim_exactly_where_drift_is_strong(studies: dict[str, Study]) -> None:
    found = verdicts(studies["gap"], "a state")
    for where, verdict in found.items():
        alpha, beta = (float(part.split("=")[1]) for part in where.split(","))
        assert verdict == ("holds" if 1 - alpha - beta >= alpha**0.5 else "fails"), where
    assert list(verdicts(studies["gap"], "goes on").values()) == ["fails"]
    rates = {f.where: f.measured for f in studies["gap"].findings}
    assert rates["alpha = 0.3, beta = 0"] == pytest.approx(log(0.7 / 0.3), rel=1e-6)
    assert rates["alpha = 0.2, beta = 0.5"] == pytest.approx(log(0.3 / 0.2), rel=1e-3)
    assert "0.0837" in studies["gap"].words


def test_simulated_trials_lie_around_the_exact_ones(studies: dict[str, Study]) -> None:
    points = 0
    for panel in studies["trials"].panels:
        by_name = {series.name: series for series in panel.series}
        for name, dots in by_name.items():
            if not name.endswith(", simulated"):
                continue
            line = by_name[name.removesuffix(", simulated")]
            exact = dict(zip(line.x, line.y, strict=True))
            for x, y, low in zip(dots.x, dots.y, dots.low, strict=True):
                assert abs(y - exact[x]) < 4 * (y - low) / 1.96 + 1e-9, (panel.title, name, x)
                points += 1
    assert points > 40
    assert set(verdicts(studies["trials"]).values()) == {"holds"}


def test_trials_are_the_exact_counts(studies: dict[str, Study]) -> None:
    for panel, alpha in zip(studies["trials"].panels, (0.3, 0.5, 0.7), strict=True):
        lines = {series.name: dict(zip(series.x, series.y, strict=True)) for series in panel.series}
        chain = Chain.constant(6, alpha)
        for name, curriculum in (
            ("Standard", Standard()), ("Uniform", Uniform()), ("Backplay, m = 1", stepwise(6, 1)),
        ):  # fmt: skip
            work = merging_cost(chain, phases(curriculum, 6), 6)
            assert lines[name][6] == pytest.approx(work.trials)


def test_the_exponential_is_a_matter_of_short_trials_for_large_alpha(
    studies: dict[str, Study],
) -> None:
    found = verdicts(studies["horizons"])
    assert all(found[f"alpha = {a}, H = M"] == "holds" for a in ("0.3", "0.5", "0.6", "0.8"))
    assert all(found[f"alpha = 0.3, H = {k}M"] == "holds" for k in (2, 4, 16))
    assert all(found[f"alpha = {a}, H = 4M"] == "fails" for a in ("0.5", "0.6", "0.8"))


def test_the_factor_of_m_is_a_matter_of_merging_and_small_alpha(studies: dict[str, Study]) -> None:
    found = verdicts(studies["ratio"])
    assert found["merging, alpha = 0.1"] == "holds"
    assert all(v == "fails" for where, v in found.items() if where.startswith("walking"))
    assert found["merging, alpha = 0.6"] == "fails"


def test_the_tree_gains_much_on_its_own_leaf_only(studies: dict[str, Study]) -> None:
    gains = {series.name: series.y for series in studies["trees"].panels[0].series}
    assert gains["own leaf only"][-1] > 2.5
    assert max(gains["all"]) < 1.6


@pytest.mark.parametrize("name", ["gap", "horizons", "windows", "graphs"])
def test_the_tables_of_the_docs_come_from_the_studies(name: str) -> None:
    study = STUDIES[name](Sizes(), np.random.default_rng([0, list(STUDIES).index(name)]))
    (table,) = study.tables
    for row in table.rows:
        assert f"| {' | '.join(row)} |" in DOC.replace("**", ""), row


def test_a_verdict_is_open_where_the_interval_does_not_decide() -> None:
    def verdict(how, predicted, low, high) -> str:
        return judged("c", "w", how, predicted, (low + high) / 2, (low, high)).verdict

    assert verdict("at least", 1.0, 1.2, 1.4) == "holds"
    assert verdict("at least", 1.0, 0.5, 0.9) == "fails"
    assert verdict("at least", 1.0, 0.9, 1.1) == "open"
    assert verdict("at most", 1.0, 0.5, 0.9) == "holds"
    assert verdict("at most", 1.0, 1.2, 1.4) == "fails"
    assert verdict("about", 1.0, 0.95, 1.05) == "holds"
    assert verdict("about", 1.0, 0.7, 0.8) == "fails"
    assert verdict("about", 1.0, 0.85, 1.05) == "open"


def test_numbers_are_short_and_json_has_no_infinity() -> None:
    assert [short(x) for x in (9.19, 53.2, 3630.4, 123456.0, 4.2e12, inf)] == [
        "9.19", "53", "3,630", "1.2e5", "4.2e12", "inf",
    ]  # fmt: skip
    study = Study("n", "t", "w", [], [], [Finding("c", "w", inf, 1.0, 0.5, inf, "open")])
    assert study.as_json()["findings"][0]["predicted"] is None


def test_a_seed_below_zero_is_refused() -> None:
    with pytest.raises(BackplayError, match="seed"):
        next(run_studies(Sizes.quick(), -1))
