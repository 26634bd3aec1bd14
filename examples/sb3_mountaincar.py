"""One demonstration makes Stable-Baselines3's PPO learn MountainCar, with its default settings.

pip install "backplay[sb3]"
python examples/sb3_mountaincar.py
"""

import argparse

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

import backplay as bp

parser = argparse.ArgumentParser()
parser.add_argument("--frames", type=int, default=300_000)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

# The demonstration: push in the direction of the motion. Only its states are used.
env = gym.make("MountainCar-v0")
demo = bp.record(env, lambda observation: 2 if observation[1] >= 0 else 0, seed=7)
print(bp.check(env, demo))

curriculum = bp.Frontier()
envs = make_vec_env(
    lambda: bp.BackplayEnv(gym.make("MountainCar-v0"), [demo], curriculum), 8, seed=args.seed
)
model = PPO("MlpPolicy", envs, seed=args.seed)
model.learn(args.frames, callback=bp.sb3.CurriculumCallback())

# Measured on the plain env, from its own random start.
returns, _ = evaluate_policy(
    model, gym.make("MountainCar-v0"), 100, deterministic=False, return_episode_rewards=True
)
print(f"reached the flag from the true start: {sum(r > -200 for r in returns)} of 100")
