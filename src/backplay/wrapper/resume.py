"""A BackplayEnv that can be brought back in mid-episode, in another process, to the bit.

`get_state` says how the present episode came to where it stands, as plain data, a recipe that can
be followed again: an env that follows from its seed and its actions needs no snapshot, it is reset
as it was, put where it was put, and given the same actions. So a run is resumed exactly whatever
its restorer holds. `set_state` goes the same way again in an env made alike, and refuses if that
leads elsewhere: to another observation, sum of rewards or place in a random stream. (What a base
env hides from all of these and keeps over a seeded reset is beyond it.) For that every reset of the
env gets a seed: under `Standard` its episodes are not those of the plain env.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.data import trees
from backplay.data.streams import RandomStream, new_generator, read_stream
from backplay.errors import BackplayError
from backplay.records import Start, Walk, episodes_as_rows, rows_as_episodes
from backplay.restore import capture_wrappers, put_back_wrappers, renew
from backplay.wrapper.env import BackplayEnv
from backplay.wrapper.walks import Walks


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One episode so far. Only `actions` grows."""

    seed: int | None
    """What the env was reset with; None where it was not reset, only put elsewhere."""
    options: dict[str, Any] | None
    """The options of that reset."""
    start: Start
    """Where it began."""
    walks: tuple[Walk, ...]
    """Those that lead to the start, in order: the curriculum may list them no longer."""
    stream: RandomStream
    """Where the wrapper's generator stood when the start was entered, which may draw from it."""
    wrappers: list[Any]
    """What each wrapper held when the start was entered: some keep it over many episodes."""
    actions: list[Any] = field(default_factory=list)
    """Those taken since."""

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "seed": self.seed,
            "options": trees.copy(self.options),
            "start": list(self.start),
            "walks": [[walk.demo, list(walk.start), walk.steps, walk.seed] for walk in self.walks],
            "stream": self.stream,
            "wrappers": trees.copy(self.wrappers),
            "actions": _stacked(self.actions),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Recipe:
        """What `to_data` returned; raises where it is something else."""
        return cls(
            seed=None if data["seed"] is None else int(data["seed"]),
            options=None if data["options"] is None else dict(data["options"]),
            start=_start(data["start"]),
            walks=tuple(
                Walk(int(demo), _start(start), int(steps), int(seed))
                for demo, start, steps, seed in data["walks"]
            ),
            stream=RandomStream(*data["stream"]),
            wrappers=list(data["wrappers"]),
            actions=[trees.copy(action) for action in data["actions"]],
        )


def _start(pair: Sequence[Any]) -> Start:
    demo, step = pair
    return Start(int(demo), int(step))


def _stacked(actions: list[Any]) -> NDArray[Any] | list[Any]:
    """Actions as the rows of one array if they are arrays of one form, else as they are."""
    forms = {(type(a), getattr(a, "dtype", None), np.shape(a)) for a in actions}
    if len(forms) == 1 and isinstance(actions[0], np.ndarray | np.generic):
        return np.stack(actions)
    kept: list[Any] = trees.copy(actions)
    return kept


class ResumableBackplayEnv(BackplayEnv):
    """BackplayEnv with `get_state` and `set_state`, for envs that follow from seed and actions.

    Arguments as for BackplayEnv.
    """

    _recipe: Recipe | None = None  # of the present episode
    _seen: Any = None  # the last observation

    def _seeds_reset(self, start: Start) -> bool:
        return self._is_reset(start)

    def _enter(
        self,
        start: Start,
        walks: Walks,
        rng: np.random.Generator,
        seed: int | None,
        options: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        self._recipe = Recipe(
            seed=seed,
            options=trees.copy(options) or None,
            start=start,
            walks=walks.leading_to(start),
            stream=_place(rng),
            wrappers=capture_wrappers(self.env),
        )
        for demo in self.demos:
            renew(self.env, demo.restorer)  # an env that remembers earlier episodes forgets them
        self._seen, info = super()._enter(start, walks, rng, seed, options)
        return self._seen, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """As BackplayEnv's; the action is remembered until the next reset."""
        if self._recipe is not None:
            self._recipe.actions.append(trees.copy(action))  # before the step: envs may scale it
        answer = super().step(action)
        self._seen = answer[0]
        return answer

    def get_state(self) -> dict[str, Any]:
        """Everything but the curriculum, as plain data."""
        return {
            "recipe": self._recipe.to_data() if self._recipe else None,
            "here": self._here(),
            "walked": self._walks.walked,
            "finished": episodes_as_rows(list(self._finished)),
            "restored_steps": self.restored_steps,
            "restored_taken": self._restored_taken,
        }

    def _here(self) -> dict[str, Any]:
        """What can be seen of where the present episode stands."""
        return {
            "observation": trees.copy(self._seen),
            "total_reward": self._total_reward,
            "own stream": _place(self._rng),
            "env's stream": read_stream(vars(self.env.unwrapped).get("_np_random")),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from `get_state()` of an env made alike, under the curriculum it has now.

        Takes as long as the present episode took so far. Its steps are not counted again.
        """
        try:
            recipe = None if state["recipe"] is None else Recipe.from_data(state["recipe"])
            rng = new_generator(RandomStream(*state["here"]["own stream"]))
            finished = rows_as_episodes(state["finished"])
            walked = [int(walk) for walk in state["walked"]]
            counts = int(state["restored_steps"]), int(state["restored_taken"])
            if recipe is not None:
                self._follow(recipe, state["here"])
        except BackplayError:
            raise
        except Exception as error:  # an env does what it likes with a state not its own
            raise BackplayError(
                "This state is of another BackplayEnv",
                expected="what get_state of one like it said",
                got=f"{type(error).__name__}: {str(error)[:200]}",
                do="Build the env as it was built then.",
            ) from error
        self._rng, self._recipe = rng, recipe
        self._finished = deque(finished, maxlen=self._finished.maxlen)
        self._walks.resume(walked)
        self.restored_steps, self._restored_taken = counts

    def _follow(self, recipe: Recipe, here: dict[str, Any]) -> None:
        """Brings the env to where the recipe leads; an error unless that is `here`."""
        walks = Walks(self.demos, reseed=self._reseed, fresh_clock=self._fresh_clock)
        walks.keep(recipe.walks)
        put_back_wrappers(self.env, recipe.wrappers)
        self._rng, self.start = new_generator(recipe.stream), recipe.start
        # A new env must be reset before anything else; one that is then put elsewhere, anyhow.
        seed = 0 if recipe.seed is None and not self._has_reset else recipe.seed
        self._enter(recipe.start, walks, self._rng, seed, recipe.options or {})
        for action in recipe.actions:
            self._seen, *_ = self._counted(self.env.step(trees.copy(action)))
        difference = trees.first_difference(self._here(), here)
        if difference:
            base = self.env.unwrapped
            name = base.spec.id if base.spec else type(base).__name__
            raise BackplayError(
                f"{name} did not come back to where it stood",
                expected="an env that follows from its seed and its actions",
                got=f"after the same {self._length} actions, now and then: {difference}",
                do="Begin new episodes: TrainConfig(exact_resume=False) or --no-exact-resume.",
            )


def _place(rng: np.random.Generator) -> RandomStream:
    """Where a generator stands."""
    place = read_stream(rng)
    assert place is not None
    return place
