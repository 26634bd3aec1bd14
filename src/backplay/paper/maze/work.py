"""A run on a set of mazes in progress, and in pictures.

Comes in: a `MazeJob` and its mazes. Goes out: a `Training` for its regime, lines for the metrics,
and at the end what came of every maze, with some of the paths walked; states and walks as pictures.
Does not know: disks, screens, plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from backplay.envs.maze import draw
from backplay.envs.maze.evaluate import Played, drawn, play, reached_from, walk
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.generate import generate_set
from backplay.envs.maze.sets import MazeLibrary, MazeSet
from backplay.envs.maze.solve import cells_off, distances_to_goals
from backplay.learners import DAgger
from backplay.learners.cloning import CloningProgress
from backplay.learners.workers import Workers
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.job import MINIBATCHES, PASSES, PLAYED, MazeJob
from backplay.paper.maze.regimes import AnyMazeNetwork, acts, clone_mazes
from backplay.train import Progress, TrainConfig, Training
from backplay.train.evaluate import Evaluation
from backplay.train.job import Say, TrainedWork
from backplay.train.scenes import Moment, Scenes

DRAWN = 500  # starts whose distance to the goal a line of metrics sums up
SHOWN = 4  # mazes whose paths a result keeps
SCALE = 16  # pixels along a cell, in pictures
OTHERS = 200  # mazes of each of the following kinds
ELSEWHERE = {
    "larger_success": {"size": 32, "walls": 213},  # as dense as the paper's
    "denser_success": {"size": 24, "walls": 160},
}
OFF = {"one_off": 1, "three_off": 3}  # steps from the demonstration of the cells measured from


def begun(
    job: MazeJob, on_progress: Say | None, workers: Workers | None, files: Sequence[Path]
) -> MazeWork:
    """The run at its beginning; regimes that imitate clone first, for about a minute."""
    library = job.library(files)
    on_clone = _cloning(on_progress) if on_progress else None
    if job.regime == "cloned":
        return MazeWork(library, clone_mazes(library.training, job.seed, on_clone), None)
    config = with_effort(maze.settings(job), job.effort, job.preset)
    made = maze.training(job, library, config=config, on_clone=on_clone, workers=workers)
    network = made.learner.network
    assert isinstance(network, maze.AnyMazeNetwork)
    return MazeWork(library, network, made)


class MazeWork(TrainedWork):
    """A run on a set of mazes in progress."""

    def __init__(
        self, library: MazeLibrary, network: maze.AnyMazeNetwork, training: Training | None
    ) -> None:
        self.library, self.network, self.training = library, network, training
        self.lengths = library.training.lengths.tolist()

    def line(self, progress: Progress) -> dict[str, Any]:
        """What came of the update, and how far from the goal episodes start."""
        return {**super().line(progress), "start_distances": self._start_distances()}

    def measured(self, found: Evaluation) -> dict[str, Any]:
        """What comes of every maze with the likeliest actions; success with drawn ones."""
        greedy = self._greedy(maze.measured(self.library.training)).summary()
        return {**{name: greedy[name] for name in PLAYED}, "sampled_success": found.success}

    def result(self) -> dict[str, Any]:
        """Every maze greedy and sampled, those held out, and the first paths."""
        library = self.library
        on_training = maze.measure(self.network, library.training)
        held_out = (
            maze.measure(self.network, library.held_out) if library.held_out.num_mazes else None
        )
        first = library.training.select(range(min(SHOWN, len(library.training))))
        greedy, sampled = on_training["greedy"], on_training["sampled"]
        nothing = {"success": None, "optimal": None}
        apart = held_out or {"greedy": nothing, "sampled": nothing}
        found = {
            "measures": {
                **{name: greedy[name] for name in (*PLAYED, "extra_std")},
                "sampled_success": sampled["success"],
                "held_out_success": apart["greedy"]["success"],
                "held_out_sampled_success": apart["sampled"]["success"],
                **{name: self._from_off(steps) for name, steps in OFF.items()},
                "labels": self._labels(),
                "held_out_optimal": apart["greedy"]["optimal"],
                **{name: self._elsewhere(**other) for name, other in ELSEWHERE.items()},
            },
            "training": on_training,
            "held_out": held_out,
            "measured_mazes": len(maze.measured(library.training)),
            "paths": drawn(first, self._greedy(first)),
        }
        self.network.forget()
        return found

    def scenes(self) -> MazeScenes:
        """The mazes that are trained on, in pictures."""
        return MazeScenes(self.library.training, self.network)

    def _greedy(self, mazes: MazeSet) -> Played:
        """The likeliest actions in the first mazes of the set, or in all of them.

        What a network keeps is rounded by the batches it came in, so it forgets: measuring must not
        change what is learned next.
        """
        played = play(mazes, acts(self.network))
        self.network.forget()
        return played

    def _start_distances(self) -> list[int]:
        """How far starts as they are drawn now are from the goal: the deciles, 0 to 10."""
        training = self.training
        assert training is not None
        rng = np.random.default_rng(training.frames)  # of its own: measuring changes nothing
        drawn = training.curriculum.sample(self.library.training.lengths, DRAWN, rng)
        (places,) = training.envs.call("places", *drawn)
        found = self._distances[places[:, 0], places[:, 1]]
        return [int(n) for n in np.quantile(found, np.arange(11) / 10, method="nearest")]

    @cached_property
    def _distances(self) -> NDArray[np.int32]:
        return distances_to_goals(self.library.training)

    def _elsewhere(self, *, size: int, walls: int) -> float | None:
        """Success with the likeliest actions in mazes unlike those learned; None if unable."""
        if isinstance(self.network, FastMazeNetwork):
            return None
        others = generate_set(OTHERS, 0, size=size, walls=walls)
        return float(maze.plays(self.network, others)["greedy"].successes.mean())

    def _labels(self) -> float:
        """States that an expert was asked about."""
        learner = self.training.learner if self.training is not None else None
        return float(learner.labels) if isinstance(learner, DAgger) else 0.0

    def _from_off(self, steps: int) -> float | None:
        """Success with the likeliest actions from all cells so far off the demonstrations."""
        mazes = maze.measured(self.library.training)
        reached = reached_from(mazes, *cells_off(mazes, steps), acts(self.network))
        return float(reached.mean()) if len(reached) else None


def with_effort(config: TrainConfig, effort: float, preset: str) -> TrainConfig:
    """The settings with a share of the gradient steps that an update has with all frames.

    Whole passes while it can, then one pass in fewer, larger minibatches.
    """
    if effort == 1.0 or preset != "ours":
        return config
    batch = config.num_envs * config.ppo.num_steps
    steps = max(1, round(effort * MINIBATCHES * PASSES))
    passes = max(1, round(steps / MINIBATCHES))
    minibatches = max(1, round(steps / passes))
    ppo = replace(config.ppo, passes=passes, minibatch_size=max(1, batch // minibatches))
    return replace(config, ppo=ppo)


def _cloning(say: Say) -> Callable[[CloningProgress], None]:
    def on_clone(at: CloningProgress) -> None:
        if at.epoch % 10 == 0:
            told = f"loss {at.loss:.3f}, agreement {at.agreement:.1%}"
            say(f"pass {at.epoch} over the demonstrations: {told}")

    return on_clone


class MazeScenes(Scenes):
    """Mazes and a network that walks in them."""

    def __init__(self, mazes: MazeSet, network: AnyMazeNetwork) -> None:
        self.mazes, self.network = mazes, network

    @property
    def lengths(self) -> list[int]:
        """The steps of each demonstration."""
        return [int(length) for length in self.mazes.lengths]

    def picture(self, demo: int, step: int) -> NDArray[np.uint8]:
        """The agent on the demonstration, which is drawn pale."""
        return self._draw(demo, self.mazes.paths[demo][step : step + 1])

    def play(self, demo: int, step: int, *, greedy: bool, seed: int) -> Iterator[Moment]:
        """A walk of the network from that cell, drawn as it grows."""
        act = acts(self.network, None if greedy else torch.Generator().manual_seed(seed))
        mazes = self.mazes
        begin = mazes.paths[demo][step : step + 1]
        trail = walk(mazes, np.array([demo]), begin, act)[0][0]
        self.network.forget()
        total = 0.0
        for at in range(len(trail)):
            if at:
                arrived = trail[at] == mazes.goals[demo]
                total += mazes.step_reward + mazes.goal_reward * float(arrived)
            over = at == len(trail) - 1
            success = bool(trail[at] == mazes.goals[demo]) if over else None
            yield Moment(partial(self._draw, demo, trail[: at + 1]), total, success)

    def _draw(self, demo: int, path: NDArray[np.int32]) -> NDArray[np.uint8]:
        mazes = self.mazes
        return draw.picture(
            mazes.walls[demo], int(mazes.starts[demo]), int(mazes.goals[demo]),
            agent=int(path[-1]), demonstration=mazes.paths[demo], path=path, scale=SCALE,
        )  # fmt: skip
