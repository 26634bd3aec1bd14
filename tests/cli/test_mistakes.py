"""What strangers do wrong in their first hour: for each mistake one line that says what to do.

One row a mistake, so that the list can be read, and grows. A demonstration that failed, and a run
that learned nothing, are no errors: these are told what is odd, and what to try.
"""

import shlex
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import gymnasium as gym
import pytest
from cli_results import Result, Run, assert_refused

from backplay import extras
from backplay.cli import main
from backplay.cli.hints import what_to_try
from backplay.runs import open_run
from backplay.runs.execute import asked

TINY = ("--num-envs", 2, "--ppo.num-steps", 32, "--frames", 64, "--final-episodes", 2)
FILES = {
    "no_class.py": "x = 1\n",
    "broken.py": "def policy(observation)\n    return 0\n",
    "raises.py": "def policy(observation):\n    return observation.velocity\n",
    "outside.py": "def policy(observation):\n    return 7\n",
    "no_policy.py": "x = 1\n",
    "notes.npz": "not an archive\n",
    "grid.py": (
        "import gymnasium as gym\n"
        "class Grid:\n    pass\n"
        "class Half(gym.Env):\n"
        "    action_space = observation_space = gym.spaces.Discrete(3)\n"
        "    def reset(self, seed=None, options=None):\n        return 0\n"
        "    def step(self, action):\n        return 0, 0.0, True, False, {}\n"
        "class Old(Half):\n"
        "    def reset(self):\n        return 0, {}\n"
    ),
}

RECORD, TRAIN = "record FrozenLake-v1 --out a.npz", "train FrozenLake-v1 LAKE"
MISTAKES = {
    "an id with a slip": ("record FrozenLke-v1 --out a.npz --actions 1", "Did you mean FrozenLake"),
    "an id that nobody knows": ("record Zork-v0 --out a.npz --actions 1", "no environment 'Zork"),
    "no class after the file": ("record ./grid.py --out a.npz --actions 1", "names a file and no"),
    "a class that is not there": (
        "record ./no_class.py:Grid --out a.npz --actions 1", "has no environment 'Grid'"
    ),
    "a class that is no env": (
        "record ./grid.py:Grid --out a.npz --actions 1", "a class that is a gymnasium.Env"
    ),
    "a file that is not there": ("train FrozenLake-v1 gone.npz", "no file gone.npz"),
    "a file that is no demonstration": ("train FrozenLake-v1 notes.npz", "notes.npz"),
    "a demonstration of another env": ("train CartPole-v1 LAKE", "another environment"),
    "a demonstration with other settings": (
        f"{TRAIN} --env-kwargs {{\"is_slippery\":true}}", "--settings mine"
    ),
    "an action that there is not": (f"{RECORD} --actions 9", "an action of Discrete(4), got 9"),
    "an action of another shape": (
        "record MountainCarContinuous-v0 --out a.npz --actions 1,1", "Box(-1.0, 1.0, (1,), float32)"
    ),
    "a policy that answers nonsense": (f"{RECORD} --policy outside.py", "Discrete(4)"),
    "a policy that does not parse": (f"{RECORD} --policy broken.py", "broken.py, line 1"),
    "a policy that fails": (f"{RECORD} --policy raises.py", "raises.py, line 2"),
    "a file without a policy": (f"{RECORD} --policy no_policy.py", "no function 'policy'"),
    "nothing to play": (RECORD, "one of --actions"),
    "frames that are none": (f"{TRAIN} --frames 0", "at least 1"),
    "a rule that is none": (f"{TRAIN} --success won", "info:KEY"),
    "a rule with a word for its number": (f"{TRAIN} --success return>=high", "return>=X"),
    "a rule that is none, when measuring": ("evaluate run --success won", "info:KEY"),
    "a directory in use": (f"{TRAIN} --dir run", "--resume run"),
    "a directory that is no run": ("evaluate .", "is no run"),
    "a run that is not there": ("train --resume nowhere", "nowhere is no run"),
    "a run that is made shorter": ("train --resume run --frames 32", "longer, never shorter"),
    "a film of another kind": ("watch run --out film.avi", ".gif or .mp4"),
    "arguments that are no JSON": (f"{RECORD} --actions 1 --env-kwargs slippery", "a JSON object"),
    "arguments that the env does not take": (
        f"{RECORD} --actions 1 --env-kwargs {{\"slip\":1}}", "slip"
    ),
    "a reset of the old form": (
        "record ./grid.py:Half --out a.npz --actions 1", "an observation and an info"
    ),
    "a reset without a seed": (
        "record ./grid.py:Old --out a.npz --actions 1", "def reset(self, *, seed=None"
    ),
    "a command that there is not": ("recrod FrozenLake-v1", "Did you mean 'record'?"),
}  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, demos: dict[str, Path]) -> Path:
    """A run directory, made once."""
    path = tmp_path_factory.mktemp("trained") / "run"
    words = ("train", "FrozenLake-v1", demos["lake"], "--dir", path, *TINY)
    assert main([str(word) for word in words]) == 0
    return path


@pytest.fixture
def desk(run: Run, trained: Path) -> Run:
    """A folder with a stranger's files and one run."""
    for name, text in FILES.items():
        Path(name).write_text(text)
    shutil.copytree(trained, "run")
    return run


def said(desk: Run, demos: dict[str, Path], command: str) -> Result:
    return desk(*(demos["lake"] if word == "LAKE" else word for word in command.split()))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_clear_line(desk: Run, demos: dict[str, Path], mistake: str) -> None:
    command, expected = MISTAKES[mistake]
    assert_refused(said(desk, demos, command), expected)
    assert not Path("a.npz").exists()


def test_a_package_that_is_missing_is_named_with_its_extra(
    desk: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gym, "registry", {})
    monkeypatch.setattr(
        extras, "find_spec", lambda name: None if name == "minigrid" else find_spec(name)
    )
    told = desk("record", "MiniGrid-DoorKey-5x5-v0", "--out", "a.npz", "--actions", "1")
    assert_refused(told, "minigrid", 'pip install "backplay[minigrid]"')


def test_a_demonstration_that_failed_is_warned_of_wherever_it_is_used(
    desk: Run, demos: dict[str, Path]
) -> None:
    fallen = ("--actions", "1,2", "--env-kwargs", '{"is_slippery": false}')  # into a hole
    for told in (
        desk("record", "FrozenLake-v1", "--out", "hole.npz", *fallen),
        desk("check", "FrozenLake-v1", "hole.npz"),
        desk("train", "FrozenLake-v1", "hole.npz", "--dir", "hole", *TINY),
    ):
        assert told.code == 0, told
        assert "may be no success" in told.err
        assert "success: " in told.out + told.err
    assert "may be no success" in told.out.splitlines()[-1]  # the proud result is not the last word


def test_a_run_that_learned_nothing_says_what_to_try(desk: Run, demos: dict[str, Path]) -> None:
    shutil.copy(demos["car"], "again.npz")
    told = desk("train", "MountainCar-v0", demos["car"], "again.npz", "--dir", "car", *TINY)
    lines = told.out.splitlines()
    first = next(i for i, line in enumerate(lines) if "What to try" in line)
    assert "steps back" in lines[first]
    assert "backplay train --resume car --frames 128" in lines[first + 1]
    assert "--ppo." in lines[first + 2]  # the learner comes before the starts
    assert "--curriculum" in lines[first + 3]
    assert "backplay check MountainCar-v0" in lines[first + 4]
    for i, line in enumerate(lines[first + 1 : first + 5]):  # what is proposed can be typed
        command = shlex.split(line, comments=True)[1:]
        again = desk(*command, *(("--dir", f"other-{i}") if i in (1, 2) else ()))
        assert again.code == 0, again


def test_a_run_of_the_default_length_is_told_of_the_learner_first(
    desk: Run, demos: dict[str, Path]
) -> None:
    desk("train", "MountainCar-v0", demos["car"], "--dir", "car", *TINY)
    run = open_run(Path("car"))
    job, _ = asked(run)
    long = replace(job, settings={**job.settings, "frames": 500_000})
    learner, longer, starts = what_to_try(run, long)[1:4]
    assert "--ppo." in learner
    assert "--resume car --frames 1000000" in longer
    assert "--curriculum uniform" in starts


def test_what_to_try_repeats_what_the_run_was_told(desk: Run, demos: dict[str, Path]) -> None:
    told = (
        "--env-kwargs", '{"is_slippery": true}', "--settings", "mine", "--success", "return>=2",
        "--ppo.no-bootstrap-truncated", "--windows", "0:0:2", "32:2:6",
    )  # fmt: skip
    done = desk("train", "FrozenLake-v1", demos["lake"], "--dir", "lake", *TINY, *told)
    assert done.code == 0, done
    tries = [line for line in done.out.splitlines() if line.startswith("  backplay train Frozen")]
    assert "0:0:2 32:2:6" in tries[0]
    assert "uniform" in tries[-1]
    for i, line in enumerate(tries):
        for word in (*told[:7], "64", "32"):
            assert str(word) in shlex.split(line, comments=True)
        assert desk(*shlex.split(line, comments=True)[1:], "--dir", f"other-{i}").code == 0
    check = next(line for line in done.out.splitlines() if "backplay check" in line)
    assert "return of at least 2" in desk(*shlex.split(check, comments=True)[1:]).out
    assert desk("watch", "lake").code == 0  # under the run's own settings


def test_a_run_that_learned_says_nothing(desk: Run, demos: dict[str, Path]) -> None:
    easy = ("--success", "return>=-1000")
    told = desk("train", "MountainCar-v0", demos["car"], "--dir", "car", *TINY, *easy)
    assert told.code == 0
    assert "What to try" not in told.out


def tried_if_greedy_came_to(success: float) -> list[str]:
    """What to try after the run in `car`, had its likeliest actions succeeded so often."""
    run = open_run(Path("car"))
    result = run.result
    result["measures"]["greedy_success"] = success
    with run.locked():
        run.finish(result)
    return what_to_try(run, asked(run)[0])


def test_a_run_whose_likeliest_actions_succeed_says_so(desk: Run, demos: dict[str, Path]) -> None:
    told = desk("train", "MountainCar-v0", demos["car"], "--dir", "car", *TINY)
    assert "--greedy" not in told.out
    first = tried_if_greedy_came_to(0.64)[1]
    assert "likeliest actions succeed in 64%" in first
    assert desk(*shlex.split(first, comments=True)[1:], "--episodes", 2).code == 0


def test_a_run_whose_drawn_actions_alone_succeed_says_so(desk: Run, demos: dict[str, Path]) -> None:
    easy = ("--success", "return>=-1000")
    desk("train", "MountainCar-v0", demos["car"], "--dir", "car", *TINY, *easy)
    run = open_run(Path("car"))
    assert what_to_try(run, asked(run)[0]) == []
    words, command = tried_if_greedy_came_to(0.0)
    assert "likeliest actions succeed in 0% alone" in words
    assert desk(*shlex.split(command)[1:]).code == 0
