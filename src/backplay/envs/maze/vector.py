"""Many mazes at once: n agents stepped by one kernel, observed as (maze, cell).

    envs = MazeVector(4096, library, curriculum=bp.Frontier())

An episode that ends begins anew in the same step, where a curriculum says: `set_curriculum`,
`take_episodes` and `bp.advance` work as under `BackplayEnv`. All starts come from one generator, so
a run depends on its seed alone. Does not know: planes; who learns makes them from (maze, cell).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.data.arrays import checked_array
from backplay.data.streams import RandomStream, new_generator
from backplay.envs.maze import draw
from backplay.envs.maze.rules import ACTIONS, offsets, step_all
from backplay.envs.maze.sets import MazeLibrary, MazeSet, training_mazes
from backplay.envs.maze.states import Ints, States
from backplay.envs.starts import InitialStates, OneWorker, require_curriculum
from backplay.errors import BackplayError, ensure, one_of, refusing, show, whole
from backplay.records import DrawsStarts, Episode, Start, episodes_of, steps_allowed

_DTYPES = {
    "demo": np.int64, "step": np.int64, "total_reward": np.float64, "length": np.int64,
    "success": np.bool_, "back": np.int64, "par": np.float64,
}  # fmt: skip
_STREAM = 0xBAC
_NOW = ("places", "clocks", "lengths", "limits", "backs", "returns", "start_demos", "start_steps")

Answer = tuple[
    NDArray[np.int32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
]


KEPT = 100_000  # episodes that wait for whoever takes them


class Finished:
    """The last `KEPT` episodes, oldest first."""

    def __init__(self) -> None:
        self._count = 0
        self._blocks: deque[tuple[NDArray[Any], ...]] = deque()

    def add(self, *block: NDArray[Any]) -> None:
        """Keeps k episodes: demo, step, total reward, length, success, back and par, [k]."""
        self._blocks.append(block)
        self._count += len(block[0])
        while self._count - len(self._blocks[0][0]) >= KEPT:
            self._count -= len(self._blocks.popleft()[0])

    def take(self) -> list[Episode]:
        """The episodes, which are then forgotten."""
        columns = list(self.get_state().values())
        self._blocks.clear()
        self._count = 0
        return episodes_of(*columns)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """The episodes as arrays."""
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _DTYPES}
        for block in self._blocks:
            for name, column in zip(_DTYPES, block, strict=True):
                parts[name].append(column)
        return {
            name: np.concatenate([np.zeros(0, dtype), *parts[name]])[-KEPT:]
            for name, dtype in _DTYPES.items()
        }

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Keeps what `get_state` returned instead."""
        count = len(state["demo"])
        block: tuple[NDArray[Any], ...] = tuple(
            checked_array(name, state[name], dtype, (count,)).copy()
            for name, dtype in _DTYPES.items()
        )
        self._blocks.clear()
        self._count = 0
        self.add(*block)


class MazeVector(OneWorker):
    """n agents, each in a maze of a set; rules and rewards are those of `Maze`.

    Args:
        num_envs: n.
        mazes: a set, or a library or its file, for the training part.
        curriculum: where episodes start; by default in the initial state of any maze.
        time_limit: after a start on the way, `"continue"` the demonstration's clock, or a `"fresh"`
            one.
        render_mode: `"rgb_array"` or `"ansi"`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        mazes: MazeSet | MazeLibrary | str | Path | None = None,
        *,
        curriculum: DrawsStarts | None = None,
        time_limit: Literal["continue", "fresh"] = "continue",
        render_mode: str | None = None,
    ) -> None:
        whole("num_envs", num_envs, 1)
        one_of("time_limit", time_limit, ("continue", "fresh"))
        self.mazes = training_mazes(mazes)
        ensure(self.mazes.num_mazes, "mazes", "at least one maze", got="an empty set")
        sizes = [self.mazes.num_mazes, self.mazes.cells]
        super().__init__(
            num_envs, spaces.MultiDiscrete(sizes, dtype=np.int32), ACTIONS, render_mode
        )
        self._ready = False
        self._states = States(self.mazes, time_limit == "fresh")
        self._offsets = offsets(self.mazes.width)
        self._rng = np.random.default_rng()
        self._finished = Finished()
        self._places = np.zeros((num_envs, 2), np.int32)
        self._clocks, self._lengths = np.zeros((2, num_envs), np.int64)
        self._limits, self._backs = np.zeros((2, num_envs), np.int64)
        self._start_demos, self._start_steps = np.zeros((2, num_envs), np.int64)
        self._returns, self._ended = np.zeros(num_envs), np.zeros(num_envs + 1, np.int64)
        self.set_curriculum(InitialStates() if curriculum is None else curriculum)

    def set_curriculum(self, curriculum: DrawsStarts) -> None:
        """From the next start on, starts are drawn from `curriculum`; its walks are walked now."""
        require_curriculum(curriculum)
        self.restored_steps += self._states.hold(getattr(curriculum, "walks", ()))
        self.curriculum = curriculum

    def places(self, demo: Ints, step: Ints) -> NDArray[np.int64]:
        """Maze and cell of the starts demo [k], step [k], as the curriculum of now draws them."""
        found = self._states.look_up(demo, step)
        return np.stack([found.mazes, found.cells.astype(np.int64)], 1)

    def take_episodes(self) -> list[Episode]:
        """The episodes that finished since the last call, oldest first (at most 100,000)."""
        return self._finished.take()

    @property
    def starts(self) -> list[Start | None]:
        """Where the present episodes started."""
        if not self._ready:
            return [None] * self.num_envs
        return list(map(Start, self._start_demos.tolist(), self._start_steps.tolist()))

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        """New episodes everywhere; `options["starts"]` may name a `Start` for each agent."""
        given = [seed] if seed is None or isinstance(seed, int | np.integer) else list(seed)
        seeds = [int(one) for one in given if one is not None]
        if len(given) not in (1, self.num_envs) or any(one < 0 for one in seeds):
            raise BackplayError("seed", expected=f"one number or {self.num_envs}", got=show(seed))
        if seeds:
            self._rng = np.random.default_rng([*seeds, _STREAM])
        asked = (options or {}).get("starts")
        self._begin(np.arange(self.num_envs), None if asked is None else self._asked(asked))
        self._ready = True
        return self.observe(), {}

    def observe(self) -> NDArray[np.int32]:
        """What is seen now, [num_envs, 2]."""
        return self._places.copy()

    def step(self, actions: NDArray[np.int64]) -> Answer:
        """One step of all agents; where an episode ended, what is seen is the start of the next."""
        ensure(self._ready, "The episodes have not begun", do="Call reset first.")
        taken = self.checked_actions(actions)
        n, mazes = self.num_envs, self.mazes
        rewards, terminated, truncated = np.empty(n), np.empty(n, np.bool_), np.empty(n, np.bool_)
        count = step_all(
            taken, mazes.exits, self._offsets, mazes.goals, mazes.max_steps, mazes.step_reward,
            mazes.goal_reward, self._places, self._clocks, self._lengths, self._limits,
            self._returns, rewards, terminated, truncated, self._ended,
        )  # fmt: skip
        infos = self._finish(self._ended[:count], terminated) if count else {}
        return self._places.copy(), rewards, terminated, truncated, infos

    def _finish(self, ended: Ints, terminated: NDArray[np.bool_]) -> dict[str, Any]:
        """Keeps the episodes that ended, begins the next ones; infos in Gymnasium's form."""
        mask = np.zeros(self.num_envs, np.bool_)
        mask[ended] = True
        final_obs = self._places.copy()
        self._finished.add(
            self._start_demos[ended], self._start_steps[ended], self._returns[ended],
            self._lengths[ended], terminated[ended], self._backs[ended],
            self.mazes.step_reward * self._backs[ended] + self.mazes.goal_reward,
        )  # fmt: skip
        self._begin(ended)
        return {
            "final_obs": final_obs, "_final_obs": mask,
            "final_info": {"is_success": terminated.copy(), "_is_success": mask.copy()},
            "_final_info": mask.copy(),
        }  # fmt: skip

    def _begin(self, who: Ints, asked: tuple[Ints, Ints] | None = None) -> None:
        """A new episode for each agent of who [k]: at the starts asked for, or drawn ones."""
        drawn = asked or self.curriculum.sample(self.mazes.lengths, len(who), self._rng)
        demo, step = (np.asarray(part, np.int64) for part in drawn)
        places = self._states.look_up(demo, step)
        self._places[who, 0], self._places[who, 1] = places.mazes, places.cells
        self._clocks[who], self._lengths[who], self._returns[who] = places.clocks, 0, 0.0
        self._start_demos[who], self._start_steps[who] = demo, step
        self._backs[who] = places.left
        self._limits[who] = np.ceil(steps_allowed(self.curriculum.patience, places.left))

    def _asked(self, starts: Any) -> tuple[Ints, Ints]:
        try:
            demo, step = np.array([tuple(start) for start in starts], np.int64).reshape(-1, 2).T
            if len(demo) == self.num_envs:
                return demo.copy(), step.copy()
        except (TypeError, ValueError, OverflowError):
            pass
        raise BackplayError(
            'options["starts"]', expected=f"{self.num_envs} of Start(demo, step)", got=show(starts)
        )

    def get_state(self) -> dict[str, Any]:
        """Everything but the curriculum, as plain data: with it, a vector goes on exactly."""
        return {
            **{name: getattr(self, f"_{name}").copy() for name in _NOW},
            "rng": deepcopy(dict(self._rng.bit_generator.state)),
            "finished": self._finished.get_state(),
            "walks": self._states.get_state(),
            "restored_steps": self.restored_steps,
            "ready": self._ready,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from `get_state()` of a vector made alike, under the curriculum it has now."""
        with refusing("This state is of another vector", "what get_state of one like it said"):
            rng = new_generator(RandomStream("PCG64", state["rng"]))
            now = self._checked_now(state)
            finished = Finished()
            finished.set_state(state["finished"])
            restored_steps, ready = state["restored_steps"], state["ready"]
            if type(restored_steps) is not int or restored_steps < 0 or type(ready) is not bool:
                raise ValueError("restored_steps or ready")
            self._states.set_state(state["walks"])
        for name, array in now.items():
            getattr(self, f"_{name}")[:] = array
        self._rng, self._finished = rng, finished
        self.restored_steps, self._ready = restored_steps, ready

    def _checked_now(self, state: dict[str, Any]) -> dict[str, NDArray[Any]]:
        """The arrays of a state, refused unless they fit the mazes and the number of agents."""
        last = {
            "places": np.array([self.mazes.num_mazes, self.mazes.cells]) - 1,
            "clocks": self.mazes.max_steps,
        }
        now = {}
        for name in _NOW:
            like = getattr(self, f"_{name}")
            low = 0 if like.dtype.kind == "i" else None
            now[name] = checked_array(
                name, state[name], like.dtype, like.shape, low=low, high=last.get(name)
            )
        return now

    def render(self) -> tuple[Any, ...]:
        """A picture or a text of every agent's maze."""
        mazes = self.mazes
        return tuple(
            draw.render(
                self.render_mode, mazes.walls[maze], int(mazes.starts[maze]),
                int(mazes.goals[maze]), int(cell),
            )
            for maze, cell in self._places
        )  # fmt: skip
