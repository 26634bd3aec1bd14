"""`backplay maze`: files, runs, interrupts, going on, measurements, the report, bad input."""

from __future__ import annotations

import os
import re
import shutil
import signal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli_results import Run, assert_refused

from backplay import runs
from backplay.cli import main
from backplay.cli.maze import PARTS
from backplay.cli.maze_runs import learned_path, network_of, open_maze_run
from backplay.envs.maze import generate, load_mazes
from backplay.paper.maze.job import REGIMES, MazeJob
from backplay.paper.maze.regimes import plays, settings
from backplay.paper.theory.job import TheoryJob
from backplay.records import TRUE_START
from backplay.runs.execute import carry_out, prepare
from backplay.train import job
from backplay.train.job import to_json

SMALL = ("--size", 6, "--walls", 6, "--min-length", 5, "--max-steps", 30)
SETTINGS = settings(MazeJob(regime="backplay", frames=1))
UPDATE = SETTINGS.num_envs * SETTINGS.ppo.num_steps  # frames of one update of a short run


@pytest.fixture(scope="module")
def mazes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tiny mazes and two held out."""
    file = tmp_path_factory.mktemp("mazes") / "tiny.npz"
    made = generate(mazes=3, held_out=2, size=6, walls=6, min_length=5, max_steps=30, seed=1)
    made.save(file)
    return file


@pytest.fixture(scope="module")
def trained(mazes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs that have ended: two seeds of backplay, and cloning."""
    folder = tmp_path_factory.mktemp("runs")
    for name, regime, seed in (("a", "backplay", 0), ("b", "backplay", 1), ("c", "cloned", 0)):
        words = ("--regime", regime, "--seed", seed, "--frames", 3 * UPDATE, "--evaluations", 3)
        assert main(["maze", "train", *map(str, (mazes, *words)), "--dir", f"{folder}/{name}"]) == 0
    return folder


def test_help_lists_every_part_and_teaches_with_examples(run: Run) -> None:
    result = run("maze", "--help")
    assert result.code == 0
    assert all(f"\n  {name} " in result.out for name in PARTS)
    for name in PARTS:
        result = run("maze", name, "--help")
        assert result.code == 0
        assert f"\n     backplay maze {name} " in result.out
    assert_refused(run("maze", "trian"), "Did you mean 'train'?")
    assert_refused(run("maze", "train", "x.npz", "--regime", "bakplay"), "regime", "backplay")
    assert all(name in run("maze", "train", "--help").out for name in REGIMES)


def test_generate_writes_what_the_seed_says_and_overwrites_nothing(run: Run) -> None:
    words = ("--extra", 2, "--mazes", 4, "--held-out", 1, "--seed", 5, *SMALL)
    result = run("maze", "generate", "folder/m.npz", *words)
    assert result.code == 0, result
    assert "4 mazes to train on, 1 held out" in result.out
    library = load_mazes("folder/m.npz")
    assert (len(library.training), len(library.held_out), library.extra) == (4, 1, 2)
    assert (library.training.lengths - library.training.distances == 2).all()
    assert library.training.max_steps == 30
    assert_refused(run("maze", "generate", "folder/m.npz", *words), "exists already")
    assert run("maze", "generate", "folder/m.npz", *words, "--overwrite").code == 0
    again = load_mazes("folder/m.npz")
    assert (again.training.walls == library.training.walls).all()
    for name, value in (("--mazes", 0), ("--held-out", -1), ("--extra", -1), ("--walls", 36)):
        assert run("maze", "generate", "n.npz", *words, name, value).code == 2
    assert_refused(run("maze", "generate", "n.npz", *words, "--mazes", 0), "mazes")
    assert not Path("n.npz").exists()


def test_show_prints_the_maze_and_draws_both_paths(run: Run, mazes: Path, trained: Path) -> None:
    one = load_mazes(mazes).training.select([1])
    result = run("maze", "show", mazes, "--maze", 1)
    assert result.code == 0
    *board, words = result.out.splitlines()
    for cell, wall in enumerate(one.walls[0].ravel()):
        y, x = divmod(cell, 6)
        assert (board[y][2 * x : 2 * x + 2] == "██") == wall
    dots = {int(cell) for cell in one.paths[0][1:-1]} - {int(one.starts[0]), int(one.goals[0])}
    assert result.out.count("·") == len(dots)
    assert (
        words == f"maze 1: demonstration {one.lengths[0]} steps, shortest path {one.distances[0]}"
    )

    picture = ("maze", "show", mazes, "--maze", 1, "--out")
    assert run(*picture, "plain.png").code == 0
    result = run(*picture, "learned.png", "--run", trained / "c")
    assert f"learned: {one.lengths[0]} steps, 0 too many\n" in result.out  # as demonstrated
    drawn = [Path(name).read_bytes() for name in ("plain.png", "learned.png")]
    assert all(data.startswith(b"\x89PNG") for data in drawn)
    assert drawn[0] != drawn[1]
    assert run("maze", "show", mazes, "--held-out", "--maze", 1, "--run", trained / "a").code == 0

    assert_refused(run(*picture, "plain.png"), "exists already")
    assert_refused(run(*picture, "plain.gif"), ".png")
    assert_refused(run("maze", "show", mazes, "--maze", 3), "--maze", "0 to 2")
    assert_refused(run("maze", "show", mazes, "--maze", 2, "--held-out"), "0 to 1")
    assert_refused(run("maze", "show", "none.npz"), "none.npz")
    larger = generate(mazes=1, held_out=0, size=7, walls=6, min_length=5, max_steps=30)
    larger.save("larger.npz")
    assert_refused(run("maze", "show", "larger.npz", "--run", trained / "a"), "another size")
    assert_refused(run("maze", "show", "larger.npz", "--held-out"), "no mazes held out")


def test_a_run_leaves_everything_in_its_directory(run: Run, mazes: Path, trained: Path) -> None:
    kept = open_maze_run(trained / "a")
    assert kept.run.demonstrations[0].read_bytes() == mazes.read_bytes()
    lines = kept.run.metrics()
    assert [line["frames"] for line in lines] == [UPDATE, 2 * UPDATE, 3 * UPDATE]
    lengths = kept.library.training.lengths
    for line in lines:
        assert line["starts"]
        assert 0 <= line["train_success"] <= 1
        assert "entropy" in line["learner"]
        for back, tries, wins in line["by_steps_back"]:
            assert back == TRUE_START or back % 4 == 0
            assert back <= lengths.max()
            assert 0 <= wins <= tries
        found = line["evaluation"]
        assert found["success"] >= found["within_5"] >= found["optimal"]
        assert 0 <= found["sampled_success"] <= 1
    assert kept.run.seconds > 0

    assert kept.run.config.keys() == {"job", "threads", "demonstrations"}
    assert kept.job == MazeJob.of(
        load_mazes(mazes), regime="backplay", frames=3 * UPDATE, evaluations=3
    )
    result = kept.run.result
    assert result["frames"] == 3 * UPDATE
    greedy = result["training"]["greedy"]
    assert {name: greedy[name] for name in ("success", "optimal", "within_5", "extra_mean")} == {
        name: value for name, value in found.items() if name != "sampled_success"
    }
    held_out = plays(network_of(kept), kept.library.held_out)["greedy"].summary()
    assert result["held_out"]["greedy"] == held_out
    played = plays(network_of(kept), kept.library.training)
    ones = [kept.library.training.select([i]) for i in range(len(kept.library.training))]
    learned = [learned_path(kept, one)[0] for one in ones]
    assert learned == [path.tolist() for path in played["greedy"].paths]
    assert learned != [path.tolist() for path in played["sampled"].paths]
    assert_refused(run("maze", "train", mazes, "--dir", trained / "a"), "not empty", "--resume")


def test_networks_for_all_mazes_are_measured_and_shown_in_any(run: Run, mazes: Path) -> None:
    job = MazeJob(regime="uniform", planning=1, frames=1, size=6, mazes=2, held_out=1)
    carry_out(prepare(Path("plans"), job).path)
    result = run("maze", "evaluate", "plans", "--held-out")
    assert result.code == 0
    assert "1 held-out mazes" in result.out
    larger = generate(mazes=1, held_out=0, size=7, walls=6, min_length=5, max_steps=30)
    larger.save("larger.npz")
    assert "learned:" in run("maze", "show", "larger.npz", "--run", "plans").out


@pytest.mark.parametrize(("regime", "evaluations"), [("backplay", 3), ("florensa", 1)])
def test_a_run_that_was_stopped_ends_as_if_it_never_was(
    run: Run, mazes: Path, monkeypatch: pytest.MonkeyPatch, regime: str, evaluations: int
) -> None:
    words = ("--regime", regime, "--frames", 3 * UPDATE, "--evaluations", evaluations, "--dir")
    assert run("maze", "train", mazes, *words, "whole").code == 0
    count = job.by_steps_back

    def interrupted(*arguments: Any) -> Any:
        monkeypatch.setattr(job, "by_steps_back", count)
        os.kill(os.getpid(), signal.SIGINT)
        return count(*arguments)

    monkeypatch.setattr(job, "by_steps_back", interrupted)
    result = run("maze", "train", mazes, *words, "my run")
    assert result.code == 130, result
    assert "stopping after this update" in result.err
    assert "to go on: backplay maze train --resume 'my run'" in result.out
    assert not Path("my run/result.json").exists()
    assert "not ended yet, and in no table: my run" in run("maze", "report", "my run").out
    stopped, whole = open_maze_run(Path("my run")), open_maze_run(Path("whole"))
    at = whole.run.metrics()[0]["frames"]
    stopped.run.append_metrics({"frames": at + 1})  # of a life that was not saved
    assert_refused(run("maze", "train", mazes, "--resume", "my run"), "no other option")

    result = run("maze", "train", "--resume", "my run")
    assert result.code == 0, result
    assert f"my run: at {at:,} of {3 * UPDATE:,} frames" in result.err
    assert len(whole.run.metrics()) > 1
    for file in ("metrics.jsonl", "result.json"):
        assert Path("my run", file).read_bytes() == Path("whole", file).read_bytes()
    assert stopped.run.checkpoint.read_bytes() == whole.run.checkpoint.read_bytes()


def test_evaluate_plays_every_maze_and_shows_the_papers_row(
    run: Run, mazes: Path, trained: Path, tmp_path: Path
) -> None:
    result = run("maze", "evaluate", trained / "c")
    assert result.code == 0
    assert "3 training mazes" in result.out
    assert re.search(r"^greedy +100% +100% +100% +0.00 ± 0.00 +0.00 ± 0.00$", result.out, re.M)
    assert "the paper" not in result.out  # it has no row for cloning
    result = run("maze", "evaluate", trained / "c", "--held-out")
    assert "2 held-out mazes" in result.out

    result = run("maze", "evaluate", trained / "a")
    assert f"seed 0, {3 * UPDATE:,} of {3 * UPDATE:,} frames" in result.out
    assert re.search(r"^the paper +– +31% +100% +0.64 ± 4.96 +–$", result.out, re.M)

    made = generate(mazes=3, held_out=0, size=6, walls=6, min_length=5, max_steps=30, seed=1)
    made.save("none.npz")
    runs.create(Path("none"), runs.open_run(trained / "a").config, [Path("none.npz")])
    assert_refused(run("maze", "evaluate", "none", "--held-out"), "no mazes held out")
    assert_refused(run("maze", "evaluate", "none", "--seed", -1), "--seed")


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_report_has_the_table_the_figures_and_one_page(run: Run, trained: Path) -> None:
    directories = [trained / name for name in "abc"]
    result = run("maze", "report", *directories, "--out", "page")
    assert result.code == 0, result
    results = [open_maze_run(path).run.result or {} for path in directories]
    success = np.mean([one["measures"]["success"] for one in results[:2]])
    head, backplay, cloned = result.out.splitlines()[-3:]
    assert "optimal (paper)" in head
    assert "(31%)" in backplay
    assert re.match(rf"Optimal.*  backplay +2 +{100 * success:.3g}% \[", backplay)
    assert re.match(r"Optimal.*  cloned +1 +100% +100% ", cloned)
    assert "\nopen page/index.html\n" in result.out
    names = {file.name for file in Path("page").iterdir()}
    distances = "how-far-from-the-goal-episodes-start"
    drawn = ("curves", "starts", "bars", "what-they-learned", distances)
    kinds = {f"{name}.{kind}" for name in drawn for kind in ("png", "svg")}
    assert names == kinds | {"index.html", "result.json"}
    links = Links()
    links.feed(Path("page/index.html").read_text())
    assert len(links.sources) == 5 + 2  # two films
    assert all(source.startswith("data:image/") for source in links.sources)
    again = ("maze", "report", directories[2], "--out", "page")
    assert run(*again).code == 0  # its own files may go

    assert_refused(run("maze", "report", "nowhere"), "nowhere holds no run")
    assert_refused(run("maze", "report", *directories, "--out", trained), "holds other files")
    assert_refused(run("maze", "report", *directories, "--out", "page/index.html"), "is a file")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), ("a file of mazes",)),
        (("none.npz",), ("none.npz",)),
        (("cut.npz",), ("cut.npz is damaged",)),
        (("mazes", "--frames", 0), ("frames",)),
        (("mazes", "--frames", 1), ("windows",)),
        (("mazes", "--seed", -1), ("seed",)),
        (("mazes", "--evaluations", 0), ("evaluations",)),
        (("mazes", "--threads", 0), ("--threads",)),
        (("mazes", "--dir", "cut.npz/run"), ("cut.npz",)),
        (("--resume", "nowhere"), ("nowhere is no run",)),
    ],
    ids=str,
)
def test_bad_input_of_train_is_one_line_and_leaves_nothing(
    run: Run, mazes: Path, words: tuple[Any, ...], said: tuple[str, ...]
) -> None:
    Path("cut.npz").write_bytes(mazes.read_bytes()[:300])
    result = run("maze", "train", *(mazes if word == "mazes" else word for word in words))
    assert_refused(result, *said)
    assert [path.name for path in Path().iterdir()] == ["cut.npz"]


def test_runs_that_are_damaged_are_refused(run: Run, trained: Path) -> None:
    def refused(copy: str, *said: str) -> None:
        Path(copy, "result.json").unlink(missing_ok=True)  # or there is nothing to go on with
        for words in (("evaluate", copy), ("train", "--resume", copy)):
            assert_refused(run("maze", *words), *said)

    kept = runs.open_run(trained / "a")
    job = kept.config["job"]
    changes: list[dict[str, Any]] = [
        {"job": {**job, "fields": {**job["fields"], "regime": "fly"}}},
        {"job": {**job, "fields": {**job["fields"], "wings": 2}}},
        {"threads": 0},
    ]
    for i, change in enumerate(changes):
        runs.create(Path(f"edited{i}"), {**kept.config, **change}, kept.demonstrations)
        refused(f"edited{i}", "config.json is damaged")
    study = to_json(TheoryJob(study="gap", quick=True))
    runs.create(Path("other"), {"job": study, "threads": 1})
    refused("other", "no run of the Maze")
    shutil.copytree(trained / "a", "cut")
    for file in Path("cut/checkpoints").iterdir():
        file.write_bytes(file.read_bytes()[:-5])
    refused("cut", "cut cannot be resumed", ".safetensors is damaged")
    shutil.copytree(trained / "a", "lost")
    shutil.rmtree("lost/demonstrations")
    refused("lost", "lost its demonstrations")
    shutil.copytree(trained / "a", "young")
    shutil.rmtree("young/checkpoints")
    assert_refused(run("maze", "evaluate", "young"), "no checkpoint yet")
    shutil.copytree(trained / "a", "mixed")
    shutil.copy(trained / "b" / "result.json", "mixed/result.json")
    assert "result.json is damaged" in run("maze", "report", "mixed").out


def test_threads_are_as_asked_for(run: Run, mazes: Path) -> None:
    torch.set_num_threads(2)
    assert run("maze", "train", mazes, "--regime", "cloned", "--dir", "r").code == 0
    assert torch.get_num_threads() == 1
