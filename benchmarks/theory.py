"""How fast the simulations and the exact counts are.

Each is timed after a first call that compiles it; the best of a few rounds counts. Ends with one
JSON line. Run: .venv/bin/python benchmarks/theory.py
"""

import json
import time

import numpy as np

from backplay.curricula import Standard, Uniform
from backplay.theory import (
    Chain,
    log_passage_times,
    log_relaxation,
    maze,
    merging_cost,
    phases,
    simulate_chain,
    simulate_graph,
    walking_cost,
)

ROUNDS, TRIALS = 3, 1_000_000


def best(action):
    action()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


def million_trials():
    """A chain on which the start is practically never updated: every trial lasts 50 steps."""
    chain = Chain.constant(50, 0.4)
    simulate_chain(
        chain, Standard(), horizon=50, runs=1, rng=np.random.default_rng(0), max_trials=TRIALS
    )


def maze_runs():
    task = maze(12, 30, np.random.default_rng(0))
    simulate_graph(task, Uniform(), horizon=100, runs=200, rng=np.random.default_rng(0))


def main() -> None:
    chain, long = Chain.constant(50, 0.4), Chain.constant(2000, 0.001)
    cases = {
        "1e6 trials of 50 steps on a chain of 50": million_trials,
        "200 runs in a maze of 12 x 12, Uniform": maze_runs,
        "exact counts, merging, M = 50": lambda: merging_cost(chain, phases(Standard(), 50), 50),
        "exact counts, walking, M = 50": lambda: walking_cost(chain, phases(Standard(), 50), 50),
        "first passage, M = 2,000": lambda: log_passage_times(long),
        "spectral gap, M = 2,000": lambda: log_relaxation(long),
    }
    results = {}
    for name, action in cases.items():
        seconds = best(action)
        results[name] = round(seconds, 6)
        print(f"{name:<45}{1000 * seconds:>12.2f} ms")
    print(json.dumps({"benchmark": "theory", "seconds": results}))


if __name__ == "__main__":
    main()
