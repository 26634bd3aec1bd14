"""The demo's runs: MountainCar with a reward at the flag only, from one scripted demonstration.

Comes in: a `DemoJob`. Goes out: a `Training`, lines for the metrics, success from the true start.
Does not know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym

from backplay.paper.experiment import FolderJob
from backplay.train.job import Say, file_name, require_one_of, require_whole

if TYPE_CHECKING:
    from backplay.demos import Demonstration
    from backplay.learners.workers import Workers
    from backplay.restore.rollout import AnyEnv
    from backplay.train.env_job import EnvWork

ENV_ID = "MountainCar-v0"
SETTING = f"{ENV_ID}, a reward at the flag only"
REGIMES = ("backplay", "uniform", "standard")
DEMO_SEED = 7
EVALUATIONS = 25
PPO: dict[str, Any] = {
    "learning_rate": 2e-3,
    "passes": 8,
    # Advantages as they are: scaled to deviation 1 they are mere noise as long as no reward came,
    # and now and then that noise alone drives plain PPO up the hill.
    "normalise_advantages": "none",
    "entropy_coefficient": 0.001,
    "value_lambda": None,
}


class GoalReward(gym.Wrapper[Any, Any, Any, Any]):
    """1 for reaching the goal and 0 else, instead of a cost for every step.

    A cost for every step is a hint: where the agent has been often looks worse than where it has
    not, so that an eager enough PPO is driven up the hill without ever having seen the flag.
    """

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, float(terminated), terminated, truncated, info


def make_env(**options: Any) -> AnyEnv:
    """The task: drive up the hill, with a reward at the flag only."""
    return GoalReward(gym.make(ENV_ID, **options))


def demonstrate() -> Demonstration:
    """Push the way the car rolls; checked."""
    from backplay.demos.check import check
    from backplay.demos.record import record

    env = make_env()
    try:
        made = record(env, lambda seen: 2 if seen[1] >= 0 else 0, seed=DEMO_SEED)
        check(env, made)
    finally:
        env.close()
    return made


@dataclass(frozen=True, kw_only=True)
class DemoJob(FolderJob):
    """One run of our PPO."""

    kind: ClassVar[str] = "demo"
    curve: ClassVar[tuple[str, ...]] = ("success", "return", "steps")
    measures: ClassVar[tuple[str, ...]] = (*curve, "greedy_success", "greedy_return")

    regime: str
    """One of REGIMES."""
    seed: int = 0
    """Of the network, the envs and the learner."""
    frames: int = 200_000
    """Budget; schedules are stretched to it."""
    episodes: int = 100
    """Episodes from the true start that judge the agent at the end."""

    def __post_init__(self) -> None:
        require_one_of("regime", self.regime, REGIMES)
        require_whole(self, seed=0, frames=1, episodes=1)

    @property
    def name(self) -> str:
        """As `backplay-0`."""
        return file_name(self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The task."""
        return SETTING

    @property
    def seconds(self) -> float:
        """Three regimes of three seeds took 90 s on two cores."""
        return 3.0 + 90e-6 * self.frames

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> EnvWork:
        """Plays the demonstration and makes the envs."""
        from backplay.curricula import Frontier, Standard, Uniform
        from backplay.learners import PPOConfig
        from backplay.train import TrainConfig, Training
        from backplay.train.env_job import EnvWork

        demo = demonstrate()
        if on_progress:
            on_progress(f"{SETTING}, one demonstration of {len(demo)} steps")
        config = TrainConfig(
            frames=self.frames, seed=self.seed, ppo=PPOConfig(**PPO),
            evaluate_every=max(1, self.frames // EVALUATIONS), final_episodes=self.episodes,
        )  # fmt: skip
        curricula = {
            "backplay": Frontier(),
            "uniform": Uniform(),
            "standard": Standard(),
        }
        made = Training(make_env, [demo], curricula[self.regime], config, workers=workers)
        return EnvWork(made, [demo], make_env)


JOB = DemoJob
