"""One self-contained HTML page about the Maze experiment: no request to any host.

Comes in: tables as cells of text, figures as SVG or PNG bytes. Goes out: the page as text. Does not
know: where the numbers come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backplay.report.sheet import Cells, Picture, making, section, sheet, shown, table

_NOTES = {
    "greedy": "Every maze once from its true start, with the likeliest actions. Behind our numbers,"
    " in brackets: the paper's Table 2, after 204.8 million frames. Extra steps are those beyond"
    " the shortest path; a failure counts with its full time, as there. Square brackets: 95 %"
    " interval over seeds (Student's).",
    "sampled": "The same with actions drawn from the policy.",
    "held-out greedy": "Mazes that no agent was trained on, with the likeliest actions.",
}
_TITLES = {
    "greedy": "The table", "sampled": "With drawn actions", "held-out greedy": "On mazes held out",
}  # fmt: skip
_FIGURES = {
    "curves": (
        "Learning curves",
        "From the true start, with the likeliest actions, on the mazes trained on. Bands: 95 %"
        " interval over seeds. Dotted: what cloning alone came to.",
    ),
    "starts": (
        "Where episodes started, and whether they reached the goal",
        "Upwards: steps back from the end of the demonstration. Paler: fewer of the episodes at"
        " that time. Starts of random walks are on no demonstration and are left out.",
    ),
    "paths": (
        "What they learned",
        "Broad and pale: the demonstration. Narrow: the likeliest actions of the first seed's"
        " agent, from the ring to the disc.",
    ),
}


def write_maze_page(
    tables: Mapping[str, Cells],
    figures: Mapping[str, tuple[str, bytes]],
    *,
    command: str,
    versions: Mapping[str, str],
    unfinished: Sequence[str] = (),
) -> str:
    """The page.

    Args:
        tables: by "greedy", "sampled", "held-out greedy"; a head first.
        figures: by "curves", "starts", "paths": a MIME type and the bytes.
        command: what to type to get it again.
        versions: of what it was made with.
        unfinished: runs that have not ended, which are in no table.
    """
    main, *others = (
        section(_TITLES[name], table(cells, left=2), note=_NOTES[name])
        for name, cells in tables.items()
        if len(cells) > 1
    )
    drawn = [
        shown(Picture(title, *figures[name], words))
        for name, (title, words) in _FIGURES.items()
        if name in figures
    ]
    about = [
        "The paper's first experiment: mazes, a reward at the goal only, one demonstration for"
        " each. The regimes differ in where training episodes start.",
        f"Not ended yet: {', '.join(unfinished)}." if unfinished else "",
    ]
    return sheet(
        "backplay: the Maze",
        "The Maze, from demonstrations",
        about,
        [main, *drawn, *others, making(command, versions)],
    )
