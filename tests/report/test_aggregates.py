"""The middle half over settings, and its interval: by hand, and against closed forms."""

import numpy as np
import pytest
from scipy import stats

from backplay.report.records import grouped
from backplay.report.statistics import bootstrap, iqm, mean
from backplay.report.texts import headline, number, overall_cells, results_cells
from made_up_records import record, records


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_middle_half_by_hand() -> None:
    assert iqm([1, 2, 3, 1000]) == 2.5
    assert iqm([7.0]) == 7.0
    assert iqm([5.0, 1.0]) == 3.0
    # Of three the outer two count a quarter each: (0.25·0 + 1 + 0.25·8) / 1.5.
    assert iqm([8.0, 0.0, 1.0]) == pytest.approx(2.0)
    # Of five the middle one counts fully and its neighbours three quarters each.
    assert iqm([0.0, 1.0, 2.0, 4.0, 50.0]) == pytest.approx(5.75 / 2.5)
    assert iqm([1.0, 2.0, 3.0, np.inf]) == 2.5
    assert iqm([[1, 2, 3, 1000], [0, 0, 4, 4]]).tolist() == [2.5, 2.0]


@pytest.mark.parametrize("n", [4, 8, 40])
def test_the_middle_half_is_the_trimmed_mean_where_quarters_are_whole(n: int) -> None:
    values = rng(n).normal(size=n)
    assert iqm(values) == pytest.approx(stats.trim_mean(values, 0.25))


def test_the_bootstrap_covers_with_many_seeds() -> None:
    source = rng(3)
    hits = []
    for _ in range(400):
        low, high = bootstrap([source.normal(size=40).tolist()], mean, source, 400)
        hits.append(low <= 0 <= high)
    assert np.mean(hits) == pytest.approx(0.94, abs=0.035)


def test_the_bootstrap_has_the_closed_forms_width() -> None:
    values = rng(4).normal(size=200)
    low, high = bootstrap([values.tolist()], mean, rng(), 20_000)
    half = 1.96 * values.std() / np.sqrt(200)
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


def test_the_bootstrap_draws_within_each_stratum() -> None:
    # Two settings far apart, no spread within: all of the spread would come from mixing them.
    assert bootstrap([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], mean, rng()) == (0.5, 0.5)
    low, high = bootstrap([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]], mean, rng())
    assert low < 0.3 < 0.7 < high
    for bad in ([], [[1.0], []]):
        with pytest.raises(ValueError, match="stratum"):
            bootstrap(bad, mean, rng())


def test_the_same_stream_gives_the_same_interval() -> None:
    values = [rng(5).normal(size=6).tolist()]
    assert bootstrap(values, iqm, rng(9)) == bootstrap(values, iqm, rng(9))


def test_the_table_over_all_settings() -> None:
    runs = [
        *records(0.0, 0.1, 0.2, setting="a", regime="backplay"),
        *records(0.8, 0.9, 1.0, setting="b", regime="backplay"),
        *records(0.5, 0.5, 0.5, setting="a", regime="uniform"),
        *records(0.5, 0.5, 0.5, setting="b", regime="uniform"),
        *records(0.5, 0.5, setting="a", regime="fewer"),
        *records(0.5, 0.5, 0.5, setting="b", regime="fewer"),
        *records(0.5, 0.5, 0.5, setting="a", regime="one setting"),
    ]
    head, *rows = overall_cells(grouped(runs), rng())
    assert head[-1] == "success, interquartile mean"
    assert [row[:3] for row in rows] == [("backplay", "2", "3"), ("uniform", "2", "3")]
    # Of six values the middle three count: 0.1 by a half, 0.2, 0.8, 0.9 by a half.
    assert rows[0][3].startswith("50% [")
    assert rows[1][3] == "50% [50, 50]"
    assert len(overall_cells(grouped(runs[:3]), rng())) == 1
    assert len(overall_cells([], rng())) == 1


def test_a_mean_of_fewer_seeds_than_ended_says_so() -> None:
    runs = records(0.5, 0.7, 0.9)
    runs += [record(seed, 0.5, measures={"success": None, "steps": 9.0}) for seed in (3, 4)]
    head, row = results_cells(grouped(runs))
    told = dict(zip(head, row, strict=True))
    assert told["seeds"] == "5"
    assert told["success"].startswith("70% [")
    assert told["success"].endswith("(3 seeds)")


def test_two_budgets_in_one_setting_are_not_two_settings() -> None:
    runs = [
        *records(0.1, 0.1, regime="two budgets"),
        *records(0.9, 0.9, regime="two budgets", frames=9_000),
        *records(0.5, 0.5), *records(0.5, 0.5, setting="5-Optimal"),
    ]  # fmt: skip
    assert headline(grouped(runs))[1] == [("backplay", "50%")]
    assert [row[0] for row in overall_cells(grouped(runs), rng())[1:]] == ["backplay"]


@pytest.mark.parametrize(
    ("frames", "words"),
    [(999_999.9, "1 M"), (999_400, "999k"), (999.9, "1k"), (523.4, "523"), (205e6, "205 M")],
)
def test_frames_are_rounded_before_their_unit_is_chosen(frames: float, words: str) -> None:
    assert number(frames, "frames") == words


def test_the_headline_has_a_number_for_each_regime() -> None:
    runs = [*records(0.8, 0.9), *records(0.1, 0.1, regime="uniform")]
    words, cards = headline(grouped(runs))
    assert words == "Success from the true start at the end, mean over seeds:"
    assert cards == [("backplay", "85%"), ("uniform", "10%")]
    both = [*runs, *records(0.4, setting="5-Optimal")]
    words, cards = headline(grouped(both))  # uniform has no run there
    assert "mean over 2 settings" in words
    assert cards == [("backplay", "62%")]
    assert headline(grouped(records(0.5, measures={"gap": 2.0}))) == ("", [])
    assert headline([]) == ("", [])
    many = [one for i in range(9) for one in records(0.5, regime=f"r{i}")]
    assert headline(grouped(many)) == ("", [])
