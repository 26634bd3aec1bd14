"""A run directory as data for curves and maps, while it trains or later.

Comes in: the path of a run. Goes out: plain data, small enough to be sent every two seconds. Reads
files alone. Does not know: learners, environments.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from backplay import runs
from backplay.records import TRUE_START

MOST_POINTS = 300  # of a curve
COLUMNS = 48  # of the map: stretches of frames
RECENT = 0.1  # of the frames so far: what counts as now


def run_facts(path: Path) -> dict[str, Any]:
    """Where a run stands: curves over frames, success by start over time and now."""
    run = runs.open_run(path)
    lines = run.metrics()
    result = run.result
    job = run.job
    settings = job.get("settings")
    total = settings.get("frames") if isinstance(settings, dict) else job.get("frames")
    frames = lines[-1]["frames"] if lines else 0
    measures = [name for name, value in _measures(lines).items() if value]
    return {
        "job": {"kind": job.get("kind"), "env": job.get("env") or job.get("task")},
        "frames": frames,
        "total": total if type(total) is int else None,
        "finished": result is not None,
        "result": {key: result[key] for key in ("sampled", "greedy") if key in result}
        if result
        else None,
        "starts": str(lines[-1].get("starts", "")) if lines else "",
        "evaluations": {name: _curve(lines, ("evaluation", name)) for name in measures},
        "train_success": _thin(_curve(lines, ("train_success",))),
        "learner": {
            name: _thin(_curve(lines, ("learner", name)))
            for name in (lines[-1].get("learner") or {} if lines else {})
        },
        "map": success_map(lines),
    }


def success_map(lines: list[dict[str, Any]], columns: int = COLUMNS) -> dict[str, Any]:
    """Success by steps back, over stretches of frames and now.

    `cells[column][row]` is the share of successes of episodes that started there, or None where
    none did; `now` has [steps back, tries, wins] of the last tenth of the frames. The last row,
    -1, is the true start.
    """
    starts = {row[0] for line in lines for row in line.get("by_steps_back", [])}
    rows = sorted(starts, key=lambda back: (back == TRUE_START, back))
    if not rows:
        return {"frames": [], "rows": [], "cells": [], "now": []}
    end = max(1, lines[-1]["frames"])
    columns = min(columns, len(lines))  # so that a short run has no gaps
    counts: list[dict[int, list[int]]] = [defaultdict(lambda: [0, 0]) for _ in range(columns)]
    now: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for line in lines:
        column = min(columns - 1, line["frames"] * columns // (end + 1))
        for back, tries, wins in line.get("by_steps_back", []):
            for cell in [counts[column][back]] + [now[back]] * (
                line["frames"] >= (1 - RECENT) * end
            ):
                cell[0] += tries
                cell[1] += wins
    return {
        "frames": [round((column + 1) * end / columns) for column in range(columns)],
        "rows": rows,
        "cells": [
            [c[row][1] / c[row][0] if row in c and c[row][0] else None for row in rows]
            for c in counts
        ],
        "now": [[back, *cell] for back, cell in sorted(now.items())],
    }


def _measures(lines: list[dict[str, Any]]) -> dict[str, bool]:
    """The names of what evaluations measured as numbers."""
    found: dict[str, bool] = {}
    for line in lines:
        for name, value in (line.get("evaluation") or {}).items():
            found[name] = found.get(name, False) or isinstance(value, int | float)
    return found


def _curve(lines: list[dict[str, Any]], keys: tuple[str, ...]) -> list[tuple[int, float]]:
    curve = []
    for line in lines:
        value: Any = line
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, int | float):
            curve.append((line["frames"], float(value)))
    return curve


def _thin(curve: list[tuple[int, float]]) -> list[tuple[int, float]]:
    every = -(-len(curve) // MOST_POINTS) or 1
    return curve[::every]
