"""Several demonstrations of one environment, from files and folders.

Comes in: names of files and of folders with such files. Goes out: demonstrations in the order of
their names, refused where they are of different environments. Does not know: Minari, see there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from backplay.demos.demonstration import Demonstration, load
from backplay.errors import DemonstrationError, ensure
from backplay.restore.rollout import AnyEnv


def load_all(*sources: str | Path, env: AnyEnv | None = None) -> list[Demonstration]:
    """Reads demonstrations of one env: from files, and from all `.npz` files of folders.

        bp.load_all("demos/")
        bp.load_all("mine.npz", "yours.npz", env=env)

    With `env` each must fit it, and states are rebuilt if need be, as `bp.load` does. Raises
    DemonstrationError that names the file which is damaged or of another environment.
    """
    files = demonstration_files(sources)
    demos = [_named(file, env) for file in files]
    for file, demo in zip(files, demos, strict=True):
        for what in ("env_id", "spaces", "env_kwargs"):
            here, first = getattr(demo, what), getattr(demos[0], what)
            if here != first and here and first:
                raise DemonstrationError(
                    f"{file} is of another environment than {files[0]}", expected=first, got=here,
                    do="Pool demonstrations of one environment.",
                )  # fmt: skip
    return demos


def demonstration_files(sources: Iterable[str | Path]) -> list[Path]:
    """The files that are named, and in the place of each folder the `.npz` files in it."""
    found = []
    for source in map(Path, sources):
        inside = sorted(source.glob("*.npz")) if source.is_dir() else [source]
        ensure(
            inside, f"There is no demonstration in {source}", "files that end with .npz",
            got="none", do="Save some there: demo.save(path), backplay play, backplay record.",
        )  # fmt: skip
        found += inside
    ensure(found, "demonstrations", "a file or a folder", got="none")
    return found


def _named(file: Path, env: AnyEnv | None) -> Demonstration:
    try:
        return load(file, env)
    except DemonstrationError as error:
        raise (
            error if str(file) in str(error) else DemonstrationError(f"{file}: {error}")
        ) from error
