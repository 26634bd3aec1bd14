"""PPO on probe environments with known answers."""

import numpy as np
import probes
import pytest
import torch
from probe_learners import GAMMA, greedy, probability, train, value

torch.set_num_threads(1)


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


def test_entropy_is_rewarded() -> None:
    learner = train(probes.ActionReward, entropy_coefficient=100.0)
    assert probability(learner, 0, 1) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("scope", ["minibatch", "batch", "none"])
def test_every_normalisation_learns(scope: str) -> None:
    learner = train(probes.MatchReward, normalise_advantages=scope)
    assert [greedy(learner, -1), greedy(learner, 1)] == [0, 1]
