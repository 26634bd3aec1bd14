"""A policy with memory, and what its memory holds after a restore: nothing.

pip install "backplay[sb3]" sb3-contrib
python examples/sb3_recurrent.py --frames 40000

A restore puts the environment back, not the agent: RecurrentPPO begins every episode with an empty
memory, wherever it starts. What was shown before the start has never been seen. In the corridor
below a lamp says at the first step which door is right. From a start behind the lamp nobody can do
better than one in two; from the true start memory can. So no curriculum should wait for mastery of
the starts behind the lamp, and only episodes from the true start can teach to remember: here they
have half of the frames.
"""

import argparse

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.env_util import make_vec_env

import backplay as bp

parser = argparse.ArgumentParser()
parser.add_argument("--frames", type=int, default=40_000)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()


class Corridor(gym.Env):
    """Six steps long; a lamp at its beginning says which of two doors at its end is right."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)  # the lamp, how far
    action_space = spaces.Discrete(3)  # on, left door, right door

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.right = 0, int(self.np_random.integers(2))
        return self.see(), {}

    def see(self):
        lamp = (-1, 1)[self.right] if self.place == 0 else 0
        return np.array([lamp, self.place / 6], np.float32)

    def step(self, action):
        if action == 0:
            self.place = min(self.place + 1, 6)
            return self.see(), 0.0, False, False, {}
        won = self.place == 6 and action - 1 == self.right
        return self.see(), float(won), True, False, {}


def make():
    return gym.wrappers.TimeLimit(Corridor(), 20)


demos, seed = [], 0
while len(demos) < 8:  # the doors in turn, so that none is likelier
    first, _ = make().reset(seed=seed)
    if (first[0] > 0) == (len(demos) % 2 == 1):
        demos.append(bp.record(make(), [0] * 6 + [1 if first[0] < 0 else 2], seed=seed))
    seed += 1

curriculum = bp.TrueStarts(bp.Uniform(), share=0.5)
envs = make_vec_env(lambda: bp.BackplayEnv(make(), demos, curriculum), 8, seed=args.seed)
model = RecurrentPPO(
    "MlpLstmPolicy", envs, n_steps=64, batch_size=128, ent_coef=0.01, learning_rate=1e-3,
    policy_kwargs={"lstm_hidden_size": 32}, seed=args.seed,
)  # fmt: skip
model.learn(args.frames, callback=bp.sb3.CurriculumCallback())


def success(start):
    """How many of 200 episodes from a step of a demonstration are won; step 0 is the reset."""
    env, wins = bp.BackplayEnv(make(), demos, bp.Standard()), 0
    for number in range(200):
        seen, _ = env.reset(seed=number, options={"start": (number % len(demos), start)})
        memory, first, over = None, True, False
        while not over:
            action, memory = model.predict(seen, memory, np.array([first]))
            seen, reward, terminated, truncated, _ = env.step(int(action))
            over, first = terminated or truncated, False
        wins += reward > 0
    return wins


print(f"from the true start, the lamp in sight: {success(0)} of 200")
print(f"from the door, the lamp never seen:     {success(6)} of 200")
