"""PPO's update by hand arithmetic, and its hyperparameters."""

import copy
from typing import Any

import numpy as np
import probes
import pytest
import torch
from gymnasium.wrappers import TransformReward
from probe_learners import learner_for
from torch import Tensor, nn

import backplay as bp
import envs_for_tests as envs
from backplay.errors import BackplayError
from backplay.learners import PPO, PPOConfig, Rollout
from backplay.learners.optimiser import FlatAdam
from backplay.learners.ppo import Batch
from backplay.train import TrainConfig, Training

torch.set_num_threads(1)


def a_rollout(scope: str = "none") -> tuple[PPO, Rollout]:
    """A learner that cannot move, and its rollout of one-step episodes."""
    envs = probes.vector(probes.MatchReward)
    learner = learner_for(envs, learning_rate=1e-12, normalise_advantages=scope)
    return learner, learner.collect(envs, envs.reset(seed=0)[0])


def test_metrics_of_an_unchanged_policy() -> None:
    learner, rollout = a_rollout()
    metrics = learner.update(rollout)
    advantages = rollout.rewards - rollout.values  # each episode is one step
    assert metrics["approximate_kl"] == pytest.approx(0, abs=1e-6)
    assert metrics["clip_fraction"] == 0
    assert metrics["policy_loss"] == pytest.approx(-advantages.mean(), abs=1e-5)
    assert metrics["value_loss"] == pytest.approx((advantages**2).mean(), rel=1e-4)
    assert metrics["entropy"] == pytest.approx(np.log(2), abs=1e-3)
    explained = 1 - advantages.var() / rollout.rewards.var()
    assert metrics["explained_variance"] == pytest.approx(explained, abs=1e-4)
    assert metrics["learning_rate"] == 1e-12


def test_gain_is_the_clipped_one() -> None:
    learner, _ = a_rollout()
    rng = np.random.default_rng(0)
    rows = 200
    seen = torch.from_numpy(rng.choice([-1, 1], (rows, 1)).astype(np.float32))
    actions = torch.from_numpy(rng.integers(0, 2, rows))
    advantages = torch.from_numpy(rng.normal(size=rows).astype(np.float32))
    with torch.no_grad():
        now = learner.distribution.log_prob(learner.network(seen)[0], actions)
    ratios = torch.from_numpy(rng.uniform(0.5, 1.5, rows).astype(np.float32))
    batch = Batch(seen, actions, now - ratios.log(), advantages, torch.zeros(rows))
    _, (gains, _, _, _) = learner._loss(batch, 0.0)
    expected = torch.minimum(ratios * advantages, ratios.clamp(0.8, 1.2) * advantages)
    np.testing.assert_allclose(gains.detach(), expected, atol=1e-5)


def test_advantages_are_normalised_where_asked() -> None:
    def gains_of_halves(scope: str) -> list[Tensor]:
        learner, rollout = a_rollout(scope)
        batch = learner._batch(rollout)
        halves = (slice(0, 60), slice(60, 128))
        parts = [Batch(*(part[half] for part in batch)) for half in halves]
        # The policy has not moved, so the ratio is 1 and the gain is the advantage.
        return [learner._loss(part, 0.0)[1][0].detach() for part in parts]

    for gains in gains_of_halves("minibatch"):
        assert float(gains.mean()) == pytest.approx(0, abs=1e-5)
        assert float(gains.std(correction=0)) == pytest.approx(1, abs=1e-5)
    left, right = gains_of_halves("batch")
    gains = torch.cat([left, right])
    assert float(gains.mean()) == pytest.approx(0, abs=1e-5)
    assert float(gains.std(correction=0)) == pytest.approx(1, abs=1e-5)
    assert abs(float(left.mean())) > 1e-3
    plain = torch.cat(gains_of_halves("none"))
    _, rollout = a_rollout()
    expected = torch.from_numpy(rollout.rewards - rollout.values).flatten()
    torch.testing.assert_close(plain, expected, atol=1e-5, rtol=0)


def test_values_may_learn_from_longer_returns_than_the_policy() -> None:
    envs = probes.vector(probes.DelayedReward)
    learner = learner_for(envs, gamma=1.0, gae_lambda=0.0, value_lambda=1.0)
    rollout = learner.collect(envs, envs.reset(seed=0)[0])
    batch, values = learner._batch(rollout), torch.from_numpy(rollout.values)
    ends = torch.from_numpy(rollout.terminated)
    nexts = torch.where(ends, torch.zeros(()), torch.from_numpy(rollout.next_values))
    errors = torch.from_numpy(rollout.rewards) + nexts - values
    torch.testing.assert_close(batch.advantages, errors.flatten(), atol=1e-5, rtol=0)
    # What comes of every step whose episode ended in the rollout, by adding up its rewards.
    returns, total = batch.returns.view_as(values), torch.zeros(values.shape[1])
    for step in range(len(values) - 1, -1, -1):
        total = torch.where(ends[step], torch.zeros(()), total)
        total += torch.from_numpy(rollout.rewards[step])
        ended = ends[step:].any(0)
        torch.testing.assert_close(returns[step][ended], total[ended], atol=1e-5, rtol=0)


def test_long_gradients_are_scaled_down() -> None:
    network = nn.Linear(2, 1)
    reference = copy.deepcopy(network)
    optimiser = FlatAdam(network, eps=1.0)
    inputs = torch.tensor([[3.0, 4.0]])
    norm = optimiser.step(network(inputs).sum(), learning_rate=1.0, max_gradient_norm=0.5)
    assert float(norm) == pytest.approx(26**0.5)  # of the gradient (3, 4; 1)
    # Adam's first step is g / (|g| + eps), here with g = (3, 4; 1) · 0.5 / √26.
    gradient = torch.tensor([3.0, 4.0, 1.0]) * 0.5 / 26**0.5
    before = torch.cat([reference.weight.flatten(), reference.bias])
    after = torch.cat([network.weight.flatten(), network.bias])
    torch.testing.assert_close(before - after, gradient / (gradient + 1))


def test_minibatches_cover_the_batch_evenly() -> None:
    config = PPOConfig(minibatch_size=5120)
    bounds = config.minibatch_bounds(60 * 1707)  # the paper's batch
    assert len(bounds) == 21
    assert bounds[0] == 0
    assert bounds[-1] == 102_420
    assert set(np.diff(bounds)) == {5121}
    assert PPOConfig(minibatch_size=64).minibatch_bounds(10) == [0, 10]
    assert np.ptp(np.diff(PPOConfig(minibatch_size=3).minibatch_bounds(10))) == 1
    few = PPOConfig(minibatch_size=10, minibatches_per_pass=2)
    assert few.minibatch_bounds(100) == [0, 10, 20]


def test_coefficients_decay_linearly() -> None:
    config = PPOConfig(
        learning_rate=0.1,
        final_learning_rate=0.0,
        entropy_coefficient=0.2,
        final_entropy_coefficient=0.5,
    )
    assert [config.learning_rate_at(p) for p in (0, 0.5, 1)] == pytest.approx([0.1, 0.05, 0])
    assert [config.entropy_coefficient_at(p) for p in (0, 1)] == pytest.approx([0.2, 0.1])
    assert PPOConfig().learning_rate_at(1) == 1e-3


def test_the_discount_lets_the_end_of_a_long_demonstration_count_at_its_beginning() -> None:
    def discount(*lengths: int, **told: Any) -> float:
        return PPOConfig(**told).after([np.zeros(n) for n in lengths]).discount

    assert PPOConfig().discount == discount() == discount(7, 100) == 0.99
    assert discount(400, 20) == 1 - 1 / 400
    assert discount(400, gamma=0.9) == 0.9  # who is told obeys
    assert discount(400) ** 400 == pytest.approx(np.exp(-1), abs=1e-3)


def test_rewards_are_learned_on_the_scale_of_the_demonstrations() -> None:
    def scale(*rewards: list[float], earned: float = 0.0, **told: Any) -> float:
        config = PPOConfig(**told).after([np.array(one) for one in rewards])
        return config.reward_scale_for(earned)

    assert scale() == scale([0.0, 0.0]) == 1.0
    assert scale([0.0, 0.0, 0.01]) == pytest.approx(100)
    assert scale([-1.0, -1.0], gamma=0.5) == pytest.approx(1 / 1.5)  # at the beginning
    assert scale([-4.0, 10.0], [5.0], gamma=0.5) == pytest.approx(0.1)  # 10 is still to be earned
    assert scale([100.0], reward_scale=2.0) == 2.0  # who is told obeys
    assert scale([1e-30]) == pytest.approx(1e6)
    assert scale([1e30]) == pytest.approx(1e-6)
    assert scale([0.01], earned=25.0) == pytest.approx(1 / 25)  # mistakes cost more than it earned
    assert scale([-100.0], earned=25.0) == pytest.approx(0.01)
    assert scale(earned=25.0) == 1.0  # of nobody's demonstrations: as they are


def test_the_first_rollout_may_earn_more_than_the_demonstrations() -> None:
    def scale(cost: float) -> float:
        def make(cost: float = cost) -> Any:
            return TransformReward(envs.Corridor(6), lambda reward: float(reward) or cost)

        demo = bp.record(make(0.0), [1] * 6, seed=1)  # from an env without costs: earned 1
        config = TrainConfig(num_envs=2, frames=1_024, evaluate_every=0, final_episodes=1)
        training = Training(make, [demo], bp.Standard(), config)
        first = None
        for progress in training.run():
            first = first or (progress.frames, training.learner.reward_scale)
        assert (first or [0])[1] == training.learner.reward_scale  # and stays
        training.close()
        assert training.learner.reward_scale is not None
        return training.learner.reward_scale

    assert scale(0.0) == 1.0
    assert 1 / 60 > scale(-100.0) > 1 / 10_000  # some discounted steps of 100 each
    assert scale(-200.0) == pytest.approx(scale(-100.0) / 2, rel=0.05)


@pytest.mark.parametrize("times", [2.0**-10, 2.0**10])
def test_what_is_learned_does_not_depend_on_the_unit_of_rewards(times: float) -> None:
    def weights(times: float) -> list[Any]:
        def make() -> Any:
            return TransformReward(envs.Corridor(6), lambda reward: times * float(reward))

        demo = bp.record(make(), [1] * 6, seed=1)
        config = TrainConfig(num_envs=2, frames=1_024, evaluate_every=0, final_episodes=1)
        training = Training(make, [demo], bp.Uniform(), config)
        list(training.run())
        training.close()
        return [part.detach().numpy() for part in training.learner.network.parameters()]

    for part, same in zip(weights(1.0), weights(times), strict=True):
        np.testing.assert_array_equal(part, same)


def test_a_training_run_takes_its_discount_from_its_demonstrations() -> None:
    demo = bp.record(envs.Corridor(250), [1] * 250, seed=1)
    training = Training(
        lambda: envs.Corridor(250), [demo], bp.Uniform(), TrainConfig(num_envs=1, frames=512)
    )
    assert training.learner.config.discount == 1 - 1 / 250
    training.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_steps": 0},
        {"minibatches_per_pass": 0},
        {"gamma": 1.5},
        {"value_lambda": -0.1},
        {"learning_rate": 0.0},
        {"normalise_advantages": "always"},
    ],
    ids=str,
)
def test_senseless_hyperparameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BackplayError, match=next(iter(wrong))):
        PPOConfig(**wrong)
