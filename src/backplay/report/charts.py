"""Charts as inline SVG. Colours are CSS classes, so that the page decides on light and dark.

Comes in: a Comparison. Goes out: text. Does not know: the page around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from backplay.report.results import Comparison
from backplay.report.statistics import FloatArray

LEVELS = 7
"""Colours of success in the maps, from never to always."""


@dataclass(frozen=True)
class Plot:
    """A rectangle to draw in: data coordinates to those of the picture."""

    width: float
    height: float
    x_max: float
    y_max: float
    left: float = 46
    right: float = 12
    top: float = 10
    bottom: float = 40

    def x(self, value: float) -> float:
        """From data to picture, left to right."""
        return self.left + value / self.x_max * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """From data to picture, bottom to top."""
        return (
            self.height - self.bottom - value / self.y_max * (self.height - self.top - self.bottom)
        )

    def svg(self, parts: Iterator[str], *, label: str, name: str) -> str:
        """The parts as one picture that scales with the page."""
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img"'
            f' aria-label="{escape(label)}" data-chart="{escape(name)}"'
            f' data-left="{self.left:g}" data-right="{self.right:g}"'
            f' data-top="{self.top:g}" data-bottom="{self.bottom:g}">\n'
            + "\n".join(parts)
            + "\n</svg>"
        )

    def axes(
        self, x_ticks: list[tuple[float, str]], y_ticks: list[tuple[float, str]], x_name: str
    ) -> Iterator[str]:
        """Grid, numbers and the name of the x axis."""
        first, last = self.x(0), self.x(self.x_max)
        for value, text in y_ticks:
            y = self.y(value)
            yield f'<path class="grid" d="M{first:.1f} {y:.1f}H{last:.1f}"/>'
            yield f'<text x="{first - 7:.1f}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
        for value, text in x_ticks:
            anchor = "end" if value == self.x_max else "start" if value == 0 else "middle"
            yield (
                f'<text x="{self.x(value):.1f}" y="{self.height - self.bottom + 17:.1f}"'
                f' text-anchor="{anchor}">{text}</text>'
            )
        middle = (first + last) / 2
        yield (
            f'<text class="name" x="{middle:.1f}" y="{self.height - 5:.1f}"'
            f' text-anchor="middle">{escape(x_name)}</text>'
        )


def curves_svg(comparison: Comparison) -> str:
    """Success from the true start against frames: the mean of each regime, and every seed."""
    plot = Plot(420, 280, comparison.frames, 1.0)

    def parts() -> Iterator[str]:
        percents = [(share / 4, f"{share * 25}%") for share in range(5)]
        yield from plot.axes(frame_ticks(comparison.frames), percents, "frames of training")
        for index, regime in reversed(list(enumerate(comparison.regimes))):
            for run in comparison.runs_of(regime):
                yield _line(plot, run.frames, run.success, f"seed r{index}")
        for index, regime in reversed(list(enumerate(comparison.regimes))):
            yield _line(plot, *comparison.mean_curve(regime), f"mean r{index}")
        yield f'<path class="cursor" d="M0 {plot.top:g}V{plot.height - plot.bottom:g}"/>'

    return plot.svg(parts(), label="Success from the true start against frames", name="curves")


def starts_svg(comparison: Comparison, regime: str) -> str:
    """Which steps of the demonstration episodes started from over time, and how they ended."""
    plot = Plot(340, 230, comparison.frames, comparison.demo_length, left=38)
    episodes, successes = comparison.start_counts(regime)
    length = comparison.demo_length

    def parts() -> Iterator[str]:
        steps = [(float(step), f"{step}") for step in (0, length // 2, length)]
        yield from plot.axes(frame_ticks(comparison.frames, 2), steps, "frames of training")
        for (level, strength), path in _cells(plot, episodes, successes).items():
            yield f'<path class="s{level} a{strength}" d="{path}"/>'

    label = f"{regime}: steps of the demonstration that episodes started from, against frames"
    return plot.svg(parts(), label=label, name=regime)


def frame_ticks(frames: int, count: int = 4) -> list[tuple[float, str]]:
    """Marks of a frames axis: a round step, and never more than `count` + 1 of them."""
    step = next(
        factor * 10**power
        for power in range(15)
        for factor in (1, 2, 5)
        if frames / (factor * 10**power) <= count
    )
    return [(float(value), _thousands(value)) for value in range(0, frames + 1, step)]


def cell_levels(episodes: FloatArray, successes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Success of each cell and its share of the busiest cell of its column: [columns, rows] each.

    Success is NaN where no episode started.
    """
    with np.errstate(invalid="ignore"):
        rates = np.where(episodes > 0, successes / episodes, np.nan)
    busiest = np.maximum(episodes.max(axis=1, keepdims=True), 1.0)
    return rates, episodes / busiest


def _cells(plot: Plot, episodes: FloatArray, successes: FloatArray) -> dict[tuple[int, int], str]:
    """One path for each colour and strength."""
    rates, shares = cell_levels(episodes, successes)
    columns, rows = episodes.shape
    xs = [round(plot.x(plot.x_max * i / columns), 1) for i in range(columns + 1)]
    ys = [round(plot.y(plot.y_max * i / rows), 1) for i in range(rows + 1)]
    paths: dict[tuple[int, int], str] = {}
    for i, (x, x_next) in enumerate(pairwise(xs)):
        for j, (y, y_next) in enumerate(pairwise(ys)):
            if episodes[i, j]:
                level = min(LEVELS - 1, int(rates[i, j] * LEVELS))
                strength = 0 if shares[i, j] < 0.1 else 1 if shares[i, j] < 0.4 else 2
                cell = f"M{x:g} {y:g}H{x_next:g}V{y_next:g}H{x:g}z"
                paths[level, strength] = paths.get((level, strength), "") + cell
    return paths


def _line(plot: Plot, frames: list[int], success: list[float], css: str) -> str:
    points = zip(frames, success, strict=True)
    path = "L".join(f"{plot.x(f):.1f} {plot.y(s):.1f}" for f, s in points)
    return f'<path class="{css}" d="M{path}"/>'


def _thousands(value: int) -> str:
    return f"{value // 1000}k" if value and value % 1000 == 0 else f"{value}"
