"""Proximal policy optimisation (Schulman et al. 2017): collect, estimate advantages, update.

With a teacher, its policy is imitated beside PPO's own loss, less and less (kickstarting, Schmitt
et al. 2018).

In come a network, a vector environment with same-step auto-reset and its current observations; out
go rollouts and metrics. The learner owns neither the loop nor the disk, and knows nothing of
curricula: `train` calls `collect` and `update` in turn, and keeps what `state` returns.

Several workers learn as one would: each has some of the envs, all have the same weights, draw the
same random numbers and make the same calls. A sample is worked on where its env is.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from torch import Tensor, nn

from backplay.errors import ensure
from backplay.learners.config import PPOConfig, Teacher, rewards_to_go
from backplay.learners.distributions import Categorical, MultiCategorical, distribution_for
from backplay.learners.observations import Tensors, as_tensors, map_tensors, numeric
from backplay.learners.optimiser import FlatAdam
from backplay.learners.rollout import (
    Batch,
    FloatArray,
    Rollout,
    collect,
    cut,
    estimate_advantages,
    normalise,
    own_rows,
    select,
)
from backplay.learners.sparse import FactNetwork
from backplay.learners.workers import Alone, Workers, join, means, require_same


class PPO:
    """A network, its optimiser and its random generator."""

    def __init__(
        self,
        network: nn.Module,
        action_space: spaces.Space[Any],
        config: PPOConfig | None = None,
        *,
        seed: int,
        teacher: Teacher | None = None,
        workers: Workers | None = None,
    ) -> None:
        """A learner around a network.

        Args:
            network: maps observations to (policy parameters, values), see `networks`.
            action_space: space of one action.
            config: hyperparameters, the defaults when None.
            seed: seed of action sampling and shuffling.
            teacher: whom to imitate at first; for discrete actions.
            workers: with whom to learn; they begin with the first one's weights.
        """
        self.network, self.action_space = network, action_space
        self.config = config or PPOConfig()
        self.distribution = distribution_for(action_space)
        self.updates = 0
        self.reward_scale: float | None = None
        """What rewards are multiplied by; None until the first rollout is known."""
        self.workers: Workers = workers or Alone()
        require_same(self.workers, "settings", f"{self.config}, seed {seed}, {_shape(network)}")
        self._generator = torch.Generator().manual_seed(seed)
        self._optimiser = FlatAdam(network, eps=self.config.adam_eps, workers=self.workers)
        self._teacher = self._checked_teacher(teacher, action_space)

    def act(
        self, observations: Any, *, greedy: bool = False, generator: torch.Generator | None = None
    ) -> npt.NDArray[Any]:
        """Actions for a batch of observations, as the environment wants them, [envs, ...].

        Sampling draws from `generator`, or from the learner's own, which changes what it does next:
        then every worker has to act, on as many observations.
        """
        with torch.inference_mode():
            parameters, _ = self.network(as_tensors(numeric(observations)))
            if greedy:
                actions = self.distribution.mode(parameters)
            else:
                rows = (len(parameters),)
                noise = self.distribution.noise(rows, generator or self._generator)
                actions = self.distribution.sample(parameters, noise)
        return self.distribution.for_env(actions.numpy())

    def values(self, observations: Any) -> npt.NDArray[np.float32]:
        """Values of a batch of observations, [envs]."""
        with torch.inference_mode():
            values: Tensor = self.network(as_tensors(numeric(observations)))[1]
        return values.numpy()

    def collect(self, envs: VectorEnv[Any, Any, Any], observations: Any) -> Rollout:
        """Act for `num_steps` steps in each env, from the observations it is at now."""
        return collect(
            self.network,
            self.distribution,
            envs,
            observations,
            steps=self.config.num_steps,
            bootstrap_truncated=self.config.bootstrap_truncated,
            generator=self._generator,
            workers=self.workers,
        )

    def update(self, rollout: Rollout, progress: float = 0.0) -> dict[str, float]:
        """Learn from a rollout of the present policy; returns metrics, means over minibatches.

        Args:
            rollout: what `collect` returned.
            progress: share of the training already done, 0 to 1, for the decaying coefficients.
        """
        config = self.config
        learning_rate = config.learning_rate_at(progress)
        entropy_coefficient = config.entropy_coefficient_at(progress)
        teacher_coefficient = self._teacher.coefficient_at(progress) if self._teacher else 0.0
        if self._teacher:
            # What a network has kept is rounded by the batches it came in: an update that does not
            # know earlier ones, as after a resumption, must come to the same.
            self._teacher.forget()
        if self.reward_scale is None:
            self.reward_scale = self.config.reward_scale_for(self._earned(rollout))
        batch = self._batch(rollout)
        # Of the samples of all workers: a minibatch is scaled by all that is in it.
        advantages = self._joined(batch.advantages, rollout)
        bounds = config.minibatch_bounds(len(advantages))
        log: list[tuple[Tensor, ...]] = []
        for _ in range(config.passes):
            # Shuffling whole arrays once leaves the minibatches as views.
            order = torch.randperm(len(advantages), generator=self._generator)[: bounds[-1]]
            rows, own_bounds = own_rows(order, bounds, rollout.own)
            shuffled, whole = select(batch, rows), advantages.index_select(0, order)
            for of_all, own in zip(pairwise(bounds), pairwise(own_bounds), strict=True):
                loss, parts = self._loss(
                    cut(shuffled, *own), entropy_coefficient, teacher_coefficient,
                    whole[slice(*of_all)],
                )  # fmt: skip
                norm = self._optimiser.step(
                    loss, learning_rate=learning_rate, max_gradient_norm=config.max_gradient_norm
                )
                # Kept as tensors: reading numbers here would cost more than computing them.
                log.append((*(part.detach() for part in parts), norm.view(1)))
        self.updates += 1
        metrics, taught = self._metrics(log, rollout, batch.returns)
        metrics["learning_rate"] = learning_rate
        for loss_to_teacher in taught:
            metrics["teacher_loss"] = loss_to_teacher
            metrics["teacher_coefficient"] = teacher_coefficient
        return metrics

    def _metrics(
        self, log: list[tuple[Tensor, ...]], rollout: Rollout, returns: Tensor
    ) -> tuple[dict[str, float], list[float]]:
        """What the minibatches of all workers were like; apart, the loss to a teacher if any."""
        gains, errors, entropies, log_ratios, *imitated, norms = (
            torch.cat(part) for part in zip(*log, strict=True)
        )
        ratios = log_ratios.exp()
        divergences = ratios - 1 - log_ratios  # an estimate that no sample makes negative
        clipped = ((ratios - 1).abs() > self.config.clip).float()
        samples = [gains, errors, entropies, divergences, clipped, *imitated]
        gain, error, entropy, divergence, share_clipped, *taught = means(self.workers, samples)
        values = self._joined(torch.from_numpy(rollout.values), rollout)
        metrics = {
            "policy_loss": -gain,
            "value_loss": error,
            "entropy": entropy,
            "approximate_kl": divergence,
            "clip_fraction": share_clipped,
            "explained_variance": _explained_variance(values, self._joined(returns, rollout)),
            "gradient_norm": float(norms.mean()),
        }
        return metrics, taught

    def _joined(self, part: Tensor, rollout: Rollout) -> Tensor:
        """A number for each sample of all workers, by step, then by env, flattened."""
        own = rollout.own
        return join(self.workers, part.reshape(-1, own.count), own, dim=1).flatten()

    def _earned(self, rollout: Rollout) -> float:
        """The size of what was earned from a step on, within this rollout: a mean over steps."""
        sizes = np.abs(rewards_to_go(rollout.rewards, self.config.discount, rollout.ended))
        return float(self._joined(torch.from_numpy(sizes).float(), rollout).double().mean())

    def _advantages(self, rollout: Rollout, gae_lambda: float) -> FloatArray:
        config = self.config
        return estimate_advantages(
            rollout.rewards * np.float32(self.reward_scale or 1.0),
            rollout.values,
            rollout.next_values,
            rollout.terminated if config.bootstrap_truncated else rollout.ended,
            rollout.truncated,
            gamma=config.discount,
            gae_lambda=gae_lambda,
        )

    def _batch(self, rollout: Rollout) -> Batch:
        """The rollout's steps with advantages and value targets."""
        config = self.config
        advantages = self._advantages(rollout, config.gae_lambda)
        further = config.value_lambda
        targets = advantages if further is None else self._advantages(rollout, further)
        returns = torch.from_numpy(targets + rollout.values)
        scaled = torch.from_numpy(advantages)
        if config.normalise_advantages == "batch":
            among = join(self.workers, scaled, rollout.own, dim=1)
            scaled = normalise(scaled, among)
        seen = map_tensors(lambda part: part.flatten(0, 1), rollout.observations)
        if isinstance(self.network, FactNetwork) and isinstance(seen, Tensor):
            seen = self.network.compact(seen)
        return Batch(
            seen,
            rollout.actions.flatten(0, 1),
            rollout.log_probs.flatten(),
            scaled.flatten(),
            returns.flatten(),
        )

    def _loss(
        self,
        minibatch: Batch,
        entropy_coefficient: float,
        teacher_coefficient: float = 0.0,
        whole: Tensor | None = None,
    ) -> tuple[Tensor | None, tuple[Tensor, ...]]:
        """PPO's loss, and by sample its gain, squared value error, entropy and log ratio.

        While a teacher is imitated, its cross-entropy by sample too. A worker's loss is its part of
        the minibatch's: with the others' it sums to the mean over all samples. It is None for a
        worker without any.

        Args:
            minibatch: the worker's own samples.
            entropy_coefficient: weight of the entropy.
            teacher_coefficient: weight of the teacher's cross-entropy.
            whole: the advantages of all workers' samples; None if the worker's are all.
        """
        config = self.config
        advantages = minibatch.advantages
        whole = advantages if whole is None else whole
        if not len(advantages):
            return None, (torch.empty(0),) * (5 if teacher_coefficient else 4)
        parameters, values = self.network(minibatch.observations)
        log_probs, entropies = self.distribution.log_prob_and_entropy(parameters, minibatch.actions)
        if config.normalise_advantages == "minibatch":
            advantages = normalise(advantages, whole)

        # The clipped gain min(r A, clip(r) A) is r A up to a limit that does not depend on r.
        log_ratios = log_probs - minibatch.log_probs
        limits = advantages + config.clip * advantages.abs()
        gains = torch.minimum(log_ratios.exp() * advantages, limits)
        errors = (values - minibatch.returns).square()
        losses = config.value_coefficient * errors - gains - entropy_coefficient * entropies
        loss = losses.sum() / len(whole)
        parts = (gains, errors, entropies, log_ratios)
        if not teacher_coefficient:
            return loss, parts
        cross_entropies = self._imitated(minibatch.observations, parameters)
        imitation = cross_entropies.sum() / len(whole)
        return loss + teacher_coefficient * imitation, (*parts, cross_entropies)

    def _imitated(self, observations: Tensors, parameters: Tensor) -> Tensor:
        """Cross-entropy of the policy with the teacher's on each observation, [rows]."""
        assert self._teacher is not None
        assert isinstance(self.distribution, Categorical | MultiCategorical)
        with torch.no_grad():
            taught, _ = self._teacher.network(observations)
        return self.distribution.cross_entropy(taught, parameters)

    def _checked_teacher(
        self, teacher: Teacher | None, action_space: spaces.Space[Any]
    ) -> Teacher | None:
        """The teacher, refused where it could not be imitated."""
        ensure(
            not teacher or teacher.network is not self.network, "teacher", "a network of its own",
            got="the one that learns", do="Pass a copy.deepcopy of it.",
        )  # fmt: skip
        ensure(
            not teacher or isinstance(self.distribution, Categorical | MultiCategorical), "teacher",
            "discrete actions", action_space, do="Begin with a cloned network's weights instead.",
        )  # fmt: skip
        return teacher

    def state(self) -> dict[str, Any]:
        """A copy of all that changes with training, as tensors and plain data."""
        return {
            "network": {key: part.clone() for key, part in self.network.state_dict().items()},
            "optimiser": self._optimiser.state(),
            "generator": self._generator.get_state(),
            "updates": self.updates,
            "reward_scale": self.reward_scale,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from `state()` exactly as the learner that gave it would have."""
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state(state["optimiser"])
        self._generator.set_state(state["generator"])
        self.updates = int(state["updates"])
        scale = state["reward_scale"]
        self.reward_scale = None if scale is None else float(scale)


def _shape(network: nn.Module) -> str:
    return f"{sum(part.numel() for part in network.parameters())} parameters"


def _explained_variance(values: Tensor, returns: Tensor) -> float:
    """Share of the returns' variance that the values foresaw; 1 is perfect, 0 a constant's."""
    variance = float(returns.var(correction=0))
    errors = returns - values
    return 1 - float(errors.var(correction=0)) / variance if variance else 0.0
