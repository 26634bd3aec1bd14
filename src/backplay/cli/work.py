"""`backplay work`: carries out one prepared run directory; what `reproduce` starts many of."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass

from backplay.cli.options import OnRun


@dataclass(frozen=True, kw_only=True)
class WorkConfig(OnRun):
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

    save_seconds: float = 30.0
    """At most so much work is lost to a kill."""
    tensorboard: bool = False
    """Write logs for TensorBoard, too, into the run's directory."""


def work(config: WorkConfig) -> int:
    """Works until the end or until it is told to stop, which is exit code 128 + n."""
    from backplay.cli.carrying import carry
    from backplay.learners.workers import distributed
    from backplay.runs import open_run

    workers = distributed()
    code = carry(
        open_run(config.dir), f"backplay work {shlex.quote(str(config.dir))}",
        tensorboard=config.tensorboard, save_seconds=config.save_seconds, workers=workers,
        trust=config.trust,
    )  # fmt: skip
    if workers.size > 1:
        # All is written. Threads of torch's process group can abort an interpreter that ends.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
