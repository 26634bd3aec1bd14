"""What is attacked: every reader with something sound to mutate. True means it was accepted."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ale_py
import gymnasium as gym
import numpy as np
from gymnasium import spaces

import backplay as bp
from backplay import runs
from backplay.curricula import from_json as curriculum_of
from backplay.curricula import to_json as to_json_text
from backplay.data import archive
from backplay.demos import demonstration
from backplay.envs.maze import sets
from backplay.envs.maze.env import Maze
from backplay.envs.maze.generate import generate, generate_set
from backplay.envs.maze.vector import MazeVector
from backplay.envs.pommerman import demonstrations as games
from backplay.envs.pommerman.env import PommermanFFA
from backplay.envs.pommerman.matches import play_match
from backplay.envs.pommerman.players import player
from backplay.envs.pommerman.recordings import game_from
from backplay.envs.pommerman.vector import PommermanVector
from backplay.errors import BackplayError, DemonstrationError
from backplay.learners import PPOConfig
from backplay.restore import DeepCopy, Replay
from backplay.runs import documents
from backplay.runs.checkpoints import Checkpoint, from_bytes, to_bytes
from backplay.runs.execute import asked
from backplay.runs.lines import Mark
from backplay.train import TrainConfig, Training
from backplay.train.env_job import EnvJob
from backplay.train.job import to_json
from demo_mutations import MUTATIONS
from envs_for_tests import Corridor, ManyStreams, Spaces, StatefulCorridor
from tree_mutations import mutated

gym.register_envs(ale_py)

Rng = np.random.Generator
Attempt = Callable[[Rng], bool]
KERNELS = ("maze state", "maze vector state", "pommerman state", "pommerman vector state")
BYTES = [mutate for mutate, another in MUTATIONS.items() if not another]
RICH = spaces.Dict(
    image=spaces.Box(0, 255, (3, 3), np.uint8),
    rest=spaces.Tuple((spaces.Text(4), spaces.MultiBinary(3), spaces.Discrete(4))),
)
ENVS: dict[str, Callable[[], gym.Env[Any, Any]]] = {
    "cartpole": lambda: gym.make("CartPole-v1"),
    "lake": lambda: gym.make("FrozenLake-v1"),
    "corridor": lambda: Corridor(slip=0.3),
    "stateful": lambda: StatefulCorridor(slip=0.3),
    "streams": ManyStreams,
    "rich": lambda: Spaces(RICH, RICH),
    "maze": lambda: Maze(size=8, walls=10),
    "pommerman": lambda: PommermanFFA(opponents="simple"),
    "atari": lambda: gym.make("ALE/Breakout-v5"),
    "cheetah": lambda: gym.make("HalfCheetah-v5"),
}


def make_sources() -> list[tuple[str, bp.Demonstration, bytes]]:
    """Env name, demonstration and file of a few small demonstrations of many kinds."""
    sources = []
    for name, make in ENVS.items():
        env = make()
        env.action_space.seed(1)
        actions = (
            [0, 0, 0] if name == "pommerman" else [env.action_space.sample() for _ in range(6)]
        )
        kinds: list[dict[str, Any]] = [{}]
        if name == "corridor":
            kinds += [{"restorer": DeepCopy()}, {"restorer": Replay()}, {"keep_actions": False}]
        for kwargs in kinds:
            demo = bp.record(env, actions, seed=2, **kwargs)
            sources.append((name, demo, demo.to_bytes()))
    return sources


def made(folder: Path) -> dict[str, Attempt]:
    """An attempt for each reader, by its name."""
    return {
        **_demonstrations(), **_libraries(), **_states(), **_checkpoints(),
        "curriculum": _curriculum, "run directory": _run_directory(folder),
    }  # fmt: skip


def _demonstrations() -> dict[str, Attempt]:
    sources = make_sources()

    def use(name: str, demo: bp.Demonstration) -> bool:
        wrapped = bp.BackplayEnv(ENVS[name](), [demo], initial="demonstration")
        envs = gym.vector.SyncVectorEnv([lambda: wrapped])
        for step in {0, len(demo) // 2, len(demo) - 1}:
            envs.reset(seed=0, options={"start": (0, step)})
            for _ in range(3):
                envs.step(envs.action_space.sample())
        bp.check(wrapped.env, demo, must_be_exact=False, max_steps=20)
        envs.close()
        return True

    def file(rng: Rng) -> bool:
        name, original, data = sources[rng.integers(len(sources))]
        mutate = [*MUTATIONS][rng.integers(len(MUTATIONS))]
        demo = bp.load(io.BytesIO(mutate(data, rng)))
        if not MUTATIONS[mutate] and demo != original:
            raise AssertionError("loaded, but not equal")
        return use(name, demo)

    def content(rng: Rng) -> bool:
        name, demo, _ = sources[rng.integers(len(sources))]
        data = _written(demonstration.KIND, mutated(demonstration._as_tree(demo), rng))
        return use(name, bp.load(io.BytesIO(data)))

    return {"demonstration file": file, "demonstration content": content}


def _written(kind: str, tree: Any) -> bytes:
    try:
        return archive.to_bytes(kind, tree)
    except (BackplayError, UnicodeEncodeError) as error:  # no file can hold it
        raise DemonstrationError("Nothing was written", got=str(error)[:80]) from error


def _libraries() -> dict[str, Attempt]:
    mazes = generate(mazes=2, held_out=1, size=8, walls=10, min_length=2)
    maze_tree: dict[str, Any] = {name: getattr(mazes, name) for name in sets._FIELDS}
    maze_tree |= {part: sets._pack(getattr(mazes, part)) for part in ("training", "held_out")}
    game_tree = _played()

    def reader(kind: str, tree: Any, read: Callable[[Any], Any]) -> Attempt:
        sound = archive.to_bytes(kind, tree)

        def attempt(rng: Rng) -> bool:
            if rng.random() < 0.3:
                data = BYTES[rng.integers(len(BYTES))](sound, rng)
            else:
                data = _written(kind, mutated(tree, rng))
            return read(io.BytesIO(data)) is not None

        return attempt

    return {
        "mazes": reader(sets._KIND, maze_tree, sets.load_mazes),
        "games": reader(games._KIND, game_tree, games.load_games),
    }


def _played() -> dict[str, Any]:
    """The content of a file of games: one, by simple agents."""
    for number in range(100):
        match = play_match([player("simple")] * 4, 0, number, keep=True)
        if match.winner is not None and match.kept is not None:
            game = game_from(number, player("simple").kind, match.first, *match.kept)
            return {
                "training": [games._pack(game)], "held_out": [], "agent": "simple",
                "perspective": "winner", "seed": 0, "played": number + 1,
            }  # fmt: skip
    raise AssertionError("nobody won")


def _states() -> dict[str, Attempt]:
    mazes = generate_set(3, 0, size=8, walls=10, min_length=2)
    envs: dict[str, Any] = {
        "maze state": Maze(mazes), "maze vector state": MazeVector(3, mazes),
        "pommerman state": PommermanFFA(opponents="simple"),
        "pommerman vector state": PommermanVector(2, opponents="simple"),
    }  # fmt: skip

    def attempt_on(env: Any) -> Attempt:
        def attempt(rng: Rng) -> bool:
            env.reset(seed=int(rng.integers(1000)))
            actions = [env.action_space.sample() for _ in range(int(rng.integers(1, 12)))]
            _step(env, actions)
            env.set_state(mutated(env.get_state(), rng))
            _step(env, [env.action_space.sample() for _ in range(4)])
            return True

        return attempt

    return {name: attempt_on(env) for name, env in envs.items()}


def _step(env: Any, actions: list[Any]) -> None:
    """Steps until the actions are used up or the episode is over, which a vector's never is."""
    for action in actions:
        ended = env.step(action)[2:4]
        if np.ndim(ended[0]) == 0 and any(ended):
            return


def _checkpoints() -> dict[str, Attempt]:
    demo = bp.record(gym.make("CartPole-v1"), [0, 1] * 4, seed=1)
    config = TrainConfig(frames=128, num_envs=2, ppo=PPOConfig(num_steps=32))
    training = Training(lambda: gym.make("CartPole-v1"), [demo], bp.Frontier(), config)
    progress = next(iter(training.run()))
    state = training.state()
    saved = to_bytes(Checkpoint(state, "0" * 64, Mark(progress.frames, "0" * 64)))

    def file(rng: Rng) -> bool:
        try:
            from_bytes(bytearray(BYTES[rng.integers(5)](saved, rng)))
        except ValueError:  # what it says of a file that is no checkpoint
            return False
        return True

    def content(rng: Rng) -> bool:
        try:
            data = to_bytes(Checkpoint(mutated(state, rng), "0" * 64, Mark(0, "0" * 64)))
            read = from_bytes(bytearray(data)).state
        except (ValueError, UnicodeEncodeError):
            return False
        training.load_state(read)
        if training.frames < config.frames:
            training._begin()
        return True

    return {"checkpoint file": file, "checkpoint content": content}


def _curriculum(rng: Rng) -> bool:
    kinds = (bp.Frontier(), bp.Uniform(), bp.TrueStarts(bp.Backplay((bp.Window(0, 1, 4),)), 0.3))
    tree = json.loads(to_json_text(kinds[rng.integers(3)]))
    text = json.dumps(mutated(tree, rng), default=str)
    starts = curriculum_of(text).sample([5, 3], 4, np.random.default_rng(0))
    return len(starts[0]) == 4


def _run_directory(folder: Path) -> Attempt:
    demo = bp.record(gym.make("CartPole-v1"), [0, 1], seed=1)
    demo.save(folder / "demo.npz")
    path = folder / "run"
    job = EnvJob.of("CartPole-v1", bp.Uniform(), TrainConfig(frames=256))
    config = runs.create(path, {"job": to_json(job), "threads": 1}, [folder / "demo.npz"]).config

    def attempt(rng: Rng) -> bool:
        try:
            documents.write(path / "config.json", documents.exact(mutated(config, rng)))
        except (BackplayError, AttributeError, TypeError):  # no document can hold it
            return False
        run = runs.open_run(path)
        asked(run)[0].asks_for(run.demonstrations)
        return True

    return attempt
