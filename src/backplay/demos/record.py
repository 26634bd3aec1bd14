"""Recording: play an episode, save a state at every step, prove that the states restore."""

from __future__ import annotations

import copy
import operator
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from backplay.demos.demonstration import Demonstration
from backplay.demos.described import describe_env
from backplay.demos.doubts import BackplayWarning, warn_of_doubts
from backplay.demos.success import SAID_BY_ENV, Success, ending, success_rule
from backplay.errors import BackplayError, DemonstrationError, ensure, show
from backplay.restore import (
    FreshReplay,
    History,
    IllegalActionError,
    Restorer,
    candidates,
    find_flaw,
    find_restorer,
    renew,
    restorer_named,
)
from backplay.restore.find import no_restorer
from backplay.restore.rollout import (
    AnyEnv,
    Model,
    Policy,
    Transcript,
    replay_from_reset,
    require_gymnasium,
    roll,
)


def record(
    env: AnyEnv,
    policy_or_actions: Policy | Model | Iterable[Any],
    *,
    seed: int = 0,
    options: dict[str, Any] | None = None,
    max_steps: int = 100_000,
    restorer: Restorer | str | None = None,
    success: bool | Success | None = None,
    keep_actions: bool = True,
) -> Demonstration:
    """Plays one episode on `env` and records it with a state at every step.

    That states restore exactly is proven on up to 32 of them, after a look with random actions if
    the env takes them; `check` proves it on all.

    Args:
        env: any Gymnasium environment, wrapped as it will be inside BackplayEnv.
        policy_or_actions: a function from observation to action, a model with a `predict` as those
            of Stable-Baselines3, whose actions are drawn, or the actions to take.
        seed: passed to `env.reset`, and kept.
        options: passed to `env.reset`, and kept.
        max_steps: the recording stops here if the episode does not end before.
        restorer: how to save states, by name ("attributes", "mujoco", "replay", ...) or as an
            object; by default the fastest that proves exact on this env.
        success: whether the episode reached its goal, if you know; or a rule that says so, a
            function of an `Ending` or one of the texts `info:KEY`, `return>=X`, `terminated`; else
            `info["is_success"]` or `info["success"]` of the last step, if the env says. A recording
            that does not look like a success is warned of.
        keep_actions: False drops the actions, where the states are plain data.
    """
    try:
        seed = operator.index(seed)  # a numpy integer too
    except TypeError as error:
        raise BackplayError(
            "seed", expected="a whole number", got=show(seed), do="A recording keeps its seed."
        ) from error
    options = copy.deepcopy(options)
    require_gymnasium(env, seed, options)
    chosen = _found(env, seed, options) if restorer is None else restorer_named(restorer)
    if chosen:
        renew(env, chosen)
    rollout = roll(
        History(env), policy_or_actions,
        seed=seed, options=options, max_steps=max_steps,
        save=chosen.save if chosen else None,
    )  # fmt: skip
    ensure(
        len(rollout), "Nothing was recorded", "at least one action", got="none",
        do="Pass a policy or a list of actions.", error=DemonstrationError,
    )  # fmt: skip
    _warn_of_left_over(policy_or_actions, rollout)
    flaw = find_flaw(env, chosen, rollout, points=32) if chosen else None
    if chosen and flaw and restorer is not None:
        raise no_restorer([f"  {chosen.name}: {flaw}"])
    if not chosen or flaw:  # random actions did not show what this episode does: try it itself
        chosen, rollout = find_exact(env, rollout, but=chosen.name if chosen else None)
    demo = Demonstration(
        observations=rollout.observations,
        rewards=rollout.rewards,
        terminations=rollout.terminations,
        truncations=rollout.truncations,
        actions=rollout.actions if keep_actions else None,
        states=rollout.states,
        restorer=chosen,
        seed=seed,
        options=options,
        success=_succeeded(rollout, success),
        **describe_env(env),
    )
    warn_of_doubts(env, demo, None if isinstance(success, bool) else success)
    return demo


def _warn_of_left_over(policy_or_actions: Any, rollout: Transcript) -> None:
    """Says that the episode ended before its actions did: they may be meant for another."""
    listed = isinstance(policy_or_actions, Sequence | np.ndarray)
    ended = rollout.terminations[-1] or rollout.truncations[-1]
    if listed and ended and len(rollout) < len(policy_or_actions):
        warnings.warn(
            f"the episode ended after {len(rollout)} of {len(policy_or_actions)} actions",
            BackplayWarning, stacklevel=3,
        )  # fmt: skip


def _succeeded(rollout: Transcript, asked: bool | Success | None) -> bool | None:
    """Whether the episode was a success, as the user, a rule or the env says; None if nobody."""
    if isinstance(asked, bool):
        return asked
    if asked is not None:
        return bool(success_rule(asked)(ending(rollout)))
    said = [rollout.final_info[key] for key in SAID_BY_ENV if key in rollout.final_info]
    return bool(said[0]) if said else None


def _found(env: AnyEnv, seed: int, options: dict[str, Any] | None) -> Restorer | None:
    """The restorer that random actions prove; None where the env refuses some of them."""
    try:
        return find_restorer(env, seed=seed, options=options)
    except IllegalActionError:
        return None


def find_exact(env: AnyEnv, rollout: Transcript, but: str | None) -> tuple[Restorer, Transcript]:
    """Another restorer than `but`, exact on this episode, and the episode with its states.

    In a fresh instance it is the episode of the same actions: its answers may be others.
    """
    reasons = []
    for candidate in candidates(env):
        if candidate.name == but:
            continue
        tracked = History(env)
        states: list[Any] = []
        save = partial(_save_to, states, candidate, tracked)
        try:
            renew(env, candidate)
            if isinstance(candidate, FreshReplay):  # what was played in a used env has its traces
                again = roll(
                    tracked, rollout.actions, seed=rollout.seed, options=rollout.options,
                    max_steps=len(rollout), save=candidate.save,
                )  # fmt: skip
                divergence = None
            else:
                divergence = replay_from_reset(tracked, rollout, on_state=save)
                again = replace(rollout, states=states)
            flaw = str(divergence) if divergence else find_flaw(env, candidate, again, points=32)
        except Exception as error:  # a restorer that cannot save this env
            flaw = f"{type(error).__name__}: {str(error)[:300]}"
        if flaw is None:
            return candidate, again
        reasons.append(f"  {candidate.name}: {flaw}")
    raise no_restorer(reasons)


def _save_to(states: list[Any], restorer: Restorer, env: AnyEnv, _: int) -> None:
    states.append(restorer.save(env))
