"""Reverse curriculum generation (Florensa et al. 2017), with the paper's numbers for the Maze.

Comes in: the lengths of demonstrations; what came of episodes. Goes out: a set of starts, drawn
anew every round from random walks around the starts that are neither too easy nor too hard. Of a
demonstration it uses one state alone, the last before the end. Does not know: what a state is. It
lists walks as recipes, and whoever holds the states walks them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from backplay.curricula.curriculum import (
    Curriculum,
    FloatArray,
    IntArray,
    as_lengths,
    later,
    real_number,
    whole_number,
)
from backplay.curricula.standard import initial_state
from backplay.curricula.walked import in_turn, needed, origins, some_of
from backplay.errors import BackplayError, ensure, show
from backplay.records import Episode, Start, Walk

# Whole numbers among the fields, and the least that each may be.
WHOLE = {
    "seed": 0, "round_frames": 1, "new_states": 1, "walk_steps": 1, "new_starts": 1,
    "old_starts": 0, "new_ends": 1, "archive_size": 1, "frames": 0, "round": 0,
}  # fmt: skip


class Tally(NamedTuple):
    """A start of the present set, and what came of its episodes in this round."""

    start: Start
    tries: int = 0
    wins: int = 0


Rates = Sequence[tuple[Start, float]]
"""Starts that were tried, and their success."""


@dataclass(frozen=True)
class ReverseCurriculum(Curriculum):
    """Starts that grow outwards from the goal by random walks; `begin` makes the first set.

    When a round is over, the starts that succeeded neither too rarely nor too often survive and
    go into an archive. Walks set out from the survivors, and the next set is drawn from survivors,
    walks and archive. A start that was not tried does not survive. Where none survives, walks set
    out from the starts that were too easy, or, if more were too hard, from the archive.
    """

    demo_lengths: tuple[int, ...]
    """Length of each demonstration."""
    seed: int
    """Of all that a round draws."""
    round_frames: int = 102_400
    """Frames of one round; the paper's epoch."""
    new_states: int = 10_000
    """States that the walks of one round visit in all."""
    walk_steps: int = 50
    """Steps of one walk."""
    new_starts: int = 200
    """Starts of the set that are drawn from survivors and new walks."""
    old_starts: int = 100
    """Starts of the set that are drawn from the archive, at most."""
    new_ends: int = 1
    """Demonstrations whose last state before the end a round adds; they are drawn at random."""
    lowest: float = 0.1
    """A start that succeeds less often is too hard."""
    highest: float = 0.9
    """A start that succeeds more often is too easy."""
    evenly: bool = False
    """Whether every demonstration has an equal part of walks, set and archive, as if each had its
    own curriculum; then all ends are in the archive from the first round on, and walks that set out
    from what was too easy rather set out from what was new. If not, all share one set, as in the
    paper's code, and demonstrations with many survivors crowd out the others."""
    archive_size: int = 2_000
    """Most starts that the archive keeps; those that survived longest ago go first. With `evenly`
    every demonstration has its part of them, and its end beside it."""
    until: int | None = None
    """From this many frames on, only the initial states; None: never."""
    frames: int = 0
    """The clock: frames of training so far."""
    round: int = 0
    """The present round."""
    starts: tuple[Tally, ...] = ()
    """The present set."""
    archive: tuple[Start, ...] = ()
    """Starts that survived some round, the latest last."""
    walks: tuple[Walk, ...] = ()
    """This round's walks, and all that set and archive still need, by id."""

    @classmethod
    def begin(cls, demo_lengths: ArrayLike, *, seed: int = 0, **settings: Any) -> Self:
        """The curriculum at the beginning of training, its first round drawn.

        Args:
            demo_lengths: length of each demonstration, [num_demos].
            seed: of all that rounds draw.
            settings: fields such as `round_frames` or `until`, where the defaults do not fit.
        """
        until = settings.pop("until", None)
        lengths = tuple(as_lengths(demo_lengths).tolist())
        blank = cls(lengths, seed, until=0, **settings)  # with initial states only, no set is fine
        return replace(blank, until=until, **blank._drawn(0, []))

    def __post_init__(self) -> None:
        object.__setattr__(self, "demo_lengths", tuple(as_lengths(self.demo_lengths).tolist()))
        for name, least in WHOLE.items():
            value = whole_number(name, getattr(self, name), at_least=least)
            object.__setattr__(self, name, value)
        if self.until is not None:
            object.__setattr__(self, "until", whole_number("until", self.until))
        highest = real_number("highest", self.highest, at_most=1.0)
        object.__setattr__(self, "highest", highest)
        object.__setattr__(self, "lowest", real_number("lowest", self.lowest, at_most=highest))
        ensure(isinstance(self.evenly, bool), "evenly", "True or False", self.evenly)
        problem = _problem(self)
        ensure(
            not problem, "ReverseCurriculum", "starts and walks as update() leaves them",
            got=problem, do="Use ReverseCurriculum.begin([len(demo) for demo in demos]).",
        )  # fmt: skip

    @property
    def done(self) -> bool:
        """Whether only the initial states are left."""
        return self.until is not None and self.frames >= self.until

    def demo_weights(self, lengths: ArrayLike) -> FloatArray:
        """Share of the starts on each demonstration: [num_demos]; the rest lies on walks."""
        num_demos = len(self._fitting(lengths))
        if self.done:
            return np.full(num_demos, 1.0 / num_demos)
        return np.array([len(self._steps_on(demo)) for demo in range(num_demos)]) / len(self.starts)

    def weights(self, demo: int, length: int) -> FloatArray:
        """Share of each state among the starts on this demonstration: [length + 1].

        Where none lies, the last state before the end: the one that a round may add.
        """
        lengths = [*self.demo_lengths[:demo], length, *self.demo_lengths[demo + 1 :]]
        self._fitting(lengths)
        if self.done:
            return initial_state(length)
        steps = self._steps_on(demo) or [length - 1]
        return np.bincount(steps, minlength=length + 1) / len(steps)

    def sample(
        self, lengths: ArrayLike, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """`n` starts of the set: demo [n], which may be the id of a walk, and step [n]."""
        num_demos = len(self._fitting(lengths))
        if self.done:
            return rng.integers(num_demos, size=n), np.zeros(n, dtype=np.int64)
        drawn = [self.starts[i].start for i in rng.integers(len(self.starts), size=n)]
        demo, step = np.array(drawn, dtype=np.int64).reshape(n, 2).T
        return demo, step

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with these episodes counted; if a round is over, with the next set."""
        frames = later(self.frames, frames)
        if self.until is not None and frames >= self.until:
            return replace(self, frames=frames, starts=(), archive=(), walks=())
        starts = _counted(self.starts, episodes)
        number = frames // self.round_frames
        if number <= self.round:
            return replace(self, frames=frames, starts=starts)
        rates = [(tally.start, tally.wins / tally.tries) for tally in starts if tally.tries]
        return replace(self, frames=frames, round=number, **self._drawn(number, rates))

    def describe(self) -> str:
        """One short line, e.g. "round 12: 300 starts, 2,000 in the archive"."""
        if self.done:
            return "initial state"
        return (
            f"round {self.round}: {len(self.starts)} starts, {len(self.archive):,} in the archive"
        )

    def _drawn(self, number: int, rates: Rates) -> dict[str, Any]:
        """Set, archive and walks of round `number`, after starts that succeeded at these rates."""
        rng = np.random.default_rng([self.seed, number])
        demos = range(len(self.demo_lengths)) if not number else ()
        if not self.evenly:
            demos = rng.integers(len(self.demo_lengths), size=self.new_ends).tolist()
        ends = [Start(demo, self.demo_lengths[demo] - 1) for demo in demos]
        survivors, _ = self._judged(rates)
        sources = list(dict.fromkeys([*survivors, *ends]))
        walks = self._new_walks(number, self._set_outs(sources, rates), rng)
        visited = (Start(w.demo, 1 + step) for w in walks for step in range(w.steps))
        came_from = origins([*self.walks, *walks])
        some = partial(in_turn, came_from) if self.evenly else some_of
        chosen = some([*sources, *visited], self.new_starts, rng)
        again = set(sources)
        archive = [*(start for start in self.archive if start not in again), *sources]
        archive = self._latest(archive, came_from)
        taken = set(chosen)
        old = some([start for start in archive if start not in taken], self.old_starts, rng)
        return {
            "starts": tuple(Tally(start) for start in (*chosen, *old)),
            "archive": tuple(archive),
            "walks": needed([*self.walks, *walks], walks, (*archive, *chosen, *old)),
        }

    def _latest(self, archive: list[Start], came_from: Mapping[int, int]) -> list[Start]:
        """What the archive keeps: of each demonstration as many, and every end, if `evenly`."""
        if not self.evenly:
            return archive[-self.archive_size :]
        each = max(1, self.archive_size // len(self.demo_lengths))
        kept: list[Start] = []
        held: Counter[int] = Counter()
        for start in reversed(archive):
            demo = came_from.get(start.demo, start.demo)
            held[demo] += 1
            if held[demo] <= each or start == Start(demo, self.demo_lengths[demo] - 1):
                kept.append(start)
        return kept[::-1]

    def _judged(self, rates: Rates) -> tuple[list[Start], list[Start] | None]:
        """The survivors, and those too easy; None for these if more were too hard."""
        easy = [start for start, rate in rates if rate > self.highest]
        hard = [start for start, rate in rates if rate < self.lowest]
        good = [start for start, rate in rates if self.lowest <= rate <= self.highest]
        return good, easy if len(easy) >= len(hard) else None

    def _set_outs(self, sources: list[Start], rates: Rates) -> list[list[Start]]:
        """Where walks set out: one list for all demonstrations, or one for each.

        Without survivors, from what was too easy, or from the archive if more were too hard.
        """
        if not self.evenly:
            survivors, easy = self._judged(rates)
            return [sources if survivors else [*sources, *(self.archive if easy is None else easy)]]
        came_from, count = origins(self.walks), len(self.demo_lengths)
        own: list[list[tuple[Start, float]]] = [[] for _ in range(count)]
        for start, rate in rates:
            own[came_from.get(start.demo, start.demo)].append((start, rate))
        kept: list[list[Start]] = [[] for _ in range(count)]
        for start in (*self.archive, *([] if self.archive else sources)):
            kept[came_from.get(start.demo, start.demo)].append(start)
        found = []
        archived = set(self.archive)
        for demo in range(count):
            survivors, easy = self._judged(own[demo])
            new = [start for start in easy or () if start not in archived]
            end = Start(demo, self.demo_lengths[demo] - 1)
            found.append(survivors or new or easy or kept[demo] or [end])
        return found

    def _new_walks(
        self, number: int, groups: list[list[Start]], rng: np.random.Generator
    ) -> list[Walk]:
        """Walks of round `number`: each sets out from a source or from a walk of its group before.

        Groups have turns.
        """
        count = -(-self.new_states // self.walk_steps)
        first = len(self.demo_lengths) + number * count  # so no round reuses an id
        walks: list[Walk] = []
        turns = [0] * count
        if self.evenly:
            orders = [rng.permutation(len(groups)) for _ in range(-(-count // len(groups)))]
            turns = np.concatenate(orders)[:count].tolist()
        before: list[list[int]] = [[] for _ in groups]
        for number_of_walk, turn in enumerate(turns, first):
            sources, own = groups[turn], before[turn]
            pick = int(rng.integers(len(sources) + len(own) * self.walk_steps))
            walk, step = divmod(pick - len(sources), self.walk_steps)
            start = sources[pick] if walk < 0 else Start(own[walk], 1 + step)
            walks.append(Walk(number_of_walk, start, self.walk_steps, int(rng.integers(2**31))))
            own.append(number_of_walk)
        return walks

    def _steps_on(self, demo: int) -> list[int]:
        """The steps of the starts that lie on a demonstration."""
        return [tally.start.step for tally in self.starts if tally.start.demo == demo]

    def _fitting(self, lengths: ArrayLike) -> IntArray:
        """The lengths of demonstrations, refused unless they are those it was begun with."""
        given = as_lengths(lengths)
        if not np.array_equal(given, self.demo_lengths):
            raise BackplayError(
                "lengths of demonstrations", expected=show(self.demo_lengths), got=show(given),
                do="Use the demonstrations that the curriculum was begun with, in their order.",
            )  # fmt: skip
        return given


def _counted(starts: Sequence[Tally], episodes: Sequence[Episode]) -> tuple[Tally, ...]:
    """The set with these episodes added; those from elsewhere do not count."""
    results: dict[Start | None, list[bool]] = {}
    for episode in episodes:
        results.setdefault(episode.start, []).append(bool(episode.success))
    none: list[bool] = []
    found = ((tally, results.get(tally.start, none)) for tally in starts)
    return tuple(Tally(t.start, t.tries + len(new), t.wins + sum(new)) for t, new in found)


def _problem(curriculum: ReverseCurriculum) -> str | None:
    """What is wrong with starts, archive and walks, or None."""
    last = {demo: length - 1 for demo, length in enumerate(curriculum.demo_lengths)}
    latest = len(last) - 1
    for walk in curriculum.walks:
        if walk.demo <= latest or not 0 <= walk.start.step <= last.get(walk.start.demo, -1):
            return f"a walk out of order or from nowhere, {show(walk)}"
        if walk.steps < 1 or walk.seed < 0:
            return f"a walk that cannot be walked, {show(walk)}"
        last[walk.demo], latest = walk.steps, walk.demo
    for start in (*curriculum.archive, *(tally.start for tally in curriculum.starts)):
        if not 0 <= start.step <= last.get(start.demo, -1):
            return f"a start that no demonstration and no walk has, {show(start)}"
    for tally in curriculum.starts:
        if not 0 <= tally.wins <= tally.tries:
            return f"a start with other wins than tries, {show(tally)}"
    return None if curriculum.starts or curriculum.done else "no starts"
