"""Batched games that are left and taken up again go on to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from played_games import perspectives, walks

import backplay as bp
from backplay.data import packing, trees
from backplay.envs.pommerman.vector import PommermanVector
from backplay.learners import PPOConfig, make_network
from backplay.learners.sparse import fact_network
from backplay.train import TrainConfig, Training
from backplay.train.evaluate import Evaluation

N = 4
WINDOW = bp.TrueStarts(bp.Backplay((bp.Window(0, 1, 12),)), 0.3, by_frames=False)


def make(**options: Any) -> PommermanVector:
    return PommermanVector(N, **{"opponents": "simple", "max_steps": 60, **options})


def with_demos(**options: Any) -> PommermanVector:
    return make(demos=perspectives(), curriculum=WINDOW, **options)


def through_files(state: Any) -> Any:
    text, arrays = packing.pack(state)
    return packing.unpack(text, arrays)


@pytest.mark.parametrize(
    ("build", "options"),
    [
        (make, {}),
        (make, {"seat": "rotate", "item_reward": 0.1, "opponents": "fsmts", "simulations": 2}),
        (with_demos, {}),
        (with_demos, {"rng": "restore", "frames": "recorded", "initial": "demonstration"}),
    ],
)
def test_a_vector_goes_on_to_the_bit(build: Any, options: dict[str, Any]) -> None:
    whole = build(**options)
    whole.reset(seed=3)
    ended = 0
    for t, actions in enumerate(walks(90, N)):
        if t in (1, 17, 40):
            state = through_files(whole.get_state())
            again = build(**options)
            again.reset(seed=9)
            again.step(actions)
            again.set_state(state)
            assert np.array_equal(again.observe(), whole.observe())
            assert again.starts == whole.starts
        answer = whole.step(actions)
        if t >= 1:
            assert trees.first_difference(again.step(actions)[:4], answer[:4]) is None, t
        ended += int(answer[2].sum())
    assert ended > N
    assert again.take_episodes() == whole.take_episodes()
    assert trees.first_difference(again.get_state(), whole.get_state()) is None


@pytest.mark.parametrize(("seen", "network"), [("planes", make_network), ("facts", fact_network)])
def test_a_training_run_goes_on_to_the_bit(seen: str, network: Any) -> None:
    def training() -> Training:
        config = TrainConfig(
            frames=400, num_envs=N, evaluate_every=0, final_episodes=1,
            ppo=PPOConfig(num_steps=20, passes=1),
        )  # fmt: skip
        return Training(
            None, [], WINDOW, config, success=lambda end: end.reward > 0,
            envs=with_demos(observation=seen), network=network, evaluator=evaluator,
        )  # fmt: skip

    def evaluator(act: Any, *, episodes: int, seed: int) -> Evaluation:
        actions = act(with_demos(observation=seen).reset(seed=seed)[0])
        return Evaluation(actions > 2, actions * 0.5, actions)

    whole, stopped, resumed = training(), training(), training()
    lines = [(progress.metrics, progress.episodes) for progress in whole.run()]
    for i, _ in enumerate(stopped.run()):
        if i == 2:
            break
    resumed.load_state(through_files(stopped.state()))
    assert [(progress.metrics, progress.episodes) for progress in resumed.run()] == lines[3:]
    assert trees.first_difference(resumed.state(), whole.state()) is None


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("seats", np.array([0, 1, 2, 7])),
        ("starts", [[0, 10**6], None, None, None]),
        ("rows", np.full((N, 5), -1, np.int16)),
        ("memories", np.full((N, 4, 1), 9, np.int16)),
        ("rngs", [["PCG64", {"state": {"state": 1, "inc": 2}}]] * N),
        ("lengths", np.zeros(3)),
        ("finished", [[None, 1.0]]),
        ("streams", None),
    ],
)
def test_what_cannot_be_a_state_is_refused(part: str, value: Any) -> None:
    envs = with_demos()
    envs.reset(seed=1)
    state = envs.get_state()
    before = trees.copy(state)
    with pytest.raises(bp.BackplayError, match="of another vector"):
        envs.set_state({**state, part: value})
    assert trees.first_difference(envs.get_state(), before) is None
    assert envs.set_state(state) is None


def test_before_the_first_reset_there_is_no_state() -> None:
    with pytest.raises(bp.BackplayError, match="have not begun"):
        make().get_state()


def test_another_number_of_games_or_no_demonstrations_is_refused() -> None:
    envs = with_demos()
    envs.reset(seed=1)
    for other in (PommermanVector(3, demos=perspectives()), make()):
        with pytest.raises(bp.BackplayError, match="of another vector"):
            other.set_state(envs.get_state())
