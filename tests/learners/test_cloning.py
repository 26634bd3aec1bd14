"""Behavioural cloning: it ends up agreeing with its pairs, and its first step is the right one."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from backplay.errors import BackplayError
from backplay.learners import clone, distribution_for, make_network

torch.set_num_threads(1)

SEEN = spaces.Box(-1, 1, (3,), np.float32)
CORNERS = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], np.float32)
NUMBERS = (CORNERS > 0) @ np.array([4, 2, 1])  # 0 to 7


def network_for(space: Any, observations: Any = SEEN, seed: int = 0) -> nn.Module:
    return make_network(observations, space, seed=seed, hidden=(32, 32))


def greedy(network: nn.Module, space: Any, observations: Any) -> Any:
    with torch.no_grad():
        parameters, _ = network(torch.from_numpy(observations))
    distribution = distribution_for(space)
    return distribution.for_env(distribution.mode(parameters).numpy())


DISCRETE = {
    "Discrete": (spaces.Discrete(8, start=5), 5 + NUMBERS),
    "one byte": (spaces.Discrete(8), NUMBERS.astype(np.uint8)),
    "MultiDiscrete": (
        spaces.MultiDiscrete([2, 4], start=[0, 3]),
        np.stack([NUMBERS // 4, 3 + NUMBERS % 4], 1),
    ),
    "MultiBinary": (spaces.MultiBinary([3, 1]), (CORNERS > 0).astype(np.int8)[:, :, None]),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_greedy_actions_become_the_demonstrated_ones(name: str) -> None:
    space, actions = DISCRETE[name]
    network = network_for(space)
    progress = list(clone(
        network, CORNERS, actions, action_space=space, epochs=500, minibatch_size=4,
        learning_rate=0.002, seed=0,
    ))  # fmt: skip
    assert [p.epoch for p in progress] == list(range(1, len(progress) + 1))
    assert [p.agreement == 1.0 for p in progress] == [False] * (len(progress) - 1) + [True]
    np.testing.assert_array_equal(greedy(network, space, CORNERS), actions)
    assert progress[-1].loss <= progress[0].loss


def test_continuous_actions_become_likely() -> None:
    space = spaces.Box(-2, 2, (2, 1), np.float64)
    actions = CORNERS[:, :2, None].astype(np.float64) * [[0.5], [1.5]]
    network = network_for(space)
    progress = list(clone(
        network, CORNERS, actions, action_space=space, epochs=300, minibatch_size=8,
        learning_rate=0.01, max_gradient_norm=10.0, seed=0,
    ))  # fmt: skip
    assert len(progress) == 300
    assert {p.agreement for p in progress} == {None}
    np.testing.assert_allclose(greedy(network, space, CORNERS), actions, atol=0.1)


def test_the_first_step_is_adams_on_the_cross_entropy() -> None:
    """By torch's own cross-entropy, clipping and Adam, on one minibatch of everything."""
    space, actions = DISCRETE["Discrete"]
    network = network_for(space)
    reference = copy.deepcopy(network)
    adam = torch.optim.Adam(reference.parameters(), lr=0.02, eps=1e-3)
    logits, _ = reference(torch.from_numpy(CORNERS))
    loss = nn.functional.cross_entropy(logits, torch.from_numpy(NUMBERS))
    loss.backward()
    nn.utils.clip_grad_norm_(reference.parameters(), 0.05)
    adam.step()
    values = network(torch.from_numpy(CORNERS))[1]
    first = next(clone(
        network, CORNERS, actions, action_space=space, minibatch_size=64, learning_rate=0.02,
        adam_eps=1e-3, max_gradient_norm=0.05, seed=0,
    ))  # fmt: skip
    assert first.loss == pytest.approx(float(loss.detach()), rel=1e-5)
    for ours, theirs in zip(network.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)
    # Actor and critic are apart here, and the critic has not moved.
    torch.testing.assert_close(network(torch.from_numpy(CORNERS))[1], values, rtol=0, atol=0)
    agreed = (greedy(network, space, CORNERS) == actions).mean()
    assert first.agreement == pytest.approx(agreed)


def test_part_of_an_agreement_is_enough_if_asked() -> None:
    space, actions = DISCRETE["Discrete"]
    progress = list(clone(
        network_for(space), CORNERS, actions, action_space=space, minibatch_size=4,
        learning_rate=0.01, agreement=0.5, seed=0,
    ))  # fmt: skip
    assert 0.5 <= progress[-1].agreement < 1.0


def test_pairs_that_contradict_each_other_stop_at_the_last_epoch() -> None:
    space = spaces.Discrete(2)
    progress = list(clone(
        network_for(space), CORNERS[[0, 0]], np.array([0, 1]), action_space=space, epochs=5, seed=0
    ))  # fmt: skip
    assert [p.agreement for p in progress] == [0.5] * 5


def test_observations_in_a_dict() -> None:
    space = spaces.Discrete(8)
    seen = spaces.Dict(a=spaces.Box(-1, 1, (2,), np.float32), b=spaces.Discrete(2))
    observations = {"a": CORNERS[:, :2], "b": (CORNERS[:, 2] > 0).astype(np.int64)}
    network = network_for(space, seen)
    *_, last = clone(
        network, observations, NUMBERS, action_space=space, minibatch_size=4, learning_rate=0.01,
        seed=0,
    )  # fmt: skip
    assert last.agreement == 1.0


def test_cloning_follows_from_the_seed_alone() -> None:
    space, actions = DISCRETE["Discrete"]

    def losses(seed: int) -> list[float]:
        passes = clone(
            network_for(space), CORNERS, actions, action_space=space, epochs=3, minibatch_size=2,
            seed=seed,
        )  # fmt: skip
        return [p.loss for p in passes]

    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = losses(0)
    assert torch.equal(torch.get_rng_state(), before)
    assert losses(0) == first
    assert losses(1) != first


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": NUMBERS[:-1]}, "observations: expected 7, one for each action, got 8"),
        ({"actions": NUMBERS + 1}, "actions: expected an array"),
        ({"actions": NUMBERS.astype(np.float64)}, "actions: expected an array"),
        ({"actions": NUMBERS[:, None]}, "actions: expected an array"),
        ({"actions": np.empty(0, np.int64)}, "actions: expected an array"),
        ({"actions": None}, "actions: expected an array"),
        ({"epochs": 0}, "epochs"),
        ({"minibatch_size": 0}, "minibatch_size"),
        ({"action_space": spaces.Text(3)}, "action space"),
        (
            {"action_space": spaces.Box(-1, 1, ()), "actions": np.full(8, np.nan)},
            "actions: expected an array",
        ),
    ],
)
def test_what_is_no_pair_is_refused_at_once(changes: dict[str, Any], message: str) -> None:
    space = spaces.Discrete(8)
    arguments: dict[str, Any] = {"actions": NUMBERS, "action_space": space, "seed": 0}
    with pytest.raises(BackplayError, match=message):
        clone(network_for(space), CORNERS, **(arguments | changes))
