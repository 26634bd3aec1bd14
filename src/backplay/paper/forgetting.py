"""A learner that forgets its policy, its values or both whenever the windows move.

The paper asks whether what Backplay gains comes from the values that it learns or from the policy.
Who keeps one of them alone at each move of the windows shows what that one is worth. Comes in: what
PPO takes, which parts of the network to forget, and the windows. Goes out: a learner of PPO's form,
resumed to the byte. Does not know: worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from backplay.curricula import Backplay, Curriculum
from backplay.errors import ensure
from backplay.learners import PPO
from backplay.learners.rollout import Rollout

Parts = tuple[str, ...]
"""Names of parameters of a network."""


def forgetful(
    forgets: str, *, values: Parts, policy: Parts, starts: Curriculum, frames: int
) -> Callable[..., PPO]:
    """Makes the learner that forgets its "values", its "policy" or "both" with the windows.

    `starts` are windows that move by frames alone, and `frames` those of the whole training.
    """
    ensure(isinstance(starts, Backplay), "forgets", "windows that move by frames alone", starts)
    assert isinstance(starts, Backplay)
    parts = (*values * (forgets != "policy"), *policy * (forgets != "values"))
    moves = [window.frames / frames for window in starts.windows[1:]]
    return partial(Forgetful, parts=parts, moves=moves)


class Forgetful(PPO):
    """PPO that puts parts of its network back to what they were at first."""

    def __init__(
        self, *given: Any, parts: Sequence[str], moves: Sequence[float], **more: Any
    ) -> None:
        """As PPO.

        Args:
            given: what PPO takes.
            parts: names of the network's parameters.
            moves: shares of the training after which they are put back.
            more: what PPO takes.
        """
        super().__init__(*given, **more)
        weights = dict(self.network.named_parameters())
        self._first = {name: weights[name].detach().clone() for name in parts}
        self._moves, self._moved = tuple(moves), 0

    def update(self, rollout: Rollout, progress: float = 0.0) -> dict[str, float]:
        """PPO's, and then, if the windows move now, the first weights: the next rollout has them.

        The optimiser keeps its moments.
        """
        metrics = super().update(rollout, progress)
        moved = sum(progress >= share for share in self._moves)
        if moved > self._moved:
            weights = dict(self.network.named_parameters())
            with torch.no_grad():
                for name, first in self._first.items():
                    weights[name].copy_(first)
            getattr(self.network, "forget", int)()  # what it keeps came of the weights before
        self._moved = moved
        return metrics

    def state(self) -> dict[str, Any]:
        """PPO's, and how often the windows have moved."""
        return {**super().state(), "moved": self._moved}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        super().load_state(state)
        self._moved = int(state["moved"])
