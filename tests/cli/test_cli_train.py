"""`backplay train` and `backplay evaluate`: runs, interrupts, going on, and bad input."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_results import Run, assert_refused

from backplay import curricula, runs
from backplay.ui.interrupts import STOPPING

TINY = ("--num-envs", 2, "--ppo.num-steps", 64, "--final-episodes", 4, "--evaluation-episodes", 2)


def train(run: Run, demos: dict[str, Path], *words: object) -> None:
    result = run("train", "FrozenLake-v1", demos["lake"], "--frames", 512, *TINY, *words)
    assert result.code == 0, result


def test_a_run_says_how_it_goes_and_where_it_is(run: Run, demos: dict[str, Path]) -> None:
    words = ("train", "FrozenLake-v1", demos["lake"], "--frames", 512, "--evaluate-every", 256)
    result = run(*words, *TINY)
    assert result.code == 0, result
    rule, begun, *_ = result.err.splitlines()
    assert rule.startswith("success: ")
    assert "terminates with a last reward above 0, as the demonstration does" in rule
    assert begun == "runs/FrozenLake-v1-backplay-0: at 0 of 512 frames"
    assert re.search(r"512 / 512 frames +[\d,]+/s +true start +\d+%.*0:00:00 left", result.err)
    assert re.search(r"sampled +success \d+% \[\d+%, \d+%\] over 4 episodes", result.out)
    assert re.search(r"greedy +success \d+%", result.out)
    assert "model: runs/FrozenLake-v1-backplay-0/checkpoints/000000000512.safetensors" in result.out

    kept = runs.open_run(Path("runs/FrozenLake-v1-backplay-0"))
    assert kept.demonstrations[0].read_bytes() == demos["lake"].read_bytes()
    assert [line["frames"] for line in kept.metrics()] == [128, 256, 384, 512]
    evaluated = [
        (line["frames"], line["evaluated"]) for line in kept.metrics() if "evaluation" in line
    ]
    assert evaluated == [(256, 2), (512, 4)]
    loaded = kept.load()
    assert loaded.state["frames"] == 512

    for extra in ((), ("--greedy", "--episodes", 7)):
        result = run("evaluate", kept.path, *extra)
        assert result.code == 0
        assert "512 of 512 frames" in result.out
    assert "over 7 episodes" in result.out


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        (("--curriculum", "uniform"), "anywhere"),
        (("--curriculum", "standard"), "initial state"),
        (("--curriculum", "reverse"), "initial state"),
        (("--windows", "0:0:2", "256:2:6"), "[2, 6) steps back"),
    ],
)
def test_every_curriculum(
    run: Run, demos: dict[str, Path], words: tuple[str, ...], starts: str
) -> None:
    train(run, demos, "--dir", "r", *words)
    assert starts in runs.open_run(Path("r")).metrics()[-1]["starts"]


def test_by_default_it_is_the_curriculum_that_any_trainer_has(
    run: Run, demos: dict[str, Path]
) -> None:
    train(run, demos, "--dir", "r")
    asked = runs.open_run(Path("r")).job["fields"]["curriculum"]
    assert curricula.from_json(json.dumps(asked)) == curricula.Frontier()


def test_demonstrations_can_be_imitated(run: Run, demos: dict[str, Path]) -> None:
    train(run, demos, "--dir", "r", "--regime", "gail", "--curriculum", "standard")
    kept = runs.open_run(Path("r"))
    assert "discriminator_loss" in kept.metrics()[-1]["learner"]
    loaded = kept.load()
    assert {"discriminator", "judge"} <= set(loaded.state["learner"])


def test_a_run_is_not_overwritten(run: Run, demos: dict[str, Path]) -> None:
    train(run, demos, "--dir", "r")
    before = {file: file.read_bytes() for file in Path("r").rglob("*") if file.is_file()}
    words = ("train", "FrozenLake-v1", demos["lake"], "--dir", "r")
    assert_refused(run(*words), "r is not empty", "--resume r")
    assert {file: file.read_bytes() for file in Path("r").rglob("*") if file.is_file()} == before


def test_going_on_with_a_finished_run_says_its_result(run: Run, demos: dict[str, Path]) -> None:
    train(run, demos, "--dir", "r")
    result = run("train", "--resume", "r")
    assert result.code == 0
    assert "after 512 frames" in result.out
    assert_refused(run("train", "--resume", "r", "--seed", 3), "--resume", "no other option")


def test_an_interrupt_stops_saves_and_says_how_to_go_on(
    run: Run, demos: dict[str, Path], tmp_path: Path
) -> None:
    words = ["train", "FrozenLake-v1", str(demos["lake"]), "--frames", "30000", "--dir", "my run"]
    words += ["--final-episodes", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "backplay.cli", *words, "--evaluate-every", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not Path("my run/metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert STOPPING in err
    assert "to go on: backplay train --resume 'my run'" in out

    stopped = runs.open_run(Path("my run"))
    loaded = stopped.load()
    frames = loaded.state["frames"]
    assert 0 < frames < 30_000
    assert stopped.metrics()[-1]["frames"] == frames

    stopped.append_metrics({"frames": frames + 1})  # of a life that was not saved
    result = run("train", "--resume", "my run")
    assert result.code == 0, result
    assert f"at {frames:,} of" in result.err
    seen = [line["frames"] for line in stopped.metrics()]
    assert seen == sorted(set(seen))
    assert seen[-1] >= 30_000
    assert frames + 1 not in seen


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_queues_and_closed_terminals_send_saves_too(
    demos: dict[str, Path], tmp_path: Path, number: signal.Signals
) -> None:
    words = ["train", "FrozenLake-v1", str(demos["lake"]), "--frames", "9000000", "--dir", "r"]
    process = subprocess.Popen(
        [sys.executable, "-m", "backplay.cli", *words, "--evaluate-every", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),  # as if not under nohup
    )  # fmt: skip
    try:
        while not (tmp_path / "r/metrics.jsonl").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()  # one that did not hear would train on for an hour
    assert process.returncode == 128 + number, err
    assert "stopped and saved" in out
    assert runs.open_run(tmp_path / "r").load() is not None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), ("no environment",)),
        (("FrozenLake-v1",), ("no demonstration",)),
        (("FrozenLke-v1", "lake"), ("Did you mean FrozenLake-v1",)),
        (("CartPole-v1", "lake"), ("another environment", "FrozenLake-v1")),
        (("FrozenLake-v1", "none.npz"), ("no file none.npz",)),
        (("FrozenLake-v1", "cut.npz"), ("cut.npz is damaged",)),
        (("FrozenLake-v1", "lake", "--frames", "0"), ("frames", "at least 1")),
        (("FrozenLake-v1", "lake", "--windows", "0:4:2"), ("Window", "lo <= hi")),
        (("FrozenLake-v1", "lake", "--windows", "0:4"), ("FRAMES:LO:HI",)),
        (("FrozenLake-v1", "lake", "--windows", "9:0:4"), ("begin at 0",)),
        (
            ("FrozenLake-v1", "lake", "--windows", "0:0:4", "--curriculum", "uniform"),
            ("--windows",),
        ),
        (("FrozenLake-v1", "lake", "--dir", "cut.npz/run"), ("cannot be written",)),
        (("FrozenLake-v1", "lake", "--env-kwargs", "[]"), ("--env-kwargs",)),
        (("--resume", "nowhere"), ("nowhere is no run",)),
    ],
)
def test_bad_input_of_train_is_one_line_and_leaves_nothing(
    run: Run, demos: dict[str, Path], words: tuple[str, ...], said: tuple[str, ...]
) -> None:
    Path("cut.npz").write_bytes(demos["lake"].read_bytes()[:300])
    result = run("train", *(demos.get(word, word) for word in words))
    assert_refused(result, *said)
    assert [path.name for path in Path().iterdir()] == ["cut.npz"]


def test_a_learner_that_no_training_could_mean_is_refused(run: Run, demos: dict[str, Path]) -> None:
    result = run("train", "FrozenLake-v1", demos["lake"], "--ppo.clip", 0)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert "clip" in result.err


def test_runs_that_cannot_be_gone_on_with(run: Run, demos: dict[str, Path]) -> None:
    train(run, demos, "--dir", "r")
    assert (
        run("train", "MountainCar-v0", demos["car"], "--frames", 128, *TINY, "--dir", "c").code == 0
    )

    def refused(copy: str, *said: str) -> None:
        Path(copy, "result.json").unlink(missing_ok=True)  # or there is nothing to go on with
        for words in (("evaluate", copy), ("train", "--resume", copy)):
            assert_refused(run(*words), *said)

    shutil.copytree("r", "spaces")
    shutil.rmtree("spaces/checkpoints")
    shutil.copytree("c/checkpoints", "spaces/checkpoints")
    refused("spaces", "another config.json", "spaces")

    shutil.copytree("r", "cut")
    for file in Path("cut/checkpoints").iterdir():
        file.write_bytes(file.read_bytes()[:-5])
    refused("cut", "cut cannot be resumed", ".safetensors is damaged")

    kept = runs.open_run(Path("r"))
    job = kept.config["job"]

    def edited(path: str, change: dict[str, Any]) -> None:
        fields = {**job["fields"], **change}
        config = {**kept.config, "job": {**job, "fields": fields}}
        runs.create(Path(path), config, kept.demonstrations)

    changes = [{"settings": {}}, {"curriculum": {"kind": "X"}}, {"env": 3}, {"env_kwargs": 3}]
    for i, change in enumerate(changes):
        edited(f"edited{i}", change)
        refused(f"edited{i}", "config.json is damaged")
    edited("wrong", {"curriculum": {**job["fields"]["curriculum"], "start_share": 7.0}})
    refused("wrong", "start_share", "0 to 1")

    shutil.copytree("r", "lost")
    shutil.rmtree("lost/demonstrations")
    refused("lost", "lost its demonstrations")

    shutil.copytree("r", "young")
    shutil.rmtree("young/checkpoints")
    assert_refused(run("evaluate", "young"), "no checkpoint yet")
    assert_refused(run("evaluate", "r", "--episodes", 0), "--episodes")


def test_observations_with_words_are_trained_on_without_them(run: Run) -> None:
    moves = "1,2,2,1,2,2"
    assert run("record", "MiniGrid-Empty-5x5-v0", "--out", "m.npz", "--actions", moves).code == 0
    words = ("train", "MiniGrid-Empty-5x5-v0", "m.npz", "--frames", 128, *TINY)
    assert run(*words).code == 0


def test_tensorboard_logs_are_written_and_gone_on_with(run: Run, demos: dict[str, Path]) -> None:
    pytest.importorskip("tensorboard")
    train(run, demos, "--dir", "r", "--tensorboard")
    assert list(Path("r/tensorboard").glob("events*"))
    Path("r/result.json").unlink()
    assert run("train", "--resume", "r").code == 0
    assert len(list(Path("r/tensorboard").glob("events*"))) == 2


def test_going_on_with_new_episodes_is_allowed_and_noted(run: Run, demos: dict[str, Path]) -> None:
    train(run, demos, "--dir", "r", "--evaluate-every", 128)
    Path("r/result.json").unlink()
    newest = max(Path("r/checkpoints").iterdir())
    newest.unlink()  # so that there is something left to train
    result = run("train", "--resume", "r", "--no-exact-resume")
    assert result.code == 0, result
    assert "new episodes from 384 frames on" in result.err
    assert "new episodes from 384 frames on" in runs.open_run(Path("r")).processes()[-1]["notes"]
    assert_refused(run("train", "--resume", "r", "--no-exact-resume", "--seed", 3), "--resume")
