from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import minari
import numpy as np
import pytest
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer

import backplay as bp
from backplay.data.trees import first_difference
from backplay.errors import DemonstrationError
from backplay.restore import DeepCopy, Replay
from envs_for_tests import Corridor, LawlessCorridor, Levels, Spaces, StatefulCorridor

FORMATS = ["hdf5", "arrow", "parquet"]
BOX = spaces.Box(-1, 1, (2, 3), np.float32)
SPACES = {
    "box": BOX,
    "box0": spaces.Box(-1, 1, (), np.float64),
    "image": spaces.Box(0, 255, (32, 32, 3), np.uint8),
    "discrete": spaces.Discrete(5, start=-2),
    "multidiscrete": spaces.MultiDiscrete([3, 4]),
    "multibinary": spaces.MultiBinary(3),
    "text": spaces.Text(6, min_length=1),
    "dict": spaces.Dict(z=BOX, a=spaces.Discrete(2)),
    "tuple": spaces.Tuple((BOX, spaces.MultiBinary(3), spaces.Text(4))),
    "nested": spaces.Dict(deep=spaces.Tuple((spaces.Dict(x=spaces.Discrete(3), y=BOX), BOX))),
}


@pytest.fixture(autouse=True)
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    (tmp_path / "datasets").mkdir()
    return tmp_path / "datasets"


def random_demo(env: gym.Env[Any, Any], steps: int = 8, **kwargs: Any) -> bp.Demonstration:
    env.action_space.seed(3)
    return bp.record(env, [env.action_space.sample() for _ in range(steps)], seed=3, **kwargs)


def walk(env: gym.Env[Any, Any] | None = None, **kwargs: Any) -> bp.Demonstration:
    return bp.record(env or Corridor(slip=0.4), [1, 0, 1, 1, 1, 1], seed=5, **kwargs)


def assert_states_equal(one: bp.Demonstration, other: bp.Demonstration) -> None:
    assert one == other  # states included, where they are data
    assert len(one.states) == len(other.states)


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("name", SPACES)
def test_there_and_back_is_exact(name: str, data_format: str) -> None:
    env = Spaces(SPACES[name], SPACES[name])
    demo = random_demo(env)
    bp.minari.to_minari([demo], "test/there-v0", env=env, data_format=data_format)
    again = bp.minari.from_minari("test/there-v0", env)
    assert_states_equal(again, demo)
    assert bp.check(env, again).exact


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("restorer", [None, DeepCopy(), Replay()])
def test_every_kind_of_states_comes_back(restorer: Any, data_format: str) -> None:
    env = StatefulCorridor(slip=0.4)
    demos = [walk(env, restorer=restorer), bp.record(env, [1, 1, 0], seed=9, restorer=restorer)]
    dataset = bp.minari.to_minari(demos, "test/states-v0", env=env, data_format=data_format)
    for number, demo in enumerate(demos):
        again = bp.minari.from_minari(dataset, env, episode=number)
        assert_states_equal(again, demo)
        assert bp.check(env, again).exact


@pytest.mark.parametrize("data_format", FORMATS)
def test_it_is_a_usual_dataset_for_everyone_else(data_format: str) -> None:
    env = gym.make("CartPole-v1")
    demo = bp.record(env, lambda o: int(o[2] > 0), seed=11)
    bp.minari.to_minari(
        [demo, demo], "cartpole/mine-v3", data_format=data_format, author="me", description="two"
    )
    dataset = minari.load_dataset("cartpole/mine-v3")
    assert (dataset.total_episodes, dataset.total_steps) == (2, 2 * len(demo))
    assert dataset.env_spec.id == "CartPole-v1"
    assert dataset.storage.metadata["author"] in ("me", ["me"], {"me"})
    episode = dataset[1]
    assert np.array_equal(episode.observations, np.stack(demo.observations))
    assert np.array_equal(episode.actions, np.array(demo.actions))
    assert np.array_equal(episode.rewards, demo.rewards)
    assert episode.terminations[-1]
    (metadata,) = dataset.storage.get_episode_metadata([1])
    assert metadata["seed"] == 11
    again, _ = dataset.recover_environment().reset(seed=metadata["seed"])
    assert np.array_equal(again, episode.observations[0])


def test_images_are_stored_without_loss() -> None:
    env = Spaces(SPACES["image"], spaces.Discrete(2))
    demo = random_demo(env)
    dataset = bp.minari.to_minari([demo], "test/image-v0", env=env)
    assert np.array_equal(dataset[0].observations, np.stack(demo.observations))


def foreign(
    demo: bp.Demonstration, env: gym.Env[Any, Any], data_format: str, **changes: Any
) -> minari.MinariDataset:
    """The demonstration as anybody would have put it into Minari: without states."""
    from backplay.integrations.minari_values import columns

    given: dict[str, Any] = {
        "seed": demo.seed, "options": demo.options,
        "observations": columns(env.observation_space, demo.observations),
        "actions": columns(env.action_space, demo.actions or []),
        "rewards": demo.rewards.tolist(), "terminations": demo.terminations.tolist(),
        "truncations": demo.truncations.tolist(),
    }  # fmt: skip
    return minari.create_dataset_from_buffers(
        "other/theirs-v0", [EpisodeBuffer(**{**given, **changes})], data_format=data_format,
        observation_space=env.observation_space, action_space=env.action_space,
        jpeg_encoding=changes.get("jpeg", True),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
class TestEpisodesFromElsewhere:
    @pytest.mark.parametrize("data_format", FORMATS)
    @pytest.mark.parametrize("name", SPACES)
    def test_they_are_played_again_and_verified(self, name: str, data_format: str) -> None:
        env = Spaces(SPACES[name], SPACES[name]) if name != "image" else Corridor(slip=0.3)
        demo = random_demo(env)
        again = bp.minari.from_minari(foreign(demo, env, data_format), env)
        assert first_difference(again.observations, demo.observations) is None
        assert first_difference(again.rewards, demo.rewards) is None
        assert bp.check(env, again).exact

    @pytest.mark.parametrize("data_format", FORMATS)
    def test_options_are_used(self, data_format: str) -> None:
        env = Levels()
        demo = bp.record(env, [1] * 4, seed=2, options={"level": 4})
        again = bp.minari.from_minari(foreign(demo, env, data_format), env)
        assert again.options == {"level": 4}
        assert type(again.options["level"]) is int

    def test_images_that_lost_detail_do_not_count(self) -> None:
        env = Spaces(spaces.Dict(image=SPACES["image"], x=BOX), spaces.Discrete(2))
        demo = random_demo(env)
        dataset = foreign(demo, env, "hdf5")
        stored = dataset[0].observations["image"]
        assert not np.array_equal(stored[0], demo.observations[0]["image"])
        again = bp.minari.from_minari(dataset, env)
        assert first_difference(again.observations, demo.observations) is None

    def test_one_that_was_cut_off_and_marked_as_truncated(self) -> None:
        demo = walk()
        marked = [False] * 5 + [True]
        dataset = foreign(demo, Corridor(), "hdf5", truncations=marked)
        assert bp.minari.from_minari(dataset, Corridor(slip=0.4)) == demo

    def test_a_restorer_can_be_chosen(self) -> None:
        dataset = foreign(walk(), Corridor(), "hdf5")
        demo = bp.minari.from_minari(dataset, Corridor(slip=0.4), restorer=Replay())
        assert demo.restorer.name == "replay"

    @pytest.mark.parametrize("field", ["observation", "reward", "terminated", "truncated"])
    def test_another_answer_is_named_by_step_and_field(self, field: str) -> None:
        demo = walk()
        observations = np.stack(demo.observations)
        observations[4, 1] += 1
        flags = [False, False, False, True, False, False]
        changes = {
            "observation": {"observations": observations},
            "reward": {"rewards": (demo.rewards + np.eye(6)[3]).tolist()},
            "terminated": {"terminations": flags},
            "truncated": {"truncations": flags},
        }[field]
        dataset = foreign(demo, Corridor(), "hdf5", **changes)
        with pytest.raises(DemonstrationError, match=f"cannot be reproduced.*step 4, {field}"):
            bp.minari.from_minari(dataset, Corridor(slip=0.4))

    def test_without_a_seed_and_without_states(self) -> None:
        dataset = foreign(walk(), Corridor(), "hdf5", seed=None)
        with pytest.raises(DemonstrationError, match=r"neither a seed nor known states.*states="):
            bp.minari.from_minari(dataset, Corridor(slip=0.4))

    @pytest.mark.parametrize("data_format", FORMATS)
    def test_without_a_seed_from_the_states_that_are_there(self, data_format: str) -> None:
        """The corridor's places are what is seen: states enough, wherever they came from."""
        dataset = foreign(walk(), Corridor(), data_format, seed=None)

        def stand(env: Any, seen: Any) -> None:
            env.unwrapped.place, env.unwrapped.steps = map(int, seen)

        demo = bp.minari.from_minari(
            dataset, Corridor(slip=0.4), states=lambda episode: episode.observations, put=stand
        )
        assert demo.actions is None
        assert first_difference(demo.observations, walk().observations) is None
        assert first_difference(demo.rewards, walk().rewards) is None
        report = bp.check(Corridor(slip=0.4), demo)
        assert report.restored == len(demo) + 1
        assert "was not compared" in str(report)
        env = bp.BackplayEnv(Corridor(slip=0.4), [demo], bp.Uniform())
        seen, _ = env.reset(seed=0, options={"start": (0, 4)})
        assert env.unwrapped.place == seen[0] == walk().observations[4][0]
        with pytest.raises(DemonstrationError, match="3 states of an episode of 6 steps"):
            bp.minari.from_minari(
                dataset, Corridor(slip=0.4), states=lambda e: e.observations[:3], put=stand
            )

    def test_poses_in_the_infos_of_a_physics_engine(self) -> None:
        env = gym.make("Hopper-v5")
        seen, _ = env.reset(seed=3)
        data: Any = env.unwrapped.data
        observations, rewards = [seen], []
        poses: dict[str, list[Any]] = {"qpos": [data.qpos.copy()], "qvel": [data.qvel.copy()]}
        for _ in range(6):
            seen, reward, *_ = env.step(np.zeros(3, np.float32))
            observations.append(seen)
            rewards.append(float(reward))
            poses["qpos"].append(data.qpos.copy())
            poses["qvel"].append(data.qvel.copy())
        buffer = EpisodeBuffer(
            observations=np.stack(observations), actions=np.zeros((6, 3), np.float32),
            rewards=rewards, terminations=[False] * 6, truncations=[False] * 5 + [True],
            infos={name: np.stack(values) for name, values in poses.items()},
        )  # fmt: skip
        dataset = minari.create_dataset_from_buffers(
            "other/poses-v0", [buffer, buffer],
            observation_space=env.observation_space, action_space=env.action_space,
        )  # fmt: skip
        demos = bp.minari.all_from_minari(dataset, gym.make("Hopper-v5"), restorer="mujoco")
        assert [len(demo) for demo in demos] == [6, 6]
        fresh = gym.make("Hopper-v5")
        assert bp.check(fresh, demos[1]).exact
        demos[1].restore(fresh, 4)
        held: Any = fresh.unwrapped.data
        np.testing.assert_array_equal(held.qpos, poses["qpos"][4])
        np.testing.assert_array_equal(held.qvel, poses["qvel"][4])

    def test_of_another_env(self) -> None:
        dataset = foreign(walk(), Corridor(), "hdf5")
        with pytest.raises(DemonstrationError, match=r"step [1-6], observation"):
            bp.minari.from_minari(dataset, Corridor(slip=0.9))
        with pytest.raises(DemonstrationError, match="another observation space"):
            bp.minari.from_minari(dataset, gym.make("CartPole-v1"))

    def test_one_that_goes_on_after_its_end(self) -> None:
        demo = bp.record(Corridor(length=20), [1] * 6, seed=1)
        end = np.eye(6)[2]
        dataset = foreign(
            demo, Corridor(), "hdf5", rewards=end.tolist(), terminations=(end > 0).tolist()
        )
        with pytest.raises(DemonstrationError, match="step 3: it ends now"):
            bp.minari.from_minari(dataset, Corridor(length=3))

    def test_of_an_env_without_law_or_one_that_breaks(self) -> None:
        dataset = foreign(walk(), Corridor(), "hdf5")
        with pytest.raises(DemonstrationError, match="cannot be reproduced"):
            bp.minari.from_minari(dataset, LawlessCorridor())
        with pytest.raises(DemonstrationError, match="cannot be reproduced"):
            bp.minari.from_minari(dataset, Levels())


@pytest.mark.parametrize("data_format", FORMATS)
def test_an_exported_episode_that_was_changed_is_refused(data_format: str) -> None:
    env = Corridor(slip=0.4)
    dataset = bp.minari.to_minari([walk(env)], "test/changed-v0", env=env, data_format=data_format)
    episode = dataset[0]
    rows = np.array(episode.infos["backplay"])
    rows[len(rows) // 2] ^= 1
    for changes in ({"infos": {"backplay": rows}}, {"rewards": (episode.rewards + 1).tolist()}):
        given = {
            "observations": episode.observations, "actions": episode.actions,
            "rewards": episode.rewards.tolist(), "terminations": episode.terminations.tolist(),
            "truncations": episode.truncations.tolist(), "infos": episode.infos, "seed": 5,
        }  # fmt: skip
        dataset.update_dataset_from_buffer([EpisodeBuffer(**{**given, **changes})])
        with pytest.raises(DemonstrationError):
            bp.minari.from_minari(dataset, env, episode=len(dataset) - 1)


def test_what_cannot_be_exported_says_why(datasets: Path) -> None:
    env, demo = Corridor(slip=0.4), walk()
    cases: list[tuple[Any, str, dict[str, Any], str]] = [
        ([replace(demo, actions=None)], "a-v0", {"env": env}, "has no actions"),
        ([], "a-v0", {"env": env}, "at least one demonstration"),
        (demo, "a-v0", {"env": env}, "Write to_minari"),
        ([demo], "a-v0", {}, "Pass the env"),
        ([replace(demo, env_id="Nothing-v0")], "a-v0", {}, "Pass the env"),
        ([demo], "a-v0", {"env": gym.make("CartPole-v1")}, "other spaces"),
        ([demo], "not a name", {"env": env}, "could not write"),
        ([demo], "a-v0", {"env": env, "data_format": "stone"}, "could not write"),
        ([demo], "a-v0", {"env": env, "colour": "red"}, "colour"),
    ]
    for demos, name, kwargs, words in cases:
        with pytest.raises(bp.BackplayError, match=words):
            bp.minari.to_minari(demos, name, **kwargs)
    assert [path for path in datasets.rglob("*") if path.is_file()] == []


def test_a_dataset_is_not_overwritten() -> None:
    env = Corridor(slip=0.4)
    bp.minari.to_minari([walk()], "test/once-v0", env=env)
    with pytest.raises(bp.BackplayError, match=r"There is a Minari dataset .* already"):
        bp.minari.to_minari([walk(), walk()], "test/once-v0", env=env)
    assert len(minari.load_dataset("test/once-v0")) == 1


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(bp.BackplayError, match=r"cannot be opened.*download_dataset"):
        bp.minari.from_minari("test/nothing-v0", Corridor())
    env = Corridor(slip=0.4)
    dataset = bp.minari.to_minari([walk()], "test/one-v0", env=env)
    for number in (1, -1):
        with pytest.raises(bp.BackplayError, match="a number below 1"):
            bp.minari.from_minari(dataset, env, episode=number)


def test_an_env_whose_spec_is_no_data() -> None:
    env = gym.wrappers.TransformReward(gym.make("CartPole-v1"), lambda reward: 2 * reward)
    demo = bp.record(env, [0, 1, 0], seed=1)
    dataset = bp.minari.to_minari([demo], "test/functions-v0", env=env)
    assert_states_equal(bp.minari.from_minari(dataset, env), demo)


def test_strange_options_and_seeds_come_back_too() -> None:
    env = Levels()
    options = {"level": 3, "mask": np.zeros(2), "nothing": None, "many": [1, "a"]}
    demo = bp.record(env, [1, 1, 1], seed=2**70, options=options)
    for data_format in FORMATS:
        name = f"test/{data_format}-v0"
        dataset = bp.minari.to_minari([demo], name, env=env, data_format=data_format)
        assert bp.minari.from_minari(dataset, env) == demo
