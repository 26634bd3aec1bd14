import errno
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from backplay.data import archive, trees
from backplay.errors import BackplayError, DemonstrationError
from tree_strategies import TREES

OLD, NEW = {"it": "is old"}, {"it": "is new", "array": np.arange(1000.0)}


@given(tree=TREES)
def test_what_is_written_is_read(tmp_path_factory: Any, tree: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "tree.npz"
    archive.write(path, "test", tree)
    assert trees.first_difference(archive.read(path, "test"), tree) is None


def test_numpy_can_open_the_file_without_pickle(tmp_path: Path) -> None:
    archive.write(tmp_path / "a.npz", "test", [np.arange(3), np.arange(3) + 1])
    with np.load(tmp_path / "a.npz", allow_pickle=False) as opened:
        assert opened["arrays/0"].tolist() == [[0, 1, 2], [1, 2, 3]]


def test_arrays_can_be_changed_after_reading_as_before_writing(tmp_path: Path) -> None:
    archive.write(tmp_path / "a", "test", [np.zeros(2), np.zeros(2), np.zeros(())])
    first, second, third = archive.read(tmp_path / "a", "test")
    first += 1
    third += 1
    assert second.tolist() == [0, 0]


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    archive.write(tmp_path / "a", "cookbook", OLD)
    with pytest.raises(DemonstrationError, match="is no test this version can read"):
        archive.read(tmp_path / "a", "test")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DemonstrationError, match=r"no file .*nothing\.npz"):
        archive.read(tmp_path / "nothing.npz", "test")


def test_a_folder_or_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no zip")
    (tmp_path / "empty").write_bytes(b"")
    for name in (".", "text", "empty"):
        with pytest.raises(DemonstrationError, match="damaged or no file"):
            archive.read(tmp_path / name, "test")


def test_more_than_max_bytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    archive.write(tmp_path / "a", "test", np.zeros(100_000))
    assert archive.read(tmp_path / "a", "test", max_bytes=900_000).size == 100_000
    with pytest.raises(DemonstrationError, match="more than 700000 bytes"):
        archive.read(tmp_path / "a", "test", max_bytes=700_000)


@pytest.mark.parametrize("tree", [object(), {"f": print}, [np.array([None])], [10**5000]])
def test_what_is_no_data_is_refused_and_nothing_written(tmp_path: Path, tree: Any) -> None:
    with pytest.raises(BackplayError, match="Nothing was written"):
        archive.write(tmp_path / "a", "test", tree)
    assert os.listdir(tmp_path) == []


def test_a_tree_without_end_is_refused(tmp_path: Path) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(BackplayError, match="Nothing was written"):
        archive.write(tmp_path / "a", "test", endless)


def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_MAX_TEXT", 1000)
    with pytest.raises(BackplayError, match="Record a shorter episode"):
        archive.write(tmp_path / "a", "test", ["text"] * 1000)
    assert os.listdir(tmp_path) == []


def test_folders_are_made_and_the_file_is_as_readable_as_any(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.npz"
    archive.write(path, "test", NEW)
    (tmp_path / "plain").write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def fail(code: int) -> Any:
    def failing(*args: Any, **kwargs: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return failing


class Crash(BaseException):
    """The process ends here."""


def crash(*args: Any, **kwargs: Any) -> Any:
    raise Crash


@pytest.mark.parametrize("function", ["fsync", "replace", "open", "fdopen"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, code: int
) -> None:
    path = tmp_path / "demo.npz"
    archive.write(path, "test", OLD)
    with monkeypatch.context() as patched:
        patched.setattr(os, function, fail(code))
        with pytest.raises(BackplayError, match=os.strerror(code)) as caught:
            archive.write(path, "test", NEW)
    assert "nothing was overwritten" in str(caught.value)
    assert archive.read(path, "test") == OLD
    assert os.listdir(tmp_path) == ["demo.npz"]


def test_a_disk_that_fills_up_while_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "demo.npz"
    archive.write(path, "test", OLD)
    real = os.fdopen

    def full_after_a_while(handle: int, mode: str) -> Any:
        file = real(handle, mode)

        class Full:
            def __enter__(self) -> Any:
                return self

            def __exit__(self, *args: Any) -> None:
                file.close()

            def write(self, data: bytes) -> None:
                file.write(data[: len(data) // 2])
                fail(errno.ENOSPC)()

        return Full()

    monkeypatch.setattr(os, "fdopen", full_after_a_while)
    with pytest.raises(BackplayError, match="No space left"):
        archive.write(path, "test", NEW)
    monkeypatch.undo()
    assert archive.read(path, "test") == OLD
    assert os.listdir(tmp_path) == ["demo.npz"]


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_crash_before_the_rename_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    path = tmp_path / "demo.npz"
    archive.write(path, "test", OLD)
    with monkeypatch.context() as patched:
        patched.setattr(os, function, crash)
        with pytest.raises(Crash):
            archive.write(path, "test", NEW)
    assert archive.read(path, "test") == OLD
    assert os.listdir(tmp_path) == ["demo.npz"]


def test_the_content_is_on_disk_before_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the moment of the rename the temporary file is whole and synced, the old one untouched."""
    path = tmp_path / "demo.npz"
    archive.write(path, "test", OLD)
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def watched_replace(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        done.append("rename")
        assert src_dir_fd == dst_dir_fd  # in one folder, or it would be no rename
        assert trees.first_difference(archive.read(path.parent / source, "test"), NEW) is None
        assert archive.read(path.parent / target, "test") == OLD
        replace(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    archive.write(path, "test", NEW)
    assert done == ["file", "rename", "folder"]


def test_a_folder_that_cannot_be_synced_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def no_folders(path: Any, flags: int, *args: Any, **more: Any) -> int:
        listed = Path(path).is_dir() and not flags & os.O_PATH
        return fail(errno.EACCES)() if listed else real(path, flags, *args, **more)

    monkeypatch.setattr(os, "open", no_folders)
    archive.write(tmp_path / "a", "test", OLD)
    assert archive.read(tmp_path / "a", "test") == OLD


def test_a_path_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(BackplayError, match="cannot be written"):
        archive.write(tmp_path / "folder", "test", NEW)
    assert os.listdir(tmp_path) == ["folder"]
    assert os.listdir(tmp_path / "folder") == []


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BackplayError, match="cannot be written"):
        archive.write(tmp_path / "file" / "demo.npz", "test", NEW)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_plain_compression_is_read(tmp_path: Path, method: int) -> None:
    """A hostile LZMA header alone asks for gigabytes."""
    archive.write(tmp_path / "a", "test", OLD)
    with (
        zipfile.ZipFile(tmp_path / "a") as good,
        zipfile.ZipFile(tmp_path / "b", "w", method) as other,
    ):
        for name in good.namelist():
            other.writestr(name, good.read(name))
    with pytest.raises(DemonstrationError, match="another compression than deflate"):
        archive.read(tmp_path / "b", "test")


def test_a_small_file_that_says_it_is_huge_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An honest array of zeros that takes a thousandth of its size in the file."""
    zeros = np.zeros(10**6)
    archive.write(tmp_path / "a", "test", zeros)
    small = (tmp_path / "a").stat().st_size
    assert small < 20_000
    monkeypatch.setattr(archive, "_SMALL", 2**16)
    with pytest.raises(DemonstrationError, match="more than it can hold"):
        archive.read(tmp_path / "a", "test")
    archive.write(tmp_path / "a", "test", zeros)  # what we write can be read
    assert archive.read(tmp_path / "a", "test").size == 10**6


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DemonstrationError, match="Not a file"):
        archive.read(tmp_path / "pipe", "test")
