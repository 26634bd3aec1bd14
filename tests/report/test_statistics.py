"""Numbers over seeds: hand-made cases, closed forms, scipy, and coverage by simulation."""

import numpy as np
import pytest
from scipy import stats

from backplay.rates import wilson
from backplay.report.statistics import (
    Estimate,
    binomial_error,
    central,
    frames_to,
    mean,
    probability_of_improvement,
    student_draws,
    student_interval,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


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


def test_one_seed_has_no_interval_and_equal_seeds_have_no_width_of_their_own() -> None:
    assert mean([[1, 2], [3, 5]]).tolist() == [1.5, 4.0]
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
    covered = np.mean([low <= 0 <= high for _, low, high in found])
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


def test_an_interval_has_the_least_width_it_is_told() -> None:
    for values in ([0.5, 0.5], [0.5, 0.5, 0.5], [0.4, 0.5, 0.45]):
        for least in (0.001, 0.1):
            found = student_interval(values, least=least)
            student, normal = student_interval(values), 1.959964 * least
            wanted = max(found.value - student.low, normal)
            assert found.value - found.low == pytest.approx(wanted, rel=1e-5)
            draws = student_draws(values, rng(), least=least)
            assert central(draws) == pytest.approx(found[1:], rel=1e-3)


def test_what_may_lie_below_moves_the_lower_end_alone() -> None:
    assert central(student_draws([3.0, 3.0], rng(), below=0.5)) == (2.5, 3.0)
    low, high = central(student_draws([2.0, 3.0, 4.0], rng()))
    assert central(student_draws([2.0, 3.0, 4.0], rng(), below=0.5)) == pytest.approx(
        (low - 0.5, high)
    )


def test_the_error_of_a_share_is_that_of_tossed_coins_and_never_none() -> None:
    assert binomial_error(0.5, 400) == pytest.approx(np.sqrt(0.25 / 400))
    assert binomial_error(0.9, 10**6) == pytest.approx(np.sqrt(0.09 / 10**6), rel=1e-4)
    for share in (0.0, 1.0):
        assert binomial_error(share, 100) == pytest.approx(np.sqrt(101 / 102**2 / 100))


def test_the_same_stream_gives_the_same_interval() -> None:
    x, y = [rng(5).normal(size=6).tolist()], [rng(6).normal(size=6).tolist()]
    found = [probability_of_improvement(x, y, rng(9)) for _ in range(2)]
    assert found[0] == found[1]


def test_the_probability_of_improvement_by_hand() -> None:
    # Two seeds that beat two are no certainty: as two coins of two.
    low, high = wilson(2, 2)
    assert probability_of_improvement([[2.0, 3.0]], [[0.0, 1.0]], rng()) == (1.0, low, high)
    assert probability_of_improvement([[1.0]], [[1.0]], rng()) == (0.5, None, None)
    found = probability_of_improvement([[1.0, 3.0, 5.0]], [[2.0, 3.0]], rng())
    assert found.value == pytest.approx((0 + 0 + 1 + 0.5 + 1 + 1) / 6)
    # Strata count alike, whatever their seeds: a setting that is won and one that is lost.
    both = probability_of_improvement([[2.0] * 5, [0.0, 0.0]], [[1.0] * 5, [1.0, 1.0]], rng())
    assert both == (0.5, *wilson(3.5, 7))
    single = probability_of_improvement([[2.0] * 5, [0.0]], [[1.0] * 5, [1.0, 1.0]], rng())
    assert single == (0.5, None, None)
    with pytest.raises(ValueError, match="same strata"):
        probability_of_improvement([[1.0]], [[1.0], [2.0]], rng())


def test_the_probability_of_improvement_is_mann_whitneys() -> None:
    x, y = rng(6).normal(0.5, 1, 12), rng(7).normal(0, 1, 15)
    wanted = stats.mannwhitneyu(x, y).statistic / (12 * 15)
    value, low, high = probability_of_improvement([x.tolist()], [y.tolist()], rng())
    assert value == pytest.approx(wanted)
    assert low < value < high
    spread = np.sqrt((12 + 15 + 1) / (12 * 12 * 15))  # Mann and Whitney's, without a difference
    assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.3)


def test_frames_to_is_the_first_evaluation_there() -> None:
    curve = [(10, 0.2), (20, 0.5), (30, 0.4), (40, 0.9)]
    assert frames_to(curve, 0.5) == 20
    assert frames_to(curve, 0.51) == 40
    assert frames_to(curve, 0.95) is None
    assert frames_to([], 0.1) is None
