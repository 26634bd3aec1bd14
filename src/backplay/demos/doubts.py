"""Does a demonstration look like a success? What speaks against it, in words.

Training goes towards the end of the demonstration, so one that fails teaches to fail. Nothing here
is certain: whoever knows better says what success is. Comes in: an env, a demonstration, the rule
in force. Goes out: doubts. Does not know: curricula.
"""

from __future__ import annotations

import copy
import warnings

from backplay.demos.demonstration import Demonstration
from backplay.demos.success import (
    DefaultRule,
    Ending,
    InfoRule,
    SuccessRule,
    describe_rule,
    ending,
    success_rule,
)
from backplay.restore.rollout import AnyEnv, roll

_EPISODES = 10  # of random play
_SHARE = 0.2  # random play that succeeds so often says that the end is no feat
_STEPS = 2000


class BackplayWarning(UserWarning):
    """Something that may well be a mistake, and is carried out."""


def find_doubts(env: AnyEnv, demo: Demonstration, rule: SuccessRule) -> list[str]:
    """What speaks against `demo` being a success under `rule`. May reset and step `env`."""
    if demo.success is not None:
        return [] if demo.success else ["it ends without success, as the environment or you said"]
    if not isinstance(rule, DefaultRule):
        judged = isinstance(rule, InfoRule) or _holds(rule, demo)
        return [] if judged else [f"it is no success itself by the rule: {describe_rule(rule)}"]
    last, before = float(demo.rewards[-1]), demo.rewards[:-1]
    if not demo.terminated:
        if (demo.rewards == 0).all():
            return ["it earns nothing and does not terminate, so that every episode is as good"]
        return []
    if len(before) and last < float(before.min()):
        return [f"its last reward, {last:g}, is its worst: it looks like a failure"]
    if last > 0 and (not len(before) or last > float(before.max())):
        return []
    share = _random_success(env, demo, rule)
    if share < _SHARE:
        return []
    end = "its end brings no reward" if last <= 0 else "its last reward is like those before"
    return [f"{end}, and {share:.0%} of random episodes end in the same way"]


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


def warn_of_doubts(
    env: AnyEnv, demo: Demonstration, rule: SuccessRule | str | None = None, stacklevel: int = 3
) -> None:
    """Warns of the doubts about a demonstration, if there are any."""
    found = doubts(env, demo, rule)
    if found:
        warnings.warn(found, BackplayWarning, stacklevel=stacklevel)


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


def _random_success(env: AnyEnv, demo: Demonstration, rule: SuccessRule) -> float:
    """The share of episodes of random play that succeed, of those that can be played quickly."""
    space = copy.deepcopy(env.action_space)
    space.seed(0)
    most = 4 * len(demo) + 16
    wins = played = steps = 0
    while played < _EPISODES and (not played or steps + most <= _STEPS):
        try:
            rollout = roll(
                env, lambda _: space.sample(), seed=played, options=demo.options, max_steps=most
            )
        except Exception:  # seeds may be bounded, and an env may refuse what is not its own
            break
        wins += bool(rule(ending(rollout)))
        played, steps = played + 1, steps + len(rollout)
    return wins / played if played else 0.0
