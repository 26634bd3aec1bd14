"""Colours by regime, the same in every figure and on every page.

Comes in: names of regimes. Goes out: colours. Does not know: what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable

REGIMES = {
    "backplay": "#0b6bcb", "uniform": "#c2570c", "standard": "#7a5195", "florensa": "#3f7d3a",
    "reverse": "#3f7d3a", "cloned": "#6b7280", "cloned+ppo": "#8a6d1f", "kickstarted": "#b03a63",
}  # fmt: skip
OTHERS = ("#1f8a8a", "#a0522d", "#5b5bd6", "#4d7c0f", "#be185d", "#334155")
SERIES = ("#0b6bcb", "#c2570c", "#7a5195", "#3f7d3a", "#8a6d1f")
"""Of lines that are no regimes, in their order."""
SUCCESS = ("#c4491d", "#d67a4a", "#e3a983", "#cfc6b2", "#8fbcb4", "#459a93", "#0c7a74")
"""From never to always."""
INK, LINES = "#1b2330", "#e1e5ea"


def base(regime: str) -> str:
    """The regime without what stands behind it in brackets."""
    return regime.lower().partition(" (")[0]


def colour_of(regime: str, regimes: Iterable[str]) -> str:
    """The regime's own; else one by its place among those that have none."""
    if base(regime) in REGIMES:
        return REGIMES[base(regime)]
    others = dict.fromkeys(base(one) for one in regimes if base(one) not in REGIMES)
    return OTHERS[list(others).index(base(regime)) % len(OTHERS)]
