"""A teacher whose policy is imitated beside PPO's own loss, less and less.

Kickstarting (Schmitt et al. 2018). Comes in: a network of the learner's form, and for how long it
counts how much. Does not know: how it is imitated; see `PPO`.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from backplay.errors import BackplayError, show


@dataclass(frozen=True, eq=False)
class Teacher:
    """A network to imitate at first; it is left as it is."""

    network: nn.Module
    """Maps observations to (policy parameters, values)."""
    coefficient: float = 1.0
    """Weight of the cross-entropy with its policy in the loss at the start."""
    until: float = 0.5
    """Share of the training at which that weight has fallen, linearly, to 0."""

    def __post_init__(self) -> None:
        if not 0 < self.coefficient < float("inf"):
            raise BackplayError("coefficient", expected="more than 0", got=show(self.coefficient))
        if not 0 < self.until <= 1:
            raise BackplayError("until", expected="more than 0, at most 1", got=show(self.until))

    def coefficient_at(self, progress: float) -> float:
        """The weight when a share `progress` of the training is done."""
        return self.coefficient * max(0.0, 1 - progress / self.until)

    def forget(self) -> None:
        """Drops what the network has kept of earlier batches, if it keeps anything."""
        getattr(self.network, "forget", lambda: None)()
