"""Whether an agent decides like the recorded one: its actions against recorded counts.

`tally` lets a kernel decide many times in a state with fresh memory; `p_value` is exact however few
decisions were recorded; `verdict` judges all states together.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from scipy.special import gammaln
from scipy.stats import binom

from backplay.envs import chance
from backplay.envs.pommerman import states
from backplay.envs.pommerman.agents import MEMORY, SCRATCH, forget
from backplay.envs.pommerman.layout import ACTIONS

GOLDEN = Path(__file__).parents[2] / "golden" / "pommerman"


def read_lines(name: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a golden file."""
    with gzip.open(GOLDEN / name, "rt") as lines:
        yield from map(json.loads, lines)


@dataclass(frozen=True)
class Case:
    """A state, a seat, and how often the recorded agent took each action there."""

    name: str
    row: np.ndarray
    seat: int
    counts: np.ndarray


def cases(agent: str) -> list[Case]:
    """The recorded decisions of an agent with fresh memory."""
    return [
        Case(
            f"game {line['seed']} step {line['state']['t']} seat {line['agent']}",
            states.from_json(line["state"]),
            line["agent"],
            np.array(line[agent]),
        )
        for line in read_lines("policies.jsonl.gz")
    ]


def tally(decide: Any, case: Case, options: np.ndarray, draws: int, seed: int = 0) -> np.ndarray:
    """How often each action is taken in `draws` decisions, each with its own memory and stream.

    `decide` is a kernel (s, seat, memory, streams, i, options, scratch) -> action.
    """
    memory, scratch = np.zeros(MEMORY, np.int16), np.zeros(SCRATCH, np.int16)
    streams = chance.streams(seed, draws)
    return _tally(decide, case.row, case.seat, memory, streams, options, scratch)


@njit(nogil=True)
def _tally(decide, s, seat, memory, streams, options, scratch):
    counts = np.zeros(ACTIONS, np.int64)
    for i in range(len(streams)):
        forget(memory)
        counts[decide(s, seat, memory, streams, i, options, scratch)] += 1
    return counts


def p_value(recorded: np.ndarray, ours: np.ndarray) -> float:
    """Exact two-sample test: how likely a recorded sample as odd as this is, if both are one agent.

    Given what both samples hold together, every split has its hypergeometric probability; this is
    the sum over all splits at most as likely as the one seen.
    """
    together = recorded + ours
    kept = together > 0
    together = together[kept]
    splits = _splits(int(recorded.sum()), int(kept.sum()))
    splits = splits[(splits <= together).all(axis=1)]

    def log_likelihood(split: np.ndarray) -> np.ndarray:
        return -(gammaln(split + 1) + gammaln(together - split + 1)).sum(axis=-1)

    logs = log_likelihood(splits)
    weights = np.exp(logs - logs.max())
    as_odd = logs <= log_likelihood(recorded[kept]) + 1e-9
    return float(weights[as_odd].sum() / weights.sum())


@cache
def _splits(total: int, parts: int) -> np.ndarray:
    """All ways to write `total` as a sum of `parts` counts; [ways, parts]."""
    if parts == 1:
        return np.array([[total]], np.int16)
    return np.concatenate(
        [
            np.insert(_splits(total - first, parts - 1), 0, first, axis=1)
            for first in range(total + 1)
        ]
    )


@dataclass(frozen=True)
class Verdict:
    """What the p-values of many states say together."""

    odd: list[str]
    """States where luck alone does not explain the difference."""
    too_many: bool
    """Whether more states are a little odd (p < 0.05) than luck explains."""
    matching: int
    """States that are not odd."""


def verdict(p_values: dict[str, float], level: float = 0.001) -> Verdict:
    """One verdict on many states: a true agent fails with probability at most 2 * `level`."""
    values = np.array(list(p_values.values()))
    odd = [f"{name}: p = {p:.2g}" for name, p in p_values.items() if p < level / len(values)]
    slightly = int((values < 0.05).sum())
    too_many = bool(binom.sf(slightly - 1, len(values), 0.05) < level)
    return Verdict(odd, too_many, len(values) - len(odd))
