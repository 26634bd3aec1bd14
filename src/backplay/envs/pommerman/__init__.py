"""Pommerman, the game of the paper's second experiment: its rules exactly, its expert, its envs.

    from backplay.envs.pommerman import PommermanFFA, load_games, make_games

What is named here is imported when it is first asked for: kernels take a moment to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backplay.extras import lazily

if TYPE_CHECKING:
    from backplay.envs.pommerman.demonstrations import Library, load_games, make_games
    from backplay.envs.pommerman.env import PommermanFFA
    from backplay.envs.pommerman.games import Games
    from backplay.envs.pommerman.matches import Standings, tournament
    from backplay.envs.pommerman.parallel import PommermanParallel
    from backplay.envs.pommerman.players import Player, player
    from backplay.envs.pommerman.recordings import Game, Perspective
    from backplay.envs.pommerman.vector import PommermanVector

__getattr__ = lazily(
    __name__,
    {
        "demonstrations": "Library load_games make_games",
        "env": "PommermanFFA",
        "games": "Games",
        "matches": "Standings tournament",
        "parallel": "PommermanParallel",
        "players": "Player player",
        "recordings": "Game Perspective",
        "vector": "PommermanVector",
    },
)
