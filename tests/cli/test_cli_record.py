"""`backplay record` and `backplay check`."""

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from cli_results import Run, assert_refused

import backplay as bp

STILL = ("--env-kwargs", '{"is_slippery": false}')


def test_record_from_actions_says_what_it_recorded(run: Run) -> None:
    result = run(
        "record", "FrozenLake-v1", "--out", "a/lake.npz", "--actions", "2,2,1,1,1,2", *STILL
    )
    assert result.code == 0
    assert "6 steps of FrozenLake-v1, seed 0, terminated" in result.out
    assert "restorer attributes" in result.out
    assert "exact: 6 states" in result.out
    assert bp.load("a/lake.npz", gym.make("FrozenLake-v1", is_slippery=False)).rewards.sum() == 1
    assert run("check", "FrozenLake-v1", "a/lake.npz").code == 0


def test_record_by_a_restorer_of_a_name(run: Run) -> None:
    words = ("record", "FrozenLake-v1", "--out", "l.npz", "--actions", "2,2,1", *STILL)
    assert "restorer replay" in run(*words, "--restorer", "replay").out
    assert_refused(run(*words, "--overwrite", "--restorer", "shelf"), "one of 'own', 'atari'")


def test_record_says_if_the_episode_ended_early(run: Run) -> None:
    result = run(
        "record", "FrozenLake-v1", "--out", "l.npz", "--actions", "2 2 1 1 1 2 0 0", *STILL
    )
    assert "ended after 6 of 8 actions" in result.out


@pytest.mark.parametrize("text", ["0,1\n0 1\n", "[0, 1, 0, 1]"])
def test_record_from_a_file_of_actions(run: Run, text: str) -> None:
    Path("actions.txt").write_text(text)
    assert run("record", "CartPole-v1", "--out", "p.npz", "--actions-file", "actions.txt").code == 0
    assert bp.load("p.npz").actions == [0, 1, 0, 1]


def test_record_continuous_actions(run: Run) -> None:
    assert run("record", "Pendulum-v1", "--out", "p.npz", "--actions", "[[0.5], [-1]]").code == 0
    assert np.array_equal(bp.load("p.npz").actions, [[0.5], [-1.0]])


def test_record_from_a_policy_file(run: Run) -> None:
    Path("swing.py").write_text(
        "def policy(seen): return 2 if seen[1] >= 0 else 0\ndef rest(seen): return 1\n"
    )
    run("record", "MountainCar-v0", "--out", "a.npz", "--policy", "swing.py", "--seed", 7)
    assert bp.load("a.npz").terminated
    run("record", "MountainCar-v0", "--out", "b.npz", "--policy", "swing.py:rest", "--max-steps", 5)
    assert bp.load("b.npz").actions == [1] * 5


def test_record_from_a_model_of_stable_baselines(run: Run) -> None:
    from stable_baselines3 import DQN, PPO

    PPO("MlpPolicy", "CartPole-v1", device="cpu").save("ppo.zip")
    DQN("MlpPolicy", "CartPole-v1", device="cpu", buffer_size=10).save("dqn.zip")
    assert run("record", "CartPole-v1", "--out", "p.npz", "--model", "ppo.zip").code == 0
    words = ("--out", "q.npz", "--model", "dqn.zip", "--algorithm")
    assert run("record", "CartPole-v1", *words, "dqn").code == 0
    assert_refused(
        run("record", "MountainCar-v0", "--out", "x.npz", "--model", "ppo.zip"),
        "another observation space",
    )
    assert_refused(run("record", "CartPole-v1", "--out", "x.npz", *words[2:], "XYZ"), "PPO, SAC")
    Path("ppo.zip").write_bytes(b"no model")
    assert_refused(run("record", "CartPole-v1", "--out", "x.npz", "--model", "ppo.zip"), "loaded")
    assert not Path("x.npz").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "one of --actions"),
        (("--actions", "0", "--policy", "p.py"), "--actions and --policy"),
        (("--actions", "0,x"), "--actions"),
        (("--actions", "0,7"), "Action 1 does not fit"),
        (("--actions", "[0, 1"), "--actions"),
        (("--actions", "[0, null]"), "no whole number"),
        (("--actions", ""), "Nothing was recorded"),
        (("--policy", "nowhere.py"), "no file nowhere.py"),
        (("--policy", "p.py:other"), "no function 'other'"),
        (("--policy", "p.py"), "p.py, line 2: got ZeroDivisionError"),
        (("--policy", "syntax.py"), "syntax.py, line 1: got SyntaxError"),
        (("--model", "nowhere.zip"), "no file nowhere.zip"),
        (("--actions-file", "noise.bin"), "no text file"),
        (("--actions", "0", "--env-kwargs", "{"), "--env-kwargs"),
    ],
)
def test_bad_input_of_record_is_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    Path("p.py").write_text("def policy(seen):\n    return 1 / 0\n")
    Path("syntax.py").write_text("def policy(seen: return 0\n")
    Path("noise.bin").write_bytes(b"\xff\xfe\x00")
    assert_refused(run("record", "CartPole-v1", "--out", "x.npz", *words), said)
    assert not Path("x.npz").exists()


def test_a_file_is_not_overwritten_unless_asked(run: Run) -> None:
    Path("mine.npz").write_bytes(b"precious")
    words = ("record", "CartPole-v1", "--out", "mine.npz", "--actions", "0,1")
    assert_refused(run(*words), "exists already", "--overwrite")
    assert Path("mine.npz").read_bytes() == b"precious"
    assert run(*words, "--overwrite").code == 0
    assert len(bp.load("mine.npz")) == 2


def test_a_place_that_cannot_be_written(run: Run) -> None:
    Path("file").write_text("")
    words = ("record", "CartPole-v1", "--actions", "0,1", "--out")
    assert_refused(run(*words, "file/x.npz"), "file/x.npz cannot be written")
    assert_refused(run(*words, "."), "is a directory")


def test_check_of_what_cannot_be_checked(run: Run, demos: dict[str, Path]) -> None:
    car = demos["car"]
    assert_refused(run("check", "MountainCra-v0", car), "Did you mean MountainCar-v0")
    assert_refused(run("check", "CartPole-v1", car), "another environment", "MountainCar-v0")
    assert_refused(run("check", "MountainCar-v0", "none.npz"), "no file none.npz")
    Path("cut.npz").write_bytes(car.read_bytes()[:500])
    assert_refused(run("check", "MountainCar-v0", "cut.npz"), "cut.npz is damaged")


def test_check_of_an_inexact_demonstration_is_one(run: Run, demos: dict[str, Path]) -> None:
    demo = bp.load(demos["car"])
    demo.rewards[50] = 3.0
    demo.save("wrong.npz")
    result = run("check", "MountainCar-v0", "wrong.npz")
    assert result.code == 1
    assert "not exact" in result.out
    assert "step 51, reward" in result.out
