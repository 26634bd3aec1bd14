"""Which restorer is exact on an env: try them, fastest first, and keep the first that proves it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from backplay.errors import BackplayError
from backplay.restore.layers import History
from backplay.restore.replays import renew
from backplay.restore.restorer import Restorer
from backplay.restore.restorers import candidates
from backplay.restore.rollout import (
    AnyEnv,
    ContractError,
    Transcript,
    replay,
    reset_to_another,
    roll,
)


class IllegalActionError(BackplayError):
    """An env that raises where an action is illegal: it says nothing about restorers."""


def find_restorer(
    env: AnyEnv,
    *,
    seed: int = 0,
    options: dict[str, Any] | None = None,
    steps: int = 64,
    episodes: int = 4,
) -> Restorer:
    """The fastest restorer that is exact on `env`, proven on episodes of random actions.

    Up to `episodes` episodes from `reset(seed, options)`, `steps` steps in all. Raises
    BackplayError, with what each restorer did wrong, if none is exact, and IllegalActionError if
    the env refuses random actions.
    """
    reasons = []
    for restorer in candidates(env):
        flaw = _probe(env, restorer, seed, options, steps, episodes)
        if flaw is None:
            return restorer
        reasons.append(f"  {restorer.name}: {flaw}")
    refusal = _probe(env, None, seed, options, steps, episodes)
    if refusal:
        raise IllegalActionError(
            "The env fails under random actions, which are to prove how it is restored",
            expected="an answer to every action of its space", got=refusal,
            do="Use bp.record, which proves it on the actions that it is given, or name a"
            " restorer.",
        )  # fmt: skip
    raise no_restorer(reasons)


def no_restorer(reasons: list[str]) -> BackplayError:
    """The error that says what each restorer did wrong."""
    return BackplayError(
        "No way was found to put this environment back into an earlier state",
        expected="one restorer after which it answers exactly as the first time",
        got="\n" + "\n".join(reasons),
        do="If replay failed too, the env is not deterministic given its seed: give it get_state()"
        " and set_state() that cover all it draws from, or pass a restorer of your own. A wrapper"
        " that learns over many episodes such as NormalizeObservation belongs around BackplayEnv.",
    )


def _probe(
    env: AnyEnv,
    restorer: Restorer | None,
    seed: int,
    options: dict[str, Any] | None,
    steps: int,
    episodes: int,
) -> str | None:
    """What goes wrong with a restorer under random actions; without one, with the env itself."""
    tracked = History(env)
    space = copy.deepcopy(env.action_space)  # the user's own draws from it stay as they are
    space.seed(seed)
    left = steps
    try:
        for episode in range(episodes):
            if (episode or not restorer) and not _can_reset(env, seed + episode, options):
                break  # seeds may be bounded, where they number levels
            if restorer:
                renew(env, restorer)
            rollout = roll(
                tracked, lambda _: space.sample(), seed=seed + episode, options=options,
                max_steps=left, save=restorer.save if restorer else None,
            )  # fmt: skip
            flaw = find_flaw(env, restorer, rollout, points=8, horizon=16) if restorer else None
            left -= len(rollout)
            if flaw or left <= 0:
                return flaw
    except ContractError:
        raise
    except Exception as error:  # whatever an env's code does wrong disqualifies the restorer
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def _can_reset(env: AnyEnv, seed: int, options: dict[str, Any] | None) -> bool:
    try:
        env.reset(seed=seed, options=copy.deepcopy(options))
    except Exception:  # whatever an env says of a seed it does not take
        return False
    return True


def find_flaw(
    env: AnyEnv, restorer: Restorer, rollout: Transcript, *, points: int = 16, horizon: int = 32
) -> str | None:
    """Why `restorer` is not exact on `env` along `rollout`, whose states it saved; None if it is.

    The env is first reset to another episode; then states are loaded in a scattered order and
    followed for up to `horizon` steps, the first of them to the end.
    """
    states = rollout.states
    if not states:
        return "no states were saved"
    tested = sorted({int(t) for t in np.linspace(0, max(len(rollout) - 1, 0), points)})
    try:
        reset_to_another(env, rollout.seed, rollout.options)
        for t in (int(t) for t in np.random.default_rng(0).permutation(tested)):
            restorer.load(env, states[t])
            divergence = replay(env, rollout, t, None if t == 0 else t + horizon)
            if divergence:
                return f"restored at step {t}, it differs at {divergence}"
    except Exception as error:  # as above
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None
