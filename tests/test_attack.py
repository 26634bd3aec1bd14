"""Mutated files and states: each is accepted or refused by one error, and nothing else happens.

The number of them is the environment variable BACKPLAY_FUZZ_COUNT.
"""

import json
import os
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

import attack_targets
import backplay as bp
import demo_mutations
import file_mutations
from backplay.data import archive
from backplay.errors import DemonstrationError
from backplay.restore import Replay
from envs_for_tests import Corridor

COUNT = int(os.environ.get("BACKPLAY_FUZZ_COUNT", "600"))


@pytest.mark.slow
def test_nothing_that_is_opened_hurts() -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "attack.py"), "--count", str(COUNT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), f"a file killed the process: {done.stderr[-3000:]}"
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["wrong"] == []
    assert report["tried"] == COUNT
    assert all(counts["refused"] > 0 for counts in report["readers"].values())
    used = [name for name, counts in report["readers"].items() if counts.get("accepted")]
    assert len(used) >= 10
    assert report["peak_megabytes"] < 4096


@pytest.fixture(scope="module")
def source() -> tuple[bp.Demonstration, bytes]:
    _, demo, data = attack_targets.make_sources()[0]
    return demo, data


def load(data: bytes, folder: Path) -> bp.Demonstration:
    (folder / "demo.npz").write_bytes(data)
    return bp.load(folder / "demo.npz")


def test_the_tools_of_this_test_rebuild_a_file_that_loads(
    source: tuple[bp.Demonstration, bytes], tmp_path: Path
) -> None:
    demo, data = source
    assert load(demo_mutations.rebuilt(*demo_mutations.content_of(data)), tmp_path) == demo
    assert load(file_mutations.zipped([*file_mutations.members_of(data).items()]), tmp_path) == demo


@pytest.mark.parametrize("header", demo_mutations.HEADERS, ids=lambda h: repr(h[10:70]))
def test_hostile_array_headers_are_refused(
    source: tuple[bp.Demonstration, bytes], tmp_path: Path, header: bytes
) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, RecursionError, MemoryError)):
        archive._array(header)
    document, arrays = demo_mutations.content_of(source[1])
    with pytest.raises(DemonstrationError):
        load(demo_mutations.rebuilt(document, [header, *arrays[1:]]), tmp_path)


@pytest.mark.parametrize("number", range(36))
def test_hostile_json_is_refused_or_harmless(
    source: tuple[bp.Demonstration, bytes], tmp_path: Path, number: int
) -> None:
    document, arrays = demo_mutations.content_of(source[1])
    texts = demo_mutations.hostile_texts(document)
    assert len(texts) == 36
    data = demo_mutations.rebuilt(texts[number], arrays)
    tracemalloc.start()
    with suppress(DemonstrationError):
        load(data, tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**25


def test_a_pickle_in_the_place_of_an_array_is_not_run(
    source: tuple[bp.Demonstration, bytes], tmp_path: Path
) -> None:
    document, arrays = demo_mutations.content_of(source[1])
    mark = tmp_path / "ran"
    payload = demo_mutations.pickle.dumps(demo_mutations.Mark(str(mark)))
    for bad in (payload, demo_mutations.npy("'|O'", "(1,)", body=payload)):
        with pytest.raises(DemonstrationError):
            load(demo_mutations.rebuilt(document, [bad, *arrays[1:]]), tmp_path)
    assert not mark.exists()
    demo_mutations.pickle.loads(payload)
    assert mark.exists()  # the payload was a live one


def test_a_change_of_one_value_is_seen(
    source: tuple[bp.Demonstration, bytes], tmp_path: Path
) -> None:
    """With the zip's own checksums correct: the digest must notice."""
    members = file_mutations.members_of(source[1])
    for name, content in members.items():
        changed = bytearray(content)
        changed[-2] ^= 1
        with pytest.raises(DemonstrationError):
            load(file_mutations.zipped([*{**members, name: bytes(changed)}.items()]), tmp_path)


@pytest.mark.parametrize("lie", [0, 10, 1000])
def test_a_member_larger_than_it_says_is_not_unpacked(
    source: tuple[bp.Demonstration, bytes], tmp_path: Path, lie: int
) -> None:
    class Always:
        """Draws the huge bomb in place of an array, and the lie."""

        def __init__(self) -> None:
            self.answers = iter([2**28, "arrays/0.npy", lie])

        def choice(self, *args: object, **kwargs: object) -> object:
            return next(self.answers)

        def random(self) -> float:
            return 1.0

    data = file_mutations.bomb(source[1], Always())
    tracemalloc.start()
    with pytest.raises(DemonstrationError):
        load(data, tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("seed", [-5, 10**4000])
def test_a_hostile_seed_is_an_error_of_ours(tmp_path: Path, seed: int) -> None:
    demo = bp.record(Corridor(slip=0.5), [1, 1, 0], seed=2, restorer=Replay())
    demo.save(tmp_path / "demo.npz")
    document, arrays = demo_mutations.content_of((tmp_path / "demo.npz").read_bytes())
    document["tree"]["seed"] = seed
    with pytest.raises(bp.BackplayError):
        load(demo_mutations.rebuilt(document, arrays), tmp_path).fit(Corridor(slip=0.5))
