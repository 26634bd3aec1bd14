"""RLlib's PPO with Backplay: the curriculum is moved between two calls of train().

pip install backplay "ray[rllib]>=2.50"
python examples/rllib_mountaincar.py --frames 200000
"""

import argparse

import gymnasium as gym
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env

import backplay as bp
from backplay.wrapper import set_curriculum, take_episodes

parser = argparse.ArgumentParser()
parser.add_argument("--frames", type=int, default=200_000)
parser.add_argument("--runners", type=int, default=0, help="0 samples in this process")
parser.add_argument("--batch", type=int, default=2_048)
args = parser.parse_args()

demo = bp.record(gym.make("MountainCar-v0"), lambda o: 2 if o[1] >= 0 else 0, seed=7)
curriculum = bp.Frontier()


def make(_):
    env = bp.BackplayEnv(gym.make("MountainCar-v0"), [demo], curriculum)
    return gym.wrappers.RescaleObservation(env, -1, 1)  # its numbers are far from 1


register_env("backplay-mountaincar", make)
algorithm = (
    PPOConfig()
    .environment("backplay-mountaincar")
    .env_runners(num_env_runners=args.runners, num_envs_per_env_runner=8)
    .training(
        train_batch_size_per_learner=args.batch,
        minibatch_size=256,
        num_epochs=8,
        lr=1e-3,
        lambda_=0.95,
        entropy_coeff=0.001,
        use_kl_loss=False,
    )
    .build_algo()
)


def on_every_runner(call):
    """The results of calling `call(envs)` in every process that samples."""
    group = algorithm.env_runner_group
    return group.foreach_env_runner(lambda runner: runner.env and call(runner.env))


frames = 0
while frames < args.frames:
    result = algorithm.train()
    frames = int(result["env_runners"]["num_env_steps_sampled_lifetime"])
    episodes = [e for taken in on_every_runner(take_episodes) if taken for e in taken]
    curriculum = curriculum.update(episodes, frames)
    on_every_runner(lambda envs, now=curriculum: set_curriculum(envs, now))
    true_starts = [e.success for e in episodes if e.start and e.start.step == 0]
    share = f"{sum(true_starts) / len(true_starts):.0%}" if true_starts else "–"
    print(f"{frames:>8} frames  true start {share:>4}  {curriculum.describe()}", flush=True)
algorithm.stop()
