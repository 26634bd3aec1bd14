"""How an episode came to where it stands, as plain data: a recipe that can be followed again.

An env that follows from its seed and its actions needs no snapshot to come back in mid-episode: it
is reset as it was, put where it was put, and given the same actions. So a run is resumed exactly
whatever its restorer holds, and nothing but data goes into its files.

Does not know: how a start is entered, see `BackplayEnv`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.data import trees
from backplay.data.streams import RandomStream
from backplay.records import Start, Walk


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One episode so far. Only `actions` grows."""

    seed: int | None
    """What the env was reset with; None where it was not reset, only put elsewhere."""
    options: dict[str, Any] | None
    """The options of that reset."""
    start: Start
    """Where it began."""
    walks: tuple[Walk, ...]
    """Those that lead to the start, in order: the curriculum may list them no longer."""
    stream: RandomStream
    """Where the wrapper's generator stood when the start was entered, which may draw from it."""
    wrappers: list[Any]
    """What each wrapper held when the start was entered: some keep it over many episodes."""
    actions: list[Any] = field(default_factory=list)
    """Those taken since."""

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "seed": self.seed,
            "options": trees.copy(self.options),
            "start": list(self.start),
            "walks": [[walk.demo, list(walk.start), walk.steps, walk.seed] for walk in self.walks],
            "stream": self.stream,
            "wrappers": trees.copy(self.wrappers),
            "actions": _stacked(self.actions),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Recipe:
        """What `to_data` returned; raises where it is something else."""
        return cls(
            seed=None if data["seed"] is None else int(data["seed"]),
            options=None if data["options"] is None else dict(data["options"]),
            start=_start(data["start"]),
            walks=tuple(
                Walk(int(demo), _start(start), int(steps), int(seed))
                for demo, start, steps, seed in data["walks"]
            ),
            stream=RandomStream(*data["stream"]),
            wrappers=list(data["wrappers"]),
            actions=[trees.copy(action) for action in data["actions"]],
        )


def _start(pair: Sequence[Any]) -> Start:
    demo, step = pair
    return Start(int(demo), int(step))


def _stacked(actions: list[Any]) -> NDArray[Any] | list[Any]:
    """Actions as the rows of one array if they are arrays of one form, else as they are."""
    forms = {(type(a), getattr(a, "dtype", None), np.shape(a)) for a in actions}
    if len(forms) == 1 and isinstance(actions[0], np.ndarray | np.generic):
        return np.stack(actions)
    kept: list[Any] = trees.copy(actions)
    return kept
