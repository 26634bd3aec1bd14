"""Checkpoints: what is saved comes back with its metrics, or the one before does."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from made_runs import Life, assert_was_saved, contents, line_at, live, state_at
from safetensors import safe_open

from backplay import runs
from backplay.data import trees
from backplay.errors import BackplayError
from backplay.runs.checkpoints import Checkpoint, from_bytes, to_bytes
from backplay.runs.lines import Mark
from tree_strategies import TREES


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return live(tmp_path / "run", 0, finished=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run"


def checkpoint(path: Path, frames: int) -> Path:
    return path / "checkpoints" / f"{frames:012d}.safetensors"


def spoil(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


@given(tree=TREES)
def test_any_tree_comes_back(tree: Any) -> None:
    saved = Checkpoint({"frames": 3, "tree": tree}, "config", Mark(4, "sum"))
    read = from_bytes(bytearray(to_bytes(saved)))
    assert trees.first_difference(read.state, saved.state) is None
    assert read[1:] == saved[1:]


def test_every_kind_of_array_comes_back_aligned_and_can_be_changed(path: Path, life: Life) -> None:
    kinds = [*"?bBhHiIlLefdgFD", ">i4", ">f8", "S3", "U3"]
    arrays = {kind: np.zeros((2, 3), kind) for kind in kinds}
    for i, array in enumerate(arrays.values()):
        array.reshape(-1)[:3] = [i, 1, 0]
    run = runs.open_run(path)
    run.save({"frames": 99, "arrays": arrays, "small": np.array(3.0, np.float32)})
    loaded = run.load()
    for kind, array in loaded.state["arrays"].items():
        assert array.dtype == arrays[kind].dtype
        assert np.array_equal(array, arrays[kind])
        assert array.flags.writeable
        assert array.flags.aligned
    assert loaded.state["small"].shape == ()


def test_other_tools_can_open_a_checkpoint(path: Path, life: Life) -> None:
    with safe_open(checkpoint(path, 9), framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    wanted = state_at(9)["learner"]["network"]["a/b"]
    assert any(np.array_equal(array[0], wanted) for array in arrays.values())


def test_the_last_two_are_kept(path: Path, life: Life) -> None:
    assert sorted((path / "checkpoints").iterdir()) == [checkpoint(path, 6), checkpoint(path, 9)]
    run = runs.open_run(path)
    assert run.checkpoint == checkpoint(path, 9)
    assert run.save({"frames": 2**40}) == run.checkpoint
    assert run.checkpoint.stem == str(2**40)
    assert not checkpoint(path, 6).exists()


def test_a_resumed_run_has_the_metrics_of_its_checkpoint(path: Path, life: Life) -> None:
    run = runs.open_run(path)
    assert len(run.metrics()) == 10
    loaded = run.load()
    assert len(run.metrics()) == 10
    assert assert_was_saved(path, life) == 9
    assert loaded.notes == []
    run.append_metrics(line_at(10))
    assert [line["frames"] for line in run.metrics()] == list(range(1, 11))


def test_a_damaged_checkpoint_is_passed_over_with_a_note(path: Path, life: Life) -> None:
    spoil(checkpoint(path, 9))
    loaded = runs.open_run(path).load()
    (note,) = loaded.notes
    assert "000000000009.safetensors is damaged" in note
    assert assert_was_saved(path, life) == 6
    assert assert_was_saved(path, life) == 6
    # The run goes on: the next checkpoint counts, not the damaged one of the life given up.
    run = runs.open_run(path)
    run.append_metrics(line_at(7))
    run.save(state_at(7))
    assert run.checkpoint == checkpoint(path, 7)
    assert sorted((path / "checkpoints").iterdir()) == [checkpoint(path, 6), checkpoint(path, 7)]


def test_if_all_are_damaged_nothing_is_changed(path: Path, life: Life) -> None:
    spoil(checkpoint(path, 9))
    spoil(checkpoint(path, 6))
    before = contents(path)
    run = runs.open_run(path)
    for read in (run.load, run.resume):
        with pytest.raises(BackplayError, match=r"0009.*differs.*0006.*differs.*Nothing was chang"):
            read()
    assert contents(path) == before


def test_damaged_metrics_lead_to_the_checkpoint_before(path: Path, life: Life) -> None:
    file = path / "metrics.jsonl"
    whole = file.read_bytes()
    late, early = whole.index(b'"frames": 8'), whole.index(b'"frames": 5')
    for at, frames in ((late, 6), (early, None)):
        for damaged in (whole[:at], whole[:at] + b"#" + whole[at + 1 :]):
            life.write(path)
            file.write_bytes(damaged)
            if frames is not None:
                assert assert_was_saved(path, life) == frames
                continue
            before = contents(path)
            with pytest.raises(BackplayError, match=r"cannot be resumed.*metrics\.jsonl"):
                runs.open_run(path).resume()
            assert contents(path) == before


def test_what_is_only_out_of_reach_is_not_passed_over(
    path: Path, life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refused(file: Any, *more: Any) -> int:
        if str(file).endswith("9.safetensors"):
            raise OSError(errno.EMFILE, "Too many open files")
        return real(file, *more)

    before = contents(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        with pytest.raises(BackplayError, match=r"cannot be read.*Too many open files"):
            runs.open_run(path).resume()
    assert contents(path) == before
    assert assert_was_saved(path, life) == 9


def test_a_checkpoint_of_another_run_is_refused(path: Path, life: Life, tmp_path: Path) -> None:
    for name, config in (("a", {"seed": 1}), ("b", {"seed": 2})):
        runs.create(tmp_path / name, config).save({"frames": 3})
    shutil.copy(checkpoint(tmp_path / "a", 3), checkpoint(tmp_path / "b", 3))
    with pytest.raises(BackplayError, match=r"another config\.json"):
        runs.open_run(tmp_path / "b").resume()
    shutil.copy(checkpoint(path, 6), checkpoint(path, 9))
    assert assert_was_saved(path, life) == 6  # the frames in it are not those of its name


def test_without_a_checkpoint_a_run_begins_again(path: Path, life: Life) -> None:
    shutil.rmtree(path / "checkpoints")
    run = runs.open_run(path)
    run.finish({})
    with pytest.raises(BackplayError, match="lost its checkpoints"):
        run.resume()
    (path / "result.json").unlink()
    with pytest.raises(BackplayError, match="lost its checkpoints"):
        run.resume()
    assert len(run.metrics()) == 10
    (path / "clock.jsonl").unlink()  # as if killed before its first save
    assert run.resume() is None
    assert run.metrics() == []
    (path / "checkpoints").touch()
    for read in (run.load, run.resume):
        with pytest.raises(BackplayError, match="checkpoints is damaged"):
            read()


@pytest.mark.parametrize("frames", [None, -1, 1.0, True, "3", 10**18])
def test_a_state_has_frames(path: Path, life: Life, frames: Any) -> None:
    with pytest.raises(BackplayError, match="frames"):
        runs.open_run(path).save({"frames": frames})
    with pytest.raises(BackplayError, match=r"Nothing was saved.*not plain data"):
        runs.open_run(path).save({"frames": 10, "it": object()})
    assert assert_was_saved(path, life) == 9


def test_the_same_life_writes_the_same_bytes(path: Path, life: Life, tmp_path: Path) -> None:
    again = live(tmp_path / "again", 0, finished=False)
    for name in ("metrics.jsonl", "checkpoints/000000000009.safetensors"):
        assert again.files[name] == life.files[name]
