"""Presets: a network and a learner's settings by name.

Comes in: a name. Goes out: what the learner sees, a function that makes its network, PPO's
settings. Does not know: maps, regimes, budgets.

| preset | sees | network | learner |
|---|---|---|---|
| ours | facts | a sum of table rows, 128, 128; values bounded | all of a batch used, rates fall |
| absolute | facts not as seen from the own cell | as ours | as ours |
| paper-learner | facts | as ours, values unbounded | the paper's |
| paper-learner-absolute | as absolute | as paper-learner | the paper's |
| convolution | planes | the paper's for the Maze | as version 0.1.0 had it |
| paper | planes | the paper's | the paper's |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import nn

from backplay.envs.pommerman.sights import Sees
from backplay.learners import PPOConfig
from backplay.learners.sparse import fact_network
from backplay.paper.pommerman.network import board_network


@dataclass(frozen=True, kw_only=True)
class Preset:
    """How a learner sees, and how it learns."""

    observation: Sees
    """What the network is given."""
    network: Callable[..., nn.Module]
    """Makes it for an observation space, an action space and a `seed`."""
    ppo: PPOConfig
    """The learner's settings."""
    bounded: bool = False
    """Whether the network is told, as `bound`, within what its values have to be."""


# Appendix A.6, and 6 of 20 minibatches in each pass as for the Maze: 24 steps an epoch.
_PAPER = PPOConfig(
    num_steps=1_707, minibatch_size=5_120, minibatches_per_pass=6, passes=4, learning_rate=3e-4,
    gamma=1.0, value_lambda=None, entropy_coefficient=0.01, normalise_advantages="batch",
    bootstrap_truncated=False,
)  # fmt: skip
# As for our Maze: a smaller batch, all of it used, and a learning rate that falls to 0.
_SMALL = PPOConfig(
    num_steps=128, minibatch_size=960, passes=4, learning_rate=1e-3, final_learning_rate=0.0,
    gamma=1.0, value_lambda=None, entropy_coefficient=0.01, normalise_advantages="batch",
)  # fmt: skip
# Chosen on other maps and seeds than those reported: results/pommerman-tuning.md.
_OURS = PPOConfig(
    num_steps=128, minibatch_size=4_096, passes=4, learning_rate=1e-3, final_learning_rate=0.0,
    gamma=1.0, value_lambda=1.0, entropy_coefficient=0.01, final_entropy_coefficient=0.0,
    normalise_advantages="batch",
)  # fmt: skip

PRESETS = {
    "ours": Preset(observation="facts", network=fact_network, ppo=_OURS, bounded=True),
    "paper-learner": Preset(observation="facts", network=fact_network, ppo=_PAPER),
    "absolute": Preset(
        observation="absolute facts", network=fact_network, ppo=_OURS, bounded=True
    ),
    "paper-learner-absolute": Preset(
        observation="absolute facts", network=fact_network, ppo=_PAPER
    ),
    "convolution": Preset(
        observation="planes", network=partial(board_network, preset="convolution"), ppo=_SMALL,
    ),
    "paper": Preset(
        observation="planes", network=partial(board_network, preset="paper"), ppo=_PAPER,
    ),
}  # fmt: skip
