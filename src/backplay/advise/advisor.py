"""The one call: measure, fit, predict, conclude.

What the theory needs is an extra, so what needs the theory is imported when advice is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from backplay.curricula.curriculum import real_number, whole_number
from backplay.demos import Demonstration
from backplay.demos.fitting import Settings
from backplay.demos.success import Success
from backplay.extras import require
from backplay.restore.rollout import AnyEnv, Policy

if TYPE_CHECKING:
    from backplay.advise.advice import Advice
    from backplay.advise.measure import Progress

COUNTING = 4.0  # seconds kept for fitting and predicting
ROLLOUTS = 100
CHAINS = 24  # draws of the effective chain


def advise(
    make_env: Callable[[], AnyEnv],
    demo: Demonstration,
    *,
    policy: Policy | None = None,
    success: Success | None = None,
    settings: Settings = "recorded",
    seed: int = 0,
    rollouts: int = ROLLOUTS,
    seconds: float = 50.0,
    progress: Progress = lambda done, words: None,
) -> Advice:
    """What to expect of Standard, Uniform and Backplay on this task.

    Args:
        make_env: builds the environment, as it was built when the demonstration was recorded.
        demo: the demonstration.
        policy: plays the rollouts; None takes random actions.
        success: which endings count as success, as for BackplayEnv.
        settings: whose settings hold, as for BackplayEnv.
        seed: of rollouts and draws. With time enough the advice depends on nothing else.
        rollouts: from each place along the demonstration, at most.
        seconds: when to be done, roughly. One step of the env cannot be interrupted.
        progress: told of every rollout.
    """
    require("numba", "scipy", "networkx")
    from backplay.advise.advice import conclude
    from backplay.advise.fit import draw_frames, fit_chain
    from backplay.advise.measure import Prober, measure
    from backplay.advise.signs import find_signs

    began = time.monotonic()
    rng = np.random.default_rng(whole_number("seed", seed))
    rollouts = whole_number("rollouts", rollouts, at_least=1)
    seconds = real_number("seconds", seconds, at_least=0.1)
    env = make_env()
    try:
        until = began + max(seconds / 2, seconds - COUNTING)
        prober = Prober(env, demo.fit(env, settings), policy, rng, until, success)
        measured = measure(prober, rollouts, progress)
        signs = find_signs(env.observation_space, demo, measured)
    finally:
        env.close()
    fit = fit_chain(measured, len(demo), CHAINS, rng)
    off = max([sign.share for sign in signs if sign.kind == "starts"], default=0.0)
    draws = draw_frames(fit, measured, off, rng)
    return conclude(demo.env_id, len(demo), measured, fit, signs, draws, rng)
