"""When an episode counts as a success: as the user says, or by the rule for those who do not.

Comes in: a function, one of the texts `info:KEY`, `return>=X`, `terminated`, or nothing. Goes out:
a rule, which is a function and says in words what it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from backplay.demos import Demonstration
from backplay.errors import BackplayError, show
from backplay.records import Start
from backplay.restore.rollout import Transcript

SAID_BY_ENV = ("is_success", "success")
"""Keys of `info` by which an environment says whether an episode succeeded."""


class Ending(NamedTuple):
    """How an episode ended: what a rule of success may look at."""

    start: Start | None
    total_reward: float
    length: int
    reward: float
    """The last reward."""
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    """The last info."""


def ending(rollout: Transcript) -> Ending:
    """How a rollout from a reset ended."""
    return Ending(
        None, float(rollout.rewards.sum()), len(rollout), float(rollout.rewards[-1]),
        bool(rollout.terminations[-1]), bool(rollout.truncations[-1]), rollout.final_info,
    )  # fmt: skip


SuccessRule = Callable[[Ending], bool]
Success = SuccessRule | str
"""What a user may pass: a rule, or one of the texts that `success_rule` reads."""


@dataclass(frozen=True)
class InfoRule:
    """`info:KEY`: the last info has something true under this key."""

    key: str

    def __call__(self, end: Ending) -> bool:
        return bool(end.info.get(self.key, False))

    def __str__(self) -> str:
        return f"an episode whose last info has {self.key!r} true"


@dataclass(frozen=True)
class ReturnRule:
    """`return>=X`: the rewards from the start on sum to at least so much."""

    least: float

    def __call__(self, end: Ending) -> bool:
        return end.total_reward >= self.least

    def __str__(self) -> str:
        return f"an episode with a return of at least {self.least:g}"


@dataclass(frozen=True)
class TerminatedRule:
    """`terminated`: the environment ended it, whatever the reward."""

    def __call__(self, end: Ending) -> bool:
        return end.terminated

    def __str__(self) -> str:
        return "an episode that terminates"


@dataclass(frozen=True)
class DefaultRule:
    """The rule for people who name none. The first of these that can be applied decides:

    1. the environment says so: `info["is_success"]` or `info["success"]`;
    2. the demonstration terminated: the episode terminated too, with a last reward of the same sign
       or a better one (reaching the goal pays, falling into the lava does not; or every step costs,
       the last too);
    3. the demonstration was cut or timed out: the episode earned at least what the demonstration
       earned from the same state on.

    An episode from the environment's own reset belongs to no demonstration: any of them will do.
    """

    signs: tuple[float | None, ...]
    """By demonstration: the sign of its last reward if it terminated, else None."""
    returns_to_go: tuple[tuple[float, ...], ...]
    """By demonstration and step: what it earned from there on."""

    def __call__(self, end: Ending) -> bool:
        for key in SAID_BY_ENV:
            if key in end.info:
                return bool(end.info[key])
        if end.start is not None:
            return self._like(end.start.demo, end.start.step, end)
        return any(self._like(demo, 0, end) for demo in range(len(self.signs)))

    def _like(self, demo: int, step: int, end: Ending) -> bool:
        """Whether the episode ended as well as a demonstration that goes on from `step`."""
        sign = self.signs[demo]
        if sign is not None:
            return end.terminated and float(np.sign(end.reward)) >= sign
        needed = self.returns_to_go[demo][step]
        return end.total_reward >= needed - 1e-9 * max(1.0, abs(needed))

    def __str__(self) -> str:
        ways = sorted({_in_words(sign) for sign in self.signs})
        said = " or ".join(repr(key) for key in SAID_BY_ENV)
        return f"{' or '.join(ways)}; where the last info has {said}, what that says"


def _in_words(sign: float | None) -> str:
    if sign is None:
        return "an episode that earns as much as the demonstration from the same state on"
    least = {1.0: " with a last reward above 0", 0.0: " with a last reward of at least 0", -1.0: ""}
    return f"an episode that terminates{least[sign]}, as the demonstration does"


def default_rule(demos: Sequence[Demonstration]) -> DefaultRule:
    """The default rule for episodes of these demonstrations."""
    return DefaultRule(
        tuple(float(np.sign(demo.rewards[-1])) if demo.terminated else None for demo in demos),
        tuple(tuple(demo.returns_to_go.tolist()) for demo in demos),
    )


def success_rule(asked: Success | None, demos: Sequence[Demonstration] = ()) -> SuccessRule:
    """The rule that `asked` means; without one, the default for these demonstrations."""
    if asked is None:
        return default_rule(demos)
    if not isinstance(asked, str):
        return asked
    text = asked.replace(" ", "")
    if text == "terminated":
        return TerminatedRule()
    if text.startswith("info:") and len(text) > len("info:"):
        return InfoRule(asked.partition(":")[2].strip())
    number = re.fullmatch(r"return>=(.+)", text)
    try:
        if number and np.isfinite(float(number[1])):
            return ReturnRule(float(number[1]))
    except ValueError:
        pass
    raise BackplayError(
        "success", expected="info:KEY, return>=X or terminated", got=show(asked),
        do="See docs/success.md.",
    )  # fmt: skip


def describe_rule(rule: SuccessRule) -> str:
    """A rule in words."""
    if isinstance(rule, InfoRule | ReturnRule | TerminatedRule | DefaultRule):
        return str(rule)
    return f"what your function {getattr(rule, '__name__', type(rule).__name__)} says"
