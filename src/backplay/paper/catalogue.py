"""All experiments by name: what `backplay experiments` lists and `backplay reproduce` makes."""

from __future__ import annotations

from backplay.paper.experiment import Experiment
from backplay.paper.grid_worlds.experiment import GRID_WORLDS
from backplay.paper.maze.experiments import MAZE_EXPERIMENTS
from backplay.paper.pommerman.experiments import POMMERMAN_EXPERIMENTS
from backplay.paper.sparse_tasks.experiment import MOUNTAINCAR
from backplay.paper.theory.experiment import THEORY

__all__ = ["EXPERIMENTS", "Experiment"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *MAZE_EXPERIMENTS,
        GRID_WORLDS,
        THEORY,
        *POMMERMAN_EXPERIMENTS,
        MOUNTAINCAR,
    )
}
