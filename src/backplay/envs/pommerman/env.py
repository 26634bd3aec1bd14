"""`Backplay/PommermanFFA-v0`: one learner in a free for all, its three opponents inside the env.

    env = gymnasium.make("Backplay/PommermanFFA-v0", opponents="fsmts", seat=0)

Reward: +1 for the only survivor, -1 for the dead and for everybody when time is up, 0 before. An
episode ends with the game or with the learner's death. Both, and the game's limit of steps, are its
own rules: it is always terminated, never truncated.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.envs import chance
from backplay.envs.pommerman import draw, snapshots, states
from backplay.envs.pommerman.dictionary import dictionary, dictionary_space
from backplay.envs.pommerman.games import STREAMS, Games
from backplay.envs.pommerman.layout import ACTIONS, MAX_STEPS, SEATS, SIZE
from backplay.envs.pommerman.learner import episode_rules, is_over, picks_up, result, survivors
from backplay.envs.pommerman.planes import PLANES, stack
from backplay.errors import BackplayError, ensure, show

State = dict[str, Any]
_PARTS = ("row", "previous", "memories", "streams")


class PommermanFFA(gym.Env[Any, Any]):
    """A free for all with one learner.

    Args:
        opponents: `"fsmts"`, `"simple"`, `"random"`, or a list of three such names for the other
            seats in ascending order.
        seat: the learner's, 0 to 3; None draws one at every reset.
        simulations: of each search of an FSMTS opponent.
        observation: `"planes"`, float32 [38, 11, 11], two frames of 19 feature planes, the older
            first; or `"dict"`, the public game's dictionary.
        item_reward: added when the learner picks up an item and lives; the paper's dense variant
            has 0.1.
        max_steps: the step at which the game is over, -1 for all.
        render_mode: `"rgb_array"` or `"ansi"`.

    `reset(options={"state": state})` starts from a state instead of a fresh board: one that
    `get_state` returned, complete with the opponents' memories and random streams; or a row, or a
    state of the public traces, with opponents who remember nothing. `options={"seat": k}` chooses
    the seat for one episode.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        *,
        opponents: str | Sequence[str] = "fsmts",
        seat: int | None = None,
        simulations: int = 50,
        observation: Literal["planes", "dict"] = "planes",
        item_reward: float = 0.0,
        max_steps: int = MAX_STEPS,
        render_mode: str | None = None,
    ) -> None:
        self.task = episode_rules(opponents, seat, simulations, item_reward, max_steps)
        self.action_space = spaces.Discrete(ACTIONS)
        self.observation_space = observation_space(observation)
        self.render_mode = render_mode
        self.seat = 0
        """The learner's seat in this episode."""
        self._games = Games(1)
        self._outside = np.zeros((1, SEATS), np.int64)
        self._chance = _Chance(self._games)
        self._shows = observation

    @property
    def row(self) -> NDArray[np.int16]:
        """The game's state row; see `layout`."""
        row: NDArray[np.int16] = self._games.rows[0]
        return row

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """A fresh board, or `options["state"]`; both frames show it."""
        super().reset(seed=seed)
        options = options or {}
        seat = options.get("seat")
        self.seat = self.task.begin(self._games, 0, self.np_random, _checked_seat(seat))
        state = options.get("state")
        if isinstance(state, dict) and "row" in state:
            self.set_state(state)
        elif state is not None:
            row = states.from_json(state) if isinstance(state, dict) else np.asarray(state)
            states.validate(row)
            self.row[:] = row
        self._games.previous[0] = self.row
        return self._observe(), {"seat": self.seat}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The learner's action and, from the same state, those of its opponents."""
        ensure(action in range(ACTIONS), "action", "0 to 5", action)
        games, seat = self._games, self.seat
        ensure(not is_over(self.row, seat, games.dones[0]), "The game is over", do="Call reset.")
        self._outside[0, seat] = action
        games.advance(self._outside)
        reward = float(games.rewards[0, seat])
        if picks_up(games.previous[0], self.row, seat):
            reward += self.task.item_reward
        over = bool(is_over(self.row, seat, games.dones[0]))
        return self._observe(), reward, over, False, self._info(over)

    def _info(self, over: bool) -> dict[str, Any]:
        if not over:
            return {"seat": self.seat}
        how = result(self.row, self.seat)
        alive = survivors(self.row)
        return {"seat": self.seat, "result": how, "is_success": how == "win", "survivors": alive}

    def _observe(self) -> Any:
        if self._shows == "dict":
            return dictionary(self.row, self.seat)
        planes = np.empty((2 * PLANES, SIZE, SIZE), np.float32)
        stack(self._games.previous[0], self.row, self.seat, planes)
        return planes

    def get_action_meanings(self) -> list[str]:
        """The names of the actions 0 to 5."""
        return ["stop", "up", "down", "left", "right", "bomb"]

    def render(self) -> Any:
        """Pixels [404, 352, 3] or coloured text."""
        return draw.render(self.row, self.render_mode)

    def get_state(self) -> State:
        """All there is of the game, with memories, random streams and the older frame's row."""
        snapshot = self._games.snapshot(0)
        parts = {part: snapshot[part] for part in _PARTS}
        return {**parts, "seat": self.seat}

    def set_state(self, state: State) -> None:
        """Puts the game where `get_state` found it: it goes on exactly as it did then."""
        checked = snapshots.check_state(state)
        players = self.task.around(checked["seat"])
        snapshots.check_memories(checked["memories"], [player.kind for player in players])
        self.seat = checked["seat"]
        self._games.seat(0, players)
        self._games.restore(0, {part: checked[part] for part in _PARTS})


class _Chance(random.Random):
    """The game's random streams as a generator: what reseeds an env's generators reseeds them.

    Its own numbers are of no use to anybody.
    """

    def __init__(self, games: Games) -> None:
        self.games = games

    def seed(self, a: Any = None, version: int = 2) -> None:
        self.games.streams[0] = chance.streams(a, STREAMS)

    def __reduce__(self) -> tuple[Any, ...]:  # so that a copy of the env has a copy of its own
        return type(self), (self.games,)


def observation_space(kind: str) -> spaces.Space[Any]:
    """What is seen: `"planes"` or `"dict"`."""
    if kind == "planes":
        return spaces.Box(0.0, 10.0, (2 * PLANES, SIZE, SIZE), np.float32)
    if kind == "dict":
        return dictionary_space()
    raise BackplayError("observation", expected="'planes' or 'dict'", got=show(kind))


def _checked_seat(seat: Any) -> int | None:
    if seat is None or (type(seat) is int and seat in range(SEATS)):
        return seat
    raise BackplayError('options["seat"]', expected="0, 1, 2 or 3", got=show(seat))
