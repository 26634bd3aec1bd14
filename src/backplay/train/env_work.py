"""Training in an environment in progress: lines for the metrics, a result, an episode to watch.

Comes in: a training run and the lengths of its demonstrations. Goes out: plain data. Does not know:
disks, screens, which environment it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backplay.demos import Demonstration
from backplay.restore.rollout import AnyEnv
from backplay.train.agent import acting
from backplay.train.evaluate import Evaluation
from backplay.train.job import TrainedWork
from backplay.train.loop import Training

BINS = 24  # of the starts in the metrics
FIRST_SEED = 10_000  # of the first episode that measures
LONGEST = 2_000  # steps of an episode that is kept


class EnvWork(TrainedWork):
    """Training on a Gymnasium env in progress."""

    def __init__(
        self, training: Training, demos: Sequence[Demonstration], make: Callable[..., AnyEnv]
    ) -> None:
        """From these demonstrations; `make(render_mode=…)` gives the env to be looked at."""
        self.training, self.demos, self.make = training, list(demos), make
        self.lengths = [len(demo) for demo in demos]
        self.width = max(1, -(-max(self.lengths) // BINS))

    def measured(self, found: Evaluation) -> dict[str, float]:
        """Success, and means of returns and lengths."""
        return {
            "success": found.success,
            "return": float(found.returns.mean()),
            "steps": float(found.lengths.mean()),
        }

    def result(self) -> dict[str, Any]:
        """Episodes from the true start with drawn actions, as many with the likeliest; one kept."""
        episodes = self.training.config.final_episodes
        sampled = self.training.evaluate(episodes)
        greedy = self.training.evaluate(episodes, greedy=True)
        return {
            "measures": {
                **self.measured(sampled),
                "greedy_success": greedy.success, "greedy_return": float(greedy.returns.mean()),
            },
            "sampled": str(sampled), "greedy": str(greedy), "episodes": episodes,
            "demonstrations": self.lengths,
            "episode": self._greedy_episode(),
        }  # fmt: skip

    def _greedy_episode(self) -> dict[str, Any] | None:
        """The first episode with the likeliest actions: its seed and what was done, to be watched.

        The env is its own physics: the same seed and actions show the same episode again. None of
        an episode that is too long to watch, or where what is seen is more than one array.
        """
        assert self.training.make_env is not None
        env, act = self.training.make_env(), acting(self.training.learner, greedy=True)
        try:
            observation, _ = env.reset(seed=FIRST_SEED)
            actions: list[Any] = []
            total = 0.0
            while isinstance(observation, np.ndarray) and len(actions) < LONGEST:
                action = act(observation[None])[0]
                actions.append(np.asarray(action).tolist())
                observation, reward, terminated, truncated, _ = env.step(action)
                total += float(reward)
                if terminated or truncated:
                    return {"seed": FIRST_SEED, "actions": actions, "return": total}
            return None
        finally:
            env.close()
