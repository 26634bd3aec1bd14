"""DAgger (Ross et al. 2011): imitate an expert in the states that the learner itself visits.

In come an expert who can be asked what to do, pairs to begin with, and all that PPO needs to act;
out go rollouts and metrics. After each rollout the expert is asked about every observation it has
not been asked about before, and the network learns all that it ever said, as in cloning. The
learner acts alone: the pairs to begin with are the expert's only round. Does not know: rewards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from backplay.errors import ensure
from backplay.learners.cloning import Pairs, checked_pairs
from backplay.learners.observations import (
    Arrays,
    Tensors,
    as_tensors,
    join,
    map_tensors,
    numeric,
    rows_of,
)
from backplay.learners.ppo import PPO
from backplay.learners.rollout import Rollout

Expert = Callable[[Any], npt.NDArray[Any]]
"""From observations [rows, ...] to actions [rows, ...], as the environment takes them."""


class DAgger(PPO):
    """Acts and collects as PPO does; its update imitates, and rewards do not count."""

    def __init__(self, *ppo: Any, expert: Expert, first: Pairs, **options: Any) -> None:
        """As `PPO` is made; of its settings those of rollouts, minibatches and optimiser count.

        Args:
            ppo: PPO's arguments, and `options` by their names.
            expert: whom to ask.
            first: what is known before anything is asked: demonstrations.
            options: see `ppo`.
        """
        super().__init__(*ppo, **options)
        ensure(self.workers.size <= 1, "workers", "one, for DAgger", got=self.workers.size)
        self._ask = expert
        seen, done = checked_pairs(*first, self.action_space)
        kept = distinct(seen)
        self._known: tuple[Arrays, npt.NDArray[Any]] = _rows(seen, kept), done[kept]
        self.labels = 0
        """Observations that the expert was asked about."""

    def update(self, rollout: Rollout, progress: float = 0.0) -> dict[str, float]:
        """Asks about what is new in the rollout, then learns all that is known."""
        self._ask_about(rollout)
        config, known = self.config, len(self._known[1])
        observations, actions = as_tensors(self._known[0]), torch.from_numpy(self._known[1])
        bounds = config.minibatch_bounds(known)
        losses: list[Tensor] = []
        for _ in range(config.passes):
            order = torch.randperm(known, generator=self._generator)
            for rows in order[: bounds[-1]].tensor_split(bounds[1:-1]):
                parameters, _ = self.network(rows_of(observations, rows))
                loss = -self.distribution.log_prob(parameters, actions[rows]).mean()
                self._optimiser.step(
                    loss, learning_rate=config.learning_rate_at(progress),
                    max_gradient_norm=config.max_gradient_norm,
                )  # fmt: skip
                losses.append(loss.detach())
        self.updates += 1
        return {
            "imitation_loss": float(torch.stack(losses).mean()),
            "labels": float(self.labels), "known_states": float(known),
        }  # fmt: skip

    def _ask_about(self, rollout: Rollout) -> None:
        """Adds what the expert says of the observations that are not yet known."""
        seen = numeric(_arrays(map_tensors(lambda part: part.flatten(0, 1), rollout.observations)))
        observations, actions = self._known
        together = join([observations, seen])
        kept = distinct(together)
        new = kept[kept >= len(actions)]
        if len(new):
            asked = _rows(together, new)
            _, said = checked_pairs(asked, self._ask(asked), self.action_space)
            self._known = join([observations, asked]), np.concatenate([actions, said])
            self.labels += len(new)

    def state(self) -> dict[str, Any]:
        """What changes with training, and all that the expert said."""
        observations, actions = self._known
        known = {
            "observations": map_tensors(torch.clone, as_tensors(observations)),
            "actions": torch.from_numpy(actions).clone(),
            "labels": self.labels,
        }
        return {**super().state(), "known": known}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from `state()` exactly as the learner that gave it would have."""
        super().load_state(state)
        known = state["known"]
        self._known = _arrays(known["observations"]), known["actions"].numpy()
        self.labels = int(known["labels"])


def distinct(observations: Arrays) -> npt.NDArray[np.int64]:
    """The rows that are like none before them, in order."""
    leaves = _leaves(observations)
    rows = len(leaves[0])
    packed = [np.ascontiguousarray(leaf).reshape(rows, -1).view(np.uint8) for leaf in leaves]
    together = np.ascontiguousarray(np.concatenate(packed, 1))
    _, first = np.unique(together.view(f"V{together.shape[1]}").ravel(), return_index=True)
    return np.sort(first)


def _leaves(observations: Arrays) -> list[npt.NDArray[Any]]:
    if isinstance(observations, dict):
        return [leaf for part in observations.values() for leaf in _leaves(part)]
    return [observations]


def _rows(observations: Arrays, rows: npt.NDArray[np.int64]) -> Arrays:
    if isinstance(observations, dict):
        return {key: _rows(part, rows) for key, part in observations.items()}
    return observations[rows]


def _arrays(tensors: Tensors) -> Arrays:
    if isinstance(tensors, dict):
        return {key: _arrays(part) for key, part in tensors.items()}
    return tensors.numpy()
