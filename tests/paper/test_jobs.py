"""Jobs as data: there and back, and what is refused."""

from __future__ import annotations

import copy
import json
import re
from importlib.util import find_spec
from typing import Any

import pytest

from backplay.errors import BackplayError
from backplay.paper.advice.job import AdviceJob
from backplay.paper.catalogue import FOLDERS
from backplay.paper.demo.job import DemoJob
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.job import MazeJob
from backplay.paper.maze.work import with_effort
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.pommerman.work import settings
from backplay.paper.sparse_tasks.job import GymJob
from backplay.paper.theory.job import STUDIES, TheoryJob
from backplay.theory import studies
from backplay.train.job import file_name, from_json, to_json

JOBS = [
    MazeJob(regime="uniform", extra=5, seed=3, frames=2_048_000, effort=0.2, label="10 %"),
    MazeJob(regime="cloned", frames=0),
    GridJob(world="basin", regime="cloning + ppo", seed=2, apart=True),
    GymJob(task="mountaincar", regime="reverse", seed=1),
    PommermanJob(regime="standard", maps=100, rewards="dense", preset="paper"),
    TheoryJob(study="gap", seed=4, quick=True),
    DemoJob(regime="uniform", seed=1),
    AdviceJob(task="maze-8", seed=2),
]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_job_comes_back_from_json(job: Any) -> None:
    data = json.loads(json.dumps(to_json(job)))
    assert from_json(data) == job
    assert data["kind"] == job.kind
    assert data.keys() == {"kind", "name", "setting", "regime", "seed", "frames", "fields"}
    assert data["setting"] == job.setting
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", data["name"])


def test_the_names_of_studies_are_those_there_are() -> None:
    assert tuple(studies.STUDIES) == STUDIES


def test_every_kind_is_tried() -> None:
    folders = {folder for folder in FOLDERS if find_spec(f"backplay.paper.{folder}.job")}
    assert {job.kind for job in JOBS} == folders


def test_a_field_that_came_later_has_its_default() -> None:
    data = to_json(MazeJob(regime="uniform", mazes=7))
    del data["fields"]["planning"], data["fields"]["epochs"]
    assert from_json(data) == MazeJob(regime="uniform", mazes=7)


def test_names_are_as_reports_expect_them() -> None:
    assert MazeJob(regime="backplay").name == "optimal-backplay-0"
    assert MazeJob(regime="backplay").setting == "Optimal"
    assert MazeJob(regime="cloned+ppo", extra=5, seed=2).name == "5-optimal-cloned-ppo-2"
    assert PommermanJob(regime="uniform").setting == "winner, 4 maps, sparse"
    assert GymJob(task="cartpole", regime="standard").name == "cartpole-v1-standard-0"
    assert file_name("a b/../C", "Ünder", 1) == "a-b-..-c-nder-1"


DAMAGES: list[tuple[str, Any]] = [
    ("nothing", None),
    ("a list", []),
    ("a text", "job"),
    ("no fields", lambda d: d.pop("fields")),
    ("an entry more", lambda d: d.update(more=1)),
    ("an unknown kind", lambda d: d.update(kind="chess")),
    ("a kind that is no text", lambda d: d.update(kind=["maze"])),
    ("another kind", lambda d: d.update(kind="grid")),
    ("a field less", lambda d: d["fields"].pop("regime")),
    ("a field more", lambda d: d["fields"].update(more=1)),
    ("fields that are none", lambda d: d.update(fields=[1])),
    ("a wrong regime", lambda d: d["fields"].update(regime="magic")),
    ("a regime that is a list", lambda d: d["fields"].update(regime=["backplay"])),
    ("a text for a number", lambda d: d["fields"].update(frames="1")),
    ("a float for a whole number", lambda d: d["fields"].update(seed=1.0)),
    ("True for a number", lambda d: d["fields"].update(seed=True)),
    ("too many frames", lambda d: d["fields"].update(frames=2**60)),
    ("an effort of nothing", lambda d: d["fields"].update(effort=0.0)),
    ("an effort that is no number", lambda d: d["fields"].update(effort=float("nan"))),
    ("another name", lambda d: d.update(name="optimal-backplay-1")),
    ("another setting", lambda d: d.update(setting="5-Optimal")),
    ("another regime outside", lambda d: d.update(regime="standard")),
    ("another seed outside", lambda d: d.update(seed=7)),
    ("other frames outside", lambda d: d.update(frames=1)),
    ("a seed that is True", lambda d: d.update(seed=False)),
]


@pytest.mark.parametrize(("what", "damage"), DAMAGES, ids=[what for what, _ in DAMAGES])
def test_what_is_no_job_is_refused(what: str, damage: Any) -> None:
    data: Any = copy.deepcopy(to_json(MazeJob(regime="backplay")))
    if callable(damage):
        damage(data)
    else:
        data = damage
    with pytest.raises(BackplayError):
        from_json(data)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MazeJob(regime="backplay", frames=0),
        lambda: MazeJob(regime="cloned", frames=10),
        lambda: MazeJob(regime="backplay", mazes=0),
        lambda: GridJob(world="moon", regime="standard"),
        lambda: GridJob(world="open", regime="cloning", frames=5),
        lambda: GymJob(task="chess", regime="standard"),
        lambda: GymJob(task="cartpole", regime="standard", frames=0),
        lambda: PommermanJob(regime="florensa"),
        lambda: PommermanJob(regime="standard", opponents="nobody"),
        lambda: TheoryJob(study="magic"),
        lambda: TheoryJob(study="gap", frames=3),
    ],
)
def test_jobs_that_cannot_be_are_refused(make: Any) -> None:
    with pytest.raises(BackplayError):
        make()


def test_only_jobs_are_written() -> None:
    with pytest.raises(BackplayError):
        to_json({"kind": "maze"})
    with pytest.raises(BackplayError):
        to_json(MazeJob)


@pytest.mark.parametrize(
    ("effort", "passes", "minibatches"), [(1.0, 6, 8), (0.5, 2, 8), (0.2, 1, 6), (0.01, 1, 1)]
)
def test_effort_is_a_share_of_the_gradient_steps(
    effort: float, passes: int, minibatches: int
) -> None:
    plain = maze.settings(maze.MazeJob(regime="backplay", frames=2_048_000))
    found = with_effort(plain, effort, "ours")
    batch = found.num_envs * found.ppo.num_steps
    assert (found.num_envs, found.frames) == (plain.num_envs, plain.frames)
    assert found.ppo.passes == passes
    assert len(found.ppo.minibatch_bounds(batch)) - 1 == minibatches
    if effort == 1.0:
        assert found == plain


def test_effort_leaves_the_papers_settings_alone() -> None:
    plain = maze.settings(maze.MazeJob(regime="backplay", preset="paper"))
    assert with_effort(plain, 0.2, "paper") == plain


def test_the_papers_learner_for_pommerman() -> None:
    config = settings(PommermanJob(regime="backplay", preset="paper"))
    batch = config.num_envs * config.ppo.num_steps
    steps = (len(config.ppo.minibatch_bounds(batch)) - 1) * config.ppo.passes
    assert (batch, steps) == (102_420, 24)
    assert (config.ppo.gamma, config.ppo.learning_rate) == (1.0, 3e-4)
    assert config.ppo.learning_rate_at(0.9) == 3e-4
