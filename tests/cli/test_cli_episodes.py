"""Films of what was learned: every step, the path as it grows, and how it ended."""

import io
from typing import Any

import numpy as np
from PIL import Image, ImageSequence

from backplay.cli.episodes import STEPS, films
from backplay.envs.maze import draw
from backplay.report.records import RunRecord


def run(path: list[int], **changes: Any) -> RunRecord:
    shown = {
        "height": 3, "width": 40, "walls": [1], "start": 0, "goal": 119, "shortest": 41,
        "demonstration": [0, 40, 80], "path": path,
    }  # fmt: skip
    fields: dict[str, Any] = {
        "path": "r", "kind": "maze", "setting": "Optimal", "regime": "backplay", "seed": 3,
        "frames": 10, "seconds": 1.0, "finished": True, "result": {"paths": [shown]},
    }  # fmt: skip
    return RunRecord(**{**fields, **changes})


def frames(data: bytes) -> list[np.ndarray]:
    return [
        np.asarray(one.convert("RGB"))
        for one in ImageSequence.Iterator(Image.open(io.BytesIO(data)))
    ]


def test_a_film_shows_every_step_and_ends_where_the_episode_ended() -> None:
    (film,) = films([run([0, 40, 80, 81])])
    seen = frames(film.data)
    assert len(seen) == 4  # the last moment is there once, however often it is named
    walls = np.zeros((3, 40), bool)
    walls[0, 1] = True
    for at, found in zip((0, 3), (seen[0], seen[-1]), strict=True):
        wanted = draw.picture(
            walls, 0, 119, agent=[0, 40, 80, 81][at], demonstration=[0, 40, 80],
            path=[0, 40, 80, 81][: at + 1], scale=9,
        )  # fmt: skip
        assert np.abs(found.astype(int) - wanted).mean() < 2  # of 255: a palette is not exact
    assert "never reaches the goal" in film.words
    assert film.title == "Optimal, backplay"


def test_a_long_episode_is_shown_in_strides_and_says_how_long_it_was() -> None:
    path = [0, 40] * 100 + [80, *range(81, 120)]
    (film,) = films([run(path)])
    assert len(frames(film.data)) <= STEPS + 2
    assert f"{len(path) - 1} steps, {len(path) - 1 - 41} too many" in film.words


def test_one_film_for_each_setting_and_regime() -> None:
    records = [
        run([0]), run([0], seed=4), run([0], regime="uniform"),
        run([0], finished=False, setting="x"), run([0], kind="gym", setting="y"),
        run([0], result={}, setting="z"),
    ]  # fmt: skip
    assert [film.title for film in films(records)] == ["Optimal, backplay", "Optimal, uniform"]
