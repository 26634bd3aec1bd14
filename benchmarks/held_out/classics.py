"""Envs of Gymnasium as everybody knows them, with a reward at the goal alone where that is hard."""

from collections import deque
from types import SimpleNamespace

import gymnasium as gym


class AtTheGoal(gym.Wrapper):
    """1 where the env pays at least so much in one step, and nothing else."""

    def __init__(self, env, least):
        super().__init__(env)
        self.least = least

    def step(self, action):
        seen, reward, terminated, truncated, info = self.env.step(action)
        return seen, float(reward >= self.least), terminated, truncated, info


def taxi():
    """Passenger, place and destination are drawn anew; the demonstration has one of 300 tasks."""
    return AtTheGoal(gym.make("Taxi-v4"), 20)


def taxi_way():
    """The fewest actions of the episode with seed 1, by search."""
    env = gym.make("Taxi-v4")
    first, _ = env.reset(seed=1)
    came, states = {first: []}, deque([first])
    while states:
        state = states.popleft()
        for action in range(6):
            _, after, _, over = env.unwrapped.P[state][action][0]
            if over:
                return [*came[state], action]
            if after not in came:
                came[after] = [*came[state], action]
                states.append(after)
    raise AssertionError("no way")


def cliff():
    """A cost for each step, a hundred for a fall; 200 steps at most."""
    return gym.wrappers.TimeLimit(gym.make("CliffWalking-v1").unwrapped, 200)


CLIFF_WAY = [0, *[1] * 11, 2]


def lander():
    """A hundred for a landing becomes one; nothing else is paid."""
    return AtTheGoal(gym.make("LunarLander-v3"), 99)


def land(seen):
    """Gymnasium's own rules of thumb."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    return int(heuristic(SimpleNamespace(unwrapped=SimpleNamespace(continuous=False)), seen))
