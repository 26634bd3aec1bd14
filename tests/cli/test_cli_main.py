"""The entry point: help, unknown words, and errors as one line."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from cli_results import Run, assert_refused

from backplay import cli
from backplay.demos.doubts import BackplayWarning

TEACHING = ["record", "play", "check", "train", "evaluate"]
TEACHING += ["theory", "advise", "report", "compare", "experiments", "reproduce"]


def test_help_lists_every_command(run: Run) -> None:
    result = run("--help")
    assert result.code == 0
    assert all(f"\n  {name} " in result.out for name in cli.COMMANDS)


def test_no_command_shows_the_help_and_fails(run: Run) -> None:
    result = run()
    assert (result.code, result.out) == (2, run("--help").out)


def test_version(run: Run) -> None:
    assert run("--version").out.startswith("backplay 0.")


def test_an_unknown_command_is_refused(run: Run) -> None:
    assert_refused(run("recrod"), "Did you mean 'record'?")
    assert_refused(run("xyzzy"), "backplay --help")


@pytest.mark.parametrize(
    "name",
    [
        "record",
        "play",
        "check",
        "train",
        "evaluate",
        "theory",
        "advise",
        "experiments",
        "reproduce",
    ],
)
def test_the_help_of_a_command_teaches_with_examples(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.code == 0
    assert result.out.count(f"\n     backplay {name}") >= 2


def test_options_that_do_not_parse_are_refused(run: Run) -> None:
    result = run("check", "CartPole-v1", "x.npz", "--max-stps", "3")
    assert result.code == 2
    assert "--max-steps" in result.err


def test_an_error_of_the_system_is_one_line(run: Run) -> None:
    assert_refused(
        run("record", "CartPole-v1", "--out", "a.npz", "--actions-file", "none.txt"),
        "none.txt: No such file or directory",
    )


def test_our_own_warnings_are_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(arguments: list[str]) -> int:
        for category in (BackplayWarning, DeprecationWarning):
            print(warnings.formatwarning("odd", category, "a.py", 1))
        return 0

    monkeypatch.setattr(cli, "_run", warn)
    ours, other = run().out.split("\n\n")[:2]
    assert ours == "backplay: warning: odd"
    assert other.startswith("a.py:1: DeprecationWarning: odd")
    assert warnings.formatwarning("odd", BackplayWarning, "a.py", 1).startswith("a.py:1")


def test_neither_help_nor_a_check_waits_for_torch() -> None:
    code = (
        "import sys; from backplay.cli import main; main(['--help']); main(['check', '--help']);"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0


def test_the_reader_of_a_pipe_may_leave() -> None:
    code = "from backplay.cli import main; import sys; sys.exit(main(['check', '--help']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.wait()


def test_a_path_that_is_no_text_is_named_all_the_same(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.npz"
    done = subprocess.run(
        [sys.executable, "-m", "backplay.cli", "check", "CartPole-v1", name],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert b"There is no file" in done.stderr
    assert b"Traceback" not in done.stderr
