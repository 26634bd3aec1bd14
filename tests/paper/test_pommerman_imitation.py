"""Imitation in Pommerman: what was shown, what is said, and that it is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from backplay.envs.pommerman.demonstrations import make_games
from backplay.envs.pommerman.facts import MOST, facts_into
from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.players import LEARNER, player
from backplay.envs.pommerman.recordings import Perspective
from backplay.paper.pommerman.imitation import AdvisedVector, demonstrated
from backplay.paper.pommerman.job import PommermanJob

TINY: dict[str, Any] = {
    "maps": 2, "held_out": 0, "opponents": "simple", "num_envs": 4, "games": 1, "final_games": 2,
    "held_out_games": 1, "evaluations": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def maps() -> list[Perspective]:
    torch.set_num_threads(1)
    return [game.seen_by("winner") for game in make_games(2, held_out=0, agent="simple").training]


def test_pairs_are_what_the_player_saw_and_did(maps: list[Perspective]) -> None:
    seen, done = demonstrated(maps, "facts")
    assert len(seen) == len(done) == sum(map(len, maps))
    first, second = maps
    rows, out = second.game.rows, np.empty(MOST, np.int32)
    for step in (0, 1, len(second) - 1):
        facts_into(rows[max(step - 1, 0)], rows[step], second.seat, 0, True, out)
        assert np.array_equal(seen[len(first) + step], out)
        assert done[len(first) + step] == second.game.actions[step, second.seat]


def advised(maps: list[Perspective]) -> AdvisedVector:
    envs = AdvisedVector(
        3, opponents="simple", simulations=50, demos=maps, initial="demonstration",
        observation="facts",
    )  # fmt: skip
    envs.reset(seed=0)
    return envs


def test_advice_is_what_the_agent_in_the_learners_seat_would_do(maps: list[Perspective]) -> None:
    """One who is followed plays the game that the agent himself would play with his dice."""
    envs = advised(maps)
    alone = Games(3)
    for i, seat in enumerate(envs.seats):
        alone.seat(i, [player("simple") if k == seat else LEARNER for k in range(4)])
        snapshot = {"row": envs._games.rows[i], "streams": envs._advisers.streams[i]}
        alone.restore(i, snapshot | {"memories": np.zeros_like(alone.memories[0])})
    told = np.zeros(3, np.int64)
    for _ in range(25):
        alone.rows[:], alone.dones[:] = envs._games.rows, 0
        alone.advance(np.zeros((3, 4), np.int64))
        ended = envs.step(told)[2]
        (told,) = envs.take_advice()
        assert np.array_equal(told, alone.actions[np.arange(3), envs.seats])
        if ended.any():
            break
    assert len(set(told)) > 1 or told.any()


def test_a_new_game_finds_an_adviser_who_remembers_nothing(maps: list[Perspective]) -> None:
    envs = advised(maps)
    envs._advisers.memories[:, 1] = 1
    envs.reset(seed=1)
    assert not envs._advisers.memories.any()


def test_advised_games_are_restored_exactly(maps: list[Perspective]) -> None:
    envs = advised(maps)
    for _ in range(7):
        envs.step(np.zeros(3, np.int64))
    envs.take_advice()
    state = envs.get_state()
    said = []
    for _ in range(2):
        for _ in range(20):
            envs.step(np.ones(3, np.int64))
        said.append(envs.take_advice())
        envs.set_state(state)
    assert np.array_equal(*said)


@pytest.mark.parametrize("regime", ["cloned", "dagger"])
def test_what_is_shown_or_said_is_learned(regime: str) -> None:
    work = PommermanJob(regime=regime, frames=10_240, **TINY).begin()
    lines = [work.line(progress) for progress in work.training.run()]
    losses = [line["learner"]["imitation_loss"] for line in lines]
    assert np.mean(losses[-3:]) < 0.8 * losses[0]
    labels = lines[-1]["learner"]["labels"]
    assert labels == (10_240 if regime == "dagger" else 0)
    work.result()
    work.close()


def test_dagger_goes_on_to_the_same_end() -> None:
    job = PommermanJob(regime="dagger", frames=2_560, **TINY)
    whole, part = job.begin(), job.begin()
    list(whole.training.run())
    for progress in part.training.run():
        if progress.frames >= 1_024:
            break
    again = job.begin()
    again.training.load_state(part.training.state())
    list(again.training.run())
    ends = [work.training.learner.network.state_dict() for work in (whole, again)]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
