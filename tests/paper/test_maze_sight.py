"""A network with sight: mirror images, other sizes, mazes never seen."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backplay.envs.maze.generate import generate, generate_set
from backplay.errors import BackplayError
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.job import MazeJob
from backplay.paper.maze.sight import SightedMazeNetwork

torch.set_num_threads(1)


def test_its_policy_turns_with_the_maze() -> None:
    mazes = generate_set(20, 3, size=9, walls=20, min_length=8)
    network = SightedMazeNetwork(mazes.walls, mazes.goals, seed=0, sight=4)
    torch.nn.init.orthogonal_(network.policy.weight, 1.0)
    flipped = np.ascontiguousarray(mazes.walls[:, :, ::-1])
    mirror = np.arange(81).reshape(9, 9)[:, ::-1].ravel()
    other = network.on(flipped, mirror[mazes.goals])
    apart = mazes.starts % 9 != mazes.goals % 9  # else the mirror image is the same to it
    places = np.stack([np.arange(20), mazes.starts], 1)[apart]
    images = np.stack([places[:, 0], mirror[places[:, 1]]], 1)
    with torch.no_grad():
        logits, values = network(torch.from_numpy(places))
        turned, same = other(torch.from_numpy(images))
    assert torch.allclose(logits, turned[:, [0, 1, 2, 4, 3]])
    assert torch.allclose(values, same)
    assert logits.std() > 0.1


def test_it_plays_in_mazes_of_any_size() -> None:
    mazes, larger = generate_set(2, 0), generate_set(3, 0, size=32, walls=213)
    network = SightedMazeNetwork(mazes.walls, mazes.goals, seed=0)
    found = maze.measure(network, larger)
    assert set(found) == {"greedy", "sampled"}
    with pytest.raises(BackplayError):
        SightedMazeNetwork(mazes.walls, mazes.goals, seed=0, sight=0)


def test_what_it_learns_in_some_mazes_it_knows_in_others() -> None:
    library = generate(mazes=200, held_out=100, size=8, walls=10, min_length=8, seed=0)
    run = maze.training(MazeJob(regime="uniform", frames=330_000, evaluations=1, sight=4), library)
    list(run.run())
    network = run.learner.network
    assert isinstance(network, SightedMazeNetwork)
    assert maze.measure(network, library.held_out)["sampled"]["success"] >= 0.8


def test_sight_is_refused_where_nobody_would_look() -> None:
    for wrong in ({"regime": "gail"}, {"regime": "backplay", "preset": "paper"}):
        with pytest.raises(BackplayError, match="sight"):
            MazeJob(sight=5, **wrong)
    job = MazeJob(regime="default", sight=5, frames=1_000)
    assert job.setting == "Optimal, sight 5"
    assert job.sight == 5
