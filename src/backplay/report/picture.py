"""The README's picture of a Comparison, as a PNG."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from backplay.report.charts import cell_levels
from backplay.report.results import Comparison

COLOURS = ("#0b6bcb", "#c2570c", "#7a5195")  # as in page.css
SUCCESS = LinearSegmentedColormap.from_list(
    "success", ["#c4491d", "#d67a4a", "#e3a983", "#cfc6b2", "#8fbcb4", "#459a93", "#0c7a74"]
)


def draw_picture(comparison: Comparison) -> bytes:
    """Learning curves beside the starts of the first regime, as the bytes of a PNG."""
    figure = Figure(figsize=(10.4, 4.1), dpi=140, layout="constrained")
    seeds = len(comparison.runs_of(comparison.regimes[0]))
    caption = f"{comparison.task} One demonstration; thin lines: {seeds} seeds, thick: their mean."
    figure.suptitle(caption, x=0.01, ha="left", fontsize=9.5, color="#5b6675")
    left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.04})
    _curves(left, comparison)
    _starts(right, comparison, comparison.regimes[0])
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), SUCCESS), ax=right, pad=0.02, aspect=30)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    bar.set_label("reached the goal from there")
    bar.outline.set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _curves(axes: Axes, comparison: Comparison) -> None:
    regimes = list(enumerate(comparison.regimes))
    for index, regime in reversed(regimes):
        for run in comparison.runs_of(regime):
            axes.plot(run.frames, run.success, color=COLOURS[index % 3], alpha=0.35, linewidth=0.8)
    for index, regime in reversed(regimes):
        axes.plot(
            *comparison.mean_curve(regime),
            color=COLOURS[index % 3], linewidth=2.6, label=regime, zorder=5,
        )  # fmt: skip
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(f"{comparison.env_id}: success from the true start", fontsize=11, loc="left")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], frameon=False, loc="center left")
    _dress(axes, comparison)


def _starts(axes: Axes, comparison: Comparison, regime: str) -> None:
    rates, shares = cell_levels(*comparison.start_counts(regime))
    colours = SUCCESS(np.nan_to_num(rates))
    colours[..., 3] = np.select([shares == 0, shares < 0.1, shares < 0.4], [0.0, 0.3, 0.65], 1.0)
    axes.imshow(
        colours.transpose(1, 0, 2), origin="lower", aspect="auto", interpolation="nearest",
        extent=(0, comparison.frames, 0, comparison.demo_length), zorder=3,
    )  # fmt: skip
    axes.set_title(f"{regime}: where training episodes start", fontsize=11, loc="left")
    axes.set_ylabel(f"step of the demonstration (goal: {comparison.demo_length})")
    _dress(axes, comparison)


def _dress(axes: Axes, comparison: Comparison) -> None:
    axes.set_xlim(0, comparison.frames)
    axes.set_xlabel("frames of training")
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value / 1000:g}k" if value else "0")
    )
    axes.grid(color="#e1e5ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
