"""How kernels are compiled: they own no memory, and let other threads run."""

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numba import NumbaRuntimeError, NumbaTypeError, TypingError

from backplay.envs import kernels
from backplay.envs.kernels import copy_row, kernel, reserve
from backplay.envs.pommerman.cellsets import having, only, size, spread


@kernel
def allocates(n):
    return np.zeros(n, np.int16).sum()


@kernel
def adds_up(n):
    work = reserve(8)
    for i in range(8):
        work[i] = n + i
    total = 0
    for i in range(8):
        total += work[i]
    return total


@kernel
def asks_for(n):
    return reserve(n)[0]


@kernel
def counts(stop, seen):
    while stop[0] == 0:
        seen[0] += 1


def test_a_kernel_that_allocates_does_not_compile() -> None:
    with pytest.raises((NumbaRuntimeError, NumbaTypeError, TypingError)):
        allocates(3)


def test_reserved_numbers_are_the_kernels_own() -> None:
    assert adds_up(10) == 8 * 10 + 28
    with pytest.raises(TypingError):
        asks_for(8)


def test_a_cached_kernel_is_stale_when_any_file_of_the_folder_changed(tmp_path: Path) -> None:
    """Numba itself looks at the kernel's own file only: the callee's change would go unseen."""
    folder = tmp_path / "pack"
    folder.mkdir()
    shutil.copy(Path(kernels.__file__), folder / "kernels.py")
    (folder / "__init__.py").touch()
    (folder / "callee.py").write_text(KERNEL.format(name="inner", body="n + 1"))
    (folder / "caller.py").write_text(
        "from pack.callee import inner\n" + KERNEL.format(name="outer", body="inner(n)")
    )
    answers = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", "from pack.caller import outer; print(outer(1))"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        answers.append(int(done.stdout))
        (folder / "callee.py").write_text(KERNEL.format(name="inner", body="n + 5"))
    assert answers == [2, 6]


KERNEL = """\
from pack.kernels import kernel

@kernel
def {name}(n):
    return {body}
"""


def test_kernels_let_other_threads_run() -> None:
    stop, seen = np.zeros(1, np.int64), np.zeros(1, np.int64)
    counts(np.ones(1, np.int64), seen)  # compiles
    thread = threading.Thread(target=counts, args=(stop, seen), daemon=True)
    thread.start()
    time.sleep(0.01)
    stop[0] = 1  # reached at all only if the kernel does not hold the interpreter
    thread.join(60)
    assert not thread.is_alive()


def test_copy_row() -> None:
    source, target = np.arange(9, dtype=np.int16), np.zeros(9, np.int16)
    copy_row(source, target)
    np.testing.assert_array_equal(target, source)


def test_sets_of_cells() -> None:
    rng = np.random.default_rng(0)
    board = rng.integers(0, 14, 121).astype(np.int16)

    def cells(words: tuple[np.uint64, np.uint64]) -> set[int]:
        bits = int(words[0]) | int(words[1]) << 64
        return {cell for cell in range(121) if bits >> cell & 1}

    walls = having(board, 1 << 1 | 1 << 2)
    assert cells(walls) == {c for c in range(121) if board[c] in (1, 2)}
    assert size(*map(np.uint64, walls)) == len(cells(walls))
    for cell in range(121):
        row, col = divmod(cell, 11)
        near = {(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)}
        inside = {11 * r + c for r, c in near if 0 <= r < 11 and 0 <= c < 11}
        assert cells(only(cell)) == {cell}
        assert cells(spread(*map(np.uint64, only(cell)))) == inside
