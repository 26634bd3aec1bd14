"""A film of what an agent does from the true start.

Comes in: a run directory. Goes out: pictures of one episode, and what came of it. Where nothing is
drawn, the film shows in words what the environment says, or what the agent sees.

Does not know: files of films, requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from backplay.runs.execute import opened
from backplay.studio import pictures
from backplay.studio.scenes import EnvScenes, scenes_of
from backplay.train.scenes import Drawn, Moment, Scenes

__all__ = ["Film", "film_of"]

Pixels = NDArray[np.uint8]
MOST_STEPS = 10_000  # of an episode that does not end
SMALLEST, WIDEST = 200, 640  # pixels
ROWS, COLUMNS = 24, 60  # of a picture in words


class Film(NamedTuple):
    """One episode."""

    frames: list[Pixels]
    """The first picture, and one after each step."""
    fps: float
    total_reward: float
    success: bool | None
    """None where the episode was left before its end."""

    @property
    def steps(self) -> int:
        """How long it was."""
        return len(self.frames) - 1


def film_of(path: Path, *, seed: int, greedy: bool, trust: bool = False) -> Film:
    """An episode of the agent of a run, from its environment's reset with `seed`.

    Runs of other kinds begin where their demonstrations do: the one with the number `seed`, counted
    round.
    """
    pictures.prepare()
    _, work = opened(path, trust=trust)
    try:
        scenes = scenes_of(work)
        try:
            return _filmed(scenes, _moments(scenes, seed, greedy))
        finally:
            scenes.close()
    finally:
        work.close()


def _moments(scenes: Scenes, seed: int, greedy: bool) -> Iterator[Moment]:
    if isinstance(scenes, EnvScenes):
        return scenes.play_from_reset(seed, greedy=greedy)
    return scenes.play(seed % len(scenes.lengths), 0, greedy=greedy, seed=seed)


def _filmed(scenes: Scenes, moments: Iterator[Moment]) -> Film:
    frames: list[Pixels] = []
    for moment in moments:
        frames.append(_pixels(moment.draw()))
        if len(frames) > MOST_STEPS:
            break
    fps = scenes.fps if isinstance(scenes, EnvScenes) else 10.0
    return Film(frames, fps, moment.total, moment.success)


def _pixels(drawn: Drawn) -> Pixels:
    """A picture of SMALLEST to WIDEST pixels; a text as a picture that is always of one size."""
    if not isinstance(drawn, str):
        times = max(1, -(-SMALLEST // max(drawn.shape[:2])))
        image = Image.fromarray(drawn.repeat(times, 0).repeat(times, 1))
        image.thumbnail((WIDEST, WIDEST))
        return np.asarray(image)
    lines = [part for line in drawn.splitlines() for part in wrap(line, COLUMNS) or [""]][:ROWS]
    text = "\n".join(lines).encode("latin-1", "replace").decode("latin-1")  # all that the font has
    image = Image.new("RGB", (COLUMNS * 6 + 12, ROWS * 15 + 12), "white")
    font = ImageFont.load_default_imagefont()  # all letters as wide: grids stay grids
    ImageDraw.Draw(image).multiline_text((6, 6), text, "black", font)
    return np.asarray(image).repeat(2, 0).repeat(2, 1)
