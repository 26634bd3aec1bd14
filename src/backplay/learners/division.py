"""Vector envs as one of several workers has them: it steps its own, and hears of all.

`divide` makes one of two kinds. Where each worker has made its own envs (`OwnEnvs`), they are
stepped apart, and what the others' say is gathered. Where each has made all of them (`SliceOfAll`),
as a batched env that draws all starts from one stream must be, everyone steps all of them with
everyone's actions: the envs are cheap then, and the network's work is what is shared.

Of both kinds `num_envs`, `step` and `observe` are of the worker's own; `reset(seed=[...])`,
`take_episodes`, `restored_steps`, `get_state` and `set_state` are of all envs, in their order.
Every worker makes the same calls. Does not know: who trains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from backplay.errors import BackplayError, ensure, show
from backplay.learners.workers import EnvRange, Workers, join
from backplay.records import episodes_as_rows, rows_as_episodes

AnyVector = VectorEnv[Any, Any, Any]
Seeds = int | Sequence[int | None] | None


def divide(envs: AnyVector, total: int, workers: Workers) -> AnyVector:
    """The vector env a worker trains in, of `total` envs in all: `envs` itself if it is alone.

    Args:
        envs: the worker's own envs, `EnvRange.of(total, rank, size)`; or all of them.
        total: how many all workers have together.
        workers: who they are.
    """
    own = EnvRange.of(total, workers.rank, workers.size)
    ensure(
        total >= workers.size, "num_envs", f"at least {workers.size}, one for each worker",
        got=total, do="Start fewer workers.",
    )  # fmt: skip
    if envs.num_envs == total:
        return envs if workers.size == 1 else SliceOfAll(envs, own, workers)
    if envs.num_envs == own.count:
        return OwnEnvs(envs, own, workers)
    raise BackplayError(
        "num_envs", expected=f"{envs.num_envs}, as many as the batched env has", got=total
    )


class _Part(VectorEnv[Any, Any, Any]):
    """What both kinds have in common: the spaces and the number of a worker's own."""

    def __init__(self, envs: AnyVector, own: EnvRange, workers: Workers) -> None:
        self.envs, self.own, self.workers = envs, own, workers
        self.num_envs = own.count
        self.metadata, self.render_mode = envs.metadata, envs.render_mode
        self.single_observation_space = envs.single_observation_space
        self.single_action_space = envs.single_action_space
        self.observation_space = batch_space(envs.single_observation_space, own.count)
        self.action_space = batch_space(envs.single_action_space, own.count)

    def __getattr__(self, name: str) -> Any:
        """`get_state`, `set_state` and `observe`: there if the envs have them."""
        if name in ("get_state", "set_state", "observe") and hasattr(self.envs, name):
            return getattr(self, f"_{name}")
        raise AttributeError(name)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        return self.call(name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method of the envs returns, or an attribute of them."""
        return tuple(self.envs.call(name, *args, **kwargs))  # type: ignore[attr-defined]

    def close_extras(self, **kwargs: Any) -> None:
        self.envs.close(**kwargs)


class OwnEnvs(_Part):
    """The envs of one worker, which are stepped by nobody else."""

    def reset(
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        first, last = self.own.first, self.own.last
        if isinstance(seed, int | np.integer):  # Gymnasium's rule: the env i gets seed + i
            seed = [int(seed) + i for i in range(self.own.total)]
        if seed is not None and len(seed) != self.own.total:
            raise BackplayError("seed", expected=f"one number or {self.own.total}", got=show(seed))
        return self.envs.reset(seed=None if seed is None else seed[first:last], options=options)  # type: ignore[arg-type]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        return self.envs.step(actions)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """As for any vector env; `take_episodes` and `restored_steps` come from all workers."""
        found = super().call(name, *args, **kwargs)
        if name == "restored_steps":
            return tuple(n for part in self.workers.gather(list(found)) for n in part)
        if name == "take_episodes":
            everyones = self.workers.gather([episodes_as_rows(taken) for taken in found])
            return tuple(rows_as_episodes(taken) for part in everyones for taken in part)
        return found

    def _get_state(self) -> dict[str, Any]:
        """A state of all envs, as of one vector of them, if states are listed by env."""
        states = self.workers.gather(self.envs.get_state())  # type: ignore[attr-defined]
        if not all(_is_by_env(state) for state in states):
            return {"by_worker": states}
        seen = _joined([state["observations"] for state in states])
        return {"envs": [one for state in states for one in state["envs"]], "observations": seen}

    def _set_state(self, state: dict[str, Any]) -> None:
        self.envs.set_state(self._own_state(state))  # type: ignore[attr-defined]

    def _own_state(self, state: dict[str, Any]) -> Any:
        if _is_by_env(state) and len(state["envs"]) == self.own.total:
            own = slice(self.own.first, self.own.last)
            return {"envs": state["envs"][own], "observations": _rows(state["observations"], own)}
        saved = state.get("by_worker")
        if isinstance(saved, list) and len(saved) == self.workers.size:
            return saved[self.workers.rank]
        raise BackplayError(
            "This state does not fit these workers", got=f"{self.workers.size} workers",
            expected=f"{len(saved)} workers" if isinstance(saved, list) else "a state by worker",
            do="Resume the run with as many workers as it had.",
        )  # fmt: skip

    def _observe(self) -> Any:
        return self.envs.observe()  # type: ignore[attr-defined]


class SliceOfAll(_Part):
    """A worker's part of envs that every worker steps: each has all of them, in the same state."""

    def reset(
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observations, infos = self.envs.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return self._own(observations), self._own(infos)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        *answer, infos = self.envs.step(self._everyones(np.asarray(actions)))
        observations, rewards, terminated, truncated = (self._own(part) for part in answer)
        # Where only others' episodes ended, this worker has nothing final to look at.
        ended = bool(terminated.any() or truncated.any())
        seen = {k: part for k, part in infos.items() if ended or "final" not in k}
        return observations, rewards, terminated, truncated, self._own(seen)

    def _everyones(self, actions: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The actions of all workers, [total, ...]; sent as bytes, whatever they are."""
        mine = np.ascontiguousarray(actions).reshape(len(actions), -1).view(np.uint8)
        joined = join(self.workers, torch.from_numpy(mine), self.own).numpy()
        whole: np.ndarray[Any, Any] = joined.view(actions.dtype)
        return whole.reshape(self.own.total, *actions.shape[1:])

    def _own(self, tree: Any) -> Any:
        """What the envs said of the worker's own."""
        return _rows(tree, slice(self.own.first, self.own.last))

    def _get_state(self) -> Any:
        return self.envs.get_state()  # type: ignore[attr-defined]

    def _set_state(self, state: Any) -> None:
        self.envs.set_state(state)  # type: ignore[attr-defined]

    def _observe(self) -> Any:
        return self._own(self.envs.observe())  # type: ignore[attr-defined]


def _is_by_env(state: Any) -> bool:
    """Whether a state lists those of its envs, and what they saw, as `BackplayVector`'s does."""
    return isinstance(state, dict) and state.keys() == {"envs", "observations"}


def _rows(tree: Any, rows: slice) -> Any:
    """These rows of every array in a tree of dicts and tuples."""
    if isinstance(tree, dict):
        return {key: _rows(part, rows) for key, part in tree.items()}
    if isinstance(tree, tuple):
        return tuple(_rows(part, rows) for part in tree)
    return tree[rows] if isinstance(tree, np.ndarray) else tree


def _joined(trees: list[Any]) -> Any:
    """The rows of several such trees one after another."""
    first = trees[0]
    if isinstance(first, dict):
        return {key: _joined([tree[key] for tree in trees]) for key in first}
    if isinstance(first, tuple):
        return tuple(_joined(list(parts)) for parts in zip(*trees, strict=True))
    return np.concatenate(trees)
