"""Ray: the workers of a sweep on all machines of a cluster.

    pool = Cluster("auto")                  # or None: a cluster of this machine alone
    sweep = Sweep(tasks, pool)

Each task is a Ray task of one CPU that guards the same process that a sweep without Ray starts, so
the runs end with the same bytes. The guard is a few lines and holds nothing: if it is killed, or
its machine is lost, the process dies with it (see `runs.processes`), Ray starts the guard somewhere
else, and the run goes on from its last checkpoint. Run directories must be on a path that all
machines see; progress is read from them.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from backplay.errors import BackplayError
from backplay.extras import require
from backplay.runs.processes import Ended, Planned, RunProcess, process_command

require("ray")

import ray  # noqa: E402  # after the clear error
from ray.exceptions import RayError, TaskCancelledError  # noqa: E402

RETRIES = 3
"""How often Ray replaces a guard before the sweep is told."""
_DIED, _REFUSED, _STOPPED = -9, 2, 130
_STORE_BYTES = 80 * 2**20  # next to nothing passes through Ray
_LOOK_SECONDS = 0.2


class Cluster:
    """A pool whose workers run wherever Ray has a free CPU."""

    def __init__(
        self,
        address: str | None = None,
        size: int | None = None,
        command: Callable[[Path], Sequence[str]] = process_command,
    ) -> None:
        """Joins the cluster at `address`, or starts one on this machine.

        Args:
            address: "auto" or host:port; None for a cluster of this machine that ends with us.
            size: tasks at once; by default as many as there are CPUs.
            command: what carries out a run directory, made on the machine that does.
        """
        _join(address, size)
        self._size = size or _cpus()
        self._command = command
        self._guard = ray.remote(num_cpus=1, max_retries=RETRIES)(guard)
        self._tasks: dict[Any, str] = {}

    @property
    def size(self) -> int:
        return self._size

    def start(self, task: Planned) -> None:
        self._tasks[self._guard.remote(str(task.path.resolve()), self._command)] = task.name

    def ended(self) -> list[Ended]:
        if not self._tasks:
            return []
        ready, _ = ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
        return [Ended(self._tasks.pop(task), *_outcome(task)) for task in ready]

    def stop(self) -> None:
        for task in self._tasks:
            ray.cancel(task)

    def kill(self) -> None:
        for task in self._tasks:
            ray.cancel(task, force=True)

    def close(self) -> None:
        self.kill()
        self._tasks.clear()
        ray.shutdown()


def guard(path: str, command: Callable[[Path], Sequence[str]]) -> tuple[int, str]:
    """Carries out a run directory in a process of this machine; its exit code and last words.

    `ray.cancel` is a KeyboardInterrupt here, and for the process the wish that it saves and stops.
    """
    folder = Path(path)
    if not folder.is_dir():
        where = f"{path} is not there on {socket.gethostname()}"
        return _REFUSED, f"{where}: --dir must be a path that all machines see"
    worker = RunProcess(folder, command(folder))
    stopping = False
    while worker.code() is None:
        try:
            time.sleep(_LOOK_SECONDS)
        except KeyboardInterrupt:
            stopping = True
        if stopping:
            worker.stop()
            return worker.wait(), worker.words()
    return worker.wait(), worker.words()


def _outcome(task: Any) -> tuple[int, str]:
    """Exit code and words of a guard that has ended, however it did."""
    try:
        code, words = ray.get(task)
        return int(code), str(words)
    except TaskCancelledError:
        return _STOPPED, "stopped"
    except RayError as error:  # the guard or its machine was lost more often than Ray tries again
        first = str(error).strip().split("\n")[0]
        return _DIED, f"lost by Ray: {type(error).__name__}: {first[:200]}"


def _cpus() -> int:
    cluster: Any = ray  # this function of it has no types
    return max(1, int(cluster.cluster_resources().get("CPU", 1)))


def _use_token(token: str) -> None:
    """From now on this process and the cluster that it starts speak only to who knows the token."""
    os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", token
    internal: Any = ray._raylet
    if hasattr(internal, "AuthenticationTokenLoader"):  # Ray from 2.52 on; read anew
        internal.Config.initialize("")
        internal.AuthenticationTokenLoader.instance().reset_cache()


def _stay_on_this_machine() -> None:
    """A cluster that is started now listens to this machine alone, as Ray has it on macOS."""
    constants: Any = ray._private.ray_constants
    os.environ[constants.ENABLE_RAY_CLUSTERS_ENV_VAR] = "0"  # for the processes that it starts
    constants.ENABLE_RAY_CLUSTER = False  # read when Ray was imported


def _join(address: str | None, size: int | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's own workers are nice, on a busy machine too nice to get anything done beside others.
    os.environ.setdefault("RAY_worker_niceness", "0")
    if not address:  # a cluster of our own runs nobody else's tasks
        _stay_on_this_machine()
        _use_token(secrets.token_hex(32))
    local: dict[str, Any] = {
        "num_cpus": size,
        "include_dashboard": False,
        "object_store_memory": _STORE_BYTES,
    }
    try:
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            **({} if address else local),
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise BackplayError(
            f"No Ray cluster at {address}" if address else "Ray does not start here",
            got=str(error).strip().split("\n")[0][:200],
            do="Start one: ray start --head; or pass --ray alone for this machine's own."
            if address else "Leave out --ray: the runs are the same.",
        ) from error  # fmt: skip
