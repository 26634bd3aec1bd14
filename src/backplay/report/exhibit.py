"""What runs of one kind have to show besides what every report draws by itself.

Comes in: figures, tables and films that a job's class made of records of its runs. Goes out: the
same, on a page. Does not know: who made them, or how they are laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from backplay.report.sheet import Cells, Picture


FIGURES = ("curves", "starts", "bars")
"""What a report draws by itself: learning curves; success by start over time; what runs came to."""


class Table(NamedTuple):
    """Cells with a title above and a note below."""

    title: str
    note: str
    cells: Cells
    left: int = 1
    """Columns that are set to the left."""


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """Figures, tables and films of some runs; empty by default."""

    figures: Mapping[str, Figure] = field(default_factory=dict)
    """Figures by title; a file is named after it."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What a figure shows, by its title."""
    tables: tuple[Table, ...] = ()
    """Tables, a head first in each."""
    films: tuple[Picture, ...] = ()
    """Episodes that move: what was learned."""


def together(exhibits: Iterable[Exhibit]) -> Exhibit:
    """Several exhibits as one; of two figures with one title the first stays."""
    figures: dict[str, Figure] = {}
    words: dict[str, str] = {}
    tables: list[Table] = []
    films: list[Picture] = []
    for exhibit in exhibits:
        figures = {**exhibit.figures, **figures}
        words = {**exhibit.words, **words}
        tables += exhibit.tables
        films += exhibit.films
    return Exhibit(figures=figures, words=words, tables=tuple(tables), films=tuple(films))
