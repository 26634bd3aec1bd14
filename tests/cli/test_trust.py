"""What a file names reaches no import, no constructor and no path without the user's own word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_results import Run, assert_refused

import backplay as bp
import demo_mutations
from backplay import runs
from backplay.errors import BackplayError
from backplay.runs.execute import prepare
from backplay.train import TrainConfig
from backplay.train.env_job import EnvJob
from backplay.train.trust import asked_for

EVIL = "from pathlib import Path\nPath('ran').touch()\n"


def hostile_run(path: Path, demo: Path, env: str, kwargs: dict[str, Any] | None = None) -> None:
    job = EnvJob.of(env, bp.Uniform(), TrainConfig(frames=256), kwargs)
    run = prepare(path, job, [demo])
    run.save({"frames": 0})


@pytest.mark.parametrize(
    "words", [("evaluate", "r"), ("train", "--resume", "r"), ("work", "r"), ("watch", "r")]
)
def test_a_module_in_a_run_is_not_imported(
    run: Run, demos: dict[str, Path], tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Though the id behind the colon is one that everybody has."""
    (tmp_path / "evil_env.py").write_text(EVIL)
    hostile_run(tmp_path / "r", demos["pole"], "evil_env:CartPole-v1")
    assert_refused(run(*words), "evil_env:CartPole-v1 is code of your own")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "words", [("evaluate", "r"), ("train", "--resume", "r"), ("work", "r"), ("watch", "r")]
)
def test_paths_in_a_run_are_shown_and_not_opened(
    run: Run, demos: dict[str, Path], tmp_path: Path, words: tuple[str, ...]
) -> None:
    hostile_run(tmp_path / "r", demos["pole"], "CartPole-v1", {"xml_file": "/etc/passwd"})
    assert_refused(run(*words), "more than plain settings", "xml_file", "/etc/passwd", "--trust")
    with pytest.raises(BackplayError, match="more than plain settings"):
        bp.load_agent(tmp_path / "r")
    trusted = run(*words, "--trust")
    assert "unexpected keyword argument 'xml_file'" in trusted.err  # it came to the constructor


def test_whoever_says_the_same_again_is_believed(
    run: Run, demos: dict[str, Path], tmp_path: Path
) -> None:
    hostile_run(tmp_path / "r", demos["pole"], "CartPole-v1", {"xml_file": "/etc/passwd"})
    words = ("train", "--resume", "r", "--env-kwargs")
    assert "unexpected keyword" in run(*words, '{"xml_file": "/etc/passwd"}').err
    assert_refused(run(*words, '{"xml_file": "other"}'), "--env-kwargs", "those of the run")


@pytest.mark.parametrize("command", ["check", "advise", "train"])
def test_what_a_demonstration_asks_for_is_shown_and_not_done(
    run: Run, demos: dict[str, Path], tmp_path: Path, command: str
) -> None:
    document, arrays = demo_mutations.content_of(demos["pole"].read_bytes())
    document["tree"]["env_kwargs"] = {"config": {"other_vehicles_type": "evil_env.Vehicle"}}
    (tmp_path / "demo.npz").write_bytes(demo_mutations.rebuilt(document, arrays))
    words = (command, "CartPole-v1", "demo.npz")
    assert_refused(run(*words), "more than plain settings", "evil_env.Vehicle", "--env-kwargs")
    assert "unexpected keyword argument 'config'" in run(*words, "--trust").err


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (1, True), (0.5, True), (True, True), (None, True), ("4x4", True), ([1, "r", [0]], True),
        ({"type": "DiscreteMetaAction", "n": 3}, True), ("a.b", False), ("/etc", False),
        ("x" * 65, False), ("~", False), (float("nan"), False), ({"a": {"b": "c:d"}}, False),
        ({"../x": 1}, False), ([["a b"]], False), (b"x", False), (object(), False),
    ],
)  # fmt: skip
def test_plain_settings_are_numbers_truths_and_short_names(value: Any, plain: bool) -> None:
    assert (asked_for({"x": value}) == []) == plain


def test_the_number_of_envs_is_bounded(tmp_path: Path, run: Run, demos: dict[str, Path]) -> None:
    job = EnvJob.of("CartPole-v1", bp.Uniform(), TrainConfig(frames=256))
    object.__setattr__(job, "settings", {**job.settings, "num_envs": 10**8})
    runs.create(tmp_path / "r", {"job": _as_json(job), "threads": 1}, [demos["pole"]])
    assert_refused(run("work", "r"), "num_envs", "at most 65,536")


def _as_json(job: EnvJob) -> dict[str, Any]:
    head = {
        "kind": "env", "name": "x", "setting": job.env, "regime": "uniform", "seed": 0,
        "frames": 256,
    }  # fmt: skip
    fields = ("env", "env_kwargs", "curriculum", "settings", "learner")
    return {**head, "fields": {name: getattr(job, name) for name in fields}}
