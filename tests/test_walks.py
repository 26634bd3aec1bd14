"""Random walks that an env holds: the states they lead to, and what an episode from one counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers import TimeLimit

import backplay as bp
import envs_for_tests as envs
from backplay.curricula import check_curriculum
from backplay.demos.success import Ending
from backplay.learners import PPOConfig
from backplay.records import Start, Walk
from backplay.restore import DeepCopy, Replay
from backplay.train import TrainConfig, Training
from backplay.wrapper.walks import Walks
from corridor_demos import demos, make

torch.set_num_threads(1)

FIRST = Walk(2, Start(0, 1), 6, seed=17)
SECOND = Walk(5, Start(2, 4), 3, seed=9)
RESTORERS = [None, DeepCopy(), Replay()]


@dataclass(frozen=True)
class Listed(bp.Standard):
    """Initial states, and walks that can be asked for."""

    walks: tuple[Walk, ...] = (FIRST, SECOND)


def actions_of(walk: Walk) -> list[int]:
    return np.random.default_rng(walk.seed).integers(2, size=walk.steps).tolist()


def enter(env: bp.BackplayEnv, demo: int, step: int) -> Any:
    return env.reset(options={"start": Start(demo, step)})[0].tolist()


def recorded(actions: list[int], restorer: Any, env: Any = None) -> bp.Demonstration:
    return bp.record(env or envs.StatefulCorridor(100), actions, seed=1, restorer=restorer)


# The states -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make_env", [envs.Corridor, envs.StatefulCorridor])
@pytest.mark.parametrize("restorer", RESTORERS)
def test_a_walks_states_are_those_of_a_plain_walk(make_env: Any, restorer: Any) -> None:
    def plain(actions: list[int]) -> Any:
        env = make_env(100)
        seen = env.reset(seed=1)[0]
        for action in actions:
            seen, *_ = env.step(action)
        return seen.tolist()

    two = [recorded([1] * n, restorer, make_env(100)) for n in (10, 12)]
    env = bp.BackplayEnv(make_env(100), two, Listed())
    first, second = [1, *actions_of(FIRST)], [1, *actions_of(FIRST)[:4], *actions_of(SECOND)]
    for step in (6, 0, 3, 1):
        assert enter(env, 2, step) == plain(first[: 1 + step])
        assert env.step(1)[0].tolist() == plain([*first[: 1 + step], 1])
    for step in (3, 1, 0):
        assert enter(env, 5, step) == plain(second[: 5 + step])
        assert env.step(0)[0].tolist() == plain([*second[: 5 + step], 0])


@pytest.mark.parametrize("restorer", RESTORERS)
def test_a_walk_that_ends_an_episode_goes_on_from_where_it_set_out(restorer: Any) -> None:
    """From one step before the end, place 3 after 3 steps: a step right ends the episode."""
    demo = bp.record(envs.StatefulCorridor(4), [1] * 4, seed=1, restorer=restorer)
    seeds = {tuple(actions_of(Walk(1, FIRST.start, 5, seed))): seed for seed in range(400)}
    began = [3, 3]
    for actions, states in (
        ((1, 0, 0, 1, 1), [began, [2, 4], [1, 5], [2, 6], [3, 7]]),
        ((0, 1, 1, 0, 0), [[2, 4], [3, 5], began, [2, 4], [1, 5]]),
        ((1, 1, 0, 1, 1), [began, began, [2, 4], [3, 5], began]),
    ):
        walk = Walk(1, Start(0, 3), 5, seeds[actions])
        after = Walk(2, Start(1, actions.index(1) + 1), 1, 0)
        env = bp.BackplayEnv(envs.StatefulCorridor(4), [demo], Listed((walk, after)))
        assert [enter(env, 1, step) for step in range(6)] == [began, *states]
        assert env.start == Start(1, 5)  # as asked, so that whoever counts finds it
        assert enter(env, 2, 0) == states[after.start.step - 1]
        assert not env.step(0)[2], "what a walk holds is no end"


def test_steps_of_a_walk_that_goes_on_are_counted() -> None:
    """Two of five steps end an episode: each costs a way back, of three steps by replay."""
    seeds = {tuple(actions_of(Walk(1, FIRST.start, 5, seed))): seed for seed in range(400)}
    for restorer, ways in ((None, 0), (Replay(), 3 * 3)):
        demo = bp.record(envs.StatefulCorridor(4), [1] * 4, seed=1, restorer=restorer)
        walk = Walk(1, Start(0, 3), 5, seeds[1, 1, 0, 0, 0])
        env = bp.BackplayEnv(envs.StatefulCorridor(4), [demo], Listed((walk,)))
        enter(env, 1, 0)
        assert env.take_restored_steps() == ways + 5 + (3 if restorer else 0)


def test_a_walk_that_goes_on_has_other_luck_and_is_the_same_everywhere() -> None:
    """Every step slips with even chances, so after an end the way is another one."""
    slippery = envs.StatefulCorridor(4, slip=0.5)
    demo = bp.record(slippery, lambda _: 1, seed=1)
    last = len(demo) - 1
    walks = tuple(Walk(1 + i, Start(0, last), 60, seed=i) for i in range(3))

    def paths(seed: int, order: list[int]) -> list[Any]:
        env = bp.BackplayEnv(slippery, [demo], Listed(walks))
        env.reset(seed=seed)
        found = {i: [enter(env, i, step) for step in range(61)] for i in order}
        return [found[i] for i in sorted(found)]

    here = paths(0, [1, 2, 3])
    assert here == paths(5, [3, 1, 2])
    for path in here:
        lives = str(path).split(str(path[0]))[1:]
        assert len(lives) > 3, "it came to the end, and went on"
        assert len(set(lives)) > 2


@pytest.mark.parametrize("rng", ["reseed", "restore"])
def test_a_walk_is_the_same_in_every_worker_and_its_luck_its_own(rng: Any) -> None:
    walks = tuple(Walk(1 + i, Start(0, 299), 30, seed=max(1, i)) for i in range(4))
    slippery = envs.StatefulCorridor(10**6, slip=0.4)
    demo = bp.record(slippery, [1] * 300, seed=1)

    def paths(seed: int, order: list[int]) -> list[Any]:
        env = bp.BackplayEnv(slippery, [demo], Listed(walks), rng=rng)
        env.reset(seed=seed)
        found = {i: [enter(env, i, step) for step in range(31)] for i in order}
        return [found[i] for i in sorted(found)]

    here, there = paths(0, [1, 2, 3, 4]), paths(7, [4, 3, 2, 1])
    assert here == there
    assert here[0] == here[1]  # the same seed
    assert len({str(path) for path in here}) == 3

    def slips(path: list[Any], walk: Walk) -> list[bool]:
        moved = np.diff([place for place, _ in path])
        return [bool((m > 0) != a) for m, a in zip(moved, actions_of(walk), strict=True)]

    lucks = [slips(path, walk) for path, walk in zip(here, walks, strict=True)]
    assert (lucks[2] == lucks[3]) == (rng == "restore")


def test_episodes_from_one_state_differ_in_luck() -> None:
    slippery = envs.StatefulCorridor(10**6, slip=0.4)
    env = bp.BackplayEnv(slippery, [bp.record(slippery, [1] * 10, seed=1)], Listed((FIRST_OF_ONE,)))
    env.reset(seed=0)
    lives = set()
    for _ in range(5):
        enter(env, 1, 4)
        lives.add(tuple(env.step(1)[0][0] for _ in range(12)))
    assert len(lives) == 5


FIRST_OF_ONE = Walk(1, Start(0, 1), 6, seed=0)


def test_other_action_spaces_are_drawn_from_a_seeded_copy() -> None:
    env = envs.ReusedArrays()
    demo = bp.record(env, [np.array([0.5, 0.25])] * 3, seed=1)
    env.action_space.seed(5)
    before = str(env.action_space.np_random.bit_generator.state)
    wrapped = bp.BackplayEnv(env, [demo], Listed((FIRST_OF_ONE,)))
    space = gym.spaces.Box(-1.0, 1.0, (2,), np.float64, seed=FIRST_OF_ONE.seed)
    place = np.array([1.5, 0.75], np.float32)
    for step in range(1, 7):
        place += (3.0 * space.sample()).astype(np.float32)
        assert enter(wrapped, 1, step) == place.tolist()
    assert str(env.action_space.np_random.bit_generator.state) == before


@pytest.mark.parametrize(
    ("time_limit", "steps_taken", "left"),
    [("continue", [9, 10, 11, 8, 9, 10], 2), ("fresh", range(9, 15), 12)],
)
def test_the_clock_runs_while_walking(time_limit: Any, steps_taken: Any, left: int) -> None:
    """Eight of twelve steps are gone where the walk sets out, unless it gets a fresh clock."""
    long = TimeLimit(envs.Corridor(100), 12)
    demo = bp.record(long, [1] * 11, seed=1)
    walk = Walk(1, Start(0, 8), 6, seed=0)
    env = bp.BackplayEnv(long, [demo], Listed((walk,)), time_limit=time_limit)
    assert [enter(env, 1, step)[1] for step in range(1, 7)] == list(steps_taken)
    steps = 1
    while not env.step(1)[3]:
        steps += 1
    assert steps == left


# Who walks, and when ----------------------------------------------------------------------------


def test_walks_are_walked_when_they_are_first_needed_and_counted() -> None:
    env = make(bp.Standard())
    env.reset(seed=0)
    env.step(1)
    env.set_curriculum(Listed())  # in the middle of an episode, which goes on
    assert env.step(1)[0].tolist() == [2, 2]
    assert env.take_restored_steps() == 0
    enter(env, 5, 1)
    assert env.take_restored_steps() == 9  # the six steps of the walk it sets out from, too
    enter(env, 5, 3)
    enter(env, 2, 5)
    env.set_curriculum(Listed())
    enter(env, 5, 2)
    assert env.take_restored_steps() == 0
    env.set_curriculum(Listed((FIRST,)))
    enter(env, 2, 1)
    assert env.take_restored_steps() == 0
    env.set_curriculum(Listed())
    enter(env, 5, 2)
    assert env.take_restored_steps() == 3  # it had been dropped


def test_another_walk_under_the_same_id_is_another_walk() -> None:
    env = make(Listed())
    before = [enter(env, 5, step) for step in range(4)]
    moved = Walk(2, Start(1, 3), 6, seed=17)  # the second walk sets out from it
    env.set_curriculum(Listed((moved, SECOND)))
    fresh = make(Listed((moved, SECOND)))
    after = [enter(fresh, 5, step) for step in range(4)]
    assert after != before
    assert [enter(env, 5, step) for step in range(4)] == after


def test_replayed_walks_count_the_whole_way() -> None:
    two = [recorded([1] * n, Replay()) for n in (10, 12)]
    env = bp.BackplayEnv(envs.StatefulCorridor(100), two, Listed())
    enter(env, 2, 3)
    assert env.take_restored_steps() == (1 + 6) + (1 + 3)
    enter(env, 2, 6)
    assert env.take_restored_steps() == 1 + 6


@pytest.mark.parametrize("start", [(2, 7), (3, 0), (5, -1), (6, 0)])
def test_a_start_on_no_walk_is_refused(start: tuple[int, int]) -> None:
    with pytest.raises(bp.BackplayError, match=r'options\["start"\]'):
        make(Listed()).reset(options={"start": start})


def test_a_walk_that_nobody_listed_is_named() -> None:
    with pytest.raises(bp.BackplayError, match=r"Start\(demo=2, step=4\).*List the walk"):
        make(Listed((SECOND,)))

    class Wrong(bp.Standard):
        def sample(self, lengths: Any, n: int, rng: Any) -> Any:
            return np.full(n, 7), np.ones(n, np.int64)

    with pytest.raises(bp.BackplayError, match=r"Start\(demo=7, step=1\)"):
        make(Wrong()).reset()


# Episodes ---------------------------------------------------------------------------------------


def test_the_beginning_of_a_walk_is_no_reset() -> None:
    env = make(Listed())
    assert enter(env, 2, 0) == [1, 1]


def test_success_is_judged_by_the_demonstration_it_set_out_from() -> None:
    ends: list[Ending] = []

    def rule(end: Ending) -> bool:
        ends.append(end)
        return end.terminated

    env = make(Listed(), success=rule)
    enter(env, 5, 2)
    while not env.step(1)[2]:
        pass
    (episode,) = env.take_episodes()
    assert episode.start == Start(5, 2)
    assert episode.success
    assert ends[0].start == Start(0, 1)
    by_default = make(Listed())
    enter(by_default, 5, 2)
    while not by_default.step(1)[2]:
        pass
    assert by_default.take_episodes()[0].success


def test_patience_allows_for_the_way_back() -> None:
    """Where the demonstration took 3 steps and the walk 4 + 2: 16 + 2 * 9."""
    env = make(bp.Patience(Listed(), 2.0))
    enter(env, 5, 2)
    steps = 1
    while not env.step(0)[3]:
        steps += 1
    assert steps == 16 + 2 * 9


def test_origins_add_up() -> None:
    walks = Walks(demos())
    walks.keep((FIRST, SECOND))
    assert walks.origin(Start(1, 5)) == (Start(1, 5), 0)
    assert walks.origin(Start(5, 2)) == (Start(0, 1), 4 + 2)


# Training ---------------------------------------------------------------------------------------


def reverse_training(**settings: Any) -> Training:
    curriculum = bp.ReverseCurriculum.begin(
        [len(demo) for demo in demos()], seed=3, round_frames=128, new_states=24, walk_steps=6,
        new_starts=8, old_starts=4,
    )  # fmt: skip
    check_curriculum(curriculum, curriculum.demo_lengths, frames=(), draws=500)
    config = TrainConfig(
        num_envs=2, evaluate_every=0, final_episodes=2, ppo=PPOConfig(num_steps=32), **settings
    )
    return Training(lambda: TimeLimit(envs.Corridor(4), 40), limited(), curriculum, config)


def limited() -> list[bp.Demonstration]:
    two = ([1] * 4, [0, 1, 0, 1, 1, 1, 1])
    return [bp.record(TimeLimit(envs.Corridor(4), 40), actions, seed=1) for actions in two]


def test_training_moves_from_round_to_round_and_counts_the_walks() -> None:
    training = reverse_training(frames=800)
    seen = [(progress.frames, progress.starts) for progress in training.run()]
    assert seen[-1][1].startswith(f"round {seen[-1][0] // 128}: ")
    assert seen[-1][0] > 64 * len(seen) + 24  # two workers walk what they draw
    drawn = {episode.start for episode in training.envs.get_attr("curriculum")[0].starts}
    assert any(start.demo > 1 for start in drawn)
    assert training.envs.get_attr("curriculum")[1] == training.curriculum


def test_training_goes_on_from_its_state() -> None:
    training = reverse_training(frames=600)
    list(training.run())
    resumed = reverse_training(frames=900)
    resumed.load_state(training.state())
    assert resumed.curriculum == training.curriculum
    frames = [progress.frames for progress in resumed.run()]
    walked = sum(resumed.envs.get_attr("restored_steps"))
    assert walked > 0  # what it lost, again
    batch = resumed.config.num_envs * resumed.config.ppo.num_steps
    assert frames[-1] <= training.frames + len(frames) * batch + walked
