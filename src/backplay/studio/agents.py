"""What a checkpoint does: films of its policy from any step, and the values it sees.

Comes in: a run directory and one of its demonstrations, opened. Goes out: pictures, numbers. Does
not know: requests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from backplay import runs
from backplay.demos.success import Ending
from backplay.errors import BackplayError
from backplay.records import Start
from backplay.runs.execute import opened as opened_run
from backplay.studio import pictures
from backplay.studio.gallery import MOST_POINTS, Opened
from backplay.studio.pictures import Picture
from backplay.train import Training
from backplay.train.agent import Agent
from backplay.train.evaluate import batch_of

MOST_STEPS = 1_000  # of a film
MOST_FRAMES = 250
_AT_ONCE = 256  # observations that are valued together


class Checkpoint:
    """The policy of a run as it was saved last."""

    def __init__(self, path: Path) -> None:
        """Reads the newest checkpoint; BackplayError where there is none, or no learner of ours."""
        run = runs.open_run(path)
        self.file = run.checkpoint
        _, work = opened_run(path)
        try:
            training = work.training
            if not isinstance(training, Training):
                raise BackplayError(f"{path.name} was not trained by backplay's own learner")
            self.frames = training.frames
            space = training.envs.single_observation_space
            self._agent = Agent(training.learner, space, training.succeeded)
        finally:
            work.close()

    def is_newest(self, path: Path) -> bool:
        """Whether nothing was saved since."""
        return runs.open_run(path).checkpoint == self.file

    def values(self, opened: Opened) -> list[float]:
        """The value of every state of a demonstration, thinned as its curves are."""
        seen = opened.demo.observations[:: -(-len(opened.demo) // MOST_POINTS)]
        space, found = self._agent.observation_space, []
        for first in range(0, len(seen), _AT_ONCE):
            parts = [self._agent._seen(one) for one in seen[first : first + _AT_ONCE]]
            found += self._agent.learner.values(batch_of(space, parts)).tolist()
        return [float(value) for value in found]

    def film(
        self, opened: Opened, step: int, *, greedy: bool, demo: int = 0
    ) -> tuple[dict[str, Any], dict[int, Picture]]:
        """An episode of the policy from a step of a demonstration: what came of it, and pictures.

        Drawn, or with the likeliest actions. From step 0 it is the environment's own reset with the
        demonstration's seed.
        """
        if not 0 <= step < len(opened.demo):
            raise BackplayError("step", expected=f"from 0 to {len(opened.demo) - 1}", got=step)
        return opened.run(lambda: self._film(opened, step, greedy, demo))

    def _film(
        self, opened: Opened, step: int, greedy: bool, demo: int
    ) -> tuple[dict[str, Any], dict[int, Picture]]:
        env, seen = opened.stand(step), opened.demo.observations[step]
        drawn = {0: pictures.draw(env, seen)}
        total, count, over, success = 0.0, 0, False, None
        actions = []
        while not over and count < MOST_STEPS:
            action = self._agent.predict(seen, deterministic=greedy)[0]
            actions.append(np.asarray(action).tolist())
            seen, reward, terminated, truncated, info = env.step(action)
            total, count = total + float(reward), count + 1
            over = bool(terminated or truncated)
            if count < MOST_FRAMES or over:
                drawn[count] = pictures.draw(env, seen)
            if over:
                start = Start(demo, step)
                ending = Ending(
                    start, total, count, float(reward), bool(terminated), bool(truncated), info
                )
                success = bool(self._agent.succeeded(ending))
        facts = {
            "total": total, "steps": count, "over": over, "success": success, "start": step,
            "actions": actions, "frames": self.frames,
        }  # fmt: skip
        return facts, drawn
