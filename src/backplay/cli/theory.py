"""`backplay theory`: the paper's analysis, computed again, as a table, figures and a page."""

from __future__ import annotations

import json
import platform
import shlex
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from backplay.data.files import write_atomically
from backplay.errors import BackplayError
from backplay.paper.theory.figures import draw_study, findings_table, write_theory_page
from backplay.theory import STUDIES, Sizes, run_studies
from backplay.ui.display import counting

PAGE, RESULT = "index.html", "result.json"


@dataclass(frozen=True, kw_only=True)
class TheoryConfig:
    """Computes what the paper's analysis predicts and what really happens on chains and graphs.

        backplay theory
        backplay theory --quick --out page
        backplay theory --seed 1

    Prints a table: predicted rate, measured rate with its interval, verdict. Writes a page that
    needs no network, its figures and its numbers. Every number of docs/theory.md comes from here.
    Takes about half a minute on one core, with --quick a few seconds. Ctrl-C keeps what is done.
    """

    out: Path = Path("theory")
    """Directory of the page, the figures and the numbers."""
    quick: bool = False
    """Shorter chains and fewer runs."""
    seed: int = 0
    """Of the simulations."""


def theory(config: TheoryConfig) -> int:
    """Computes, prints the table and writes the page; 130 after Ctrl-C."""
    _refuse_nonsense(config)
    began = time.monotonic()
    studies: list[dict[str, Any]] = []
    names = list(STUDIES)
    stopped = False
    sizes = Sizes.quick() if config.quick else Sizes()
    try:
        with counting(len(names), "studies") as count:
            count(0, names[0])
            for study in run_studies(sizes, config.seed):
                studies.append(study.as_json())
                count(len(studies), names[min(len(studies), len(names) - 1)])
    except KeyboardInterrupt:
        stopped = True
    if studies:
        print(_text(findings_table(studies)))
        _write(config, studies, time.monotonic() - began)
    if stopped:
        kept = f"the page has {len(studies)} of {len(names)} studies" if studies else "no page yet"
        print(f"stopped; {kept}. To start again: {_command(config)}")
        return 130
    print(f"{time.monotonic() - began:.0f} seconds. Open {config.out / PAGE}")
    return 0


def _write(config: TheoryConfig, studies: list[dict[str, Any]], seconds: float) -> None:
    pictures = {}
    for study in studies:
        picture = draw_study(study)
        if picture is not None:
            pictures[study["name"]] = picture
            write_atomically(config.out / f"{study['name']}.png", picture)
    made: Any = {"command": _command(config), "versions": _versions()}
    result = json.dumps({**made, "studies": studies}, indent=1) + "\n"
    write_atomically(config.out / RESULT, result.encode())
    page = write_theory_page(studies, pictures, seconds=seconds, **made)
    write_atomically(config.out / PAGE, page.encode())


def _text(rows: list[tuple[str, ...]]) -> str:
    """The table in columns, each claim once as a heading of its cases."""
    widths = [max(len(row[i]) for row in rows) for i in range(1, len(rows[0]))]
    lines = []
    claim = None
    for row in rows:
        if row[0] not in (claim, "claim"):
            lines += ["", row[0]]
        claim = row[0]
        cells = zip(row[1:], widths, strict=True)
        first, *rest = (f"{cell:<{width}}" for cell, width in cells)
        lines.append(("  " + "  ".join([first, *rest])).rstrip())
    return "\n".join(lines) + "\n"


def _refuse_nonsense(config: TheoryConfig) -> None:
    if config.seed < 0:
        raise BackplayError("--seed", expected="at least 0", got=str(config.seed))
    out = config.out
    if out.exists() and not out.is_dir():
        raise BackplayError(f"{out} is a file", do="Choose another --out; nothing was written.")
    ours = {PAGE, RESULT, *(f"{name}.png" for name in STUDIES)}
    if out.is_dir() and not {file.name for file in out.iterdir()} <= ours:
        raise BackplayError(
            f"{out} holds other files than the studies'",
            do="Choose another --out; nothing was written.",
        )


def _command(config: TheoryConfig) -> str:
    """What to type to get the same again."""
    parts = ["backplay", "theory"]
    if config.out != TheoryConfig().out:
        parts += ["--out", str(config.out)]
    parts += ["--quick"] * config.quick
    if config.seed:
        parts += ["--seed", str(config.seed)]
    return shlex.join(parts)


def _versions() -> dict[str, str]:
    packages = {
        name: metadata.version(name)
        for name in ("backplay", "numpy", "scipy", "numba", "networkx", "matplotlib")
    }
    return {**packages, "python": platform.python_version(), "machine": platform.machine()}
