"""Workers: the processes that carry out one run together, each with some of the envs.

    workers = distributed()                     # as torchrun or Ray Train started this process
    training = Training(make_env, demos, curriculum, config, workers=workers)

Comes in: how this process was started. Goes out: its rank, sums over all workers, and what each of
them has to say. All workers draw from the same seeds and hold the same weights; what differs is
whose envs a sample came from. Does not know: what is summed, or who trains.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from backplay.data.packing import pack, unpack
from backplay.data.trees import Tree
from backplay.errors import BackplayError, ensure

TIMEOUT = 600.0  # seconds; the longest that others may have to wait is an evaluation by the first
_NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class EnvRange:
    """Of `total` envs, those from `first` to before `last`."""

    first: int
    last: int
    total: int

    @classmethod
    def of(cls, total: int, rank: int, size: int) -> EnvRange:
        """Those of the worker `rank` of `size`; the numbers differ by one at most."""
        return cls(total * rank // size, total * (rank + 1) // size, total)

    @property
    def count(self) -> int:
        """How many they are."""
        return self.last - self.first


class Workers(Protocol):
    """All workers of a run, seen from one of them. Every worker makes the same calls in turn."""

    @property
    def rank(self) -> int:
        """Which one this is, from 0; the first is the one that writes and shows."""

    @property
    def size(self) -> int:
        """How many there are."""

    def add(self, tensor: Tensor) -> Tensor:
        """The sum of all workers' tensors, in place; the same bits at every worker."""

    def gather(self, tree: Tree) -> list[Tree]:
        """What each worker gave, by rank: trees of plain data, see `backplay.data.trees`."""


class Alone:
    """One worker, the only one: nothing is sent."""

    rank = 0
    size = 1

    def add(self, tensor: Tensor) -> Tensor:
        return tensor

    def gather(self, tree: Tree) -> list[Tree]:
        return [tree]


class Distributed:
    """The workers of a process group of torch.distributed; tensors are on the CPU."""

    def __init__(self, group: Any) -> None:
        """Workers of `group`, which is of the backend gloo."""
        self._group = group
        self.rank = dist.get_rank(group)
        self.size = dist.get_world_size(group)

    def add(self, tensor: Tensor) -> Tensor:
        try:
            dist.all_reduce(tensor, group=self._group)
        except RuntimeError as error:
            raise BackplayError(
                "Another worker has ended or does not answer", expected=f"{self.size} workers",
                got=str(error)[:200],
                do="See what it said last. Start all workers again from the last checkpoint.",
            ) from error  # fmt: skip
        return tensor

    def gather(self, tree: Tree) -> list[Tree]:
        mine = torch.frombuffer(bytearray(_to_bytes(tree)), dtype=torch.uint8)
        sizes = torch.zeros(self.size, dtype=torch.int64)
        sizes[self.rank] = len(mine)
        parts = [torch.zeros(size, dtype=torch.uint8) for size in self.add(sizes).tolist()]
        parts[self.rank].copy_(mine)
        joined = torch.split(self.add(torch.cat(parts)), [len(part) for part in parts])
        return [_from_bytes(part.numpy().tobytes()) for part in joined]


def distributed(timeout_seconds: float = TIMEOUT) -> Workers:
    """The workers this process was started among: by torchrun, by Ray Train, or alone.

    A process group that exists already (Ray Train makes one) is used; else RANK, WORLD_SIZE,
    MASTER_ADDR and MASTER_PORT say where the others are. Without these the process is alone.

    Args:
        timeout_seconds: a worker that is not heard of for so long is given up, with an error.
    """
    ensure(timeout_seconds > 0, "timeout_seconds", "more than 0", timeout_seconds)
    if not dist.is_available():
        return Alone()
    if not dist.is_initialized():
        if "RANK" not in os.environ and "WORLD_SIZE" not in os.environ:
            return Alone()
        _require_complete()
    timeout = timedelta(seconds=timeout_seconds)
    try:
        if not dist.is_initialized():
            dist.init_process_group("gloo", timeout=timeout)
        if dist.get_world_size() == 1:
            return Alone()
        return Distributed(dist.new_group(backend="gloo", timeout=timeout))
    except (RuntimeError, ValueError) as error:
        raise BackplayError(
            "The workers did not meet", got=str(error)[:200],
            expected=f"{os.environ.get('WORLD_SIZE', 'all')} workers within {timeout_seconds:g} s",
            do="Are all of them started, and can they reach MASTER_ADDR at MASTER_PORT?",
        ) from error  # fmt: skip


def own_range(workers: Workers, count: int) -> EnvRange:
    """Those of a worker that has `count` envs, where each may have another number."""
    if workers.size == 1:
        return EnvRange(0, count, count)
    counts = torch.zeros(workers.size, dtype=torch.int64)
    counts[workers.rank] = count
    all_counts: list[int] = workers.add(counts).tolist()
    first = sum(all_counts[: workers.rank])
    return EnvRange(first, first + count, sum(all_counts))


def join(workers: Workers, part: Tensor, own: EnvRange, dim: int = 0) -> Tensor:
    """All workers' parts side by side along `dim`, in the order of the envs."""
    if workers.size == 1:
        return part
    shape = list(part.shape)
    shape[dim] = own.total
    whole = torch.zeros(shape, dtype=part.dtype)
    whole.narrow(dim, own.first, own.count).copy_(part)
    return workers.add(whole)


def means(workers: Workers, samples: list[Tensor]) -> list[float]:
    """The mean of each over the samples of all workers."""
    if workers.size == 1:
        return [float(part.mean()) for part in samples]
    sums = [part.sum(dtype=torch.float64) for part in samples]
    counts = [torch.tensor(float(part.numel()), dtype=torch.float64) for part in samples]
    total, count = workers.add(torch.stack([*sums, *counts])).chunk(2)
    return [float(mean) for mean in total / count]


def from_first(workers: Workers, tree: Tree) -> Tree:
    """What the first worker gave; what the others give is not sent."""
    return workers.gather(tree if workers.rank == 0 else None)[0]


def any_of(workers: Workers, wish: bool) -> bool:
    """Whether any worker wishes it: to stop, say, or to save."""
    if workers.size == 1:
        return wish
    return bool(workers.add(torch.tensor([int(wish)]))[0])


def require_same(workers: Workers, what: str, value: str) -> None:
    """An error unless all workers say the same: workers of two runs would spoil both."""
    said = workers.gather(value)
    for rank, other in enumerate(said):
        if other != said[0]:
            raise BackplayError(
                f"The workers differ in {what}", expected=f"{said[0]}, as the first has",
                got=f"{other} at worker {rank}", do="Start all of them with the same settings.",
            )  # fmt: skip


def _require_complete() -> None:
    missing = [name for name in _NEEDED if not os.environ.get(name)]
    if missing:
        raise BackplayError(
            "The environment names some workers, but not all that is needed to meet them",
            expected=f"{', '.join(_NEEDED)}, as torchrun sets them", got=f"no {missing[0]}",
            do="Start with torchrun, or unset RANK and WORLD_SIZE to work alone.",
        )  # fmt: skip


def _to_bytes(tree: Tree) -> bytes:
    """A tree as one file in memory: arrays and JSON, as in every file of ours."""
    text, arrays = pack(tree)
    buffer = io.BytesIO()
    np.savez(buffer, np.frombuffer(text.encode(), np.uint8), *arrays)
    return buffer.getvalue()


def _from_bytes(data: bytes) -> Tree:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        text, *arrays = [file[f"arr_{i}"] for i in range(len(file.files))]
    return unpack(text.tobytes().decode(), arrays)
