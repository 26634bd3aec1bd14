"""Pommerman as a job: a tiny run, and games that are counted one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from backplay.envs.pommerman import rules
from backplay.envs.pommerman.demonstrations import make_games
from backplay.envs.pommerman.learner import is_over
from backplay.envs.pommerman.learner import result as how_it_ended
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.vector import PommermanVector
from backplay.errors import BackplayError
from backplay.paper.pommerman import play as pommerman_play
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.pommerman.network import SHAPES, board_network
from backplay.paper.pommerman.play import PlayedGames, kept_game, play_maps
from backplay.records import Start
from backplay.runs.execute import asked as read_job
from backplay.runs.execute import prepare
from backplay.train.job import from_json, to_json

TINY: dict[str, Any] = {
    "maps": 3, "held_out": 1, "opponents": "simple", "frames": 512, "num_envs": 4, "games": 2,
    "final_games": 3, "held_out_games": 2, "evaluations": 1,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def maps() -> list[Perspective]:
    games = make_games(3, held_out=0, agent="simple", seed=1).training
    return [game.seen_by("winner") for game in games]


@pytest.mark.parametrize("rewards", ["sparse", "dense"])
def test_a_tiny_job_runs_to_its_result(rewards: str) -> None:
    job = PommermanJob(regime="backplay", rewards=rewards, perspective="runner-up", **TINY)
    work = job.begin()
    lines = [work.line(progress) for progress in work.training.run()]
    result = work.result()
    assert work.training.envs.task.item_reward == (0.1 if rewards == "dense" else 0.0)
    scenes = work.scenes()
    assert scenes.lengths == [len(one) for one in work.maps]
    *before, last = scenes.play(2, scenes.lengths[2] - 1, greedy=False, seed=3)
    assert len(before) >= 1
    assert last.success == (last.total == 1.0)
    work.close()
    assert json.loads(json.dumps([lines, result], allow_nan=False)) == [lines, result]
    last = lines[-1]
    assert set(last["evaluation"]) == set(job.curve)
    assert set(result["measures"]) == set(job.measures)
    assert len(last["actions"]) == 6
    assert sum(last["actions"]) == round(last["evaluation"]["steps"] * 3 * 2)
    assert last["evaluation"]["bomb_share"] == last["actions"][5] / sum(last["actions"])
    assert len(last["by_map"]) == len(result["training"]["sampled"]["by_map"]) == 3
    assert result["training"]["greedy"]["games"] == 9
    assert result["held_out"]["sampled"]["games"] == 2
    assert result["game"]["seat"] == work.maps[0].seat
    assert 0 < len(result["game"]["actions"]) <= 800
    assert sum(tries for line in lines for _, tries, _ in line["by_steps_back"]) > 0


def test_the_same_job_twice_is_the_same() -> None:
    job = PommermanJob(regime="uniform", **TINY)
    found = []
    for _ in range(2):
        work = job.begin()
        found.append([work.line(progress) for progress in work.training.run()])
    assert found[0] == found[1]


def test_the_runner_up_follows_the_same_games() -> None:
    first, second = (
        PommermanJob(regime="standard", perspective=name, **TINY).begin()
        for name in ("winner", "runner-up")
    )
    for one, other in zip(first.maps, second.maps, strict=True):
        np.testing.assert_array_equal(one.game.rows, other.game.rows)
        assert one.seat == one.game.winner
        assert other.seat == other.game.runner_up


def walk(observations: np.ndarray) -> np.ndarray:
    """A policy that depends on what is seen, and lays bombs now and then."""
    return (observations.sum((1, 2, 3)).astype(np.int64) * 7) % 6


def test_games_are_those_that_are_played_one_by_one(
    maps: list[Perspective], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pommerman_play, "AT_ONCE", 4)  # so that six games take two batches
    found = play_maps(maps, walk, games=2, seed=50, opponents="simple", simulations=50)
    counts = np.zeros(6, np.int64)
    for k in range(6):
        env = PommermanVector(1, opponents="simple", demos=maps, initial="demonstration")
        seen, _ = env.reset(seed=50 + k, options={"starts": [Start(k // 2, 0)]})
        total, steps, over = 0.0, 0, [False]
        while not over[0]:
            action = walk(seen)
            counts[action[0]] += 1
            seen, rewards, over, _, infos = env.step(action)
            total, steps = total + rewards[0], steps + 1
        place = (k // 2, k % 2)
        assert found.lengths[place] == steps
        assert found.returns[place] == total
        assert found.wins[place] == (infos["final_info"]["result"][0] == "win")
        assert found.ties[place] == (infos["final_info"]["result"][0] == "tie")
        assert infos["final_info"]["seat"][0] == maps[k // 2].seat
    np.testing.assert_array_equal(found.actions, counts)


def test_a_game_that_is_kept_is_the_first_that_is_played(maps: list[Perspective]) -> None:
    options: dict[str, Any] = {"seed": 50, "opponents": "simple", "simulations": 50}
    played = play_maps(maps[:1], walk, games=1, **options)
    kept = json.loads(json.dumps(kept_game(maps[0], walk, **options)))
    assert len(json.dumps(kept)) < 20_000
    assert len(kept["actions"]) == played.lengths[0, 0]
    assert (kept["result"] == "win") == played.wins[0, 0]
    mine = np.bincount([step[maps[0].seat] for step in kept["actions"]], minlength=6)
    np.testing.assert_array_equal(mine, played.actions)
    row = np.array(kept["first"], np.int16)
    np.testing.assert_array_equal(row, maps[0].game.rows[0])
    for step in kept["actions"]:  # by the rules alone it ends as it ended
        assert not is_over(row, kept["seat"], 0)
        rules.step(row, np.array(step))
    assert how_it_ended(row, kept["seat"]) == kept["result"]


def test_maps_are_counted_as_the_caption_of_the_papers_table_says() -> None:
    wins = np.zeros((4, 10), np.bool_)
    for row, won in enumerate((10, 9, 6, 2)):
        wins[row, :won] = True
    none = np.zeros_like(wins)
    played = PlayedGames(wins, none, none * 0.0, none.astype(int), np.array([1, 0, 0, 0, 0, 3]))
    assert played.maps_won() == {"90%": 2, "80%": 2, "70%": 2, "60%": 3, "50%": 3}
    assert played.by_map == [1.0, 0.9, 0.6, 0.2]
    assert played.bomb_share == 0.75
    assert played.as_evaluation().success == 27 / 40


def test_networks_have_the_shapes_they_say() -> None:
    box, actions = spaces.Box(0, 10, (38, 11, 11)), spaces.Discrete(6)
    network = board_network(box, actions, seed=0, preset="convolution")
    count = sum(part.numel() for part in network.parameters())
    conv = (38 * 9 + 1) * 32 + (32 * 9 + 1) * 32
    assert count == conv + (32 * 121 + 1) * 128 + 129 * 128 + 129 * 6 + 129
    logits, values = network(torch.rand(5, 38, 11, 11))
    assert (logits.shape, values.shape) == ((5, 6), (5,))
    again = board_network(box, actions, seed=0, preset="convolution")
    assert all(
        torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True)
    )
    assert SHAPES["paper"].convolutions == (256,) * 4
    assert SHAPES["paper"].hidden == (1024, 512)


def test_a_precision_is_kept_and_a_run_goes_on_as_it_began(tmp_path: Path) -> None:
    asked = PommermanJob(regime="standard", precision="bfloat16", **TINY)
    again = from_json(json.loads(json.dumps(to_json(asked))))
    assert again.precision == "bfloat16"
    as_before = to_json(asked)
    del as_before["fields"]["precision"]  # as versions without it wrote it
    old = from_json(as_before)
    assert old.precision == "float32"
    prepare(tmp_path, old)
    found, _ = read_job(prepare(tmp_path, asked))
    assert found.precision == "float32"
    work = found.begin()
    assert work.training.learner.network.precision == "float32"
    work.close()


def test_a_job_in_bfloat16_is_the_same_twice_and_resumed() -> None:
    job = PommermanJob(regime="default", precision="bfloat16", **(TINY | {"frames": 1_024}))
    whole, part, rest = job.begin(), job.begin(), job.begin()
    assert whole.training.learner.network.precision == "bfloat16"
    lines = [whole.line(progress) for progress in whole.training.run()]
    first = [part.line(next(iter(part.training.run())))]
    rest.training.load_state(part.training.state())
    assert first + [rest.line(progress) for progress in rest.training.run()] == lines


def test_networks_that_see_planes_have_one_precision() -> None:
    with pytest.raises(BackplayError, match="precision"):
        PommermanJob(regime="standard", preset="convolution", precision="bfloat16")
    with pytest.raises(BackplayError, match="precision"):
        PommermanJob(regime="standard", precision="float16")
