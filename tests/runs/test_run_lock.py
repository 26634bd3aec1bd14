"""One process at a time works in a run; a killed one leaves nothing in the way."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backplay import runs
from backplay.errors import BackplayError

HOLD = """
import sys, time
from pathlib import Path
from backplay.runs.lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def run(tmp_path: Path) -> runs.Run:
    return runs.create(tmp_path / "run", {})


def test_a_second_process_is_refused_at_once_and_told_who(run: runs.Run) -> None:
    command = [sys.executable, "-c", HOLD, str(run.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "held\n"
            with (
                pytest.raises(BackplayError, match=rf"in use.*process {process.pid} on ."),
                run.locked(),
            ):
                pytest.fail("two at once")
            run.metrics()
            run.load()
        finally:
            process.send_signal(signal.SIGKILL)
    with run.locked():
        pass


def test_a_lock_is_held_once_and_can_be_taken_again(run: runs.Run) -> None:
    for _ in range(2):
        with (
            run.locked(),
            pytest.raises(BackplayError, match=f"process {os.getpid()}"),
            run.locked(),
        ):
            pytest.fail("two at once")
    with pytest.raises(ZeroDivisionError), run.locked():
        _ = 1 / 0
    with run.locked():
        (run.path / "lock").write_text("nonsense")
        with pytest.raises(BackplayError, match="another process"), run.locked():
            pytest.fail("two at once")
    (run.path / "lock").unlink()
    (run.path / "lock").mkdir()
    with pytest.raises(BackplayError, match="lock cannot be written"), run.locked():
        pytest.fail("no lock")


def test_a_lock_file_that_was_removed_is_no_lock(
    run: runs.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real, seen = fcntl.flock, []

    def removed(handle: int, how: int) -> None:
        real(handle, how)
        if not seen:
            (run.path / "lock").unlink()
        seen.append(handle)

    monkeypatch.setattr(fcntl, "flock", removed)
    with run.locked():
        assert len(seen) == 2
        monkeypatch.undo()
        with pytest.raises(BackplayError, match="in use"), run.locked():
            pytest.fail("two at once")


def test_only_what_killed_writers_left_is_removed(run: runs.Run) -> None:
    run.save({"frames": 1})
    left = [
        ".config.json.0123456789ab",
        ".result.json.0123456789ab",
        "checkpoints/.000000000002.safetensors.0123456789ab",
        "demonstrations/.0.npz.ffffffffffff",
    ]
    others = [".config.json.swp", ".notes.0123456789ab", "checkpoints/.nfs0123", "mine.tmp"]
    others += [".config.json.0123456789abc", "config.json.0123456789ab"]
    (run.path / "demonstrations").mkdir()
    for name in left + others:
        (run.path / name).write_text("half")
    folder = run.path / ".result.json.aaaaaaaaaaaa"
    folder.mkdir()
    assert [line for line in run.metrics() if line] == []
    assert (run.path / left[0]).exists()  # a reader removes nothing
    with run.locked():
        pass
    assert [name for name in left if (run.path / name).exists()] == []
    assert [name for name in others if not (run.path / name).exists()] == []
    assert folder.is_dir()
