"""All experiments by name: what `backplay experiments` lists and `backplay reproduce` makes."""

from __future__ import annotations

from backplay.experiments.experiment import Experiment
from backplay.experiments.grid_experiments import GRID_WORLDS
from backplay.experiments.gym_experiments import MOUNTAINCAR
from backplay.experiments.maze_experiments import MAZE_EXPERIMENTS
from backplay.experiments.pommerman_experiments import POMMERMAN_EXPERIMENTS
from backplay.experiments.theory_experiment import THEORY

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
