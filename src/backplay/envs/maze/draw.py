"""Drawing a maze: a picture with paths over it, and text for terminals.

Comes in: walls [height, width], cells and paths of cells. Goes out: pixels, or a string. Does not
know: any rules, or who walked the paths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from backplay.errors import BackplayError, ensure, show

Colour = tuple[int, int, int]

GROUND: Colour = (246, 244, 238)
LINES: Colour = (234, 231, 222)
WALL: Colour = (58, 64, 78)
START: Colour = (94, 129, 172)
GOAL: Colour = (214, 148, 38)
AGENT: Colour = (178, 58, 72)
DEMONSTRATION: Colour = (150, 178, 208)
PATH: Colour = (178, 58, 72)

_FINE = 4  # drawn so many times larger and then shrunk: smooth edges
_RESET = "\x1b[0m"


def render(
    mode: str | None, walls: NDArray[np.bool_], start: int, goal: int, agent: int
) -> NDArray[np.uint8] | str:
    """A maze in a render mode of Gymnasium's."""
    if mode == "rgb_array":
        return picture(walls, start, goal, agent=agent)
    if mode == "ansi":
        return text(walls, start, goal, agent=agent)
    raise BackplayError(
        "render_mode", expected="'rgb_array' or 'ansi'", got=show(mode),
        do='Make the env with render_mode="rgb_array".',
    )  # fmt: skip


def picture(
    walls: NDArray[np.bool_],
    start: int,
    goal: int,
    *,
    agent: int | None = None,
    demonstration: ArrayLike | None = None,
    path: ArrayLike | None = None,
    scale: int = 16,
) -> NDArray[np.uint8]:
    """The maze from above: [height * scale, width * scale, 3].

    Args:
        walls: [height, width].
        start: the initial cell, a ring.
        goal: a disc in another.
        agent: where the agent is, a disc.
        demonstration: cells of a path, drawn broad and pale.
        path: cells of another path, drawn over it, narrow.
        scale: pixels along a cell.
    """
    ensure(type(scale) is int and scale >= 4, "scale", "a whole number from 4 on", scale)
    height, width = walls.shape
    unit = scale * _FINE
    image = Image.new("RGB", (width * unit, height * unit), GROUND)
    pen = ImageDraw.Draw(image)
    _draw_lines(pen, width, height, unit)
    for y, x in np.argwhere(walls).tolist():
        box = (x * unit, y * unit, (x + 1) * unit - 1, (y + 1) * unit - 1)
        pen.rectangle(box, WALL)
    for way, colour, share in ((demonstration, DEMONSTRATION, 0.5), (path, PATH, 0.18)):
        if way is not None:
            _draw_path(pen, np.asarray(way), width, unit, colour, share)
    _draw_disc(pen, start, width, unit, 0.36, START)
    _draw_disc(pen, start, width, unit, 0.2, GROUND)
    _draw_disc(pen, goal, width, unit, 0.42, GOAL)
    _draw_disc(pen, goal, width, unit, 0.16, GROUND)
    if agent is not None:
        _draw_disc(pen, agent, width, unit, 0.32, AGENT)
    return np.asarray(image.resize((width * scale, height * scale), Image.Resampling.BOX))


def _draw_lines(pen: Any, width: int, height: int, unit: int) -> None:
    """Faint lines between cells."""
    for x in range(1, width):
        pen.line((x * unit, 0, x * unit, height * unit), LINES, _FINE)
    for y in range(1, height):
        pen.line((0, y * unit, width * unit, y * unit), LINES, _FINE)


def _draw_path(
    pen: Any, way: NDArray[Any], width: int, unit: int, colour: Colour, share: float
) -> None:
    """A line through the middles of cells, round at its corners and ends."""
    thick = max(1, round(share * unit))
    middles = [((cell % width + 0.5) * unit, (cell // width + 0.5) * unit) for cell in way.tolist()]
    if len(middles) > 1:
        pen.line(middles, colour, thick)
    for x, y in middles:
        pen.ellipse((x - thick / 2, y - thick / 2, x + thick / 2, y + thick / 2), colour)


def _draw_disc(pen: Any, cell: int, width: int, unit: int, radius: float, colour: Colour) -> None:
    x, y, r = (cell % width + 0.5) * unit, (cell // width + 0.5) * unit, radius * unit
    pen.ellipse((x - r, y - r, x + r, y + r), colour)


def text(
    walls: NDArray[np.bool_],
    start: int,
    goal: int,
    *,
    agent: int | None = None,
    path: ArrayLike | None = None,
    colour: bool = True,
) -> str:
    """The maze in two characters a cell: S start, G goal, @ agent, dots for a path."""
    height, width = walls.shape
    signs = {int(cell): "· " for cell in ([] if path is None else np.asarray(path).tolist())}
    signs |= {start: "S ", goal: "G "}
    if agent is not None:
        signs[agent] = "@ "
    inks = {"S ": START, "G ": GOAL, "@ ": AGENT, "· ": PATH}
    lines = []
    for y in range(height):
        parts = []
        for x in range(width):
            sign = "██" if walls[y, x] else signs.get(y * width + x, "  ")
            parts.append(_paint(sign, inks.get(sign, WALL)) if colour else sign)
        lines.append("".join(parts))
    return "\n".join(lines) + "\n"


def _paint(sign: str, ink: Colour) -> str:
    """The characters in bold, on the picture's ground."""
    front, behind = (";".join(map(str, tone)) for tone in (ink, GROUND))
    return f"\x1b[1;38;2;{front};48;2;{behind}m{sign}{_RESET}"
