"""`backplay compare`: two folders of runs, their difference and how sure it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from backplay.cli.options import command_of, require_at_least
from backplay.cli.report import read_records, require_report_folder, write_files
from backplay.errors import BackplayError
from backplay.report.build import CURVES_WORDS, PAGE, RESULT
from backplay.report.comparing import Pair, compare_cells, difference_cells, labelled, paired
from backplay.report.comparing import compare as compare_pairs
from backplay.report.exhibit import Table
from backplay.report.figures import as_png, as_svg, draw_curves
from backplay.report.page import write_page
from backplay.report.records import Group, RunRecord, grouped, measures_of
from backplay.report.sheet import Picture, paragraph, section, table
from backplay.report.texts import Cells, in_columns

SAME = "What is compared differs in nothing but its seeds."
NOTE = (
    "Square brackets: 95 % interval over seeds; of means and their differences Student's, that of a"
    " share at least as wide as chance makes it for the episodes that were measured; of the chance"
    " that one is better a bootstrap, at least as wide as Wilson's of as many pairs, and none from"
    " one seed. Seeds are taken as independent, also where both folders have the same. In the row"
    " for all every row counts the same, however many seeds it has; it has no interval if one of"
    " them has a single seed on a side."
)


@dataclass(frozen=True, kw_only=True)
class CompareConfig:
    """Puts two folders of runs side by side: differences, and the chance that one beats the other.

        backplay compare runs/before runs/after
        backplay compare runs/uniform runs/backplay --measure return
        backplay compare runs/before runs/after --out page

    Runs of the same setting, regime and budget are compared, whatever their seeds; where a folder
    has several such that were set up differently, those set up the same. Where the folders share no
    such runs, those of the same setting. Says first what differs between the two sides: settings,
    demonstrations, versions. Prints tables and writes a page.
    """

    first: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """A run directory or a folder of them."""
    second: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """The other."""
    measure: str = "success"
    """What to compare, of that which runs measured at their end."""
    out: Path = Path("compare")
    """Directory of the page, the figure and the tables."""
    seed: int = 0
    """Of the intervals that are drawn."""


def compare(config: CompareConfig) -> None:
    """Prints the table and writes the page."""
    require_at_least(config, seed=0)
    require_report_folder(config.out)
    sides = [read_records([path]) for path in (config.first, config.second)]
    places = [{Path(run.path).resolve() for run in side} for side in sides]
    if places[0] & places[1]:
        raise BackplayError("compare", expected="two folders of different runs", got="one twice")
    groups = grouped(sides[0]), grouped(sides[1])
    pairs = paired(*groups)
    rows = compare_pairs(pairs, config.measure, np.random.default_rng(config.seed))
    if not rows:
        raise _nothing(config, sides)
    names = _names(config)
    cells = compare_cells(rows, config.measure, names)
    drawn = [
        *labelled([pair.first for pair in pairs], names[0]),
        *labelled([pair.second for pair in pairs], names[1]),
    ]
    both = [*labelled(groups[0], names[0]), *labelled(groups[1], names[1])]
    differ = difference_cells(pairs, names)
    alone = _alone(groups, pairs, names)
    runs = [run for group in both for run in group.runs]
    _write(config, names, differ, cells, runs, drawn, alone)
    print(in_columns(differ, left=4) if len(differ) > 1 else SAME, end="\n\n")
    print(in_columns(cells, left=2))
    for words in alone:
        print(words)
    late = [run.path for side in sides for run in side if not run.finished]
    if late:
        print(f"not ended yet, and in no table: {', '.join(late)}")
    print(f"open {config.out / PAGE}")


def _write(
    config: CompareConfig, names: tuple[str, str], differ: Cells, cells: Cells,
    records: list[RunRecord], drawn: list[Group], alone: list[str],
) -> None:  # fmt: skip
    files: dict[str, bytes] = {}
    pictures = []
    words = config.measure.replace("_", " ")
    if any(
        config.measure in measured for one in drawn for run in one.runs for _, measured in run.curve
    ):
        figure = draw_curves(drawn, {config.measure: words})
        files = {"curves.png": as_png(figure), "curves.svg": as_svg(figure)}
        pictures.append(
            Picture("Learning curves", "image/svg+xml", files["curves.svg"], CURVES_WORDS)
        )
    filled = table(differ, left=3, name="What differs") if len(differ) > 1 else paragraph(SAME)
    page = write_page(
        f"Comparison of {names[0]} and {names[1]}",
        " ".join([f"Runs of {config.first} beside those of {config.second}.", *alone]),
        records,
        command=command_of("backplay compare", config),
        pictures=pictures,
        first=[section("What differs", filled)],
        tables=[Table(f"Compared: {words}", NOTE, cells, left=2)],
    )
    files |= {PAGE: page.encode(errors="replace"), RESULT: b""}
    tables = {"differ": differ, "compared": cells, "files": sorted(files)}
    files[RESULT] = (json.dumps(tables, indent=1) + "\n").encode()
    write_files(config.out, files)


def _alone(
    sides: tuple[Sequence[Group], Sequence[Group]], pairs: Sequence[Pair], names: tuple[str, str]
) -> list[str]:
    """For each side with groups that have no partner, a sentence that names them."""
    taken = {id(group) for pair in pairs for group in pair}
    found = []
    for side, name in zip(sides, names, strict=True):
        left = [f"{one.setting}, {one.regime}" for one in side if id(one) not in taken]
        found += [f"In {name} alone, and compared with nothing: {'; '.join(left)}."] * bool(left)
    return found


def _names(config: CompareConfig) -> tuple[str, str]:
    """The last part of each path, or all of it where that is the same."""
    one, other = config.first.resolve().name, config.second.resolve().name
    return (one, other) if one != other else (str(config.first), str(config.second))


def _nothing(config: CompareConfig, sides: list[list[RunRecord]]) -> BackplayError:
    """What the two folders hold instead."""
    held = []
    for path, side in zip((config.first, config.second), sides, strict=True):
        kinds = dict.fromkeys(f"{run.setting}, {run.regime}" for run in side if run.finished)
        measures = ", ".join(measures_of(side)) or "no measure"
        held.append(f"in {path} {'; '.join(kinds) or 'no run that has ended'} with {measures}")
    return BackplayError(
        "compare", expected=f"ended runs of the same setting in both, with {config.measure!r}",
        got=" and ".join(held), do="Choose other folders, or another --measure.",
    )  # fmt: skip
