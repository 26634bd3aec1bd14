"""The whole game as a PettingZoo parallel env: four agents from outside, all variants.

    env = PommermanParallel(team=True, partial=True)
    observations, infos = env.reset(seed=0)

Comes in: an action per agent. Goes out: the public game's observation dictionaries and rewards. In
a free for all an agent leaves with its death and its -1; in a team game all stay to the end, for
the dead win with their team.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.envs.pommerman import boards, draw, rules, states
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.dictionary import WORDS, dictionary, dictionary_space
from backplay.envs.pommerman.games import BOARD_STREAM, STREAMS, reseed
from backplay.envs.pommerman.learner import survivors
from backplay.errors import BackplayError, ensure, show
from backplay.extras import require

require("pettingzoo")
from pettingzoo import ParallelEnv  # noqa: E402

AGENTS = tuple(f"agent_{seat}" for seat in range(at.SEATS))
_SIGHT = 4  # how far agents see in the partially observed game
_TEAM_BLAST = 4  # what range items can reach there, in the team game


class PommermanParallel(ParallelEnv[str, dict[str, Any], Any]):  # type: ignore[misc]
    """Four agents, each with an action a step.

    Args:
        team: agents 0 and 2 against 1 and 3, instead of everybody against everybody.
        partial: agents see the cells at most 4 away; the rest is fog.
        collapse: from step 500 on, rings of the board turn into rigid walls.
        radio: an action is (action, word, word), words from 0 to 7 that the teammate hears.
        max_steps: the step at which the game is over.
        render_mode: `"rgb_array"` or `"ansi"`.

    `reset(options={"state": state})` starts from a row or from a state of the public traces; what
    kind of game it is then is the state's own.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "pommerman_v0",
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": 8,
    }

    def __init__(
        self,
        *,
        team: bool = False,
        partial: bool = False,
        collapse: bool = False,
        radio: bool = False,
        max_steps: int = at.MAX_STEPS,
        render_mode: str | None = None,
    ) -> None:
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.row: NDArray[np.int16] = np.zeros(at.ROW, at.DTYPE)
        """The game's state row; see `layout`."""
        self._variant = {
            at.LIMIT: max_steps, at.TEAM: int(team), at.VIEW: _SIGHT if partial else 0,
            at.MAX_BLAST: _TEAM_BLAST if team and partial else 10,
            at.COLLAPSE: int(collapse), at.RADIO: int(radio),
        }  # fmt: skip
        one: spaces.Space[Any] = spaces.Discrete(at.ACTIONS)
        if radio:
            one = spaces.MultiDiscrete([at.ACTIONS, WORDS, WORDS])
        self.action_spaces = dict.fromkeys(AGENTS, one)
        self.observation_spaces = {agent: dictionary_space(radio) for agent in AGENTS}
        self._rng = np.random.default_rng()
        self._rewards = np.zeros(at.SEATS, np.int64)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent is shown."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent can do."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A fresh board, or `options["state"]`."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        state = (options or {}).get("state")
        if state is None:
            streams = np.zeros(STREAMS, np.uint64)
            reseed(streams, self._rng)
            boards.generate(self.row, streams, BOARD_STREAM)
            for place, value in self._variant.items():
                self.row[place] = value
        else:
            self.row[:] = self._checked(state)
        over = bool(rules.outcome(self.row, self._rewards))
        everybody = [] if over else list(AGENTS)
        self.agents = everybody if self.row[at.TEAM] else [a for a in everybody if self._lives(a)]
        return self._observe(self.agents), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """One step; of an agent that is dead or not named, the action is to stop."""
        playing = self.agents
        ensure(playing, "The game is over", do="Call reset.")
        moves = np.zeros((at.SEATS, 3), np.int64)
        for agent, action in actions.items():
            if agent not in playing or action not in self.action_space(agent):
                raise BackplayError(
                    f"action of {agent}", expected=f"{self.action_spaces[AGENTS[0]]} of"
                    f" {', '.join(playing)}", got=show(action),
                )  # fmt: skip
            moves[AGENTS.index(agent), : np.size(action)] = action
        if self.row[at.RADIO]:
            rules.step_with_words(self.row, moves[:, 0].copy(), moves[:, 1:].copy())
        else:
            rules.step(self.row, moves[:, 0].copy())
        over = bool(rules.outcome(self.row, self._rewards))
        ended = {a: over or not (self.row[at.TEAM] or self._lives(a)) for a in playing}
        self.agents = [agent for agent in playing if not ended[agent]]
        return (
            self._observe(playing),
            {agent: float(self._rewards[AGENTS.index(agent)]) for agent in playing},
            ended,
            dict.fromkeys(playing, False),
            {agent: {"survivors": survivors(self.row)} if over else {} for agent in playing},
        )

    def _observe(self, agents: list[str]) -> dict[str, Any]:
        return {agent: dictionary(self.row, AGENTS.index(agent)) for agent in agents}

    def _lives(self, agent: str) -> bool:
        return AGENTS.index(agent) in survivors(self.row)

    def _checked(self, state: Any) -> NDArray[np.int16]:
        row = states.from_json(state) if isinstance(state, dict) else np.asarray(state)
        states.validate(row)
        if bool(row[at.RADIO]) != bool(self._variant[at.RADIO]):
            raise BackplayError(
                "state",
                expected="radio as the env was made with",
                got=f"radio={bool(row[at.RADIO])}",
            )
        return row

    def render(self) -> Any:
        """Pixels [404, 352, 3] or coloured text."""
        return draw.render(self.row, self.render_mode)

    def state(self) -> NDArray[np.int16]:
        """The whole game: a copy of its row."""
        return self.row.copy()

    def close(self) -> None:
        """Nothing is open."""
