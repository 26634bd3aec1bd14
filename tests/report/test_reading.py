"""Run directories become records: finished, unfinished, torn, damaged, and of no experiment."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from backplay import runs
from backplay.errors import BackplayError
from backplay.report.reading import find_runs, read_run
from backplay.report.records import grouped
from backplay.runs.execute import asked

JOB = {
    "kind": "maze", "name": "optimal-backplay-3", "setting": "Optimal", "regime": "backplay",
    "seed": 3, "frames": 1_000, "fields": {},
}  # fmt: skip


def made(
    path: Path, job: dict[str, Any] | None = None, ended: bool = True, **looked: object
) -> runs.Run:
    """A run directory with two evaluations."""
    run = runs.create(path, {"job": job or JOB, "threads": 1}, command="backplay work x")
    run.append_metrics(
        {"frames": 250, "starts": "window", "by_steps_back": [[0, 10, 5], [4, 2, 1]]}
    )
    run.append_metrics({"frames": 500, "evaluation": {"success": 0.5, "words": "x", "none": None}})
    run.append_metrics({"frames": 1_000, "evaluation": {"success": 1, "flag": True}} | looked)
    run.tick(500, 1.5)
    run.tick(1_000, 3.25)
    if ended:
        run.finish({"measures": {"success": 0.9, "extra": None}, "more": [1]})
    return run


def test_a_run_becomes_a_record(tmp_path: Path) -> None:
    record = read_run(made(tmp_path / "a"))
    assert (record.path, record.name) == (str(tmp_path / "a"), "a")
    named = (record.kind, record.setting, record.regime, record.seed, record.frames)
    assert named == ("maze", "Optimal", "backplay", 3, 1_000)
    assert record.curve == [(500, {"success": 0.5}), (1_000, {"success": 1.0})]
    assert record.starts == [(250, 0, 10, 5), (250, 4, 2, 1)]
    assert record.measures == {"success": 0.9, "extra": None}
    assert record.result["more"] == [1]
    assert record.provenance["command"] == "backplay work x"
    assert (record.seconds, record.finished, record.notes) == (3.25, True, ())


def test_an_unfinished_run_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    record = read_run(made(tmp_path / "a", ended=False))
    assert (record.finished, record.measures, len(record.curve)) == (False, {}, 2)
    bare = read_run(runs.create(tmp_path / "b", {"job": JOB, "threads": 1}))
    assert (bare.finished, bare.curve, bare.seconds, bare.reached) == (False, [], 0.0, 0)


def test_a_record_says_of_how_many_episodes_its_curve_is(tmp_path: Path) -> None:
    assert read_run(made(tmp_path / "a", evaluated=20)).evaluated == 20
    for i, unsaid in enumerate(({}, {"evaluated": 0}, {"evaluated": "20"}, {"evaluated": True})):
        assert read_run(made(tmp_path / f"{i}", **unsaid)).evaluated == 100


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    run = made(tmp_path / "a", ended=False)
    file = tmp_path / "a" / "metrics.jsonl"
    file.write_bytes(file.read_bytes()[:-9])
    record = read_run(run)
    assert record.curve == [(500, {"success": 0.5})]
    assert record.notes == ()


@pytest.mark.parametrize("name", ["result.json", "provenance.json", "metrics.jsonl"])
def test_a_damaged_file_is_a_note(tmp_path: Path, name: str) -> None:
    run = made(tmp_path / "a")
    (tmp_path / "a" / name).write_bytes(b"\x00{]\n{}\n")
    record = read_run(run)
    assert len(record.notes) == 1
    assert name in record.notes[0]
    assert record.finished == (name != "result.json")
    assert bool(record.curve) == (name != "metrics.jsonl")


def test_lines_of_nonsense_are_passed_over(tmp_path: Path) -> None:
    run = made(tmp_path / "a", ended=False)
    run.append_metrics({"frames": "many", "evaluation": {"success": 0.1}})
    run.append_metrics(
        {"frames": 1_100, "evaluation": [1], "by_steps_back": [[1, 2], 3, ["a", 1, 1]]}
    )
    record = read_run(run)
    assert len(record.curve) == 2
    assert len(record.starts) == 2


def test_settings_that_are_none_are_refused(tmp_path: Path) -> None:
    for i, wrong in enumerate(({"seed": "3"}, {"setting": None}, {"frames": True})):
        run = runs.create(tmp_path / str(i), {"job": {**JOB, **wrong}, "threads": 1})
        with pytest.raises(BackplayError, match=next(iter(wrong))):
            read_run(run)
    with pytest.raises(BackplayError, match=r"config\.json"):
        read_run(runs.create(tmp_path / "job", {"job": 3}))
    with pytest.raises(BackplayError, match=r"config\.json"):
        read_run(runs.create(tmp_path / "none", {}))


FORMER: list[dict[str, Any]] = [
    {"env": "CartPole-v1", "env_kwargs": None, "curriculum": {"kind": "Uniform"}, "settings": {}},
    {"maze": {"regime": "uniform", "preset": "ours", "frames": 500, "seed": 0}, "threads": 1},
]


@pytest.mark.parametrize("config", FORMER, ids=["train", "maze train"])
def test_runs_of_version_0_1_0_are_refused_with_what_made_them(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    run = runs.create(tmp_path / "a", config, command="backplay train X x.npz")
    for read in (read_run, asked):
        with pytest.raises(BackplayError, match=r"earlier version.*: backplay train X x\.npz"):
            read(run)


def train(path: Path, demo: bytes, **settings: Any) -> runs.Run:
    """A run of `backplay train`, of this demonstration."""
    file = path.parent / f"{path.name}.npz"
    file.write_bytes(demo)
    seed = settings.get("seed", 0)
    own = {"seed": 0, "frames": 50, "ppo": {"learning_rate": 0.1}}
    fields = {
        "env": "CartPole-v1", "env_kwargs": None,
        "curriculum": {"kind": "ReverseCurriculum", "seed": seed, "until": 9, "walks": [seed]},
        "settings": own | settings,
    }  # fmt: skip
    job = {
        "kind": "env", "name": "x", "setting": "CartPole-v1", "regime": "reversecurriculum",
        "seed": seed, "frames": 50, "fields": fields,
    }  # fmt: skip
    return runs.create(path, {"job": job, "threads": 1 + seed}, [file])


def test_runs_that_differ_in_more_than_their_seed_are_told_apart(tmp_path: Path) -> None:
    made_runs = [
        train(tmp_path / "a", b"one"), train(tmp_path / "b", b"one", seed=1),
        train(tmp_path / "c", b"one", ppo={"learning_rate": 0.01}),
    ]  # fmt: skip
    groups = grouped(map(read_run, made_runs))
    assert [len(group.runs) for group in groups] == [2, 1]
    assert [group.setting for group in groups] == [
        "CartPole-v1, ppo.learning_rate 0.1",
        "CartPole-v1, ppo.learning_rate 0.01",
    ]
    alone = grouped(map(read_run, made_runs[:2]))
    assert [group.setting for group in alone] == ["CartPole-v1"]
    other = train(tmp_path / "d", b"two", seed=2)
    digest = hashlib.sha256(b"two").hexdigest()[:12]
    last = grouped(map(read_run, [*made_runs[:2], other]))[-1]
    assert last.setting == f"CartPole-v1, demonstrations {digest}"


def test_jobs_are_told_apart_by_their_fields(tmp_path: Path) -> None:
    jobs = [
        {**JOB, "name": f"a-{seed}", "seed": seed, "fields": {"seed": seed, "preset": preset}}
        for seed, preset in ((0, "ours"), (1, "ours"), (0, "paper"))
    ]
    groups = grouped(read_run(made(tmp_path / str(i), job)) for i, job in enumerate(jobs))
    assert [(group.setting, len(group.runs)) for group in groups] == [
        ("Optimal, preset ours", 2), ("Optimal, preset paper", 1),
    ]  # fmt: skip


def test_runs_are_found_in_folders_at_any_depth_and_once(tmp_path: Path) -> None:
    for name in ("x/b", "x/deep/a", "y"):
        made(tmp_path / name)
    (tmp_path / "x" / "notes").mkdir()
    (tmp_path / "x" / ".hidden").mkdir()
    found = [run.path.relative_to(tmp_path).as_posix() for run in find_runs([tmp_path])]
    assert found == ["x/b", "x/deep/a", "y"]
    assert len(find_runs([tmp_path / "y", tmp_path, tmp_path / "x"])) == 3
    for empty in (tmp_path / "x" / "notes", tmp_path / "nowhere"):
        with pytest.raises(BackplayError, match="holds no run"):
            find_runs([tmp_path, empty])


def test_who_worked_on_a_run_is_told_where_it_matters(tmp_path: Path) -> None:
    run = runs.create(tmp_path / "run", {"job": JOB, "threads": 1})
    run.begin_process()
    run.begin_process(["a checkpoint was passed over"])
    assert read_run(run).notes == ("a checkpoint was passed over",)
    with (run.path / "processes.jsonl").open("a") as file:
        file.write('{"versions": {"torch": "0.1"}, "processor": "other", "notes": []}\n')
    assert any("2 kinds of machine" in note for note in read_run(run).notes)
