"""All tasks by name; a file for each family."""

from __future__ import annotations

from backplay.paper.sparse_tasks.classic import CLASSIC, FLAG, OURS
from backplay.paper.sparse_tasks.minigrid import MINIGRID
from backplay.paper.sparse_tasks.robotics import ROBOTICS
from backplay.paper.sparse_tasks.task import Task

TASKS: dict[str, Task] = {**CLASSIC, **MINIGRID, **ROBOTICS, **OURS, **FLAG}
"""By the name that a job has for it."""
