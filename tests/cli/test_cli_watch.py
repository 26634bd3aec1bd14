"""`backplay watch`, and runs that are made longer."""

import json
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from cli_results import Run, assert_refused
from PIL import Image

from backplay import runs
from backplay.envs.films import as_gif
from backplay.studio import scenes
from backplay.train import loop

TINY = ("--num-envs", 2, "--ppo.num-steps", 64, "--final-episodes", 4, "--evaluation-episodes", 2)


@pytest.fixture
def lake(run: Run, demos: dict[str, Path]) -> Run:
    """A small run in the directory r."""
    words = ("--frames", 256, "--evaluate-every", 0, "--dir", "r")
    assert run("train", "FrozenLake-v1", demos["lake"], *words, *TINY).code == 0
    return run


def test_an_agent_is_filmed(lake: Run) -> None:
    told = lake("watch", "r", "--seed", 3)
    assert told.code == 0, told
    with Image.open("r/watch.gif") as film:
        assert f"r/watch.gif: {film.n_frames - 1} steps, return " in told.out
        assert film.size == (256, 256)
        assert np.asarray(film.convert("RGB")).std() > 10
    assert lake("watch", "r").code == 0  # its own file is written again
    assert ("success\nThese were the likeliest actions; with --sampled" in told.out) == (
        "no success" in told.out or "left before" in told.out
    )
    told = lake("watch", "r", "--out", "a.mp4", "--sampled")
    assert told.code == 0
    assert "likeliest" not in told.out
    assert Path("a.mp4").read_bytes()[4:8] == b"ftyp"
    assert_refused(lake("watch", "r", "--out", "a.mp4"), "a.mp4 exists already")
    assert_refused(lake("watch", "r", "--out", "a.png"), ".gif or .mp4", "a.png")
    assert_refused(lake("watch", "nowhere"), "nowhere is no run")


def test_texts_keep_their_columns_and_small_pictures_are_enlarged() -> None:
    """In a letter's column of a grid of dots every row has its dot at the same place."""

    def ink(text: str) -> set[int]:
        return set(np.where(scenes._written([text])[0].min(axis=(0, 2)) < 128)[0])

    assert ink("####.") >= ink("    .")
    assert ink("....#") >= ink("    #")
    assert ink("x" * 150) == ink("x" * 60)  # what is too long goes on below
    assert scenes._picture(np.zeros((40, 30, 3), np.uint8)).shape == (200, 150, 3)
    assert scenes._written(["█"])[0].shape == scenes._written(["a"])[0].shape


def test_a_grid_of_letters_fills_its_picture() -> None:
    small, large = scenes._written(["#", "\n".join(["." * 14 + "#"] * 15)])
    assert small.shape == large.shape  # a film has one size
    rows, columns = np.where(large.min(axis=2) < 128)
    assert np.ptp(rows) > 0.8 * large.shape[0]
    assert np.ptp(columns) > 0.8 * large.shape[1]
    assert 300 <= max(large.shape[:2]) <= 640


def test_what_draws_nothing_is_filmed_in_words(run: Run) -> None:
    Path("walk.py").write_text(
        "import gymnasium as gym\n"
        "class Walk(gym.Env):\n"
        "    observation_space = gym.spaces.Discrete(4)\n"
        "    action_space = gym.spaces.Discrete(2)\n"
        "    def reset(self, *, seed=None, options=None):\n"
        "        super().reset(seed=seed)\n"
        "        self.at = 0\n"
        "        return self.at, {}\n"
        "    def step(self, action):\n"
        "        self.at = max(0, self.at + (1 if action else -1))\n"
        "        return self.at, float(self.at == 3), self.at == 3, False, {}\n"
    )
    env = "./walk.py:Walk"
    assert run("record", env, "--out", "a.npz", "--actions", "1,1,1").code == 0
    assert run("train", env, "a.npz", "--dir", "r", "--frames", 256, *TINY).code == 0
    told = run("watch", "r", "--env", env, "--sampled")
    assert told.code == 0, told
    assert "success" in told.out
    with Image.open("r/watch.gif") as film:
        first = np.asarray(film.convert("L"))
        film.seek(film.n_frames - 1)
        assert (np.asarray(film.convert("L")) != first).any()  # 0, then 3


def test_a_run_that_has_ended_is_made_longer(lake: Run, demos: dict[str, Path]) -> None:
    assert lake("train", "--resume", "r", "--frames", 256).code == 0  # nothing to do
    told = lake("train", "--resume", "r", "--frames", 512)
    assert told.code == 0, told
    assert "at 256 of 512 frames" in told.err
    assert "after 512 frames" in told.out
    # As one that was to be so long from the beginning; it was only measured once more, at 256.
    words = ("--frames", 512, "--evaluate-every", 256, "--dir", "long")
    assert lake("train", "FrozenLake-v1", demos["lake"], *words, *TINY).code == 0
    longer, long = (runs.open_run(Path(name)) for name in ("r", "long"))
    assert longer.job["frames"] == 512
    states = [run.load().state for run in (longer, long)]
    for name in ("network", "optimiser"):
        for key, part in states[0]["learner"][name].items():
            assert (part == states[1]["learner"][name][key]).all(), key
    assert longer.result["measures"] == long.result["measures"]
    assert_refused(lake("train", "--resume", "r", "--frames", 300), "--frames", "at least the 512")
    assert_refused(lake("train", "--resume", "r", "--frames", 0), "frames")


def test_a_kill_while_it_is_made_longer_loses_nothing(lake: Run) -> None:
    """Between the two steps of `extend` there is no result and no longer job."""
    before = json.loads(Path("r/result.json").read_text())
    Path("r/result.json").unlink()
    assert lake("train", "--resume", "r").code == 0
    assert json.loads(Path("r/result.json").read_text()) == before


def test_a_run_that_cannot_be_made_longer_keeps_its_result(
    lake: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Path("r/result.json").read_bytes()
    other = partial(loop.make_network, hidden=(8,))  # as another version makes it
    monkeypatch.setattr(loop, "make_network", other)
    assert_refused(lake("train", "--resume", "r", "--frames", 512), "of another run", "the version")
    assert Path("r/result.json").read_bytes() == before
    assert runs.open_run(Path("r")).job["frames"] == 256


def test_rates_that_fall_are_spoken_of(run: Run, demos: dict[str, Path]) -> None:
    falling = ("--ppo.final-learning-rate", 0, "--frames", 128, "--dir", "r")
    assert run("train", "FrozenLake-v1", demos["lake"], *falling, *TINY).code == 0
    assert "rise and fall once more" in run("train", "--resume", "r", "--frames", 256).err


@pytest.mark.parametrize("moves", [0, 1])
def test_a_picture_that_stands_still_for_long_is_filmed(moves: int) -> None:
    """Likeliest actions that go in a circle for ever: 200 times 10 seconds of one picture."""
    still = [np.zeros((64, 64, 3), np.uint8)] * 200
    other = [np.full((64, 64, 3), 255, np.uint8)] * moves
    with Image.open(BytesIO(as_gif([*other, *still], fps=0.1))) as film:
        assert film.n_frames == 1 + moves
        film.seek(moves)
        assert film.info["duration"] == 655_350
