"""Learned paths in mazes as a figure.

Comes in: pictures of mazes as pixels. Goes out: a figure. Does not know: how anything was trained
or drawn in pixels.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imsave
from numpy.typing import NDArray


class DrawnPath(NamedTuple):
    """A maze with paths in it, as pixels."""

    caption: str
    pixels: NDArray[np.uint8]
    """[height, width, 3]"""


def draw_paths(rows: Sequence[tuple[str, Sequence[DrawnPath]]]) -> Figure:
    """Mazes with demonstrations and learned paths: a named row for each agent."""
    across = max((len(paths) for _, paths in rows), default=1)
    figure = Figure(figsize=(2.9 * across, 3.2 * max(1, len(rows))), dpi=110, layout="constrained")
    cells = figure.subplots(max(1, len(rows)), across, squeeze=False)
    for axes in cells.flat:
        axes.set_axis_off()
    for line, (name, paths) in zip(cells, rows, strict=False):
        for axes, (caption, pixels) in zip(line, paths, strict=False):
            axes.imshow(pixels, interpolation="antialiased")
            axes.set_title(f"{name}\n{caption}", fontsize=8, loc="left")
    return figure


def pixels_as_png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels [height, width, 3] as the bytes of a PNG of that size."""
    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png")
    return buffer.getvalue()
