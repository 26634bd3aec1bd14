"""An episode that a person plays, with a state to go back to at every step.

Comes in: actions, and how many steps to take back. Goes out: where the episode stands, and a
demonstration. Does not know: keys and screens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from backplay.data import trees
from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.errors import BackplayError
from backplay.restore import History, find_restorer
from backplay.restore.rollout import AnyEnv


@dataclass(frozen=True)
class Moment:
    """One state of the episode and what the step that led to it brought."""

    observation: Any
    state: Any
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    action: Any = None
    view: Any = field(default=None, compare=False)
    """What was shown; kept, for not every env can draw a state it was put back into."""


class Session:
    """The episode so far."""

    def __init__(self, env: AnyEnv, seed: int, view: Any = None) -> None:
        """An episode from `reset(seed)`; `view(env, observation)` makes what is shown."""
        self.seed = seed
        self.moments: list[Moment] = []
        self._view = view or (lambda env, observation: None)
        self._restorer = find_restorer(env, seed=seed)
        self._env = History(env)
        self.restart()

    @property
    def now(self) -> Moment:
        """The present moment."""
        return self.moments[-1]

    @property
    def actions(self) -> list[Any]:
        """The actions from the beginning to now."""
        return [moment.action for moment in self.moments[1:]]

    @property
    def total_reward(self) -> float:
        """The return so far."""
        return sum(moment.reward for moment in self.moments)

    @property
    def ended(self) -> bool:
        """Whether the episode is over."""
        return self.now.terminated or self.now.truncated

    def restart(self) -> None:
        """Back to the beginning."""
        observation, _ = self._env.reset(seed=self.seed)
        self.moments = [self._moment(observation)]

    def step(self, action: Any) -> None:
        """Takes `action`; the episode must not be over."""
        observation, reward, terminated, truncated, _ = self._env.step(action)
        self.moments.append(
            self._moment(
                observation,
                reward=float(reward),
                terminated=bool(terminated),
                truncated=bool(truncated),
                action=action,
            )
        )

    def undo(self, steps: int = 1) -> int:
        """Takes back up to `steps` steps; how many it were."""
        steps = min(steps, len(self.moments) - 1)
        if steps:
            del self.moments[-steps:]
            self._restorer.load(self._env, self.now.state)
        return steps

    def demonstration(self, env: AnyEnv) -> Demonstration:
        """The episode recorded straight through on `env`, which must answer as it did in play."""
        demo = record(env, self.actions, seed=self.seed, max_steps=max(1, len(self.actions)))
        played = [(m.observation, m.reward, m.terminated, m.truncated) for m in self.moments]
        ends = zip(demo.rewards, demo.terminations, demo.truncations, strict=True)
        answers = [(0.0, False, False), *((float(r), bool(e), bool(t)) for r, e, t in ends)]
        again = [(seen, *answer) for seen, answer in zip(demo.observations, answers, strict=True)]
        difference = trees.first_difference(played, again)
        if difference:
            raise BackplayError(
                "The episode went another way when it was recorded",
                expected="the same answers to the same actions",
                got=difference,
                do="The environment is not deterministic given its seed.",
            )
        return demo

    def _moment(self, observation: Any, **answer: Any) -> Moment:
        seen = trees.copy(observation)
        view = self._view(self._env, seen)
        return Moment(seen, self._restorer.save(self._env), view=view, **answer)
