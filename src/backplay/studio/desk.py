"""What the studio has open: its folder, one recording, one demonstration.

Comes in: what the page asks for, as plain data. Goes out: the same, or a BackplayError. Does not
know: requests.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from backplay import runs
from backplay.demos import load
from backplay.errors import BackplayError, ensure, show, whole
from backplay.studio import journal
from backplay.studio.agents import RunAgent
from backplay.studio.folder import Folder
from backplay.studio.gallery import Opened
from backplay.studio.journal import Setup
from backplay.studio.own_thread import Shelf
from backplay.studio.recording import Recording
from backplay.studio.stage import Stage
from backplay.studio.trainings import Trainings, run_facts

MOST_LISTED = 60
_LARGE = 2**28  # bytes: a larger file is listed unread
_OPEN = 3  # demonstrations, and agents, that are kept open


class Desk:
    """One studio."""

    def __init__(self, folder: Path) -> None:
        self.folder = Folder(folder)
        self.stage: Stage | None = None
        self._demos: Shelf[Opened] = Shelf(_OPEN)
        self._agents: Shelf[RunAgent] = Shelf(_OPEN)
        self._lock = threading.RLock()
        self.trainings = Trainings(self.folder)
        self._read: dict[tuple[Path, float], dict[str, Any]] = {}

    def home(self) -> dict[str, Any]:
        """What there is: demonstrations, runs, recordings that were not ended."""
        stage = self.stage
        left = [
            {
                "name": one.name, "env": one.task.env, "seed": one.task.seed, "began": one.began,
                "steps": len(one.actions), "takes": len(one.takes),
            }
            for one in journal.left_behind(self.folder)
        ]  # fmt: skip
        return {
            "folder": str(self.folder.path.resolve()),
            "demos": [self._listed(path) for path in self.folder.demonstrations()[:MOST_LISTED]],
            "runs": [self._run(path) for path in self.folder.runs()[:MOST_LISTED]],
            "left": left,
            "recording": stage and {
                "env": stage.recording.task.env, "steps": len(stage.recording.take),
            },
        }  # fmt: skip

    def record(self, asked: dict[str, Any]) -> None:
        """Begins a recording: of an env, from a demonstration's step, or one that was left."""
        with self._lock:
            if "left" in asked:
                left = journal.find(self.folder, asked["left"])
                self._begin(left.task, actions=left.actions, takes=left.takes)
                journal.remove(self.folder, left.name)
            elif "demo" in asked:
                opened = self.open(asked["demo"])
                step = asked.get("step", len(opened.demo))
                if opened.demo.actions is None or type(step) is not int:
                    raise BackplayError("This demonstration cannot be continued")
                self._begin(opened.task(), actions=opened.demo.actions[:step])
            else:
                self._begin(_task(asked))

    def end_recording(self) -> None:
        """Ends the recording; what was not saved is offered again."""
        with self._lock:
            stage, self.stage = self.stage, None
        if stage is not None:
            stage.close()

    def forget(self, name: object) -> None:
        """Removes a recording that was left."""
        journal.remove(self.folder, name)

    def open(self, name: object) -> Opened:
        """The demonstration of this name, ready to be looked at."""
        path = self.folder.existing(name)
        return self._demos.get((path, path.stat().st_mtime_ns), lambda: Opened(path))

    def mend(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Writes a mended demonstration; what it is."""
        opened = self.open(asked.get("demo"))
        path = self.folder.new_file(asked.get("name"))
        end, cut = asked.get("end"), asked.get("cut")
        if type(end) is not int or not 0 < end <= len(opened.demo):
            raise BackplayError("end", expected=f"1 to {len(opened.demo)}", got=show(end))
        ensure(cut is None or _is_stretch(cut, end), "cut", "two steps before the end", cut)
        made = opened.mended(path, end=end, cut=tuple(cut) if cut else None)
        return {**made, "name": self.folder.name_of(path)}

    def to_minari(self, asked: dict[str, Any]) -> str:
        """Exports a demonstration to Minari; where it is."""
        dataset = asked.get("dataset")
        if not isinstance(dataset, str):
            raise BackplayError("dataset", expected="a name such as mine/lake-v0")
        return self.open(asked.get("demo")).to_minari(dataset)

    def run(self, name: object) -> dict[str, Any]:
        """Where a run stands; one that has only just been started has nothing yet."""
        if isinstance(name, str) and self.trainings.is_working(name):
            path = self.folder.inside(name)
        else:
            path = self.folder.existing(name)
        key = self.folder.name_of(path)
        found = run_facts(path) if runs.is_run(path) else {"frames": 0, "finished": False}
        working = self.trainings.is_working(key)
        return {"name": key, "working": working, "said": self.trainings.said(key), **found}

    def agent(self, name: object) -> RunAgent:
        """What a run has learned so far."""
        path = self.folder.existing(name)
        return self._agents.get(path, lambda: RunAgent(path))

    def close(self) -> None:
        """Ends everything."""
        self.trainings.close()
        self.end_recording()
        self._demos.close()
        self._agents.close()

    def _begin(self, task: Setup, **taken: Any) -> None:
        self.end_recording()
        self.stage = Stage(lambda: Recording(task, self.folder, **taken))

    def _listed(self, path: Path) -> dict[str, Any]:
        """A line on a file; a damaged one says so."""
        stat = path.stat()
        key = (path, stat.st_mtime)
        if key not in self._read:
            self._read[key] = {"name": self.folder.name_of(path), **_summary(path, stat.st_size)}
        return self._read[key]

    def _run(self, path: Path) -> dict[str, Any]:
        try:
            done = runs.open_run(path).result is not None
            return {"name": self.folder.name_of(path), "finished": done}
        except BackplayError as error:
            return {"name": self.folder.name_of(path), "error": str(error)}


def _summary(path: Path, size: int) -> dict[str, Any]:
    if size > _LARGE:
        return {"bytes": size}
    try:
        demo = load(path)
    except BackplayError as error:
        return {"error": str(error)}
    return {
        "env": demo.env_id, "length": len(demo), "total": float(demo.rewards.sum()),
        "success": demo.success, "seed": demo.seed,
    }  # fmt: skip


def _task(asked: dict[str, Any]) -> Setup:
    env, kwargs, seed = asked.get("env"), asked.get("env_kwargs", {}), asked.get("seed", 0)
    if not isinstance(env, str) or not env.strip():
        raise BackplayError("env", expected="an environment's id", got=show(env))
    if not isinstance(kwargs, dict):
        raise BackplayError("arguments", expected="a JSON object", got=show(kwargs))
    whole("seed", seed, 0)
    return Setup(env=env.strip(), env_kwargs=kwargs, seed=seed)


def _is_stretch(cut: Any, end: int) -> bool:
    if not isinstance(cut, list) or len(cut) != 2 or not all(type(step) is int for step in cut):
        return False
    return bool(0 <= cut[0] < cut[1] <= end)
