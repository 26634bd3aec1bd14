"""`Backplay/Tree-v0`: from a random leaf of a binary tree to its root (paper, section 3.2).

    env = gymnasium.make("Backplay/Tree-v0", depth=8)

Comes in: a depth. Goes out: the number of the node, a reward of -0.03 a step and +1 at the root. An
episode is terminated at the root and truncated when its time is over. The paper's example of a task
where one demonstration does not help: the root ends an episode, so nobody who starts beside the
demonstration comes to the half of the tree on the root's other side.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.errors import BackplayError, ensure, refusing, whole
from backplay.restore import RESTORERS

UP, LEFT, RIGHT = range(3)
NAMES = ("up", "left", "right")
ROOT = 0
_DEEPEST = 20  # a million leaves


class Tree(gym.Env[np.int64, np.int64]):
    """One agent in a binary tree. Actions: 0 up, 1 left and 2 right, down; a leaf has no way down.

    The root is node 0, the children of node n are 2n + 1 and 2n + 2, as in a heap.

    Args:
        depth: steps from a leaf to the root; there are 2 ** depth leaves.
        leaf: always start in this leaf, from 0 on; None draws one at every reset.
        max_steps: the step at which an episode is truncated.
        step_reward: of every step, the last one too.
        goal_reward: added in the step that reaches the root.
        render_mode: `"ansi"`.

    What is seen is the node. `reset(options={"node": n})` starts one episode in any node but the
    root.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        depth: int = 8,
        *,
        leaf: int | None = None,
        max_steps: int = 100,
        step_reward: float = -0.03,
        goal_reward: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        self.depth = whole("depth", depth, 1, _DEEPEST)
        self.max_steps = whole("max_steps", max_steps, 1)
        self.leaf = None if leaf is None else whole("leaf", leaf, 0, 2**depth - 1)
        self.step_reward, self.goal_reward = float(step_reward), float(goal_reward)
        self.nodes = 2 ** (depth + 1) - 1
        self.first_leaf = 2**depth - 1
        self.observation_space = spaces.Discrete(self.nodes)
        self.action_space = spaces.Discrete(len(NAMES))
        self.render_mode = render_mode
        self.node, self.step_count, self._over = ROOT, 0, True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """A leaf, or the node asked for."""
        super().reset(seed=seed)
        asked = (options or {}).get("node")
        leaf = self.leaf
        if asked is None and leaf is None:
            leaf = int(self.np_random.integers(2**self.depth))
        if asked is not None:
            self.node = whole('options["node"]', asked, 1, self.nodes - 1)
        elif leaf is not None:
            self.node = self.first_leaf + leaf
        self.step_count, self._over = 0, False
        return np.int64(self.node), {}

    def step(self, action: Any) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """One action, which is a step even if nothing moves."""
        ensure(action in range(len(NAMES)), "action", "0 to 2", action)
        ensure(not self._over, "The episode is over", do="Call reset.")
        if action == UP:
            self.node = (self.node - 1) // 2
        elif self.node < self.first_leaf:
            self.node = 2 * self.node + int(action)
        self.step_count += 1
        terminated = self.node == ROOT
        truncated = not terminated and self.step_count >= self.max_steps
        self._over = terminated or truncated
        reward = self.step_reward + (self.goal_reward if terminated else 0.0)
        info = {"is_success": terminated} if self._over else {}
        return np.int64(self.node), reward, terminated, truncated, info

    def get_action_meanings(self) -> tuple[str, ...]:
        """The names of the actions 0 to 2."""
        return NAMES

    def render(self) -> Any:
        """The way from the root to the agent."""
        ensure(self.render_mode == "ansi", "render_mode", "'ansi'", self.render_mode)
        turns, node = [], self.node
        while node != ROOT:
            turns.append(NAMES[LEFT if node % 2 else RIGHT])
            node = (node - 1) // 2
        return f"{' '.join(['root', *turns[::-1]])}, step {self.step_count}\n"

    def get_state(self) -> dict[str, Any]:
        """Node and clock, as plain data."""
        return {"node": self.node, "step_count": self.step_count}

    def set_state(self, state: dict[str, Any]) -> None:
        """Puts the agent where `get_state` found it."""
        with refusing(
            "state", f"what get_state of a tree of depth {self.depth} said",
            of=(KeyError, TypeError, BackplayError),
        ):  # fmt: skip
            node = whole("node", state["node"], ROOT, self.nodes - 1)
            count = whole("step_count", state["step_count"], 0, self.max_steps)
        self.node, self.step_count = node, count
        self._over = node == ROOT or count >= self.max_steps


def demonstration(env: gym.Env[Any, Any], leaf: int = 0) -> Demonstration:
    """The shortest way from one leaf to the root, recorded in `env`, a `Tree`."""
    tree: Any = env.unwrapped
    node = tree.first_leaf + whole("leaf", leaf, 0, 2**tree.depth - 1)
    return record(env, [UP] * tree.depth, options={"node": node}, restorer=RESTORERS["own"]())
