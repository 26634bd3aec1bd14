"""The training loop drives the batched games: a curriculum goes down, episodes come up."""

import gymnasium as gym
import pytest
from played_games import perspectives

import backplay as bp
from backplay.envs.pommerman.vector import PommermanVector
from backplay.learners import PPOConfig
from backplay.train import TrainConfig, Training


def training(num_envs: int = 4) -> Training:
    demos = perspectives()
    curriculum = bp.Backplay((bp.Window(0, 1, 8), bp.Window(200, 8, 16)))
    envs = PommermanVector(
        4, opponents="simple", demos=demos, curriculum=curriculum, initial="demonstration"
    )
    config = TrainConfig(
        frames=320, num_envs=num_envs, final_episodes=1, ppo=PPOConfig(num_steps=40, passes=1)
    )
    return Training(
        lambda: gym.make("Backplay/PommermanFFA-v0", opponents="random", max_steps=20),
        [], curriculum, config, success=lambda end: end.reward > 0, envs=envs,
    )  # fmt: skip


def test_the_loop_moves_the_starts_of_batched_games():
    run = training()
    steps = list(run.run())
    assert steps[-1].finished
    assert steps[-1].starts == "[8, 16) steps back"
    lengths = [len(demo) for demo in perspectives()]
    episodes = [episode for step in steps for episode in step.episodes]
    assert episodes
    back = {lengths[e.start.demo] - e.start.step for e in episodes}
    assert back <= set(range(1, 16))
    assert 0.0 <= steps[-1].true_success <= 1.0


def test_the_number_of_games_is_the_batchs():
    with pytest.raises(bp.BackplayError, match="num_envs: expected 4, as many"):
        training(num_envs=8)
