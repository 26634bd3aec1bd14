"""Observations as arrays or nested dicts of arrays: store them by step, select rows, join them.

A batch of observations is one array [envs, ...] or a dict of such (a Dict space). Entries without
numbers, such as MiniGrid's mission text, are left out.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from backplay.errors import BackplayError

Arrays: TypeAlias = "npt.NDArray[Any] | dict[str, Arrays]"
Tensors: TypeAlias = "Tensor | dict[str, Tensors]"


def numeric(observations: Any) -> Arrays:
    """The observations' arrays, text left out; the arrays themselves are not copied."""
    if isinstance(observations, np.ndarray):
        return observations
    if isinstance(observations, dict):
        return {
            key: numeric(part)
            for key, part in observations.items()
            if isinstance(part, dict)
            or (isinstance(part, np.ndarray) and part.dtype.kind not in "OUS")
        }
    raise BackplayError(
        "observations",
        expected="an array or a dict of arrays",
        got=type(observations).__name__,
        do="Flatten the observations with a wrapper first.",
    )


def allocate(steps: int, example: Arrays) -> Arrays:
    """Empty storage for `steps` batches like the example, [steps, envs, ...], its dtypes kept."""
    if isinstance(example, dict):
        return {key: allocate(steps, part) for key, part in example.items()}
    return np.empty((steps, *example.shape), example.dtype)


def store(storage: Arrays, step: int, observations: Any) -> None:
    """Copy one batch into the storage at `step`."""
    if isinstance(storage, dict):
        for key, part in storage.items():
            store(part, step, observations[key])
    else:
        storage[step] = observations


def row(tensors: Tensors, index: int) -> Tensors:
    """The batch stored at a step."""
    return map_tensors(lambda part: part[index], tensors)


def as_tensors(arrays: Arrays) -> Tensors:
    """The same memory as tensors."""
    if isinstance(arrays, dict):
        return {key: as_tensors(part) for key, part in arrays.items()}
    return torch.from_numpy(np.ascontiguousarray(arrays))


def map_tensors(function: Callable[[Tensor], Tensor], tensors: Tensors) -> Tensors:
    """Apply a function to each tensor."""
    if isinstance(tensors, dict):
        return {key: map_tensors(function, part) for key, part in tensors.items()}
    return function(tensors)


def rows_of(tensors: Tensors, rows: Tensor) -> Tensors:
    """These rows of a batch, in their order."""
    return map_tensors(lambda part: part.index_select(0, rows), tensors)


def final_rows(final: Any, rows: npt.NDArray[np.intp], example: Arrays) -> Arrays:
    """Final observations of the envs `rows`, copied, [rows, ...].

    `final` is `infos["final_obs"]`: an object array holding one observation per ended env (what
    gymnasium's vector envs give), or batched arrays like the observations (a native batched env).
    """
    if isinstance(final, np.ndarray) and final.dtype == object:
        return _stack([final[row] for row in rows], example)
    if isinstance(example, dict):
        return {key: final_rows(final[key], rows, part) for key, part in example.items()}
    return np.asarray(final[rows], dtype=example.dtype)


def _stack(observations: Sequence[Any], example: Arrays) -> Arrays:
    if isinstance(example, dict):
        return {key: _stack([o[key] for o in observations], part) for key, part in example.items()}
    return np.array(observations, dtype=example.dtype)


def join(parts: Sequence[Arrays]) -> Arrays:
    """Batches put one after another, [sum of rows, ...]."""
    first = parts[0]
    if isinstance(first, dict):
        return {key: join([part[key] for part in parts if isinstance(part, dict)]) for key in first}
    return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])
