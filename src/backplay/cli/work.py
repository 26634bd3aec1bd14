"""`backplay work`: carries out one prepared run directory; what `reproduce` starts many of."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True, kw_only=True)
class WorkConfig:
    """Carries out one run directory that `backplay reproduce --prepare-only` has made.

        backplay reproduce maze-table --prepare-only --dir /shared/runs
        backplay work /shared/runs/maze/scale-0.05/optimal-backplay-0

    For a cluster with a queue of its own: one such command per job of the queue, in any order, on
    any machine that sees the directory. It goes on from the last checkpoint, so the queue may kill
    it and start it again. Several processes can share one run, see docs/distributed.md:

        torchrun --nproc-per-node 2 -m backplay.cli work runs/mine

    Ctrl-C, SIGTERM and SIGHUP save and stop it after the present update, with the exit code 128 +
    n of signal n. A second one stops it at once.
    """

    dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """The run directory."""
    env: str | None = None
    """The run's environment, said again, if it is code of yours: file.py:Class or module:Class."""
    trust: bool = False
    """Let the file name paths and code to the environment; see docs/trust.md."""
    save_seconds: float = 30.0
    """At most so much work is lost to a kill."""
    tensorboard: bool = False
    """Write logs for TensorBoard, too, into the run's directory."""


def work(config: WorkConfig) -> int:
    """Works until the end or until it is told to stop, which is exit code 128 + n."""
    from backplay.cli.carrying import carry
    from backplay.learners.workers import distributed
    from backplay.runs import open_run
    from backplay.train.own_envs import on_my_word

    if config.env is not None:
        on_my_word(config.env)
    return carry(
        open_run(config.dir), f"backplay work {shlex.quote(str(config.dir))}",
        tensorboard=config.tensorboard, save_seconds=config.save_seconds, workers=distributed(),
        trust=config.trust,
    )  # fmt: skip
