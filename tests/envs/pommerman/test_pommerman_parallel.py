"""The PettingZoo env: its contract, every variant, and the game inside."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman import states
from backplay.envs.pommerman.dictionary import observe
from backplay.envs.pommerman.parallel import AGENTS, PommermanParallel
from backplay.errors import BackplayError

GOLDEN = Path(__file__).parents[2] / "golden" / "pommerman"
VARIANTS: list[dict[str, Any]] = [
    {},
    {"team": True},
    {"partial": True},
    {"team": True, "partial": True},
    {"collapse": True},
    {"team": True, "partial": True, "radio": True},
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_pettingzoo_finds_nothing_wrong(variant: dict[str, Any]) -> None:
    parallel_api_test(PommermanParallel(**variant), num_cycles=900)
    parallel_seed_test(lambda: PommermanParallel(**variant), num_cycles=60)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_what_is_seen_is_in_the_space(variant: dict[str, Any]) -> None:
    env = PommermanParallel(**variant)
    for agent in AGENTS:
        env.action_space(agent).seed(AGENTS.index(agent))
    seen, _ = env.reset(seed=2)
    while env.agents:
        for agent, observation in seen.items():
            for name, part in observation.items():
                assert env.observation_space(agent)[name].contains(part), name
            assert env.observation_space(agent).contains(observation)
        seen, *_ = env.step({agent: env.action_space(agent).sample() for agent in env.agents})


def test_it_plays_recorded_games() -> None:
    """A whole game of the public one, from its first state: rewards, ends and what is seen."""
    with gzip.open(GOLDEN / "games.jsonl.gz", "rt") as file:
        games = [json.loads(line) for line in file]
    env = PommermanParallel()
    for game in games[:6]:
        env.reset(options={"state": game["s0"]})
        for step in game["steps"]:
            acting = list(env.agents)
            seen, rewards, ended, _, _ = env.step(
                {agent: step["a"][AGENTS.index(agent)] for agent in acting}
            )
            row = states.from_json({name: step[name] for name in game["s0"]})
            assert np.array_equal(env.state(), row)
            for agent in acting:
                seat = AGENTS.index(agent)
                assert rewards[agent] == step["r"][seat]
                assert ended[agent] == (bool(step["d"]) or not step["ag"][seat][2])
                expected = observe(row, seat)
                assert seen[agent]["ammo"] == expected["ammo"]
                assert np.array_equal(seen[agent]["board"], expected["board"])
        assert not env.agents
        with pytest.raises(BackplayError, match="over"):
            env.step({})


def scene(**variant: int) -> np.ndarray:
    """Agent 1 about to burn, the others far away."""
    cells = ["0"] * 121
    places = [(0, 0), (5, 5), (10, 10), (0, 10)]
    for seat, (r, c) in enumerate(places):
        cells[11 * r + c] = "abcd"[seat]
    cells[11 * 5 + 6] = "3"
    return states.from_json(
        {
            "t": 20,
            "b": "".join(cells),
            "bo": [[5, 6, 1, 2, 0, 0]],
            "fl": [],
            "ag": [[r, c, 1, 1, 2, 0] for r, c in places],
            "it": [],
            "variant": variant,
        }
    )


def test_the_dead_leave_a_free_for_all_and_stay_in_a_team() -> None:
    stop = dict.fromkeys(AGENTS, 0)
    env = PommermanParallel()
    env.reset(options={"state": scene()})
    _, rewards, ended, _, _ = env.step(stop)
    assert rewards == {"agent_0": 0.0, "agent_1": -1.0, "agent_2": 0.0, "agent_3": 0.0}
    assert ended == {agent: agent == "agent_1" for agent in AGENTS}
    assert env.agents == ["agent_0", "agent_2", "agent_3"]
    env.reset(options={"state": scene(team=1)})
    _, rewards, ended, _, _ = env.step(stop)
    assert set(rewards.values()) == {0.0}
    assert not any(ended.values())
    assert env.agents == list(AGENTS)
    env.row[at.AGENTS + 3 * at.AGENT_FIELDS + at.AGENT_ALIVE] = 0  # the last of the other team
    env.row[at.BOARD + 10] = at.PASSAGE
    _, rewards, ended, _, infos = env.step(stop)
    assert [rewards[agent] for agent in AGENTS] == [1.0, -1.0, 1.0, -1.0]
    assert all(ended.values())
    assert infos["agent_0"] == {"survivors": [0, 2]}


def test_variants_are_in_the_row() -> None:
    env = PommermanParallel(team=True, partial=True, collapse=True, radio=True, max_steps=50)
    env.reset(seed=0)
    fields = (at.TEAM, at.VIEW, at.MAX_BLAST, at.COLLAPSE, at.RADIO, at.LIMIT)
    assert [int(env.row[field]) for field in fields] == [1, 4, 4, 1, 1, 50]
    PommermanParallel().reset()
    env = PommermanParallel(partial=True)
    env.reset(seed=0)
    assert [int(env.row[field]) for field in fields] == [0, 4, 10, 0, 0, 800]
    states.validate(env.row)


def test_teammates_hear_each_other() -> None:
    env = PommermanParallel(team=True, radio=True)
    env.reset(seed=0)
    words = {agent: np.array([0, seat, 7 - seat]) for seat, agent in enumerate(AGENTS)}
    seen, *_ = env.step(words)
    assert [seen[agent]["message"] for agent in AGENTS] == [(2, 5), (3, 4), (0, 7), (1, 6)]


def test_the_board_collapses() -> None:
    env = PommermanParallel(collapse=True)
    env.reset(seed=0)
    row = env.state()
    row[at.STEP] = 499
    env.reset(options={"state": row})
    env.step(dict.fromkeys(AGENTS, 0))
    assert not (env.row[at.BOARD : at.BOARD + 11] == at.RIGID).all()  # seen before it falls
    env.step(dict.fromkeys(AGENTS, 0))
    assert (env.row[at.BOARD : at.BOARD + 11] == at.RIGID).all()


def test_what_does_not_fit_is_refused() -> None:
    env = PommermanParallel()
    with pytest.raises(BackplayError, match="over"):
        env.step({})
    env.reset(seed=0)
    for actions in ({"agent_0": 6}, {"agent_9": 0}, {"agent_1": (0, 1, 1)}):
        with pytest.raises(BackplayError, match="action of"):
            env.step(actions)
    for state in ({"t": 0}, np.zeros(5, np.int16), "fresh"):
        with pytest.raises(BackplayError):
            env.reset(options={"state": state})
    with pytest.raises(BackplayError, match="radio"):
        env.reset(options={"state": scene(radio=1)})


def test_it_is_drawn() -> None:
    env = PommermanParallel(render_mode="ansi")
    env.reset(seed=0)
    assert "step 0 of 800" in env.render()
