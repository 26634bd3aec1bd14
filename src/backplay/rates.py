"""Wilson's interval of a rate: the one that evaluations, tournaments, advice and reports show.

Comes in: successes and tries. Goes out: two ends. scipy has it for whole numbers; here a tie may
count half, and nothing need be installed.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

LEVEL = 0.95


def wilson(successes: float, tries: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's interval of the rate that made so many `tries` succeed; all of it for none."""
    if not tries:
        return 0.0, 1.0
    p, z = successes / tries, NormalDist().inv_cdf((1 + level) / 2)
    scale = 1 + z * z / tries
    centre = (p + z * z / (2 * tries)) / scale
    half = z * sqrt(p * (1 - p) / tries + z * z / (4 * tries**2)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)
