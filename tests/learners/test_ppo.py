"""PPO on probe environments with known answers, and its state saved and loaded."""

import copy
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import probes
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from torch import Tensor, nn

from backplay.errors import BackplayError
from backplay.learners import PPO, PPOConfig, Rollout, make_network
from backplay.learners.optimiser import FlatAdam
from backplay.learners.ppo import Batch

torch.set_num_threads(1)

GAMMA = 0.8
CONFIG = {
    "num_steps": 16,
    "minibatch_size": 64,
    "passes": 8,
    "learning_rate": 0.01,
    "final_learning_rate": 0.0,
    "gamma": GAMMA,
    "entropy_coefficient": 0.0,
}


def learner_for(envs: VectorEnv[Any, Any, Any], seed: int = 0, **options: Any) -> PPO:
    network = make_network(
        envs.single_observation_space, envs.single_action_space, seed=seed, hidden=(16, 16)
    )
    return PPO(network, envs.single_action_space, PPOConfig(**(CONFIG | options)), seed=seed)


def train(make: Callable[[], gym.Env[Any, Any]], updates: int = 50, **options: Any) -> PPO:
    envs = probes.vector(make)
    learner = learner_for(envs, **options)
    observations, _ = envs.reset(seed=0)
    for update in range(updates):
        rollout = learner.collect(envs, observations)
        learner.update(rollout, progress=update / updates)
        observations = rollout.last_observations
    return learner


def value(learner: PPO, seen: float) -> float:
    return float(learner.values(np.array([[seen]], np.float32))[0])


def greedy(learner: PPO, seen: float) -> Any:
    return learner.act(np.array([[seen]], np.float32), greedy=True)[0]


def probability(learner: PPO, seen: float, action: int) -> float:
    """Share of an action among many sampled ones."""
    actions = learner.act(np.full((2000, 1), seen, np.float32))
    return float((actions == action).mean())


def test_constant_reward_is_the_value() -> None:
    assert value(train(probes.ConstantReward), 0) == pytest.approx(1, abs=0.02)


def test_value_depends_on_the_observation() -> None:
    learner = train(probes.ObservedReward)
    assert value(learner, -1) == pytest.approx(-1, abs=0.05)
    assert value(learner, 1) == pytest.approx(1, abs=0.05)


def test_later_reward_is_discounted() -> None:
    learner = train(probes.DelayedReward)
    assert value(learner, 0) == pytest.approx(GAMMA, abs=0.03)
    assert value(learner, 1) == pytest.approx(1, abs=0.03)


def test_policy_takes_the_better_action() -> None:
    learner = train(probes.ActionReward)
    assert greedy(learner, 0) == 1
    assert probability(learner, 0, 1) > 0.95
    assert value(learner, 0) == pytest.approx(1, abs=0.1)


def test_policy_depends_on_the_observation() -> None:
    learner = train(probes.MatchReward)
    for seen, action in ((-1, 0), (1, 1)):
        assert greedy(learner, seen) == action
        assert probability(learner, seen, action) > 0.95
        assert value(learner, seen) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("gae_lambda", [0.0, 0.95, 1.0])
def test_truncation_bootstraps(gae_lambda: float) -> None:
    learner = train(
        lambda: probes.EndlessReward(4, terminates=False), updates=80, gae_lambda=gae_lambda
    )
    assert value(learner, 0) == pytest.approx(1 / (1 - GAMMA), rel=0.03)


def test_termination_does_not_bootstrap() -> None:
    # Left at the four positions of the clock: 1, 1.8, 2.44, 2.952; their mean is 2.048.
    learner = train(lambda: probes.EndlessReward(4, terminates=True), gae_lambda=1.0)
    assert value(learner, 0) == pytest.approx(2.048, rel=0.03)


def test_truncation_can_be_read_as_an_end() -> None:
    learner = train(
        lambda: probes.EndlessReward(4, terminates=False), gae_lambda=1.0, bootstrap_truncated=False
    )
    assert value(learner, 0) == pytest.approx(2.048, rel=0.03)


def test_truncation_bootstraps_from_the_final_observation() -> None:
    learner = train(probes.FinalObservation, updates=80)
    assert value(learner, 1) == pytest.approx(1 / (1 - GAMMA), rel=0.03)
    assert value(learner, -1) == pytest.approx(GAMMA / (1 - GAMMA), rel=0.03)


def test_continuous_actions_find_their_target() -> None:
    learner = train(probes.TargetAction, updates=100)
    for seen in (-1.0, 1.0):
        action = greedy(learner, seen)
        assert action.dtype == np.float32
        np.testing.assert_allclose(action, [0.5 * seen, 1.0], atol=0.1)


def test_several_choices_at_once() -> None:
    learner = train(probes.TwoChoices)
    for seen, first in ((-1, 0), (1, 1)):
        np.testing.assert_array_equal(greedy(learner, seen), [first, 5])


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(2, start=3),
        spaces.MultiDiscrete([2, 3]),
        spaces.MultiBinary(4),
        spaces.Box(0, 255, (7, 7, 3), np.uint8),
        spaces.Box(0, 255, (4, 84, 84), np.uint8),
        spaces.Box(-1, 1, (3,), np.float64),
        spaces.Dict(
            image=spaces.Box(0, 10, (5, 5, 2), np.int64),
            mission=spaces.Text(10),
            nested=spaces.Dict(direction=spaces.Discrete(4)),
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "actions", [spaces.Discrete(3, start=2), spaces.Box(-1, 1, (2, 2))], ids=str
)
def test_rollouts_keep_any_observation(space: Any, actions: Any) -> None:
    class Random(gym.Env[Any, Any]):
        observation_space = space
        action_space = actions
        clock = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
            super().reset(seed=seed)
            if seed is not None:
                self.observation_space = copy.deepcopy(space)
                self.observation_space.seed(seed)
            self.clock = 0
            return self.observation_space.sample(), {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            assert self.action_space.contains(action)
            self.clock += 1
            return self.observation_space.sample(), 1.0, False, self.clock == 3, {}

    envs = probes.vector(Random, envs=2)
    network = make_network(space, actions, seed=0)
    learner = PPO(network, actions, PPOConfig(num_steps=5, minibatch_size=5, passes=1), seed=0)
    observations, _ = envs.reset(seed=0)
    rollout = learner.collect(envs, observations)
    metrics = learner.update(rollout)
    assert all(np.isfinite(number) for number in metrics.values())
    assert rollout.frames == 10
    assert rollout.truncated.sum() == 2
    assert [step for step, _ in rollout.final_infos] == [2]

    def compare(stored: Any, given: Any) -> None:
        if isinstance(stored, dict):
            assert "mission" not in stored
            for key in stored:
                compare(stored[key], given[key])
        else:
            np.testing.assert_array_equal(stored[0], given)
            assert stored.numpy().dtype == given.dtype

    compare(rollout.observations, observations)


class CellNetwork(nn.Module):
    """A table over compact integer observations (maze, cell), as a user might bring."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(2, 3, 3))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        maze, cell = observations.long().unbind(-1)
        row = self.table[maze, cell]
        return row[:, :2], row[:, 2]


class BatchedCells(VectorEnv[Any, Any, Any]):
    """A native batched env: one step, pays maze · cell; truncated, with batched final_obs."""

    def __init__(self, *, with_final: bool = True) -> None:
        self.num_envs = 6
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.single_action_space = spaces.Discrete(2)
        self.cells = np.array([[m, c] for m in range(2) for c in range(3)], np.int16)
        self.with_final = with_final

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return self.cells, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        rewards = self.cells.prod(1).astype(np.float64)
        ended = np.ones(6, np.bool_)
        final = np.zeros_like(self.cells)  # maze 0, cell 0: its value is 0 / (1 - γ)
        infos = {"final_obs": final, "_final_obs": ended} if self.with_final else {}
        return self.cells, rewards, ~ended, ended, infos


def test_a_native_batched_env_with_its_own_network() -> None:
    envs = BatchedCells()
    config = PPOConfig(**(CONFIG | {"learning_rate": 0.05}))
    learner = PPO(CellNetwork(), envs.single_action_space, config, seed=0)
    observations, _ = envs.reset()
    for update in range(50):
        rollout = learner.collect(envs, observations)
        assert rollout.observations.numpy().dtype == np.int16  # type: ignore[union-attr]
        learner.update(rollout, progress=update / 50)
    np.testing.assert_allclose(learner.values(envs.cells), [0, 0, 0, 0, 1, 2], atol=0.05)


def test_missing_final_observations_are_named() -> None:
    envs = BatchedCells(with_final=False)
    learner = PPO(CellNetwork(), envs.single_action_space, PPOConfig(num_steps=2), seed=0)
    with pytest.raises(BackplayError, match="final_obs"):
        learner.collect(envs, envs.reset()[0])


def test_next_step_autoreset_is_refused() -> None:
    envs = SyncVectorEnv([probes.ConstantReward])
    with pytest.raises(BackplayError, match="SAME_STEP"):
        learner_for(envs).collect(envs, envs.reset(seed=0)[0])


def same(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return torch.equal(left, right) if isinstance(left, Tensor) else bool(left == right)


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


def test_entropy_is_rewarded() -> None:
    learner = train(probes.ActionReward, entropy_coefficient=100.0)
    assert probability(learner, 0, 1) == pytest.approx(0.5, abs=0.05)


def test_advantages_are_normalised_where_asked() -> None:
    def gains_of_halves(scope: str) -> list[Tensor]:
        learner, rollout = a_rollout(scope)
        batch = learner._batch(rollout)
        halves = (slice(0, 60), slice(60, 128))
        parts = [Batch(*(part[half] for part in batch)) for half in halves]  # type: ignore[index]
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
    assert PPOConfig().learning_rate_at(1) == 3e-4


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_steps": 0},
        {"minibatches_per_pass": 0},
        {"gamma": 1.5},
        {"learning_rate": 0.0},
        {"normalise_advantages": "always"},
    ],
    ids=str,
)
def test_senseless_hyperparameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BackplayError, match=next(iter(wrong))):
        PPOConfig(**wrong)


@pytest.mark.parametrize("scope", ["minibatch", "batch", "none"])
def test_every_normalisation_learns(scope: str) -> None:
    learner = train(probes.MatchReward, normalise_advantages=scope)
    assert [greedy(learner, -1), greedy(learner, 1)] == [0, 1]
