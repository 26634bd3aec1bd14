"""The tasks that regimes are compared on: each demonstration reaches the goal, exactly."""

import sys
from pathlib import Path

import numpy as np
import pytest

import backplay as bp

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
import tasks


@pytest.mark.parametrize(
    ("name", "steps"),
    [("mountaincar", 114), ("keycorridor", 51), ("obstructed", 43), ("pointmaze", 339)],
)
def test_a_demonstration_reaches_the_goal_and_restores_exactly(name: str, steps: int) -> None:
    task = tasks.TASKS[name]
    demo = task.demonstrate()
    assert len(demo) == steps
    assert demo.terminated
    assert bp.check(task.make(), demo, max_steps=3_000).exact


@pytest.mark.parametrize("name", ["keycorridor", "obstructed", "pointmaze"])
def test_reward_comes_at_the_goal_alone(name: str) -> None:
    rewards = tasks.TASKS[name].demonstrate().rewards
    assert np.flatnonzero(rewards).tolist() == [len(rewards) - 1]


def test_a_view_has_one_kind_colour_and_state_in_every_cell() -> None:
    view = tasks.minigrid(*tasks.CORRIDOR)
    seen, _ = view.reset()
    assert seen in view.observation_space
    cells = seen[:-4].reshape(7, 7, 20)
    parts = np.split(cells, [11, 17], axis=2)
    assert [part.sum(axis=2).tolist() for part in parts] == [np.ones((7, 7)).tolist()] * 3
    image = np.moveaxis(view.unwrapped.gen_obs()["image"], 2, 0)
    for part, channel in zip(parts, image, strict=True):
        assert part.argmax(axis=2).tolist() == channel.tolist()
    assert seen[-4:].tolist() == np.eye(4)[view.unwrapped.agent_dir].tolist()


def test_every_episode_has_the_same_layout() -> None:
    view = tasks.minigrid(*tasks.CORRIDOR)
    first, _ = view.reset(seed=1)
    view.step(tasks.LEFT)
    assert view.reset(seed=2)[0].tolist() == first.tolist()
