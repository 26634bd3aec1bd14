"""The paper's Maze experiment: its regimes, its settings and ours, its numbers.

    run = MazeJob(regime="backplay", preset="ours", frames=10_240_000, seed=0)
    for progress in training(run, load_mazes("optimal.npz")).run():
        print(progress)

Comes in: a `MazeJob`, which is plain data, and a library of mazes. Goes out: a `Training`, and
measurements. Some regimes imitate the demonstrations: by cloning, by GAIL, by DAgger, whose expert
is A*, who walked them. Does not know: disks, screens, plots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.curricula import (
    Backplay,
    Curriculum,
    ReverseCurriculum,
    Standard,
    Uniform,
    Until,
    Window,
)
from backplay.envs.maze.evaluate import Played, play
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.rules import ACTIONS
from backplay.envs.maze.sets import MazeLibrary, MazeSet
from backplay.envs.maze.solve import planned_actions
from backplay.envs.maze.vector import MazeVector
from backplay.errors import BackplayError, ensure
from backplay.learners import (
    GAIL,
    PPO,
    DAgger,
    Discriminator,
    GAILConfig,
    Pairs,
    PPOConfig,
    Teacher,
)
from backplay.learners.cloning import CloningProgress, clone
from backplay.learners.workers import Workers
from backplay.paper import regimes
from backplay.paper.forgetting import forgetful
from backplay.paper.maze.job import OWN, PAPER_EPOCH, SIZE, MazeJob
from backplay.paper.maze.planning import PlanningMazeNetwork
from backplay.paper.maze.sight import SightedMazeNetwork
from backplay.train import TrainConfig, Training
from backplay.train.evaluate import Act, Evaluation

AnyMazeNetwork = FastMazeNetwork | SightedMazeNetwork | PlanningMazeNetwork

UPDATES, STEPS = 125, 160  # of our preset: updates in a run, steps of each agent between two
MOST_MEASURED = 1_000  # mazes; of more, a hundred are played
FEW_FRAMES = 4_000_000  # below, our preset has more passes, and more time at the true start
ARCHIVE = 20_000  # starts; the paper's code keeps all, so that a maze can come back
GROWTH = 1.6  # of our windows
WALK = 50  # steps of a walk in mazes of the paper's size
NEW_STATES = 10_000  # of the walks of the paper's round
FEWEST_ROUNDS = 12
START_FRAMES = 128  # of a round for each of its starts in such mazes; with the paper's rounds 341
PAPER_TRUE_START = 1_750  # the epoch from which every regime trains on the true start alone
MOVES = spaces.Discrete(ACTIONS)
JUDGE = GAILConfig(learning_rate=2e-3, steps=32, minibatch_size=512)
"""About as many gradient steps as the policy makes: with a quarter of them a hundred mazes were
told apart too slowly."""
ASKING = PPOConfig(
    num_steps=40, minibatch_size=512, passes=4, learning_rate=1e-3, entropy_coefficient=0.01,
    value_lambda=None,
)  # fmt: skip
"""Of DAgger: short rollouts, so that the expert is asked about a policy that knows his answers."""
FALLING = PPOConfig(
    num_steps=128, passes=4, final_learning_rate=0.0, entropy_coefficient=0.01, value_lambda=None,
    normalise_advantages="batch",
)  # fmt: skip
"""What our settings have in common: rates that fall to 0, and no second lambda."""


def settings(run: MazeJob) -> TrainConfig:
    """How the learner learns."""
    if run.preset == "paper":
        # 60 x 1,707 frames an epoch. The authors' sampler stopped after 6 of the 20 minibatches of
        # a pass: the paper's numbers are of 24 updates an epoch, so that is what the preset does.
        envs, ppo = 60, PPOConfig(
            num_steps=1_707, minibatch_size=5_120, minibatches_per_pass=6, passes=4,
            learning_rate=1e-3, entropy_coefficient=0.01, value_lambda=None,
            normalise_advantages="batch", bootstrap_truncated=False,
        )  # fmt: skip
    elif run.regime == "dagger":
        envs, ppo = 100, ASKING
    elif run.planning:
        # A few numbers, the same in every maze: all of a batch in one step, at a high rate.
        envs, ppo = 64, replace(FALLING, minibatch_size=8_192, learning_rate=3e-2)
    elif run.sight:
        # What is learned in one maze holds in all, so batches may be small and updates many.
        envs, ppo = 256, replace(FALLING, minibatch_size=4_096, learning_rate=1e-3)
    else:
        # As many updates whatever the budget, from 0.64 to 10.24 million frames: learning takes a
        # number of them, and frames to fill them with; what frames are left makes each better.
        envs, steps = int(np.clip(run.frames / (UPDATES * STEPS), 32, 512)), STEPS
        if run.regime == "florensa":
            # A round judges its starts by episodes that end in it: 160 steps end none of 200.
            envs, steps = envs // 2, 2 * STEPS
        ppo = replace(
            FALLING, num_steps=steps, minibatch_size=max(1, envs * steps // 8),
            passes=6 if run.frames < FEW_FRAMES else 4, learning_rate=2e-3,
        )  # fmt: skip
    return TrainConfig(
        frames=run.frames, num_envs=envs, seed=run.seed, ppo=ppo,
        evaluate_every=max(1, run.frames // run.evaluations),
    )  # fmt: skip


def curriculum(run: MazeJob, lengths: NDArray[np.int64]) -> Curriculum:
    """Where episodes start, for demonstrations of these lengths."""
    if run.regime not in OWN:
        return regimes.curriculum(run.regime, lengths.tolist(), run.frames, seed=run.seed)
    true_start = round(run.frames * PAPER_TRUE_START / run.epochs)
    if run.regime in ("uniform", "gail+uniform"):
        return Until(Uniform(), at=true_start)
    if run.regime == "gail+default":
        return regimes.curriculum("default", lengths.tolist(), run.frames)
    if run.regime == "florensa":
        return _reverse(run, lengths, true_start)
    if run.regime != "backplay":
        return Standard()
    if run.preset == "paper":
        if lengths.max() > 200:
            raise BackplayError(
                "preset", expected="demonstrations of at most 200 steps", got=int(lengths.max()),
                do="The paper's windows end there; use the preset ours.",
            )  # fmt: skip
        return Backplay.maze(max(1, round(run.frames / run.epochs)))
    share = 0.75 if run.frames < FEW_FRAMES else 0.8
    return windows(run.frames, int(lengths.max()), share=share)


def windows(frames: int, longest: int, *, share: float) -> Backplay:
    """Windows that grow more slowly than the paper's and overlap by half.

    Each stays for the same number of frames; after `share` of them comes the true start alone.
    """
    ends = [4]
    while ends[-1] < longest:
        ends.append(int(np.ceil(ends[-1] * GROWTH)))
    begin = [0, *(end // 2 for end in ends[:-1])]
    each = share * frames / len(ends)
    opened = [
        Window(int(k * each), lo, hi) for k, (lo, hi) in enumerate(zip(begin, ends, strict=True))
    ]
    beginning = max(200, longest)
    return Backplay((*opened, Window(int(share * frames), beginning, beginning)))


def _reverse(run: MazeJob, lengths: NDArray[np.int64], until: int) -> ReverseCurriculum:
    """The paper's reverse curriculum; with our preset one for every maze, in shorter rounds.

    In the paper's code all mazes share one set of starts, and those with many survivors crowd out
    the others: docs/reverse-curriculum.md. Three starts a maze are the paper's 300, every maze has
    a walk a round; walks, and the frames that a start has, are as long for the size of the maze.
    """
    each, walked, settings = PAPER_EPOCH, NEW_STATES, {}
    if run.preset != "paper":
        share = run.size / SIZE
        tried = max(1, round(START_FRAMES * share))
        each = max(1, min(PAPER_EPOCH, 3 * len(lengths) * tried, run.frames // FEWEST_ROUNDS))
        starts = max(3, min(3 * len(lengths), each // tried))
        walk = max(1, round(WALK * share))
        walked = max(walk * min(len(lengths), starts), NEW_STATES * each // PAPER_EPOCH)
        settings = {
            "evenly": True, "walk_steps": walk,
            "new_starts": starts - starts // 3, "old_starts": starts // 3,
        }  # fmt: skip
    return ReverseCurriculum.begin(
        tuple(int(length) for length in lengths), seed=run.seed, round_frames=each, until=until,
        new_states=walked, archive_size=ARCHIVE, **settings,
    )  # fmt: skip


def training(
    run: MazeJob,
    library: MazeLibrary,
    *,
    config: TrainConfig | None = None,
    on_clone: Callable[[CloningProgress], None] | None = None,
    workers: Workers | None = None,
) -> Training:
    """The run at its beginning; `cloned+ppo` and `kickstarted` clone the demonstrations first.

    `config` is `settings(run)`, unless somebody has changed it.
    """
    ensure(run.regime != "cloned", "regime", "one that trains", got="cloned", do="clone_mazes.")
    mazes, config = library.training, config or settings(run)
    starts = curriculum(run, mazes.lengths)
    cloned = None
    if run.regime in ("cloned+ppo", "kickstarted"):
        cloned = clone_mazes(mazes, run.seed, on_clone)
    clock: Literal["fresh", "continue"] = "fresh" if run.regime == "florensa" else "continue"
    envs = MazeVector(config.num_envs, mazes, curriculum=starts, time_limit=clock)

    return Training(
        None, (), starts, config,
        success=lambda end: end.terminated, envs=envs,
        network=lambda seen, done, *, seed: network_for(run, mazes, seed),
        evaluator=partial(on_every_maze, measured(mazes)),
        initial_weights=cloned.state_dict() if cloned and run.regime == "cloned+ppo" else None,
        teacher=Teacher(cloned) if cloned and run.regime == "kickstarted" else None,
        learner=_learner(run, mazes, starts), workers=workers,
    )  # fmt: skip


def network_for(run: MazeJob, mazes: MazeSet, seed: int = 0) -> AnyMazeNetwork:
    """The network that a run trains, its weights drawn from a seed."""
    if run.planning:
        return PlanningMazeNetwork(mazes.walls, mazes.goals, seed=seed, planning=run.planning)
    if run.sight:
        return SightedMazeNetwork(mazes.walls, mazes.goals, seed=seed, sight=run.sight)
    return FastMazeNetwork(mazes.walls, mazes.goals, seed=seed)


def _learner(run: MazeJob, mazes: MazeSet, starts: Curriculum) -> Callable[..., PPO]:
    if run.forgets != "nothing":
        return forgetful(
            run.forgets, values=("value.weight", "value.bias"),
            policy=("policy.weight", "policy.bias"), starts=starts, frames=run.frames,
        )  # fmt: skip
    if run.regime.startswith("gail"):
        return gail(mazes, run.seed)
    return dagger(mazes) if run.regime == "dagger" else PPO


def measured(mazes: MazeSet) -> MazeSet:
    """The mazes that are played to measure: all, or the first hundred of very many."""
    return mazes if mazes.num_mazes <= MOST_MEASURED else mazes.select(np.arange(100))


def on_every_maze(mazes: MazeSet, act: Act, *, episodes: int, seed: int) -> Evaluation:
    """Every maze once, however many episodes are asked for: they differ by nothing else."""
    played = play(mazes, act)
    returns = mazes.step_reward * played.lengths + mazes.goal_reward * played.successes
    return Evaluation(played.successes, returns, played.lengths)


def measure(network: AnyMazeNetwork, mazes: MazeSet, seed: int = 0) -> dict[str, Any]:
    """What comes of every maze of a set, with the likeliest actions and with drawn ones."""
    return {name: played.summary() for name, played in plays(network, mazes, seed).items()}


def plays(network: AnyMazeNetwork, mazes: MazeSet, seed: int = 0) -> dict[str, Played]:
    """One episode in every maze, greedy and sampled; the mazes may be others than it learned."""
    mazes = measured(mazes)
    on = network.on(mazes.walls, mazes.goals)
    generator = torch.Generator().manual_seed(seed)
    return {"greedy": play(mazes, acts(on)), "sampled": play(mazes, acts(on, generator))}


def acts(network: AnyMazeNetwork, generator: torch.Generator | None = None) -> Act:
    """What a network does in places [n, 2] (maze, cell): the likeliest, or drawn from a stream."""

    def act(places: NDArray[np.int32]) -> NDArray[np.int64]:
        with torch.inference_mode():
            logits: torch.Tensor = network(torch.from_numpy(places))[0]
            if generator is None:
                return logits.argmax(-1).numpy()
            return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0].numpy()

    return act


def pairs(mazes: MazeSet) -> Pairs:
    """Every state of every demonstration but its end, and what was done in it."""
    states = [(maze, cell) for maze, path in enumerate(mazes.paths) for cell in path[:-1]]
    return Pairs(np.array(states, np.int32), np.concatenate(mazes.actions).astype(np.int64))


def gail(mazes: MazeSet, seed: int) -> Callable[..., PPO]:
    """Makes a learner that imitates the demonstrations by GAIL."""
    network = FastMazeNetwork(mazes.walls, mazes.goals, seed=seed + 1)
    torch.nn.init.zeros_(network.policy.weight)  # undecided: its first rewards are nothing
    judge = Discriminator(network, MOVES)
    return partial(GAIL, expert=pairs(mazes), discriminator=judge, imitation=JUDGE)


def dagger(mazes: MazeSet) -> Callable[..., PPO]:
    """Makes a learner that asks A* about the states it comes to."""
    return partial(DAgger, expert=lambda seen: planned_actions(mazes, seen), first=pairs(mazes))


def clone_mazes(
    mazes: MazeSet, seed: int, on_progress: Callable[[CloningProgress], None] | None = None
) -> FastMazeNetwork:
    """A network that imitates every demonstration of a set, as far as one can.

    Who wastes a step acts twice in one cell, once so and once otherwise; one of them is imitated.
    """
    network = FastMazeNetwork(mazes.walls, mazes.goals, seed=seed)
    steps = clone(
        network, *pairs(mazes), action_space=MOVES, minibatch_size=512, seed=seed,
        agreement=_attainable(mazes),
    )  # fmt: skip
    for progress in steps:
        if on_progress:
            on_progress(progress)
    return network


def _attainable(mazes: MazeSet) -> float:
    """The share of the demonstrated actions that a function of (maze, cell) can agree with."""
    agreed = 0
    for path, actions in zip(mazes.paths, mazes.actions, strict=True):
        pairs = np.stack([path[:-1].astype(np.int64), actions.astype(np.int64)], 1)
        found, counts = np.unique(pairs, axis=0, return_counts=True)
        agreed += sum(int(counts[found[:, 0] == cell].max()) for cell in np.unique(found[:, 0]))
    return agreed / int(mazes.lengths.sum())
