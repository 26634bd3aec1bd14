"""Run directories become records, as far as they go.

Comes in: run directories, finished or not, of experiments or not. Goes out: RunRecords. Does not
know: what trained, or what a measure means. What is damaged beyond use is said in the record's
notes; only a directory whose settings cannot be read is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from backplay import runs
from backplay.errors import BackplayError, ensure
from backplay.report.records import EPISODES, RunRecord

T = TypeVar("T")

_DRAWN = {"starts", "walks", "archive"}  # of a curriculum with a seed: drawn from it


def find_runs(paths: Sequence[Path]) -> list[runs.Run]:
    """The runs at these paths and in folders of them, at any depth, each once."""
    found: dict[Path, runs.Run] = {}
    for path in paths:
        before = len(found)
        inside = list(_inside(path))
        for one in inside:
            if one.resolve() not in found:
                found[one.resolve()] = runs.open_run(one)
        if len(found) == before and not inside:
            raise BackplayError(
                f"{path} holds no run",
                expected="a run directory, or a folder of them",
                got="a folder without" if path.is_dir() else "no folder",
                do="Check the path; a run directory has a config.json.",
            )
    return list(found.values())


def read_run(run: runs.Run) -> RunRecord:
    """What is known of a run."""
    notes: list[str] = []
    job = _job(run)
    nothing: list[dict[str, Any]] = []
    lines = _or_note(run.metrics, nothing, notes)
    result = _or_note(lambda: run.result, None, notes)
    return RunRecord(
        path=str(run.path),
        **job,
        seconds=_or_note(lambda: run.seconds, 0.0, notes),
        finished=result is not None,
        curve=_curve(lines),
        evaluated=min(_evaluated(lines), default=EPISODES),
        starts=[start for line in lines for start in _starts(line)],
        measures=_measures(result or {}),
        result=result or {},
        provenance=_or_note(lambda: run.provenance, {}, notes),
        asked=_asked(run, notes),
        notes=(*notes, *_told(run)),
    )


def _told(run: runs.Run) -> Iterator[str]:
    """What was odd when processes went on with a run, and whether they were of one kind."""
    try:
        processes = run.processes()
    except BackplayError:
        return
    for process in processes:
        found = process.get("notes")
        yield from (str(note) for note in found) if isinstance(found, list) else ()
    kinds = {json.dumps([one.get("versions"), one.get("processor")]) for one in processes}
    if len(kinds) > 1:
        yield f"{len(kinds)} kinds of machine or versions worked on it: it may be rounded otherwise"


def _inside(path: Path) -> Iterator[Path]:
    """Run directories at or below a path, by name; none inside a run."""
    if runs.is_run(path):
        yield path
    elif path.is_dir():
        for below in sorted(path.iterdir()):
            if below.is_dir() and not below.is_symlink() and not below.name.startswith("."):
                yield from _inside(below)


def _job(run: runs.Run) -> dict[str, Any]:
    """Kind, setting, regime, seed and frames."""
    job = run.job
    fields = {name: job.get(name) for name in ("kind", "setting", "regime", "seed", "frames")}
    for name, value in fields.items():
        wanted: type = int if name in ("seed", "frames") else str
        ensure(
            type(value) is wanted, f"{run.path}/config.json, {name}", f"{wanted.__name__} of a run",
            value, do="Was it made by this version of backplay? Leave it out if not.",
        )  # fmt: skip
    return fields


def _asked(run: runs.Run, notes: list[str]) -> dict[str, str]:
    """All that the run was asked for beside its seed: names with dots, values as JSON."""
    fields = run.job.get("fields")
    leaves = _leaves(fields if isinstance(fields, Mapping) else {})
    asked = {name.removeprefix("settings."): value for name, value in leaves}  # as options name it
    try:
        digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in run.demonstrations]
    except OSError as error:
        notes.append(f"{run.path}/demonstrations: {error.strerror}")
        digests = []
    if digests:
        asked["demonstrations"] = "+".join(digest[:12] for digest in digests)
    return asked


def _leaves(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The settings of a tree without seeds and what was drawn from them."""
    left_out = {"seed", *(_DRAWN if before == "curriculum." and "seed" in tree else ())}
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{before}{name}.")
        elif name not in left_out:
            yield f"{before}{name}", json.dumps(value, sort_keys=True)


def _curve(lines: Sequence[Mapping[str, Any]]) -> list[tuple[int, dict[str, float]]]:
    """Frames and numbers of each evaluation."""
    curve = []
    for line in lines:
        measured = _numbers(line.get("evaluation"))
        if measured and type(line.get("frames")) is int:
            curve.append((int(line["frames"]), measured))
    return curve


def _evaluated(lines: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    """The episodes of each evaluation that says them."""
    counts = (line.get("evaluated") for line in lines)
    return (count for count in counts if type(count) is int and count > 0)


def _starts(line: Mapping[str, Any]) -> Iterator[tuple[int, int, int, int]]:
    counts = line.get("by_steps_back")
    for count in counts if isinstance(counts, list) else []:
        whole = [line.get("frames"), *count] if isinstance(count, list) else []
        if len(whole) == 4 and all(type(one) is int for one in whole):
            yield whole[0], whole[1], whole[2], whole[3]


def _measures(result: Mapping[str, Any]) -> dict[str, float | None]:
    """What a run came to; a measure without a number is None."""
    measures = result.get("measures")
    if not isinstance(measures, Mapping):
        return {}
    numbers = _numbers(measures)
    return {str(name): numbers.get(str(name)) for name in measures}


def _numbers(tree: Any) -> dict[str, float]:
    """The finite numbers of a mapping."""
    if not isinstance(tree, Mapping):
        return {}
    return {
        str(name): float(value)
        for name, value in tree.items()
        if isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)
    }


def _or_note(read: Callable[[], T], otherwise: T, notes: list[str]) -> T:
    """What `read` gives; if it is damaged, `otherwise` and a note."""
    try:
        return read()
    except BackplayError as error:
        notes.append(str(error))
        return otherwise
