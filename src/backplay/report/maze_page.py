"""One self-contained HTML page about the Maze experiment: no request to any host.

Comes in: tables as cells of text, figures as SVG or PNG bytes. Goes out: the page as text. Does not
know: where the numbers come from.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

Cells = Sequence[Sequence[str]]

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
    style = (files("backplay.report") / "assets" / "page.css").read_text(encoding="utf-8")
    main, *others = (_table(name, cells) for name, cells in tables.items() if len(cells) > 1)
    drawn = "\n".join(_figure(name, *figures[name]) for name in _FIGURES if name in figures)
    pairs = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>"
        for name, text in versions.items()
    )
    waiting = f"<p>Not ended yet: {escape(', '.join(unfinished))}.</p>" if unfinished else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>backplay: the Maze</title>
<style>
{style}
img {{ max-width: 100%; background: #fff; border-radius: 8px; }}
.wide {{ overflow-x: auto; }}
td:nth-child(-n+2), th:nth-child(-n+2) {{ text-align: left; }}
</style>
</head>
<body>
<main>
<header>
<h1>The Maze, from demonstrations</h1>
<p>The paper's first experiment: mazes, a reward at the goal only, one demonstration for each. The
regimes differ in where training episodes start.</p>
{waiting}
</header>
{main}
{drawn}
{chr(10).join(others)}
<section class="making">
<h2>How this was made</h2>
<pre>{escape(command)}</pre>
<dl>{pairs}</dl>
</section>
</main>
</body>
</html>
"""


def _table(name: str, cells: Cells) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in cells[0])
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells[1:]
    )
    return f"""<section>
<h2>{escape(_TITLES[name])}</h2>
<div class="wide"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>
<p class="note">{escape(_NOTES[name])}</p>
</section>"""


def _figure(name: str, kind: str, data: bytes) -> str:
    title, words = _FIGURES[name]
    source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return f"""<section>
<h2>{escape(title)}</h2>
<p>{escape(words)}</p>
<img alt="{escape(title)}" src="{source}">
</section>"""
