"""Trace files: what is compared, what is refused, and writing our own."""

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backplay.envs import chance
from backplay.envs.pommerman import boards, rules, states, traces
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.bulk import rows_from_json
from backplay.errors import BackplayError

GOLDEN = Path(__file__).parents[2] / "golden" / "pommerman"


@pytest.fixture(scope="module")
def games() -> list[dict[str, Any]]:
    return [game for line, game in traces.read_traces(GOLDEN / "stress_1.jsonl.gz") if line <= 60]


def rich(games: list[dict[str, Any]]) -> tuple[int, int]:
    """A game and a step of it after which bombs, flames and hidden items lie there."""
    for g, game in enumerate(games):
        for t, step in enumerate(game["steps"][:-1]):
            if t > 2 and step["bo"] and step["fl"] and step["it"]:
                return g, t
    raise AssertionError


def write(path: Path, games: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    return path


def other_digit(step: dict[str, Any]) -> None:
    step["b"] = step["b"][:-1] + ("0" if step["b"][-1] != "0" else "2")


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "step": (lambda s: s.update(t=s["t"] + 1), "step:"),
    "board": (other_digit, "board (10, 10):"),
    "bomb left": (lambda s: s["bo"][0].__setitem__(2, s["bo"][0][2] % 9 + 1), "bomb 0 left:"),
    "bomb missing": (lambda s: s["bo"].pop(), "bomb"),
    "flame left": (lambda s: s["fl"][-1].__setitem__(2, (s["fl"][-1][2] + 1) % 3), "flame"),
    "flame missing": (lambda s: s["fl"].pop(), "flame"),
    "ammo": (lambda s: s["ag"][3].__setitem__(3, s["ag"][3][3] + 1), "agent 3 ammo:"),
    "kick": (lambda s: s["ag"][1].__setitem__(5, 1 - s["ag"][1][5]), "agent 1 kick:"),
    "item": (lambda s: s["it"].pop(), "hidden item"),
    "reward": (lambda s: s["r"].__setitem__(2, 1), "rewards:"),
    "done": (lambda s: s.update(d=1), "done: 0, 1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_trace_with_one_field_changed_differs_there(
    change: str, games: list[dict[str, Any]], tmp_path: Path
) -> None:
    g, t = rich(games)
    changed = copy.deepcopy(games)
    changing, name = CHANGES[change]
    changing(changed[g]["steps"][t])
    report = traces.verify([write(tmp_path / "changed.jsonl", changed)])
    assert not report.exact
    assert report.differing == 1
    assert report.games == len(games)
    assert (report.first.line, report.first.step) == (g + 1, t + 1)
    assert any(field.startswith(name) for field in report.first.fields), report.first.fields
    assert f"game {g + 1}, step {t + 1}" in str(report)


def test_result_and_winners_are_compared(games: list[dict[str, Any]], tmp_path: Path) -> None:
    wrong = copy.deepcopy(games[:2])
    wrong[1].update(result="Tie" if wrong[1]["result"] != "Tie" else "Win", winners=[0, 1])
    first = traces.verify([write(tmp_path / "wrong.jsonl", wrong)]).first
    assert (first.line, first.step) == (2, 0)
    assert [field.split(":")[0] for field in first.fields] == ["result", "winners"]


def test_order_in_the_lists_counts(games: list[dict[str, Any]], tmp_path: Path) -> None:
    steps = [(game, t) for game in games for t in range(len(game["steps"]))]
    crowded = [
        (g, t) for g, t in steps if all(len(g["steps"][t][name]) > 1 for name in ("bo", "fl"))
    ]
    game, t = crowded[0]
    for name in ("bo", "fl"):
        changed = copy.deepcopy(game)
        changed["steps"][t][name].reverse()
        first = traces.verify([write(tmp_path / "order.jsonl", [changed])]).first
        assert first.step == t + 1


def broken(text: bytes) -> dict[str, tuple[bytes, str]]:
    """Files that are no traces, and what the error says."""
    game = json.loads(text)
    line = json.dumps(game).encode() + b"\n"

    def without(**parts: Any) -> bytes:
        return json.dumps({**game, **parts}).encode()

    def at_step(**parts: Any) -> bytes:
        changed = copy.deepcopy(game)
        changed["steps"][2].update(parts)
        return json.dumps(changed).encode()

    agents = game["steps"][2]["ag"]
    return {
        "torn": (line + line[: len(line) // 2], "line 2: expected a whole line of JSON"),
        "cut gzip": (gzip.compress(line)[:-200], "after line 0: expected a whole gzip file"),
        "damaged gzip": (b"\x1f\x8b" + b"litter" * 9, "expected a whole gzip file"),
        "a list": (b"[1, 2]", "line 1: expected a game, got [1, 2]"),
        "binary": (b"\xff\xfe\x00\x01\n", "line 1: expected a whole line of JSON"),
        "version 2": (without(v=2), "line 1, v: expected 1, got 2"),
        "no version": (without(v=None), "line 1, v: expected 1, got None"),
        "size 8": (without(size=8), "line 1, size: expected 11, got 8"),
        "no start": (without(s0=None), "line 1, s0: expected a dict, got None"),
        "no steps": (without(steps=3), "line 1, steps: expected a list, got 3"),
        "steps of numbers": (without(steps=[1]), "line 1: step 1: state: expected a dictionary"),
        "no limit": (without(max_steps=0), "line 1: max_steps: expected 1..32767, got 0"),
        "small board": (at_step(b="0" * 64), "step 3: b, the board: expected 121 cells, got 64"),
        "an action": (at_step(a=[0, 0, 7, 0]), "action of seat 2 in game 2: expected 0..5"),
        "three actions": (at_step(a=[0, 0, 1]), "actions: expected whole numbers"),
        "no rewards": (at_step(r=None), "r, the rewards: expected whole numbers"),
        "done in words": (at_step(d="no"), "d, whether it is over: expected whole numbers"),
        "off the board": (at_step(fl=[[0, 11, 1]]), "step 3: fl, flame 0, column: expected 0..10"),
        "fraction": (at_step(ag=[[0.5, *agents[0][1:]], *agents[1:]]), "step 3: ag, agent 0"),
        "two agents": (at_step(ag=agents[:2]), "step 3: ag: expected 4 agents, got 2"),
        "too large": (at_step(t=99999), "step 3: t, the step: expected 0..32767"),
        "a fog board": (at_step(b="x" * 121), "step 3: b, the board, at (0, 0)"),
        "too many bombs": (at_step(bo=[[0, 0, 1, 2, 0, 0]] * 122), "step 3: bo, bomb: expected"),
    }


CASES = sorted(broken(json.dumps({"steps": [{"ag": [[0] * 6] * 4}] * 3}).encode()))


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_trace_is_refused(
    case: str, games: list[dict[str, Any]], tmp_path: Path
) -> None:
    content, message = broken(json.dumps(games[0]).encode())[case]
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)
    with pytest.raises(BackplayError) as error:
        traces.verify([path])
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BackplayError, match="expected a readable file"):
        traces.verify([tmp_path / "none.jsonl"])
    with pytest.raises(BackplayError, match="expected a readable file"):
        traces.verify([tmp_path])


def test_progress_and_packed_files_by_their_content(
    games: list[dict[str, Any]], tmp_path: Path
) -> None:
    packed = tmp_path / "games.jsonl"  # whatever its name says
    packed.write_bytes(gzip.compress(write(tmp_path / "plain.jsonl", games[:3]).read_bytes()))
    seen: list[tuple[int, int]] = []
    report = traces.verify([packed, tmp_path / "plain.jsonl"], lambda *so_far: seen.append(so_far))
    assert report.exact
    assert (report.files, report.games) == (2, 6)
    assert [games for games, _ in seen] == [1, 2, 3, 4, 5, 6]
    assert seen[-1][1] == report.steps == 2 * sum(len(game["steps"]) for game in games[:3])
    assert str(report) == f"6 games, {report.steps} steps: all exact"


def test_rows_at_once_are_rows_one_by_one(games: list[dict[str, Any]]) -> None:
    for game in games[:20]:
        first = states.from_json(game["s0"])
        rows = rows_from_json(first, game["steps"])
        np.testing.assert_array_equal(rows[0], first)
        for row, step in zip(rows[1:], game["steps"], strict=True):
            np.testing.assert_array_equal(row, states.from_json(step))
    assert rows_from_json(first, []).shape == (1, at.ROW)


def a_game(seed: int, **variant: int) -> tuple[np.ndarray, np.ndarray]:
    """States and actions of a game of random agents, with random words."""
    rng, row = np.random.default_rng(seed), np.zeros(at.ROW, np.int16)
    boards.generate(row, chance.streams(seed, 1), 0)
    settings = states.empty_row(**variant)[: at.WORDS]
    row[1 : at.WORDS] = settings[1:]
    row[at.STEP] = 497 if variant.get("collapse") else 0
    rows, taken = [row.copy()], []
    rewards = np.zeros(4, int)
    for _ in range(80):
        taken.append(rng.integers(0, 6, 4))
        rules.step_with_words(row, taken[-1], rng.integers(0, 8, (4, 2)))
        rows.append(row.copy())
        if rules.outcome(row, rewards):
            break
    return np.array(rows), np.array(taken)


VARIANTS = [
    {},
    {"limit": 20},
    {"team": 1, "view": 4, "max_blast": 4},
    {"team": 1, "radio": 1},
    {"collapse": 1},
]


@pytest.mark.parametrize("name", ["ours.jsonl", "ours.jsonl.gz"])
def test_our_own_games_are_written_and_verified(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    played = [a_game(seed, **variant) for seed, variant in enumerate(VARIANTS * 3)]
    agents = ["random"] * 4
    written = [traces.trace(*game, agents=agents, seed=s) for s, game in enumerate(played)]
    traces.write_traces(path, written)
    report = traces.verify([path])
    assert report.exact, str(report)
    assert report.steps == sum(len(actions) for _, actions in played)
    assert [game for _, game in traces.read_traces(path)] == written
    assert list(tmp_path.iterdir()) == [path]
    ends = {game["result"] for game in written}
    assert {"Win", "Tie"} <= ends
    team_wins = [g["winners"] for g in written if g["s0"].get("variant", {}).get("team")]
    assert [0, 2] in team_wins or [1, 3] in team_wins


def test_a_trace_needs_an_action_between_any_two_states() -> None:
    rows, actions = a_game(0)
    with pytest.raises(BackplayError, match="actions: expected"):
        traces.trace(rows, actions[:-1], agents=["random"] * 4)
