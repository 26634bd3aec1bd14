"""The studies of the paper's analysis as figures and tables.

Comes in: records of runs, whose results keep what `Study.as_json` gives: name, title, words,
panels, tables, findings. Goes out: figures, cells of text. Does not know: how any number was
computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from backplay.report.axes import SERIES, dress, panels
from backplay.report.exhibit import Exhibit, Table
from backplay.report.records import RunRecord

HEAD = ("claim", "case", "predicted", "measured", "interval", "verdict")
_FINDINGS = (
    "Rates are per state of the chain, powers are exponents of M or m. Intervals of exact counts"
    ' come from the residuals of the fit, those of simulations from the runs. "About" allows a'
    " tenth; open: the interval does not decide. docs/theory.md derives what is predicted."
)

Plain = Mapping[str, Any]


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """The panels of each study, of its first seed, and what was predicted and measured."""
    studies = [run.result["study"] for run in records if isinstance(run.result.get("study"), dict)]
    first = {study["title"]: study for study in reversed(studies)}  # the others are as good
    shown = list(reversed(first.values()))
    drawn = {study["title"]: study_figure(study) for study in shown}
    return Exhibit(
        figures={title: one for title, one in drawn.items() if one is not None},
        words={study["title"]: study["words"] for study in shown},
        tables=study_tables(shown) if shown else (),
    )


def study_figure(study: Plain) -> Figure | None:
    """The panels of a study side by side; None if it has none."""
    if not study["panels"]:
        return None
    figure, cells = panels(len(study["panels"]), size=(4.6, 3.7), around=(0.0, 0.0))
    for axes, panel in zip(cells, study["panels"], strict=True):
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
    dress(axes, panel["title"], panel["x_name"], panel["y_name"])
    axes.legend(frameon=False, fontsize=7.5)


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
