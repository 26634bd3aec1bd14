"""The studies of the paper's analysis as figures and tables.

Comes in: plain data, as `Study.as_json` gives it: name, title, words, panels, tables, findings.
Goes out: figures, cells of text. Does not know: how any number was computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from backplay.report.colours import LINES, SERIES
from backplay.report.exhibit import Table

HEAD = ("claim", "case", "predicted", "measured", "interval", "verdict")
_FINDINGS = (
    "Rates are per state of the chain, powers are exponents of M or m. Intervals of exact counts"
    ' come from the residuals of the fit, those of simulations from the runs. "About" allows a'
    " tenth; open: the interval does not decide. docs/theory.md derives what is predicted."
)

Plain = Mapping[str, Any]


def study_figure(study: Plain) -> Figure | None:
    """The panels of a study side by side; None if it has none."""
    panels = study["panels"]
    if not panels:
        return None
    figure = Figure(figsize=(4.6 * len(panels), 3.7), dpi=130, layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw_panel(axes, panel)
    return figure


def _draw_panel(axes: Axes, panel: Plain) -> None:
    # A simulated series takes the colour of the exact one it belongs to.
    exact = [s["name"] for s in panel["series"] if not s["name"].endswith(", simulated")]
    for series in panel["series"]:
        index = exact.index(series["name"].removesuffix(", simulated"))
        _draw_series(axes, series, SERIES[index % len(SERIES)])
    if panel["log_x"]:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if panel["x_labels"]:
        axes.set_xticks(range(len(panel["x_labels"])), panel["x_labels"], fontsize=8)
        axes.margins(x=0.2)
    if panel["log_y"]:
        axes.set_yscale("log")
    axes.set_title(panel["title"], fontsize=10, loc="left")
    axes.set_xlabel(panel["x_name"], fontsize=9)
    axes.set_ylabel(panel["y_name"], fontsize=9)
    axes.legend(frameon=False, fontsize=7.5)
    axes.grid(color=LINES, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_series(axes: Axes, series: Plain, colour: str) -> None:
    points = [
        (x, y, low, high)
        for x, y, low, high in zip(
            series["x"],
            series["y"],
            series["low"] or series["y"],
            series["high"] or series["y"],
            strict=True,
        )
        if y is not None
    ]
    if not points:
        return
    x, y, low, high = (list(column) for column in zip(*points, strict=True))
    simulated = series["name"].endswith(", simulated")
    label = None if simulated else series["name"]
    shape = {"line": "-", "dots": "o", "dashes": "--"}[series["style"]]
    axes.plot(x, y, shape, color=colour, markersize=3.5, linewidth=1.6, label=label)
    if series["low"]:
        axes.vlines(x, low, high, color=colour, linewidth=1.2)


def findings_table(studies: Sequence[Plain]) -> list[tuple[str, ...]]:
    """Predicted, measured and verdict of every finding as text, a head first."""
    rows: list[tuple[str, ...]] = [HEAD]
    for study in studies:
        rows += [
            (
                finding["claim"],
                finding["where"],
                _figure(finding["predicted"]),
                _figure(finding["measured"]),
                f"[{_figure(finding['low'])}, {_figure(finding['high'])}]",
                finding["verdict"],
            )
            for finding in study["findings"]
        ]
    return rows


def study_tables(studies: Sequence[Plain]) -> tuple[Table, ...]:
    """What was predicted and measured, and the tables of each study."""
    findings = Table("Predicted and measured", _FINDINGS, findings_table(studies))
    own = [
        Table(f"{study['title']}: {part['title']}", "", [part["head"], *part["rows"]])
        for study in studies
        for part in study["tables"]
    ]
    return (findings, *own)


def _figure(value: float | None) -> str:
    if value is None:
        return "inf"
    return "0" if abs(value) < 5e-4 else f"{value:.3g}"
