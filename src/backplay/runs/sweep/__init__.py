"""Many run directories, carried out by workers: who waits, who works, who died, how far all are.

Comes in: tasks, each a prepared run directory, and a crew that can carry them out. Goes out: events
in words, and where every run stands, as data. Does not know: jobs, learners, screens.
"""

from backplay.runs.sweep.crew import Crew, Ended, Local
from backplay.runs.sweep.left import time_left
from backplay.runs.sweep.standing import Standing, read_standing
from backplay.runs.sweep.sweep import Overview, Sweep
from backplay.runs.sweep.task import Task
from backplay.runs.sweep.worker import Worker, work_command

__all__ = [
    "Crew",
    "Ended",
    "Local",
    "Overview",
    "Standing",
    "Sweep",
    "Task",
    "Worker",
    "read_standing",
    "time_left",
    "work_command",
]
