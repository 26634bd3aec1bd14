"""Drawing a game: a picture for `rgb_array`, GIFs and films, and coloured text for terminals.

Comes in: a game's row. Goes out: pixels, or a string. Does not know: who plays, or any rules.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from backplay.envs.pommerman import layout as l
from backplay.envs.pommerman import tiles
from backplay.errors import BackplayError, show

Row = NDArray[np.int16]

_RESET = "\x1b[0m"
_GROUND, _STONE, _CRATE = "226;232;213", "92;98;110", "188;134;82"
_DARK, _FIRE, _FOG, _RED = "38;42;51", "245;148;36", "86;96;117", "176;28;32"
_ITEMS = {l.EXTRA_BOMB: "+b", l.RANGE: "+r", l.KICK: "+k"}
_ARROWS = {l.UP: "↑", l.DOWN: "↓", l.LEFT: "←", l.RIGHT: "→"}


def render(row: Row, mode: str | None) -> NDArray[np.uint8] | str:
    """A game in a render mode of Gymnasium's."""
    if mode == "rgb_array":
        return picture(row)
    if mode == "ansi":
        return text(row)
    raise BackplayError(
        "render_mode", expected="'rgb_array' or 'ansi'", got=show(mode),
        do='Make the env with render_mode="rgb_array".',
    )  # fmt: skip


def picture(row: Row, tile: int = 32) -> NDArray[np.uint8]:
    """The board and a status line below it: [11 * tile + bar, 11 * tile, 3]."""
    side, bar = l.SIZE * tile, _bar_height(tile)
    image = Image.new("RGB", (side, side + bar), tiles.PAPER)
    bombs, flames = _bombs(row), _flames(row)
    for cell in range(l.CELLS):
        at = ((cell % l.SIZE) * tile, (cell // l.SIZE) * tile)
        for layer in _layers(int(row[l.BOARD + cell]), cell, bombs, flames, tile):
            image.paste(layer, at, layer)
    _draw_status(image, row, side, tile)
    return np.asarray(image)


def _layers(
    value: int, cell: int, bombs: dict[int, Row], flames: dict[int, int], tile: int
) -> list[Image.Image]:
    """What is drawn in a cell, from the ground up."""
    below = [tiles.ground(tile, cell % 2 == 1)]
    bomb = bombs.get(cell)
    if value == l.RIGID:
        return [tiles.rigid(tile)]
    if value == l.FOG:
        return [tiles.fog(tile)]
    if value == l.WOOD:
        return [*below, tiles.wood(tile)]
    if value == l.FLAMES:
        return [*below, tiles.flame(tile, flames.get(cell, 2))]
    if value in _ITEMS:
        return [*below, tiles.item(tile, value)]
    if value >= l.AGENT:
        body = tiles.player(tile, value - l.AGENT)
        return (
            [*below, body, tiles.badge(tile, int(bomb[l.BOMB_LEFT]))]
            if bomb is not None
            else [*below, body]
        )
    if bomb is not None:
        return [*below, tiles.bomb(tile, int(bomb[l.BOMB_LEFT]), int(bomb[l.BOMB_DIRECTION]))]
    return below


def _bar_height(tile: int) -> int:
    bar = tile * 13 // 8
    return bar + (l.SIZE * tile + bar) % 2  # together even, as films want it


def _draw_status(image: Image.Image, row: Row, side: int, tile: int) -> None:
    """A panel for every seat: ammo, flame length, kick; and the step."""
    draw = ImageDraw.Draw(image)
    bar, panel = _bar_height(tile), side / l.SEATS
    gap, face, sign = max(1, tile // 10), tile * 9 // 10, tile * 15 // 32
    text = tiles.font(max(7, tile * 13 // 32))
    for seat, agent in enumerate(_agents(row)):
        alive = bool(agent[l.AGENT_ALIVE])
        left, top = round(seat * panel) + gap, side + gap
        edge = tiles.PLAYERS[seat] if alive else (205, 205, 208)
        box = [left, top, round((seat + 1) * panel) - gap, side + bar - tile // 2]
        draw.rounded_rectangle(box, gap, tiles.shade(edge, 0.86), edge, max(1, tile // 16))
        body = tiles.player(face, seat, alive)
        image.paste(body, (left + gap // 2, top + gap), body)
        x = left + face + gap
        for i, value in enumerate((l.EXTRA_BOMB, l.RANGE)):
            shown = tiles.icon(sign, value)
            y = top + gap // 2 + i * (sign + gap // 4)
            image.paste(shown, (x, y), shown)
            number = str(int(agent[l.AGENT_AMMO + i]))
            ink = tiles.INK if alive else (150, 150, 154)
            draw.text((x + sign + gap / 2, y + sign / 2), number, ink, text, anchor="lm")
        kick = tiles.icon(sign * 5 // 4, l.KICK, bool(agent[l.AGENT_KICK]))
        image.paste(kick, (box[2] - kick.width - gap // 2, top + gap + sign // 3), kick)
    words = f"step {int(row[l.STEP])} of {int(row[l.LIMIT])}"
    draw.text((side / 2, side + bar - tile / 4), words, (110, 112, 120), text, anchor="mm")


def text(row: Row, colour: bool = True) -> str:
    """The board, two characters a cell, and a line for every seat."""
    bombs = _bombs(row)
    lines = []
    for r in range(l.SIZE):
        cells = range(r * l.SIZE, (r + 1) * l.SIZE)
        parts = [_cell(int(row[l.BOARD + c]), c, bombs.get(c)) for c in cells]
        lines.append("".join(_paint(*part) if colour else part[0] for part in parts))
    lines.append(f"step {int(row[l.STEP])} of {int(row[l.LIMIT])}")
    for seat, agent in enumerate(_agents(row)):
        name = f" {seat} "
        shown = _paint(name, "255;255;255", _player(seat)) if colour else name
        state = "" if agent[l.AGENT_ALIVE] else "  dead"
        kick = "  kick" if agent[l.AGENT_KICK] else ""
        lines.append(
            f"{shown} ammo {agent[l.AGENT_AMMO]}  blast {agent[l.AGENT_BLAST]}{kick}{state}"
        )
    return "\n".join(lines) + "\n"


def _cell(value: int, cell: int, bomb: Row | None) -> tuple[str, str, str]:
    """Two characters, their colour and the colour behind them."""
    left = "" if bomb is None else str(int(bomb[l.BOMB_LEFT]))
    if value >= l.AGENT:
        seat = value - l.AGENT
        return f"{seat}{left or ' '}", "255;255;255", _player(seat)
    if value == l.RIGID:
        return "██", _STONE, _STONE
    if value == l.WOOD:
        return "▒▒", "150;100;56", _CRATE
    if value == l.FLAMES:
        return "**", _RED, _FIRE
    if value == l.FOG:
        return "░░", "110;120;140", _FOG
    if value in _ITEMS:
        return _ITEMS[value], "122;74;160", "250;247;236"
    if bomb is not None:
        behind = _DARK if int(bomb[l.BOMB_LEFT]) > 3 else _RED
        return _ARROWS.get(int(bomb[l.BOMB_DIRECTION]), "●") + left[-1], "255;255;255", behind
    return "  ", _DARK, _GROUND


def _player(seat: int) -> str:
    return ";".join(map(str, tiles.PLAYERS[seat]))


def _paint(words: str, front: str, behind: str) -> str:
    return f"\x1b[38;2;{front};48;2;{behind}m{words}{_RESET}"


def _agents(row: Row) -> Row:
    return row[l.AGENTS : l.AGENTS + l.SEATS * l.AGENT_FIELDS].reshape(l.SEATS, l.AGENT_FIELDS)


def _bombs(row: Row) -> dict[int, Row]:
    """The bombs by their cells."""
    end = l.BOMBS + int(row[l.BOMB_COUNT]) * l.BOMB_FIELDS
    listed = row[l.BOMBS : end].reshape(-1, l.BOMB_FIELDS)
    return {int(bomb[l.BOMB_CELL]): bomb for bomb in listed}


def _flames(row: Row) -> dict[int, int]:
    """How long it burns in each cell of fire."""
    end = l.FLAME + int(row[l.FLAME_COUNT]) * l.FLAME_FIELDS
    longest: dict[int, int] = {}
    for cell, left in row[l.FLAME : end].reshape(-1, l.FLAME_FIELDS).tolist():
        longest[cell] = max(left, longest.get(cell, 0))
    return longest
