"""Several demonstrations of one environment, from files and folders."""

from pathlib import Path

import gymnasium as gym
import pytest

import backplay as bp
from backplay.cli import main
from backplay.errors import DemonstrationError
from backplay.runs import open_run


def lake() -> gym.Env:
    return gym.make("FrozenLake-v1", is_slippery=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "demos"
    place.mkdir()
    bp.record(lake(), [2, 2, 1, 1, 1, 2]).save(place / "a.npz")
    bp.record(lake(), [1, 1, 2, 1, 2, 2]).save(place / "b.npz")
    return place


def test_a_folder_and_a_file_are_pooled_in_the_order_of_their_names(folder: Path) -> None:
    one = folder.parent / "one.npz"
    bp.record(lake(), [1, 1, 2, 2, 1, 2]).save(one)
    demos = bp.load_all(folder, str(one), env=lake())
    assert [demo.actions for demo in demos] == [
        [2, 2, 1, 1, 1, 2], [1, 1, 2, 1, 2, 2], [1, 1, 2, 2, 1, 2],
    ]  # fmt: skip
    env = bp.BackplayEnv(lake(), demos, bp.Uniform())
    for number, place in enumerate((10, 13, 10)):
        seen, _ = env.reset(seed=0, options={"start": (number, 4)})
        assert seen == demos[number].observations[4] == place


def test_demonstrations_of_two_environments_are_refused_by_name(folder: Path) -> None:
    bp.record(gym.make("MountainCar-v0"), [2] * 5).save(folder / "c.npz")
    with pytest.raises(DemonstrationError, match=r"c\.npz is of another environment than .*a\.npz"):
        bp.load_all(folder)
    with pytest.raises(DemonstrationError, match=r"c\.npz.*another environment"):
        bp.load_all(folder, env=lake())


def test_what_is_damaged_or_missing_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "b.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(bp.BackplayError, match=r"b\.npz"):
        bp.load_all(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(bp.BackplayError, match=r"no demonstration in .*empty"):
        bp.load_all(tmp_path / "empty")
    with pytest.raises(bp.BackplayError, match="a file or a folder"):
        bp.load_all()


def test_the_command_line_takes_a_folder(folder: Path, tmp_path: Path) -> None:
    words = (f"train FrozenLake-v1 {folder} --dir {tmp_path / 'run'} --frames 128 --num-envs 2"
             " --final-episodes 2 --ppo.num-steps 32")  # fmt: skip
    assert main(words.split()) == 0
    assert len(open_run(tmp_path / "run").demonstrations) == 2


def test_check_takes_a_folder_and_names_each_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "FrozenLake-v1", str(folder)]) == 0
    said = capsys.readouterr().out
    assert said.count("exact: ") == 2
    assert said.index("a.npz:") < said.index("b.npz:")
