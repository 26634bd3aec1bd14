"""Imitation in Pommerman (appendix A.9): cloning of the demonstrations, and DAgger.

Comes in: maps, a network, games in progress. Goes out: a vector env in which somebody says what he
would do in the learner's place, and a learner that does it. He is an FSMTS agent with a memory of
his own: it follows the learner's game, but not his own advice. Does not know: curricula, disks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.layout import SEATS
from backplay.envs.pommerman.players import LEARNER, player
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.sights import Sees, sight
from backplay.envs.pommerman.snapshots import check_memories, check_streams
from backplay.envs.pommerman.vector import PommermanVector
from backplay.learners import DAgger, Pairs
from backplay.learners.rollout import Rollout
from backplay.records import Start

AS_TOLD: dict[str, dict[str, Any]] = {
    "cloned": {"passes": 8, "minibatch_size": 512}, "dagger": {"passes": 1, "minibatch_size": 1024},
}  # fmt: skip
"""What differs from a preset's settings, by regime: there are few demonstrations, many answers."""
KEPT = 51_200
"""What was said lately; the authors' code keeps as much."""


class AdvisedVector(PommermanVector):
    """Games in which an agent of the opponents' name tells each learner what he would do."""

    def __init__(self, num_envs: int, *, opponents: str, simulations: int, **options: Any) -> None:
        super().__init__(num_envs, opponents=opponents, simulations=simulations, **options)
        self._adviser, self._advisers = player(opponents, simulations), Games(num_envs)
        for i in range(num_envs):
            self._advisers.begin(i, np.random.default_rng([i, 0xAD]))
        self._said: list[NDArray[np.int64]] = []

    def take_advice(self) -> NDArray[np.int64]:
        """What was said before each step since the last call, [steps, n]."""
        said, self._said = np.stack(self._said), []
        return said

    def step(self, actions: NDArray[np.int64]) -> Any:
        """One step of all games, after everybody was told what to do."""
        advisers, games = self._advisers, np.arange(self.num_envs)
        for i, seat in enumerate(self.seats):
            advisers.seat(i, [self._adviser if k == seat else LEARNER for k in range(SEATS)])
        advisers.rows[:], advisers.dones[:] = self._games.rows, 0
        advisers.advance(self._outside)  # where that leads does not matter
        self._said.append(advisers.actions[games, self.seats])
        return super().step(actions)

    def _restart(self, i: int, asked: Start | None = None) -> None:
        super()._restart(i, asked)
        self._advisers.memories[i] = 0

    def get_state(self) -> dict[str, Any]:
        """As of any vector, with what the advisers remember."""
        advisers = self._advisers
        own = {"memories": advisers.memories.copy(), "streams": advisers.streams.copy()}
        return {**super().get_state(), "advisers": own}

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from `get_state()`."""
        super().set_state(state)
        own, kinds = state["advisers"], [self._adviser.kind] * SEATS
        check_memories(own["memories"], kinds, self.num_envs)
        check_streams(own["streams"], self.num_envs)
        self._advisers.memories[:], self._advisers.streams[:] = own["memories"], own["streams"]


class Imitator(DAgger):
    """DAgger with advice for every step; without any, a clone of the demonstrations."""

    def __init__(self, *parts: Any, advised: AdvisedVector | None, **options: Any) -> None:
        super().__init__(*parts, expert=lambda _: np.empty(0, np.int64), **options)
        self._advised = advised

    def _ask_about(self, rollout: Rollout) -> None:
        """Adds what was said in the rollout; what was said long ago is forgotten."""
        if self._advised is None:
            return
        said = self._advised.take_advice().ravel()
        assert not isinstance(rollout.observations, dict)
        seen = rollout.observations.flatten(0, 1).numpy()
        observations, actions = self._known
        assert not isinstance(observations, dict)
        known = np.concatenate([observations, seen])[-KEPT:]
        self._known = known, np.concatenate([actions, said])[-KEPT:]
        self.labels += len(said)


def demonstrated(maps: Sequence[Perspective], sees: Sees) -> Pairs:
    """What the players of the maps saw and did."""
    seen, done = [], []
    for one in maps:
        rows, n = one.game.rows[: len(one)], len(one)
        previous, seeing = np.concatenate([rows[:1], rows[:-1]]), sight(sees, n)
        seeing.look(0, n, previous, rows, np.full(n, one.seat))
        seen.append(seeing.seen)
        done.append(one.game.actions[:n, one.seat].astype(np.int64))
    return Pairs(np.concatenate(seen), np.concatenate(done))
