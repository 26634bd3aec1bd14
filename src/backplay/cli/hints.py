"""What to try after a run that has learned little: the learner first, then where episodes start.

More frames come before both where the run had fewer than the default.

Comes in: a run that has ended. Goes out: lines to print, whose commands repeat all that was told to
the run. How the defaults were chosen: results/learner.md. Does not know: how it is printed.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import fields, replace
from typing import Any

from backplay.curricula import Backplay
from backplay.runs import Run
from backplay.train import TrainConfig
from backplay.train.env_job import EnvJob

ENOUGH = 0.5  # success from which nothing is said
CALMER = 0.2  # success that drawn and likeliest actions are apart, from which on it is said


def going_on(run: Run, job: EnvJob) -> list[str]:
    """The command that goes on with a run; code of one's own is named again."""
    own = [job.env] if ":" in job.env else []
    return ["backplay", "train", *own, "--resume", str(run.path)]


def what_to_try(run: Run, job: EnvJob) -> list[str]:
    """Commands to try next, best first; nothing where the agent succeeds often enough."""
    result = run.result or {}
    measures = result.get("measures", {})
    success = measures.get("success", 1.0)
    if success >= ENOUGH:
        return _when_drawn(run, job, success, measures.get("greedy_success", success))
    config = job.config
    own = [job.env] if ":" in job.env else []
    again = going_on(run, job)
    task = [job.env, *map(str, run.demonstrations), *_task(job)]
    starts = _starts(job)

    def anew(**changed: Any) -> list[str]:
        other = replace(config, seed=config.seed + 1, ppo=replace(config.ppo, **changed))
        return ["backplay", "train", *task, *_told(other)]

    lines = run.metrics()
    came = str(lines[-1]["starts"]) if lines else "unknown"
    tries: list[tuple[list[str], str]] = []
    if measures.get("greedy_success", 0.0) >= success + CALMER:
        measured = ["backplay", "evaluate", str(run.path), *(["--env", *own] if own else [])]
        calm = f"its likeliest actions succeed in {measures['greedy_success']:.0%}"
        tries.append(([*measured, "--greedy"], f"{calm}: predict(…, deterministic=True)"))
    longer = ([*again, "--frames", str(2 * config.frames)], "more frames: it goes on from here")
    is_short = config.frames < TrainConfig().frames
    tries += [longer] if is_short else []
    more = [*anew(entropy_coefficient=round(2 * config.ppo.entropy_coefficient, 6)), *starts]
    tries.append((more, "the learner: it tries more at what it has not solved"))
    tries += [] if is_short else [longer]
    if job.learner == "ppo" and job.curriculum["kind"] != "Uniform":
        tries.append(([*anew(), "--curriculum", "uniform"], "then the starts: anywhere on the way"))
    goal = ["backplay", "check", *task, *_told(config, "success", "settings")]
    return [
        f"It has learned little; its starts at the end: {came}. What to try, in this order:",
        *(f"  {shlex.join(command)}  # {why}" for command, why in tries),
        f"  {shlex.join(goal)}  # is it the right goal? this says what counts as success",
    ]


def _when_drawn(run: Run, job: EnvJob, success: float, greedy: float) -> list[str]:
    """What to mind where drawn actions do much better than the likeliest ones."""
    if greedy > success - CALMER:
        return []
    words = ["backplay", "watch", str(run.path), *(["--env", job.env] if ":" in job.env else [])]
    return [
        f"Its likeliest actions succeed in {greedy:.0%} alone: they can go in a circle for ever."
        " Draw them, as in training: agent.predict(observation), not deterministic=True;",
        f"  {shlex.join([*words, '--sampled'])}",
    ]


def _task(job: EnvJob) -> list[str]:
    """How the env was made, where that was told."""
    return [] if job.env_kwargs is None else ["--env-kwargs", json.dumps(job.env_kwargs)]


def _starts(job: EnvJob) -> list[str]:
    """The options that gave it its curriculum, and its learner."""
    starts, kind = job.starts, str(job.curriculum["kind"])
    words = [] if job.learner == "ppo" else ["--regime", job.learner]
    if isinstance(starts, Backplay):
        return [*words, "--windows", *(f"{w.frames}:{w.lo:g}:{w.hi:g}" for w in starts.windows)]
    names = {"Uniform": "uniform", "Standard": "standard", "ReverseCurriculum": "reverse"}
    return [*words, "--curriculum", names[kind]] if kind in names else words


def _told(config: Any, *only: str) -> list[str]:
    """The options whose values are not the default ones."""
    prefix, default, words = (
        "--" if isinstance(config, TrainConfig) else "--ppo.",
        type(config)(),
        [],
    )
    for name in only or [field.name for field in fields(config)]:
        value, option = getattr(config, name), name.replace("_", "-")
        if name == "ppo":
            words += _told(value)
        elif value != getattr(default, name):
            words += [f"{prefix}no-{option}"] if value is False else [prefix + option, str(value)]
    return words
