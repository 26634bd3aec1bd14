"""Numbers over seeds: hand-made cases, closed forms, scipy, and coverage by simulation."""

import numpy as np
import pytest
from scipy import stats

from backplay.report.statistics import (
    Estimate,
    bootstrap,
    bootstrap_difference,
    central,
    frames_to,
    iqm,
    mean,
    probability_of_improvement,
    student_draws,
    student_interval,
    wilson,
)


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
    assert mean([[1, 2], [3, 5]]).tolist() == [1.5, 4.0]


@pytest.mark.parametrize("n", [4, 8, 40])
def test_the_middle_half_is_the_trimmed_mean_where_quarters_are_whole(n: int) -> None:
    values = rng(n).normal(size=n)
    assert iqm(values) == pytest.approx(stats.trim_mean(values, 0.25))


@pytest.mark.parametrize("n", [2, 3, 5, 30])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_students_interval_is_scipys(n: int, level: float) -> None:
    values = rng(n).normal(3, 2, n).tolist()
    wanted = stats.t.interval(level, n - 1, np.mean(values), stats.sem(values))
    found = student_interval(values, level)
    assert found == pytest.approx((np.mean(values), *wanted))
    # Its draws have the same quantiles, in whatever order.
    draws = student_draws(values, rng(), 9_999)
    assert central(draws, level) == pytest.approx(wanted, rel=1e-5)
    assert not np.array_equal(draws, np.sort(draws))


def test_one_seed_has_no_interval_and_equal_seeds_one_of_no_width() -> None:
    assert student_interval([0.7]) == (0.7, None, None)
    assert student_interval([0.5, 0.5]) == (0.5, 0.5, 0.5)
    assert student_draws([0.7], rng(), 5).tolist() == [0.7] * 5
    assert Estimate(0.9, 0.7, 1.1).within(0, 1) == (0.9, 0.7, 1.0)
    assert Estimate(0.1, -0.1, 0.3).within(0, 1) == (0.1, 0.0, 0.3)
    assert Estimate(0.7, None, None).within(0, 1) == (0.7, None, None)


def test_the_middle_of_draws_keeps_infinity_in_its_place() -> None:
    draws = np.array([*range(97), np.inf, np.inf, np.inf, np.inf], float)
    assert central(draws, 0.95) == (pytest.approx(2.025), np.inf)
    assert central(-draws, 0.95) == (-np.inf, pytest.approx(-2.025))
    assert central(np.array([1.0, 2.0]), 0.95) == (1.0, 2.0)


def test_students_interval_of_few_seeds_covers_as_often_as_it_says() -> None:
    source = rng(1)
    samples = source.normal(size=(4_000, 3)).tolist()
    found = [student_interval(sample) for sample in samples]
    covered = np.mean([low <= 0 <= high for _, low, high in found])  # type: ignore[operator]
    assert covered == pytest.approx(0.95, abs=0.011)  # three standard errors


def test_the_difference_of_draws_covers_at_least_as_often_as_it_says() -> None:
    source = rng(2)
    hits = []
    for _ in range(1_500):
        x, y = source.normal(1.0, 1.0, 4), source.normal(0.0, 3.0, 4)
        draws = student_draws(x.tolist(), source, 999) - student_draws(y.tolist(), source, 999)
        low, high = central(draws)
        hits.append(low <= 1.0 <= high)
    assert 0.94 <= np.mean(hits) <= 0.985


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


def test_the_bootstrap_resamples_within_each_stratum() -> None:
    # Two settings far apart, no spread within: all of the spread would come from mixing them.
    assert bootstrap([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], mean, rng()) == (0.5, 0.5)
    low, high = bootstrap([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]], mean, rng())
    assert low < 0.3 < 0.7 < high
    apart = bootstrap_difference([[3.0, 3.0], [5.0, 5.0]], [[1.0, 1.0], [2.0, 2.0]], mean, rng())
    assert apart == (2.5, 2.5)
    wide = bootstrap_difference([[0.0, 1.0] * 9], [[0.0, 1.0] * 9], mean, rng())
    one = bootstrap([[0.0, 1.0] * 9], mean, rng())
    assert wide[1] - wide[0] == pytest.approx(np.sqrt(2) * (one[1] - one[0]), rel=0.15)


def test_the_same_stream_gives_the_same_interval() -> None:
    values = [rng(5).normal(size=6).tolist()]
    assert bootstrap(values, iqm, rng(9)) == bootstrap(values, iqm, rng(9))


def test_the_probability_of_improvement_by_hand() -> None:
    assert probability_of_improvement([[2.0, 3.0]], [[0.0, 1.0]], rng()) == (1.0, 1.0, 1.0)
    assert probability_of_improvement([[1.0]], [[1.0]], rng()) == (0.5, None, None)
    found = probability_of_improvement([[1.0, 3.0, 5.0]], [[2.0, 3.0]], rng())
    assert found.value == pytest.approx((0 + 0 + 1 + 0.5 + 1 + 1) / 6)
    # Strata count alike, whatever their seeds: a setting that is won and one that is lost.
    both = probability_of_improvement([[2.0] * 5, [0.0, 0.0]], [[1.0] * 5, [1.0, 1.0]], rng())
    assert both == (0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match="same strata"):
        probability_of_improvement([[1.0]], [[1.0], [2.0]], rng())


def test_the_probability_of_improvement_is_mann_whitneys() -> None:
    x, y = rng(6).normal(0.5, 1, 12), rng(7).normal(0, 1, 15)
    wanted = stats.mannwhitneyu(x, y).statistic / (12 * 15)
    value, low, high = probability_of_improvement([x.tolist()], [y.tolist()], rng())
    assert value == pytest.approx(wanted)
    assert low is not None
    assert high is not None
    assert low < value < high
    spread = np.sqrt((12 + 15 + 1) / (12 * 12 * 15))  # Mann and Whitney's, without a difference
    assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.3)


def test_frames_to_is_the_first_evaluation_there() -> None:
    curve = [(10, 0.2), (20, 0.5), (30, 0.4), (40, 0.9)]
    assert frames_to(curve, 0.5) == 20
    assert frames_to(curve, 0.51) == 40
    assert frames_to(curve, 0.95) is None
    assert frames_to([], 0.1) is None


def test_wilsons_interval_is_scipys() -> None:
    for wins, tries in ((0, 10), (3, 10), (10, 10), (416, 1_000)):
        wanted = stats.binomtest(wins, tries).proportion_ci(0.95, "wilson")
        assert wilson(wins, tries) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert wilson(3, 10, 0.5)[0] > wilson(3, 10)[0]
