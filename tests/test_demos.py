import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import backplay as bp
from backplay.data.trees import first_difference
from backplay.demos import Demonstration
from backplay.errors import DemonstrationError
from backplay.restore import RESTORERS, DeepCopy, Replay, Restorer
from envs_for_tests import Corridor, LawlessCorridor, Levels, Spaces, StatefulCorridor

BOX = spaces.Box(-1, 1, (2, 3), np.float32)
SPACES = {
    "box": BOX,
    "box0": spaces.Box(-1, 1, (), np.float64),
    "image": spaces.Box(0, 255, (4, 4, 3), np.uint8),
    "discrete": spaces.Discrete(5, start=-2),
    "multidiscrete": spaces.MultiDiscrete([3, 4]),
    "multibinary": spaces.MultiBinary((2, 2)),
    "text": spaces.Text(6),
    "dict": spaces.Dict(a=BOX, b=spaces.Discrete(2)),
    "tuple": spaces.Tuple((BOX, spaces.MultiBinary(3), spaces.Text(4))),
    "nested": spaces.Dict(
        deep=spaces.Tuple((spaces.Dict(x=spaces.Discrete(3), y=BOX), spaces.MultiDiscrete([2, 2]))),
        text=spaces.Text(3),
    ),
}


def random_demo(env: gym.Env[Any, Any], steps: int = 12, **kwargs: Any) -> Demonstration:
    env.action_space.seed(3)
    actions = [env.action_space.sample() for _ in range(steps)]
    return bp.record(env, actions, seed=3, **kwargs)


def walk(env: gym.Env[Any, Any] | None = None, **kwargs: Any) -> Demonstration:
    return bp.record(env or Corridor(), [1, 0, 1, 1, 1, 1], seed=5, **kwargs)


@pytest.mark.parametrize(
    ("observation", "action"),
    [
        *((name, "discrete") for name in SPACES),
        *(("box", name) for name in SPACES),
        ("nested",) * 2,
    ],
)
def test_every_space_is_saved_and_loaded_equal(
    tmp_path: Path, observation: str, action: str
) -> None:
    env = Spaces(SPACES[observation], SPACES[action])
    demo = random_demo(env)
    demo.save(tmp_path / "demo.npz")
    loaded = bp.load(tmp_path / "demo.npz")
    assert loaded == demo
    for ours, theirs in ((demo.observations, loaded.observations), (demo.actions, loaded.actions)):
        assert first_difference(ours, theirs) is None
        assert [type(x) for x in ours or ()] == [type(x) for x in theirs or ()]
    assert all(env.action_space.contains(a) for a in loaded.actions or ())
    assert all(env.observation_space.contains(o) for o in loaded.observations)
    assert bp.check(env, loaded).exact


@pytest.mark.parametrize(
    "name", ["rewards", "terminations", "seed", "options", "success", "env_id"]
)
def test_demonstrations_that_differ_are_not_equal(name: str) -> None:
    demo = walk()
    other = {
        "rewards": demo.rewards + 1, "terminations": ~demo.terminations * [0, 0, 0, 0, 0, True] > 0,
        "seed": 6, "options": {"a": 1}, "success": True, "env_id": "Other-v0",
    }[name]  # fmt: skip
    assert demo == walk()
    assert demo != replace(demo, **{name: other})
    assert demo != "a demonstration"


def test_without_actions_it_is_saved_and_used_all_the_same(tmp_path: Path) -> None:
    demo = walk(keep_actions=False)
    demo.save(tmp_path / "demo.npz")
    loaded = bp.load(tmp_path / "demo.npz", Corridor())
    assert loaded == demo
    assert loaded.actions is None
    env = bp.BackplayEnv(Corridor(), [loaded], bp.Uniform())
    observation, _ = env.reset(seed=1, options={"start": (0, 4)})
    assert observation.tolist() == demo.observations[4].tolist()
    with pytest.raises(DemonstrationError, match="has no actions"):
        loaded.rollout()


@pytest.mark.parametrize("restorer", [DeepCopy(), Replay()], ids=lambda r: r.name)
def test_states_that_are_no_data_are_rebuilt_and_verified(
    tmp_path: Path, restorer: Restorer
) -> None:
    demo = walk(restorer=restorer)
    demo.save(tmp_path / "demo.npz")
    alone = bp.load(tmp_path / "demo.npz")
    assert alone == demo
    assert alone.states is None
    with pytest.raises(DemonstrationError, match="loaded without its states"):
        alone.snapshot(2)
    env = Corridor()
    loaded = bp.load(tmp_path / "demo.npz", env)
    assert len(loaded.states or ()) == len(demo) + 1
    assert bp.check(env, loaded).exact
    for t, observation in enumerate(demo.observations):
        loaded.restore(env, t)
        assert env.see().tolist() == observation.tolist()


class SlowCorridor(Corridor):
    """A corridor with another rule, from step 4 on, in the named field."""

    def __init__(self, field: str = "observation") -> None:
        super().__init__()
        self.field = field

    def step(self, action: Any) -> Any:
        answer = list(super().step(action))
        changes = {
            "observation": answer[0] + 1,
            "reward": 9.0,
            "terminated": True,
            "truncated": True,
        }
        at = list(changes).index(self.field)
        if self.steps >= 4:
            answer[at] = changes[self.field]
        return tuple(answer)


@pytest.mark.parametrize("field", ["observation", "reward", "terminated", "truncated"])
@pytest.mark.parametrize("restorer", [DeepCopy(), Replay()], ids=lambda r: r.name)
def test_another_env_is_refused_with_step_and_field(
    tmp_path: Path, restorer: Restorer, field: str
) -> None:
    walk(restorer=restorer).save(tmp_path / "demo.npz")
    with pytest.raises(DemonstrationError, match=f"step 4, {field}.*python .*numpy"):
        bp.load(tmp_path / "demo.npz", SlowCorridor(field))


def test_an_env_without_law_is_refused(tmp_path: Path) -> None:
    demo = walk(LawlessCorridor.__base__(1000), restorer=Replay())
    demo.save(tmp_path / "demo.npz")
    with pytest.raises(DemonstrationError, match="step 4, observation"):
        bp.load(tmp_path / "demo.npz", LawlessCorridor())


def test_an_env_that_breaks_while_it_is_rebuilt(tmp_path: Path) -> None:
    walk(restorer=Replay()).save(tmp_path / "demo.npz")
    with pytest.raises(DemonstrationError, match="KeyError at step 0: 'level'"):
        bp.load(tmp_path / "demo.npz", Levels())


def test_options_are_kept(tmp_path: Path) -> None:
    demo = bp.record(Levels(), [1] * 4, seed=2, options={"level": 4}, restorer=DeepCopy())
    demo.save(tmp_path / "demo.npz")
    loaded = bp.load(tmp_path / "demo.npz", Levels())
    assert loaded.options == {"level": 4}
    assert loaded.terminated


def test_an_env_with_other_spaces_or_another_id_is_refused(tmp_path: Path) -> None:
    demo = bp.record(gym.make("CartPole-v1"), [0, 1], seed=1)
    demo.save(tmp_path / "demo.npz")
    with pytest.raises(DemonstrationError, match="another environment"):
        bp.load(tmp_path / "demo.npz", gym.make("MountainCar-v0"))
    with pytest.raises(DemonstrationError, match="another observation space"):
        bp.load(tmp_path / "demo.npz", Corridor())
    box_actions = Spaces(Corridor().observation_space, BOX)
    with pytest.raises(DemonstrationError, match="another action space"):
        walk().fit(box_actions)


def test_it_knows_what_it_was_recorded_on() -> None:
    demo = bp.record(gym.make("FrozenLake-v1", is_slippery=False, map_name="4x4"), [1, 1], seed=1)
    assert demo.env_id == "FrozenLake-v1"
    assert demo.env_kwargs["is_slippery"] is False
    assert demo.spaces == {"observation": "Discrete(16)", "action": "Discrete(4)"}
    assert {"python", "numpy", "gymnasium", "backplay"} <= demo.versions.keys()


@pytest.mark.parametrize("missing", ["seed", "actions"])
def test_what_could_not_be_rebuilt_is_not_saved(tmp_path: Path, missing: str) -> None:
    demo = replace(walk(restorer=DeepCopy()), **{missing: None})
    with pytest.raises(DemonstrationError, match=f"no {missing}"):
        demo.save(tmp_path / "demo.npz")
    assert os.listdir(tmp_path) == []


class Shelf:
    """A restorer of someone's own."""

    name, storable = "shelf", True

    def save(self, env: Any) -> Any:
        return env.unwrapped.get_state()

    def load(self, env: Any, state: Any, rng: Any = None) -> int:
        env.unwrapped.set_state(state)
        return 0


def test_a_restorer_of_ones_own(tmp_path: Path) -> None:
    env = StatefulCorridor()
    demo = walk(env, restorer=Shelf())
    demo.save(tmp_path / "demo.npz")
    assert bp.load(tmp_path / "demo.npz", env, restorer=Shelf()) == demo
    with pytest.raises(DemonstrationError, match="unknown restorer 'shelf'"):
        bp.load(tmp_path / "demo.npz")
    with pytest.raises(DemonstrationError, match="'shelf', not 'replay'"):
        bp.load(tmp_path / "demo.npz", restorer=Replay())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rewards", np.zeros(6, np.float32)), ("rewards", np.zeros((6, 1))), ("rewards", [0.0] * 6),
        ("rewards", np.zeros(5)), ("terminations", np.ones(6, bool)), ("truncations", np.ones(6)),
        ("observations", None), ("observations", [1] * 6), ("observations", (1,) * 7),
        ("actions", [1] * 7), ("actions", "111111"), ("states", []), ("states", {}),
        ("seed", True), ("seed", 1.0), ("options", []), ("success", 1), ("env_id", b"x"),
        ("env_kwargs", None), ("spaces", {"observation": 1}), ("spaces", {"reward": "x"}),
        ("versions", {1: "x"}), ("versions", []),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_together_are_refused(name: str, value: Any) -> None:
    with pytest.raises(DemonstrationError, match="This is no demonstration") as caught:
        replace(walk(), **{name: value})
    wanted = "end before the last" if name == "terminations" else name
    assert name == "rewards" or name == "truncations" or wanted in str(caught.value)


GARBAGE = [
    None, 7, "state", [], {}, [1, 2], [[1, 2, 3]], [["Corridor", {}]], [["StatefulCorridor", 5]],
    [["StatefulCorridor", []]], [[[], []]], {"place": {}}, [None, None], [{"place": 1}, 3],
]  # fmt: skip


@pytest.mark.parametrize("restorer", [make() for make in RESTORERS.values()], ids=lambda r: r.name)
@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
def test_a_state_that_is_garbage_is_an_error_of_ours(garbage: Any, restorer: Restorer) -> None:
    demo = replace(walk(), restorer=restorer, states=[garbage] * 7)
    env = StatefulCorridor()
    env.reset(seed=0)
    with pytest.raises(bp.BackplayError):
        demo.restore(env, 3)


def test_what_follows_and_what_is_left() -> None:
    demo = replace(walk(), rewards=np.array([1.0, 2, 3, 4, 5, 6]))
    assert demo.returns_to_go.tolist() == [21, 20, 18, 15, 11, 6, 0]
    assert len(demo) == 6
    assert not demo.terminated
    assert "6 steps, return 21" in repr(demo)
    with pytest.raises(TypeError):
        hash(demo)
