"""Players that were trained: what one learned, small enough to be a file, and what it does with it.

    Policy.load("agent.npz").save("copy.npz")
    PublicAgent(shipped()).act(observation)

Comes in: a file of numbers; games and seats, or the public game's observation dictionaries. Goes
out: actions, drawn as in training. Needs numpy alone. Does not know: who trained it, or how.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from backplay.data import archive
from backplay.data.arrays import checked_array
from backplay.envs.chance import streams as fresh_streams
from backplay.envs.chance import uniform
from backplay.envs.pommerman.dictionary import row_of
from backplay.envs.pommerman.facts import FACTS
from backplay.envs.pommerman.layout import ACTIONS, AGENT, BOARD, SIZE, STEP
from backplay.envs.pommerman.sights import Sees, sight
from backplay.errors import BackplayError

KIND = "Pommerman agent"
SHIPPED = Path(__file__).with_name("backplay.npz")
"""The agent that comes with the library; results/pommerman-agent.md tells how it was made."""
_MOST = 2**26  # bytes that such a file may hold
Layer = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Policy:
    """A sum of table rows, then linear layers; ReLU after all but the last."""

    sees: Sees
    """Which facts it is given."""
    known: NDArray[np.int32]
    """Facts that it met in training, [k]; the others say nothing to it."""
    rows: NDArray[np.float32]
    """Their rows, [k, width]."""
    bias: NDArray[np.float32]
    """[width]"""
    layers: tuple[Layer, ...]
    """Weights [outputs, inputs] and biases [outputs]; the last layer's outputs are actions."""
    made: dict[str, Any]
    """How it was made, in words and numbers."""
    _table: NDArray[np.float32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        table = np.zeros((FACTS + 1, self.rows.shape[1]), np.float32)  # -1, no fact, is the last
        table[self.known] = self.rows
        object.__setattr__(self, "_table", table)

    def chances(self, facts: NDArray[np.int32]) -> NDArray[np.float64]:
        """The chance of each action, [n, 6], where these facts [n, most] hold."""
        held = facts[:, : int((facts >= 0).sum(1).max())]
        features = np.maximum(self._table[held].sum(1) + self.bias, 0)
        for weights, bias in self.layers[:-1]:
            features = np.maximum(features @ weights.T + bias, 0)
        weights, bias = self.layers[-1]
        logits = (features @ weights.T + bias).astype(np.float64)
        shares = np.exp(logits - logits.max(1, keepdims=True))
        return np.asarray(shares / shares.sum(1, keepdims=True))

    def decide(
        self,
        previous: NDArray[np.int16],
        rows: NDArray[np.int16],
        seats: NDArray[np.int64],
        streams: NDArray[np.uint64],
        stream: int,
    ) -> int:
        """What the seat [1] of one game [1, ROW] does; the next number of a stream draws it."""
        seeing = sight(self.sees, 1)
        seeing.look(0, 1, previous, rows, seats)
        total = self.chances(seeing.seen)[0].cumsum()
        drawn = min(int(np.searchsorted(total, uniform(streams, stream), "right")), ACTIONS - 1)
        return int(seeing.meant(np.array([drawn]), seats)[0])

    def trimmed(self, least: float) -> Policy:
        """The same without the facts whose rows are shorter than `least`: they say little."""
        kept = np.linalg.norm(self.rows, axis=1) >= least
        return replace(self, known=self.known[kept], rows=self.rows[kept])

    def save(self, path: str | Path) -> None:
        """Writes it in half precision: arrays and JSON, with a digest of all of it."""
        layers = [[part.astype(np.float16) for part in layer] for layer in self.layers]
        tree = {
            "sees": self.sees, "known": self.known, "rows": self.rows.astype(np.float16),
            "bias": self.bias.astype(np.float16), "layers": layers, "made": self.made,
        }  # fmt: skip
        archive.write(path, KIND, tree)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """The player in a file; BackplayError if it is none."""
        try:
            tree: Any = archive.read(path, KIND, _MOST)
        except BackplayError as error:
            raise BackplayError(
                f"{path} is no player", expected=f"a {KIND} that this version can read",
                got=str(error)[:300], do="`backplay pommerman agent` writes one from a run.",
            ) from error  # fmt: skip
        try:
            return cls._checked(tree)
        except Exception as error:  # whatever numpy raises on hostile data
            raise BackplayError(
                f"{path} is no player", expected="the layers of a network for facts",
                got=f"{type(error).__name__}: {str(error)[:200]}",
            ) from error  # fmt: skip

    @classmethod
    def _checked(cls, tree: Any) -> Policy:
        known = checked_array(
            "known", tree["known"], np.int32, np.shape(tree["known"])[:1], low=0, high=FACTS - 1
        )
        width = len(tree["bias"])
        rows, bias = _floats(tree["rows"], len(known), width), _floats(tree["bias"], width)
        layers, inputs = [], width
        for weights, offsets in tree["layers"]:
            layers.append((_floats(weights, len(offsets), inputs), _floats(offsets, len(offsets))))
            inputs = len(offsets)
        if inputs != ACTIONS or not layers or tree["sees"] not in get_args(Sees)[1:]:
            raise ValueError(f"{inputs} actions of one who sees {tree['sees']!r}"[:200])
        return cls(
            sees=tree["sees"], known=known, rows=rows, bias=bias, layers=tuple(layers),
            made=dict(tree["made"]),
        )  # fmt: skip


def _floats(array: Any, *shape: int) -> NDArray[np.float32]:
    """Half precision as it is computed with, finite."""
    return checked_array("weights", array, np.float16, shape).astype(np.float32)


@cache
def shipped() -> Policy:
    """The agent that comes with the library."""
    return Policy.load(SHIPPED)


class PublicAgent:
    """A player by the public game's observations, as `PommermanParallel` and that game show them.

    It has the memory of one step: an observation that does not follow the last one begins anew.
    """

    def __init__(self, policy: Policy, seed: int | None = None) -> None:
        self._policy, self._streams = policy, fresh_streams(seed, 1)
        self._before: NDArray[np.int16] | None = None

    def act(self, observation: dict[str, Any], action_space: Any = None) -> int:
        """What it does, 0 to 5; whoever is dead stops."""
        row, place = row_of(observation), observation["position"]
        seat = int(row[BOARD + SIZE * place[0] + place[1]]) - AGENT
        if AGENT + seat not in observation["alive"]:
            return 0
        before = self._before
        follows = before is not None and before[STEP] + 1 == row[STEP]
        previous = before if before is not None and follows else row
        self._before = row
        return self._policy.decide(previous[None], row[None], np.array([seat]), self._streams, 0)
