"""Run directories: what is saved comes back, what is damaged is refused, what exists is kept."""

from pathlib import Path

import numpy as np
import pytest

from backplay import runs
from backplay.errors import BackplayError

STATE = {
    "learner": {
        "network": {"trunk.weights.0": np.arange(6, dtype=np.float32).reshape(2, 3).T},
        "optimiser": {"step": np.array(3.0, np.float32)},
        "generator": np.arange(4, dtype=np.uint8),
        "updates": 7,
    },
    "curriculum": '{"kind": "Standard"}',
    "frames": 2**40,
    "evaluations": [[10, 0.5]],
}


@pytest.fixture
def run(tmp_path: Path) -> runs.Run:
    demo = tmp_path / "demo.npz"
    demo.write_bytes(b"a demonstration")
    return runs.create(tmp_path / "run", {"env": "X-v0"}, [demo, demo])


def test_a_run_is_found_again(run: runs.Run) -> None:
    again = runs.open_run(run.path)
    assert again == run
    assert [file.read_bytes() for file in again.demonstrations] == [b"a demonstration"] * 2
    assert again.load() is None


def test_many_demonstrations_keep_their_order(tmp_path: Path) -> None:
    files = [tmp_path / f"{chr(97 + i)}.npz" for i in range(12)]
    for i, file in enumerate(files):
        file.write_text(str(i))
    run = runs.create(tmp_path / "run", {}, files)
    assert [file.read_text() for file in run.demonstrations] == [str(i) for i in range(12)]


def test_a_checkpoint_comes_back_as_it_was(run: runs.Run) -> None:
    run.save({"frames": 1})
    run.save(STATE)
    loaded = run.load()
    assert loaded is not None
    for path in (("network", "trunk.weights.0"), ("optimiser", "step"), ("generator",)):
        saved, back = STATE["learner"], loaded["learner"]
        for key in path:
            saved, back = saved[key], back[key]  # type: ignore[index]
        assert isinstance(saved, np.ndarray)
        assert back.dtype == saved.dtype
        assert np.array_equal(back, saved)
        assert back.shape == saved.shape
    assert loaded["learner"]["updates"] == 7
    assert {k: v for k, v in loaded.items() if k != "learner"} == {
        k: v for k, v in STATE.items() if k != "learner"
    }


def test_every_damage_of_a_checkpoint_is_noticed(run: runs.Run) -> None:
    run.save(STATE)
    whole = run.checkpoint.read_bytes()
    for damaged in (b"", whole[:40], whole[:-1], whole[:-9] + b"\xff" + whole[-8:]):
        run.checkpoint.write_bytes(damaged)
        with pytest.raises(BackplayError, match="is damaged"):
            run.load()


def test_metrics_grow_and_forget_what_comes_again(run: runs.Run) -> None:
    assert run.metrics() == []
    for frames in (10, 20, 30):
        run.append_metrics({"frames": frames})
    with (run.path / "metrics.jsonl").open("a") as file:
        file.write('{"frames": 4')  # cut short by a crash
    assert [line["frames"] for line in run.metrics()] == [10, 20, 30]
    run.forget_metrics_after(20)
    run.append_metrics({"frames": 31})
    assert [line["frames"] for line in run.metrics()] == [10, 20, 31]


def test_nothing_is_put_where_something_is(run: runs.Run, tmp_path: Path) -> None:
    for path in (run.path, tmp_path / "demo.npz", tmp_path):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(BackplayError, match="is not empty"):
            runs.create(path, {}, [])
        assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "empty").mkdir()
    runs.create(tmp_path / "empty", {}, [])


def test_what_is_no_run_is_refused(run: runs.Run, tmp_path: Path) -> None:
    with pytest.raises(BackplayError, match="is no run"):
        runs.open_run(tmp_path)
    for text, said in (
        ("{", "damaged"),
        ("[]", "damaged"),
        ("{}", "damaged"),
        ('{"version": 9}', "9"),
    ):
        (run.path / "config.json").write_text(text)
        with pytest.raises(BackplayError, match=said):
            runs.open_run(run.path)
