"""Environments by class: from the user's own command line, never from a file."""

import re
from pathlib import Path

import gymnasium as gym
import pytest
from cli_results import Run, assert_refused

import backplay as bp
from backplay.cli.hints import going_on
from backplay.runs import open_run
from backplay.train import TrainConfig
from backplay.train.env_job import EnvJob
from backplay.train.environments import make_env
from backplay.train.own_envs import on_my_word

GRID = '''
from dataclasses import dataclass
import gymnasium as gym
import numpy as np
from gymnasium import spaces
from beside import GOAL

class KeyDoor(gym.Env):
    """Fetch the key at the left end, then walk right."""

    def __init__(self, slip: float = 0.0):
        self.observation_space = spaces.Box(-100, 100, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.slip, self.place, self.key, self.steps = slip, 2, False, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.key, self.steps = 2, False, 0
        return self.see(), {}

    def step(self, action):
        self.steps += 1
        if not (self.slip and self.np_random.random() < self.slip):
            self.place = max(0, self.place + (1 if action else -1))
        self.key = self.key or self.place == 0
        done = self.key and self.place >= GOAL
        return self.see(), float(done), done, self.steps >= 30, {}

    def see(self):
        return np.array([self.place, self.key], np.float32)

class NoEnv:
    pass

def timed(slip=0.0):
    return gym.wrappers.TimeLimit(KeyDoor(slip), 20)

def none():
    pass

class Still(gym.Wrapper):
    def __init__(self):
        super().__init__(gym.make("FrozenLake-v1", is_slippery=False))
'''
ENV = "./mygrid.py:KeyDoor"
ACTIONS = ("--actions", "0,0,1,1,1,1,1")
TINY = ("--frames", 256, "--num-envs", 2, "--final-episodes", 2, "--ppo.num-steps", 32)


@pytest.fixture
def here(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A folder with a user's file, and no class known from another test."""
    Path("mygrid.py").write_text(GRID)
    Path("beside.py").write_text("GOAL = 5\n")
    monkeypatch.setattr(gym.envs.registration, "registry", {**gym.registry})
    monkeypatch.setattr(gym, "registry", gym.envs.registration.registry)
    return run


def as_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has named a class of his own yet."""
    known = {name: spec for name, spec in gym.registry.items() if not name.startswith("own:")}
    monkeypatch.setattr(gym, "registry", known)


def test_a_class_goes_all_the_way_from_a_file_to_a_result(here: Run) -> None:
    done = here("record", ENV, "--out", "key.npz", *ACTIONS)
    assert done.code == 0, done
    assert "7 steps" in done.out
    assert here("check", ENV, "key.npz").code == 0
    done = here("train", ENV, "key.npz", "--dir", "runs/key", *TINY)
    assert done.code == 0, done
    assert here("evaluate", "runs/key", "--env", ENV, "--episodes", 2).code == 0


def test_arguments_of_a_class_are_recorded_as_those_of_an_id(here: Run) -> None:
    assert_refused(here("record", ENV, "--out", "key.npz", *ACTIONS, "--env-kwargs", '{"x": 1}'),
                   f"{ENV} cannot be made")  # fmt: skip
    slips = ("--env-kwargs", '{"slip": 0.001}')
    assert here("record", ENV, "--out", "key.npz", *ACTIONS, *slips).code == 0
    assert bp.load("key.npz").env_kwargs == {"slip": 0.001}
    assert here("check", ENV, "key.npz").code == 0  # made as it was recorded, without a word


def test_a_function_that_makes_an_env_stands_for_a_class(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrappers are usually put around an env by a function."""
    timed = "./mygrid.py:timed"
    slips = ("--env-kwargs", '{"slip": 0.001}')
    assert here("record", timed, "--out", "key.npz", *ACTIONS, *slips).code == 0
    done = here("train", timed, "key.npz", "--dir", "run", *TINY)
    assert done.code == 0, done
    as_in_another_process(monkeypatch)
    assert_refused(here("evaluate", "run"), "is code of your own")
    assert here("evaluate", "run", "--env", timed, "--episodes", 2).code == 0


def test_a_class_around_an_env_with_an_id_is_made_as_it_was_recorded(here: Run) -> None:
    """The arguments in its spec are those of the env inside, which the class does not take."""
    still = "./mygrid.py:Still"
    done = here("record", still, "--out", "lake.npz", "--actions", "2,2,1,1,1,2")
    assert done.code == 0, done
    done = here("check", still, "lake.npz")
    assert done.code == 0, done


def test_a_run_of_such_an_env_needs_the_users_word_again(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    here("record", ENV, "--out", "key.npz", *ACTIONS)
    here("train", ENV, "key.npz", "--dir", "run", *TINY)
    as_in_another_process(monkeypatch)
    Path("mygrid.py").write_text("raise SystemExit('the file was run')")
    Path("run/result.json").unlink()  # as if it had been killed just before its end
    word = ("is code of your own", f"--env {ENV}")
    assert_refused(here("evaluate", "run"), *word)
    assert_refused(here("work", "run"), *word)
    assert_refused(here("train", "--resume", "run"), *word)
    Path("mygrid.py").write_text(GRID)
    assert here("evaluate", "run", "--env", ENV, "--episodes", 2).code == 0
    assert here("train", ENV, "--resume", "run").code == 0


def test_a_run_has_a_name_that_listings_show(here: Run) -> None:
    here("record", ENV, "--out", "key.npz", *ACTIONS)
    assert here("train", ENV, "key.npz", *TINY).code == 0
    (run,) = Path("runs").iterdir()
    assert re.fullmatch(r"\w.*KeyDoor-backplay-0", run.name)


def test_a_file_may_be_named_from_another_folder(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    here("record", ENV, "--out", "key.npz", *ACTIONS)
    here("train", ENV, "key.npz", "--dir", "run", *TINY)
    as_in_another_process(monkeypatch)
    Path("elsewhere").mkdir()
    Path("elsewhere/other.py").write_text(GRID)
    monkeypatch.chdir("elsewhere")
    assert_refused(here("evaluate", "../run", "--env", "other.py:KeyDoor"), "is code of your own")
    assert here("evaluate", "../run", "--env", f"../{ENV}", "--episodes", 2).code == 0


def test_a_stopped_run_says_its_class_again(here: Run) -> None:
    here("record", ENV, "--out", "key.npz", *ACTIONS)
    here("train", ENV, "key.npz", "--dir", "run", *TINY)
    job = EnvJob.of(ENV, bp.Uniform(), TrainConfig(frames=64))
    assert going_on(open_run(Path("run")), job) == ["backplay", "train", ENV, "--resume", "run"]


def test_in_python_such_an_agent_is_loaded_with_its_class(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    here("record", ENV, "--out", "key.npz", *ACTIONS)
    here("train", ENV, "key.npz", "--dir", "run", *TINY)
    here("record", "CartPole-v1", "--out", "pole.npz", "--actions", "0,1,0,1")
    here("train", "CartPole-v1", "pole.npz", "--dir", "pole", *TINY)
    key_door = type(make_env(ENV))
    as_in_another_process(monkeypatch)
    with pytest.raises(bp.BackplayError, match=r"bp.load_agent\(path, Class\)"):
        bp.load_agent("run")
    agent = bp.load_agent("run", key_door)
    assert agent.predict(key_door().reset()[0])[0] in range(2)
    with pytest.raises(bp.BackplayError, match="no code of your own"):
        bp.load_agent("pole", key_door)


def test_an_id_that_names_a_module_imports_nothing(here: Run) -> None:
    Path("evil.py").write_text("raise SystemExit('the module was run')")
    with pytest.raises(bp.BackplayError, match="is code of your own"):
        make_env("evil:CartPole-v7")


def test_a_class_and_a_module_mean_the_same_demonstrations(here: Run) -> None:
    """Recorded in Python on the class, on the command line by its module, and by an id."""
    on_my_word(ENV)
    base = type(make_env(ENV))
    bp.record(base(), [0, 0, 1, 1, 1, 1, 1]).save("python.npz")
    assert here("check", ENV, "python.npz").code == 0
    assert here("check", "mygrid:KeyDoor", "python.npz").code == 0
    gym.register("Doors/KeyDoor-v0", entry_point=base, max_episode_steps=40)
    assert here("check", "Doors/KeyDoor-v0", "python.npz").code == 0
    here("record", "Doors/KeyDoor-v0", "--out", "by_id.npz", *ACTIONS)
    assert here("check", ENV, "by_id.npz").code == 0
    slips = ("--env-kwargs", '{"slip": 0.5}')
    assert_refused(here("check", ENV, "python.npz", *slips), "slip=0.5", "--settings mine")
    done = here("check", ENV, "python.npz", *slips, "--settings", "mine")
    assert "not exact" in done.out
    assert "this env's own settings" in done.out
    assert "not deterministic" not in done.out


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ("./mygrid.py", "names a file and no class"),
        ("./mygrid.py:Keydor", "Did you mean 'KeyDoor'?"),
        ("./mygrid.py:NoEnv", "a class that is a gymnasium.Env, a function that makes one"),
        ("./mygrid.py:none", "./mygrid.py:none makes no environment"),
        ("./nowhere.py:KeyDoor", "There is no file ./nowhere.py"),
        ("nowhere_at_all:KeyDoor", "cannot be imported"),
        ("./broken.py:KeyDoor", "broken.py, line 2"),
    ],
)
def test_what_cannot_be_found_is_one_line(here: Run, env: str, said: str) -> None:
    Path("broken.py").write_text("x = 1\ny = x.z\n")
    assert_refused(here("record", env, "--out", "a.npz", *ACTIONS), said)


def test_a_constructor_that_fails_is_one_line(here: Run) -> None:
    kwargs = ("--env-kwargs", '{"slips": 1}')
    assert_refused(here("record", ENV, "--out", "a.npz", *ACTIONS, *kwargs), "slips")


def test_the_help_example_of_play_reaches_the_goal(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = here("play", "--help").out
    assert "echo 221112s | backplay play FrozenLake-v1" in text
    Path("typed").write_text("221112s")
    with Path("typed").open() as typed:
        monkeypatch.setattr("sys.stdin", typed)
        still = ("--env-kwargs", '{"is_slippery": false}')
        done = here("play", "FrozenLake-v1", "--out", "lake.npz", *still)
    assert done.code == 0
    assert "last reward 1" in done.out
    assert "warning" not in done.err
    with Path("typed").open() as typed:
        monkeypatch.setattr("sys.stdin", typed)
        fallen = here("play", "FrozenLake-v1", "--out", "hole.npz", "--seed", 3)
    assert ("last reward 1" in fallen.out) != ("may be no success" in fallen.err)
