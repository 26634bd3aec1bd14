"""Hypothesis strategies and plain-Python references shared by the tests of this folder."""

from collections import defaultdict

import numpy as np
from hypothesis import strategies as st

from backplay.theory import Chain


@st.composite
def chains(draw: st.DrawFn, longest: int = 8, least: float = 0.1) -> Chain:
    """Chains of any alpha and beta."""
    length = draw(st.integers(1, longest))
    alpha = [draw(st.floats(least, 1.0)) for _ in range(length)]
    beta = [draw(st.floats(0.0, 1.0)) * (1 - a) for a in alpha]
    return Chain.of(alpha, beta)


def steps_from(chain: Chain, at: int) -> list[tuple[int, float]]:
    """Where a step from distance `at` leads, and with what probability."""
    a, b, c = chain.alpha[at - 1], chain.beta[at - 1], chain.gamma[at - 1]
    return [(to, float(p)) for to, p in ((at - 1, a), (at, b), (at + 1, c)) if p > 0]


def trial_outcomes(
    chain: Chain, start: int, informed: int, horizon: int, merging: bool
) -> dict[tuple[int, int], float]:
    """Every way a trial can go, one after another: {(informed after, steps): probability}."""
    outcomes: dict[tuple[int, int], float] = defaultdict(float)

    def go(at: int, known: int, taken: int, p: float) -> None:
        over = at == 0 or taken == horizon or known == chain.length
        if over or (merging and (at <= known or known > informed)):
            outcomes[known, taken] += p
            return
        for to, chance in steps_from(chain, at):
            learned = to == at - 1 and at == known + 1
            go(to, known + learned, taken + 1, p * chance)

    go(start, informed, 0, 1.0)
    return outcomes


def work_by_hand(
    chain: Chain, starts: np.ndarray, horizon: int, merging: bool
) -> tuple[float, float]:
    """Expected trials and steps until all is informed, from `trial_outcomes` by recursion over k.

    starts [M, M + 1]: where trials begin with k informed distances.
    """
    size = chain.length
    trials, steps = [0.0] * (size + 1), [0.0] * (size + 1)
    for k in range(size - 1, -1, -1):
        stay = 0.0
        trials[k], steps[k] = 1.0, 0.0
        for start in range(1, size + 1):
            for (after, taken), p in trial_outcomes(chain, start, k, horizon, merging).items():
                p *= float(starts[k, start])
                steps[k] += p * taken
                if after == k:
                    stay += p
                else:
                    trials[k] += p * trials[after]
                    steps[k] += p * steps[after]
        trials[k] /= 1 - stay
        steps[k] /= 1 - stay
    return trials[0], steps[0]
