"""What a job costs, before it is run: seconds of one core, roughly.

Comes in: a job. Goes out: seconds. The numbers are of the machine of results/maze.md, two cores
that other work shared; half or twice as much elsewhere would be no surprise.
"""

from __future__ import annotations

from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.maze.job import MINIBATCHES, PASSES, MazeJob
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.sparse_tasks.job import GymJob
from backplay.train.job import Job

MILLION = 1_000_000
SETTLED = 10_240_000  # frames up to which a Maze run of our preset has as many gradient steps

# Measured, results/maze.md: a run of our preset at 10.24 million frames.
_MAZE_OURS = {
    "backplay": 390.0, "uniform": 540.0, "standard": 420.0, "florensa": 300.0,
    "cloned+ppo": 480.0, "kickstarted": 660.0,
}  # fmt: skip
_CLONING = 40.0
_SAMPLING = 0.3  # of such a run's seconds, what goes with its frames and not with gradient steps
# At a hundredth of the paper's frames a run took 35 s: 25 s for its frames and evaluations, 45 ms
# for each of its 125 gradient steps, the rest before the first update.
_MAZE_BEGIN = 2.0
_LEAST_EFFORT = 1 / (MINIBATCHES * PASSES)  # an update has one gradient step at least
_FEWEST = 640_000  # frames below which our preset has fewer updates
_MAZE_PAPER = 23.0  # a million frames: 71 to 86 minutes for 204.8
_MANY_MAZES = 3.0  # times as much where hardly any state comes twice
_GRID = 15.0  # a million frames: 3 s for 200,000
_GYM = 250.0  # a million frames
# A million frames: the smaller network measured over some thousand frames, the paper's from its
# 2.3 GFLOP a frame and what the smaller one reaches.
_POMMERMAN = {"ours": 1_500.0, "paper": 35_000.0}
_STUDY = 8.0


def seconds(job: Job) -> float:
    """Core-seconds of one job."""
    millions = job.frames / MILLION
    if isinstance(job, MazeJob):
        return _of_maze(job)
    if isinstance(job, PommermanJob):
        return 60.0 + _POMMERMAN[job.preset] * millions
    if isinstance(job, GridJob):
        return 1.0 + _GRID * millions
    if isinstance(job, GymJob):
        return 5.0 + _GYM * millions
    return _STUDY


def _of_maze(job: MazeJob) -> float:
    if job.regime == "cloned":
        return _CLONING
    many = _MANY_MAZES if job.mazes > 1_000 else 1.0
    if job.preset == "paper":
        return many * _MAZE_PAPER * job.frames / MILLION
    share = job.frames / SETTLED
    whole = _MAZE_OURS[job.regime] * max(1.0, share)
    steps = max(job.effort, _LEAST_EFFORT) * min(1.0, job.frames / _FEWEST)
    return _MAZE_BEGIN + many * whole * (_SAMPLING * min(1.0, share) + (1 - _SAMPLING) * steps)
