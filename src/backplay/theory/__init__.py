"""Theory: the paper's analysis as functions: chains, first-passage times, rates, simulations."""

# ruff: noqa: E402  # the clear error comes first

from backplay.extras import require

require("numba", "scipy", "networkx")

from backplay.theory.bounds import (
    Cost,
    log_backplay,
    log_backplay_sum,
    log_standard,
    log_uniform,
    merging_cost,
    number,
    walking_cost,
)
from backplay.theory.chains import Chain
from backplay.theory.graphs import GraphTask, grid, line, maze, regular, tree
from backplay.theory.growth import Growth, growth
from backplay.theory.hitting import (
    eigenvalues,
    generating_function,
    hitting_times,
    log_passage_times,
    log_reach_within,
    log_relaxation,
    mean_length_within,
    passage_times,
    spectral_gap,
)
from backplay.theory.projection import Projection, project
from backplay.theory.simulate import Runs, simulate_chain, simulate_graph
from backplay.theory.starts import Phases, phases, stepwise, windowed
from backplay.theory.studies import STUDIES, run_studies
from backplay.theory.study import Finding, Panel, Series, Sizes, Study, Table
