"""Episodes of finished runs as films for a page: what was learned, beside the demonstration.

Comes in: records of runs, whose results hold one episode with the likeliest actions. Goes out:
pictures that move, one for each setting and regime. Knows how the episodes of each kind of run are
drawn; a kind that nobody draws has none, and an episode that cannot be drawn here has none either:
a page does not fail because of a film.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.films import as_gif
from backplay.report.records import RunRecord
from backplay.report.sheet import Picture

MOST = 24  # films on a page
STEPS = 60  # pictures of an episode at most: a long one is shown in strides
SCALE, FPS = 9, 12.0
TILE = 16  # pixels along a cell of Pommerman's board
SHRINK = 2  # how many times smaller Gymnasium's pictures are shown
_QUIET = {"PYGAME_HIDE_SUPPORT_PROMPT": "1", "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}

Filmed = tuple[list[NDArray[np.uint8]], str]
"""The pictures, and how it ended in words."""


def films(records: Sequence[RunRecord]) -> list[Picture]:
    """An episode of the first finished run of each setting and regime, if it can be drawn."""
    made: dict[tuple[str, str], Picture] = {}
    for record in records:
        key = (record.setting, record.regime)
        if record.finished and record.kind in _KINDS and key not in made and len(made) < MOST:
            film = _film(record)
            if film is not None:
                made[key] = film
    return list(made.values())


def _film(record: RunRecord) -> Picture | None:
    entry, drawn = _KINDS[record.kind]
    kept = record.result.get(entry)
    if not kept:
        return None
    try:
        pictures, words = drawn(record, kept)
        data = as_gif(pictures, FPS)
    except Exception:  # a damaged result, a package that is missing, a screen that is not there
        return None
    words = f"seed {record.seed}, likeliest actions: {words}"
    return Picture(f"{record.setting}, {record.regime}", "image/gif", data, words)


def moments(length: int) -> list[int]:
    """Which of the states 0 to `length` of an episode are shown: evenly spread, and the last."""
    stride = -(-(length + 1) // STEPS)
    return sorted({*range(0, length + 1, stride), length})


def _walk(record: RunRecord, kept: Sequence[dict[str, Any]]) -> Filmed:
    """The first of some mazes, with the demonstration and the path as it grows."""
    from backplay.envs.maze import draw

    one = kept[0]
    path, shape = one["path"], (one["height"], one["width"])
    walls = np.zeros(shape[0] * shape[1], np.bool_)
    walls[one["walls"]] = True
    pictures = [
        draw.picture(
            walls.reshape(shape),
            one["start"],
            one["goal"],
            agent=path[at],
            demonstration=one["demonstration"],
            path=path[: at + 1],
            scale=SCALE,
        )
        for at in moments(len(path) - 1)
    ]
    extra = len(path) - 1 - one["shortest"]
    reached = path[-1] == one["goal"]
    end = f"{len(path) - 1} steps, {extra} too many" if reached else "never reaches the goal"
    where = "the first maze: " if record.kind == "maze" else ""
    return pictures, f"{where}{end}. Pale: demonstration."


def _game(record: RunRecord, kept: dict[str, Any]) -> Filmed:
    """A game of Pommerman, played again by its rules from what all four did."""
    from backplay.envs.pommerman.draw import picture
    from backplay.envs.pommerman.layout import DTYPE
    from backplay.envs.pommerman.recordings import play_again
    from backplay.envs.pommerman.validity import check_actions, validate

    first, actions = np.array(kept["first"], DTYPE), check_actions(kept["actions"])
    validate(first)
    rows = np.repeat(first[None], len(actions) + 1, 0)
    play_again(rows, actions)
    pictures = [picture(rows[at], TILE) for at in moments(len(actions))]
    ends = {"win": "wins", "tie": "ties", "loss": "loses"}
    end = ends.get(kept["result"], kept["result"])
    return pictures, f"seat {kept['seat']} {end} after {len(actions)} steps on the first map."


def _replayed(record: RunRecord, kept: dict[str, Any]) -> Filmed:
    """An episode of a Gymnasium task, played again from its seed and actions."""
    import gymnasium as gym

    from backplay.paper.sparse_tasks.job import TASKS

    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    # Only tasks of ours are made: what a result says must not import anything.
    task = next(task for task in TASKS.values() if task.env == record.setting)
    actions, pictures = kept["actions"], []
    wanted = set(moments(len(actions)))
    with closing(gym.make(task.env, render_mode="rgb_array", **task.options)) as env:
        env.reset(seed=kept["seed"])
        kind = env.action_space.dtype
        for at in range(len(actions) + 1):
            if at in wanted:
                pictures.append(_smaller(np.asarray(env.render())))
            if at < len(actions):
                env.step(np.asarray(actions[at], kind)[()])
    return pictures, f"{len(actions)} steps, return {kept['return']:.4g}."


def _smaller(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """The picture with every block of pixels as one, their mean."""
    height, width = (side // SHRINK for side in pixels.shape[:2])
    blocks = pixels[: height * SHRINK, : width * SHRINK, :3].reshape(
        height, SHRINK, width, SHRINK, 3
    )
    mean: NDArray[np.uint8] = blocks.mean((1, 3)).astype(np.uint8)
    return mean


_KINDS: dict[str, tuple[str, Callable[[RunRecord, Any], Filmed]]] = {
    "maze": ("paths", _walk),
    "grid": ("paths", _walk),
    "pommerman": ("game", _game),
    "gym": ("episode", _replayed),
}
"""By kind of run: what its result keeps, and who draws it."""
