"""What a curriculum is: a distribution over the states of demonstrations, and a value.

Comes in: the lengths of the demonstrations; the episodes and frames of training so far. Goes out:
weights over their states, and starts drawn from them. Does not know: environments or learners.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backplay.errors import BackplayError, ensure, show
from backplay.records import Episode, Walk

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

LARGEST = 2**53  # every whole number up to here is exact as a float, and so in any JSON reader


@runtime_checkable
class Curriculum(Protocol):
    """Where episodes start: a probability for every state of every demonstration.

    A demonstration of `length` T has the states 0..T. State T is the end, where no episode can
    start, so its weight is always 0.

    To write your own, make a frozen dataclass that inherits from this class, define `weights` and
    `update`, and run `check_curriculum` on it. The other methods have defaults.

    A curriculum may also start episodes beside the demonstrations: it lists `walks`, random walks
    from states it knows, and `sample` may return their ids as demo. Then `demo_weights` sum to the
    share of the starts that lie on demonstrations, and `weights` say how these are spread.
    """

    def weights(self, demo: int, length: int) -> FloatArray:
        """Probability of each state of one demonstration: [length + 1], sums to 1, last is 0."""
        ...

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The curriculum after these episodes, at `frames` frames of training in total.

        `frames` counts from the beginning of training, not from the last update: saying the same
        number twice changes nothing, and a resumed run simply continues its count.
        """
        ...

    def demo_weights(self, lengths: ArrayLike) -> FloatArray:
        """Probability of each demonstration: [num_demos], sums to 1. By default all are equal."""
        num_demos = len(as_lengths(lengths))
        return np.full(num_demos, 1.0 / num_demos)

    @property
    def walks(self) -> tuple[Walk, ...]:
        """The walks that `sample` may draw states of, and those they set out from, by id.

        A walk is a recipe: whoever restores states walks it. Ids begin at the number of
        demonstrations, and an id always means the same walk.
        """
        return ()

    @property
    def patience(self) -> float | None:
        """How long a training episode may take now; None: as long as the env allows.

        So many times what the demonstration took from the same start, and 16 steps. Whoever steps
        the env truncates the episode then. `Patience` gives one to any curriculum.
        """
        return None

    def sample(
        self, lengths: ArrayLike, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """`n` starts, as demo [n] and step [n], drawn from `demo_weights` and `weights`.

        With `walks`, demo may be the id of one, and step then is from 0 to its number of steps.

        Args:
            lengths: length of each demonstration, [num_demos].
            n: how many starts to draw.
            rng: the only source of randomness.
        """
        lengths = as_lengths(lengths)
        demo = self.sample_demos(lengths, n, rng)
        return demo, self.sample_steps(demo, lengths[demo], rng)

    def sample_demos(self, lengths: IntArray, n: int, rng: np.random.Generator) -> IntArray:
        """`n` demonstrations drawn from `demo_weights`: [n]."""
        if type(self).demo_weights is Curriculum.demo_weights:
            return rng.integers(len(lengths), size=n)  # the same distribution, several times faster
        return rng.choice(len(lengths), size=n, p=self.demo_weights(lengths))

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Steps drawn from the `weights` of demonstrations demo [n] of length [n]: step [n]."""
        step = np.empty(len(demo), dtype=np.int64)
        for index in np.unique(demo):
            chosen = demo == index
            p = self.weights(int(index), int(length[chosen][0]))
            step[chosen] = rng.choice(len(p), size=int(chosen.sum()), p=p)
        return step

    def describe(self) -> str:
        """One short line for progress displays: where episodes start now."""
        return type(self).__name__


def as_length(length: int) -> int:
    """The length of a demonstration, refused below 1: there must be a state before the end."""
    ensure(
        length >= 1, "length of a demonstration", "at least 1 step", length,
        do="Record a demonstration that takes at least one action.",
    )  # fmt: skip
    return length


def as_lengths(lengths: ArrayLike) -> IntArray:
    """The lengths of demonstrations as an integer array [num_demos], each at least 1."""
    try:
        array = np.asarray(lengths)
    except (ValueError, TypeError, OverflowError):  # ragged, or not numbers at all
        array = np.empty(0)
    ensure(
        array.ndim == 1 and array.size != 0 and array.dtype.kind in "iu",
        "lengths of demonstrations",
        "one whole number per demonstration, at least one demonstration", lengths,
        do="Pass a list such as [120, 87].",
    )  # fmt: skip
    as_length(int(array.min()))
    return array.astype(np.int64, copy=False)


def later(now: int, frames: int) -> int:
    """The clock moved from `now` to `frames`, refused if that is backwards."""
    frames = whole_number("frames", frames)
    ensure(
        frames >= now, "frames", f"at least {now}, the total this curriculum has already seen",
        frames,
        do="Pass the total frames of training so far, not the frames since the last update.",
    )  # fmt: skip
    return frames


def whole_number(what: str, value: object, *, at_least: int = 0) -> int:
    """`value` as an int, refused unless it is a whole number from `at_least` to 2**53."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if at_least <= number <= LARGEST:
            return number
    raise BackplayError(
        what,
        expected=f"a whole number, at least {at_least} and at most 2**53",
        got=show(value),
        do=f"Pass an int for {what}.",
    )


def real_number(
    what: str, value: object, *, at_least: float = 0.0, at_most: float = LARGEST
) -> float:
    """`value` as a finite float, refused unless it is a number from `at_least` to `at_most`."""
    # Compared before it is converted: a huge int does not fit a float, and NaN compares false.
    if (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and at_least <= value <= at_most
    ):
        return float(value)
    upper = "2**53" if at_most == LARGEST else f"{at_most:g}"
    raise BackplayError(
        what,
        expected=f"a number from {at_least:g} to {upper}",
        got=show(value),
        do=f"Pass a finite int or float for {what}.",
    )
