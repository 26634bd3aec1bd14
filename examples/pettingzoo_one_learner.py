"""A PettingZoo parallel game with one learner: the others are part of the environment.

pip install "backplay[train,pettingzoo]" pygame-ce scipy
python examples/pettingzoo_one_learner.py

A state of a game of several players holds all of them: whoever plays the others must be in it too.
Here they choose by the env's own random stream, so that a restore puts their luck back as well.
"""

import argparse

import gymnasium as gym
import numpy as np
from pettingzoo.sisl import pursuit_v5

import backplay as bp

parser = argparse.ArgumentParser()
parser.add_argument("--frames", type=int, default=30_000)
args = parser.parse_args()


class OneLearner(gym.Env):
    """Pursuit as the first pursuer sees it. The reward is one for a catch, which ends the game."""

    me = "pursuer_0"

    def __init__(self):
        self.game = pursuit_v5.parallel_env(
            n_pursuers=2, n_evaders=1, x_size=10, y_size=10, n_catch=1, surround=False,
            freeze_evaders=True, max_cycles=60,
        )  # fmt: skip
        seen = self.game.observation_space(self.me)
        self.observation_space = gym.spaces.Box(
            float(seen.low.min()), float(seen.high.max()), (int(np.prod(seen.shape)),), np.float32
        )
        self.action_space = self.game.action_space(self.me)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        seen, _ = self.game.reset(seed=7)  # one board; the other pursuer's luck differs
        return np.asarray(seen[self.me], np.float32).ravel(), {}

    def step(self, action):
        others = {name: int(self.np_random.integers(5)) for name in self.game.agents}
        seen, _, ended, cut, _ = self.game.step({**others, self.me: int(action)})
        caught, late = all(ended.values()), all(cut.values())
        return (
            np.asarray(seen[self.me], np.float32).ravel(), float(caught), caught,
            late and not caught, {},
        )  # fmt: skip


gym.register("OneLearner-v0", OneLearner)
env = gym.make("OneLearner-v0")
rng = np.random.default_rng(0)
while True:  # a random player now and then catches one: its luckiest episode is the demonstration
    seed, actions = int(rng.integers(2**31)), rng.integers(5, size=60).tolist()
    env.reset(seed=seed)
    answers = []
    for action in actions:
        answers.append(env.step(action))
        if answers[-1][2] or answers[-1][3]:
            break
    if answers[-1][2]:
        break
demo = bp.record(env, actions[: len(answers)], seed=seed)
print(demo)
print(bp.check(gym.make("OneLearner-v0"), demo, max_steps=500))


def make():
    return gym.make("OneLearner-v0")


by_chance = bp.evaluate(make, lambda seen: rng.integers(5), demos=[demo])
print(f"random moves, from the true start: {by_chance}")
agent = bp.train(make, [demo], frames=args.frames)
print(f"learned, from the true start: {bp.evaluate(make, agent)}")
