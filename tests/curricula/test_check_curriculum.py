"""check_curriculum: every rule is broken once on purpose, and named."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pytest

from backplay.curricula import Backplay, Curriculum, Standard, Uniform, check_curriculum
from backplay.curricula.check import _surprise
from backplay.errors import BackplayError
from backplay.records import Episode

CALLS = itertools.count()


@dataclass(frozen=True)
class Good(Curriculum):
    """A sound adaptive curriculum; the broken ones differ from it in one rule each."""

    frames: int = 0
    wins: int = 0

    def weights(self, demo: int, length: int) -> np.ndarray:
        weights = np.zeros(length + 1)
        weights[max(0, length - 1 - self.wins) : length] = 1.0
        return weights / weights.sum()

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        wins = sum(episode.success for episode in episodes)
        return replace(self, frames=frames, wins=self.wins + wins)


class WrongShape(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        return Good.weights(self, demo, length)[:-1]


class AList(Good):
    def weights(self, demo: int, length: int) -> Any:
        return Good.weights(self, demo, length).tolist()


class WrongType(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        return Good.weights(self, demo, length).astype(np.float32)


class Unnormalised(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        return Good.weights(self, demo, length) * 0.99


class Negative(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        weights = Good.weights(self, demo, length)
        weights[0] -= 0.1
        weights[-2] += 0.1
        return weights if length > 2 else Good.weights(self, demo, length)


class NotANumber(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        return Good.weights(self, demo, length) * np.nan


class AtTheEnd(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        return np.full(length + 1, 1 / (length + 1))


class Moody(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        curriculum = Standard() if next(CALLS) % 2 else Uniform()
        return curriculum.weights(demo, length)


class Sharing(Good):
    CACHE: dict[int, np.ndarray] = {}  # noqa: RUF012

    def weights(self, demo: int, length: int) -> np.ndarray:
        return self.CACHE.setdefault(length, Uniform().weights(demo, length))


class Raising(Good):
    def weights(self, demo: int, length: int) -> np.ndarray:
        return np.full(length + 1, 1 / (length - 1))


class BadLater(Good):
    """Sound at first, broken once the agent has won."""

    def weights(self, demo: int, length: int) -> np.ndarray:
        return Good.weights(self, demo, length) * (1.0 if self.wins == 0 else 2.0)


class BadDemoWeights(Good):
    def demo_weights(self, lengths: Any) -> np.ndarray:
        return np.ones(len(lengths))


class SampleOutOfRange(Good):
    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        demo = rng.integers(len(lengths), size=n)
        return demo, np.asarray(lengths)[demo]


class SampleNoSuchDemo(Good):
    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        return np.full(n, len(lengths)), np.zeros(n, dtype=np.int64)


class SampleWrongType(Good):
    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        demo, step = Good.sample(self, lengths, n, rng)
        return demo, step.astype(np.float64)


class SampleTooFew(Good):
    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        return Good.sample(self, lengths, n - 1, rng)


class SampleElsewhere(Good):
    """Draws a state that has no weight."""

    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        demo, step = Good.sample(self, lengths, n, rng)
        return demo, np.maximum(step - 1, 0)


class SampleRarelyElsewhere(Good):
    """Draws a state that has no weight so rarely that no statistic would notice."""

    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        demo, step = Good.sample(self, lengths, n, rng)
        return demo, np.where(rng.random(n) < 0.0005, 0, step)


@dataclass(frozen=True)
class SampleSkewed(Uniform):
    """Draws the right states a little too often near the beginning."""

    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        demo, step = Uniform.sample(self, lengths, n, rng)
        return demo, np.where(rng.random(n) < 0.05, 0, step)


class SampleOwnDice(Good):
    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        return Good.sample(self, lengths, n, np.random.default_rng(next(CALLS)))


class UpdatesToNone(Good):
    def update(self, episodes: Sequence[Episode], frames: int) -> Any:
        return None


class UpdatesToAnother(Good):
    def update(self, episodes: Sequence[Episode], frames: int) -> Any:
        return Standard()


class CountsUp(Good):
    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        return replace(self, frames=self.frames + frames)


class NeedsEpisodes(Good):
    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        wins = sum(e.success for e in episodes) // len(episodes)
        return replace(self, frames=frames, wins=wins)


class NeedsStarts(Good):
    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        assert sum(e.start.step for e in episodes) >= 0
        return self


@dataclass
class InPlace(Curriculum):
    frames: int = 0

    def weights(self, demo: int, length: int) -> np.ndarray:
        return Standard().weights(demo, length)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        self.frames = frames
        return self


class PlainInPlace(Curriculum):
    """Not a dataclass: only its weights show that it changed."""

    def __init__(self) -> None:
        self.wins = 0

    def weights(self, demo: int, length: int) -> np.ndarray:
        return Good(wins=self.wins).weights(demo, length)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        self.wins += len(episodes)
        return self


@dataclass(frozen=True, eq=False)
class Incomparable(Curriculum):
    frames: int = 0
    weights = Good.weights
    update = Good.update


@dataclass(frozen=True)
class Unhashable(Good):
    seen: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class HashesById(Good):
    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True)
class HoldsAnObject(Good):
    thing: object = Ellipsis


@dataclass(frozen=True)
class Forgetful(Good):
    hidden: int = field(default=0, init=False)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        after = replace(self, frames=frames)
        object.__setattr__(after, "hidden", 1)
        return after


class Structural:
    """No inheritance, and so neither sample nor demo_weights."""

    weights = Good.weights
    update = Good.update


BROKEN = [
    (Standard, "it is a value"),
    (Structural(), "it has a method demo_weights.*Inherit from backplay.Curriculum"),
    (WrongShape(), r"weights\(0, 1\) has the right shape: expected a numpy array \[2\]"),
    (AList(), "has the right shape"),
    (WrongType(), r"is float64: expected float64\[2\], got float32\[2\]"),
    (Unnormalised(), "sums to 1: expected 1.0, got 0.99"),
    (Negative(), "is not negative"),
    (NotANumber(), "is not negative"),
    (AtTheEnd(), "is 0 at the end"),
    (Moody(), "is deterministic"),
    (Sharing(), "is deterministic.*return a new array"),
    (Raising(), r"weights\(0, 1\) works.*ZeroDivisionError"),
    (BadLater(), "sums to 1: expected 1.0, got 2.0"),
    (BadDemoWeights(), "demo_weights.*sums to 1"),
    (SampleOutOfRange(), "sample.*in range.*0 <= step < lengths"),
    (SampleNoSuchDemo(), "sample.*in range.*demo in 0..4"),
    (SampleWrongType(), r"returns step \[n\].*float64"),
    (SampleTooFew(), r"returns demo \[n\]"),
    (SampleElsewhere(), "sample agrees with weights.*in 0.0000 of the starts"),
    (SampleRarelyElsewhere(), "sample agrees with weights.*step 0 in 0.0000 of the starts"),
    (SampleSkewed(), "sample agrees with weights.*step 0"),
    (SampleOwnDice(), "depends on rng alone"),
    (UpdatesToNone(), "update returns the next curriculum"),
    (UpdatesToAnother(), "update returns the next curriculum"),
    (CountsUp(frames=1), "frames is the total so far"),
    (NeedsEpisodes(), r"update\(\[\], 0\) works.*ZeroDivisionError"),
    (NeedsStarts(), r"update\(episodes, 0\) works.*AttributeError"),
    (InPlace(), "update leaves the old value unchanged"),
    (PlainInPlace(), "update leaves the old value unchanged"),
    (Incomparable(), "equal values are equal"),
    (Unhashable(), "hash works.*unhashable"),
    (HashesById(), "equal values hash alike"),
    (HoldsAnObject(), "JSON works"),
    (Forgetful(), "it survives JSON"),
]


@pytest.mark.parametrize(("curriculum", "rule"), BROKEN, ids=lambda value: type(value).__name__)
def test_a_broken_curriculum_is_named(curriculum: Any, rule: str) -> None:
    with pytest.raises(BackplayError, match=rule) as caught:
        check_curriculum(curriculum)
    assert str(caught.value).startswith("curriculum rule broken: ")
    assert caught.value.do


@pytest.mark.parametrize(
    "curriculum", [Good(), Good(frames=10**6), Good(wins=3), Backplay.stretch(10**6)]
)
def test_a_sound_curriculum_passes(curriculum: Curriculum) -> None:
    check_curriculum(curriculum)
    check_curriculum(curriculum, [9], frames=(5, 5), draws=100, seed=3)


@pytest.mark.parametrize("seed", range(20))
def test_a_sound_sample_is_not_accused(seed: int) -> None:
    check_curriculum(Uniform(), frames=(), seed=seed)


@pytest.mark.parametrize(
    ("observed", "expected", "surprising"),
    [
        ([4_999, 1], [4_999.99, 0.01], False),  # once in a hundred times
        ([4_990, 10], [4_999.99, 0.01], True),
        ([4_970, 15, 15], [4_998, 1, 1], True),
        ([4_998, 0, 2], [4_998, 1, 1], False),
        ([2_500, 2_500], [2_450, 2_550], False),
        ([2_500, 2_500], [2_000, 3_000], True),
        ([3, 1], [2, 2], False),
    ],
)
def test_counts_surprise_when_chance_does_not_explain_them(
    observed: list[int], expected: list[float], surprising: bool
) -> None:
    assert (_surprise(np.array(observed), np.array(expected)) > 6.0) == surprising
