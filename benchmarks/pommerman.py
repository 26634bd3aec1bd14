"""Pommerman: steps, observations and decisions a second.

Each row is compared with another way to the same thing, measured in the same run: rounds alternate,
so that a busy moment of the machine hits both sides, and a rate is its rounds' median. Games are
random unless said otherwise, drawing actions and fresh boards included. Ends with one JSON line.
Run: .venv/bin/python benchmarks/pommerman.py
"""

import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from backplay.envs import chance
from backplay.envs.chance import draw
from backplay.envs.kernels import kernel
from backplay.envs.pommerman import agents, boards, planes, rules
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.envs.pommerman.dictionary import observe
from backplay.envs.pommerman.layout import AGENT_ALIVE, AGENT_FIELDS, AGENTS, ROW, SEATS

GAMES, ROUNDS = 128, 7


@kernel
def play_random(states, streams, steps, actions, rewards):
    """Plays all games of random agents for `steps` steps, starting over when one ends."""
    for _ in range(steps):
        for i in range(states.shape[0]):
            bits = draw(streams, i)
            for seat in range(SEATS):  # 16 of the 64 bits make an action 0..5
                part = (bits >> np.uint64(16 * seat)) & np.uint64(0xFFFF)
                actions[seat] = np.int64((part * np.uint64(6)) >> np.uint64(16))
            rules.step(states[i], actions)
            if rules.outcome(states[i], rewards):
                boards.generate(states[i], streams, i)


@kernel
def play_agents(kind, states, memories, streams, options, scratch, steps, actions, rewards):
    """Plays all games of four agents of a kind for `steps` steps; returns their decisions."""
    decisions = 0
    for _ in range(steps):
        for i in range(states.shape[0]):
            s = states[i]
            for seat in range(SEATS):
                actions[seat] = 0
                if s[AGENTS + AGENT_FIELDS * seat + AGENT_ALIVE]:
                    memory = memories[i, seat]
                    actions[seat] = agents.decide(
                        kind, s, seat, memory, streams, i, options, scratch
                    )
                    decisions += 1
            rules.step(s, actions)
            if rules.outcome(s, rewards):
                boards.generate(s, streams, i)
                for seat in range(SEATS):
                    agents.forget(memories[i, seat])
    return decisions


class Games:
    """Games side by side, and room for their actions and rewards."""

    def __init__(self, count: int, seed: int) -> None:
        self.states = np.zeros((count, ROW), np.int16)
        self.streams = chance.streams(seed, count)
        boards.generate_many(self.states, self.streams)
        self.actions, self.rewards = np.zeros(SEATS, np.int64), np.zeros(SEATS, np.int64)
        self.memories = np.zeros((count, SEATS, agents.MEMORY), np.int16)
        self.scratch = np.zeros(agents.SCRATCH, np.int16)

    def random(self, steps: int) -> int:
        play_random(self.states, self.streams, steps, self.actions, self.rewards)
        return steps * len(self.states)

    def play(self, kind: int, steps: int) -> int:
        parts = self.states, self.memories, self.streams, FsmtsOptions().row(), self.scratch
        return int(play_agents(kind, *parts, steps, self.actions, self.rewards))


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is measured, and what it is compared with. Both return how much they did."""

    name: str
    unit: str
    run: Callable[[], int]
    other_name: str
    other: Callable[[], int]


def threads(steps: int) -> Case:
    one, two = Games(2 * GAMES, seed=1), [Games(GAMES, seed=2), Games(GAMES, seed=3)]
    pool = ThreadPoolExecutor(2)
    return Case(
        name="random games, two threads",
        unit="steps/s",
        run=lambda: sum(pool.map(lambda games: games.random(steps), two)),
        other_name="one thread",
        other=lambda: one.random(steps),
    )


def batches(steps: int) -> Case:
    many, single = Games(GAMES, seed=4), Games(1, seed=5)

    def one_by_one() -> int:
        for _ in range(steps):
            single.random(1)
        return steps

    return Case(
        name=f"random games, {GAMES} a call",
        unit="steps/s",
        run=lambda: many.random(steps),
        other_name="one step a call",
        other=one_by_one,
    )


def observations(times: int) -> Case:
    games = Games(GAMES, seed=6)
    games.random(15)
    seats, before = np.arange(GAMES) % SEATS, games.states.copy()
    out = np.zeros((GAMES, 2 * planes.PLANES, 11, 11), np.float32)

    def stacked() -> int:
        for _ in range(times):
            planes.stack_many(0, GAMES, before, games.states, seats, out)
        return times * GAMES

    def dictionaries() -> int:
        for row, seat in zip(games.states, seats, strict=True):
            observe(row, int(seat))
        return GAMES

    return Case(
        name="stacked planes, float32",
        unit="observations/s",
        run=stacked,
        other_name="dictionaries",
        other=dictionaries,
    )


def decisions(simple_steps: int, fsmts_steps: int) -> Case:
    simple, fsmts = Games(16, seed=7), Games(16, seed=8)
    simple.play(agents.SIMPLE, 100)
    fsmts.play(agents.FSMTS, 20)
    return Case(
        name="decisions of simple agents",
        unit="decisions/s",
        run=lambda: simple.play(agents.SIMPLE, simple_steps),
        other_name="of FSMTS agents",
        other=lambda: fsmts.play(agents.FSMTS, fsmts_steps),
    )


def rates(case: Case) -> tuple[float, float]:
    """Medians of what is done in a second, by it and by the other."""
    seen: tuple[list[float], list[float]] = [], []
    case.run(), case.other()  # warm up
    for _ in range(ROUNDS):
        for run, of in zip((case.run, case.other), seen, strict=True):
            begin = time.perf_counter()
            done = run()
            of.append(done / (time.perf_counter() - begin))
    return statistics.median(seen[0]), statistics.median(seen[1])


def main() -> None:
    results = {}
    print(f"{'':29} {'':>11} {'':16} {'':>11} {'ratio':>7}")
    for case in (threads(1000), batches(2000), observations(50), decisions(1000, 50)):
        rate, other = rates(case)
        ratio = rate / other
        print(
            f"{case.name:29} {rate:11,.0f} {case.other_name:>16} {other:11,.0f} {ratio:6.1f}×"
            f"   {case.unit}",
            flush=True,
        )
        results[case.name] = {
            "rate": round(rate),
            "compared with": case.other_name,
            "its rate": round(other),
            "ratio": round(ratio, 2),
            "unit": case.unit,
        }
    print(json.dumps({"benchmark": "pommerman", "results": results}))


if __name__ == "__main__":
    main()
