"""Pieces that go around any curriculum: other starts mixed in, an end, a cut, another success.

Comes in: a curriculum, and one or two numbers. Goes out: a curriculum. They compose:

    Until(TrueStarts(Patience(Uniform(), 4.0), 0.5), at=500_000)

Does not know: what the curriculum inside does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from backplay.curricula.curriculum import (
    Curriculum,
    FloatArray,
    IntArray,
    later,
    real_number,
    whole_number,
)
from backplay.curricula.memory import Seen, as_means, chance_of_share, mean_lengths, seen
from backplay.curricula.standard import Standard, initial_state
from backplay.errors import BackplayError, ensure, show
from backplay.records import Episode, Walk

RECENT = 100  # episodes that show whether a curriculum is mastered


@dataclass(frozen=True)
class Around(Curriculum):
    """A curriculum that is another one until a subclass says otherwise."""

    inner: Curriculum
    """The curriculum it goes around."""

    def __post_init__(self) -> None:
        if isinstance(self.inner, type) or not isinstance(self.inner, Curriculum):
            raise BackplayError(
                "inner", expected="a curriculum such as Uniform()", got=show(self.inner),
                do=f"Write {type(self).__name__}(bp.Uniform(), ...).",
            )  # fmt: skip

    @property
    def frames(self) -> int:
        """The clock of the curriculum inside."""
        return int(getattr(self.inner, "frames", 0))

    @property
    def now(self) -> Curriculum:
        """The curriculum that says where episodes start: the one inside."""
        return self.inner

    @property
    def patience(self) -> float | None:
        """As of `now`."""
        return self.now.patience

    @property
    def walks(self) -> tuple[Walk, ...]:
        """As of `now`."""
        return self.now.walks

    def weights(self, demo: int, length: int) -> FloatArray:
        """As of `now`: [length + 1]."""
        return self.now.weights(demo, length)

    def demo_weights(self, lengths: ArrayLike) -> FloatArray:
        """As of `now`: [num_demos]."""
        return self.now.demo_weights(lengths)

    def sample(
        self, lengths: ArrayLike, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """As of `now`: demo [n], step [n]."""
        return self.now.sample(lengths, n, rng)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same around the next curriculum inside."""
        return replace(self, inner=self.inner.update(episodes, frames))

    def describe(self) -> str:
        return self.now.describe()


@dataclass(frozen=True)
class Patience(Around):
    """Cuts training episodes that take longer than `times` what the demonstration took, and 16."""

    times: float = 4.0
    """So many times; 4 leaves a beginner room, 1 asks for the demonstration's pace."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "times", real_number("times", self.times, at_least=1.0))

    @property
    def patience(self) -> float | None:
        """`times`."""
        return self.times


@dataclass(frozen=True)
class AtPar(Around):
    """Success inside means: as much reward as the demonstration had from the same start."""

    tolerance: float = 0.1
    """What may be missing, as a share of the demonstration's reward."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tolerance", real_number("tolerance", self.tolerance))

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same around the next curriculum inside, which is told of par instead of success."""
        least = self.tolerance
        told = [e._replace(success=e.total_reward >= e.par - least * abs(e.par)) for e in episodes]
        return super().update(told, frames)


@dataclass(frozen=True)
class Until(Around):
    """The curriculum inside until some frame; from then on the initial state only."""

    at: int = 0
    """Total frames of training from which on every episode starts in the initial state."""
    frames: int = 0
    """The clock: frames of training so far."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("at", "frames"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name)))

    @property
    def done(self) -> bool:
        """Whether only the initial state is left."""
        return self.frames >= self.at

    @property
    def now(self) -> Curriculum:
        """The one inside; once done, the initial states."""
        return Standard() if self.done else self.inner

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same around the next curriculum inside, which stands once done."""
        frames = later(self.frames, frames)
        if frames >= self.at:
            return replace(self, frames=frames)
        return replace(self, inner=self.inner.update(episodes, frames), frames=frames)


@dataclass(frozen=True)
class Waiting(Around):
    """The curriculum inside, moved by frames, changes only once what it says is mastered.

    Until then its clock stands still.
    """

    mastery: float = 0.8
    """Success of the last 100 episodes from its starts that lets it change."""
    recent: tuple[bool, ...] = ()
    """Which of these succeeded."""
    frames: int = 0
    """The clock: frames of training so far; that inside may be behind."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _on_demonstrations(self.inner)
        object.__setattr__(self, "mastery", real_number("mastery", self.mastery, at_most=1.0))
        object.__setattr__(self, "frames", whole_number("frames", self.frames))

    @property
    def mastered(self) -> bool:
        """Whether the curriculum inside may change."""
        return len(self.recent) == RECENT and sum(self.recent) >= self.mastery * RECENT

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with these results; the curriculum inside moves if it stays or is mastered."""
        frames = later(self.frames, frames)
        inside = (one for one in seen(episodes) if self._starts_at(one))
        recent = (*self.recent, *(one.success for one in inside))[-RECENT:]
        now = replace(self, recent=recent, frames=frames)
        clock = int(getattr(self.inner, "frames", 0)) + frames - self.frames
        moved = self.inner.update(episodes, clock)
        if moved.describe() == self.inner.describe():
            return replace(now, inner=moved)
        return replace(now, inner=moved, recent=()) if now.mastered else now

    def _starts_at(self, one: Seen) -> bool:
        return bool(self.inner.weights(one.demo, one.length)[one.length - one.back])

    def describe(self) -> str:
        now = sum(self.recent) / max(1, len(self.recent))
        return f"{self.inner.describe()}, until {self.mastery:.0%} succeed (now {now:.0%})"


@dataclass(frozen=True)
class TrueStarts(Around):
    """The curriculum inside, and a share of starts in the initial state."""

    share: float = 0.5
    """Of the frames or of the episodes."""
    by_frames: bool = True
    """Whether it is a share of the frames: an episode from the initial state is the longest, and a
    quarter of the episodes may be three quarters of the frames."""
    lengths: tuple[float, float] = (0.0, 0.0)
    """Mean steps of the last episodes from the initial state and of the others; 0: none yet."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _on_demonstrations(self.inner)
        object.__setattr__(self, "share", real_number("share", self.share, at_most=1.0))
        object.__setattr__(self, "lengths", as_means(self.lengths))

    @property
    def chance(self) -> float:
        """The chance of an episode to start in the initial state because of the share."""
        return chance_of_share(self.share, self.lengths) if self.by_frames else self.share

    def weights(self, demo: int, length: int) -> FloatArray:
        """Those inside with the share added: [length + 1]."""
        chance = self.chance
        return (1 - chance) * self.inner.weights(demo, length) + chance * initial_state(length)

    def sample(
        self, lengths: ArrayLike, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """`n` starts: demo [n], step [n]."""
        demo, step = self.inner.sample(lengths, n, rng)
        return demo, np.where(rng.random(n) < self.chance, 0, step)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the mean lengths of these episodes, around the next curriculum inside."""
        lengths = mean_lengths(self.lengths, episodes) if self.by_frames else self.lengths
        return replace(self, inner=self.inner.update(episodes, frames), lengths=lengths)

    def describe(self) -> str:
        of = "frames" if self.by_frames else "episodes"
        return f"{self.inner.describe()}, {self.share:.0%} of {of} at the initial state"


def _on_demonstrations(inner: Curriculum) -> None:
    ensure(
        not inner.walks, "inner", "a curriculum that starts on demonstrations",
        got=f"{type(inner).__name__}, which walks beside them",
    )  # fmt: skip
