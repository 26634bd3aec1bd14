"""What `report` and `compare` share: run directories read, a folder for the page written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from backplay.data.files import write_atomically
from backplay.errors import BackplayError
from backplay.report.reading import find_runs, read_run
from backplay.report.records import RunRecord, grouped, twice


def read_records(paths: Sequence[Path]) -> list[RunRecord]:
    """The runs at these paths; refused if one of them is there twice."""
    records = [read_run(run) for run in find_runs(paths)]
    for first, again in twice(grouped(records)):
        raise BackplayError(
            f"{first.path} and {again.path} are the same run",
            expected="every setting, regime, budget and seed once, where all else is the same",
            got=f"{again.setting}, {again.regime}, seed {again.seed} twice",
            do="Leave one of them out; backplay compare puts two folders side by side.",
        )
    return records


def require_report_folder(out: Path, names: Collection[str]) -> None:
    """Refuses a folder with anything in it that a report does not write."""
    if out.exists() and not out.is_dir():
        raise BackplayError(f"{out} is a file", do="Choose another --out; nothing was written.")
    if out.is_dir() and not {file.name for file in out.iterdir()} <= set(names):
        raise BackplayError(
            f"{out} holds other files than a report's",
            do="Choose another --out; nothing was written.",
        )


def write_files(out: Path, contents: Mapping[str, bytes], names: Collection[str]) -> None:
    """Writes a report's files; those of an earlier one that it no longer has are removed."""
    for name, data in contents.items():
        write_atomically(out / name, data)
    for name in set(names) - set(contents):
        (out / name).unlink(missing_ok=True)
