"""One kernel for all kinds of players."""

import numpy as np
import pytest
from scipy.stats import chisquare

from backplay.envs import chance
from backplay.envs.pommerman import agents, boards
from backplay.envs.pommerman.agents import FSMTS, MEMORY, OUTSIDE, RANDOM, SCRATCH, SIMPLE, simple
from backplay.envs.pommerman.agents import random as random_agent
from backplay.envs.pommerman.agents.fsmts import decide as decide_fsmts
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.envs.pommerman.layout import ACTIONS, AGENT, BOARD, CELLS, PASSAGE, ROW, STOP

OPTIONS = FsmtsOptions(simulations=2).row()


class Seat:
    """Seat 2 of a board without walls, and what a decision needs."""

    def __init__(self):
        self.row, self.memory = np.zeros(ROW, np.int16), np.zeros(MEMORY, np.int16)
        self.streams, self.scratch = chance.streams(1, 2), np.zeros(SCRATCH, np.int16)
        boards.generate(self.row, self.streams, 1)
        board = self.row[BOARD : BOARD + CELLS]
        board[board < AGENT] = PASSAGE

    def decide(self, kind):
        return agents.decide(
            kind, self.row, 2, self.memory, self.streams, 0, OPTIONS, self.scratch
        )  # fmt: skip


def test_the_random_agent_takes_every_action_equally_often():
    seat = Seat()
    counts = np.bincount([seat.decide(RANDOM) for _ in range(6000)], minlength=ACTIONS)
    assert len(counts) == ACTIONS
    assert chisquare(counts).pvalue > 1e-4


KERNELS = {
    RANDOM: lambda x: random_agent.decide(x.row, 2, x.memory, x.streams, 0, x.scratch),
    SIMPLE: lambda x: simple.decide(x.row, 2, x.memory, x.streams, 0, x.scratch),
    FSMTS: lambda x: decide_fsmts(x.row, 2, x.memory, x.streams, 0, OPTIONS, x.scratch),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_each_kind_decides_as_its_own_kernel(kind):
    one, other = Seat(), Seat()
    assert [one.decide(kind) for _ in range(20)] == [KERNELS[kind](other) for _ in range(20)]
    np.testing.assert_array_equal(one.memory, other.memory)
    np.testing.assert_array_equal(one.streams, other.streams)


def test_the_kinds_are_different_players():
    played = {kind: tuple(map(Seat().decide, [kind] * 20)) for kind in KERNELS}
    assert len(set(played.values())) == len(KERNELS)


def test_outside_means_stop_and_draws_nothing():
    seat = Seat()
    before = seat.streams.copy()
    assert seat.decide(OUTSIDE) == STOP
    np.testing.assert_array_equal(seat.streams, before)


def test_a_player_that_forgot_plays_like_a_new_one():
    old, new = Seat(), Seat()
    for _ in range(8):
        old.decide(SIMPLE)
    assert old.memory.any()
    agents.forget(old.memory)
    assert not old.memory.any()
    old.streams[:] = new.streams
    assert [old.decide(SIMPLE) for _ in range(8)] == [new.decide(SIMPLE) for _ in range(8)]
