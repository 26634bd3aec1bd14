"""Metrics and clock: whole lines only, whoever is killed and whoever reads meanwhile."""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import without_waiting

from backplay import runs
from backplay.errors import BackplayError


@pytest.fixture
def run(tmp_path: Path) -> runs.Run:
    return runs.create(tmp_path / "run", {})


def test_a_torn_line_is_left_out_and_cut_at_the_next_append(run: runs.Run) -> None:
    file = run.path / "metrics.jsonl"
    for torn in (b'{"frames": 4', b"\0" * 3_000_000, b"x" * (2**20 - 1), b"\xff"):
        file.write_bytes(b'{"frames": 1}\n' + torn)
        assert run.metrics() == [{"frames": 1}]
        run.append_metrics({"frames": 2})
        assert file.read_bytes() == b'{"frames": 1}\n{"frames": 2}\n'
    file.write_bytes(b'{"frames": 4')  # the very first line
    assert run.metrics() == []
    run.append_metrics({"frames": 2})
    assert run.metrics() == [{"frames": 2}]


def test_a_checkpoint_vouches_for_whole_lines_only(run: runs.Run) -> None:
    file = run.path / "metrics.jsonl"
    file.write_bytes(b'{"frames": 1}\n{"frames": 2')
    run.save({"frames": 1})
    assert file.read_bytes() == b'{"frames": 1}\n'
    run.append_metrics({"frames": 2})
    assert run.resume() is not None
    assert file.read_bytes() == b'{"frames": 1}\n'


def test_numbers_that_json_lacks_become_null(run: runs.Run) -> None:
    values: dict[str, Any] = {
        "frames": np.int64(3), "nan": float("nan"), "all": [np.inf, -np.inf, np.float32(0.5)],
        "by": {1: np.nan}, "array": np.array([1.0, np.nan]), "pair": (True, None), "word": "\n é",
    }  # fmt: skip
    run.append_metrics(values)
    (text,) = (run.path / "metrics.jsonl").read_text().splitlines()
    assert json.loads(text, parse_constant=pytest.fail) == run.metrics()[0]
    assert run.metrics()[0] == {
        "frames": 3, "nan": None, "all": [None, None, 0.5], "by": {"1": None},
        "array": [1.0, None], "pair": [True, None], "word": "\n é",
    }  # fmt: skip
    for wrong in ({"a": object()}, {"a": {(1, 2): 3}}, {"a": {1, 2}}):
        with pytest.raises(BackplayError, match="as JSON"):
            run.append_metrics(wrong)
    assert len(run.metrics()) == 1


@pytest.mark.parametrize("line", [b"{", b"[1]", b"3", b"", b"\xff", b"[" * 100_000])
def test_a_damaged_line_is_an_error(run: runs.Run, line: bytes) -> None:
    (run.path / "metrics.jsonl").write_bytes(b"{}\n" + line + b"\n{}\n")
    with pytest.raises(BackplayError, match=r"metrics\.jsonl is damaged"):
        run.metrics()


def test_the_clock_tells_the_last_time(run: runs.Run) -> None:
    run.tick(10, 1.23456)
    run.tick(20, 7)
    file = run.path / "clock.jsonl"
    assert [json.loads(line) for line in file.read_text().splitlines()] == [
        {"frames": 10, "seconds": 1.235},
        {"frames": 20, "seconds": 7},
    ]
    assert run.seconds == 7
    with file.open("a") as opened:
        opened.write('{"frames": 30, "sec')
    assert run.seconds == 7
    for wrong in ('{"seconds": -1}', '{"seconds": "1"}', "{}", "[]", "x", '{"seconds": 1e999}'):
        file.write_text(wrong + "\n")
        with pytest.raises(BackplayError, match=r"clock\.jsonl is damaged"):
            _ = run.seconds


def test_readers_see_whole_lines_while_somebody_writes(
    run: runs.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_waiting(monkeypatch)
    lines = [{"frames": i, "word": "x" * (i % 50)} for i in range(300)]
    wrong: list[Any] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                seen, loaded = run.metrics(), run.load()
                if seen != lines[: len(seen)] or (loaded and "frames" not in loaded.state):
                    wrong.append(seen)
            except BaseException as error:
                wrong.append(error)
                return

    reader = threading.Thread(target=read)
    reader.start()
    for i, line in enumerate(lines):
        run.append_metrics(line)
        if i % 20 == 10:
            run.save({"frames": i})
            run.resume()
    done.set()
    reader.join(30)
    assert wrong == []
    assert run.metrics() == lines
