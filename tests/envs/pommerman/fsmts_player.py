"""A player of the state-machine agent with a chosen memory, and what such players do."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from open_boards import Cell

from backplay.envs import chance
from backplay.envs.pommerman.agents import MEMORY, SCRATCH
from backplay.envs.pommerman.agents import fsmts_memory as kept
from backplay.envs.pommerman.agents.fsmts import decide
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.envs.pommerman.layout import SIZE

ME = (5, 5)


def cell_of(place: Cell) -> int:
    return SIZE * place[0] + place[1] + 1


@dataclass
class Player:
    """Seat 0 (or another) with its memory; streams and scratch are its own."""

    seat: int = 0
    goal: Cell | None = None
    before: int = 0
    place_before: Cell | None = None
    target: int | None = None
    owners: dict[Cell, int] = field(default_factory=dict)
    recent: list[Cell] = field(default_factory=list)
    options: FsmtsOptions = field(default_factory=FsmtsOptions)

    def __post_init__(self) -> None:
        self.memory = np.zeros(MEMORY, np.int16)
        self.memory[kept.GOAL] = cell_of(self.goal) if self.goal else 0
        self.memory[kept.BEFORE] = self.before
        self.memory[kept.PLACE_BEFORE] = cell_of(self.place_before) if self.place_before else 0
        self.memory[kept.TARGET] = 0 if self.target is None else self.target + 1
        for place, owner in self.owners.items():
            self.memory[kept.OWNERS + cell_of(place) - 1] = owner + kept.SEAT_0
        for k, place in enumerate(self.recent):
            self.memory[kept.RECENT + kept.RECENT_CELLS - len(self.recent) + k] = cell_of(place)
        self.row = self.options.row()
        self.scratch = np.full(SCRATCH, 7, np.int16)  # whatever others left there

    def decide(self, row: np.ndarray, streams: np.ndarray) -> int:
        return int(decide(row, self.seat, self.memory, streams, 0, self.row, self.scratch))

    def has_goal(self, goal: Cell | None) -> bool:
        return bool(self.memory[kept.GOAL] == (cell_of(goal) if goal else 0))


def answers(row: np.ndarray, draws: int = 30, **memory: Any) -> tuple[list[int], list[Player]]:
    """What players with this memory do, each with a stream of its own."""
    players = [Player(**memory) for _ in range(draws)]
    return [p.decide(row, chance.streams(k, 1)) for k, p in enumerate(players)], players


def answer(row: np.ndarray, **memory: Any) -> tuple[int, Player]:
    """The one thing they all do."""
    actions, players = answers(row, **memory)
    assert len(set(actions)) == 1, f"not one action: {actions}"
    return actions[0], players[0]


def certain(row: np.ndarray, **memory: Any) -> tuple[int, Player]:
    """What a player does without drawing a random number."""
    player, streams = Player(**memory), chance.streams(5, 1)
    before = streams.copy()
    action = player.decide(row, streams)
    np.testing.assert_array_equal(streams, before, "it drew a random number")
    return action, player
