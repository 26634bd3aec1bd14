"""The state-machine agent against the recorded one: 374 states, 16 decisions each.

The recorded agent searched with 250 simulations and no clock, its memory fresh each time.
"""

import numpy as np
import pytest
from agreement import Case, cases, p_value, tally, verdict

from backplay.envs import chance
from backplay.envs.pommerman.agents import MEMORY, SCRATCH
from backplay.envs.pommerman.agents.fsmts import decide
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions

AS_RECORDED = FsmtsOptions(simulations=250).row()
DRAWS = 300


def certain(case: Case) -> int | None:
    """The action, if deciding it took no random number."""
    streams = chance.streams(0, 1)
    before = int(streams[0])
    memory, scratch = np.zeros(MEMORY, np.int16), np.zeros(SCRATCH, np.int16)
    action = decide(case.row, case.seat, memory, streams, 0, AS_RECORDED, scratch)
    return int(action) if streams[0] == before else None


@pytest.fixture(scope="module")
def recorded() -> list[Case]:
    return cases("fsmts")


def test_decisions_without_chance_are_the_recorded_ones(recorded):
    decided = {case.name: (certain(case), case.counts) for case in recorded}
    made = {name: pair for name, pair in decided.items() if pair[0] is not None}
    assert len(made) == 155
    wrong = [name for name, (action, counts) in made.items() if counts[action] != counts.sum()]
    assert not wrong


def p_values(recorded: list[Case], options: np.ndarray) -> dict[str, float]:
    return {
        case.name: p_value(case.counts, tally(decide, case, options, DRAWS, seed=9))
        for case in recorded
        if certain(case) is None
    }


def test_decisions_with_chance_are_as_frequent_as_recorded(recorded):
    found = verdict(p_values(recorded, AS_RECORDED))
    assert found.odd == []
    assert not found.too_many
    assert found.matching == 219


@pytest.mark.parametrize("name", ["unknown_bombs_invisible", "frozen_reply"])
def test_the_record_tells_the_original_from_one_without_its_oddities(recorded, name):
    found = verdict(p_values(recorded, FsmtsOptions(simulations=250, **{name: False}).row()))
    assert found.odd
