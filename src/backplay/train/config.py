"""What a training run is told: its settings, and the forms of its network and its measure.

Checked here, where they enter. Does not know: how they are used, see `loop`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gymnasium import spaces
from torch import nn

from backplay.demos.success import success_rule
from backplay.errors import BackplayError, show
from backplay.learners import PPOConfig
from backplay.train.evaluate import Act, Evaluation

MOST_ENVS = 2**16
MOST_SAMPLES = 2**26
"""Of one rollout, and so of one update."""


class MakeNetwork(Protocol):
    """Makes a network for an observation and an action space, its weights drawn from a seed."""

    def __call__(
        self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any], *, seed: int
    ) -> nn.Module: ...


class Evaluator(Protocol):
    """Plays a policy from true starts, in its own way: on every level of a set, say."""

    def __call__(self, act: Act, *, episodes: int, seed: int) -> Evaluation: ...


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """What a training run does, apart from its env, demonstrations and curriculum."""

    frames: int = 500_000
    """Frames to train for; steps spent on restoring count."""
    num_envs: int = 8
    """Environments stepped side by side."""
    seed: int = 0
    """Of the network, the envs and the learner."""
    evaluate_every: int = 25_000
    """Frames between evaluations from the true start; 0 for none but the last."""
    evaluation_episodes: int = 20
    """Episodes of each evaluation during training."""
    final_episodes: int = 100
    """Episodes of the evaluation at the end."""
    initial: Literal["reset", "demonstration"] = "reset"
    """What step 0 of a demonstration means: the env's own reset, or the recorded initial state."""
    time_limit: Literal["continue", "fresh"] = "continue"
    """After a restore: go on with the demonstration's clock, or start a fresh one."""
    success: str | None = None
    """Which endings count as success: info:KEY, return>=X or terminated; None: those that are like
    the demonstration's, see docs/success.md."""
    settings: Literal["recorded", "mine"] = "recorded"
    """An env with other settings than the demonstrations' is refused, or keeps its own."""
    exact_resume: bool = True
    """A resumed run goes on in mid-episode, to the bit, or refuses to; if not, it begins new
    episodes, which is all that an env can do that does not follow from its seed and actions."""
    ppo: PPOConfig = field(default_factory=PPOConfig)
    """The learner."""

    def __post_init__(self) -> None:
        if self.success is not None:
            success_rule(self.success)  # raises where it is no rule
        least = {
            "frames": 1, "num_envs": 1, "seed": 0, "evaluate_every": 0,
            "evaluation_episodes": 1, "final_episodes": 1,
        }  # fmt: skip
        for name, minimum in least.items():
            value = getattr(self, name)
            if type(value) is not int or value < minimum:
                raise BackplayError(
                    name, expected=f"a whole number of at least {minimum}", got=show(value)
                )
        samples = self.num_envs * self.ppo.num_steps
        if self.num_envs > MOST_ENVS or samples > MOST_SAMPLES:
            raise BackplayError(
                "num_envs", expected=f"at most {MOST_ENVS:,}, with num_steps {MOST_SAMPLES:,}",
                got=f"{self.num_envs:,} times {self.ppo.num_steps:,} steps",
                do="Take fewer: the memory for all of them is asked for at once.",
            )  # fmt: skip
