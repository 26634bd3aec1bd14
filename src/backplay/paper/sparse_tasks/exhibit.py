"""What runs of Gymnasium tasks have to show: an episode as a film.

Comes in: records of runs, whose results keep a seed and actions. Goes out: films.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.films import without_screen
from backplay.paper.films import Filmed, films, moments
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord
from backplay.restore.rollout import AnyEnv

SHRINK = 2  # how many times smaller Gymnasium's pictures are shown


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """An episode of each setting and regime."""
    return Exhibit(films=films(records, "episode", _replayed))


def _replayed(record: RunRecord, kept: dict[str, Any]) -> Filmed:
    # Only tasks of ours are made: what a result says must not import anything.
    title = record.setting.partition(", ")[0]  # behind it stands who trained
    task = next(task for task in TASKS.values() if task.title == title)
    return replayed(task.make, kept)


def replayed(make: Callable[..., AnyEnv], kept: dict[str, Any]) -> Filmed:
    """An episode, played again from its seed and actions in what `make(render_mode=…)` gives."""
    without_screen()
    actions, pictures = kept["actions"], []
    wanted = set(moments(len(actions)))
    with closing(make(render_mode="rgb_array")) as env:
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
