"""A run with a life behind it, as bytes, and what it may come back as."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from backplay import runs
from backplay.data import trees

RESULT = {"measures": {"success": 0.75, "nothing": None}, "words": ["é", "\n"]}


class Saved(NamedTuple):
    """What belongs together: a state, and the metrics when it was saved."""

    state: dict[str, Any]
    metrics: bytes
    lines: list[dict[str, Any]]


class Life(NamedTuple):
    """A run: its files, and what was saved in it, by frames."""

    config: dict[str, Any]
    files: dict[str, bytes]
    saved: dict[int, Saved]
    seconds: float

    def write(self, path: Path) -> None:
        """Puts the files back, and nothing else."""
        wanted = {path / name: data for name, data in self.files.items()}
        for file in sorted(path.rglob("*"), reverse=True):
            if file.is_dir() and not file.is_symlink():
                if not any(file in one.parents for one in wanted):
                    file.rmdir()
            elif file not in wanted or file.is_symlink() or not file.is_file():
                file.unlink()
        for file, data in wanted.items():
            if not file.exists() or file.read_bytes() != data:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)


def state_at(frames: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng((seed, frames))
    return {
        "frames": frames,
        "learner": {"network": {"a/b": rng.normal(size=(3, 4)).astype(np.float32).T}, "updates": 7},
        "envs": [rng.integers(0, 9, 5), {"words": np.array(["é", "bc"]), "at": (1, None, b"x")}],
        "scalar": np.float64(rng.normal()),
        "none": np.zeros((0, 3), np.uint8),
        "curriculum": '{"kind": "Standard"}',
    }


def line_at(frames: int, seed: int = 0) -> dict[str, Any]:
    return {"frames": frames, "loss": 1 / (frames + seed + 3), "starts": "[2, 6) steps back"}


def live(path: Path, seed: int, *, finished: bool = True, saves: int = 3) -> Life:
    """Makes a run of three lines between two checkpoints, and a line after the last."""
    demo = path.parent / "demo.npz"
    demo.write_bytes(b"a demonstration")
    run = runs.create(path, {"job": {"seed": seed, "regime": "backplay"}}, [demo])
    saved, written = {}, []
    for frames in range(1, 3 * saves + 2):
        written.append(line_at(frames, seed))
        run.append_metrics(written[-1])
        if frames % 3 == 0:
            run.tick(frames, frames / 4)
            run.save(state_at(frames, seed))
            metrics = (path / "metrics.jsonl").read_bytes()
            saved[frames] = Saved(state_at(frames, seed), metrics, list(written))
    if finished:
        run.finish(RESULT)
    return Life(run.config, contents(path), saved, run.seconds)


def contents(path: Path) -> dict[str, bytes]:
    """All files of a directory."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def assert_was_saved(path: Path, life: Life) -> int:
    """Resumes the run at `path`: a state of `life` with its metrics; at how many frames."""
    run = runs.open_run(path)
    loaded = run.resume()
    saved = life.saved[loaded.state["frames"]]
    assert trees.first_difference(loaded.state, saved.state) is None
    assert loaded.path.name == f"{loaded.state['frames']:012d}.safetensors"
    assert (path / "metrics.jsonl").read_bytes() == saved.metrics
    assert run.metrics() == saved.lines
    assert run.config == life.config
    return int(loaded.state["frames"])


def without_waiting(monkeypatch: Any) -> None:
    """Lets nothing wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
