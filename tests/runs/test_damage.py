"""Files damaged in a thousand ways: a run comes back exactly as it was saved, or is refused.

BACKPLAY_DAMAGE_COUNT says how many ways.
"""

import os
import shutil
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from made_runs import RESULT, Life, assert_was_saved, contents, live, without_waiting

from backplay import runs
from backplay.errors import BackplayError
from file_mutations import flip_bits, lengthen, swap_ranges, truncate, zero_range

COUNT = int(os.environ.get("BACKPLAY_DAMAGE_COUNT", "1000"))
Rng = np.random.Generator
Bytes = Callable[[bytes, Rng], bytes]


def one_bit(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]


def one_digit(data: bytes, rng: Rng) -> bytes:
    """Another number where one stands: still JSON, still a line."""
    places = [at for at, byte in enumerate(data) if 48 <= byte < 58]
    at = int(rng.choice(places))
    return data[:at] + bytes([48 + (data[at] - 48 + 1) % 10]) + data[at + 1 :]


def insert(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + [b"\n", b"\0", b"{}\n", b'"', rng.bytes(3)][rng.integers(5)] + data[at:]


def change_lines(data: bytes, rng: Rng) -> bytes:
    lines = data.splitlines(keepends=True)
    i, j = (int(x) for x in rng.integers(len(lines), size=2))
    case = int(rng.integers(3))
    if case == 0:
        lines.insert(j, lines[i])
    elif case == 1:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        del lines[i]
    return b"".join(lines)


def header_length(data: bytes, rng: Rng) -> bytes:
    lengths = [0, 1, 2**63 - 1, 2**64 - 1, 10**8, len(data), len(data) - 8, 8]
    return struct.pack("<Q", int(lengths[rng.integers(len(lengths))])) + data[8:]


def other_content(data: bytes, rng: Rng) -> bytes:
    contents = [b"", b"{}", b"[]", b"null\n", b"[" * 100_000, b"\0" * 5000, b"{}\n" * 9, b"\n"]
    return contents[rng.integers(len(contents))]


BYTES: list[Bytes] = [one_bit, one_digit, flip_bits, truncate, lengthen, zero_range, swap_ranges]
BYTES += [insert, change_lines, header_length, other_content]


def replace(path: Path, rng: Rng) -> None:
    """Something else than a file, or no file, stands there."""
    path.unlink()
    case = int(rng.integers(5))
    if case == 0:
        path.mkdir()
    elif case == 1:
        os.mkfifo(path)
    elif case == 2:
        path.symlink_to(path)
    elif case == 3:
        path.symlink_to("/dev/null")


def damage(path: Path, life: Life, other: Life, rng: Rng) -> str:
    """Damages one file of the run at `path`; which and how."""
    names = [name for name in life.files if not name.startswith(("lock", "demonstrations"))]
    name = str(rng.choice(names))
    file = path / name
    if not file.is_file():  # damaged before
        return "again"
    kind = rng.random()
    if kind < 0.08:
        replace(file, rng)
        return "replaced"
    if kind < 0.2:  # the file of another run, or another file of this one
        from_other = rng.random() < 0.6
        data = other.files[name] if from_other else life.files[str(rng.choice(names))]
        file.write_bytes(data)
        return "swapped"
    how = BYTES[rng.integers(len(BYTES))]
    data = file.read_bytes()
    if not data or (how is one_digit and not any(48 <= byte < 58 for byte in data)):
        return "again"
    file.write_bytes(how(data, rng))
    return how.__name__


def assert_sound_or_refused(path: Path, life: Life) -> str:
    """Looks at everything in a run, then resumes it; what came of that."""
    before = contents(path)
    try:
        run = runs.open_run(path)
    except BackplayError:
        assert contents(path) == before
        return "not opened"
    reads: list[Callable[[], object]] = [run.metrics, lambda: run.load(), lambda: run.seconds]
    for read in [*reads, lambda: run.checkpoint]:
        with suppress(BackplayError):
            read()
    for name, read, wanted in (
        ("result.json", lambda: run.result, RESULT),
        ("provenance.json", lambda: run.provenance["versions"]["numpy"], np.__version__),
    ):
        if (path / name).exists():
            with suppress(BackplayError):
                assert read() == wanted
    assert contents(path) == before  # reading changes nothing
    try:
        frames = assert_was_saved(path, life)
    except BackplayError:
        assert contents(path) == before
        return "not resumed"
    return f"resumed at {frames}"


def test_damage_is_refused_or_does_not_matter(
    quick_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_waiting(monkeypatch)
    life, other = live(quick_path / "a", 0), live(quick_path / "b", 1)
    path = quick_path / "run"
    came = Counter[str]()
    for i in range(COUNT):
        rng = np.random.default_rng((7, i))
        life.write(path)
        done = [damage(path, life, other, rng) for _ in range(int(rng.choice([1, 1, 1, 2, 3])))]
        try:
            came[assert_sound_or_refused(path, life)] += 1
        except BaseException as error:
            shutil.copytree(path, tmp_path / "kept", symlinks=True, dirs_exist_ok=True)
            raise AssertionError(f"case {i}, {done}: see {tmp_path / 'kept'}") from error
    if COUNT >= 1000:  # all of these happen
        assert min(came[word] for word in ("not opened", "not resumed")) > COUNT // 50
        assert min(came[f"resumed at {frames}"] for frames in (6, 9)) > COUNT // 50
    assert set(came) <= {"not opened", "not resumed", "resumed at 6", "resumed at 9"}


def test_every_bit_of_a_checkpoint_counts(tmp_path: Path) -> None:
    live(tmp_path / "a", 0)
    from backplay.runs.checkpoints import from_bytes

    whole = (tmp_path / "a" / "checkpoints" / "000000000009.safetensors").read_bytes()
    from_bytes(bytearray(whole))
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        with pytest.raises(ValueError, match=r"checkpoint of|differs"):
            from_bytes(changed)
