"""Demonstrations from files: one, or several of one environment.

Comes in: names of files and of folders with such files, read with distrust. Goes out:
demonstrations, in the order of their names where there are several; refused where they are damaged,
or of different environments. Does not know: Minari, see there.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

from backplay.data import archive, trees
from backplay.demos.demonstration import KIND, Demonstration
from backplay.errors import DemonstrationError, ensure
from backplay.restore import RESTORERS, Restorer, restorer_of_file
from backplay.restore.rollout import AnyEnv


def load(
    path: str | Path | io.BytesIO, env: AnyEnv | None = None, *, restorer: Restorer | None = None
) -> Demonstration:
    """Reads a demonstration; with `env`, also checks that it fits and rebuilds states if need be.

    Raises DemonstrationError if the file is damaged or does not fit. `restorer` is needed only for
    states that a restorer of your own has saved.
    """
    demo = _from_tree(archive.read(path, KIND), restorer)
    return demo if env is None else demo.fit(env)


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


def _from_tree(tree: trees.Tree, restorer: Restorer | None) -> Demonstration:
    wrong: str | None = None
    fields = {*Demonstration.__dataclass_fields__}
    name = tree.get("restorer") if isinstance(tree, dict) else None
    if not isinstance(tree, dict) or tree.keys() != fields or not isinstance(name, str):
        wrong = "other fields than a demonstration has"
    elif restorer is not None and restorer.name != name:
        wrong = f"states of the restorer {name[:40]!r}, not {restorer.name!r}"
    elif restorer is None and name not in RESTORERS:
        wrong = f"states of the unknown restorer {name[:40]!r}: pass restorer="
    ensure(
        not wrong, "This file cannot be read", "a demonstration", got=wrong,
        do="Record it again, or pass the restorer that saved it.", error=DemonstrationError,
    )  # fmt: skip
    chosen = restorer or restorer_of_file(tree["restorer"])
    demo = Demonstration(**{**tree, "restorer": chosen})
    missing = demo.states is None and (chosen.storable or demo.actions is None or demo.seed is None)
    if missing or (demo.states is not None and not chosen.storable):
        raise DemonstrationError(
            "This file cannot be read", expected=f"what {chosen.name} needs", got="states missing",
            do="Record it again.",
        )  # fmt: skip
    return demo
