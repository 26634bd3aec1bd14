"""Each verdict from hand-made records."""

from typing import Any

import numpy as np
import pytest

from backplay.errors import BackplayError
from backplay.report.claims import Claim, Difference, Final, FramesTo, Ratio
from backplay.report.judging import Scale, Verdict, judge
from backplay.report.means import mean_of
from backplay.report.records import RunRecord, grouped
from backplay.report.statistics import student_interval
from made_up_records import record, records

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


def test_the_bound_itself_holds_where_nothing_is_left_to_chance() -> None:
    steps = Final("Optimal", "backplay", "steps")
    exact = records(0.5, 0.5, 0.5, measures={"steps": 4.0})
    assert verdict(claim(4.0, quantity=steps), exact).word == "holds"
    assert verdict(claim(4.0, "at most", steps), exact).word == "holds"
    # Not so of a share: a hundred of a hundred episodes, three times, may be luck.
    assert verdict(claim(1.0), records(1.0, 1.0, 1.0)).word == "undecided"
    assert verdict(claim(0.98), records(1.0, 1.0, 1.0)).word == "holds"


def test_seeds_that_agree_leave_the_chance_of_their_episodes() -> None:
    found = verdict(claim(0.5), records(0.5, 0.5, 0.5))
    half = 1.959964 * np.sqrt(0.25 / 300)  # 300 tossed coins
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-4)
    assert found.word == "undecided"
    many = records(0.5, 0.5, 0.5, result={"episodes": 10_000})
    few = records(0.5, 0.5, 0.5, result={"measured_mazes": 10})
    assert verdict(claim(0.48), many).word == "holds"
    assert verdict(claim(0.48), few).word == "undecided"
    full = verdict(claim(0.5), records(1.0, 1.0, 1.0))
    assert full.high == 1.0  # a share has no more room
    assert 0.98 < full.low < 1.0
    # Another quantity has nothing but its seeds.
    steps = verdict(
        claim(4.0, quantity=Final("Optimal", "backplay", "steps")),
        records(0.5, 0.5, 0.5, measures={"steps": 0.5}),
    )
    assert (steps.low, steps.high) == (0.5, 0.5)


def test_intervals_that_count_episodes_cover_as_often_as_they_say() -> None:
    source = np.random.default_rng(5)
    hits = []
    for _ in range(2_000):
        (group,) = grouped(records(*(source.binomial(100, 0.9, 3) / 100).tolist()))
        _, low, high = mean_of(group, "success")
        hits.append(low <= 0.9 <= high)
    assert np.mean(hits) >= 0.95


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


def test_two_seeds_point_and_do_not_decide_however_they_agree() -> None:
    for ends in ((0.8, 0.8), (0.7, 0.9)):
        found = verdict(claim(0.5), records(*ends))
        assert (found.word, found.points, found.seeds) == ("few seeds", "holds", 2)
        assert found.low < 0.8
    assert verdict(claim(0.9), records(0.8, 0.8)).points == "fails"
    assert verdict(claim(0.8, strict=True), records(0.8, 0.8)).points is None


def test_what_is_exact_needs_one_seed() -> None:
    rate = Final("Optimal", "backplay", "rate")
    one = records(0.5, measures={"rate": 2.0})
    found = verdict(claim(2.0, "at most", rate, exact=True), one)
    assert (found.word, found.low, found.high, found.seeds) == ("holds", 2.0, 2.0, 1)
    assert verdict(claim(2.1, "at least", rate, exact=True), one).word == "fails"
    # Seeds that differ all the same are all in the interval.
    two = [*one, record(1, measures={"rate": 2.4})]
    found = verdict(claim(2.2, "at most", rate, exact=True), two)
    assert (found.word, found.low, found.high) == ("undecided", 2.0, 2.4)


def test_a_tie_is_not_faster() -> None:
    steps, other = (Final("Optimal", regime, "steps") for regime in ("backplay", "uniform"))
    same = [
        *records(0.5, 0.5, 0.5, measures={"steps": 7.0}),
        *records(0.5, 0.5, 0.5, measures={"steps": 7.0}, regime="uniform"),
    ]
    for quantity, target in ((Ratio(steps, other), 1.0), (Difference(steps, other), 0.0)):
        for holds in ("at least", "at most"):
            assert verdict(claim(target, holds, quantity), same).word == "holds"
            assert verdict(claim(target, holds, quantity, strict=True), same).word == "undecided"
    assert verdict(claim(6.9, quantity=steps, strict=True), same).word == "holds"
    assert verdict(claim(7.1, quantity=steps, strict=True), same).word == "fails"
    near = claim(6.5, "near", steps, tolerance=0.5, strict=True)
    assert verdict(near, same).word == "undecided"


def test_less_than_the_experiments_own_scale_decides_nothing() -> None:
    for target in (0.5, 0.99):
        small = judge(claim(target), GOOD, np.random.default_rng(0), scale=Scale(0.01, 0.05))
        assert (small.word, small.points) == ("too few frames", None)
        full = judge(claim(target), GOOD, np.random.default_rng(0), scale=Scale(0.05, 0.05))
        assert (full.estimate, full.low, full.high) == (small.estimate, small.low, small.high)
        assert full.word in ("holds", "fails")
    assert Scale(0.1 + 0.2, 0.3).is_enough
    assert Scale(0.3, 0.1 + 0.2).is_enough  # rounding is not less
    empty = judge(claim(0.5), [], np.random.default_rng(0), scale=Scale(0.01, 0.05))
    assert empty.word == "not run"


def test_of_runs_set_up_differently_one_kind_is_judged() -> None:
    other = records(0.1, 0.1, asked={"learning_rate": "0.1"})
    found = verdict(claim(0.8), other, GOOD)
    assert (found.word, found.estimate, found.seeds) == ("holds", pytest.approx(0.92), 3)
    assert "2 kinds of runs" in found.note


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


def test_what_is_left_out_is_said() -> None:
    blank = [record(3, 0.9, measures={"success": None}, curve=[]), record(4, None)]
    at_end = verdict(claim(0.5), GOOD, blank)
    assert (at_end.seeds, at_end.note) == (
        3, "Optimal, backplay: 1 not ended; Optimal, backplay: 1 without success",
    )  # fmt: skip
    frames = verdict(claim(5_000, "at most", FRAMES), GOOD, blank)
    assert frames.seeds == 3
    assert frames.note.endswith("1 not ended; Optimal, backplay: 1 without a curve of success")
    longer = verdict(claim(0.5), GOOD, [record(0, None, frames=9_000)])
    assert longer.note == "Optimal, backplay: none of 9,000 frames has ended, 1,000 judged"


def test_other_settings_regimes_and_smaller_budgets_do_not_count() -> None:
    others = [*records(0.0, 0.0, setting="5-Optimal"), *records(0.1, 0.1, regime="uniform")]
    smaller = records(0.0, 0.0, frames=500)
    assert verdict(claim(0.8), others, smaller, GOOD).estimate == pytest.approx(0.92)


def test_differences() -> None:
    low = records(0.10, 0.14, 0.12, regime="uniform")
    better = verdict(claim(0.5, quantity=Difference(SUCCESS, OTHER)), GOOD, low)
    assert better.word == "holds"
    assert better.estimate == pytest.approx(0.80)
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
    high = student_interval(np.log([200, 400, 200, 400]).tolist()).high
    # It was crossed between 100 and 200, or 300 and 400, so it begins as much lower.
    low = student_interval(np.log([100, 300, 100, 300]).tolist()).value + (
        student_interval(np.log([200, 400, 200, 400]).tolist()).low - np.log(found.estimate)
    )
    assert (found.low, found.high) == pytest.approx((np.exp(low), np.exp(high)), rel=1e-5)
    assert found.word == "holds"
    assert verdict(claim(300, "at most", FRAMES), runs).word == "undecided"
    assert verdict(claim(50, "at most", FRAMES), runs).word == "fails"
    bare = [record(curve=[], measures={"success": 0.5})]
    assert verdict(claim(1, quantity=FRAMES), bare).note.endswith("no curve of success")


def test_seeds_that_cross_at_the_same_evaluation_leave_the_time_before_it() -> None:
    found = verdict(claim(500, "at most", FRAMES), crossing(400, 400, 400))
    assert (found.low, found.estimate, found.high) == pytest.approx((300, 400, 400))
    assert verdict(claim(350, "at least", FRAMES), crossing(400, 400, 400)).word == "undecided"
    first = verdict(claim(500, "at most", FRAMES), crossing(100, 100, 100))
    assert first.low == pytest.approx(1)  # at the first one: from the beginning
    # The same evaluations in both say nothing of which was first.
    half = Ratio(FRAMES, OTHER_FRAMES)
    tie = verdict(
        claim(1.0, quantity=half, strict=True),
        crossing(400, 400, 400),
        crossing(400, 400, 400, regime="uniform"),
    )
    assert (tie.low, tie.high) == pytest.approx((0.75, 4 / 3))


def test_a_seed_that_never_got_there_has_no_upper_end() -> None:
    found = verdict(claim(900, "at most", FRAMES), crossing(200, 300, 0))
    assert (found.word, found.estimate, found.low, found.high) == ("undecided", np.inf, 100, np.inf)
    assert found.note == "backplay: 1 of 3 seeds never got there"
    # None got there within 1,000 frames: at most 900 is refuted, at most 2,000 is not.
    assert verdict(claim(900, "at most", FRAMES), crossing(0, 0, 0)).word == "fails"
    assert verdict(claim(2_000, "at most", FRAMES), crossing(0, 0, 0)).word == "undecided"
    assert verdict(claim(900, "at least", FRAMES), crossing(0, 0, 0)).word == "holds"
    assert verdict(claim(900, "at most", FRAMES), crossing(0)).points == "fails"


def test_frames_may_be_counted_in_epochs_of_a_run_of_any_length() -> None:
    epochs = FramesTo("Optimal", "backplay", "success", 0.5, epochs=2_000)
    for end, *at in ((1_000, 400, 400, 400), (2_000, 800, 800, 800)):
        found = verdict(claim(1_000, "at most", epochs), crossing(*at, end=end))
        assert (found.word, found.estimate) == ("holds", pytest.approx(800))
        assert found.low == pytest.approx(800 - 100 * 2_000 / end)
    never = verdict(claim(2_000, "at least", epochs), crossing(0, 0, 0))
    assert (never.word, never.low) == ("holds", 2_000)
    assert "epochs of 2,000 until success" in epochs.words


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
        {"holds": "at least", "exact": True, "quantity": Ratio(SUCCESS, FRAMES)},
    ):  # fmt: skip
        with pytest.raises(BackplayError, match="claim 'c'"):
            Claim(**own | {"paper": 0.4} | wrong)


def test_quantities_say_how_they_are_measured() -> None:
    end, frames = "success at the end (Optimal, backplay)", "frames until success is 0.5 (Optimal,"
    assert SUCCESS.words == f"{end}, mean over seeds"
    assert FRAMES.words == f"{frames} backplay), geometric mean over seeds"
    assert Difference(SUCCESS, OTHER).words.startswith(f"{end} less success at the end")
    assert f"{frames} backplay) over {frames} uniform)" in Ratio(FRAMES, OTHER_FRAMES).words
