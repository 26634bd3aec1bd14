"""The Maze experiment: settings, schedules, regimes, measurements, and a run that goes on."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
import torch

from backplay.curricula import Backplay, Frontier, ReverseCurriculum, Standard, Uniform, Until
from backplay.envs.maze.evaluate import play
from backplay.envs.maze.generate import generate
from backplay.envs.maze.sets import MazeLibrary
from backplay.errors import BackplayError
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.job import PAPER, MazeJob
from backplay.paper.maze.regimes import clone_mazes
from backplay.records import TRUE_START, Episode, Start
from backplay.train.progress import by_steps_back

FRAMES = 60_000


@pytest.fixture(scope="module")
def library() -> MazeLibrary:
    return generate(mazes=4, held_out=2, size=7, walls=8, min_length=6, seed=3)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_the_papers_preset_is_the_papers() -> None:
    config = maze.settings(MazeJob(regime="backplay", preset="paper"))
    batch = config.num_envs * config.ppo.num_steps
    assert batch == 102_420
    assert len(config.ppo.minibatch_bounds(batch)) - 1 == 6  # of twenty
    assert config.ppo.minibatch_bounds(batch)[1] == 5_121
    assert config.ppo.learning_rate_at(0.9) == config.ppo.learning_rate == 1e-3
    assert not config.ppo.bootstrap_truncated


@pytest.mark.parametrize("frames", [2_000_000, 10_240_000])
def test_our_preset_updates_as_often_whatever_the_budget(frames: int) -> None:
    config = maze.settings(MazeJob(regime="backplay", frames=frames))
    batch = config.num_envs * config.ppo.num_steps
    assert 120 <= frames / batch <= 130
    assert len(config.ppo.minibatch_bounds(batch)) - 1 == 8


def test_schedules_are_stretched_to_the_budget() -> None:
    lengths = np.array([36, 52])
    paper = maze.curriculum(MazeJob(regime="backplay", preset="paper", frames=2_048_000), lengths)
    assert isinstance(paper, Backplay)
    assert [window.frames for window in paper.windows] == [
        1024 * epoch for epoch in (0, 350, 700, 1050, 1400, 1750)
    ]
    ours = maze.curriculum(MazeJob(regime="backplay", frames=1_000_000), lengths)
    assert isinstance(ours, Backplay)
    last = ours.windows[-1]
    assert (last.frames, ours.windows[-2].hi >= 52) == (750_000, True)
    for before, after in zip(ours.windows, ours.windows[1:-1], strict=False):
        assert before.lo <= after.lo < before.hi < after.hi  # they overlap and move back
    uniform = maze.curriculum(MazeJob(regime="uniform", frames=1_000_000), lengths)
    assert uniform == Until(Uniform(), at=875_000)
    for regime, expected in (("gail+uniform", uniform), ("gail+default", Frontier())):
        assert maze.curriculum(MazeJob(regime=regime, frames=1_000_000), lengths) == expected
    florensa = maze.curriculum(MazeJob(regime="florensa", frames=1_000_000), lengths)
    assert isinstance(florensa, ReverseCurriculum)
    assert florensa.until == 875_000
    assert (florensa.evenly, florensa.walk_steps) == (True, 50)
    assert florensa.round_frames == 128 * 3 * len(lengths)
    paper = maze.curriculum(MazeJob(regime="florensa", preset="paper"), lengths)
    assert isinstance(paper, ReverseCurriculum)
    assert (paper.evenly, paper.new_ends, paper.round_frames) == (False, 1, 102_400)
    assert (paper.new_states, paper.walk_steps) == (10_000, 50)
    assert (paper.new_starts, paper.old_starts) == (200, 100)
    small = maze.curriculum(MazeJob(regime="florensa", size=12, frames=512_000), lengths)
    assert isinstance(small, ReverseCurriculum)
    assert (small.walk_steps, small.round_frames) == (25, 64 * 3 * len(lengths))
    assert small.new_starts + small.old_starts == 3 * len(lengths)
    assert small.new_states >= small.walk_steps * len(lengths)  # every maze has a walk a round
    for regime in ("standard", "cloned+ppo", "kickstarted", "gail", "dagger"):
        assert maze.curriculum(MazeJob(regime=regime), lengths) == Standard()


def test_runs_that_cannot_be_are_refused(library: MazeLibrary) -> None:
    for wrong in ({"regime": "magic"}, {"preset": "theirs"}, {"frames": 0}, {"seed": -1}):
        with pytest.raises(BackplayError):
            MazeJob(**{"regime": "backplay", **wrong})
    with pytest.raises(BackplayError):
        maze.training(MazeJob(regime="cloned", frames=0), library)


@pytest.mark.parametrize("regime", ["backplay", "uniform", "florensa", "gail", "dagger"])
def test_small_mazes_are_learned(regime: str, library: MazeLibrary) -> None:
    run = maze.training(MazeJob(regime=regime, frames=FRAMES, evaluations=1), library)
    for progress in run.run():
        last = progress
    assert last.finished
    assert last.frames >= FRAMES
    found = maze.measure(run.learner.network, library.training)
    assert found["sampled"]["success"] >= 0.75
    if regime == "florensa":  # walking is part of the budget
        assert run.envs.restored_steps > 0
        rollouts = run.learner.updates * run.config.num_envs * run.config.ppo.num_steps
        assert last.frames == rollouts + run.envs.restored_steps


def test_a_cloned_network_walks_the_demonstrations(library: MazeLibrary) -> None:
    seen = []
    network = clone_mazes(library.training, seed=0, on_progress=seen.append)
    assert seen[-1].agreement == 1.0
    played = maze.plays(network, library.training)["greedy"]
    for path, demonstration in zip(played.paths, library.training.paths, strict=True):
        np.testing.assert_array_equal(path, demonstration)
    run = maze.training(MazeJob(regime="cloned+ppo", frames=FRAMES), library)
    assert torch.equal(run.learner.network.third, network.third)
    taught = maze.training(MazeJob(regime="kickstarted", frames=FRAMES), library)
    assert not torch.equal(taught.learner.network.third, network.third)
    assert "teacher_loss" in next(taught.run()).metrics


@pytest.mark.parametrize("regime", ["backplay", "florensa", "kickstarted", "gail", "dagger"])
def test_a_run_that_goes_on_ends_as_one_that_never_stopped(
    regime: str, library: MazeLibrary
) -> None:
    def fresh() -> maze.Training:
        return maze.training(MazeJob(regime=regime, frames=30_000, evaluations=2), library)

    whole, half = fresh(), fresh()
    lines = [(p.frames, p.metrics, p.train_success, p.true_success) for p in whole.run()]
    some = []
    for progress in half.run():
        some.append(
            (progress.frames, progress.metrics, progress.train_success, progress.true_success)
        )
        if progress.evaluation is not None:  # which must not change what comes after
            break
    again = fresh()
    again.load_state(half.state())
    some += [(p.frames, p.metrics, p.train_success, p.true_success) for p in again.run()]
    assert some == lines
    for a, b in zip(
        whole.learner.network.parameters(), again.learner.network.parameters(), strict=True
    ):
        assert torch.equal(a, b)


def test_measuring_plays_every_maze_or_the_first_hundred(
    library: MazeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    mazes = library.training
    assert maze.measured(mazes) is mazes
    monkeypatch.setattr(maze, "MOST_MEASURED", 99)
    many = generate(mazes=120, held_out=0, size=7, walls=8, min_length=6, seed=0).training
    assert maze.measured(many).num_mazes == 100
    walked = [
        dict(zip(p[:-1].tolist(), a, strict=True))
        for p, a in zip(mazes.paths, mazes.actions, strict=True)
    ]
    found = maze.on_every_maze(
        mazes, lambda seen: np.array([walked[m][c] for m, c in seen.tolist()]), episodes=7, seed=0
    )
    assert found.success == 1.0
    np.testing.assert_array_equal(found.lengths, mazes.lengths)
    np.testing.assert_allclose(found.returns, 1 - 0.03 * mazes.lengths)
    assert play(mazes, lambda seen: np.zeros(len(seen), int)).summary()["success"] == 0.0


def test_episodes_by_steps_back() -> None:
    episodes = [
        Episode(Start(0, 9), 0.0, 1, True), Episode(Start(0, 6), 0.0, 1, False),
        Episode(Start(1, 0), 0.0, 1, True), Episode(Start(5, 1), 0.0, 1, True),
        Episode(None, 0.0, 1, True),
    ]  # fmt: skip
    assert by_steps_back(episodes, [10, 8]) == [[TRUE_START, 1, 1], [0, 1, 1], [4, 1, 0]]


def test_the_papers_table_and_a_run_as_data() -> None:
    assert PAPER["backplay", 10] == {
        "optimal": 0.54, "within_5": 0.99, "extra_mean": 0.37, "extra_std": 3.49,
    }  # fmt: skip
    run = MazeJob(regime="uniform", seed=4)
    assert MazeJob(**asdict(run)) == run
