"""Claims as data: what is measured from runs, and how it must lie for a claim to hold.

Comes in: settings, regimes, measures, numbers. Goes out: the same, checked, and in words. Does not
know: runs, or what they say about a claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from backplay.errors import BackplayError, show


class _Mean:
    """A mean over seeds; two of them make a difference or a ratio."""

    def __sub__(self, other: Final | FramesTo) -> Difference:
        return Difference(self, other)  # type: ignore[arg-type]  # a subclass is one of the two

    def __truediv__(self, other: Final | FramesTo) -> Ratio:
        return Ratio(self, other)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Final(_Mean):
    """The mean over seeds of what runs measured at their end."""

    setting: str
    regime: str
    measure: str

    @property
    def what(self) -> str:
        """What one run is asked for."""
        return f"{self.measure.replace('_', ' ')} at the end ({self.setting}, {self.regime})"

    @property
    def words(self) -> str:
        """How it is measured."""
        return f"{self.what}, mean over seeds"


@dataclass(frozen=True)
class FramesTo(_Mean):
    """Frames to the first evaluation at or above a threshold: the geometric mean over seeds.

    The crossing lies between the evaluation before and that one, so the interval begins as much
    lower. Infinite where a seed never got there. The interval then begins at the least frames of
    any seed, with the budget for one that never got there, and has no end.
    """

    setting: str
    regime: str
    measure: str
    threshold: float
    epochs: int = 0
    """Of a whole run, whatever its frames: they are then counted in such epochs."""

    @property
    def what(self) -> str:
        """What one run is asked for."""
        measure = self.measure.replace("_", " ")
        unit = f"epochs of {self.epochs:,}" if self.epochs else "frames"
        return f"{unit} until {measure} is {self.threshold:g} ({self.setting}, {self.regime})"

    @property
    def words(self) -> str:
        """How it is measured."""
        return f"{self.what}, geometric mean over seeds"


@dataclass(frozen=True)
class _Two:
    """Two means beside each other."""

    sign: ClassVar[str]
    first: Final | FramesTo
    second: Final | FramesTo

    @property
    def words(self) -> str:
        """How it is measured."""
        return f"{self.first.what} {self.sign} {self.second.what}, each a mean over seeds"


class Difference(_Two):
    """The first less the second."""

    sign = "less"


class Ratio(_Two):
    """The first over the second; a second that may be 0 or less has no upper end."""

    sign = "over"


Quantity = Final | FramesTo | Difference | Ratio


def parts_of(quantity: Quantity) -> list[Final | FramesTo]:
    """The means over seeds that it is made of."""
    if isinstance(quantity, Difference | Ratio):
        return [quantity.first, quantity.second]
    return [quantity]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something that runs can hold up or refute."""

    text: str
    """In words."""
    where: str
    """In the paper: "Table 2"."""
    quantity: Quantity
    """What is measured."""
    paper: float | None = None
    """The paper's number for it; None where it gives only words."""
    holds: Literal["at least", "at most", "near"]
    """How the quantity must lie to the target."""
    target: float | None = None
    """By default the paper's number."""
    tolerance: float = 0.0
    """How far from the target is still near."""
    strict: bool = False
    """Whether the target itself is not enough: "faster", where a tie is none."""
    exact: bool = False
    """Whether the quantity is computed without chance, so that a single seed says all."""

    def __post_init__(self) -> None:
        if self.holds not in ("at least", "at most", "near"):
            _refuse(self, "holds", "'at least', 'at most' or 'near'", self.holds)
        if self.target is None and self.paper is None:
            _refuse(self, "target", "a number, where the paper gives none", None)
        if not np.isfinite(self.aim):
            _refuse(self, "target", "a finite number", self.aim)
        if not (self.tolerance > 0 if self.holds == "near" else self.tolerance == 0):
            _refuse(self, "tolerance", "more than 0 for 'near', else 0", self.tolerance)
        if self.exact and any(isinstance(part, FramesTo) for part in parts_of(self.quantity)):
            _refuse(self, "exact", "False where frames of training are counted", True)

    @property
    def aim(self) -> float:
        """The target, which is the paper's number unless another is given."""
        aim = self.paper if self.target is None else self.target
        assert aim is not None
        return aim

    def is_true_of(self, low: float, high: float) -> bool:
        """Whether it is true of everything from `low` to `high`."""
        least, most = self.aim - self.tolerance, self.aim + self.tolerance
        enough = low > least if self.strict else low >= least
        not_too_much = high < most if self.strict else high <= most
        return (enough or self.holds == "at most") and (not_too_much or self.holds == "at least")

    def is_false_of(self, low: float, high: float) -> bool:
        """Whether it is false of everything from `low` to `high`, target excluded."""
        too_little = high < self.aim - self.tolerance and self.holds != "at most"
        too_much = low > self.aim + self.tolerance and self.holds != "at least"
        return too_little or too_much


def at_least(
    text: str, where: str, quantity: Quantity, target: float | None = None, **more: Any
) -> Claim:
    """That a quantity is at least the target, or the paper's number; `more`: fields of `Claim`."""
    return Claim(text=text, where=where, quantity=quantity, holds="at least", target=target, **more)


def at_most(
    text: str, where: str, quantity: Quantity, target: float | None = None, **more: Any
) -> Claim:
    """That it is at most the target, or the paper's number."""
    return Claim(text=text, where=where, quantity=quantity, holds="at most", target=target, **more)


def near(text: str, where: str, quantity: Quantity, tolerance: float, **more: Any) -> Claim:
    """That it is as near to the target, or to the paper's number."""
    return Claim(
        text=text, where=where, quantity=quantity, holds="near", tolerance=tolerance, **more
    )


def _refuse(claim: Claim, field: str, expected: str, got: object) -> None:
    raise BackplayError(f"claim {claim.text!r}, {field}", expected=expected, got=show(got))
