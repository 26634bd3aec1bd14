"""Tasks that several workers do together, each in a process of its own, and what they come to.

`together(task, size)` starts the processes and returns what each said, or the error it ended with.
A task is a function of this module: of the workers, to a tree of arrays and plain data.
"""

import multiprocessing
import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor, nn

import backplay as bp
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.generate import generate
from backplay.envs.maze.vector import MazeVector
from backplay.errors import BackplayError
from backplay.learners import PPO, PPOConfig, Teacher
from backplay.learners.division import divide
from backplay.learners.sparse import fact_network
from backplay.learners.workers import Alone, EnvRange, Workers, any_of, distributed, from_first
from backplay.train import TrainConfig, Training
from backplay.train.evaluate import Evaluation

Task = Callable[[Workers], Any]
ENVS = 6


class Double(nn.Module):
    """A network in float64, so that only a mistake makes a difference that can be seen."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        draw = {"generator": generator, "dtype": torch.float64}
        self.inner = nn.Parameter(torch.randn(4, 16, **draw))
        self.outer = nn.Parameter(0.3 * torch.randn(16, 3, **draw))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        both = (observations.double() @ self.inner).tanh() @ self.outer
        return both[:, :2], both[:, 2]


class Facts(nn.Module):
    """A sparse first layer in float64; facts are the bins of a pole's numbers, 12 for each."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        space = spaces.Box(-1, 47, (5,), np.int32)
        self.inner = fact_network(space, spaces.Discrete(2), seed=seed, width=16, hidden=(8,))
        self.double()

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        bins = (observations * 8 + 6).clamp(0, 11).int() + 12 * torch.arange(4, dtype=torch.int32)
        both: tuple[Tensor, Tensor] = self.inner(bins)
        return both


def cartpole(
    workers: Workers, taught: bool = False, network: type[nn.Module] = Double, **options: Any
) -> dict[str, Any]:
    """Three updates of PPO in six poles; their steps, the weights and the metrics."""
    own = EnvRange.of(ENVS, workers.rank, workers.size)
    poles = SyncVectorEnv(
        [lambda: gym.make("CartPole-v1", max_episode_steps=20)] * own.count,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    envs = divide(poles, ENVS, workers)
    config = PPOConfig(
        num_steps=24,
        learning_rate=3e-3,
        passes=4,
        entropy_coefficient=0.01,
        value_lambda=None,
        **options,
    )
    # Different weights at the others: the first one's count.
    learner = PPO(
        network(workers.rank), poles.single_action_space, config, seed=3, workers=workers,
        teacher=Teacher(Double(100)) if taught else None,
    )  # fmt: skip
    observations, _ = envs.reset(seed=[11 * i for i in range(ENVS)])
    actions, rewards, seen, metrics = [], [], [], []
    for update in range(3):
        rollout = learner.collect(envs, observations)
        observations = rollout.last_observations
        actions.append(rollout.actions.numpy())
        rewards.append(rollout.rewards)
        seen.append(observations)
        metrics.append({**learner.update(rollout, update / 3), "frames": float(rollout.frames)})
    return {
        "actions": np.concatenate(actions), "rewards": np.concatenate(rewards),
        "seen": np.stack(seen), "metrics": metrics, "weights": weights(learner),
        "generator": learner.state()["generator"].numpy(),
    }  # fmt: skip


def minibatch(workers: Workers) -> Any:
    return cartpole(workers, minibatch_size=20)


def batch(workers: Workers) -> Any:
    return cartpole(
        workers, minibatch_size=20, normalise_advantages="batch", minibatches_per_pass=2
    )


def tiny(workers: Workers) -> Any:
    """Minibatches of three samples, so that a worker often has none."""
    return cartpole(
        workers, minibatch_size=3, normalise_advantages="none", bootstrap_truncated=False
    )


def facts(workers: Workers) -> Any:
    return cartpole(workers, network=Facts, minibatch_size=20)


def taught(workers: Workers) -> Any:
    return cartpole(workers, taught=True, minibatch_size=4)


def weights(learner: PPO) -> Any:
    return np.concatenate([part.numpy().ravel() for part in learner.network.state_dict().values()])


def story(training: Training, updates: int | None = None) -> dict[str, Any]:
    """What a run says of every update, and the weights after them."""
    told = []
    for progress in training.run():
        success = None if progress.evaluation is None else progress.evaluation.success
        episodes = [[*map(int, e.start or ()), *e[1:]] for e in progress.episodes]
        told.append([progress.frames, progress.starts, progress.train_success, success, episodes])
        if updates is not None and len(told) == updates:
            break
    return {"told": told, "weights": weights(training.learner), "state": training.state()}


def car_training(workers: Workers) -> Training:
    def make() -> Any:
        return gym.make("MountainCar-v0", max_episode_steps=40)

    demo = bp.record(gym.make("MountainCar-v0"), [2] * 12, seed=7)
    config = TrainConfig(
        frames=1_600, num_envs=5, evaluate_every=700, evaluation_episodes=3, final_episodes=3,
        ppo=PPOConfig(num_steps=32, minibatch_size=60, learning_rate=3e-4, passes=4),
    )  # fmt: skip
    curriculum = bp.ReverseCurriculum.begin((12,), seed=1, round_frames=300, new_states=20)
    return Training(make, [demo], curriculum, config, workers=workers)


def car(workers: Workers) -> Any:
    """A whole run in BackplayEnvs, with a curriculum that learns from every episode, and walks."""
    return story(car_training(workers))


def car_begun(workers: Workers) -> Any:
    return story(car_training(workers), updates=2)


def car_resumed(workers: Workers) -> Any:
    return resumed(workers, car_training, car_begun)


def resumed(workers: Workers, make: Callable[[Workers], Training], begun: Task) -> Any:
    """Goes on from what one worker alone saved."""
    alone = begun(Alone())["state"] if workers.rank == 0 else None
    training = make(workers)
    training.load_state(from_first(workers, alone))
    return story(training)


def maze_training(workers: Workers) -> Training:
    mazes = generate(mazes=4, held_out=0, size=9, walls=20, min_length=5, max_steps=25).training
    curriculum = bp.TrueStarts(bp.Backplay.stretch(1_500), 0.25, by_frames=False)
    config = TrainConfig(
        frames=1_500, num_envs=7, evaluate_every=600,
        ppo=PPOConfig(num_steps=30, minibatch_size=70, learning_rate=3e-4, passes=4),
    )  # fmt: skip

    def network(seen: Any, acts: Any, *, seed: int) -> nn.Module:
        return FastMazeNetwork(mazes.walls, mazes.goals, seed=seed)

    def evaluator(act: Any, *, episodes: int, seed: int) -> Evaluation:
        assert workers.rank == 0
        actions = act(np.zeros((20, 2), np.int32))
        return Evaluation(actions > 2, actions * 0.5, actions)

    envs = MazeVector(7, mazes, curriculum=curriculum)
    return Training(
        None, (), curriculum, config, network=network, envs=envs, evaluator=evaluator,
        success=lambda end: end.terminated, workers=workers,
    )  # fmt: skip


def maze(workers: Workers) -> Any:
    return story(maze_training(workers))


def maze_begun(workers: Workers) -> Any:
    return story(maze_training(workers), updates=3)


def maze_resumed(workers: Workers) -> Any:
    return resumed(workers, maze_training, maze_begun)


def words(workers: Workers) -> Any:
    """What they tell each other, in every form."""
    tree = {"rank": workers.rank, "row": np.arange(workers.rank * 1000, dtype=np.float16)}
    return {
        "gathered": workers.gather(tree),
        "first": from_first(workers, ["of", workers.rank]),
        "wished": [any_of(workers, workers.rank == who) for who in range(-1, workers.size)],
        "sum": workers.add(torch.full((3,), 0.1 * (workers.rank + 1))).numpy(),
    }


def strangers(workers: Workers) -> Any:
    seed = 1 if workers.rank == 0 else 2
    return PPO(Double(0), spaces.Discrete(2), seed=seed, workers=workers).updates


def death(workers: Workers) -> Any:
    """The last worker dies after the first update; the others go on."""
    training = maze_training(workers)
    for _ in training.run():
        if workers.rank == workers.size - 1:
            os._exit(9)
    return None


def silence(workers: Workers) -> Any:
    """The last worker lives on, but takes part in nothing."""
    if workers.rank == workers.size - 1:
        time.sleep(3)
        return None
    return workers.gather(1)


def together(*tasks: Task, size: int, timeout: float = 60.0) -> list[list[Any]]:
    """What `size` workers come to: for each task, what each of them said or its error."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["backplay.train", "backplay.envs.maze.fast_network"])
    port = free_port()
    pairs = [context.Pipe(duplex=False) for _ in range(size)]
    processes = [
        context.Process(
            target=_work, args=(rank, size, port, timeout, tasks, pairs[rank][1]), daemon=True
        )
        for rank in range(size)
    ]
    for process, (_, end) in zip(processes, pairs, strict=True):
        process.start()
        end.close()
    try:
        with ThreadPoolExecutor(size) as pool:  # all at once: none must wait to be heard
            said = list(pool.map(lambda pair: _listen(pair[0], len(tasks)), pairs))
        for process in processes:
            process.join(30)
            assert process.exitcode is not None, "a worker does not end"
    finally:
        for process in processes:
            process.kill()
    return [list(by_worker) for by_worker in zip(*said, strict=True)]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _listen(receiver: Any, count: int) -> list[Any]:
    said: list[Any] = []
    try:
        while len(said) < count:
            assert receiver.poll(30), "a worker does not answer"
            said.append(receiver.recv())
    except EOFError:  # it died
        said += [None] * (count - len(said))
    return said


def _work(
    rank: int, size: int, port: int, timeout: float, tasks: tuple[Task, ...], sender: Any
) -> None:
    torch.set_num_threads(1)
    os.chdir(Path(__file__).parent)
    os.environ |= {
        "RANK": str(rank), "WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }  # fmt: skip
    workers = distributed(timeout)
    for task in tasks:
        try:
            sender.send(task(workers))
        except BackplayError as error:
            sender.send(error)
