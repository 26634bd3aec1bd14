"""Sets of mazes: what they hold, what they refuse, and their file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand_made_mazes import by_hand

from backplay.data import archive
from backplay.envs.maze import MazeLibrary, MazeSet, generate, load_mazes
from backplay.envs.maze.sets import training_mazes
from backplay.errors import BackplayError, DemonstrationError


def test_a_set_by_hand() -> None:
    mazes = by_hand()
    assert (mazes.num_mazes, mazes.height, mazes.width, mazes.cells, len(mazes)) == (1, 2, 3, 6, 1)
    assert mazes.lengths.tolist() == [5]
    assert (mazes.max_steps, mazes.step_reward, mazes.goal_reward) == (200, -0.03, 1.0)
    assert (mazes.starts.dtype, mazes.paths[0].dtype) == (np.int32, np.int32)
    assert mazes.actions[0].dtype == np.int8


def test_select_keeps_the_order_asked_for() -> None:
    mazes = replace(generate(mazes=5, held_out=0, seed=0).training, max_steps=60)
    chosen = mazes.select([3, 0, 3])
    assert np.array_equal(chosen.walls, mazes.walls[[3, 0, 3]])
    assert chosen.lengths.tolist() == mazes.lengths[[3, 0, 3]].tolist()
    assert np.array_equal(chosen.paths[1], mazes.paths[0])
    assert chosen.max_steps == 60
    assert mazes.select([]).num_mazes == 0
    with pytest.raises(IndexError):
        mazes.select([5])


@pytest.mark.parametrize(
    "changes",
    [
        {"walls": np.zeros((2, 3), bool)},
        {"walls": np.zeros((1, 2, 3))},
        {"walls": np.zeros((1, 0, 3), bool)},
        {"starts": np.array([1])},
        {"starts": np.array([2])},
        {"starts": np.array([0, 0])},
        {"starts": np.array([0.0])},
        {"starts": np.array([-1])},
        {"goals": np.array([6])},
        {"goals": np.array([2**40 + 2])},
        {"goals": np.array([5])},
        {"distances": np.array([0])},
        {"distances": np.array([6])},
        {"paths": ()},
        {"paths": (np.array([0, 3, 4, 5, 2]),)},
        {"paths": (np.array([0, 1, 3, 4, 5, 2]),)},
        {"actions": (np.array([4, 2, 4, 4, 5]),)},
        {"actions": (np.array([4, 2, 4, 4, 256 + 1]),)},
        {"actions": (np.array([4, 2, 4, 4, 0]),)},
        {"actions": (np.zeros(0, int),), "paths": (np.array([0]),)},
        {  # through the goal, and back to it
            "paths": (np.array([0, 3, 4, 5, 2, 2]),),
            "actions": (np.array([2, 4, 4, 1, 0]),),
        },
        {"max_steps": 4},
        {"max_steps": 0},
        {"step_reward": float("nan")},
    ],
)
def test_what_is_no_set_of_mazes_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BackplayError):
        by_hand(**changes)


def test_sets_can_be_told_apart_by_their_names() -> None:
    assert repr(by_hand()) == repr(by_hand())
    assert repr(by_hand()) != repr(by_hand(max_steps=100))
    shorter = by_hand(paths=(np.array([0, 3, 4, 5, 2]),), actions=(np.array([2, 4, 4, 1]),))
    assert repr(by_hand()) != repr(shorter)


def same(a: MazeSet, b: MazeSet) -> bool:
    arrays = ("walls", "starts", "goals", "distances")
    return (
        all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)
        and all(map(np.array_equal, a.paths, b.paths))
        and all(map(np.array_equal, a.actions, b.actions))
        and repr(a) == repr(b)
    )


@pytest.mark.parametrize("held_out", [0, 2])
def test_a_library_comes_back_from_its_file(tmp_path: Path, held_out: int) -> None:
    library = generate(mazes=4, held_out=held_out, extra=5, seed=2, follow=0.85)
    library.save(tmp_path / "mazes.npz")
    loaded = load_mazes(tmp_path / "mazes.npz")
    assert same(loaded.training, library.training)
    assert same(loaded.held_out, library.held_out)
    assert (loaded.extra, loaded.seed, loaded.follow) == (5, 2, 0.85)
    assert same(training_mazes(tmp_path / "mazes.npz"), library.training)


def test_other_rewards_and_limits_are_kept(tmp_path: Path) -> None:
    mazes = by_hand(max_steps=7, step_reward=-0.5, goal_reward=3.0)
    MazeLibrary(mazes, mazes.select([]), 1, 0, 0.9).save(tmp_path / "mazes.npz")
    loaded = load_mazes(tmp_path / "mazes.npz").training
    assert (loaded.max_steps, loaded.step_reward, loaded.goal_reward) == (7, -0.5, 3.0)


def test_damaged_bytes_are_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "mazes.npz"
    generate(mazes=2, held_out=1, seed=0).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for i in range(60):
        broken = bytearray(whole[: rng.integers(len(whole))] if i % 3 == 0 else whole)
        if i % 3:
            broken[int(rng.integers(len(broken)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(broken))
        try:
            load_mazes(path)  # a flipped bit in a zip's time stamp is no damage
        except DemonstrationError:
            continue
        assert i % 3
    with pytest.raises(DemonstrationError, match="no file"):
        load_mazes(tmp_path / "nowhere.npz")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("walls", np.zeros((2, 24, 24), np.uint8)),
        ("walls", np.zeros((1, 24, 24), bool)),
        ("starts", np.array([5000, 0])),
        ("goals", np.array([0, 0])),
        ("distances", np.array([34, 35])),
        ("lengths", np.array([1, 1])),
        ("lengths", np.array([-5, 80])),
        ("actions", np.zeros(70, np.int8)),
        ("actions", "none"),
        ("max_steps", "many"),
        ("max_steps", None),
    ],
)
def test_files_with_other_content_are_one_clear_error(
    tmp_path: Path, name: str, value: Any
) -> None:
    path = tmp_path / "mazes.npz"
    generate(mazes=2, held_out=1, seed=0).save(path)
    tree = archive.read(path, "backplay mazes")
    tree["training"][name] = value
    archive.write(path, "backplay mazes", tree)
    with pytest.raises(DemonstrationError, match="holds no mazes"):
        load_mazes(path)
    archive.write(path, "backplay mazes", {"training": tree["training"]})
    with pytest.raises(DemonstrationError, match="holds no mazes"):
        load_mazes(path)
    archive.write(path, "backplay mazes", [1])
    with pytest.raises(DemonstrationError, match="holds no mazes"):
        load_mazes(path)


def test_mazes_are_asked_for_where_there_are_none() -> None:
    with pytest.raises(BackplayError, match="generate"):
        training_mazes(None)
