"""Playing every maze once: lengths, extra steps and the paper's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hand_made_mazes import by_hand

from backplay import BackplayError
from backplay.envs.maze import Played, distances_to_goals, generate, play
from backplay.envs.maze.evaluate import reached_from
from backplay.envs.maze.rules import offsets
from backplay.envs.maze.solve import cells_off

MAZES = generate(mazes=6, held_out=0, seed=0).training


def downhill(seen: np.ndarray) -> np.ndarray:
    """The lowest action that brings each agent nearer to its goal."""
    distances = distances_to_goals(MAZES)
    best = []
    for maze, cell in seen.tolist():
        exits, moves = int(MAZES.exits[maze, cell]), offsets(MAZES.width)
        nearer = [
            action
            for action in range(1, 5)
            if exits >> action & 1 and distances[maze, cell + moves[action]] < distances[maze, cell]
        ]
        best.append(nearer[0])
    return np.array(best)


def test_the_shortest_way_is_optimal_everywhere() -> None:
    seen: list[int] = []

    def act(places: np.ndarray) -> np.ndarray:
        assert places.dtype == np.int32
        seen.append(len(places))
        return downhill(places)

    played = play(MAZES, act)
    assert played.successes.all()
    assert np.array_equal(played.lengths, MAZES.distances)
    assert (played.extra == 0).all()
    for i, path in enumerate(played.paths):
        assert len(path) == played.lengths[i] + 1
        assert (path[0], path[-1]) == (MAZES.starts[i], MAZES.goals[i])
        assert set(np.abs(np.diff(path)).tolist()) <= {1, 24}
    assert sum(seen) == played.lengths.sum()  # who has arrived is not asked again
    assert played.summary() == {
        "success": 1.0, "optimal": 1.0, "within_5": 1.0, "extra_mean": 0.0, "extra_std": 0.0,
        "success_extra_mean": 0.0, "success_extra_std": 0.0,
    }  # fmt: skip


def test_who_never_moves_fails_with_the_full_time() -> None:
    played = play(MAZES, lambda seen: np.zeros(len(seen), int))
    assert not played.successes.any()
    assert (played.lengths == 200).all()
    assert np.array_equal(played.extra, 200 - MAZES.distances)
    assert all((path == path[0]).all() and len(path) == 201 for path in played.paths)
    summary = played.summary()
    assert summary["success"] == summary["optimal"] == summary["within_5"] == 0.0
    assert summary["extra_mean"] == pytest.approx(np.mean(200 - MAZES.distances))
    assert summary["success_extra_mean"] is None


def test_the_last_step_counts() -> None:
    actions = iter([0, 2, 4, 4, 1])
    played = play(by_hand(max_steps=5), lambda _: [next(actions)])
    assert played.successes.all()
    assert (played.lengths.tolist(), played.extra.tolist()) == ([5], [1])


def test_the_summary_by_hand() -> None:
    played = Played(
        np.array([True, True, True, False]), np.array([30, 37, 50, 200]),
        np.array([0, 5, 10, 165]), (),
    )  # fmt: skip
    spread = np.sqrt((45**2 + 40**2 + 35**2 + 120**2) / 4)
    assert played.summary() == {
        "success": 0.75, "optimal": 0.25, "within_5": 0.5,
        "extra_mean": 45.0, "extra_std": pytest.approx(spread),
        "success_extra_mean": 5.0, "success_extra_std": pytest.approx(np.sqrt(50 / 3)),
    }  # fmt: skip


@pytest.mark.parametrize("answer", [[0], [5] * 6, [-1] * 6, [0.0] * 6, None])
def test_what_is_no_answer_is_refused(answer: Any) -> None:
    with pytest.raises(BackplayError, match="actions"):
        play(MAZES, lambda _: answer)
    with pytest.raises(BackplayError, match="mazes"):
        play(MAZES.select([]), lambda _: [])


def test_episodes_from_given_cells_have_their_full_time() -> None:
    where, cells = cells_off(MAZES, 3)
    assert reached_from(MAZES, where, cells, downhill).all()
    assert not reached_from(MAZES, where, cells, lambda seen: np.zeros(len(seen), int)).any()
    assert len(reached_from(MAZES, where[:0], cells[:0], downhill)) == 0
