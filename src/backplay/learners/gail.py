"""Generative adversarial imitation (Ho and Ermon 2016): PPO on what a discriminator says.

In come an expert's pairs of observation and action beside all that PPO needs; out go PPO's rollouts
and metrics. Before each update the discriminator learns to tell the expert's pairs from the
rollout's, and what it then says of each step takes the place of the env's reward: the log-odds that
a pair is the expert's, at its optimum the log of how much more often the expert's pairs are such
than the policy's. Does not know: the env's rewards, demonstrations, curricula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle, pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional

from backplay.errors import BackplayError, show
from backplay.learners.cloning import Pairs, checked_pairs
from backplay.learners.distributions import Distribution, distribution_for
from backplay.learners.networks import make_network
from backplay.learners.observations import Tensors, as_tensors, map_tensors, rows_of
from backplay.learners.optimiser import FlatAdam
from backplay.learners.ppo import PPO
from backplay.learners.rollout import Rollout, own_rows


class Discriminator(nn.Module):
    """Scores of pairs, from a network of the form that policies have.

    Of one discrete action the network has a logit for each, and the score is the chosen one's. Of
    other actions it sees observation and action together, and the score is its value.
    """

    def __init__(self, network: nn.Module, action_space: spaces.Space[Any]) -> None:
        """A discriminator around a network; see `for_spaces`."""
        super().__init__()
        self.network = network
        self._distribution: Distribution = distribution_for(action_space)
        self._by_action = isinstance(action_space, spaces.Discrete)

    @classmethod
    def for_spaces(
        cls,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        seed: int,
        network: Callable[..., nn.Module] = make_network,
        examples: Sequence[Any] | None = None,
    ) -> Discriminator:
        """A discriminator for observations and actions of these spaces.

        Args:
            observation_space: space of one observation.
            action_space: space of one action.
            seed: of the initial weights.
            network: makes networks for discrete actions, as it makes the policy's; pairs with other
                actions are seen by `make_network`'s.
            examples: observations, by which numbers are scaled as in `make_network`; actions are
                then scaled by their bounds.
        """
        if isinstance(action_space, spaces.Discrete):
            made = partial(network, examples=examples) if examples else network
            return cls(made(observation_space, action_space, seed=seed), action_space)
        pair = spaces.Dict({"observation": observation_space, "action": action_space})
        both = [
            {"observation": one, "action": edge}
            for one, edge in zip(examples or (), cycle(_edges(action_space)))
        ]
        undecided = make_network(
            pair, spaces.Discrete(2), seed=seed, value_gain=0.01, examples=both or None
        )
        return cls(undecided, action_space)

    def forward(self, observations: Tensors, actions: Tensor) -> Tensor:
        """Scores [rows] of observations [rows, ...] and actions as the distribution has them."""
        if self._by_action:
            logits: Tensor = self.network(observations)[0]
            return logits.gather(1, actions.unsqueeze(1)).squeeze(1)
        done: npt.NDArray[Any] = self._distribution.for_env(actions.numpy())
        pair = {"observation": observations, "action": torch.from_numpy(np.ascontiguousarray(done))}
        values: Tensor = self.network(pair)[1]
        return values


def _edges(space: spaces.Space[Any]) -> tuple[Any, Any]:
    """The least and the largest action; where there is no bound, -1 and 1."""
    if not isinstance(space, spaces.Box):
        return None, None
    return (
        np.where(space.bounded_below, space.low, -1.0),
        np.where(space.bounded_above, space.high, 1.0),
    )


LEAST_SCALE = 0.001  # of rewards, where the discount is 1 or nearly so


@dataclass(frozen=True, kw_only=True)
class GAILConfig:
    """How the discriminator learns, and what is made of its scores."""

    learning_rate: float = 1e-3
    """Adam's."""
    steps: int = 8
    """Gradient steps before each update of the policy."""
    minibatch_size: int = 1_024
    """Pairs of the expert, and as many of the policy, in one gradient step."""
    reward: Literal["odds", "negative", "positive"] = "odds"
    """Of a score s: s itself, log D = -softplus(-s), or -log(1 - D) = softplus(s). The second never
    pays, so episodes that end soon are good; the third always does, so long ones are. All are
    multiplied by 1 - gamma."""
    limit: float = 5.0
    """Scores beyond this, and below minus this, count as this."""

    def __post_init__(self) -> None:
        for name in ("steps", "minibatch_size"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise _refusal(name, "a whole number from 1 on", getattr(self, name))
        for name in ("learning_rate", "limit"):
            if not 0 < getattr(self, name) < float("inf"):
                raise _refusal(name, "more than 0", getattr(self, name))
        if self.reward not in ("odds", "negative", "positive"):
            raise _refusal("reward", '"odds", "negative" or "positive"', self.reward)


@dataclass(eq=False)
class _Log:
    """What the discriminator's gradient steps were like."""

    losses: list[Tensor] = field(default_factory=list)
    expert_right: list[Tensor] = field(default_factory=list)
    policy_right: list[Tensor] = field(default_factory=list)


class GAIL(PPO):
    """PPO whose rewards come from a discriminator that learns beside it."""

    def __init__(
        self,
        *ppo: Any,
        expert: Pairs,
        discriminator: Discriminator,
        imitation: GAILConfig | None = None,
        **options: Any,
    ) -> None:
        """As `PPO` is made; of several workers the first one works on the expert's pairs.

        Args:
            ppo: PPO's arguments, and `options` by their names.
            expert: whom to imitate.
            discriminator: begins as it is, and learns in place.
            imitation: see GAILConfig, the defaults when None.
            options: see `ppo`.
        """
        super().__init__(*ppo, **options)
        self.discriminator, self.imitation = discriminator, imitation or GAILConfig()
        seen, done = checked_pairs(*expert, self.action_space)
        self._expert: tuple[Tensors, Tensor] = as_tensors(seen), torch.from_numpy(done)
        self._judge = FlatAdam(discriminator, eps=self.config.adam_eps, workers=self.workers)
        self._scale = max(1 - self.config.discount, LEAST_SCALE)
        self.config = replace(self.config, reward_scale=1.0)  # the env's rewards are not used

    def update(self, rollout: Rollout, progress: float = 0.0) -> dict[str, float]:
        """Trains the discriminator on the rollout, then the policy on what it says of it."""
        told = self._learn_to_tell(rollout)
        rewards = self.rewards(rollout)
        metrics = super().update(replace(rollout, rewards=rewards), progress)
        return {**metrics, **told, "imitation_reward": float(rewards.mean())}

    def rewards(self, rollout: Rollout) -> npt.NDArray[np.float32]:
        """What each step is paid, [steps, envs]."""
        limit = self.imitation.limit
        with torch.no_grad():
            flat = map_tensors(lambda part: part.flatten(0, 1), rollout.observations)
            scores = self.discriminator(flat, rollout.actions.flatten(0, 1)).clamp(-limit, limit)
            if self.imitation.reward == "negative":
                scores = -functional.softplus(-scores)
            elif self.imitation.reward == "positive":
                scores = functional.softplus(scores)
        # So that returns stay within the limit: larger ones would drown the policy's gradients in
        # those of the values.
        paid: npt.NDArray[np.float32] = scores.numpy() * np.float32(self._scale)
        return paid.reshape(rollout.rewards.shape)

    def _learn_to_tell(self, rollout: Rollout) -> dict[str, float]:
        """Some gradient steps of the discriminator; what they were like."""
        how, generator = self.imitation, self._generator
        total = rollout.frames
        size = min(how.minibatch_size, total)
        order = torch.stack(
            [torch.randperm(total, generator=generator)[:size] for _ in range(how.steps)]
        ).flatten()
        rows, bounds = own_rows(order, list(range(0, len(order) + 1, size)), rollout.own)
        seen = map_tensors(lambda part: part.flatten(0, 1), rollout.observations)
        done, log = rollout.actions.flatten(0, 1), _Log()
        for first, last in pairwise(bounds):
            own = rows[first:last]
            theirs = torch.randint(len(self._expert[1]), (how.minibatch_size,), generator=generator)
            loss = self._loss_of((seen, done), own, theirs, size, log)
            self._judge.step(
                loss, learning_rate=how.learning_rate,
                max_gradient_norm=self.config.max_gradient_norm,
            )  # fmt: skip
        return {
            "discriminator_loss": float(
                self.workers.add(torch.stack(log.losses).sum()) / how.steps
            ),
            "expert_recognised": self._share(log.expert_right),
            "policy_recognised": self._share(log.policy_right),
        }

    def _loss_of(
        self, played: tuple[Tensors, Tensor], own: Tensor, theirs: Tensor, size: int, log: _Log
    ) -> Tensor | None:
        """A worker's own part of the logistic loss; the expert's pairs are the first one's."""
        parts = []
        if len(own):
            scores = self.discriminator(rows_of(played[0], own), played[1][own])
            log.policy_right.append((scores < 0).float())
            parts.append(functional.softplus(scores).sum() / size)
        if self.workers.rank == 0:
            scores = self.discriminator(rows_of(self._expert[0], theirs), self._expert[1][theirs])
            log.expert_right.append((scores > 0).float())
            parts.append(functional.softplus(-scores).mean())
        loss = torch.stack(parts).sum() if parts else None
        log.losses.append(torch.zeros(()) if loss is None else loss.detach())
        return loss

    def _share(self, right: list[Tensor]) -> float:
        """The share of pairs that all workers' steps told rightly."""
        found = torch.cat([torch.empty(0), *right])
        summed = self.workers.add(torch.tensor([float(found.sum()), float(len(found))]))
        return float(summed[0] / summed[1])

    def state(self) -> dict[str, Any]:
        """PPO's state, and the discriminator's with its optimiser."""
        weights = {key: part.clone() for key, part in self.discriminator.state_dict().items()}
        return {**super().state(), "discriminator": weights, "judge": self._judge.state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from `state()` exactly as the learner that gave it would have."""
        super().load_state(state)
        self.discriminator.load_state_dict(state["discriminator"])
        self._judge.load_state(state["judge"])


def _refusal(name: str, expected: str, got: object) -> BackplayError:
    return BackplayError(f"GAILConfig.{name}", expected=expected, got=show(got))
