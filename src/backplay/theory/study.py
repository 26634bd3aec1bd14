"""A study: one question of the paper's analysis, with the numbers that answer it.

Comes in: numbers. Goes out: plain data for a table and figures, and JSON. Does not know: how the
numbers were computed, or how they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite
from typing import Any, Literal

SLACK = 0.1  # a rate that was said to be "about" x may be off by a tenth of x


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is computed: the numbers change with it, the questions do not."""

    chain_runs: int = 200
    """Simulated runs of each point on a chain."""
    graph_runs: int = 200
    """Simulated runs of each regime on a graph."""
    tree_runs: int = 300
    """Simulated runs of each regime on a tree."""
    steps: float = 1e8
    """Points that are expected to take more simulated steps than this stay exact."""
    lengths: tuple[int, ...] = (4, 6, 8, 12, 16, 24, 32, 48, 64)
    """Lengths M of the chains for trials against M."""
    ratio_lengths: tuple[int, ...] = (8, 16, 32, 64, 128)
    """Lengths M for Uniform against Backplay."""
    gap_lengths: tuple[int, ...] = (250, 500, 1000, 2000)
    """Lengths M for the growth of the reciprocal gap."""
    depths: tuple[int, ...] = (4, 6, 8, 10)
    """Depths of the trees."""

    @classmethod
    def quick(cls) -> Sizes:
        """Small enough for a few seconds."""
        return cls(
            chain_runs=40, graph_runs=30, tree_runs=30, steps=1e6, lengths=(4, 6, 8, 12, 16),
            ratio_lengths=(8, 16, 32), gap_lengths=(60, 120, 240), depths=(4, 6),
        )  # fmt: skip


@dataclass(frozen=True)
class Series:
    """One line of a panel, or one set of points."""

    name: str
    x: list[float]
    y: list[float]
    style: Literal["line", "dots", "dashes"] = "line"
    """An exact number is a line, a simulated one dots, what somebody claims dashes."""
    low: list[float] | None = None
    """Lower ends of intervals around y, if there are any."""
    high: list[float] | None = None
    """Upper ends."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x_name: str
    y_name: str
    series: list[Series]
    log_x: bool = False
    log_y: bool = True
    x_labels: list[str] | None = None
    """Names of x = 0, 1, .., where it is no number."""


@dataclass(frozen=True)
class Table:
    """Numbers as text, as docs/theory.md shows them."""

    title: str
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Finding:
    """What was predicted, what was measured, and whether they agree."""

    claim: str
    """The prediction in words."""
    where: str
    """The case it was measured in."""
    predicted: float
    measured: float
    low: float
    """Lower end of the measured number's interval."""
    high: float
    verdict: str
    """"holds", "fails" or "open"."""


@dataclass(frozen=True)
class Study:
    """The answer to one question."""

    name: str
    title: str
    words: str
    """What is shown, in a few sentences."""
    panels: list[Panel]
    tables: list[Table]
    findings: list[Finding]

    def as_json(self) -> dict[str, Any]:
        """Plain data; what no float holds is None."""
        plain: dict[str, Any] = _finite(asdict(self))
        return plain


def judged(
    claim: str,
    where: str,
    how: Literal["at least", "at most", "about"],
    predicted: float,
    measured: float,
    interval: Sequence[float],
) -> Finding:
    """A finding with its verdict: open where the interval does not decide."""
    low, high = float(interval[0]), float(interval[1])
    slack = SLACK * abs(predicted) if how == "about" else 1e-6 * max(1.0, abs(predicted))
    floor = predicted - slack if how != "at most" else -inf
    ceiling = predicted + slack if how != "at least" else inf
    if low >= floor and high <= ceiling:
        verdict = "holds"
    elif high < floor or low > ceiling:
        verdict = "fails"
    else:
        verdict = "open"
    return Finding(claim, where, float(predicted), float(measured), low, high, verdict)


def short(value: float) -> str:
    """A count as text: 12, 3,630, 4.2e12."""
    if not isfinite(value):
        return "inf"
    if value < 20:
        return f"{value:.3g}"
    return (
        f"{value:,.0f}" if value < 9999.5 else f"{value:.1e}".replace("e+", "e").replace("e0", "e")
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
