"""Minibatches: the samples of a rollout, shuffled and cut, each worker with its own of them.

Comes in: the samples of this worker's envs, [steps * envs, ...], and an order of all workers'
samples. Goes out: which rows are its own, and where each minibatch begins among them. Does not
know: losses.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from backplay.learners.observations import Tensors, map_tensors, rows_of
from backplay.learners.workers import EnvRange


class Batch(NamedTuple):
    """What the losses need of a rollout's steps, flattened to [steps * envs, ...]."""

    observations: Tensors
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor


def select(batch: Batch, rows: Tensor) -> Batch:
    """The samples of these rows, in their order."""
    return Batch(
        rows_of(batch.observations, rows), *(part.index_select(0, rows) for part in batch[1:])
    )


def cut(batch: Batch, first: int, last: int) -> Batch:
    """The samples from `first` to before `last`, as views."""
    observations = map_tensors(lambda part: part[first:last], batch.observations)
    return Batch(observations, *(part[first:last] for part in batch[1:]))


def own_rows(order: Tensor, bounds: list[int], own: EnvRange) -> tuple[Tensor, list[int]]:
    """Which rows of its own batch a worker takes, in order, and its part of each minibatch.

    Args:
        order: samples of all workers, numbered by step, then by env.
        bounds: where each minibatch begins in it, and where the last one ends.
        own: the worker's envs.
    """
    if own.count == own.total:
        return order, bounds
    steps, envs = order // own.total, order % own.total
    mine = (envs >= own.first) & (envs < own.last)
    rows = (steps * own.count + envs - own.first)[mine]
    before = torch.cat([torch.zeros(1, dtype=torch.int64), mine.cumsum(0)])
    return rows, before[bounds].tolist()


def normalise(advantages: Tensor, among: Tensor) -> Tensor:
    """Advantages shifted and scaled so that `among` has mean 0 and deviation 1."""
    std, mean = torch.std_mean(among, correction=0)
    return (advantages - mean) / (std + 1e-8)
