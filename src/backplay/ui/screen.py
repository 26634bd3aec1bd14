"""Drawing an environment in a terminal: its own text, its picture as half-blocks, or what is seen.

Comes in: an environment with a render mode, and an observation. Goes out: something rich can print.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from backplay.errors import show
from backplay.restore.rollout import AnyEnv


def choose_render_mode(env: AnyEnv) -> str | None:
    """How `env` can be drawn in a terminal, if it can."""
    modes = env.metadata.get("render_modes") or ()
    return next((mode for mode in ("ansi", "rgb_array") if mode in modes), None)


def draw(env: AnyEnv, observation: Any, columns: int, rows: int) -> Picture | Text:
    """What the env looks like now, in a space of `columns` and `rows`."""
    try:
        rendered = env.render() if env.render_mode in ("ansi", "rgb_array") else None
    except (gym.error.DependencyNotInstalled, ImportError):
        rendered = None
    if isinstance(rendered, str):
        return Text.from_ansi(rendered.strip("\n"))
    if isinstance(rendered, np.ndarray) and rendered.ndim == 3:
        return Picture(fit(rendered[..., :3], columns, 2 * rows))
    return Text(show(observation, limit=columns * rows // 2))


def captions(observation: Any) -> list[str]:
    """The words in an observation, such as MiniGrid's mission."""
    parts = observation.items() if isinstance(observation, dict) else ()
    return [f"{name}: {part}" for name, part in parts if isinstance(part, str)]


def fit(frame: NDArray[Any], width: int, height: int) -> NDArray[np.uint8]:
    """`frame` [h, w, 3] scaled to fit into width x height in its proportions."""
    h, w = frame.shape[:2]
    scale = min(width / w, height / h)
    if scale >= 2:
        times = int(scale)
        return frame.repeat(times, axis=0).repeat(times, axis=1).astype(np.uint8)
    if scale >= 1:
        return frame.astype(np.uint8)
    means = frame.astype(np.float64)
    for axis, size in ((0, max(1, int(h * scale))), (1, max(1, int(w * scale)))):
        edges = np.linspace(0, means.shape[axis], size + 1).astype(int)
        shape = [1, 1, 1]
        shape[axis] = size
        sums = np.add.reduceat(means, edges[:-1], axis=axis)
        means = sums / np.diff(edges).reshape(shape)
    return means.round().astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels [height, width, 3], two to a character: ▀ in the colours of both."""

    pixels: NDArray[np.uint8]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pixels = self.pixels
        if len(pixels) % 2:
            pixels = np.concatenate([pixels, np.zeros_like(pixels[:1])])
        for upper, lower in zip(pixels[::2].tolist(), pixels[1::2].tolist(), strict=True):
            for top, bottom in zip(upper, lower, strict=True):
                yield Segment("▀", _style(tuple(top), tuple(bottom)))
            yield Segment.line()


@lru_cache(maxsize=4096)
def _style(top: tuple[int, int, int], bottom: tuple[int, int, int]) -> Style:
    return Style(color=Color.from_rgb(*top), bgcolor=Color.from_rgb(*bottom))
