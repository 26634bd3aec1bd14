"""States from strangers: refused in words before a kernel reads them, never a crash."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
import demo_mutations
from backplay.envs.maze.env import Maze
from backplay.envs.maze.generate import generate_set
from backplay.envs.maze.vector import MazeVector
from backplay.envs.pommerman.env import PommermanFFA
from backplay.errors import BackplayError
from backplay.records import Start, Walk
from backplay.restore import AttributeState
from backplay.restore.likely import constants
from backplay.wrapper.resume import ResumableBackplayEnv
from backplay.wrapper.walks import Walks

CLAIMED = """
import sys, numpy as np, backplay as bp
from backplay.envs.{module}.env import {name}
env = {name}({options})
env.reset(seed=1)
try:
    demo = bp.load(sys.argv[1])
    demo.restore(env, 1)
    for _ in range(50):
        env.step(0)
except bp.BackplayError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize(
    ("module", "name", "options", "hostile"),
    [
        ("maze", "Maze", "size=8, walls=10", {"cell": 10**9}),
        ("pommerman", "PommermanFFA", "opponents='simple'", {"seat": 10**9}),
    ],
)
def test_a_file_cannot_choose_a_way_around_an_envs_own_checks(
    tmp_path: Path, module: str, name: str, options: str, hostile: dict[str, Any]
) -> None:
    """The file has a right digest and says `attributes`: the kernel would read foreign memory."""
    env: Any = Maze(size=8, walls=10) if name == "Maze" else PommermanFFA(opponents="simple")
    demo = bp.record(env, [0, 0], seed=1)
    assert demo.restorer.name == "own"
    document, arrays = demo_mutations.content_of(demo.to_bytes())
    document["tree"]["restorer"] = "attributes"
    document["tree"]["states"] = [[[name, hostile]]] * 3
    file = tmp_path / "demo.npz"
    file.write_bytes(demo_mutations.rebuilt(document, arrays))
    script = CLAIMED.format(module=module, name=name, options=options)
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "go around the env's own set_state" in done.stdout
    with pytest.raises(BackplayError, match="own set_state"):
        bp.load(file).restore(env, 1)
    with pytest.raises(BackplayError, match="own set_state"):
        bp.BackplayEnv(env, [bp.load(file)]).reset(seed=0, options={"start": (0, 1)})


def test_whoever_names_a_restorer_takes_its_word() -> None:
    class Odd(Maze):
        """Its own pair of methods is not exact, so attributes were recorded."""

    env = Odd(size=8, walls=10)
    demo = bp.record(env, [0, 0], seed=1, restorer=AttributeState())
    data = io.BytesIO(demo.to_bytes())
    assert bp.load(data, env, restorer=AttributeState()) == demo


def maze_vector() -> MazeVector:
    vector = MazeVector(3, generate_set(2, 0, size=8, walls=10, min_length=2))
    vector.reset(seed=0)
    return vector


HOSTILE: list[Any] = [
    np.nan, np.inf, -1, 2**31, 10**30, "x", None, [], {}, [[1]], np.zeros(3, "<U0"),
    np.full((3, 2), np.nan), np.full((3, 2), 10**6, np.int32), np.full((3, 2), -1, np.int32),
    np.zeros((3, 2), np.float64), np.zeros((3, 2), complex), np.zeros(3, object), b"x",
    np.full(3, -(10**9), np.int64), np.full(3, 10**9, np.int64), np.full(3, np.nan),
]  # fmt: skip


def test_places_that_are_no_numbers_are_refused() -> None:
    """NaN is neither below zero nor beyond the last cell."""
    vector = maze_vector()
    state = vector.get_state()
    state["places"] = np.full((3, 2), np.nan)
    with pytest.raises(BackplayError, match="places"):
        vector.set_state(state)


@pytest.mark.parametrize("field", [*maze_vector().get_state()])
def test_a_maze_vector_refuses_hostile_parts(field: str) -> None:
    vector = maze_vector()
    for value in HOSTILE:
        state = vector.get_state()
        state[field] = value
        with suppress(BackplayError):
            vector.set_state(state)
        for _ in range(3):
            vector.step(np.ones(3, np.int64))


@pytest.mark.parametrize(
    ("name", "value"),
    [("gravity", 1e300), ("gravity", 11.0), ("gravity", None), ("kinematics_integrator", "x"),
     ("_elapsed_steps", -(10**9)), ("_elapsed_steps", None)],
)  # fmt: skip
def test_a_state_does_not_change_the_task_in_silence(name: str, value: Any) -> None:
    env = gym.make("CartPole-v1")
    demo = bp.record(env, [0, 1, 0], seed=1)
    layer = demo.states[1][0 if name == "_elapsed_steps" else -1]
    assert name in layer[1]
    layer[1][name] = value
    with pytest.raises(BackplayError, match=rf"{name}=.* at step 1"):
        demo.fit(env)


ATARI = """
import io, struct, sys
import ale_py, gymnasium as gym, backplay as bp
gym.register_envs(ale_py)
env = gym.make("ALE/Breakout-v5")
demo = bp.record(env, [1, 2, 3, 0], seed=1)
sound = bp.load(io.BytesIO(demo.to_bytes()))
try:
    sound.restore(env, 2)
except bp.BackplayError as error:
    assert "a file's word alone" in str(error), error
wrapped = bp.BackplayEnv(env, [sound])
wrapped.reset(seed=0, options={"start": (0, 2)})
wrapped.step(0)
assert bp.check(env, bp.load(io.BytesIO(demo.to_bytes()))).exact
raw = bytearray(demo.states[2][0][0])
at = raw.index(b"M6532") + 5
assert struct.unpack_from("<I", raw, at) == (128,)  # how many bytes of memory follow
struct.pack_into("<I", raw, at, 2**31 - 1)
demo.states[2][0][0] = bytes(raw)
hostile = bp.load(io.BytesIO(demo.to_bytes()))
for use in (lambda: bp.BackplayEnv(env, [hostile]), lambda: hostile.restore(env, 2)):
    try:
        use()
    except bp.BackplayError as error:
        print("refused:", error)
for _ in range(20):
    env.step(1)
"""


def test_a_state_of_an_emulator_is_loaded_only_if_its_actions_lead_to_it() -> None:
    """The emulator writes as many bytes into its memory as the state says that it has."""
    done = subprocess.run(
        [sys.executable, "-c", ATARI], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("refused:") == 2
    assert "another state of the emulator at step 2" in done.stdout


def test_a_file_that_names_a_restorer_imports_nothing() -> None:
    script = """
import io, sys, gymnasium as gym, backplay as bp
env = gym.make("CartPole-v1")
demo = bp.record(env, [0, 1], seed=1)
object.__setattr__(demo.restorer, "name", "mujoco")
demo = bp.load(io.BytesIO(demo.to_bytes()))
before = set(sys.modules)
try:
    demo.restore(env, 1)
except bp.BackplayError as error:
    print("refused:", error, {name for name in set(sys.modules) - before})
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("refused: CartPoleEnv has no mujoco states")
    assert done.stdout.strip().endswith("set()")


def lake(step: int = 2, **values: Any) -> tuple[Any, bp.Demonstration]:
    """An env without a `set_state`, and a demonstration with other attributes at a step."""
    env = gym.make("FrozenLake-v1", is_slippery=False)
    demo = bp.record(env, [1, 1, 2], seed=1)
    demo.states[step][-1][1].update(values)
    return env, demo


@pytest.mark.parametrize("values", [{"s": 10**9}, {"s": None}, {"s": "x"}, {"P": {}}])
def test_an_env_that_fails_in_a_state_says_so_in_words(values: dict[str, Any]) -> None:
    """Its own code may do anything with an attribute; training must not end in a traceback."""
    env, demo = lake(**values)
    wrapped = bp.BackplayEnv(env, [demo], bp.Uniform())
    wrapped.reset(seed=0, options={"start": (0, 2)})
    with pytest.raises(BackplayError, match="fails after the state at step 2 was restored"):
        wrapped.step(1)
    with pytest.raises(BackplayError, match=r"at step 3, error: (Key|Type)Error"):
        bp.check(env, demo)


def test_a_reset_that_fails_after_a_state_says_so() -> None:
    env, demo = lake(initial_state_distrib=np.zeros(0))
    wrapped = bp.BackplayEnv(env, [demo], bp.Uniform())
    wrapped.reset(seed=0, options={"start": (0, 2)})
    with pytest.raises(BackplayError, match="fails after the state at step 2"):
        wrapped.reset(options={"start": (0, 0)})


def test_an_action_that_is_none_is_the_callers_fault() -> None:
    env = gym.make("CartPole-v1")
    wrapped = bp.BackplayEnv(env, [bp.record(env, [0, 1, 0], seed=1)], bp.Uniform())
    wrapped.reset(seed=0, options={"start": (0, 1)})
    with pytest.raises(AssertionError, match="invalid"):
        wrapped.step(7)


def test_actions_that_are_none_are_a_difference() -> None:
    env = gym.make("CartPole-v1")
    demo = bp.record(env, [0, 1, 0], seed=1)
    demo.actions[1] = "x"
    report = bp.check(env, demo, must_be_exact=False)
    assert (report.divergence.step, report.divergence.field) == (2, "error")


@pytest.mark.parametrize("seen", [np.zeros(7, np.float32), "x", None, np.array(["a"] * 4), [1.0]])
def test_observations_of_another_form_are_refused(seen: Any) -> None:
    env = gym.make("CartPole-v1")
    demo = bp.record(env, [0, 1, 0], seed=1)
    demo.observations[1] = seen
    with pytest.raises(BackplayError, match="seen at step 1 is no observation"):
        demo.fit(env)


def test_observations_that_do_not_keep_to_the_space_are_the_envs_own_matter() -> None:
    class Loose(Maze):
        def _look(self, observation: Any) -> Any:
            return np.asarray(observation)[None]

        def reset(self, **kwargs: Any) -> Any:
            observation, info = super().reset(**kwargs)
            return self._look(observation), info

        def step(self, action: Any) -> Any:
            observation, *rest = super().step(action)
            return (self._look(observation), *rest)

    env = Loose(size=8, walls=10)
    demo = bp.record(env, [0, 1], seed=1)
    assert demo.fit(env) == demo


def test_constants_are_held_without_a_seed_too() -> None:
    env = gym.make("CartPole-v1")
    demo = replace(bp.record(env, [0, 1, 0], seed=1), seed=None)
    assert demo.fit(env) is demo
    for state in demo.states:
        state[-1][1]["gravity"] = 11.0
    with pytest.raises(BackplayError, match=r"other settings: expected gravity=9.8"):
        demo.fit(env)


class Named(gym.Env[Any, Any]):
    """Sets an attribute by a name that no reader of its code can know."""

    observation_space = gym.spaces.Box(0, 9, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self) -> None:
        self.place, self.fixed = 0, 3

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        setattr(self, "pla" + "ce", 0)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        setattr(self, "pla" + "ce", self.place + 1)
        return np.full(1, self.place, np.float32), 0.0, False, False, {}


def test_code_that_sets_attributes_by_any_name_has_no_constants() -> None:
    assert constants([Named()]) == [frozenset()]
    env = gym.make("CartPole-v1").unwrapped
    assert {"gravity", "masspole", "kinematics_integrator"} <= constants([env])[0]
    assert not {"state", "steps_beyond_terminated"} & constants([env])[0]
    demo = bp.record(Named(), [0, 1], seed=1)
    assert demo.fit(Named()) == demo


def test_walks_and_advice_from_such_a_state_say_so_too() -> None:
    env, demo = lake(s=10**9)
    walks = Walks([demo])
    walks.keep((Walk(1, Start(0, 2), 4, 0),))
    with pytest.raises(BackplayError, match="fails after the state at step 2"):
        walks.restore(env, Start(1, 3), None)
    with pytest.raises(BackplayError, match="fails after the state at step 2"):
        bp.advise(lambda: env, lake(s=10**9)[1], seconds=20)


def test_numbers_that_the_space_cannot_hold_are_no_observations() -> None:
    env, demo = lake()
    demo.observations[1] = np.float64(1.5)  # where a whole number was seen
    with pytest.raises(BackplayError, match="seen at step 1 is no observation"):
        demo.fit(env)


def test_walks_in_a_checkpoint_are_numbers() -> None:
    env = ResumableBackplayEnv(
        gym.make("CartPole-v1"), [bp.record(gym.make("CartPole-v1"), [0], seed=1)]
    )
    env.reset(seed=0)
    state = env.get_state()
    state["walked"] = [np.zeros(2)]
    with pytest.raises(BackplayError, match="another BackplayEnv"):
        env.set_state(state)
