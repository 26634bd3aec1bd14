"""Stopping a training run in its middle and going on in another: the two must not differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backplay.data import packing, trees
from backplay.learners import PPOConfig
from backplay.train import Progress, TrainConfig, Training

STEPS = 16


def config(frames: int = 10_000, num_envs: int = 2, **settings: Any) -> TrainConfig:
    """A run with an evaluation every few updates."""
    return TrainConfig(**{
        "frames": frames, "num_envs": num_envs, "evaluate_every": 70, "evaluation_episodes": 1,
        "final_episodes": 1, "seed": 3,
        "ppo": PPOConfig(num_steps=STEPS, passes=1, minibatch_size=16), **settings,
    })  # fmt: skip


def through_files(state: Any) -> Any:
    """A state as it comes back from a file: JSON and arrays."""
    text, arrays = packing.pack(state)
    return packing.unpack(text, [array.copy() for array in arrays])


def told(progress: Progress) -> dict[str, Any]:
    """All that a run says of an update, but wall time."""
    evaluation = progress.evaluation
    return {
        "frames": progress.frames, "starts": progress.starts, "learner": progress.metrics,
        "train_success": progress.train_success, "true_success": progress.true_success,
        "episodes": [list(episode) for episode in progress.episodes],
        "evaluation": evaluation and [evaluation.successes, evaluation.returns],
    }  # fmt: skip


def go(training: Training, updates: int | None = None) -> list[dict[str, Any]]:
    """So many updates, or all that are left."""
    lines: list[dict[str, Any]] = []
    for progress in training.run() if updates != 0 else ():
        lines.append(told(progress))
        if len(lines) == updates:
            break
    return lines


def assert_resumes_exactly(
    make: Callable[[], Training], stops: tuple[int, ...], updates: int = 5
) -> list[Any]:
    """Whatever update it is stopped after, a run goes on as one that was never stopped.

    Returns the states it was stopped in.
    """
    whole = make()
    lines = go(whole, updates)
    end = whole.state()
    assert sum(len(line["episodes"]) for line in lines) > 0
    states: list[Any] = []
    stopped, done = make(), 0
    for stop in stops:
        assert done < stop < len(lines)
        assert trees.first_difference(go(stopped, stop - done), lines[done:stop]) is None, stop
        done = stop
        states.append(through_files(stopped.state()))
        stopped.close()
        stopped = make()
        stopped.load_state(states[-1])
    assert trees.first_difference(go(stopped, updates - done), lines[done:]) is None
    assert trees.first_difference(stopped.state(), end) is None
    stopped.close()
    whole.close()
    return states
