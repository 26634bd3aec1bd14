"""Runs on the page: their curves and maps, and `backplay train` started, stopped and resumed.

Comes in: the path of a run; a demonstration and a few settings. Goes out: plain data, small enough
to be sent every two seconds; the name of a run, and whether it is being worked on. A run is a
process of its own, the same command that a person would write; it is stopped as by Ctrl-C, so that
it saves first. Does not know: learners, environments.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

from backplay import runs
from backplay.demos import load
from backplay.demos.success import success_rule
from backplay.errors import BackplayError, ensure, show, whole
from backplay.records import TRUE_START
from backplay.studio.folder import HIDDEN, Folder

MOST_POINTS = 300  # of a curve
COLUMNS = 48  # of the map: stretches of frames
RECENT = 0.1  # of the frames so far: what counts as now
CURRICULA = ("backplay", "uniform", "standard")
MEASURED = 20  # times on the way, from the true start
_LINES = 4  # of what it said last
_PATIENCE = 20.0  # seconds for the last one to save


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


class Trainings:
    """The processes that this studio has started, by the name of their run."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, asked: dict[str, Any]) -> str:
        """Begins a run; its name."""
        demo = self._folder.existing(asked.get("demo"))
        frames = whole("frames", asked.get("frames"), 1)
        seed = whole("seed", asked.get("seed", 0), 0)
        curriculum, success = asked.get("curriculum", CURRICULA[0]), asked.get("success") or ""
        if curriculum not in CURRICULA:
            raise BackplayError("curriculum", expected=f"one of {', '.join(CURRICULA)}")
        if not isinstance(success, str):
            raise BackplayError("success", expected="a rule in words", got=show(success))
        if success:
            success_rule(success)  # says what is wrong with it
        env = load(demo).env_id
        if env is None or ":" in env:
            raise BackplayError("This demonstration names no environment")
        name = self._free_name(f"{demo.stem}-{curriculum}-{seed}")
        options = {
            "--frames": frames, "--evaluate-every": max(1, frames // MEASURED),
            "--seed": seed, "--curriculum": curriculum, "--dir": name,
            **({"--success": success} if success else {}),
        }  # fmt: skip
        words = [str(word) for option in options.items() for word in option]
        self._begin(name, "train", env, str(demo), *words)
        return name

    def resume(self, name: object) -> None:
        """Resumes a run that was stopped, or killed."""
        path = self._folder.existing(name)
        key = self._folder.name_of(path)
        ensure(not self.is_working(key), f"{key} is being trained already")
        ensure(runs.open_run(path).result is None, f"{key} is finished")
        self._begin(key, "train", "--resume", key)

    def stop(self, name: object) -> None:
        """Asks a run to save and stop."""
        process = self._processes.get(str(name))
        if process is None or process.poll() is not None:
            raise BackplayError(f"{show(name)} is not being trained by this studio")
        process.send_signal(signal.SIGINT)

    def is_working(self, name: str) -> bool:
        """Whether a process of ours works on this run."""
        process = self._processes.get(name)
        return process is not None and process.poll() is None

    def said(self, name: str) -> list[str]:
        """The last lines of what a run's process said; empty if it is none of ours."""
        with suppress(OSError):
            text = self._log(name).read_text(errors="replace")
            return [line for line in text.splitlines() if line.strip()][-_LINES:]
        return []

    def close(self) -> None:
        """Stops all of them; they save first."""
        working = [process for process in self._processes.values() if process.poll() is None]
        for process in working:
            process.send_signal(signal.SIGINT)
        for process in working:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()

    def _begin(self, name: str, *words: str) -> None:
        log = self._log(name)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as out:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "backplay.cli", *words],
                cwd=self._folder.path, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip

    def _free_name(self, wish: str) -> str:
        wish = re.sub(r"[^\w.-]+", "-", wish)
        tried, count = f"runs/{wish}", 1
        while (self._folder.path / tried).exists() or tried in self._processes:
            count += 1
            tried = f"runs/{wish}-{count}"
        return tried

    def _log(self, name: str) -> Path:
        file = re.sub(r"[^\w.-]+", "-", name) + ".txt"
        return self._folder.path / HIDDEN / "logs" / file
