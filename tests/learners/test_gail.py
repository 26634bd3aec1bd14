"""GAIL on probes with known answers: the discriminator's optimum, and the expert recovered."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import probes
import pytest
import torch
from gymnasium import spaces
from probes import same
from torch import Tensor, nn

from backplay.errors import BackplayError
from backplay.learners import GAIL, Discriminator, GAILConfig, Pairs, PPOConfig, make_network
from backplay.learners.rollout import Rollout
from backplay.learners.workers import EnvRange

torch.set_num_threads(1)

CONFIG = PPOConfig(
    num_steps=16, minibatch_size=64, passes=4, learning_rate=0.01, entropy_coefficient=0.0
)


class Table(nn.Module):
    """Logits and a value for each of some places."""

    def __init__(self, places: int, actions: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(places, actions))
        self.values = nn.Parameter(torch.zeros(places))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        place = observations.long()
        return self.logits[place], self.values[place]


def learner_for(env: Any, expert: Pairs, seed: int = 0, **how: Any) -> GAIL:
    seen, done = env.observation_space, env.action_space
    judge = Discriminator.for_spaces(seen, done, seed=seed + 1)
    net = make_network(seen, done, seed=seed, hidden=(16, 16))
    settings = GAILConfig(**{"learning_rate": 0.01, "minibatch_size": 128, **how})
    return GAIL(
        net, done, CONFIG, seed=seed, expert=expert, discriminator=judge, imitation=settings
    )


def rollout_of(places: np.ndarray, actions: np.ndarray) -> Rollout:
    """Steps of one env in given places, with given actions."""
    n = len(places)
    zeros, false = np.zeros((n, 1), np.float32), np.zeros((n, 1), np.bool_)
    return Rollout(
        observations=torch.from_numpy(places)[:, None], actions=torch.from_numpy(actions)[:, None],
        log_probs=torch.zeros(n, 1), values=zeros, next_values=zeros, rewards=zeros,
        terminated=false, truncated=false, final_infos=[], last_observations=places[:1],
        own=EnvRange(0, 1, 1),
    )  # fmt: skip


def test_at_its_optimum_the_score_is_the_log_of_the_ratio_of_the_two_distributions() -> None:
    expert = np.array([[0.3, 0.1], [0.2, 0.4]])  # of place and action together
    policy = np.array([[0.1, 0.3], [0.5, 0.1]])

    def pairs(chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A thousand pairs in exactly these shares."""
        counts = np.round(1_000 * chances).astype(int).ravel()
        return np.divmod(np.repeat(np.arange(4), counts), 2)

    table, space = Table(2, 2), spaces.Discrete(2)
    judge = Discriminator(table, space)
    learner = GAIL(
        Table(2, 2), space, seed=0, expert=Pairs(*pairs(expert)), discriminator=judge,
        imitation=GAILConfig(learning_rate=0.02, steps=50, minibatch_size=1_000),
    )  # fmt: skip
    rollout = rollout_of(*pairs(policy))
    for _ in range(8):
        learner._learn_to_tell(rollout)
    # The expert's minibatches are drawn, so the optimum is met up to their noise.
    expected = np.log(expert / policy)
    assert table.logits.detach().numpy() == pytest.approx(expected, abs=0.1)
    rewards = learner.rewards(rollout)[:, 0]
    places, actions = pairs(policy)
    assert rewards == pytest.approx(0.01 * table.logits.detach().numpy()[places, actions])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("odds", [-5.0, 0.0, 2.0]),
        ("negative", [-5.0067, -0.6931, -0.1269]),
        ("positive", [0.0067, 0.6931, 2.1269]),
    ],
)
def test_what_is_made_of_a_score(kind: Any, expected: list[float]) -> None:
    table = Table(1, 3)
    table.logits.data[0] = torch.tensor([-9.0, 0.0, 2.0])
    learner = GAIL(
        Table(1, 3), spaces.Discrete(3), seed=0, expert=Pairs(np.zeros(1, int), np.zeros(1, int)),
        discriminator=Discriminator(table, spaces.Discrete(3)), imitation=GAILConfig(reward=kind),
    )  # fmt: skip
    rollout = rollout_of(np.zeros(3, int), np.arange(3))
    assert 100 * learner.rewards(rollout)[:, 0] == pytest.approx(expected, abs=1e-3)


def test_rewards_are_less_where_the_end_of_a_long_demonstration_counts() -> None:
    table, space = Table(1, 3), spaces.Discrete(3)
    table.logits.data[0] = torch.tensor([-1.0, 0.0, 2.0])
    learner = GAIL(
        Table(1, 3), space, PPOConfig().after([np.zeros(400)]), seed=0,
        expert=Pairs(np.zeros(1, int), np.zeros(1, int)), discriminator=Discriminator(table, space),
    )  # fmt: skip
    rewards = learner.rewards(rollout_of(np.zeros(3, int), np.arange(3)))[:, 0]
    assert 400 * rewards == pytest.approx([-1.0, 0.0, 2.0])


@pytest.mark.parametrize(
    "done", [spaces.Discrete(2), spaces.Box(-50, 50, (1,)), spaces.Box(-np.inf, np.inf, (1,))]
)
def test_a_discriminator_sees_observations_in_the_units_of_its_examples(done: Any) -> None:
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(8, 2)).astype(np.float32)
    acts = torch.tensor([0, 1, 1, 0, 1, 0, 0, 1])
    acts = acts if isinstance(done, spaces.Discrete) else acts[:, None].float()

    def scores(times: float) -> Tensor:
        space = spaces.Box(-np.inf, np.inf, (2,))
        judge = Discriminator.for_spaces(space, done, seed=0, examples=list(times * seen))
        return judge(torch.from_numpy(times * seen), acts)

    assert torch.allclose(scores(1.0), scores(1_024.0), atol=1e-6)
    assert scores(1.0).std() > 0


SIGNS = np.array([[-1.0], [1.0]], np.float32)


@pytest.mark.parametrize("kind", ["odds", "negative", "positive"])
def test_a_policy_recovers_a_discrete_expert_whatever_the_env_pays(kind: Any) -> None:
    """The expert does the opposite of what the env rewards."""
    env = probes.MatchReward()
    learner = learner_for(env, Pairs(SIGNS, np.array([1, 0])), reward=kind)
    probes.train(learner, probes.MatchReward, 15)
    assert learner.act(SIGNS, greedy=True).tolist() == [1, 0]


def test_a_policy_recovers_a_continuous_expert() -> None:
    generator = np.random.default_rng(0)
    seen = generator.choice([-1.0, 1.0], (400, 1)).astype(np.float32)
    mean = np.concatenate([-0.5 * seen, 0.3 * np.ones_like(seen)], 1)
    done = (mean + 0.1 * generator.standard_normal((400, 2))).astype(np.float32)
    learner = learner_for(probes.TargetAction(), Pairs(seen, done))
    probes.train(learner, probes.TargetAction, 50)
    found = learner.act(SIGNS, greedy=True)
    assert found == pytest.approx(np.array([[0.5, 0.3], [-0.5, 0.3]]), abs=0.2)


def test_several_choices_at_once_are_imitated() -> None:
    env = probes.TwoChoices()
    learner = learner_for(env, Pairs(SIGNS, np.array([[0, 6], [1, 4]])))
    probes.train(learner, probes.TwoChoices, 25)
    assert learner.act(SIGNS, greedy=True).tolist() == [[0, 6], [1, 4]]


def test_a_loaded_learner_goes_on_bit_for_bit() -> None:
    expert = Pairs(SIGNS, np.array([1, 0]))
    through = learner_for(probes.MatchReward(), expert)
    probes.train(through, probes.MatchReward, 2)
    saved = through.state()
    as_saved = copy.deepcopy(saved)
    metrics = probes.train(through, probes.MatchReward, 2)
    assert same(saved, as_saved)
    resumed = learner_for(probes.MatchReward(), expert, seed=9)
    resumed.load_state(saved)
    assert probes.train(resumed, probes.MatchReward, 2) == metrics
    assert same(resumed.state(), through.state())
    assert {"discriminator", "judge"} <= set(saved)


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"reward": "most"}, {"limit": 0.0}, {"learning_rate": float("nan")}]
)
def test_settings_without_a_meaning_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BackplayError, match=next(iter(wrong))):
        GAILConfig(**wrong)
