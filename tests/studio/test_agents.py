"""What a run has learned, in pictures and values; it takes up what was saved since."""

from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import pytest

import backplay as bp
from backplay.curricula import Frontier
from backplay.paper.demo.job import DemoJob
from backplay.paper.theory.job import TheoryJob
from backplay.runs.execute import carry_out, prepare
from backplay.studio.agents import RunAgent
from backplay.studio.gallery import Opened
from backplay.train import TrainConfig
from backplay.train.env_job import EnvJob

WAY = [2, 2, 1, 1, 1, 2]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demonstration, and beside it a run that was stopped after its first update."""
    folder = tmp_path_factory.mktemp("lake")
    bp.record(gym.make("FrozenLake-v1", is_slippery=False), WAY).save(folder / "lake.npz")
    job = EnvJob.of("FrozenLake-v1", Frontier(), TrainConfig(frames=5_000, final_episodes=5))
    run = prepare(folder / "run", job, [folder / "lake.npz"])
    carry_out(run.path, stop=lambda: True)
    return folder


@pytest.fixture
def agent(lake: Path) -> Iterator[RunAgent]:
    opened = RunAgent(lake / "run")
    yield opened
    opened.close()


def test_an_agent_is_filmed_from_any_step_and_takes_up_what_it_learned_since(
    agent: RunAgent, lake: Path
) -> None:
    assert agent.lengths() == [6]
    assert sorted(agent.thumbs(0)) == list(range(7))
    assert agent.picture(0, 3) != agent.picture(0, 4)
    before, reel = agent.film(0, 3, greedy=False)
    assert (before["start"], before["over"]) == (3, True)
    assert list(reel.pictures) == list(range(before["steps"] + 1))
    assert reel.pictures[0] == agent.picture(0, 3)
    carry_out(lake / "run")
    after, _ = agent.film(0, 5, greedy=True)
    assert 0 < before["frames"] < 5_000 <= after["frames"]
    assert (after["success"], after["steps"], after["total"]) == (True, 1, 1.0)


@pytest.mark.parametrize(("demo", "step"), [(1, 0), (0, 6), (0, 99)])
def test_a_step_that_is_none_is_refused(agent: RunAgent, demo: int, step: int) -> None:
    with pytest.raises(bp.BackplayError, match=r"demo|step"):
        agent.film(demo, step, greedy=True)
    if (demo, step) != (0, 6):  # the end can be looked at
        with pytest.raises(bp.BackplayError, match=r"demo|step"):
            agent.picture(demo, step)


def test_values_are_of_every_state_and_of_the_same_environment_alone(
    agent: RunAgent, lake: Path
) -> None:
    opened = Opened(lake / "lake.npz")
    assert len(agent.values(opened)) == 6  # the end has none
    opened.close()
    bp.record(gym.make("CliffWalking-v1"), [0, 1]).save(lake / "cliff.npz")
    other = Opened(lake / "cliff.npz")
    with pytest.raises(bp.BackplayError, match="sees something else"):
        agent.values(other)
    other.close()


def test_a_run_of_which_nothing_is_saved_is_shown_as_it_begins(tmp_path: Path) -> None:
    opened = RunAgent(prepare(tmp_path / "demo", DemoJob(regime="uniform")).path)
    (length,) = opened.lengths()
    facts, _ = opened.film(0, length - 1, greedy=True)
    opened.close()
    assert facts["frames"] == 0
    with pytest.raises(bp.BackplayError, match="closed"):
        opened.picture(0, 0)


def test_a_run_without_pictures_says_so(tmp_path: Path) -> None:
    job = prepare(tmp_path / "run", TheoryJob(study="gap")).path
    with pytest.raises(bp.BackplayError, match="have no pictures"):
        RunAgent(job)
