"""Each verdict from hand-made records."""

from typing import Any

import numpy as np
import pytest
from made_up_records import record, records

from backplay.errors import BackplayError
from backplay.report.claims import Claim, Difference, Final, FramesTo, Ratio, Verdict, judge
from backplay.report.records import RunRecord
from backplay.report.statistics import student_interval

SUCCESS = Final("Optimal", "backplay", "success")
OTHER = Final("Optimal", "uniform", "success")
FRAMES = FramesTo("Optimal", "backplay", "success", 0.5)
OTHER_FRAMES = FramesTo("Optimal", "uniform", "success", 0.5)


def claim(target: float, holds: Any = "at least", quantity: Any = SUCCESS, **more: Any) -> Claim:
    return Claim(text="c", where="Table 2", quantity=quantity, holds=holds, target=target, **more)


def verdict(one: Claim, *runs: list[RunRecord]) -> Verdict:
    return judge(one, [run for part in runs for run in part], np.random.default_rng(0))


def crossing(*frames: int, end: int = 1_000, **changes: Any) -> list[RunRecord]:
    """Runs that come to 60 % at these frames; 0 for never."""
    found = []
    for seed, at in enumerate(frames):
        curve = [
            (now, {"success": 0.6 if at and now >= at else 0.1}) for now in range(100, end + 1, 100)
        ]
        found.append(record(seed, 0.6, curve=curve, frames=end, **changes))
    return found


GOOD = records(0.90, 0.92, 0.94)  # 0.92 ± 0.0497


@pytest.mark.parametrize(
    ("target", "holds", "word"),
    [
        (0.80, "at least", "holds"), (0.90, "at least", "undecided"), (0.98, "at least", "fails"),
        (0.98, "at most", "holds"), (0.90, "at most", "undecided"), (0.80, "at most", "fails"),
    ],
)  # fmt: skip
def test_the_interval_over_seeds_decides(target: float, holds: str, word: str) -> None:
    found = verdict(claim(target, holds), GOOD)
    assert found.word == word
    assert found.estimate == pytest.approx(0.92)
    wanted = student_interval([0.90, 0.92, 0.94])
    assert (found.low, found.high) == pytest.approx(wanted[1:], rel=1e-5)
    assert (found.seeds, found.points, found.note) == (3, None, "")


@pytest.mark.parametrize(
    ("target", "tolerance", "word"),
    [(0.92, 0.06, "holds"), (0.92, 0.02, "undecided"), (0.80, 0.06, "fails"), (1.0, 0.02, "fails")],
)
def test_near_is_within_the_tolerance(target: float, tolerance: float, word: str) -> None:
    assert verdict(claim(target, "near", tolerance=tolerance), GOOD).word == word


def test_the_bound_itself_holds() -> None:
    assert verdict(claim(1.0), records(1.0, 1.0)).word == "holds"
    assert verdict(claim(0.0, "at most"), records(0.0, 0.0)).word == "holds"
    assert verdict(claim(1.0), records(1.0, 1.0, 0.99)).word == "undecided"


def test_one_seed_points_and_does_not_decide() -> None:
    found = verdict(claim(0.5), records(0.8))
    assert (found.word, found.points, found.estimate) == ("one seed", "holds", 0.8)
    assert (found.low, found.high, found.seeds) == (None, None, 1)
    assert verdict(claim(0.9), records(0.8)).points == "fails"
    assert (
        verdict(
            claim(0.0, quantity=Difference(SUCCESS, OTHER)), GOOD, records(0.1, regime="uniform")
        ).word
        == "one seed"
    )


def test_what_did_not_run_says_so() -> None:
    assert verdict(claim(0.5)) == Verdict(word="not run", note="Optimal, backplay: no run")
    late = verdict(claim(0.5), [record(0, None)])
    assert (late.word, late.note) == ("not run", "Optimal, backplay: not ended")
    half = verdict(claim(0.0, quantity=Difference(SUCCESS, OTHER)), GOOD)
    assert (half.word, half.note) == ("not run", "Optimal, uniform: no run")
    missing = verdict(claim(0.5), [record(measures={"optimal": 0.3})])
    assert (missing.word, missing.note) == ("not run", "Optimal, backplay: no success")
    some = verdict(claim(0.5), [*GOOD, record(3, None)])
    assert (some.word, some.seeds, some.note) == ("holds", 3, "Optimal, backplay: 1 not ended")


def test_other_settings_regimes_and_smaller_budgets_do_not_count() -> None:
    others = [*records(0.0, 0.0, setting="5-Optimal"), *records(0.1, 0.1, regime="uniform")]
    smaller = records(0.0, 0.0, frames=500)
    assert verdict(claim(0.8), others, smaller, GOOD).estimate == pytest.approx(0.92)


def test_differences() -> None:
    low = records(0.10, 0.14, 0.12, regime="uniform")
    better = verdict(claim(0.5, quantity=Difference(SUCCESS, OTHER)), GOOD, low)
    assert better.word == "holds"
    assert better.estimate == pytest.approx(0.80)
    assert better.low is not None
    assert better.high is not None
    half = (better.high - better.low) / 2
    # Wider than were the two known exactly, narrower than both worst cases at once.
    assert 0.0497 < half < 2 * 0.0497
    assert verdict(claim(0.5, quantity=Difference(OTHER, SUCCESS)), GOOD, low).word == "fails"
    same = records(0.91, 0.95, 0.90, regime="uniform")
    assert verdict(claim(0.0, quantity=Difference(SUCCESS, OTHER)), GOOD, same).word == "undecided"


def test_ratios() -> None:
    low = records(0.30, 0.31, 0.32, regime="uniform")
    threefold = verdict(claim(2.5, quantity=Ratio(SUCCESS, OTHER)), GOOD, low)
    assert (threefold.word, threefold.estimate) == ("holds", pytest.approx(0.92 / 0.31))
    nothing = records(0.0, 0.1, 0.0, regime="uniform")
    unknown = verdict(claim(2.5, quantity=Ratio(SUCCESS, OTHER)), GOOD, nothing)
    assert unknown.high == np.inf
    none = records(0.0, 0.0, regime="uniform")
    assert verdict(claim(1.0, quantity=Ratio(OTHER, OTHER)), none).word == "undecided"


def test_frames_to_a_threshold() -> None:
    runs = crossing(200, 400, 200, 400)
    found = verdict(claim(900, "at most", FRAMES), runs)
    assert found.estimate == pytest.approx(np.sqrt(200 * 400))
    logs = student_interval(np.log([200, 400, 200, 400]).tolist())
    assert (found.low, found.high) == pytest.approx(np.exp(logs[1:]), rel=1e-5)
    assert found.word == "holds"
    assert verdict(claim(300, "at most", FRAMES), runs).word == "undecided"
    assert verdict(claim(100, "at most", FRAMES), runs).word == "fails"
    bare = [record(curve=[], measures={"success": 0.5})]
    assert verdict(claim(1, quantity=FRAMES), bare).note.endswith("no curve of success")


def test_a_seed_that_never_got_there_has_no_upper_end() -> None:
    found = verdict(claim(900, "at most", FRAMES), crossing(200, 300, 0))
    assert (found.word, found.estimate, found.low, found.high) == ("undecided", np.inf, 200, np.inf)
    assert found.note == "backplay: 1 of 3 seeds never got there"
    # None got there within 1,000 frames: at most 900 is refuted, at most 2,000 is not.
    assert verdict(claim(900, "at most", FRAMES), crossing(0, 0)).word == "fails"
    assert verdict(claim(2_000, "at most", FRAMES), crossing(0, 0)).word == "undecided"
    assert verdict(claim(900, "at least", FRAMES), crossing(0, 0)).word == "holds"
    assert verdict(claim(900, "at most", FRAMES), crossing(0)).points == "fails"


def test_a_rival_that_never_got_there_bounds_the_ratio() -> None:
    never = crossing(0, 0, 0, regime="uniform")
    half = Ratio(FRAMES, OTHER_FRAMES)
    found = verdict(claim(0.5, "at most", half), crossing(200, 200, 200), never)
    assert (found.word, found.estimate, found.low) == ("holds", 0.0, 0.0)
    assert found.high == pytest.approx(0.2)
    assert verdict(claim(0.5, "at most", half), crossing(700, 700, 700), never).word == "undecided"
    both = verdict(claim(0.5, "at most", half), crossing(0, 0), crossing(0, 0, regime="uniform"))
    assert (both.word, both.estimate) == ("undecided", None)


def test_a_claim_is_checked_where_it_is_made() -> None:
    assert claim(0.5, paper=0.4).aim == 0.5
    own: dict[str, Any] = {"text": "c", "where": "w", "quantity": SUCCESS}
    assert Claim(**own, paper=0.4, holds="at least").aim == 0.4
    for wrong in (
        {"holds": "more"}, {"holds": "at least", "paper": None}, {"holds": "near"},
        {"holds": "at least", "tolerance": 0.1}, {"holds": "at least", "target": np.nan},
    ):  # fmt: skip
        with pytest.raises(BackplayError, match="claim 'c'"):
            Claim(**own | {"paper": 0.4} | wrong)
