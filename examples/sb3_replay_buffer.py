"""Off-policy: DQN with the demonstration in its replay buffer, and episodes that start on it.

pip install "backplay[sb3]"
python examples/sb3_replay_buffer.py

The demonstration's steps are what any off-policy learner can learn from at once; Backplay's starts
give it steps of its own around them; targets over ten steps carry the end back faster. SAC, TD3 and
DDPG take them in the same way.
"""

import argparse

import gymnasium as gym
import numpy as np
from stable_baselines3 import DQN

import backplay as bp

parser = argparse.ArgumentParser()
parser.add_argument("--frames", type=int, default=40_000)
parser.add_argument("--copies", type=int, default=10, help="of the demonstration in the buffer")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

env = gym.make("MountainCar-v0")
demo = bp.record(env, lambda seen: 2 if seen[1] >= 0 else 0, seed=7)
model = DQN(
    "MlpPolicy", bp.BackplayEnv(env, [demo]), learning_rate=1e-3, learning_starts=0, train_freq=16,
    gradient_steps=8, target_update_interval=600, batch_size=128, n_steps=10, seed=args.seed,
    exploration_fraction=0.2, exploration_final_eps=0.07, policy_kwargs={"net_arch": [256, 256]},
)  # fmt: skip

# The demonstration, as the learner itself would have stored it.
for _ in range(args.copies):
    for t in range(len(demo)):
        model.replay_buffer.add(
            np.array([demo.observations[t]]), np.array([demo.observations[t + 1]]),
            np.array([demo.actions[t]]), demo.rewards[t : t + 1], demo.terminations[t : t + 1],
            [{"TimeLimit.truncated": bool(demo.truncations[t])}],
        )  # fmt: skip
print(f"{model.replay_buffer.size()} steps of the demonstration are in the buffer")

model.learn(args.frames, callback=bp.sb3.CurriculumCallback())
measured = bp.evaluate(lambda: gym.make("MountainCar-v0"), model, demos=[demo], deterministic=True)
print(f"from the true start: {measured}")
