"""Wilson's interval is scipy's."""

import pytest
from scipy.stats import binomtest

from backplay.rates import wilson


@pytest.mark.parametrize(("wins", "tries"), [(0, 1), (1, 1), (3, 10), (50, 100), (100, 100)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_wilsons_interval_is_scipys(wins: int, tries: int, level: float) -> None:
    wanted = binomtest(wins, tries).proportion_ci(level, "wilson")
    assert wilson(wins, tries, level) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_half_a_win_lies_between_and_no_try_says_nothing() -> None:
    assert wilson(3, 10)[0] < wilson(3.5, 10)[0] < wilson(4, 10)[0]
    assert wilson(0, 0) == (0.0, 1.0)
