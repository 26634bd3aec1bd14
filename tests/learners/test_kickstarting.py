"""Kickstarting: a teacher's policy in PPO's loss at first, and nothing at all without one."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import probes
import pytest
import torch
from gymnasium import spaces
from probes import same
from torch import Tensor, nn

import backplay as bp
from backplay.errors import BackplayError
from backplay.learners import PPO, PPOConfig, Teacher, clone, make_network
from backplay.learners.distributions import Categorical, MultiCategorical, distribution_for
from backplay.train import TrainConfig, Training

torch.set_num_threads(1)

CONFIG = {"num_steps": 16, "minibatch_size": 64, "learning_rate": 0.01}


class Stubborn(nn.Module):
    """A teacher with the same logits everywhere, which counts how often it is asked."""

    def __init__(self, logits: list[float]) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits))
        self.asked = 0

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        self.asked += 1
        return self.logits.expand(len(observations), -1), torch.zeros(len(observations))


def learner_for(probe: Any, teacher: nn.Module | None, seed: int = 0, **options: Any) -> PPO:
    env = probe()
    net = make_network(env.observation_space, env.action_space, seed=seed, hidden=(16, 16))
    how = {key: options.pop(key) for key in ("coefficient", "until") if key in options}
    config = PPOConfig(**(CONFIG | options))
    taught_by = None if teacher is None else Teacher(teacher, **how)
    return PPO(net, env.action_space, config, seed=seed, teacher=taught_by)


def train(learner: PPO, probe: Any, updates: int, progress: Any = None) -> list[dict[str, float]]:
    envs = probes.vector(probe)
    observations, _ = envs.reset(seed=0)
    metrics = []
    for update in range(updates):
        rollout = learner.collect(envs, observations)
        done = update / updates if progress is None else progress
        metrics.append(learner.update(rollout, progress=done))
        observations = rollout.last_observations
    return metrics


# The loss ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space", [spaces.Discrete(4), spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(3)], ids=str
)
def test_cross_entropy_is_the_sum_over_all_actions(space: Any) -> None:
    """H(teacher, student) = H(teacher) + KL, computed by torch's own distributions."""
    distribution = distribution_for(space)
    assert isinstance(distribution, Categorical | MultiCategorical)
    generator = torch.Generator().manual_seed(0)
    teacher, student = torch.randn(2, 7, distribution.size, generator=generator)
    sizes = getattr(distribution, "choices", (distribution.size,))
    expected = torch.zeros(7)
    for t, s in zip(teacher.split(sizes, -1), student.split(sizes, -1), strict=True):
        left, right = (torch.distributions.Categorical(logits=logits) for logits in (t, s))
        expected += left.entropy() + torch.distributions.kl_divergence(left, right)
    torch.testing.assert_close(distribution.cross_entropy(teacher, student), expected)


def test_the_loss_is_ppos_and_the_weighted_cross_entropy() -> None:
    teacher = Stubborn([1.0, -0.5])
    learner = learner_for(probes.MatchReward, teacher, coefficient=2.0)
    envs = probes.vector(probes.MatchReward)
    batch = learner._batch(learner.collect(envs, envs.reset(seed=0)[0]))
    plain, parts = learner._loss(batch, 0.01, 0.0)
    taught, (*same_parts, by_sample) = learner._loss(batch, 0.01, 0.3)
    logits = learner.network(batch.observations)[0].log_softmax(-1)
    expected = -(teacher.logits.softmax(-1) * logits).sum(-1)
    torch.testing.assert_close(by_sample, expected)
    torch.testing.assert_close(taught, plain + 0.3 * expected.mean())
    assert all(map(torch.equal, parts, same_parts))
    taught.backward()
    assert teacher.logits.grad is None


def test_the_weight_falls_to_nothing() -> None:
    teacher = Teacher(Stubborn([0.0, 0.0]), 0.8, 0.5)
    found = [teacher.coefficient_at(progress) for progress in (0, 0.125, 0.25, 0.5, 0.75, 1)]
    assert found == pytest.approx([0.8, 0.6, 0.4, 0, 0, 0])
    assert found[3:] == [0, 0, 0]


# Training ---------------------------------------------------------------------------------------


def test_a_student_without_rewards_becomes_its_teacher() -> None:
    teacher = Stubborn([0.0, 1.0])
    options = {"until": 1.0, "entropy_coefficient": 0.0}
    learner = learner_for(probes.ConstantReward, teacher, normalise_advantages="none", **options)
    metrics = train(learner, probes.ConstantReward, 40, progress=0.0)
    with torch.no_grad():
        policy = learner.network(torch.zeros(1, 1))[0].softmax(-1)[0]
    assert float(policy[1]) == pytest.approx(1 / (1 + np.exp(-1)), abs=0.05)
    entropy = distribution_for(spaces.Discrete(2)).entropy(teacher.logits)
    assert metrics[-1]["teacher_loss"] == pytest.approx(float(entropy.detach()), abs=0.01)
    assert metrics[0]["teacher_loss"] > metrics[-1]["teacher_loss"]
    assert metrics[-1]["teacher_coefficient"] == 1.0


def test_a_bad_teacher_is_overcome() -> None:
    """It insists on the wrong action, in half of the training."""
    teacher = Stubborn([3.0, -3.0])
    learner = learner_for(probes.ActionReward, teacher, coefficient=5.0)
    train(learner, probes.ActionReward, 10, progress=0.0)
    seen = np.zeros((1, 1), np.float32)
    assert learner.act(seen, greedy=True)[0] == 0
    train(learner, probes.ActionReward, 100)
    assert learner.act(seen, greedy=True)[0] == 1
    assert torch.equal(teacher.logits, torch.tensor([3.0, -3.0]))


@pytest.mark.parametrize("probe", [probes.MatchReward, probes.TwoChoices])
def test_a_teacher_who_is_done_costs_and_changes_nothing(probe: Any) -> None:
    size = distribution_for(probe().action_space).size
    teacher = Stubborn([9.0] + [0.0] * (size - 1))
    alone = learner_for(probe, None)
    taught = learner_for(probe, teacher, coefficient=1.0, until=0.5)
    results = [train(learner, probe, 3, progress=0.5) for learner in (alone, taught)]
    assert results[0] == results[1]
    assert same(alone.state(), taught.state())
    assert teacher.asked == 0
    assert "teacher_loss" not in results[0][0]
    train(taught, probe, 1, progress=0.49)
    assert teacher.asked == taught.config.passes * 2  # minibatches
    assert not same(alone.state(), taught.state())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coefficient": 0.0}, "more than 0"),
        ({"coefficient": -1.0}, "more than 0"),
        ({"coefficient": float("nan")}, "more than 0"),
        ({"until": 0.0}, "more than 0"),
        ({"until": 1.5}, "more than 0, at most 1"),
    ],
)
def test_a_teacher_who_would_not_count_is_refused(options: Any, message: str) -> None:
    with pytest.raises(BackplayError, match=message):
        learner_for(probes.MatchReward, Stubborn([0.0, 0.0]), **options)


def test_continuous_actions_cannot_be_taught() -> None:
    with pytest.raises(BackplayError, match="discrete"):
        learner_for(probes.TargetAction, Stubborn([0.0] * 4))


def test_nobody_is_their_own_teacher() -> None:
    env = probes.MatchReward()
    net = make_network(env.observation_space, env.action_space, seed=0)
    with pytest.raises(BackplayError, match="the one that learns"):
        PPO(net, env.action_space, seed=0, teacher=Teacher(net))


# The whole way: clone, then go on -----------------------------------------------------------------


def make_lake() -> gym.Env[Any, Any]:
    return gym.make("FrozenLake-v1", is_slippery=False)


def test_training_begins_with_a_cloned_network_and_a_teacher() -> None:
    lake = make_lake()
    demo = bp.record(lake, [1, 1, 2, 1, 2, 2], seed=0)
    assert demo.actions is not None
    net = make_network(lake.observation_space, lake.action_space, seed=3)
    pairs = (np.array(demo.observations[:-1]), np.array(demo.actions))
    *_, last = clone(net, *pairs, action_space=lake.action_space, learning_rate=0.01, seed=0)
    assert last.agreement == 1.0
    before = copy.deepcopy(net.state_dict())
    config = TrainConfig(
        frames=128, num_envs=2, final_episodes=2,
        ppo=PPOConfig(num_steps=32),
    )  # fmt: skip
    training = Training(
        make_lake,
        [demo],
        bp.Uniform(),
        config,
        initial_weights=net.state_dict(),
        teacher=Teacher(net),
    )
    assert same(dict(training.learner.network.state_dict()), dict(before))
    assert training.evaluate(4, greedy=True).success == 1.0
    metrics = [progress.metrics for progress in training.run()]
    # The first update is at progress 0, the second at 0.5: the teacher's weight has fallen to 0.
    assert metrics[0]["teacher_coefficient"] == 1.0
    assert "teacher_loss" not in metrics[1]
    assert not same(dict(training.learner.network.state_dict()), dict(before))
    assert same(dict(net.state_dict()), dict(before))
    other = make_network(spaces.Discrete(3), lake.action_space, seed=0).state_dict()
    with pytest.raises(BackplayError, match="weights: expected the state_dict"):
        Training(make_lake, [demo], bp.Uniform(), initial_weights=other)
