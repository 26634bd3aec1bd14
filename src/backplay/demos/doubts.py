"""Does a demonstration look like a success? What speaks against it, in words.

Training goes towards the end of the demonstration, so one that fails teaches to fail. Nothing here
is certain: whoever knows better says what success is. Comes in: an env, a demonstration, the rule
in force. Goes out: doubts. Does not know: curricula.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backplay.demos.demonstration import Demonstration
from backplay.demos.success import (
    SAID_BY_ENV,
    DefaultRule,
    Ending,
    InfoRule,
    ReturnRule,
    SuccessRule,
    TerminatedRule,
    describe_rule,
    ending,
    success_rule,
)
from backplay.restore.rollout import AnyEnv, roll

_EPISODES = 10  # of random play
_SHARE = 0.2  # random play that succeeds so often says that the end is no feat
_STEPS = 2000
_ENDINGS = 20  # without the key that the rule asks for, until that is said


class BackplayWarning(UserWarning):
    """Something that may well be a mistake, and is carried out."""


class KeyWatch:
    """Says once that of many episodes none has the key of an `info:KEY` in its last info."""

    def __init__(self, rule: SuccessRule) -> None:
        self._key = rule.key if isinstance(rule, InfoRule) else ""
        self._left = _ENDINGS if self._key else 0

    def saw(self, info: Mapping[str, Any]) -> None:
        """An episode has ended with this info."""
        if not self._left:
            return
        self._left = 0 if self._key in info else self._left - 1
        if not self._left and self._key not in info:
            warnings.warn(
                f"{self._key!r} was not in the last info of any of {_ENDINGS} episodes, where there"
                f" was: {_listed([info])}. It may be misspelt, or said of other ends alone, such as"
                " successes",
                BackplayWarning, stacklevel=4,
            )  # fmt: skip


def find_doubts(env: AnyEnv, demo: Demonstration, rule: SuccessRule) -> list[str]:
    """What speaks against `demo` being a success under `rule`. May reset and step `env`."""
    if isinstance(rule, InfoRule) and rule.key not in SAID_BY_ENV:  # some say it of successes alone
        return _unseen(env, demo, rule.key)
    # Who says that it succeeds and tells no rewards, as of states alone, still says no rule.
    silent = demo.terminated and not demo.rewards.any() and isinstance(rule, DefaultRule)
    if demo.success is not None and not (demo.success and silent):
        return [] if demo.success else ["it ends without success, as the environment or you said"]
    if isinstance(rule, InfoRule):
        return []
    if not isinstance(rule, DefaultRule) and not _holds(rule, demo):
        return [f"it is no success itself by the rule: {describe_rule(rule)}"]
    if isinstance(rule, ReturnRule | TerminatedRule):
        share = _share(_random_ends(env, demo), rule)
        return [f"{share:.0%} of random episodes succeed by the rule, too"] * (share >= _SHARE)
    if not isinstance(rule, DefaultRule):
        return []
    last, before = float(demo.rewards[-1]), demo.rewards[:-1]
    if not demo.terminated:
        return _unended(env, demo, rule) if (demo.rewards <= 0).all() else []
    if len(before) and last < float(before.min()):
        return [f"its last reward, {last:g}, is its worst: it looks like a failure"]
    if last > 0 and (not len(before) or last > float(before.max())):
        return []
    ends = _random_ends(env, demo)
    share = _share(ends, rule)
    if share < _SHARE:
        return []
    end = "its end brings no reward" if last <= 0 else "its last reward is like those before"
    said = _said_by_infos(ends)
    return [f"{end}, and {share:.0%} of random episodes end in the same way{said}"]


def _unended(env: AnyEnv, demo: Demonstration, rule: SuccessRule) -> list[str]:
    """What speaks against a demonstration without an end of the env's that earns nothing."""
    first, last = float(demo.rewards[0]), float(demo.rewards[-1])
    if not demo.rewards.any():
        said = _said_by_infos(_random_ends(env, demo))
        every = "it earns nothing and does not terminate, so that every episode is as good"
        return [every + said]
    if (demo.rewards == first).all():
        return [f"it does not terminate, and each of its steps costs {-first:g}, whatever it does"]
    if last < 0 and not demo.truncations[-1]:
        return ["it stops before its episode ends, by a step that costs: to go on earns less"]
    share = _share(_random_ends(env, demo), rule)
    as_good = f"it does not terminate, and {share:.0%} of random episodes earn as much"
    return [as_good] * (share >= _SHARE)


def doubts(env: AnyEnv, demo: Demonstration, rule: SuccessRule | str | None = None) -> str | None:
    """One sentence with the doubts about a demonstration, the rule and what to do; None if none."""
    chosen = success_rule(rule, [demo])
    found = find_doubts(env, demo, chosen)
    if not found:
        return None
    return (
        f"this demonstration may be no success: {'; '.join(found)}. In force is:"
        f" {describe_rule(chosen)}. Record another one, or say what success is, e.g."
        " success='info:KEY', 'return>=X' or 'terminated' (--success); see docs/success.md"
    )


def warn_of_doubts(env: AnyEnv, demo: Demonstration, rule: SuccessRule | str | None = None) -> None:
    """Warns of the doubts about a demonstration, if there are any."""
    found = doubts(env, demo, rule)
    if found:
        warnings.warn(found, BackplayWarning, stacklevel=3)


def _holds(rule: SuccessRule, demo: Demonstration) -> bool:
    """Whether a rule that needs no info counts the demonstration itself as a success."""
    end = Ending(
        None, float(demo.rewards.sum()), len(demo), float(demo.rewards[-1]), demo.terminated,
        bool(demo.truncations[-1]), {},
    )  # fmt: skip
    try:
        return bool(rule(end))
    except Exception:  # a function of the user's that needs what no demonstration keeps
        return True


def _unseen(env: AnyEnv, demo: Demonstration, key: str) -> list[str]:
    """That no random episode's last info has the key at all: it may be misspelt."""
    infos = [end.info for end in _random_ends(env, demo)]
    if not infos or any(key in info for info in infos):
        return []
    there = _listed(infos)
    return [f"{key!r} is not in the last info of any random episode, where there is: {there}"]


def _listed(infos: Sequence[Mapping[str, Any]]) -> str:
    """The keys that are in any of these, in words."""
    return ", ".join(sorted({str(one) for info in infos for one in info}))[:200] or "nothing"


def _share(ends: Sequence[Ending], rule: SuccessRule) -> float:
    """The share of these episodes that succeed."""
    return sum(bool(rule(end)) for end in ends) / len(ends) if ends else 0.0


def _said_by_infos(ends: Sequence[Ending]) -> str:
    """The keys of the last infos that may tell success, in words; nothing where there are none."""
    truths = {
        str(key)
        for end in ends
        for key, value in end.info.items()
        if isinstance(value, bool | np.bool_)
    }
    keys = ", ".join(map(repr, sorted(truths)))[:200]
    return f" (the last info says true or false under {keys})" if keys else ""


def _random_ends(env: AnyEnv, demo: Demonstration) -> list[Ending]:
    """How some episodes of random play end, as far as they can be played quickly."""
    space = copy.deepcopy(env.action_space)
    space.seed(0)
    most, steps = 4 * len(demo) + 16, 0
    found: list[Ending] = []
    while len(found) < _EPISODES and (not found or steps + most <= _STEPS):
        try:
            rollout = roll(
                env, lambda _: space.sample(), seed=len(found), options=demo.options,
                max_steps=most,
            )  # fmt: skip
        except Exception:  # seeds may be bounded, and an env may refuse what is not its own
            break
        found.append(ending(rollout))
        steps += len(rollout)
    return found
