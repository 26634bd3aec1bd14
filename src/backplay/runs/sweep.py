"""Sees all runs to their end: starts what waits, takes in what has ended, tries again who died.

Comes in: runs and a pool. Goes out: events in words; who is done, running, waiting, failed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from backplay.errors import BackplayError
from backplay.runs.directory import open_run
from backplay.runs.processes import BUSY, REFUSED, STOPPED, Ended, Planned, Pool
from backplay.runs.standing import Standing, read_standing, time_left

RETRIES = 3
BUSY_SECONDS = 5.0  # until a run is tried again that another process works on


@dataclass(frozen=True, kw_only=True)
class Overview:
    """Where a whole sweep stands."""

    done: int
    waiting: int
    failed: int
    running: list[Standing]
    share: float
    """How much of all work is done, from 0 to 1."""
    seconds_left: float | None


class Sweep:
    """Runs on their way to their end.

    A process that dies is followed by another, which goes on from the last checkpoint. After
    `RETRIES` of them in a row without a new checkpoint the run has failed, and the others go on.
    """

    def __init__(self, runs: Sequence[Planned], pool: Pool) -> None:
        """Leaves alone what is finished already."""
        self.runs = list(runs)
        self.failed: dict[str, str] = {}
        """Runs that will not be finished, and why."""
        self.done: list[str] = []
        self.stopping = False
        self.code = 0
        """The exit code of the signal that stopped it."""
        self._pool = pool
        self._running: dict[str, Planned] = {}
        self._waiting: deque[Planned] = deque()
        self._deaths: dict[str, tuple[int, str]] = {}  # in a row, and the checkpoint they left
        self._not_before: dict[str, float] = {}  # of runs that another process works on
        self._ends: dict[str, Standing] = {}  # of what changes no more
        for run in runs:
            self._sort(run)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to wait for."""
        return not self._running and (self.stopping or not self._waiting)

    def step(self) -> list[str]:
        """Takes in who has ended and starts who may start; what happened, in words."""
        events = [words for ended in self._pool.ended() if (words := self._take(ended))]
        while not self.stopping and len(self._running) < self._pool.size and (run := self._next()):
            self._running[run.name] = run
            self._pool.start(run)
        return events

    def stop(self, code: int = 130) -> None:
        """Starts nobody any more and asks all who work to save and stop; `code` is kept."""
        self.stopping, self.code = True, code
        self._pool.stop()

    def kill(self) -> None:
        """Ends all processes at once; their runs go on from their last checkpoints another time."""
        self.stopping = True
        self._pool.kill()
        self._running.clear()

    def overview(self) -> Overview:
        """Where all stand, read from their files."""
        standings = {run.name: self._standing(run) for run in self.runs}
        alive = [run for run in self.runs if run.name not in self.failed]
        weights = [run.seconds or run.frames or 1.0 for run in self.runs]
        shares = [
            weight * standings[run.name].share
            for weight, run in zip(weights, self.runs, strict=True)
        ]
        return Overview(
            done=len(self.done),
            waiting=len(self._waiting),
            failed=len(self.failed),
            running=[standings[name] for name in self._running],
            share=sum(shares) / sum(weights) if weights else 1.0,
            seconds_left=time_left(alive, standings, self._pool.size),
        )

    def _sort(self, run: Planned) -> None:
        """Puts a run where it belongs at the beginning."""
        try:
            finished = open_run(run.path).result is not None
        except BackplayError as error:
            self.failed[run.name] = str(error)
            return
        if finished:
            self.done.append(run.name)
        else:
            self._waiting.append(run)

    def _take(self, ended: Ended) -> str:
        """Notes the end of a process; words for it, "" where there is nothing to say."""
        run = self._running.pop(ended.name, None)
        if run is None:  # killed, and forgotten
            return ""
        if ended.code == 0 or (ended.code in (BUSY, *STOPPED) and _is_done(run)):
            self.done.append(run.name)
            return f"{run.name}: done{_told(run)}{_success(read_standing(run))}"
        if ended.code == BUSY and not self.stopping:
            return self._wait_for_another(run, ended.words)
        if self.stopping and ended.code != REFUSED:
            self._waiting.append(run)
            return ""
        if ended.code == REFUSED:
            return self._give_up(run, ended.words)
        return self._try_again(run, ended)

    def _try_again(self, run: Planned, ended: Ended) -> str:
        """Lets a run whose process died wait for another one, unless too many have died."""
        words = "stopped by someone else" if ended.code in STOPPED else ended.words
        deaths, before = self._deaths.get(run.name, (0, ""))
        checkpoint = _newest_checkpoint(run)
        deaths = 1 if checkpoint > before else deaths + 1
        self._deaths[run.name] = deaths, checkpoint
        if deaths > RETRIES:
            again = f"{deaths} times in a row without a new checkpoint"
            return self._give_up(run, f"{words}, {again}")
        self._waiting.appendleft(run)
        where = "its last checkpoint" if checkpoint else "the beginning"
        return f"{run.name}: {words}; goes on from {where}"

    def _wait_for_another(self, run: Planned, words: str) -> str:
        """Lets a run that cannot be worked on now wait at the end of the line."""
        first = run.name not in self._not_before
        self._not_before[run.name] = time.monotonic() + BUSY_SECONDS
        self._waiting.append(run)
        return f"{run.name}: {words}; waiting, it is tried again" if first else ""

    def _next(self) -> Planned | None:
        """The first of the line that need not wait longer."""
        now = time.monotonic()
        for run in self._waiting:
            if self._not_before.get(run.name, 0.0) <= now:
                self._waiting.remove(run)
                return run
        return None

    def _give_up(self, run: Planned, words: str) -> str:
        self.failed[run.name] = words
        return f"{run.name}: failed: {words}"

    def _standing(self, run: Planned) -> Standing:
        if run.name in self._ends:
            return self._ends[run.name]
        standing = read_standing(run)
        if standing.finished or run.name in self.failed:
            self._ends[run.name] = standing
        return standing


def _newest_checkpoint(run: Planned) -> str:
    """Its file name, which grows with the frames; "" if there is none."""
    files = (run.path / "checkpoints").glob("*.safetensors")
    return max((file.name for file in files), default="")


def _is_done(run: Planned) -> bool:
    try:
        return open_run(run.path).result is not None
    except BackplayError:
        return False


def _told(run: Planned) -> str:
    """What was odd about how it was resumed."""
    try:
        notes = [note for process in open_run(run.path).processes() for note in process["notes"]]
    except (BackplayError, KeyError, TypeError):
        return ""
    return f" ({'; '.join(map(str, notes))})" if notes else ""


def _success(standing: Standing) -> str:
    return "" if standing.success is None else f", {standing.success:.0%} from the true start"
