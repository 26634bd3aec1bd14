"""The pictures a board is put together from: ground, walls, bombs, flames, items, players.

Comes in: what to draw and how many pixels wide. Goes out: RGBA images, drawn at four times the size
and made smaller, each drawn once. Does not know: games.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]

PLAYERS: tuple[Colour, ...] = ((214, 64, 69), (59, 125, 216), (63, 160, 82), (230, 168, 23))
"""The colours of the seats 0 to 3."""
INK: Colour = (38, 42, 51)
PAPER: Colour = (245, 243, 238)
_GROUND: tuple[Colour, Colour] = ((226, 232, 213), (217, 224, 203))
_STONE: Colour = (122, 128, 140)
_WOOD: Colour = (188, 134, 82)
_FOG: Colour = (86, 96, 117)
_ITEM: Colour = (250, 247, 236)
_FIRE: tuple[tuple[float, Colour], ...] = (
    (1.0, (226, 74, 38)), (0.74, (245, 148, 36)), (0.46, (253, 221, 96)), (0.2, (255, 251, 224)),
)  # fmt: skip
_TURN = {1: 90, 2: 270, 3: 180, 4: 0}  # degrees, by the direction a bomb rolls in
_OVER = 4


class _Sheet:
    """A transparent square on which lengths are shares of its side."""

    def __init__(self, size: int) -> None:
        self.side = size * _OVER
        self.image = Image.new("RGBA", (self.side, self.side))
        self._draw = ImageDraw.Draw(self.image)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour, r: float = 0) -> None:
        at = [v * self.side for v in (x0, y0, x1 - 1 / self.side, y1 - 1 / self.side)]
        self._draw.rounded_rectangle(at, r * self.side, fill)

    def disc(self, x: float, y: float, r: float, fill: Colour, high: float = 1.0) -> None:
        s = self.side
        self._draw.ellipse([(x - r) * s, (y - r * high) * s, (x + r) * s, (y + r * high) * s], fill)

    def line(self, points: list[tuple[float, float]], width: float, fill: Colour) -> None:
        scaled = [(x * self.side, y * self.side) for x, y in points]
        self._draw.line(scaled, fill, max(1, round(width * self.side)), joint="curve")

    def shape(self, points: list[tuple[float, float]], fill: Colour) -> None:
        self._draw.polygon([(x * self.side, y * self.side) for x, y in points], fill)

    def word(self, x: float, y: float, high: float, text: str, fill: Colour) -> None:
        font = ImageFont.load_default(high * self.side)
        self._draw.text((x * self.side, y * self.side), text, fill, font, anchor="mm")

    def small(self) -> Image.Image:
        size = self.side // _OVER
        return self.image.resize((size, size), Image.Resampling.LANCZOS)


def shade(colour: Colour, by: float) -> Colour:
    """Lighter for `by` > 0 (1 is white), darker for `by` < 0 (-1 is black)."""
    end = 255 if by > 0 else 0
    red, green, blue = (round(part + (end - part) * abs(by)) for part in colour)
    return red, green, blue


@cache
def ground(size: int, dark: bool) -> Image.Image:
    """An empty cell; neighbours differ a little."""
    sheet = _Sheet(size)
    sheet.box(0, 0, 1, 1, _GROUND[dark])
    return sheet.small()


@cache
def rigid(size: int) -> Image.Image:
    """A block of stone, lit from the upper left."""
    sheet = _Sheet(size)
    sheet.box(0, 0, 1, 1, shade(_STONE, -0.45))
    sheet.box(0.03, 0.03, 0.97, 0.97, shade(_STONE, -0.22), 0.08)
    sheet.box(0.03, 0.03, 0.92, 0.92, shade(_STONE, 0.38), 0.08)
    sheet.box(0.1, 0.1, 0.92, 0.92, _STONE, 0.06)
    for x, y in ((0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8)):
        sheet.disc(x, y, 0.045, shade(_STONE, -0.35))
    return sheet.small()


@cache
def wood(size: int) -> Image.Image:
    """A crate of three planks and a frame."""
    sheet = _Sheet(size)
    sheet.box(0.02, 0.02, 0.98, 0.98, shade(_WOOD, -0.5), 0.06)
    for i in range(3):
        top = 0.07 + 0.29 * i
        sheet.box(0.06, top, 0.94, top + 0.27, shade(_WOOD, 0.18 - 0.07 * i), 0.02)
        sheet.line([(0.25, top + 0.16), (0.72, top + 0.13)], 0.02, shade(_WOOD, -0.16))
    for left in (0.06, 0.8):
        sheet.box(left, 0.06, left + 0.14, 0.94, shade(_WOOD, -0.18), 0.02)
        for y in (0.2, 0.5, 0.8):
            sheet.disc(left + 0.07, y, 0.03, shade(_WOOD, -0.55))
    return sheet.small()


@cache
def fog(size: int) -> Image.Image:
    """A cell that is not seen."""
    sheet = _Sheet(size)
    sheet.box(0, 0, 1, 1, _FOG)
    for i in range(3):
        y = 0.22 + 0.28 * i
        wave = [(x / 12, y + 0.05 * math.sin(x / 12 * 2 * math.pi)) for x in range(13)]
        sheet.line(wave, 0.05, shade(_FOG, 0.14))
    return sheet.small()


@cache
def bomb(size: int, left: int, direction: int = 0) -> Image.Image:
    """A bomb with the steps it has left; a rolling one shows where to."""
    sheet = _Sheet(size)
    body = shade(INK, -0.2) if left > 3 else (150, 28, 32)
    sheet.disc(0.48, 0.9, 0.3, (190, 196, 176), 0.25)
    sheet.line([(0.62, 0.27), (0.7, 0.15), (0.8, 0.14)], 0.06, shade(_WOOD, -0.2))
    spark = 0.1 if left % 2 else 0.07
    sheet.disc(0.83, 0.14, spark, (245, 148, 36))
    sheet.disc(0.83, 0.14, spark * 0.5, (255, 245, 190))
    sheet.box(0.52, 0.2, 0.7, 0.34, shade(body, 0.15), 0.03)
    sheet.disc(0.47, 0.57, 0.35, body)
    sheet.disc(0.34, 0.41, 0.075, shade(body, 0.55), 0.8)
    sheet.word(0.47, 0.585, 0.42, str(left), (255, 255, 255))
    if direction:
        _arrow(sheet, direction)
    return sheet.small()


def _arrow(sheet: _Sheet, direction: int) -> None:
    angle = math.radians(_TURN[direction])
    cos, sin = math.cos(angle), -math.sin(angle)
    tip = [(0.5, 0.0), (0.3, 0.18), (0.3, -0.18)]
    sheet.shape(
        [(0.5 + x * cos - y * sin, 0.5 + x * sin + y * cos) for x, y in tip], (255, 120, 40)
    )


@cache
def flame(size: int, left: int) -> Image.Image:
    """Fire that burns `left` more steps after this one: 2, 1 or 0."""
    sheet = _Sheet(size)
    reach = {2: 1.0, 1: 0.84}.get(left, 0.62)
    for scale, colour in _FIRE:
        points = []
        for i in range(24):
            radius = (0.53 if i % 2 == 0 else 0.4) * reach * scale
            radius *= 1.0 + 0.1 * math.sin(5 * i + 3 * left)
            angle = math.tau * i / 24
            points.append((0.5 + radius * math.cos(angle), 0.5 + radius * math.sin(angle)))
        sheet.shape(points, colour)
    return sheet.small()


@cache
def item(size: int, value: int) -> Image.Image:
    """An item on the ground: 6 one more bomb, 7 a longer flame, 8 a kick."""
    sheet = _Sheet(size)
    frame = {6: (63, 83, 130), 7: (214, 96, 40), 8: (122, 74, 160)}[value]
    sheet.box(0.1, 0.1, 0.9, 0.9, shade(frame, -0.2), 0.16)
    sheet.box(0.14, 0.14, 0.86, 0.86, _ITEM, 0.13)
    if value == 6:
        _small_bomb(sheet, 0.44, 0.56, 0.22)
        _plus(sheet, 0.7, 0.3, frame)
    elif value == 7:
        _small_flame(sheet, 0.44, 0.55, 0.27)
        _plus(sheet, 0.7, 0.3, frame)
    else:
        _boot(sheet, frame)
    return sheet.small()


def _plus(sheet: _Sheet, x: float, y: float, colour: Colour) -> None:
    sheet.line([(x - 0.11, y), (x + 0.11, y)], 0.075, colour)
    sheet.line([(x, y - 0.11), (x, y + 0.11)], 0.075, colour)


def _small_bomb(sheet: _Sheet, x: float, y: float, r: float) -> None:
    sheet.line([(x + r * 0.5, y - r * 0.8), (x + r, y - r * 1.3)], 0.05, shade(_WOOD, -0.2))
    sheet.disc(x, y, r, INK)
    sheet.disc(x - r * 0.35, y - r * 0.4, r * 0.22, shade(INK, 0.6))


def _small_flame(sheet: _Sheet, x: float, y: float, r: float) -> None:
    for scale, colour in ((1.0, (226, 74, 38)), (0.62, (250, 190, 60))):
        s, low = r * scale, y + r * (1 - scale)
        sheet.disc(x, low + s * 0.25, s * 0.75, colour)
        sheet.shape([(x - s * 0.72, low + s * 0.1), (x + s * 0.1, low - s * 1.25),
                     (x + s * 0.72, low + s * 0.1)], colour)  # fmt: skip


def _boot(
    sheet: _Sheet, colour: Colour, x: float = 0.0, y: float = 0.0, scale: float = 1.0
) -> None:
    def at(u: float, v: float) -> tuple[float, float]:
        return x + u * scale, y + v * scale

    sheet.shape([at(0.3, 0.22), at(0.53, 0.22), at(0.55, 0.48), at(0.74, 0.56), at(0.76, 0.7),
                 at(0.28, 0.7)], colour)  # fmt: skip
    sheet.shape(
        [at(0.27, 0.7), at(0.78, 0.7), at(0.78, 0.78), at(0.27, 0.78)], shade(colour, -0.45)
    )
    sheet.line([at(0.3, 0.3), at(0.53, 0.3)], 0.04 * scale, shade(colour, 0.5))


@cache
def player(size: int, seat: int, alive: bool = True) -> Image.Image:
    """A player of the seat's colour; a dead one is grey and has crosses for eyes."""
    sheet = _Sheet(size)
    colour = PLAYERS[seat] if alive else (168, 170, 176)
    sheet.disc(0.5, 0.9, 0.3, (176, 182, 162), 0.26)
    for x in (0.36, 0.64):
        sheet.box(x - 0.1, 0.78, x + 0.1, 0.93, shade(colour, -0.5), 0.06)
    sheet.box(0.25, 0.5, 0.75, 0.86, shade(colour, -0.12), 0.14)
    sheet.box(0.25, 0.66, 0.75, 0.73, shade(colour, -0.42))
    for x in (0.2, 0.8):
        sheet.disc(x, 0.64, 0.08, PAPER)
    sheet.line([(0.5, 0.14), (0.5, 0.05)], 0.05, shade(colour, -0.4))
    sheet.disc(0.5, 0.06, 0.06, (250, 215, 110) if alive else colour)
    sheet.box(0.17, 0.11, 0.83, 0.62, colour, 0.23)
    sheet.box(0.25, 0.25, 0.75, 0.54, (255, 228, 202) if alive else (214, 214, 216), 0.13)
    for x in (0.39, 0.61):
        if alive:
            sheet.box(x - 0.045, 0.31, x + 0.045, 0.48, INK, 0.045)
        else:
            sheet.line([(x - 0.07, 0.33), (x + 0.07, 0.47)], 0.045, INK)
            sheet.line([(x - 0.07, 0.47), (x + 0.07, 0.33)], 0.045, INK)
    return sheet.small()


@cache
def badge(size: int, left: int) -> Image.Image:
    """A bomb under a player: its number in the corner."""
    sheet = _Sheet(size)
    sheet.disc(0.79, 0.79, 0.215, (255, 255, 255))
    sheet.disc(0.79, 0.79, 0.185, INK if left > 3 else (176, 28, 32))
    sheet.word(0.79, 0.795, 0.3, str(left), (255, 255, 255))
    return sheet.small()


@cache
def icon(size: int, value: int, lit: bool = True) -> Image.Image:
    """A small sign for the status line: 6 bombs, 7 flame length, 8 kick."""
    sheet = _Sheet(size)
    if value == 6:
        _small_bomb(sheet, 0.47, 0.58, 0.34)
    elif value == 7:
        _small_flame(sheet, 0.5, 0.6, 0.42)
    else:
        _boot(sheet, (122, 74, 160) if lit else (205, 205, 208), -0.22, -0.22, 1.4)
    return sheet.small()


@lru_cache(maxsize=64)
def font(high: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of the status line, `high` pixels high."""
    return ImageFont.load_default(high)
