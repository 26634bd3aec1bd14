"""States from strangers: refused in words before a kernel reads them, never a crash."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
import demo_mutations
from backplay.data.arrays import checked_array, from_buffer
from backplay.envs.maze.env import Maze
from backplay.envs.maze.generate import generate_set
from backplay.envs.maze.vector import MazeVector
from backplay.envs.pommerman.env import PommermanFFA
from backplay.errors import BackplayError
from backplay.restore import AttributeState

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


def test_checked_array_names_what_is_wrong() -> None:
    good = np.arange(4, dtype=np.int32)
    assert checked_array("x", good, np.int32, (None,), low=0, high=3) is good
    for value, dtype, low, high, words in [
        (good.astype(np.int64), np.int32, None, None, "int32"),
        (good, np.int32, 1, None, "numbers from 1"),
        (good, np.int32, None, 2, "to 2"),
        (np.array([0.0, np.nan, 1, 2]), np.float64, 0, 3, "finite"),
        ([0, 1, 2, 3], np.int32, None, None, "int32"),
    ]:
        with pytest.raises(BackplayError, match=words):
            checked_array("x", value, dtype, (4,), low=low, high=high)


@pytest.mark.parametrize(
    ("dtype", "shape"), [("<U0", [10**10]), ("<f8", [2]), ("|S100000", [0]), ("|V8", [1])]
)
def test_bytes_are_no_larger_an_array_than_they_are(dtype: str, shape: list[int]) -> None:
    with pytest.raises(ValueError, match=r"size|empty|plain"):
        from_buffer(bytearray(8), np.dtype(dtype), shape, 0, 8 if dtype in ("<f8", "|V8") else 0)


@pytest.mark.parametrize(
    ("name", "value"), [("gravity", 1e300), ("_elapsed_steps", -(10**9)), ("_elapsed_steps", None)]
)
def test_a_state_does_not_change_the_task_in_silence(name: str, value: Any) -> None:
    env = gym.make("CartPole-v1")
    demo = bp.record(env, [0, 1, 0], seed=1)
    assert demo.states is not None
    layer = demo.states[1][0 if name == "_elapsed_steps" else -1]
    assert name in layer[1]
    layer[1][name] = value
    with pytest.raises(BackplayError, match=rf"{name}=.* at step 1"):
        demo.fit(env)
