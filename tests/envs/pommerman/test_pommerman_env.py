"""`Backplay/PommermanFFA-v0`: Gymnasium's contract, its rewards and ends, and exact restoring."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from played_games import ENV, walks

import backplay as bp
from backplay.data import trees
from backplay.envs.pommerman import states
from backplay.envs.pommerman.env import PommermanFFA
from backplay.envs.pommerman.layout import AGENT_ALIVE, AGENT_FIELDS, AGENTS, LIMIT, STEP
from backplay.envs.pommerman.learner import picks_up, result
from backplay.envs.pommerman.planes import stack
from backplay.restore import RESTORERS


def make(**kwargs: Any) -> PommermanFFA:
    env = gym.make(ENV, **kwargs).unwrapped
    assert isinstance(env, PommermanFFA)
    return env


def test_its_id_is_known_and_numba_is_not_imported_before_it_is_made() -> None:
    code = (
        "import sys, gymnasium, backplay; assert 'numba' not in sys.modules;"
        f"assert {ENV!r} in gymnasium.registry; import backplay.cli;"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"observation": "dict", "opponents": ["fsmts", "simple", "random"]},
        {"seat": 2, "opponents": "random", "render_mode": "rgb_array"},
        {"opponents": "simple", "render_mode": "ansi", "item_reward": 0.1},
    ],
    ids=str,
)
def test_gymnasium_finds_nothing_wrong(kwargs: dict[str, Any]) -> None:
    check_env(make(**kwargs))


def test_recorded_and_checked_it_restores_exactly() -> None:
    env = gym.make(ENV, seat=1)
    demo = bp.record(env, walks(60).tolist(), seed=4)
    assert demo.restorer.name == "own"
    report = bp.check(env, demo)
    assert report.exact
    assert report.restored == len(demo) > 10


def test_a_restored_game_answers_as_it_did_in_another_env() -> None:
    """Single steps from many places, opponents who search, in an env that has played on."""
    env, other = make(), make()
    env.reset(seed=3)
    kept, answers = [], []
    for action in walks(200, seed=1).tolist():
        kept.append(env.get_state())
        answers.append((action, *env.step(action)))
        if answers[-1][3]:
            break
    assert len(kept) > 30
    other.reset(seed=8)
    for t in np.random.default_rng(0).permutation(len(kept))[:20]:
        other.set_state(kept[t])
        assert trees.first_difference(other.get_state(), kept[t]) is None
        for action, observation, *rest in answers[t : t + 10]:
            now, *again = other.step(action)
            assert np.array_equal(now, observation)
            assert again == rest


def test_the_older_frame_is_the_step_before_and_doubled_at_a_reset() -> None:
    env = make(seat=0)
    first, _ = env.reset(seed=0)
    assert np.array_equal(first[:19], first[19:])
    second, *_ = env.step(0)
    assert np.array_equal(second[:19], first[19:])
    third, *_ = env.step(0)
    assert np.array_equal(third[:19], second[19:])
    expected = np.empty_like(third)
    stack(env.get_state()["previous"], env.row, 0, expected)
    assert np.array_equal(third, expected)


def test_a_seed_means_the_same_board_for_every_seat() -> None:
    boards = []
    for seat in (None, 0, 3):
        env = make(seat=seat)
        _, info = env.reset(seed=11)
        assert seat in (None, info["seat"])
        boards.append(env.row.tolist())
    assert boards[0] == boards[1] == boards[2]
    env = make()
    seats = {env.reset(seed=seed)[1]["seat"] for seed in range(30)}
    assert seats == {0, 1, 2, 3}
    assert env.reset(seed=0, options={"seat": 2})[1]["seat"] == 2


def test_episodes_end_with_the_right_reward_and_result() -> None:
    env = make(opponents="random", seat=0)
    seen = set()
    for seed in range(40):
        env.reset(seed=seed)
        over, total = False, 0.0
        while not over:  # waits, or dies of its own bomb
            _, reward, over, truncated, info = env.step(5 * (seed % 2))
            assert not truncated
            assert reward == 0.0 or over
            assert over or info == {"seat": 0}
            total += reward
        assert total == {"win": 1.0}.get(info["result"], -1.0)
        assert info["is_success"] == (info["result"] == "win") == (info["survivors"] == [0])
        assert result(env.row, 0) == info["result"]
        seen.add(info["result"])
        with pytest.raises(bp.BackplayError, match="over"):
            env.step(0)
    assert {"win", "loss"} <= seen


def test_time_ends_it_with_minus_one() -> None:
    env = make(opponents="simple", seat=0, max_steps=3)
    env.reset(seed=0)
    assert env.row[LIMIT] == 3
    answers = [env.step(0)[1:] for _ in range(3)]
    assert [answer[:3] for answer in answers] == [(0.0, False, False)] * 2 + [(-1.0, True, False)]
    assert answers[-1][3]["result"] == "tie"
    assert answers[-1][3]["survivors"] == [0, 1, 2, 3]


def row_with(board: dict[tuple[int, int], str], **more: Any) -> np.ndarray:
    """An open board with the agents in the corners of the middle, and what `board` says."""
    cells = ["0"] * 121
    places = [(4, 4), (0, 0), (0, 10), (10, 10)]
    for seat, (r, c) in enumerate(places):
        cells[11 * r + c] = "abcd"[seat]
    for (r, c), shown in board.items():
        cells[11 * r + c] = shown
    agents = [[r, c, 1, 1, 2, 0] for r, c in places]
    state = {"t": 0, "b": "".join(cells), "bo": [], "fl": [], "ag": agents, "it": []}
    return states.from_json({**state, **more})


@pytest.mark.parametrize("item", ["6", "7", "8"])
def test_an_item_pays_once_and_only_in_the_dense_variant(item: str) -> None:
    for item_reward in (0.0, 0.1):
        env = make(opponents="random", seat=0, item_reward=item_reward)
        env.reset(seed=0, options={"state": row_with({(4, 5): item})})
        rewards = [env.step(action)[1] for action in (0, 4, 0, 3)]
        assert rewards == [0.0, item_reward, 0.0, 0.0]


def test_an_item_that_appears_as_its_fire_goes_out_pays_too() -> None:
    fire = {"fl": [[4, 5, 0]], "it": [[4, 5, 8]]}
    env = make(opponents="random", seat=0, item_reward=0.1)
    env.reset(seed=0, options={"state": row_with({(4, 5): "4"}, **fire)})
    assert env.step(4)[1] == 0.1
    env.reset(seed=0, options={"state": row_with({(4, 5): "4"}, fl=[[4, 5, 0]])})
    assert env.step(4)[1] == 0.0  # nothing was hidden there
    env.reset(seed=0, options={"state": row_with({(4, 5): "4"}, fl=[[4, 5, 1]], it=[[4, 5, 8]])})
    assert env.step(4)[1:3] == (-1.0, True)  # it still burnt


def test_pickups_are_those_the_rules_make() -> None:
    """In real games: whenever ammo, blast or kick grows without a bomb of one's own exploding."""
    env = make(opponents="simple", seat=None)
    found = 0
    for seed in range(6):
        env.reset(seed=seed)
        for action in walks(150, seed=seed).tolist():
            before = env.row.copy()
            over = env.step(action)[2]
            for seat in range(4):
                a, b = (row[AGENTS + AGENT_FIELDS * seat :][:5] for row in (before, env.row))
                grew = b[3] > a[3] or b[4] > a[4]
                if grew and b[AGENT_ALIVE]:
                    assert picks_up(before, env.row, seat)
                    found += 1
            if over:
                break
    assert found > 5


def test_it_starts_from_a_state_when_asked() -> None:
    env = make(seat=3)
    env.reset(seed=1)
    for _ in range(12):
        env.step(0)
    state = env.get_state()
    other = make(seat=0)
    other.reset(seed=5, options={"state": state})
    assert other.seat == 3
    assert np.array_equal(other.row, env.row)
    assert np.array_equal(other.get_state()["memories"], state["memories"])
    for options in ({"state": env.row.copy()}, {"state": states.to_json(env.row)}):
        _, info = other.reset(seed=5, options=options)
        assert np.array_equal(other.row, env.row)
        assert info["seat"] == 0
        assert not other.get_state()["memories"].any()


def test_what_is_no_state_is_refused_before_a_kernel_reads_it() -> None:
    env = make()
    env.reset(seed=0)
    good = env.get_state()

    def changed(name: str, place: Any, value: int) -> dict[str, Any]:
        state = copy.deepcopy(good)
        state[name][place] = value
        return state

    wrong: list[Any] = [
        {}, None, {**good, "seat": 4}, {**good, "seat": True}, {**good, "row": good["row"][:-1]},
        {**good, "row": list(good["row"])}, {**good, "streams": good["streams"].astype(np.int64)},
        {**good, "memories": good["memories"][:3]}, changed("row", AGENTS, 121),
        changed("previous", AGENTS, -1), changed("memories", ((env.seat + 1) % 4, 0), 99),
        changed("memories", ((env.seat + 1) % 4, 255), 1),
        changed("memories", ((env.seat + 1) % 4, 250), -1),
    ]  # fmt: skip
    for state in wrong:
        with pytest.raises(bp.BackplayError):
            env.set_state(state)
    env.set_state(good)


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"opponents": "fmts"}, "agent"),
        ({"opponents": ["simple"] * 2}, "3 names"),
        ({"seat": 4}, "seat"),
        ({"seat": True}, "seat"),
        ({"observation": "pixels"}, "observation"),
        ({"max_steps": 0}, "max_steps"),
        ({"item_reward": float("nan")}, "item_reward"),
        ({"simulations": 0}, "simulations"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(kwargs: dict[str, Any], said: str) -> None:
    with pytest.raises(bp.BackplayError, match=said):
        PommermanFFA(**kwargs)


def test_wrong_actions_are_refused() -> None:
    env = make()
    env.reset(seed=0)
    for action in (6, -1, 1.5, "up"):
        with pytest.raises(bp.BackplayError, match="action"):
            env.step(action)
    env.step(np.int64(3))
    assert env.row[STEP] == 1


def test_reseeded_opponents_go_another_way_and_restored_ones_do_not() -> None:
    env = gym.make(ENV, seat=0)
    env.reset(seed=0)
    restorer = RESTORERS["own"]()
    for _ in range(20):
        env.step(0)
    state = restorer.save(env)
    ways = []
    for rng in (None, None, np.random.default_rng(0), np.random.default_rng(1)):
        restorer.load(env, state, rng)
        ways.append([env.step(0)[0].tobytes() for _ in range(60)])
    assert ways[0] == ways[1]
    assert len({tuple(way) for way in ways}) == 3


def test_a_copy_of_the_env_is_its_own() -> None:
    env = make(seat=0)
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    twin._chance.seed(1)
    assert not np.array_equal(twin.get_state()["streams"], env.get_state()["streams"])


def test_it_is_drawn() -> None:
    picture = make(render_mode="rgb_array")
    picture.reset(seed=0)
    assert picture.render().shape == (404, 352, 3)
    words = make(render_mode="ansi")
    words.reset(seed=0)
    assert "step 0 of 800" in words.render()
    plain = make()
    plain.reset(seed=0)
    with pytest.raises(bp.BackplayError, match="render_mode"):
        plain.render()
