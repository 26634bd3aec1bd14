"""The skeleton of self-contained HTML pages: light and dark, readable on a phone.

Comes in: words, tables as cells of text, pictures as bytes. Goes out: HTML; what comes in as
text is escaped. Nothing in it asks any host for anything. Does not know: what a page is about.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import NamedTuple

Cells = Sequence[Sequence[str]]
"""Rows of text, a head first."""
_UNSURE = ("too few frames", "few seeds", "one seed", "not run")


class Picture(NamedTuple):
    """A figure or an animation."""

    title: str
    kind: str
    """Its MIME type: image/svg+xml, image/png, image/gif …"""
    data: bytes
    words: str = ""
    """What it shows."""


class Tile(NamedTuple):
    """A number in large letters, and what it is of."""

    name: str
    text: str
    colour: str


def sheet(
    title: str, heading: str, about: Sequence[str], sections: Sequence[str], *, outcome: str = ""
) -> str:
    """The page.

    Args:
        title: of the window.
        heading: at the top.
        about: paragraphs below it, as text.
        sections: HTML, as `section` gives it.
        outcome: HTML between both, on the first screen.
    """
    style = (files("backplay.report") / "assets" / "page.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<header>
<h1>{escape(heading[:1].upper() + heading[1:])}</h1>
{_lines([*(paragraph(text) for text in about if text), outcome])}
</header>
{_lines(part for part in sections if part)}
</main>
</body>
</html>
"""


def section(title: str, *parts: str, note: str = "") -> str:
    """A card: parts are HTML, the note is small text below them."""
    below = f'<p class="note">{escape(note)}</p>' if note else ""
    return f"<section>\n<h2>{escape(title)}</h2>\n{_lines([*parts, below])}\n</section>"


def paragraph(text: str) -> str:
    """One paragraph."""
    return f"<p>{escape(text)}</p>"


def table(cells: Cells, *, left: int = 1, words: bool = False, name: str = "") -> str:
    """A table that scrolls by itself where it is wider than the screen.

    Args:
        cells: a head first. A cell that is a verdict has its colour. Further lines of a cell are
            small.
        left: how many columns, at most 3, are set to the left.
        words: whether the first column is sentences, which break into lines; on a phone each row
            is then a block of lines.
        name: what a reader that does not see it is told.
    """
    label = f' aria-label="{escape(name)}"' if name else ""
    css = f"left{left}{' words' if words else ''}"
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in cells[0])
    body = _lines("<tr>" + "".join(map(_cell, row, cells[0])) + "</tr>" for row in cells[1:])
    return (
        f'<div class="wide"><table class="{css}"{label}>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def image(picture: Picture) -> str:
    """The picture itself, inside the page."""
    source = f"data:{picture.kind};base64,{base64.b64encode(picture.data).decode()}"
    return f'<img alt="{escape(picture.title)}" src="{source}">'


def shown(picture: Picture) -> str:
    """A section with a picture and its words; on a phone the picture scrolls by itself."""
    words = paragraph(picture.words) if picture.words else ""
    return section(picture.title, words, f'<div class="wide drawn">{image(picture)}</div>')


def pairs(named: Mapping[str, str]) -> str:
    """Names and what belongs to each."""
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in named.items()
    )
    return f"<dl>{items}</dl>" if items else ""


def listed(items: Sequence[str]) -> str:
    """A list of texts."""
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


def folded(title: str, *parts: str) -> str:
    """Parts, as HTML, that open when they are asked for."""
    return f"<details>\n<summary>{escape(title)}</summary>\n{_lines(parts)}\n</details>"


def tiles(found: Sequence[Tile]) -> str:
    """Numbers side by side."""
    items = "".join(
        f'<li><b style="--of: {escape(one.colour)}">{escape(one.text)}</b>'
        f"<span>{escape(one.name)}</span></li>"
        for one in found
    )
    return f'<ul class="results">{items}</ul>'


def films_section(films: Sequence[Picture]) -> str:
    """Episodes side by side; nothing if there are none."""
    parts = [
        f"<figure><figcaption><b>{escape(one.title)}</b> {escape(one.words)}</figcaption>"
        f"{image(one)}</figure>"
        for one in films
    ]
    return section("Episodes", '<div class="maps">', *parts, "</div>") if parts else ""


def _cell(text: str, head: str) -> str:
    name = "unsure" if text.startswith(_UNSURE) else text
    css = f' class="{name}"' if name in ("holds", "fails", "unsure") else ""
    first, *more = (escape(line) for line in text.split("\n"))
    below = "".join(f"<small>{line}</small>" for line in more)
    return f'<td{css} data-head="{escape(head)}">{first}{below}</td>'


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part)
