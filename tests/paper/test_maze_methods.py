"""The paper's Table 1, measured: its rows, and how far from the goal episodes start."""

from __future__ import annotations

import torch

from backplay.paper.maze import methods
from backplay.paper.maze.exhibit import draw_distances
from backplay.paper.maze.job import FOR_ALL_MAZES, OWN, MazeJob
from backplay.report.records import RunRecord

torch.set_num_threads(1)


def record(regime: str, seed: int, **measures: float) -> RunRecord:
    return RunRecord(
        path="", kind="maze", setting=methods.SETTING, regime=regime, seed=seed, frames=1_000_000,
        finished=True, measures=dict(measures),
    )  # fmt: skip


def test_every_method_has_a_row_and_says_what_it_needs() -> None:
    assert set(methods.NEEDS) == set(OWN)
    made = methods.jobs(1.0, 2)
    rows = 2 * len(methods.NEEDS) + 2 * len(methods.IMITATING)  # two sizes, two more sets
    assert len({job.name for job in made}) == len(made) == 2 * rows
    assert {job.setting for job in made} == set(methods.SETTINGS.values())
    shares = {job.regime: job.frames for job in made if job.setting == methods.SETTING}
    assert shares["cloned"] == 0
    assert 10 * shares["dagger"] == shares["gail"] == shares["standard"]


def test_the_table_has_means_over_seeds() -> None:
    (table,) = methods.tables(
        [
            record("dagger", 0, success=1.0, labels=100.0, one_off=0.5),
            record("dagger", 1, success=0.5, labels=300.0),
            record("backplay", 0, success=0.9),
        ]
    )
    head, *rows = table.cells
    cells = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert list(cells) == ["backplay", "dagger"]
    assert cells["dagger"]["labels asked"] == "200"
    assert (cells["dagger"]["success"], cells["dagger"]["one cell off"]) == ("75%", "50%")
    assert cells["backplay"]["shortest paths"] == "–"
    assert methods.tables([]) == ()


def test_mazes_never_seen_are_learned_from_few_and_many() -> None:
    made = methods.unseen_jobs(0.1, 1)
    assert {job.regime for job in made} == set(FOR_ALL_MAZES)
    assert all(isinstance(job, MazeJob) and job.held_out == 1_000 for job in made)
    for claim in methods.unseen_claims():
        assert claim.quantity.setting in {job.setting for job in made}


def test_lines_say_how_far_from_the_goal_episodes_start() -> None:
    job = MazeJob(regime="florensa", size=8, mazes=4, held_out=0, frames=12_000, evaluations=1)
    work = job.begin()
    lines = [work.line(progress) for progress in work.training.run()]
    before, after = lines[0]["start_distances"], lines[-1]["start_distances"]
    assert len(before) == 11
    assert before == sorted(before)
    true = work.library.training.distances
    assert after[0] == true.min()  # only true starts are left
    assert after[-1] == true.max()
    assert before[0] < true.min()
    assert work.result()["measures"]["labels"] == 0.0
    assert draw_distances([]) is None
