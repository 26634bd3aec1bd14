"""The paper's second experiment as jobs: one learner against three FSMTS agents (section 4.3).

Comes in: regime, maps, rewards, budget; games are played from a seed, so a run needs no file. Goes
out: the same as data, checked, and on `begin` the work. Does not know: how it is trained or shown,
which `work` and `exhibit` do.

As in the paper: 19 planes twice, +1 for winning and -1 otherwise, +0.1 for an item where rewards
are dense, no discount, the windows of appendix A.1. The runner-up follows the same games as the
winner. The learner sits where the demonstration's player sat, every map equally often; the authors'
code draws the seat first, which is the same for four maps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from backplay.errors import ensure
from backplay.paper.experiment import FolderJob
from backplay.train.job import require_one_of, require_whole

PAPER_REGIMES = ("backplay", "uniform", "standard")
REGIMES = (*PAPER_REGIMES, "default")
IMITATING = ("cloned", "dagger")
"""Regimes that do as they are shown or told; rewards do not count (appendix A.9)."""
PERSPECTIVES = ("winner", "runner-up")
REWARDS = ("sparse", "dense")
EPOCHS = {4: 500, 100: 850}
"""Epochs of a whole run, by maps.

The paper says about 50 million frames: 500 epochs. With 100 maps its windows (appendix A.1) last
longer than that; a whole run then has as large a share at the true start as one with four."""
SECONDS = {
    "ours": 40.0, "absolute": 40.0, "paper-learner": 25.0, "paper-learner-absolute": 25.0,
    "convolution": 1_100.0, "paper": 64_000.0,
}  # fmt: skip
"""Core-seconds of a million frames, measured, by preset."""
_SETTINGS = {
    "paper": "the paper's settings", "paper-learner": "the paper's learner",
    "convolution": "a small convolution", "absolute": "absolute facts",
    "paper-learner-absolute": "the paper's learner, absolute facts",
}  # fmt: skip
PRECISIONS = ("float32", "bfloat16")
ON_FACTS = ("ours", "absolute", "paper-learner", "paper-learner-absolute")
"""Presets whose network can multiply in either precision."""


@dataclass(frozen=True, kw_only=True)
class PommermanJob(FolderJob):
    """One run on a set of maps."""

    kind: ClassVar[str] = "pommerman"
    curve: ClassVar[tuple[str, ...]] = ("success", "greedy_success", "bomb_share", "steps")
    measures: ClassVar[tuple[str, ...]] = (
        *curve, "ties", "held_out_success", "held_out_greedy_success", "least_won_map",
        "maps_won_80", "maps_won_50",
    )  # fmt: skip

    regime: str
    """One of REGIMES or IMITATING."""
    maps: int = 4
    """Games to train on: one for each winning seat of 4, else what comes."""
    perspective: str = "winner"
    """Whose game the learner follows, one of PERSPECTIVES."""
    rewards: str = "sparse"
    """One of REWARDS."""
    preset: str = "ours"
    """The network and the learner's settings, one of `presets.PRESETS`."""
    seed: int = 0
    """Of the network, the starts and the learner."""
    frames: int = 2_560_000
    """Budget; windows are stretched to it."""
    held_out: int = 10
    """Games to measure on alone."""
    map_seed: int = 0
    """Of the games."""
    opponents: str = "fsmts"
    """The three others, and who played the demonstrations: an agent's name."""
    simulations: int = 50
    """Of each search of an FSMTS agent."""
    shield: bool = False
    """Whether nobody is burned by the explosion of an own bomb, in demonstrations and games."""
    evaluations: int = 20
    """How often every map is played from its true start on the way."""
    games: int = 8
    """Games of each map in such an evaluation; with more than 32 maps, 1."""
    final_games: int = 32
    """Games of each map at the end, as many as the paper played at least."""
    held_out_games: int = 100
    """Games of each map held out; the paper's 1,000 in all."""
    num_envs: int = 60
    """Games side by side, as the paper's workers."""
    precision: str = field(default="float32", compare=False)
    """To what the factors of products are rounded while the network learns, one of PRECISIONS.

    A run that was begun goes on as it began, whatever is asked for now."""

    def __post_init__(self) -> None:
        require_one_of("regime", self.regime, (*REGIMES, *IMITATING))
        require_one_of("perspective", self.perspective, PERSPECTIVES)
        require_one_of("rewards", self.rewards, REWARDS)
        require_one_of("preset", self.preset, tuple(SECONDS))
        can = PRECISIONS if self.preset in ON_FACTS else PRECISIONS[:1]
        require_one_of("precision", self.precision, can)
        require_whole(
            self, maps=1, seed=0, frames=1, held_out=0, map_seed=0, simulations=1, evaluations=1,
            games=1, final_games=1, held_out_games=1, num_envs=1,
        )  # fmt: skip
        ensure(isinstance(self.shield, bool), "shield", "true or false", self.shield)
        ensure(isinstance(self.opponents, str), "opponents", "an agent's name", self.opponents)
        if self.opponents != "fsmts":
            from backplay.envs.pommerman.players import player

            player(self.opponents, self.simulations)  # raises where there is no such agent

    @property
    def setting(self) -> str:
        """The maps, whose games are followed, and the rewards."""
        words = [self.perspective, f"{self.maps} maps", self.rewards]
        words += [f"against {self.opponents}"] * (self.opponents != "fsmts")
        words += ["shielded"] * self.shield
        words += [_SETTINGS[self.preset]] if self.preset in _SETTINGS else []
        return ", ".join(words)

    @property
    def seconds(self) -> float:
        """By preset and frames."""
        return 60.0 + SECONDS[self.preset] * self.frames / 1_000_000


JOB = PommermanJob
