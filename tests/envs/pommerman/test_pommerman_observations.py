"""Observation dictionaries against those of the public game."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenes import scene

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman import states
from backplay.envs.pommerman.dictionary import observe

GOLDEN = Path(__file__).parents[2] / "golden" / "pommerman"
SETTINGS = {
    "PommeFFACompetition-v0": {},
    "PommeTeamCompetition-v0": {"team": 1, "view": 4, "max_blast": 4},
}


def plain(value: Any) -> Any:
    """Arrays flat, tuples as lists, as JSON holds them."""
    if isinstance(value, np.ndarray):
        assert value.shape == (at.SIZE, at.SIZE)
        assert value.dtype == np.uint8
        return value.ravel().tolist()
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", SETTINGS)
def test_all_public_observations_are_exact(name: str) -> None:
    seen = 0
    with gzip.open(GOLDEN / "observations.jsonl.gz", "rt") as file:
        for line in file:
            game = json.loads(line)
            if game["env"] != name:
                continue
            row = states.from_json({**game["state"], "variant": SETTINGS[name]})
            for seat, public in enumerate(game["obs"]):
                ours = {key: plain(value) for key, value in observe(row, seat).items()}
                assert ours == public
                assert list(ours) == list(public)
                assert type(ours["can_kick"]) is bool
                seen += 1
    assert seen == 240


def test_radio_brings_the_teammates_words() -> None:
    row = scene("abcd", team=1, radio=1)
    row[at.WORDS : at.BOARD] = range(8)
    assert [observe(row, seat)["message"] for seat in range(4)] == [(4, 5), (6, 7), (0, 1), (2, 3)]
    assert [observe(row, seat)["teammate"] for seat in range(4)] == [12, 13, 10, 11]
    assert observe(row, 0)["game_type"] == 3
    assert observe(row, 0)["game_env"] == "pommerman.envs.v2:Pomme"
    assert observe(scene("abcd", collapse=1), 0)["game_env"] == "pommerman.envs.v1:Pomme"
    assert "message" not in observe(scene("abcd", team=1), 0)


def test_an_observation_is_a_copy() -> None:
    row = scene("ab", "o.")
    before = row.copy()
    for value in observe(row, 0).values():
        if isinstance(value, np.ndarray):
            value[:] = 9
    np.testing.assert_array_equal(row, before)
