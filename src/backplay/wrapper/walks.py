"""The states beside the demonstrations that an env holds: random walks, walked when first needed.

Comes in: demonstrations, the walks that a curriculum lists, an env to walk in. Goes out: the env in
a state of a demonstration or of a walk, and what is seen there. Does not know: who draws starts.

A walk is a recipe whose states follow from it alone: in every worker the same, whenever it walks.
So each walks only what it is asked for: the walk itself and, before it, those it set out from.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from backplay.data import trees
from backplay.demos import Demonstration
from backplay.errors import ensure
from backplay.records import Snapshot, Start, Walk
from backplay.restore import History, Replay, believed, restart_clocks
from backplay.restore.rollout import AnyEnv

_STREAM = 0x3A1C  # so that a walk's actions and the env's luck on it differ
_BLOCK = 4096  # actions drawn at once


class Origin(NamedTuple):
    """How a start hangs together with a demonstration."""

    start: Start
    """The demonstration's state that it was walked to from, or is."""
    walked: int
    """Steps walked since, at most."""


class Walks:
    """Demonstrations, and walks around them.

    Args:
        demos: demonstrations with their states.
        reseed: whether restoring gives the random streams of the env new places; if not, they are
            as recorded, and the env's luck on a walk is the demonstration's.
        fresh_clock: whether a walk begins with a fresh clock, or with the demonstration's.
    """

    def __init__(
        self,
        demos: Sequence[Demonstration],
        *,
        reseed: bool = True,
        fresh_clock: bool = False,
    ) -> None:
        self.demos = demos
        self._own = [believed(demo.restorer) for demo in demos]
        self._reseed, self._fresh_clock = reseed, fresh_clock
        self._listed: tuple[Walk, ...] = ()
        self._by_id: dict[int, Walk] = {}
        self._origins: dict[int, Origin] = {}
        # Of every walk that was walked; empty where that was before a resumption: walked anew, it
        # takes no steps that were not counted then.
        self._held: dict[int, list[Snapshot]] = {}

    @property
    def walked(self) -> list[int]:
        """The ids of the walks that were walked, among those that are kept."""
        return sorted(self._held)

    def resume(self, walked: Sequence[int]) -> None:
        """Counts these walks, of those that are kept, as walked; their states are made later."""
        self._held = {demo: [] for demo in walked if demo in self._by_id}

    def keep(self, walks: tuple[Walk, ...]) -> None:
        """From now on these are the walks; states of any others are dropped."""
        if walks == self._listed:
            return
        before, held = self._by_id, self._held
        self._by_id, self._origins, self._held = {}, {}, {}
        for walk in walks:
            self._origins[walk.demo] = self.origin(walk.start)
            self._by_id[walk.demo] = walk
            # Another curriculum may mean another walk by the same id, or one from elsewhere.
            known = walk.start.demo < len(self.demos) or walk.start.demo in self._held
            if walk.demo in held and known and before[walk.demo] == walk:
                self._held[walk.demo] = held[walk.demo]
        self._listed = walks

    def has(self, start: Start) -> bool:
        """Whether this is a state before the end of a demonstration, or of a walk that is kept."""
        if 0 <= start.demo < len(self.demos):
            return 0 <= start.step < len(self.demos[start.demo])
        walk = self._by_id.get(start.demo)
        return walk is not None and 0 <= start.step <= walk.steps

    def leading_to(self, start: Start) -> tuple[Walk, ...]:
        """The walks that lead from a demonstration to this start, in order."""
        way: list[Walk] = []
        while start.demo >= len(self.demos):
            way.append(self._by_id[start.demo])
            start = way[-1].start
        return tuple(way[::-1])

    def origin(self, start: Start) -> Origin:
        """Where on which demonstration a start comes from."""
        ensure(
            self.has(start), "This start is not known",
            f"a demonstration below {len(self.demos)}, or a walk that is listed", start,
            do="List the walk in the curriculum's `walks`, in order.",
        )  # fmt: skip
        if start.demo < len(self.demos):
            return Origin(start, 0)
        began, walked = self._origins[start.demo]
        return Origin(began, walked + start.step)

    def restore(self, env: AnyEnv, start: Start, rng: np.random.Generator | None) -> int:
        """Puts `env` into this state as `Demonstration.restore` does; the env steps it took.

        Walking counts, where it had to be walked to first.
        """
        if start.demo < len(self.demos):
            return self.demos[start.demo].restore(env, start.step, rng)
        number, step = self.origin(start).start
        taken = 0
        with self.demos[number].blamed(step):
            for walk in self._missing(start):
                counted = walk.demo not in self._held
                taken += self._walk(env, walk, number) * counted
            return taken + self._own[number].load(env, self._snapshot(start).state, rng)

    def observation(self, start: Start) -> Any:
        """A copy of what is seen in a state that was restored."""
        return trees.copy(self._snapshot(start).observation)

    def _missing(self, start: Start) -> list[Walk]:
        """The walks that must be walked before this start is held, in order."""
        return [walk for walk in self.leading_to(start) if not self._held.get(walk.demo)]

    def _snapshot(self, start: Start) -> Snapshot:
        if start.demo < len(self.demos):
            return self.demos[start.demo].snapshot(start.step)
        return self._held[start.demo][start.step]

    def _walk(self, env: AnyEnv, walk: Walk, number: int) -> int:
        """Walks, and holds the states on the way; the env steps that took.

        A step that ends an episode leads back to where the walk set out, as an env that resets
        itself would: so it goes on, and every state can be started from.
        """
        restorer = self._own[number]
        recorded = walk.start.demo < len(self.demos)
        tracked = History(env)  # some restorers save the actions that led to a state
        # A replay goes the same way again only if nothing was moved on it.
        moves = self._reseed and not isinstance(restorer, Replay)
        rng = np.random.default_rng([walk.seed, _STREAM]) if moves else None
        began = self._snapshot(walk.start)
        first = self.demos[number].restorer if recorded else restorer
        held, ended, taken = [began], True, 0
        for action in _actions(env.action_space, walk):
            if ended:  # at first, and after every step that ended an episode
                taken += first.load(tracked, began.state, rng)
                if self._fresh_clock:
                    restart_clocks(env)
            observation, _, terminated, truncated, _ = tracked.step(action)
            taken += 1
            ended = bool(terminated or truncated)
            here = None if ended else restorer.save(tracked)
            held.append(began if ended else Snapshot(here, trees.copy(observation)))
        self._held[walk.demo] = held
        return taken


def _actions(space: spaces.Space[Any], walk: Walk) -> Iterator[Any]:
    """The random actions of a walk."""
    if isinstance(space, spaces.Discrete):
        rng = np.random.default_rng(walk.seed)
        for first in range(0, walk.steps, _BLOCK):  # a few at a time: a file may say any number
            count = min(_BLOCK, walk.steps - first)
            yield from rng.integers(space.n, size=count) + space.start
        return
    own = copy.deepcopy(space)  # the env's own space goes on as if nobody had walked
    own.seed(walk.seed)
    for _ in range(walk.steps):
        yield own.sample()
