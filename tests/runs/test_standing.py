"""Where a run stands, from files that someone else is writing."""

import json
from pathlib import Path
from typing import Any

import pytest

from backplay.runs.processes import Planned
from backplay.runs.standing import Standing, read_standing, time_left


def write(path: Path, *lines: dict[str, Any], end: str = "") -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + end)


@pytest.fixture
def task(tmp_path: Path) -> Planned:
    return Planned(name="a", path=tmp_path, frames=1_000)


def test_a_run_that_has_not_begun(task: Planned) -> None:
    standing = read_standing(task)
    assert (standing.frames, standing.share, standing.finished) == (0, 0.0, False)
    assert (standing.speed, standing.success, standing.seconds_left) == (None, None, None)


def test_the_last_whole_line_counts_and_the_last_evaluation(task: Planned) -> None:
    write(
        task.path / "metrics.jsonl",
        {"frames": 100, "starts": "near", "evaluation": {"success": 0.25}},
        {"frames": 200, "starts": "near", "evaluation": {"success": 0.5}},
        {"frames": 300, "starts": "far"},
        end='{"frames": 400, "sta',
    )
    write(task.path / "clock.jsonl", {"frames": 200, "seconds": 4.0}, end='{"frames": 3')
    standing = read_standing(task)
    assert (standing.frames, standing.starts, standing.success) == (300, "far", 0.5)
    assert (standing.seconds, standing.speed) == (4.0, 50.0)
    assert standing.seconds_left == 700 / 50
    assert standing.share == 0.3


def test_an_evaluation_far_back_is_found(task: Planned) -> None:
    padding = "x" * 1_000
    first = {"frames": 0, "evaluation": {"success": 0.125}, "padding": "ü" * 70_000}
    lines = [{"frames": frames, "padding": padding} for frames in range(1, 500)]
    write(task.path / "metrics.jsonl", first, *lines)
    standing = read_standing(task)
    assert (standing.frames, standing.success) == (499, 0.125)


def test_one_line_alone(task: Planned) -> None:
    write(task.path / "metrics.jsonl", {"frames": 7})
    assert read_standing(task).frames == 7
    (task.path / "metrics.jsonl").write_text('{"frames": 8}')
    assert read_standing(task).frames == 0


@pytest.mark.parametrize(
    ("ticks", "speed"),
    [
        ([(0, 0), (100, 1), (300, 2)], 150.0),
        ([(800, 9), (200, 10), (260, 11)], 60.0),  # killed at 800, went on at 200
        ([(800, 9), (200, 10)], 20.0),  # nothing since: all of it
        ([(50, 0)], None),
        ([(100 * i, i) for i in range(20)] + [(2_700, 21)], None),
    ],
)
def test_speed_is_that_of_late(
    task: Planned, ticks: list[tuple[int, int]], speed: float | None
) -> None:
    write(task.path / "clock.jsonl", *({"frames": f, "seconds": s} for f, s in ticks))
    if len(ticks) > 20:
        speed = (2_700 - 1_300) / (21 - 13)  # of eight entries
    assert read_standing(task).speed == speed


def test_damage_is_no_crash(task: Planned) -> None:
    for text in ("[1]\n", "nonsense\n", "\n\n", "\0\0\n", '{"frames": "many"}\n', "null\n"):
        (task.path / "metrics.jsonl").write_text(text)
        (task.path / "clock.jsonl").write_text(text)
        assert read_standing(task).frames == 0
    (task.path / "result.json").write_text("{}")
    assert read_standing(task).share == 1.0


def standing(name: str, share: float, seconds: float) -> Standing:
    return Standing(
        name=name,
        frames=round(1_000 * share),
        total=1_000,
        seconds=seconds,
        speed=None,
        success=None,
        starts="",
        finished=share == 1.0,
    )


def left(*runs: tuple[float, float, float], workers: int = 1) -> float | None:
    """Of runs with these (expected seconds, share, seconds so far)."""
    tasks = [
        Planned(name=str(i), path=Path(), frames=1_000, seconds=expected)
        for i, (expected, _, _) in enumerate(runs)
    ]
    found = {str(i): standing(str(i), share, spent) for i, (_, share, spent) in enumerate(runs)}
    return time_left(tasks, found, workers)


def test_time_left_by_hand() -> None:
    assert left((100, 0.0, 0), (50, 0.0, 0)) == 150
    assert left((100, 0.0, 0), (50, 0.0, 0), (50, 0.0, 0), workers=2) == 100
    assert left((100, 0.0, 0), (10, 0.0, 0), workers=2) == 100  # the longest run
    assert left((100, 1.0, 300), (50, 0.0, 0)) == 150  # three times slower than expected
    assert left((100, 0.5, 25), (100, 0.0, 0)) == 25 + 50  # twice as fast
    assert left((100, 0.01, 60), (100, 0.0, 0)) == pytest.approx(199)  # too early to tell
    assert left((100, 1.0, 100)) == 0
    assert left((0, 0.0, 0), (50, 0.0, 0)) is None  # nobody knows
    assert left((0, 1.0, 5), (50, 0.0, 0)) == 50
    assert left() == 0
