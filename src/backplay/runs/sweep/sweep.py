"""Sees all tasks to their end: starts what waits, takes in what has ended, tries again who died.

Comes in: tasks and a crew. Goes out: events in words; who is done, running, waiting, failed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from backplay.errors import BackplayError
from backplay.runs import open_run
from backplay.runs.sweep.crew import Crew, Ended
from backplay.runs.sweep.left import time_left
from backplay.runs.sweep.standing import Standing, read_standing
from backplay.runs.sweep.task import Task
from backplay.runs.sweep.worker import BUSY, REFUSED, STOPPED

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
    """Tasks on their way to their end.

    A worker that dies is followed by another, which goes on from the last checkpoint. After
    `retries` of them in a row without a new checkpoint the task has failed, and the others go on.
    """

    def __init__(self, tasks: Sequence[Task], crew: Crew, *, retries: int = RETRIES) -> None:
        """Leaves alone what is finished already."""
        self.tasks = list(tasks)
        self.failed: dict[str, str] = {}
        """Tasks that will not be finished, and why."""
        self.done: list[str] = []
        self.stopping = False
        self._crew = crew
        self._retries = retries
        self._by_name = {task.name: task for task in tasks}
        self._running: dict[str, Task] = {}
        self._waiting: deque[Task] = deque()
        self._deaths: dict[str, tuple[int, str]] = {}  # in a row, and the checkpoint they left
        self._not_before: dict[str, float] = {}  # of tasks that another process works on
        self._ends: dict[str, Standing] = {}  # of what changes no more
        for task in tasks:
            self._sort(task)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to wait for."""
        return not self._running and (self.stopping or not self._waiting)

    def step(self) -> list[str]:
        """Takes in who has ended and starts who may start; what happened, in words."""
        events = [words for ended in self._crew.ended() if (words := self._take(ended))]
        while not self.stopping and len(self._running) < self._crew.size and (task := self._next()):
            self._running[task.name] = task
            self._crew.start(task)
        return events

    def stop(self) -> None:
        """Starts nobody any more and asks all who work to save and stop."""
        self.stopping = True
        self._crew.stop()

    def kill(self) -> None:
        """Ends all workers at once; their runs go on from their last checkpoints another time."""
        self.stopping = True
        self._crew.kill()
        self._running.clear()

    def overview(self) -> Overview:
        """Where all stand, read from their files."""
        standings = {task.name: self._standing(task) for task in self.tasks}
        alive = [task for task in self.tasks if task.name not in self.failed]
        weights = [task.seconds or task.frames or 1.0 for task in self.tasks]
        shares = [
            weight * standings[task.name].share
            for weight, task in zip(weights, self.tasks, strict=True)
        ]
        return Overview(
            done=len(self.done),
            waiting=len(self._waiting),
            failed=len(self.failed),
            running=[standings[name] for name in self._running],
            share=sum(shares) / sum(weights) if weights else 1.0,
            seconds_left=time_left(alive, standings, self._crew.size),
        )

    def _sort(self, task: Task) -> None:
        """Puts a task where it belongs at the beginning."""
        try:
            finished = open_run(task.path).result is not None
        except BackplayError as error:
            self.failed[task.name] = str(error)
            return
        if finished:
            self.done.append(task.name)
        else:
            self._waiting.append(task)

    def _take(self, ended: Ended) -> str:
        """Notes the end of a worker; words for it, "" where there is nothing to say."""
        task = self._running.pop(ended.name, None)
        if task is None:  # killed, and forgotten
            return ""
        if ended.code == 0 or (ended.code in (BUSY, STOPPED) and _is_done(task)):
            self.done.append(task.name)
            return f"{task.name}: done{_told(task)}{_success(read_standing(task))}"
        if ended.code == BUSY and not self.stopping:
            return self._wait_for_another(task)
        if self.stopping and ended.code != REFUSED:
            self._waiting.append(task)
            return ""
        if ended.code == REFUSED:
            return self._give_up(task, ended.words)
        return self._try_again(task, ended)

    def _try_again(self, task: Task, ended: Ended) -> str:
        """Lets a task whose worker died wait for another one, unless too many have died."""
        words = "stopped by someone else" if ended.code == STOPPED else ended.words
        deaths, before = self._deaths.get(task.name, (0, ""))
        checkpoint = _newest_checkpoint(task)
        deaths = 1 if checkpoint > before else deaths + 1
        self._deaths[task.name] = deaths, checkpoint
        if deaths > self._retries:
            again = f"{deaths} times in a row without a new checkpoint"
            return self._give_up(task, f"{words}, {again}")
        self._waiting.appendleft(task)
        where = "its last checkpoint" if checkpoint else "the beginning"
        return f"{task.name}: {words}; goes on from {where}"

    def _wait_for_another(self, task: Task) -> str:
        """Lets a task that another process works on wait at the end of the line."""
        first = task.name not in self._not_before
        self._not_before[task.name] = time.monotonic() + BUSY_SECONDS
        self._waiting.append(task)
        return f"{task.name}: another process works on it; waiting for it" if first else ""

    def _next(self) -> Task | None:
        """The first of the line that need not wait longer."""
        now = time.monotonic()
        for task in self._waiting:
            if self._not_before.get(task.name, 0.0) <= now:
                self._waiting.remove(task)
                return task
        return None

    def _give_up(self, task: Task, words: str) -> str:
        self.failed[task.name] = words
        return f"{task.name}: failed: {words}"

    def _standing(self, task: Task) -> Standing:
        if task.name in self._ends:
            return self._ends[task.name]
        standing = read_standing(task)
        if standing.finished or task.name in self.failed:
            self._ends[task.name] = standing
        return standing


def _newest_checkpoint(task: Task) -> str:
    """Its file name, which grows with the frames; "" if there is none."""
    files = (task.path / "checkpoints").glob("*.safetensors")
    return max((file.name for file in files), default="")


def _is_done(task: Task) -> bool:
    try:
        return open_run(task.path).result is not None
    except BackplayError:
        return False


def _told(task: Task) -> str:
    """What was odd about how it was gone on with."""
    try:
        notes = [note for process in open_run(task.path).processes() for note in process["notes"]]
    except (BackplayError, KeyError, TypeError):
        return ""
    return f" ({'; '.join(map(str, notes))})" if notes else ""


def _success(standing: Standing) -> str:
    return "" if standing.success is None else f", {standing.success:.0%} from the true start"
