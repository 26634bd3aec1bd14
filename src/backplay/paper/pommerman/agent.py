"""What a Pommerman run has learned, as a player.

Comes in: the directory of a run whose network sees facts. Goes out: a `Policy`, of the facts that
were met in training alone: the rows of the others are still as they were drawn. Does not know: how
it plays.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from backplay.envs.pommerman.agents import OUTSIDE
from backplay.envs.pommerman.learned import Policy
from backplay.envs.pommerman.players import Player
from backplay.errors import BackplayError
from backplay.learners.sparse import fact_network
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.pommerman.presets import PRESETS
from backplay.runs import open_run
from backplay.runs.execute import asked, last_state

RUN = "run:"


def learned_by(path: Path) -> Policy:
    """What the run in this directory has learned, as it was saved last."""
    run = open_run(path)
    job, _ = asked(run)
    if not isinstance(job, PommermanJob) or PRESETS[job.preset].network is not fact_network:
        raise BackplayError(
            f"{path} is no run of a player", expected="one in Pommerman, whose network sees facts",
            got=job.setting,
        )  # fmt: skip
    state = last_state(run)
    learner = state["learner"]
    parts: dict[str, Any] = {name: np.asarray(part) for name, part in learner["network"].items()}
    met = (np.asarray(learner["optimiser"]["table_0"]["exp_avg_sq"]) > 0).any(1)
    hidden = sorted(name[: -len(".weight")] for name in parts if name.endswith(".weight"))
    layers = [
        (parts[f"{name}.weight"], parts[f"{name}.bias"]) for name in hidden if name != "heads"
    ]
    heads = parts["heads.weight"][:-1], parts["heads.bias"][:-1]  # the last is the value's
    return Policy(
        sees=PRESETS[job.preset].observation,
        known=np.flatnonzero(met).astype(np.int32), rows=parts["first.table"][met],
        bias=parts["first.bias"], layers=(*layers, heads),
        made={"job": asdict(job), "frames": state["frames"]},
    )  # fmt: skip


def named(name: str) -> str | Player:
    """A player by name, where `run:DIR` is what the run in that directory has learned."""
    if not name.startswith(RUN):
        return name
    return Player(name, OUTSIDE, policy=learned_by(Path(name.removeprefix(RUN))))
