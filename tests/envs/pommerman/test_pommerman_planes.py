"""Feature planes against a plain derivation from the observation dictionary."""

from typing import Any

import numpy as np
import pytest
from random_states import random_rows

from backplay.envs import chance
from backplay.envs.pommerman import boards, planes, rules
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.dictionary import observe

VARIANTS: list[dict[str, int]] = [
    {},
    {"view": 4},
    {"team": 1, "view": 4, "max_blast": 4},
    {"team": 1},
]


def plainly(observation: dict[str, Any], seat: int) -> np.ndarray:
    """The 19 planes, one after the other, from what an agent is shown."""
    board, shape = observation["board"], (at.SIZE, at.SIZE)
    team = observation["teammate"] != at.DUMMY
    others = [value for value in observation["enemies"] if value != at.DUMMY]
    if team:
        others.append(observation["teammate"])
    return np.stack(
        [
            observation["bomb_blast_strength"],
            observation["bomb_life"],
            board == at.AGENT + seat,
            np.full(shape, observation["ammo"]),
            np.full(shape, observation["blast_strength"]),
            np.full(shape, int(observation["can_kick"])),
            *[board == value for value in (0, 1, 2, 4, 6, 7, 8, 9)],
            np.full(shape, int(team)),
            *[board == value for value in others],
            np.full(shape, observation["step_count"] / 800),
        ]
    ).astype(np.float32)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_planes_are_those_of_the_observation(variant: dict[str, int]) -> None:
    rows = random_rows(60, seed=1, **variant)
    seen = np.zeros(planes.PLANES, bool)
    for row in rows:
        for seat in range(4):
            out = np.full((38, 11, 11), 77, np.float32)
            planes.stack(row, row, seat, out)
            expected = plainly(observe(row, seat), seat)
            np.testing.assert_array_equal(out, np.concatenate([expected, expected]))
            seen |= expected.any((1, 2))
    hidden = {13} | ({14} if "team" not in variant else set())
    assert set(np.flatnonzero(~seen)) <= hidden  # every plane but these was put to the test


def test_stacks_hold_the_older_frame_first() -> None:
    n, rng = 6, np.random.default_rng(3)
    rows, streams = np.zeros((n, at.ROW), np.int16), chance.streams(3, n)
    boards.generate_many(rows, streams)
    seats = np.arange(n) % 4
    rewards, dones = np.zeros((n, 4), np.int16), np.zeros(n, np.uint8)
    for _ in range(30):
        before = rows.copy()
        rules.step_many(rows, rng.integers(0, 6, (n, 4)), rewards, dones)
        out = np.full((n, 38, 11, 11), 77, np.float32)
        planes.stack_many(1, n, before, rows, seats, out)
        assert (out[0] == 77).all()
        for i in range(1, n):
            seen = [plainly(observe(row[i], seats[i]), seats[i]) for row in (before, rows)]
            np.testing.assert_array_equal(out[i], np.concatenate(seen))
