"""check_curriculum: every rule is broken once on purpose, and named."""

import itertools
from collections.abc import Callable, Sequence
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


def but(**methods: Any) -> Good:
    """A curriculum that differs from Good in these methods."""
    return type("Broken", (Good,), methods)()


def weighing(change: Callable[..., Any]) -> Good:
    """One whose weights are changed; `change` is told weights and length."""
    return but(weights=lambda self, demo, t: change(Good.weights(self, demo, t), t))


def drawing(change: Callable[..., Any]) -> Good:
    """One whose draws are changed; `change` is told demo and step [n], the lengths, and rng."""
    return but(
        sample=lambda self, lengths, n, rng: change(
            *Good.sample(self, lengths, n, rng), np.asarray(lengths), rng
        )
    )


@dataclass(frozen=True)
class SampleSkewed(Uniform):
    """Draws the right states a little too often near the beginning."""

    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        demo, step = Uniform.sample(self, lengths, n, rng)
        return demo, np.where(rng.random(n) < 0.05, 0, step)


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


def with_own_dice(self: Good, lengths: Any, n: int, rng: np.random.Generator) -> Any:
    return Good.sample(self, lengths, n, np.random.default_rng(next(CALLS)))


KEPT: dict[int, np.ndarray] = {}
STANDARD, UNIFORM = Standard().weights, Uniform().weights
BROKEN = [
    (Standard, "it is a value"),
    (Structural(), "it has a method demo_weights.*Inherit from backplay.Curriculum"),
    (
        weighing(lambda w, t: w[:-1]),
        r"weights\(0, 1\) has the right shape: expected a numpy array \[2\]",
    ),
    (weighing(lambda w, t: w.tolist()), "has the right shape"),
    (weighing(lambda w, t: w.astype("f4")), r"is float64: expected float64\[2\], got float32\[2\]"),
    (weighing(lambda w, t: w * 0.99), "sums to 1: expected 1.0, got 0.99"),
    (
        weighing(lambda w, t: w + (t > 2) * (np.eye(t + 1)[-2] - np.eye(t + 1)[0])),
        "is not negative",
    ),
    (weighing(lambda w, t: w * np.nan), "is not negative"),
    (weighing(lambda w, t: np.full(t + 1, 1 / (t + 1))), "is 0 at the end"),
    (weighing(lambda w, t: (STANDARD, UNIFORM)[next(CALLS) % 2](0, t)), "is deterministic"),
    (
        weighing(lambda w, t: KEPT.setdefault(t, UNIFORM(0, t))),
        "is deterministic.*return a new array",
    ),
    (
        weighing(lambda w, t: np.full(t + 1, 1 / (t - 1))),
        r"weights\(0, 1\) works.*ZeroDivisionError",
    ),
    (  # sound at first, broken once the agent has won
        but(weights=lambda self, demo, t: Good.weights(self, demo, t) * (1 + (self.wins > 0))),
        "sums to 1: expected 1.0, got 2.0",
    ),
    (but(demo_weights=lambda self, lengths: np.ones(len(lengths))), "demo_weights.*sums to 1"),
    (drawing(lambda d, s, t, rng: (d, t[d])), "sample.*in range.*0 <= step < lengths"),
    (drawing(lambda d, s, t, rng: (d * 0 + len(t), s * 0)), "sample.*in range.*demo in 0..4"),
    (drawing(lambda d, s, t, rng: (d, s.astype(float))), r"returns step \[n\].*float64"),
    (drawing(lambda d, s, t, rng: (d[1:], s[1:])), r"returns demo \[n\]"),
    (  # a state that has no weight
        drawing(lambda d, s, t, rng: (d, np.maximum(s - 1, 0))),
        "sample agrees with weights.*in 0.0000 of the starts",
    ),
    (  # such a state so rarely that no statistic would notice
        drawing(lambda d, s, t, rng: (d, np.where(rng.random(len(s)) < 5e-4, 0, s))),
        "sample agrees with weights.*step 0 in 0.0000 of the starts",
    ),
    (SampleSkewed(), "sample agrees with weights.*step 0"),
    (but(sample=with_own_dice), "depends on rng alone"),
    (but(update=lambda self, episodes, frames: None), "update returns the next curriculum"),
    (but(update=lambda self, episodes, frames: Standard()), "update returns the next curriculum"),
    (
        but(update=lambda self, episodes, frames: replace(self, frames=self.frames + frames + 1)),
        "frames is the total so far",
    ),
    (
        but(update=lambda self, episodes, frames: replace(self, wins=1 // len(episodes))),
        r"update\(\[\], 0\) works.*ZeroDivisionError",
    ),
    (
        but(update=lambda self, episodes, frames: (self, [e.start.step for e in episodes])[0]),
        r"update\(episodes, 0\) works.*AttributeError",
    ),
    (InPlace(), "update leaves the old value unchanged"),
    (PlainInPlace(), "update leaves the old value unchanged"),
    (Incomparable(), "equal values are equal"),
    (Unhashable(), "hash works.*unhashable"),
    (but(__hash__=lambda self: id(self)), "equal values hash alike"),
    (HoldsAnObject(), "JSON works"),
    (Forgetful(), "it survives JSON"),
]


@pytest.mark.parametrize(("curriculum", "rule"), BROKEN, ids=[rule for _, rule in BROKEN])
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
