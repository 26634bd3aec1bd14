"""The loop that any trainer runs in: learn, measure now and then, tell.

Comes in: settings, and from a subclass one update at a time. Goes out: `Progress` after each.
`Training` is our own PPO in it; another library's learner can stand in its place. Does not know:
envs, learners, the disk, the screen.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from backplay.curricula import Curriculum, from_json, kinds_in, to_json
from backplay.records import Episode
from backplay.train.config import TrainConfig
from backplay.train.evaluate import Act, Evaluation
from backplay.train.progress import Progress


class Running:
    """A run in progress: the frames so far, the curriculum, what was measured."""

    learner: Any
    """Who acts: `act(observations, greedy=…, generator=…)`."""

    def __init__(self, config: TrainConfig, curriculum: Curriculum) -> None:
        self.config, self.curriculum = config, curriculum
        self.frames = 0
        self.evaluations: list[tuple[int, float]] = []
        """Frames and success from the true start of each evaluation."""
        self._recent: deque[bool] = deque(maxlen=100)

    @property
    def total_frames(self) -> int:
        """At the end."""
        return self.config.frames

    @property
    def exact_resume(self) -> bool:
        """Whether a resumed run ends with the same bytes as one that was never stopped."""
        return self.config.exact_resume

    def run(self) -> Iterator[Progress]:
        """Trains until the frames are used up; yields after every update, last with `finished`.

        Between two yields nothing is saved and a wish to stop is not heard.
        """
        total = self.config.frames
        every = self.config.evaluate_every or total
        next_evaluation = (self.frames // every + 1) * every
        resumed_at, began = self.frames, time.perf_counter()
        while self.frames < total:
            episodes, metrics = self._learned()
            self._recent.extend(episode.success for episode in episodes)
            finished, evaluation = self.frames >= total, None
            if finished or self.frames >= next_evaluation:
                asked = self.config.final_episodes if finished else self.config.evaluation_episodes
                evaluation = self.evaluate(asked)
                next_evaluation = (self.frames // every + 1) * every
                self.evaluations.append((self.frames, evaluation.success))
            speed = (self.frames - resumed_at) / (time.perf_counter() - began)
            yield Progress(
                frames=self.frames, total_frames=total, frames_per_second=speed,
                seconds_left=max(0.0, (total - self.frames) / speed),
                starts=self.curriculum.describe(),
                train_success=float(np.mean(self._recent)) if self._recent else None,
                true_success=self.evaluations[-1][1] if self.evaluations else None,
                evaluation=evaluation, episodes=episodes, metrics=metrics, finished=finished,
            )  # fmt: skip

    def evaluate(self, episodes: int, *, greedy: bool = False, seed: int = 10_000) -> Evaluation:
        """Success from the true start, by default with sampled actions."""
        generator = torch.Generator().manual_seed(self.config.seed)
        return self._measured(
            lambda seen: self.learner.act(seen, greedy=greedy, generator=generator), episodes, seed
        )

    def state(self) -> dict[str, Any] | None:
        """Plain data and arrays to resume from, its frames at `frames`; asked between two yields.

        None where nothing can be saved: the run is not checkpointed, and begins again when killed.
        """
        raise NotImplementedError

    def load_state(self, state: dict[str, Any]) -> None:
        """Puts a trainer that has not begun where `state()` was taken."""
        raise NotImplementedError

    def _learned(self) -> tuple[list[Episode], dict[str, float]]:
        """One update: `frames` and `curriculum` move on; the episodes that ended, the metrics."""
        raise NotImplementedError

    def _measured(self, act: Act, episodes: int, seed: int) -> Evaluation:
        """What comes of so many episodes from the true start."""
        raise NotImplementedError

    def _told(self) -> dict[str, Any]:
        """What a state keeps of the loop itself."""
        return {
            "curriculum": to_json(self.curriculum),
            "frames": self.frames,
            "evaluations": [list(pair) for pair in self.evaluations],
            "recent": list(self._recent),
        }

    def _resume(self, state: dict[str, Any]) -> None:
        """Goes on from `_told()`; raises where it is something else."""
        self.curriculum = from_json(state["curriculum"], kinds=kinds_in(self.curriculum))
        self.frames = int(state["frames"])
        self.evaluations = [(int(frames), float(s)) for frames, s in state["evaluations"]]
        self._recent = deque(map(bool, state["recent"]), maxlen=self._recent.maxlen)
