"""What to try after a run that has learned little: the learner first, then where episodes start.

Comes in: a run that has ended. Goes out: lines to print. How the defaults were chosen:
results/learner.md. Does not know: how it is printed.
"""

from __future__ import annotations

import shlex

from backplay.runs import Run
from backplay.train.env_job import EnvJob

ENOUGH = 0.5  # success from which nothing is said
LONG = 150  # steps of a demonstration from which rewards at its end count for little at gamma 0.99


def what_to_try(run: Run, job: EnvJob) -> list[str]:
    """Commands to try next, best first; nothing where the agent succeeds often enough."""
    result = run.result or {}
    if result.get("measures", {}).get("success", 1.0) >= ENOUGH:
        return []
    config = job.config
    quoted = shlex.quote(job.env)
    own = f"{quoted} " if ":" in job.env else ""
    again = f"backplay train {own}--resume {shlex.quote(str(run.path))}"
    demo = " ".join(shlex.quote(str(file)) for file in run.demonstrations)
    anew = f"backplay train {quoted} {demo} --seed {config.seed + 1}"
    lines = run.metrics()
    starts = str(lines[-1]["starts"]) if lines else "unknown"
    tries = [
        (f"{again} --frames {2 * config.frames}", "more frames: it goes on where it ended"),
        (
            f"{anew} --ppo.entropy-coefficient 0.06",
            "the learner: it tries more at what it has not solved",
        ),
    ]
    if config.ppo.gamma <= 0.99 and max(result.get("demonstrations", [0])) >= LONG:
        tries.append((f"{anew} --ppo.gamma 0.997", "the learner: it looks farther ahead"))
    if job.learner == "ppo" and job.curriculum["kind"] != "Uniform":
        tries.append((f"{anew} --curriculum uniform", "then the starts: anywhere on the way"))
    width = max(len(command) for command, _ in tries)
    return [
        f"It has learned little; starts came {starts}. What to try, in this order:",
        *(f"  {command:<{width}}  # {why}" for command, why in tries),
        f"  is it the right goal? the rule of success is: backplay check {quoted} {demo}",
    ]
