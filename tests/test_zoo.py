"""Other people's environments: every state of a recording restores exactly, also in a fresh env."""

from __future__ import annotations

import copy
import functools
import itertools
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import ale_py
import gym_anytrading  # noqa: F401  # registers its environments
import gymnasium as gym
import gymnasium_robotics
import highway_env  # noqa: F401  # registers its environments
import minigrid  # noqa: F401  # registers its environments
import numpy as np
import popgym  # noqa: F401  # registers its environments
import pytest
from gymnasium import wrappers as w
from minigrid.wrappers import FullyObsWrapper

import backplay as bp
import zoo_games  # noqa: F401  # registers its environments
from backplay.restore import History, find_flaw
from backplay.restore.rollout import roll

gym.register_envs(ale_py)
gym.register_envs(gymnasium_robotics)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

Env = gym.Env[Any, Any]
Wrap = Callable[[Env], Env]


# Policies ---------------------------------------------------------------------------------------


def at_random(env: Env) -> Callable[[Any], Any]:
    space = copy.deepcopy(env.action_space)
    space.seed(5)
    return lambda _: space.sample()


def always(action: Any) -> Callable[[Env], Callable[[Any], Any]]:
    return lambda env: lambda _: action


def patrol(env: Env) -> Callable[[Any], Any]:
    """Right, left, down, up: stays at the safe edge of FrozenLake."""
    turns = itertools.cycle((2, 0, 1, 3))
    return lambda _: next(turns)


def balance(env: Env) -> Callable[[Any], Any]:
    """Keeps CartPole's pole up, looking past any wrapper."""
    return lambda _: int(env.unwrapped.state[2] + 0.5 * env.unwrapped.state[3] > 0)


def stand(env: Env) -> Callable[[Any], Any]:
    """Small random torques: Hopper stays up for longer than under large ones."""
    rng = np.random.default_rng(3)
    return lambda _: rng.uniform(-0.1, 0.1, env.action_space.shape).astype(np.float32)


def keep_clear(env: Env) -> Callable[[Any], Any]:
    """Walks among MiniGrid's moving obstacles without running into one."""
    rng, base = np.random.default_rng(1), env.unwrapped

    def choose(_: Any) -> int:
        clear = base.grid.get(*base.front_pos) is None
        return 2 if clear and rng.random() < 0.5 else int(rng.integers(2))

    return choose


def solve(env: Env) -> Callable[[Any], Any]:
    """Solves a MiniGrid task: fetches the key if there is one, opens doors, walks to the goal."""
    plan: deque[int] = deque()

    def choose(_: Any) -> int:
        if not plan:
            plan.extend(_plan(env.unwrapped))
        return plan.popleft()

    return choose


def _plan(base: Any) -> list[int]:
    """The actions to the key if there is one to fetch, else to the goal."""
    cells = {(x, y): base.grid.get(x, y) for x in range(base.width) for y in range(base.height)}
    kinds = {cell.type: place for place, cell in cells.items() if cell is not None}
    fetch = base.carrying is None and "key" in kinds
    target = kinds["key"] if fetch else kinds["goal"]
    first = (*map(int, base.agent_pos), int(base.agent_dir))
    ways: dict[Any, list[int]] = {first: []}
    queue = deque([first])
    while queue:
        x, y, facing = state = queue.popleft()
        dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[facing]
        ahead = (x + dx, y + dy)
        cell = cells.get(ahead)
        if ahead == target:
            return [*ways[state], 3 if fetch else 2]
        door = cell is not None and cell.type == "door"
        steps = [((x, y, (facing - 1) % 4), [0]), ((x, y, (facing + 1) % 4), [1])]
        if cell is None or (door and (cell.is_open or not (cell.is_locked and fetch))):
            steps.append(((*ahead, facing), [5, 2] if door and not cell.is_open else [2]))
        for after, actions in steps:
            if after not in ways:
                ways[after] = ways[state] + actions
                queue.append(after)
    raise AssertionError("no way to the target")


# Wrappers ---------------------------------------------------------------------------------------


def of_vectors(env: Env) -> Env:
    """The usual wrappers around an env whose observations are vectors."""
    env = w.RecordEpisodeStatistics(w.StickyAction(env, 0.3))
    env = w.TimeAwareObservation(w.TransformObservation(env, np.tanh, env.observation_space))
    return w.FrameStackObservation(w.NormalizeReward(w.NormalizeObservation(env)), 3)


def of_anything(env: Env) -> Env:
    """The usual wrappers that take any observation and learn nothing over episodes."""
    env = w.RecordEpisodeStatistics(w.StickyAction(env, 0.3))
    return w.DelayObservation(w.TransformReward(env, lambda reward: reward / 2), delay=2)


def of_grids(env: Env) -> Env:
    """Full observation, and what takes observations with words in them."""
    env = w.StickyAction(FullyObsWrapper(env), 0.3)
    return w.TransformReward(w.RecordEpisodeStatistics(env), lambda reward: reward / 2)


def of_screens(env: Env) -> Env:
    """What is around most Atari games, and sticky actions once more."""
    return w.FrameStackObservation(w.AtariPreprocessing(w.StickyAction(env, 0.25), frame_skip=4), 4)


# The zoo ----------------------------------------------------------------------------------------


class Animal(NamedTuple):
    """An environment and how to look at it."""

    id: str
    restorer: str
    policy: Callable[[Env], Callable[[Any], Any]] = at_random
    wrapped: Wrap = of_vectors
    kwargs: Mapping[str, Any] = MappingProxyType({})
    wrapped_kwargs: dict[str, Any] | None = None
    steps: int = 110
    """At least 100, or a whole episode."""
    max_checked: int = 200_000


LIGHT = {"vehicles_count": 4, "simulation_frequency": 5, "policy_frequency": 1, "duration": 12}
ZOO = {
    "CartPole": Animal("CartPole-v1", "attributes", balance),
    "MountainCar": Animal("MountainCar-v0", "attributes"),
    "Acrobot": Animal("Acrobot-v1", "attributes"),
    "Pendulum": Animal("Pendulum-v1", "attributes"),
    "FrozenLake": Animal(
        "FrozenLake-v1", "attributes", patrol, of_anything,
        {"map_name": "8x8", "is_slippery": False},
    ),
    "slippery FrozenLake": Animal(
        "FrozenLake-v1", "attributes", always(0), of_anything, {"map_name": "8x8"}
    ),
    "Taxi": Animal("Taxi-v4", "attributes", wrapped=of_anything),
    "DoorKey": Animal("MiniGrid-DoorKey-8x8-v0", "deepcopy", solve, of_grids),
    "MultiRoom": Animal("MiniGrid-MultiRoom-N4-S5-v1", "deepcopy", solve, of_grids),
    "obstacles": Animal("MiniGrid-Dynamic-Obstacles-8x8-v0", "deepcopy", keep_clear, of_grids),
    "Montezuma": Animal(
        "ALE/MontezumaRevenge-v5", "atari", wrapped=of_screens, wrapped_kwargs={"frameskip": 1},
        max_checked=1500,
    ),
    "Breakout": Animal(
        "ALE/Breakout-v5", "atari", wrapped=of_screens, wrapped_kwargs={"frameskip": 1},
        max_checked=1500,
    ),
    "HalfCheetah": Animal("HalfCheetah-v5", "mujoco"),
    "Hopper": Animal("Hopper-v5", "mujoco", stand),
    "fallen Hopper": Animal("Hopper-v5", "mujoco", kwargs={"terminate_when_unhealthy": False}),
    "Ant": Animal("Ant-v5", "mujoco"),
    "PointMaze": Animal(
        "PointMaze_UMaze-v3", "mujoco", wrapped=of_anything, kwargs={"continuing_task": False}
    ),
    "LunarLander": Animal("LunarLander-v3", "replay", wrapped=of_anything),
    "windy LunarLander": Animal(
        "LunarLander-v3", "replay", wrapped=of_anything, kwargs={"enable_wind": True}
    ),
    "BipedalWalker": Animal(
        "BipedalWalker-v3", "fresh", wrapped=of_anything, steps=100, max_checked=1000
    ),
    "CarRacing": Animal(
        "CarRacing-v3", "replay", wrapped=of_anything, kwargs={"max_episode_steps": 12},
        wrapped_kwargs={"max_episode_steps": 12}, max_checked=100,
    ),
    # Board and card games with hidden states
    "Battleship": Animal("popgym-BattleshipEasy-v0", "attributes", wrapped=of_anything),
    "Concentration": Animal("popgym-ConcentrationEasy-v0", "attributes", wrapped=of_anything),
    "MineSweeper": Animal("popgym-MineSweeperEasy-v0", "attributes", wrapped=of_anything),
    "HigherLower": Animal("popgym-HigherLowerEasy-v0", "attributes", wrapped=of_anything),
    "CountRecall": Animal("popgym-CountRecallEasy-v0", "attributes", wrapped=of_anything),
    "RepeatPrevious": Animal("popgym-RepeatPreviousEasy-v0", "attributes", wrapped=of_anything),
    "noisy pole": Animal(
        "popgym-NoisyPositionOnlyCartPoleEasy-v0", "attributes", wrapped=of_anything
    ),
    # Markets, a game of several players
    "stocks": Animal("stocks-v0", "deepcopy", wrapped=of_anything, max_checked=2000),
    "forex": Animal("forex-v0", "deepcopy", wrapped=of_anything, max_checked=2000),
    "Pursuit": Animal("zoo/Pursuit-v0", "replay", wrapped=of_anything, steps=100, max_checked=200),
    # Arms, hands, an ant; a door that stands elsewhere in every episode
    "Fetch": Animal("FetchPickAndPlace-v4", "mujoco", wrapped=of_anything, max_checked=400),
    "hand": Animal("HandReach-v3", "mujoco", wrapped=of_anything, max_checked=400),
    "door": Animal("AdroitHandDoor-v1", "mujoco-model", wrapped=of_anything, max_checked=400),
    "AntMaze": Animal("AntMaze_UMaze-v5", "mujoco", wrapped=of_anything, max_checked=400),
    "BabyAI": Animal("BabyAI-OpenDoorLoc-v0", "deepcopy", wrapped=of_grids, max_checked=500),
    "highway": Animal(
        "highway-v0", "deepcopy", always(4), of_anything, {"config": LIGHT}
    ),
}  # fmt: skip
SLOW = {"Montezuma", "Breakout", "highway", "Ant", "CarRacing", "Pursuit"}
SLOW |= {"Fetch", "hand", "door", "AntMaze", "BabyAI"}


def build(animal: Animal, wrapped: bool) -> Env:
    kwargs = animal.kwargs
    if wrapped and animal.wrapped_kwargs is not None:
        kwargs = animal.wrapped_kwargs
    env: Env = gym.make(animal.id, **kwargs)
    return animal.wrapped(env) if wrapped else env


@functools.cache
def recorded(name: str, wrapped: bool) -> bp.Demonstration:
    animal = ZOO[name]
    env = build(animal, wrapped)
    return bp.record(env, animal.policy(env), seed=7, max_steps=animal.steps)


def cases(names: Any = ZOO) -> list[Any]:
    return [
        pytest.param(
            name, wrapped, id=f"{name}{' in wrappers' if wrapped else ''}",
            marks=[pytest.mark.slow] if name in SLOW else [],
        )
        for name in names
        for wrapped in (False, True)
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "wrapped"), cases())
def test_every_state_restores_exactly(name: str, wrapped: bool, tmp_path: Path) -> None:
    animal, demo = ZOO[name], recorded(name, wrapped)
    assert demo.restorer.name == animal.restorer
    assert len(demo) >= 100 or demo.terminations[-1] or demo.truncations[-1]
    assert len(demo) >= 10
    demo.save(tmp_path / "demo.npz")
    fresh = build(animal, wrapped)
    loaded = bp.load(tmp_path / "demo.npz", fresh)
    assert loaded == demo
    report = bp.check(fresh, loaded, max_steps=animal.max_checked)
    assert report.exact
    assert report.restored == len(demo)
    assert report.replayed >= 2 * len(demo) or len(demo) < 4


@pytest.mark.parametrize("name", ["DoorKey", "MultiRoom"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_minigrid_demonstrations_do_something(name: str, wrapped: bool) -> None:
    """Sticky actions may undo a plan, but without them the key is fetched and the goal reached."""
    demo = recorded(name, wrapped)
    assert 5 in demo.actions  # a door was opened
    assert name != "DoorKey" or 3 in demo.actions  # the key was picked up
    if not wrapped:
        assert demo.terminated
        assert demo.rewards[-1] > 0


class WholeEnvCopies:
    """What everyone tries first: a deep copy of the whole env, and its attributes put back."""

    name, storable = "copies", False

    def save(self, env: Env) -> Any:
        inside = env.env if isinstance(env, History) else env
        return copy.deepcopy(inside)

    def load(self, env: Env, state: Any, rng: np.random.Generator | None = None) -> int:
        fresh = copy.deepcopy(state)
        vars(env).clear()
        vars(env).update(vars(fresh))
        return 0


def test_lunar_lander_deep_copies_are_the_trap() -> None:
    """A deep copy of LunarLander succeeds, and is silently a fresh env: it must be refused."""
    env = gym.make("LunarLander-v3")
    naive = WholeEnvCopies()
    rollout = roll(History(env), at_random(env), seed=3, max_steps=60, save=naive.save)
    assert len(rollout.states) == len(rollout) + 1
    assert rollout.states[30].unwrapped.lander is None  # nobody told us
    assert find_flaw(env, naive, rollout) is not None
    assert bp.find_restorer(gym.make("LunarLander-v3")).name == "replay"


def test_whole_env_copies_are_fine_where_there_is_no_trap() -> None:
    """The same restorer holds on MountainCar: the trap is LunarLander's, not the restorer's."""
    env = gym.make("MountainCar-v0")
    naive = WholeEnvCopies()
    rollout = roll(History(env), at_random(env), seed=3, max_steps=60, save=naive.save)
    assert find_flaw(env, naive, rollout) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "kwargs", [{"mode": 4, "difficulty": 1}, {"frameskip": (2, 5)}, {"obs_type": "ram"}]
)
def test_atari_variants(kwargs: dict[str, Any]) -> None:
    env = gym.make("ALE/Breakout-v5", **kwargs)
    demo = bp.record(env, at_random(env), seed=1, max_steps=100)
    assert demo.restorer.name == "atari"
    assert bp.check(gym.make("ALE/Breakout-v5", **kwargs), demo, max_steps=1000).exact


def test_running_statistics_inside_cannot_be_replayed() -> None:
    """What NormalizeObservation has learnt is not in the seed: refused, with what to do."""
    with pytest.raises(bp.BackplayError, match="NormalizeObservation belongs around BackplayEnv"):
        bp.find_restorer(w.NormalizeObservation(gym.make("LunarLander-v3")))
