"""All studies, one after the other: what `backplay theory` runs and docs/theory.md quotes.

Comes in: sizes and a seed. Goes out: studies, each as soon as it is done. Each has a random stream
of its own, so its numbers do not depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from backplay.curricula.curriculum import whole_number
from backplay.theory.chain_studies import gap, horizons, trials
from backplay.theory.curriculum_studies import ratio, windows
from backplay.theory.graph_studies import graphs, trees
from backplay.theory.study import Sizes, Study

STUDIES: dict[str, Callable[[Sizes, np.random.Generator], Study]] = {
    "gap": gap,
    "trials": trials,
    "horizons": horizons,
    "windows": windows,
    "ratio": ratio,
    "graphs": graphs,
    "trees": trees,
}
"""By name, in the order of docs/theory.md."""


def run_studies(sizes: Sizes, seed: int = 0) -> Iterator[Study]:
    """Every study in turn."""
    seed = whole_number("seed", seed)
    for place, study in enumerate(STUDIES.values()):
        yield study(sizes, np.random.default_rng([seed, place]))
