"""PPO's state saved and loaded, and its randomness."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import probes
import pytest
import torch
from probe_learners import learner_for, train
from probes import same

from backplay.learners import PPO

torch.set_num_threads(1)


@pytest.mark.parametrize("probe", [probes.MatchReward, probes.TargetAction])
def test_a_loaded_learner_goes_on_bit_for_bit(probe: Callable[[], probes.Probe]) -> None:
    def go(learner: PPO, envs: Any, observations: Any, updates: int) -> tuple[Any, dict[str, Any]]:
        for _ in range(updates):
            rollout = learner.collect(envs, observations)
            metrics = learner.update(rollout)
            observations = rollout.last_observations
        return observations, metrics

    envs = probes.vector(probe)
    observations, _ = envs.reset(seed=0)
    through = learner_for(envs)
    observations, _ = go(through, envs, observations, 1)
    saved, saved_envs = through.state(), copy.deepcopy(envs)
    as_saved = copy.deepcopy(saved)
    _, metrics = go(through, envs, observations, 2)
    assert same(saved, as_saved)  # a state is a copy: training on does not change it

    resumed = learner_for(envs, seed=99)
    resumed.load_state(saved)
    _, resumed_metrics = go(resumed, saved_envs, observations, 2)
    assert resumed.updates == through.updates == 3
    assert same(resumed.state(), through.state())
    assert resumed_metrics == metrics
    assert not same(saved, through.state())


def test_no_global_randomness() -> None:
    def run() -> dict[str, Any]:
        return train(probes.MatchReward, updates=2).state()

    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = run()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert same(run(), first)


def test_sampling_with_another_generator_leaves_the_learner_alone() -> None:
    learner = learner_for(probes.vector(probes.MatchReward))
    before = learner.state()
    learner.act(np.zeros((4, 1), np.float32), generator=torch.Generator().manual_seed(0))
    learner.act(np.zeros((4, 1), np.float32), greedy=True)
    assert same(learner.state(), before)
    learner.act(np.zeros((4, 1), np.float32))
    assert not same(learner.state(), before)
