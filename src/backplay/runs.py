"""What a run directory holds: settings, demonstrations, the last checkpoint, metrics.

    config.json              the settings; written last, so that a directory with it is complete
    demonstrations/0.npz …   copies of the files the run was started with
    checkpoint.safetensors   all that a resumed run needs: arrays, the rest as JSON in the header
    metrics.jsonl            one line per update

Comes in: plain data and numpy arrays. Does not know: what they mean, nor torch. Nothing that is
read runs code, and every file but the metrics, which grow, is replaced whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from backplay.archive import write_atomically
from backplay.errors import BackplayError

_VERSION = 1
_CONFIG, _CHECKPOINT, _METRICS = "config.json", "checkpoint.safetensors", "metrics.jsonl"
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Run:
    """A run directory that exists."""

    path: Path
    config: dict[str, Any]
    """The settings, as they were passed to `create`."""

    @property
    def demonstrations(self) -> list[Path]:
        """The run's own copies of its demonstrations."""
        files = (self.path / "demonstrations").glob("*.npz")
        return sorted(files, key=lambda file: (len(file.name), file.name))

    @property
    def checkpoint(self) -> Path:
        """Where the last checkpoint is."""
        return self.path / _CHECKPOINT

    def save(self, state: dict[str, Any]) -> None:
        """Replaces the checkpoint by `state`: nested dicts of arrays and plain data."""
        arrays: Arrays = {}
        text = json.dumps(_take_arrays(state, (), arrays))
        metadata = {"version": str(_VERSION), "state": text, "sha256": _digest(text, arrays)}
        write_atomically(self.checkpoint, save(arrays, metadata))

    def load(self) -> dict[str, Any] | None:
        """What `save` got last; None if there is no checkpoint yet."""
        if not self.checkpoint.exists():
            return None
        try:
            with safe_open(self.checkpoint, framework="numpy") as file:
                metadata = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            text = metadata["state"]
            if metadata["sha256"] != _digest(text, arrays):
                raise ValueError("content that differs from what was written")
            state: dict[str, Any] = json.loads(text)
            _put_arrays(state, arrays)
        except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
            raise _damaged(self.checkpoint, error) from error
        return state

    def append_metrics(self, values: dict[str, Any]) -> None:
        """Adds one line to the metrics."""
        with (self.path / _METRICS).open("a") as file:
            file.write(json.dumps(values) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """The metrics so far; a last line that a crash cut short is left out."""
        file = self.path / _METRICS
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        try:
            return [json.loads(line) for line in lines]
        except ValueError as error:
            raise _damaged(file, error) from error

    def forget_metrics_after(self, frames: int) -> None:
        """Drops the lines that a run resumed at `frames` is going to write again."""
        kept = [json.dumps(line) + "\n" for line in self.metrics() if line["frames"] <= frames]
        write_atomically(self.path / _METRICS, "".join(kept).encode())


def create(path: Path, config: dict[str, Any], demonstrations: Sequence[Path]) -> Run:
    """A new run directory at `path`, which must not exist or be empty."""
    require_free(path)
    for i, file in enumerate(demonstrations):
        write_atomically(path / "demonstrations" / f"{i}.npz", file.read_bytes())
    text = json.dumps({"version": _VERSION, **config}, indent=2)
    write_atomically(path / _CONFIG, text.encode())
    return Run(path, config)


def require_free(path: Path) -> None:
    """Refuses a path where something is already."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        is_run = (path / _CONFIG).exists()
        raise BackplayError(
            f"{path} is not empty",
            expected="a directory that does not exist yet",
            got="a run" if is_run else "other files",
            do=f"Choose another --dir{f', or go on with --resume {path}' if is_run else ''}.",
        )


def open_run(path: Path) -> Run:
    """The run directory at `path`."""
    file = path / _CONFIG
    try:
        config = json.loads(file.read_text())
        version = config.pop("version")
    except FileNotFoundError as error:
        raise BackplayError(
            f"{path} is no run", expected=f"a directory with a {_CONFIG}", do="Check the path."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(file, error) from error
    if version != _VERSION:
        raise BackplayError(
            f"{path} was made by another version of backplay",
            expected=f"format {_VERSION}",
            got=f"format {version}",
            do="Use the version it was made with.",
        )
    return Run(path, config)


def _take_arrays(tree: Any, where: tuple[str, ...], arrays: Arrays) -> Any:
    """`tree` without its arrays, which go to `arrays` by their path."""
    if isinstance(tree, np.ndarray):
        # The copy is contiguous, which safetensors takes for granted.
        arrays["/".join(where)] = tree.copy(order="C")
        return None
    if isinstance(tree, dict):
        return {key: _take_arrays(part, (*where, key), arrays) for key, part in tree.items()}
    return tree


def _put_arrays(tree: dict[str, Any], arrays: Arrays) -> None:
    """Puts every array back to its place in `tree`."""
    for name, array in arrays.items():
        *path, last = name.split("/")
        place = tree
        for key in path:
            place = place[key]
        place[last] = array


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _damaged(path: Path, error: Exception) -> BackplayError:
    return BackplayError(
        f"{path} is damaged",
        expected="the file as backplay wrote it",
        got=f"{type(error).__name__}: {str(error)[:200]}",
        do="Copy it again from where it came.",
    )
