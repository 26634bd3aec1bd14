"""Learning on chains and graphs, simulated: how many trials until the start's value is updated.

Comes in: a chain or a `GraphTask`, a curriculum, a generator. Goes out: `Runs`, trials and steps of
many independent runs. The learner does one-step backups under a fixed random policy, and only one
thing is kept of its table: which nodes have a value that the goal has reached. The goal is
informed; a node becomes informed when a step from it leads to an informed one. `bounds` says the
same of chains and names the two readings, *walking* and *merging*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from backplay.curricula import Curriculum
from backplay.curricula.curriculum import FloatArray, IntArray, real_number, whole_number
from backplay.errors import ensure
from backplay.theory.chains import Chain
from backplay.theory.graphs import GraphTask
from backplay.theory.projection import walk
from backplay.theory.starts import Phases, phases


@dataclass(frozen=True, eq=False)
class Runs:
    """What came of independent runs."""

    trials: IntArray
    """Trials until the start was updated, that one included, [runs]."""
    steps: IntArray
    """Steps until the start was updated, [runs]."""
    finished: NDArray[np.bool_]
    """Whether it was updated within `max_trials`; if not, the counts are what was spent, [runs]."""


@dataclass(frozen=True, eq=False)
class _World:
    """A walk in rows: the steps from node v are the entries first[v] to first[v + 1]."""

    first: IntArray
    to: IntArray
    cumulative: FloatArray
    goal: int
    path: IntArray
    starts: IntArray


def simulate_chain(
    chain: Chain,
    curriculum: Curriculum,
    *,
    horizon: int,
    runs: int,
    rng: np.random.Generator,
    merging: bool = False,
    trials_per_phase: int | None = None,
    max_trials: int = 10_000_000,
) -> Runs:
    """Runs on a chain whose demonstration is the straight way M, M - 1, .., 0.

    Args:
        chain: the chain.
        curriculum: where trials start; each window of a Backplay is a phase, see `starts.phases`.
        horizon: most steps of a trial.
        runs: independent runs.
        rng: the only source of randomness.
        merging: whether a trial ends with its first update, as in the paper's proof.
        trials_per_phase: a phase lasts so many trials; None: until its farthest start is updated.
        max_trials: a run gives up after so many.
    """
    world = _as_world(chain.matrix, 0, np.arange(chain.length, -1, -1), np.asarray([chain.length]))
    where = phases(curriculum, chain.length)
    return _simulate(world, where, 1, horizon, runs, rng, merging, trials_per_phase, max_trials)


def simulate_graph(
    task: GraphTask,
    curriculum: Curriculum,
    *,
    horizon: int,
    runs: int,
    rng: np.random.Generator,
    policy: ArrayLike | None = None,
    share: float = 1.0,
    merging: bool = False,
    trials_per_phase: int | None = None,
    max_trials: int = 10_000_000,
) -> Runs:
    """Runs on a task; step 0 of the demonstration means the task's own start, as in `BackplayEnv`.

    Args:
        task: the graph, its starts and its demonstration.
        curriculum: as in `simulate_chain`.
        horizon: most steps of a trial.
        runs: independent runs.
        rng: the only source of randomness.
        policy: probabilities [n, n] along the edges; None walks to a uniformly drawn neighbour.
        share: a run is over when this share of the task's starts has been updated.
        merging: whether a trial ends with its first update.
        trials_per_phase: as in `simulate_chain`; a phase ends with the demonstration's own node.
        max_trials: a run gives up after so many.
    """
    nodes, matrix = walk(task.graph, policy)
    index = {node: i for i, node in enumerate(nodes)}
    world = _as_world(
        matrix,
        index[task.goal],
        np.asarray([index[node] for node in task.demonstration]),
        np.asarray([index[node] for node in task.starts]),
    )
    share = real_number("share", share, at_most=1.0)
    needed = max(1, int(np.ceil(share * len(task.starts) - 1e-9)))
    where = phases(curriculum, task.length)
    return _simulate(
        world, where, needed, horizon, runs, rng, merging, trials_per_phase, max_trials
    )


def _as_world(matrix: FloatArray, goal: int, path: IntArray, starts: IntArray) -> _World:
    rows, to = np.nonzero(matrix)
    first = np.searchsorted(rows, np.arange(len(matrix) + 1))
    cumulative = np.cumsum(matrix[rows, to]) - np.arange(len(matrix))[rows]
    cumulative[first[1:] - 1] = 2.0  # the last step of a row takes all that is left
    return _World(first, to, cumulative, goal, path, starts)


def _simulate(
    world: _World,
    where: Phases,
    needed: int,
    horizon: int,
    runs: int,
    rng: np.random.Generator,
    merging: bool,
    trials_per_phase: int | None,
    max_trials: int,
) -> Runs:
    ensure(isinstance(rng, np.random.Generator), "rng", "a numpy Generator", rng)
    runs = whole_number("runs", runs, at_least=1)
    cumulative = np.cumsum(where.weights, axis=1)
    cumulative[:, -2:] = 2.0  # nothing starts at the end
    lasts = (
        -1 if trials_per_phase is None
        else whole_number("trials_per_phase", trials_per_phase, at_least=1)
    )  # fmt: skip
    trials = np.zeros(runs, np.int64)
    steps = np.zeros(runs, np.int64)
    finished = np.zeros(runs, np.bool_)
    size = len(world.first) - 1
    is_start = np.zeros(size, np.bool_)
    is_start[world.starts] = True
    _run(
        world.first, world.to, world.cumulative, world.goal, world.path, world.starts, is_start,
        cumulative, where.farthest, lasts, needed, whole_number("horizon", horizon, at_least=1),
        whole_number("max_trials", max_trials, at_least=1), bool(merging), rng,
        np.zeros(size, np.bool_), trials, steps, finished,
    )  # fmt: skip
    return Runs(trials, steps, finished)


@njit(cache=True, nogil=True)
def _run(  # type: ignore[no-untyped-def]
    first, to, cumulative, goal, path, starts, is_start,
    phase_cumulative, farthest, lasts, needed, horizon, max_trials, merging, rng,
    informed, trials, steps, finished,
):  # fmt: skip
    """Fills trials, steps and finished [runs]; informed [n] is for work."""
    for run in range(trials.shape[0]):
        informed[:] = False
        informed[goal] = True
        phase, missing, trial, step = 0, needed, 0, 0
        while missing > 0 and trial < max_trials:
            if lasts > 0:
                phase = min(trial // lasts, farthest.shape[0] - 1)
            else:
                while phase < farthest.shape[0] - 1 and informed[path[farthest[phase]]]:
                    phase += 1
            trial += 1
            at = _start(path, starts, phase_cumulative[phase], rng)
            if merging and informed[at]:
                continue
            for _ in range(horizon):
                draw = rng.random()
                entry = first[at]
                while draw >= cumulative[entry]:
                    entry += 1
                after = to[entry]
                step += 1
                if informed[after] and not informed[at]:
                    informed[at] = True
                    if is_start[at]:
                        missing -= 1
                    if merging or missing == 0:
                        break
                at = after
                if at == goal:
                    break
        trials[run], steps[run], finished[run] = trial, step, missing == 0


@njit(cache=True, nogil=True)
def _start(path, starts, cumulative, rng):  # type: ignore[no-untyped-def]
    """The node a trial begins in: a node of the demonstration, or at step 0 one of the starts."""
    draw = rng.random()
    step = np.searchsorted(cumulative, draw, side="right")
    if step > 0:
        return path[step]
    return starts[0] if starts.shape[0] == 1 else starts[int(rng.random() * starts.shape[0])]
