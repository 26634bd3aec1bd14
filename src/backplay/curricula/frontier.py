"""Frontier: starts where success falls off.

Comes in: what came of episodes. Goes out: starts on each demonstration where the policy begins to
fail, and a few elsewhere. Needs neither a budget nor windows, nor the lengths beforehand.

Success falls, on the whole, with the steps from a start to the demonstration's end. What is known
of it is the best falling curve through the last episodes (isotonic regression). The chance of a
place is how much the curve falls there: draw a level between 0 and 1, and find where success
crosses it. Half of the episodes start there, where there is most to learn. The others start there
or beyond, up to twice as far from the end: from one state alone a policy learns one step at a time,
and may be stuck at the next. Where there are many demonstrations the others bring that variety, and
all starts lie where success falls.
What is left of success at the beginning is the share of starts there. Beyond the farthest place
that was tried the rest is spread as far again, so that a frontier is found by doubling and halving,
not step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from backplay.curricula.curriculum import (
    Curriculum,
    FloatArray,
    IntArray,
    as_length,
    as_lengths,
    later,
    real_number,
    whole_number,
)
from backplay.curricula.memory import as_means, chance_of_share, mean_lengths, seen
from backplay.errors import BackplayError, show
from backplay.records import Episode

FIRST = 4  # steps from the end within which a demonstration that nothing is known of begins
MEMORY = 64  # episodes to remember, divided among the demonstrations
LEAST = 16  # episodes of each demonstration to remember, however many demonstrations there are
ANYWHERE = 0.1  # share of the starts anywhere on the demonstration
OUTER = 0.5  # share of the starts that may lie beyond where success falls,
REACH = 1.0  # so far at most, in parts of the way from there to the end
CUT = 2.0  # times what the demonstration took from the same start, where there is a prize
LOST = 0.5  # that share while nothing succeeds near the end
LONG = 1_000  # steps of a demonstration beyond which nothing is kept between two draws
REST = 0.1  # what the weight of a mastered demonstration keeps of that of an unmastered one


@dataclass(frozen=True)
class FrontierState:
    """What a frontier has seen so far."""

    frames: int = 0
    """The clock: frames of training so far."""
    episodes: tuple[tuple[int, ...], ...] = ()
    """Of each demonstration the last episodes, oldest first: the steps from the start to the end,
    negative where the episode failed."""
    lengths: tuple[float, float] = (0.0, 0.0)
    """Mean steps of the last episodes from the initial state and of the others; 0: none yet."""
    costs: bool = False
    """Whether even each of the last steps of a demonstration costs: no prize, no lost ending."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", whole_number("frames", self.frames))
        object.__setattr__(self, "lengths", as_means(self.lengths))
        for back in (back for row in self.episodes for back in row):
            if isinstance(back, bool) or not isinstance(back, int) or back == 0:
                raise BackplayError(
                    "episodes", expected="whole numbers of steps, none of them 0", got=show(back),
                    do="Leave it to update().",
                )  # fmt: skip


@dataclass(frozen=True)
class Frontier(Curriculum):
    """The default: starts where success falls off."""

    start_share: float = 0.1
    """Share of the frames in episodes from the initial state while it is not reached yet, and at
    most of the episodes."""
    cut: float | None = None
    """Training episodes end after so many times what the demonstration took from the same start,
    and 16 steps; None: 1 where all there is are costs, since a late failure has taught what it
    could, else 2. A large number never cuts."""
    state: FrontierState = field(default_factory=FrontierState)
    """What it has seen."""

    def __post_init__(self) -> None:
        share = real_number("start_share", self.start_share, at_most=1.0)
        object.__setattr__(self, "start_share", share)
        if self.cut is not None:
            object.__setattr__(self, "cut", real_number("cut", self.cut, at_least=1.0))

    @property
    def frames(self) -> int:
        """The clock: frames of training so far."""
        return self.state.frames

    @property
    def patience(self) -> float | None:
        """How long an episode may take now, see `Curriculum.patience`."""
        if self.cut is not None:
            return self.cut
        return 1.0 if self.state.costs else CUT

    @property
    def start_chance(self) -> float:
        """The chance of an episode to start in the initial state, wherever success falls."""
        return min(self.start_share, chance_of_share(self.start_share, self.state.lengths))

    def standing_at(self, back: int) -> Self:
        """The same where the first demonstration succeeds up to `back` - 1 steps and no farther."""
        row = (*[back - 1] * MEMORY, *[-back] * MEMORY) if back > 1 else ()
        return replace(self, state=replace(self.state, episodes=(row, *self.state.episodes[1:])))

    def seen_of(self, demo: int) -> tuple[int, ...]:
        """The last episodes of a demonstration, see `FrontierState`."""
        return self.state.episodes[demo] if demo < len(self.state.episodes) else ()

    def weights(self, demo: int, length: int) -> FloatArray:
        """By the fall of success, with the shares of other starts: [length + 1]."""
        found: FloatArray = self._weights(demo, as_length(length))[0]
        return found.copy()

    def _weights(self, demo: int, length: int) -> FloatArray:
        """The weights of states, and their cumulative sums: [2, length + 1]."""
        demos = max(1, len(self.state.episodes))
        return _weights(self.seen_of(demo), length, self.start_chance, REACH / demos)

    def demo_weights(self, lengths: ArrayLike) -> FloatArray:
        """Demonstrations whose initial state is mastered have less: [num_demos]."""
        known = enumerate(as_lengths(lengths).tolist())
        left = np.array([1.0 + REST - mastered(self.seen_of(k), length) for k, length in known])
        weights: FloatArray = left / left.sum()
        return weights

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Steps drawn from `weights`: step [n]."""
        level, step = rng.random(len(demo)), np.empty(len(demo), np.int64)
        for k, (one, long) in enumerate(zip(demo.tolist(), length.tolist(), strict=True)):
            upto = self._weights(one, long)[1]
            step[k] = np.searchsorted(upto, level[k] * upto[-1], side="right")
        return np.minimum(step, length - 1)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same that remembers these episodes, and forgets as many old ones."""
        now, rows = self.state, [list(row) for row in self.state.episodes]
        for one in seen(episodes):
            rows.extend([] for _ in range(one.demo + 1 - len(rows)))
            rows[one.demo].append(one.back if one.success else -one.back)
        keep = max(LEAST, MEMORY // max(1, len(rows)))
        kept = tuple(tuple(row[-keep:]) for row in rows)
        costs = now.costs or last_steps_cost(episodes)
        frames, lengths = later(now.frames, frames), mean_lengths(now.lengths, episodes)
        return replace(self, state=FrontierState(frames, kept, lengths, costs))

    def describe(self) -> str:
        """One short line, e.g. "half succeed from 12 to 40 steps back"."""
        halves = sorted(half(row) for row in self.state.episodes if row) or [0]
        ends = f"{halves[0]}" if halves[0] == halves[-1] else f"{halves[0]} to {halves[-1]}"
        return f"half succeed from {ends} {'step' if ends == '1' else 'steps'} back"


def last_steps_cost(episodes: Sequence[Episode]) -> bool:
    """Whether a demonstration earns less than nothing at its end, and less from farther back.

    A lost ending, one penalty at the last step, is the same from everywhere.
    """
    par = {
        (one.start.demo, one.back): one.par
        for one in episodes
        if one.start is not None and one.par < 0 and 0 < one.back <= FIRST
    }
    return any(
        par.get((demo, farther), least) < least
        for (demo, back), least in par.items()
        for farther in range(back + 1, FIRST + 1)
    )


def success_curve(past: Sequence[int]) -> list[tuple[int, int, float]]:
    """The best falling curve through episodes: (nearest, farthest, success) of each level part.

    Pool adjacent violators; half a success and half a failure more in each part keep it from
    certainty.
    """
    parts: list[list[int]] = []  # nearest, farthest, successes, tries
    for back in sorted({abs(back) for back in past}):
        wins, losses = past.count(back), past.count(-back)
        parts.append([back, back, wins, wins + losses])
        while len(parts) > 1 and _level(parts[-2]) <= _level(parts[-1]):
            _, farthest, wins, tries = parts.pop()
            parts[-1][1:] = [farthest, parts[-1][2] + wins, parts[-1][3] + tries]
    return [(part[0], part[1], _level(part)) for part in parts]


def _level(part: Sequence[int]) -> float:
    return (part[2] + 0.5) / (part[3] + 1.0)


def _weights(past: tuple[int, ...], length: int, start_chance: float, reach: float) -> FloatArray:
    """The weights of states after these episodes, and their cumulative sums: [2, length + 1].

    Those of long demonstrations are not kept: they would take gigabytes.
    """
    weighed = _kept if length <= LONG else _weighed
    return weighed(past, length, start_chance, reach)


def _weighed(past: tuple[int, ...], length: int, start_chance: float, reach: float) -> FloatArray:
    near = [back > 0 for back in past if abs(back) <= FIRST]
    anywhere = LOST if near and not any(near) else ANYWHERE
    fall = falls(past, length)
    by_back = (1.0 - anywhere) * ((1.0 - OUTER) * fall + OUTER * beyond(fall, reach))
    by_back[1:] += anywhere / length
    by_back *= 1.0 - start_chance
    by_back[length] += start_chance
    return np.stack([by_back[::-1], np.cumsum(by_back[::-1])])


_kept = lru_cache(maxsize=4096)(_weighed)


def falls(past: Sequence[int], length: int) -> FloatArray:
    """How much success falls at each number of steps back: [length + 1], sums to 1.

    The end itself is a success. Between two parts of the curve the fall is even; beyond what was
    tried the rest is spread over as many steps again. What lies beyond the initial state is there.
    """
    now, edge = 1.0, 0
    farthest = max((abs(back) for back in past), default=0)
    by_back = np.zeros(max(length, 2 * farthest, farthest + FIRST) + 1)
    for nearest, far, level in success_curve(past):
        by_back[edge + 1 : nearest + 1] += (now - level) / (nearest - edge)
        now, edge = level, far
    if edge < length:
        beyond = max(2 * edge, edge + FIRST)
        by_back[edge + 1 : beyond + 1] += now / (beyond - edge)
    else:
        by_back[length] += now
    by_back[length] += by_back[length + 1 :].sum()
    return by_back[: length + 1]


def beyond(by_back: FloatArray, reach: float) -> FloatArray:
    """Each chance spread evenly from its place to `1 + reach` times as far from the end.

    What lies beyond the initial state is there: [length + 1].
    """
    places = np.arange(len(by_back))
    extra = np.floor(places * reach + 1e-9).astype(np.int64)
    each, change = by_back / (extra + 1), np.zeros(len(by_back) + 1)
    np.add.at(change, places, each)
    np.subtract.at(change, np.minimum(places + extra + 1, len(by_back)), each)
    spread: FloatArray = np.cumsum(change)[: len(by_back)].clip(0.0)
    spread[-1] = max(0.0, by_back.sum() - spread[:-1].sum())
    return spread


@lru_cache(maxsize=4096)
def mastered(past: tuple[int, ...], length: int) -> float:
    """Success from the initial state, with one failure more: none is known to be mastered."""
    wins, losses = (sum(side * back >= length for back in past) for side in (1, -1))
    return wins / (wins + losses + 1.0)


def half(past: Sequence[int]) -> int:
    """The most steps back from which half of the episodes succeed, as far as was tried."""
    return max((far for _, far, level in success_curve(past) if level >= 0.5), default=0)
