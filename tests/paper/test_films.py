"""Films of what was learned: every step, the path as it grows, and how it ended."""

import io
import os
import subprocess
import sys
from typing import Any

import numpy as np
from PIL import Image, ImageSequence

from backplay.envs.maze import draw
from backplay.envs.pommerman import draw as draw_game
from backplay.envs.pommerman import rules
from backplay.envs.pommerman.boards import generate
from backplay.envs.pommerman.layout import LIMIT, ROW
from backplay.paper.catalogue import exhibit
from backplay.paper.films import MOST, STEPS, moments
from backplay.paper.grid_worlds.job import GridJob
from backplay.report.records import RunRecord
from backplay.report.sheet import Picture


def films(records: list[RunRecord]) -> tuple[Picture, ...]:
    return exhibit(records).films


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


def test_moments_are_spread_evenly_and_end_at_the_end() -> None:
    assert moments(3) == [0, 1, 2, 3]
    assert moments(0) == [0]
    for length in (59, 60, 119, 200, 800):
        found = moments(length)
        assert (found[0], found[-1]) == (0, length)
        assert len(found) <= STEPS + 1
        assert len(set(np.diff(found[:-1]))) <= 1


def test_a_grid_world_is_filmed_from_what_its_run_keeps() -> None:
    work = GridJob(world="basin", regime="cloning", frames=0).begin()
    (film,) = films([run([], kind="grid", setting="basin", result=work.result())])
    assert len(frames(film.data)) == len(moments(63))
    assert "63 steps, 28 too many. Pale: demonstration." in film.words
    assert "maze" not in film.words


def game(steps: int) -> tuple[dict[str, Any], np.ndarray]:
    """A game in which all four lay bombs and stay, and its last state."""
    row = np.zeros(ROW, np.int16)
    generate(row, np.arange(1, 6, dtype=np.uint64), 4)
    row[LIMIT] = 800
    first, actions = row.tolist(), [[5, 0, 1, 2]] * steps
    for step in actions:
        rules.step(row, np.array(step))
    return {"first": first, "actions": actions, "seat": 2, "result": "loss"}, row


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """How many of their pixels are clearly others."""
    return float((np.abs(one.astype(int) - other).max(2) > 60).mean())


def test_a_game_is_played_again_and_filmed() -> None:
    kept, last = game(12)
    (film,) = films([run([], kind="pommerman", result={"game": kept})])
    seen = frames(film.data)
    first = draw_game.picture(np.array(kept["first"], np.int16), 16)
    wanted = draw_game.picture(last, 16)
    assert seen[-1].shape == wanted.shape
    # A palette is not exact, but closer to what it shows than to anything else.
    assert 3 * apart(seen[-1], wanted) < apart(seen[-1], first)
    assert 3 * apart(seen[0], first) < apart(seen[0], wanted)
    assert "seat 2 loses after 12 steps" in film.words


def test_a_gym_episode_is_played_again_and_filmed() -> None:
    kept = {"seed": 10_000, "actions": [1] * 5 + [0] * 4, "return": 9.0}
    (film,) = films([run([], kind="gym", setting="CartPole-v1", result={"episode": kept})])
    seen = frames(film.data)
    assert 8 <= len(seen) <= 10  # a GIF shows pictures that are the same as one
    assert seen[0].shape == (200, 300, 3)
    assert np.abs(seen[0].astype(int) - seen[-1]).max() > 50  # the cart has moved
    assert film.words == "seed 3, likeliest actions: 9 steps, return 9."


FILMED = """
from backplay.paper.sparse_tasks.exhibit import replayed
from backplay.paper.sparse_tasks.tasks import TASKS

kept = {"seed": 0, "actions": [[0.5, 0.5]], "return": 0.0}
try:
    pictures, _ = replayed(TASKS["pointmaze"].make, kept)
    print(len(pictures), "pictures")
except Exception:  # no library that draws: a page then has no film
    print("none")
"""


def test_physics_without_a_screen_do_not_end_the_process() -> None:
    named = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM")
    bare = {name: value for name, value in os.environ.items() if name not in named}
    bare["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, "-c", FILMED], env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] in ("2 pictures", "none")


def test_what_cannot_be_drawn_has_no_film_and_no_error() -> None:
    kept, _ = game(2)
    episode = {"seed": 0, "actions": [0], "return": 1.0}
    damaged: list[tuple[str, dict[str, Any]]] = [
        ("pommerman", {"game": {**kept, "first": kept["first"][:-1]}}),
        ("pommerman", {"game": {**kept, "first": [9_999] * ROW}}),
        ("pommerman", {"game": {**kept, "actions": [[0, 0, 0, 6]]}}),
        ("pommerman", {"game": [1]}),
        ("gym", {"episode": episode}),  # of an env that is no task of ours
        ("gym", {"episode": {**episode, "actions": [7]}}),
        ("maze", {"paths": [{}]}),
        ("grid", {"paths": []}),
    ]
    for kind, result in damaged:
        setting = "CartPole-v1" if result.get("episode", {}).get("actions") == [7] else "os:X-v0"
        assert films([run([], kind=kind, setting=setting, result=result)]) == ()
    good = run([0, 40], seed=5)
    bad = run([], seed=4, result={"paths": [{}]})
    assert [film.title for film in films([bad, good])] == ["Optimal, backplay"]


def test_a_page_has_not_too_many_films() -> None:
    many = [run([0, 40], setting=f"set {i}") for i in range(MOST + 3)]
    assert len(films(many)) == MOST
