"""The paper's second experiment as jobs: one learner against three FSMTS agents (section 4.3).

Comes in: a `PommermanJob`; its games are played from a seed, so a run needs no file. Goes out: a
`Training`, lines for the metrics with the actions chosen, and at the end the win rate from the
true start of every map, trained on and held out. Does not know: disks, screens.

As in the paper: 19 planes twice, +1 for winning and -1 otherwise, +0.1 for an item where rewards
are dense, no discount, the windows of appendix A.1. The runner-up follows the same games as the
winner. The learner sits where the demonstration's player sat, every map equally often; the authors'
code draws the seat first, which is the same for four maps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from backplay.curricula import Backplay, Curriculum, Standard, Uniform
from backplay.envs.pommerman.demonstrations import make_games
from backplay.envs.pommerman.players import player
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.vector import PommermanVector
from backplay.learners.workers import Workers
from backplay.paper.pommerman.game import kept_game
from backplay.paper.pommerman.play import PlayedGames, play_maps
from backplay.paper.pommerman.presets import PRESETS
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord
from backplay.train import Progress, TrainConfig, Training
from backplay.train.acting import acting
from backplay.train.evaluate import Act, Evaluation
from backplay.train.job import (
    Say,
    file_name,
    progress_line,
    require,
    require_one_of,
    require_whole,
)
from backplay.train.progress import by_steps_back

REGIMES = ("backplay", "uniform", "standard")
PERSPECTIVES = ("winner", "runner-up")
REWARDS = ("sparse", "dense")
ITEM_REWARD = 0.1
EPOCHS = {4: 500, 100: 850}
"""Epochs of a whole run, by maps.

The paper says about 50 million frames: 500 epochs. With 100 maps its windows (appendix A.1) last
longer than that; a whole run then has as large a share at the true start as one with four."""
BIN = 16  # steps; of the starts in the metrics
GAME_SEED = 10_000  # of the games that measure
_SETTINGS = {
    "paper": "the paper's settings", "paper-learner": "the paper's learner",
    "convolution": "a small convolution",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PommermanJob:
    """One run on a set of maps."""

    kind: ClassVar[str] = "pommerman"
    curve: ClassVar[tuple[str, ...]] = ("success", "greedy_success", "bomb_share", "steps")
    measures: ClassVar[tuple[str, ...]] = (
        *curve, "ties", "held_out_success", "held_out_greedy_success", "least_won_map",
        "maps_won_80", "maps_won_50",
    )  # fmt: skip

    regime: str
    """One of REGIMES."""
    maps: int = 4
    """Games to train on: one for each winning seat of 4, else what comes."""
    perspective: str = "winner"
    """Whose game the learner follows, one of PERSPECTIVES."""
    rewards: str = "sparse"
    """One of REWARDS."""
    preset: str = "ours"
    """The network and the learner's settings, one of PRESETS."""
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
    evaluations: int = 20
    """How often every map is played from its true start on the way."""
    games: int = 8
    """Games of each map in such an evaluation; with more than 32 maps, 1."""
    final_games: int = 32
    """Games of each map at the end, as many as the paper played at least."""
    held_out_games: int = 100
    """Games of each map held out; the paper's 1,000 in all."""
    num_envs: int = 64
    """Games side by side; the paper has 60."""

    def __post_init__(self) -> None:
        require_one_of("regime", self.regime, REGIMES)
        require_one_of("perspective", self.perspective, PERSPECTIVES)
        require_one_of("rewards", self.rewards, REWARDS)
        require_one_of("preset", self.preset, tuple(PRESETS))
        require_whole(
            self, maps=1, seed=0, frames=1, held_out=0, map_seed=0, simulations=1, evaluations=1,
            games=1, final_games=1, held_out_games=1, num_envs=1,
        )  # fmt: skip
        require(isinstance(self.opponents, str), "opponents", "an agent's name", self.opponents)
        player(self.opponents, self.simulations)

    @property
    def name(self) -> str:
        """As `winner-4-maps-sparse-backplay-0`."""
        return file_name(self.setting, self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The maps, whose games are followed, and the rewards."""
        words = [self.perspective, f"{self.maps} maps", self.rewards]
        words += [f"against {self.opponents}"] * (self.opponents != "fsmts")
        words += [_SETTINGS[self.preset]] if self.preset in _SETTINGS else []
        return ", ".join(words)

    @property
    def seconds(self) -> float:
        """By preset and frames."""
        return 60.0 + PRESETS[self.preset].millions * self.frames / 1_000_000

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> PommermanWork:
        """Plays the games, for some seconds, and makes the envs and the learner."""
        library = make_games(
            self.maps, held_out=self.held_out, agent=self.opponents, seed=self.map_seed,
            simulations=self.simulations, progress=_counting(on_progress),
        )  # fmt: skip
        training, held_out = (
            [game.seen_by("winner" if self.perspective == "winner" else "runner-up") for game in s]
            for s in (library.training, library.held_out)
        )
        return PommermanWork(self, training, held_out, workers)

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """A game, the maps won, the actions chosen."""
        from backplay.paper.pommerman.exhibit import exhibit

        return exhibit(records)


JOB = PommermanJob


def settings(job: PommermanJob) -> TrainConfig:
    """How the learner learns."""
    return TrainConfig(
        frames=job.frames, num_envs=job.num_envs, seed=job.seed,
        ppo=PRESETS[job.preset].ppo,
        evaluate_every=max(1, job.frames // job.evaluations),
    )  # fmt: skip


def curriculum(job: PommermanJob) -> Curriculum:
    """Where episodes start; the paper's windows, stretched to the budget."""
    if job.regime == "uniform":
        return Uniform()
    if job.regime == "standard":
        return Standard()
    many = job.maps > 4
    epoch = max(1, round(job.frames / EPOCHS[100 if many else 4]))
    return Backplay.pommerman_100(epoch) if many else Backplay.pommerman_4(epoch)


class PommermanWork:
    """A Pommerman job in progress."""

    def __init__(
        self,
        job: PommermanJob,
        maps: list[Perspective],
        held_out: list[Perspective],
        workers: Workers | None = None,
    ) -> None:
        self.job, self.maps, self.held_out = job, maps, held_out
        self._preset = PRESETS[job.preset]
        self._lengths = [len(one) for one in maps]
        self._sampled: PlayedGames | None = None  # of the evaluation that was just made
        config, starts = settings(job), curriculum(job)
        envs = PommermanVector(
            config.num_envs, opponents=job.opponents, simulations=job.simulations, demos=maps,
            item_reward=ITEM_REWARD if job.rewards == "dense" else 0.0,
            curriculum=starts, initial="demonstration", observation=self._preset.observation,
        )  # fmt: skip
        self.training: Training = Training(
            None, [], starts, config, envs=envs, evaluator=self._evaluate,
            network=self._preset.network, workers=workers,
        )  # fmt: skip

    def line(self, progress: Progress) -> dict[str, Any]:
        """What came of the update; at evaluations wins from the true start, and what was done."""
        line = progress_line(progress)
        line["by_steps_back"] = by_steps_back(progress.episodes, self._lengths, BIN)
        if progress.evaluation is not None:
            sampled = self._sampled or self._play(self.maps, self._games)
            greedy = self._play(self.maps, self._games, greedy=True)
            line["evaluation"] = {
                "success": float(sampled.wins.mean()),
                "greedy_success": float(greedy.wins.mean()),
                "bomb_share": sampled.bomb_share,
                "steps": float(sampled.lengths.mean()),
            }
            line["actions"] = sampled.actions.tolist()
            line["by_map"] = sampled.by_map
        self._sampled = None
        return line

    def result(self) -> dict[str, Any]:
        """Every map many times: sampled and greedy, trained on and held out; one game to watch."""
        job = self.job
        sampled = self._play(self.maps, job.final_games)
        greedy = self._play(self.maps, job.final_games, greedy=True)
        apart = {
            name: self._play(self.held_out, job.held_out_games, greedy=name == "greedy")
            for name in ("sampled", "greedy")
            if self.held_out
        }
        won, away = sampled.wins.mean(1), {k: float(v.wins.mean()) for k, v in apart.items()}
        return {
            "measures": {
                "success": float(sampled.wins.mean()), "greedy_success": float(greedy.wins.mean()),
                "bomb_share": sampled.bomb_share, "steps": float(sampled.lengths.mean()),
                "ties": float(sampled.ties.mean()),
                "held_out_success": away.get("sampled"),
                "held_out_greedy_success": away.get("greedy"),
                "least_won_map": float(won.min()),
                "maps_won_80": float((won >= 0.8).mean()),
                "maps_won_50": float((won >= 0.5).mean()),
            },
            "training": {"sampled": _kept(sampled), "greedy": _kept(greedy)},
            "held_out": {name: _kept(played) for name, played in apart.items()},
            "game": kept_game(
                self.maps[0], acting(self.training.learner, greedy=True), seed=GAME_SEED,
                opponents=job.opponents, simulations=job.simulations,
                observation=self._preset.observation,
            ),
        }  # fmt: skip

    def state(self) -> dict[str, Any]:
        """Where it stands."""
        return self.training.state()

    def close(self) -> None:
        """Closes the envs."""
        self.training.close()

    @property
    def _games(self) -> int:
        return self.job.games if len(self.maps) <= 32 else 1

    def _evaluate(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        """Every map as often as the job says, however many episodes are asked for."""
        self._sampled = self._play_with(act, self.maps, self._games)
        return self._sampled.as_evaluation()

    def _play(self, maps: list[Perspective], games: int, *, greedy: bool = False) -> PlayedGames:
        return self._play_with(acting(self.training.learner, greedy=greedy), maps, games)

    def _play_with(self, act: Act, maps: list[Perspective], games: int) -> PlayedGames:
        job = self.job
        return play_maps(
            maps, act, games=games, seed=GAME_SEED, opponents=job.opponents,
            simulations=job.simulations, observation=self._preset.observation,
        )  # fmt: skip


def _counting(say: Say | None) -> Callable[[int, int, int], None]:
    """What `make_games` tells of its progress, in words."""
    if say is None:
        return lambda kept, wanted, played: None
    return lambda kept, wanted, played: say(f"{kept} of {wanted} games kept, {played} played")


def _kept(played: PlayedGames) -> dict[str, Any]:
    """What a result keeps of many games."""
    return {
        "games": int(played.wins.size), "wins": int(played.wins.sum()),
        "ties": int(played.ties.sum()), "by_map": played.by_map, "maps_won": played.maps_won(),
        "steps": float(played.lengths.mean()), "actions": played.actions.tolist(),
    }  # fmt: skip
