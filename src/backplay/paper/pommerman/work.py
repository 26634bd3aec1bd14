"""A Pommerman job in progress.

Comes in: a `PommermanJob`. Goes out: a `Training`, lines for the metrics with the actions chosen,
and at the end the win rate from the true start of every map, trained on and held out. Does not
know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from backplay.curricula import Backplay, Curriculum
from backplay.envs.pommerman.boards import HIDDEN
from backplay.envs.pommerman.demonstrations import make_games
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.vector import PommermanVector
from backplay.learners import PPO
from backplay.learners.workers import Workers
from backplay.paper import regimes
from backplay.paper.pommerman.imitation import AS_TOLD, AdvisedVector, Imitator, demonstrated
from backplay.paper.pommerman.job import EPOCHS, IMITATING, ON_FACTS, PommermanJob
from backplay.paper.pommerman.play import PlayedGames, kept_game, play_maps
from backplay.paper.pommerman.presets import PRESETS
from backplay.paper.pommerman.scenes import PommermanScenes
from backplay.train import Progress, TrainConfig, Training
from backplay.train.agent import acting
from backplay.train.evaluate import Act, Evaluation
from backplay.train.job import Say, TrainedWork

ITEM_REWARD = 0.1
GAME_SEED = 10_000  # of the games that measure


def begun(
    job: PommermanJob, on_progress: Say | None, workers: Workers | None, files: Sequence[Path]
) -> PommermanWork:
    """Plays the games, for some seconds, and makes the envs and the learner."""
    library = make_games(
        job.maps, held_out=job.held_out, agent=job.opponents, seed=job.map_seed,
        simulations=job.simulations, shield=job.shield, progress=_counting(on_progress),
    )  # fmt: skip
    training, held_out = (
        [game.seen_by("winner" if job.perspective == "winner" else "runner-up") for game in s]
        for s in (library.training, library.held_out)
    )
    return PommermanWork(job, training, held_out, workers)


def settings(job: PommermanJob) -> TrainConfig:
    """How the learner learns."""
    ppo = PRESETS[job.preset].ppo
    return TrainConfig(
        frames=job.frames, num_envs=job.num_envs, seed=job.seed,
        ppo=replace(ppo, **AS_TOLD[job.regime]) if job.regime in IMITATING else ppo,
        evaluate_every=max(1, job.frames // job.evaluations),
    )  # fmt: skip


def curriculum(job: PommermanJob) -> Curriculum:
    """Where episodes start; for Backplay the paper's windows, stretched to the budget."""
    if job.regime != "backplay":
        regime = "standard" if job.regime in IMITATING else job.regime
        return regimes.curriculum(regime, [], job.frames, seed=job.seed)
    many = job.maps > 4
    epoch = max(1, round(job.frames / EPOCHS[100 if many else 4]))
    return Backplay.pommerman_100(epoch) if many else Backplay.pommerman_4(epoch)


class PommermanWork(TrainedWork):
    """A Pommerman job in progress."""

    width = 16

    def __init__(
        self,
        job: PommermanJob,
        maps: list[Perspective],
        held_out: list[Perspective],
        workers: Workers | None = None,
    ) -> None:
        self.job, self.maps, self.held_out = job, maps, held_out
        preset = PRESETS[job.preset]
        self._against: dict[str, Any] = {
            "opponents": job.opponents, "simulations": job.simulations,
            "observation": preset.observation,
        }  # fmt: skip
        self.lengths = [len(one) for one in maps]
        self._sampled: PlayedGames | None = None  # of the evaluation that was just made
        config, starts = settings(job), curriculum(job)
        kind = AdvisedVector if job.regime == "dagger" else PommermanVector
        envs = kind(
            config.num_envs, demos=maps, curriculum=starts, initial="demonstration",
            item_reward=ITEM_REWARD if job.rewards == "dense" else 0.0, **self._against,
        )  # fmt: skip
        learner: Callable[..., PPO] = PPO
        if job.regime in IMITATING:
            first = demonstrated(maps, preset.observation)
            advised = envs if isinstance(envs, AdvisedVector) else None
            learner = partial(Imitator, first=first, advised=advised)
        self.training: Training = Training(
            None, [], starts, config, envs=envs, evaluator=self._evaluate,
            network=_network(job), learner=learner, workers=workers,
        )  # fmt: skip

    def line(self, progress: Progress) -> dict[str, Any]:
        """What came of the update; at evaluations wins from the true start, and what was done."""
        line = super().line(progress)
        if self._sampled is not None:
            line["actions"] = self._sampled.actions.tolist()
            line["by_map"] = self._sampled.by_map
        self._sampled = None
        return line

    def measured(self, found: Evaluation) -> dict[str, Any]:
        """Wins on every map, with drawn actions and with the likeliest; what was drawn is kept."""
        self._sampled = sampled = self._sampled or self._play(self.maps, self._games)
        greedy = self._play(self.maps, self._games, greedy=True)
        return _curve(sampled, greedy)

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
                **_curve(sampled, greedy),
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
                **self._against,
            ),
        }  # fmt: skip

    def scenes(self) -> PommermanScenes:
        """The maps that are trained on, in pictures."""
        return PommermanScenes(self.maps, self.training.learner, **self._against)

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
        return play_maps(maps, act, games=games, seed=GAME_SEED, **self._against)


def _network(job: PommermanJob) -> Callable[..., nn.Module]:
    """Makes the network of the job's preset."""
    preset = PRESETS[job.preset]
    options: dict[str, Any] = {}
    if preset.bounded:
        items = HIDDEN * ITEM_REWARD if job.rewards == "dense" else 0.0
        options["bound"] = 1.0 + items
    if job.preset in ON_FACTS:
        options["precision"] = job.precision
    return partial(preset.network, **options)


def _counting(say: Say | None) -> Callable[[int, int, int], None]:
    """What `make_games` tells of its progress, in words."""
    if say is None:
        return lambda kept, wanted, played: None
    return lambda kept, wanted, played: say(f"{kept} of {wanted} games kept, {played} played")


def _curve(sampled: PlayedGames, greedy: PlayedGames) -> dict[str, float]:
    """What an evaluation on the way measures, and the end too."""
    return {
        "success": float(sampled.wins.mean()), "greedy_success": float(greedy.wins.mean()),
        "bomb_share": sampled.bomb_share, "steps": float(sampled.lengths.mean()),
    }  # fmt: skip


def _kept(played: PlayedGames) -> dict[str, Any]:
    """What a result keeps of many games."""
    return {
        "games": int(played.wins.size), "wins": int(played.wins.sum()),
        "ties": int(played.ties.sum()), "by_map": played.by_map, "maps_won": played.maps_won(),
        "steps": float(played.lengths.mean()), "actions": played.actions.tolist(),
    }  # fmt: skip
