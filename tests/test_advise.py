"""Advice on corridors whose answer is known, and its parts against the theory and by hand."""

import json
import time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

import backplay as bp
import envs_for_tests as envs
from backplay.advise import Advice, Measured, Rung, advise, describe, signs
from backplay.advise.advice import budget_for
from backplay.advise.fit import Fit, Prediction, _reach, draw_frames, fit_chain
from backplay.advise.measure import Prober, _Tally, ladder
from backplay.errors import BackplayError
from backplay.theory import Chain, log_reach_within, phases, walking_cost


class Dense(gym.Wrapper[Any, Any, Any, Any]):
    """Pays for every step to the right and takes for every step to the left."""

    def step(self, action: Any) -> Any:
        before = self.unwrapped.place
        seen, _, terminated, truncated, info = self.env.step(action)
        return seen, float(self.unwrapped.place - before), terminated, truncated, info


class Scattered(envs.Corridor):
    """Starts at 0 under seed 0 and mostly far to the left under any other; no wall at 0."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        near = seed == 0 or self.np_random.random() < 0.25
        self.place = 0 if near else -300
        return self.see(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        self.place += 1 if action else -1
        done = self.place >= self.length
        return self.see(), float(done), done, False, {}


class Beside(Scattered):
    """Starts two steps from the goal."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = self.length - 2
        return self.see(), {}


def corridor(length: int = 30, slip: float = 0.0, limit: int = 60) -> Any:
    return TimeLimit(envs.Corridor(length, slip), limit)


def advised(make: Any, actions: list[int], **settings: Any) -> Advice:
    demo = bp.record(make(), actions, seed=0)
    return advise(make, demo, **{"rollouts": 60, **settings})


def kinds(advice: Advice) -> set[str]:
    return {sign.kind for sign in advice.signs}


def test_a_long_corridor_with_a_reward_at_its_end_is_for_backplay() -> None:
    advice = advised(corridor, [1] * 30)
    assert advice.fastest == "Backplay"
    assert advice.helps
    assert advice.sure > 0.6
    assert kinds(advice) == set()
    frames = {name: one.log10_frames for name, one in advice.predictions.items()}
    assert frames["Backplay"] < frames["Uniform"] < frames["Standard"] - 1
    # A random step goes right with chance 1/2.
    assert advice.alpha_interval[0] - 0.03 <= 0.5 <= advice.alpha_interval[1] + 0.03
    assert advice.rungs[0].success > 0.75
    assert advice.rungs[-1].steps_back == 30


def test_dense_rewards_need_no_demonstration() -> None:
    advice = advised(lambda: Dense(corridor()), [1] * 30)
    assert "dense" in kinds(advice)
    assert (advice.fastest, advice.helps) == ("Standard", False)
    assert "Standard" in describe(advice).splitlines()[0]


def test_paid_survival_is_dense_and_a_cost_for_every_step_is_not() -> None:
    def lean(seen: Any) -> int:
        return int(seen[2] + 0.5 * seen[3] + 0.01 * seen[0] + 0.1 * seen[1] > 0)

    def pole() -> Any:
        return TimeLimit(gym.make("CartPole-v1").unwrapped, 150)

    demo = bp.record(pole(), lean, seed=0)
    assert len(demo) == 150
    assert "dense" in kinds(advise(pole, demo, rollouts=30))
    costly = advised(
        lambda: gym.wrappers.TransformReward(corridor(), lambda reward: reward - 1.0), [1] * 30
    )
    assert "dense" not in kinds(costly)
    assert costly.fastest == "Backplay"


def test_starts_far_from_the_demonstration_are_told() -> None:
    def make() -> Any:
        return TimeLimit(Scattered(20), 40)

    advice = advised(make, [1] * 20)
    (sign,) = [sign for sign in advice.signs if sign.kind == "starts"]
    assert 0.6 < sign.share < 0.9
    assert "off the demonstration" in describe(advice)
    gap = advice.predictions["Standard"].log10_frames - advice.predictions["Backplay"].log10_frames
    assert gap < np.log10(1 / sign.share) + 0.01  # what is off is learned at Standard's pace
    assert not advice.helps


def test_a_detour_is_told_and_an_easy_start_needs_no_backplay() -> None:
    advice = advised(lambda: TimeLimit(Beside(20), 90), [0] * 15 + [1] * 17)
    assert {"detour", "easy"} <= kinds(advice)
    assert advice.fastest == "Standard"


def test_luck_is_noticed() -> None:
    slippery = advised(lambda: corridor(12, slip=0.3, limit=100), [1] * 60, rollouts=20)
    assert "stochastic" in kinds(slippery)
    assert "stochastic" not in kinds(advised(corridor, [1] * 30, rollouts=5))


def test_what_a_wrapper_has_learned_since_the_recording_is_no_luck() -> None:
    advice = advised(lambda: gym.wrappers.NormalizeReward(corridor()), [1] * 30, rollouts=5)
    assert "stochastic" not in kinds(advice)


def test_a_policy_that_walks_straight_makes_it_easy() -> None:
    advice = advised(corridor, [1] * 30, policy=lambda seen: 1, rollouts=10)
    assert all(rung.success == 1 for rung in advice.rungs)
    assert "easy" in kinds(advice)
    never = advised(corridor, [1] * 30, policy=lambda seen: 0, rollouts=10)
    assert "hopeless" in kinds(never)


def test_the_seed_decides_and_everything_is_plain_data() -> None:
    one, same, other = (
        advised(corridor, [1] * 30, rollouts=8, seed=s).as_json() for s in (1, 1, 2)
    )
    assert json.dumps(one, sort_keys=True) == json.dumps(same, sort_keys=True)
    assert one["rungs"] != other["rungs"]
    assert set(one["predictions"]) == {"Standard", "Uniform", "Backplay"}


def test_the_line_makes_the_curriculum() -> None:
    advice = advised(corridor, [1] * 30, rollouts=20)
    assert advice.line.startswith("bp.Frontier(")
    assert eval(advice.line, {"bp": bp}) == advice.curriculum


def test_the_clock_is_kept_by_a_slow_env() -> None:
    class Slow(envs.Corridor):
        def step(self, action: Any) -> Any:
            time.sleep(0.002)
            return super().step(action)

    advised(corridor, [1] * 30, rollouts=3)  # compiles
    demo = bp.record(Slow(20), [1] * 20, seed=0)
    began = time.monotonic()
    advice = advise(lambda: Slow(20), demo, seconds=3.0)
    assert time.monotonic() - began < 4.0
    assert advice.out_of_time
    assert "ran out" in describe(advice)
    with pytest.raises(BackplayError, match="seconds"):
        advise(lambda: Slow(20), demo, seconds=0.1, policy=lambda _: 0)


def test_a_rollout_that_the_clock_ends_does_not_count() -> None:
    env = corridor()
    demo = bp.record(env, [1] * 30, seed=0)
    for back in (5, 30):
        tally = _Tally(back)
        late = Prober(env, demo, None, np.random.default_rng(0), until=time.monotonic() - 1)
        assert not late.play(tally)
        assert not tally.wins
        assert not late.reset_rewards
        late.until = time.monotonic() + 60
        assert late.play(tally)
        assert len(tally.wins) == len(tally.lengths) == 1


def test_the_ladder_reaches_the_start() -> None:
    assert ladder(1) == [1]
    assert ladder(20) == [1, 2, 3, 4, 6, 8, 12, 16, 20]
    assert ladder(24) == [1, 2, 3, 4, 6, 8, 12, 16, 24]
    assert all(ladder(n)[-1] == n and len(set(ladder(n))) == len(ladder(n)) for n in range(1, 300))


def measured_on(chain: Chain, horizon: int, rollouts: int, seed: int = 0) -> Measured:
    """Successes drawn from a chain's own chances."""
    chances = np.exp(log_reach_within(chain, horizon))
    rng = np.random.default_rng(seed)
    rungs = tuple(
        Rung(back, rollouts, int(rng.binomial(rollouts, chances[back])), 10.0, horizon)
        for back in ladder(chain.length)
    )
    return Measured(rungs, (np.zeros(3),), (0,), False, False)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.6])
def test_the_fit_finds_the_alpha_of_a_chain(alpha: float) -> None:
    fit = fit_chain(
        measured_on(Chain.constant(16, alpha), 40, 400), 16, 200, np.random.default_rng(0)
    )
    assert fit.dispersion < 3
    assert (fit.unit, fit.states, fit.horizon) == (1, 16, 40)
    # Where the break is early the far alpha is the chain's, where it is late the near one.
    means = [fit.chain(i).alpha[:8].mean() for i in range(200)]
    assert np.median(means) == pytest.approx(alpha, abs=0.05)


def test_the_fit_finds_an_easy_end_before_a_hard_rest() -> None:
    chain = Chain.of([0.9] * 6 + [0.3] * 14)
    fit = fit_chain(measured_on(chain, 60, 400), 20, 200, np.random.default_rng(0))
    assert np.median(fit.near) == pytest.approx(0.9, abs=0.07)
    assert np.median(fit.far) == pytest.approx(0.3, abs=0.07)
    assert 4 <= np.median(fit.breaks) <= 8


def test_long_demonstrations_are_seen_in_stretches() -> None:
    fit = fit_chain(
        measured_on(Chain.constant(100, 0.55), 300, 50), 100, 5, np.random.default_rng(0)
    )
    assert (fit.unit, fit.states, fit.horizon) == (3, 34, 100)
    assert fit.chain(0).length == 34


def test_chances_on_the_grid_are_those_of_the_theory() -> None:
    logits = np.array([-0.8, 1.1])
    breaks = np.array([3, 5])
    far = np.array([1.0, 2.5, 9.0])
    found = _reach(logits, logits[::-1], breaks, far, [4, 9, 30], 9)
    alphas = 1 / (1 + np.exp(-logits))
    for i in range(2):
        near, beyond = alphas[i], alphas[1 - i]
        chain = Chain.of([near] * breaks[i] + [beyond] * (9 - breaks[i]))
        reach = {h: np.exp(log_reach_within(chain, h)) for h in (4, 9, 30)}
        wanted = [reach[4][1], (reach[9][2] + reach[9][3]) / 2, reach[30][9]]
        np.testing.assert_allclose(found[i], wanted, rtol=1e-9)


def test_frames_are_trials_times_lengths() -> None:
    fit = Fit(np.array([0.4]), np.array([0.4]), np.array([3]), 1, 12, 24, 1.0)
    rungs = tuple(Rung(back, 100, 0, 7.0, 24) for back in ladder(12))
    measured = Measured(rungs, (np.zeros(3),), (0,), False, False)
    frames = draw_frames(fit, measured, 0.0, np.random.default_rng(0))
    for name, curriculum in (("Standard", bp.Standard()), ("Uniform", bp.Uniform())):
        work = walking_cost(Chain.constant(12, 0.4), phases(curriculum, 12), 24)
        trials = np.exp(work.log_trials_by_informed)
        starts = phases(curriculum, 12).by_distance()
        lengths = np.where(np.arange(13) == 0, 1.0, 7.0)
        assert 10 ** frames[name][0] == pytest.approx(trials @ starts @ lengths)
    # Enough successes from the reset count more than the chain: ten times the chance, a tenth.
    chance = float(np.exp(log_reach_within(Chain.constant(12, 0.4), 24)[-1]))
    wins = round(1e6 * 10 * chance)
    sure = Measured((*rungs[:-1], Rung(12, 10**6, wins, 7.0, 24)), (), (), False, False)
    again = draw_frames(fit, sure, 0.0, np.random.default_rng(0))
    assert np.median(again["Standard"] - frames["Standard"]) == pytest.approx(-1, abs=0.02)
    half = draw_frames(fit, measured, 0.5, np.random.default_rng(0))
    mixed = (10 ** frames["Backplay"][0] + 10 ** frames["Standard"][0]) / 2
    assert 10 ** half["Backplay"][0] == pytest.approx(mixed)


def test_budgets_are_round_and_bounded() -> None:
    assert [budget_for(Prediction(x, x, x)) for x in (0.0, 4.0, 4.8, 300.0, 320.0)] == [
        500_000, 500_000, 2_000_000, 50_000_000, 50_000_000,
    ]  # fmt: skip


@pytest.mark.parametrize("bad", [{"seed": -1}, {"rollouts": 0}, {"seconds": 0.0}, {"seed": "x"}])
def test_nonsense_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(BackplayError):
        advised(corridor, [1] * 30, **bad)


class Effort(envs.Corridor):
    """A corridor whose steps cost what their effort is; `shaped`, also the way that is left."""

    def __init__(self, shaped: bool) -> None:
        super().__init__(30)
        self.shaped, self.action_space = shaped, gym.spaces.Box(-1, 1, (1,), np.float32)

    def step(self, action: Any) -> Any:
        effort = float(abs(action[0]))
        seen, _, done, late, info = super().step(int(action[0] > 0))
        left = self.length - self.place if self.shaped else 0
        return seen, -0.1 - 0.02 * effort**2 - left, done, late, info


@pytest.mark.parametrize("shaped", [True, False])
def test_what_acting_costs_is_no_way_to_the_goal(shaped: bool) -> None:
    """Random actions cost more than the demonstrator's: that alone says nothing of the goal."""

    def make() -> Any:
        return TimeLimit(Effort(shaped), 200)

    demo = bp.record(make(), lambda _: np.array([0.1], np.float32), seed=0)
    advice = advise(make, demo, rollouts=20)
    assert ("dense" in kinds(advice)) == shaped
    assert advice.fastest == ("Standard" if shaped else "Backplay")


def test_of_pictures_some_numbers_are_looked_at() -> None:
    """All of them, in float64, were a gigabyte for 300 frames of an Atari game."""
    space = spaces.Box(0, 255, (210, 160, 3), np.uint8)
    pictures = [np.full(space.shape, shade, np.uint8) for shade in (0, 7)]
    flat = signs._flat(space, pictures)
    assert 2_048 < flat.shape[1] <= signs.NUMBERS
    assert flat[1].tolist() == [7.0] * flat.shape[1]
    small = spaces.Box(0, 1, (3,), np.float32)
    assert signs._flat(small, [np.array([0, 1, 0.5], np.float32)]).tolist() == [[0, 1, 0.5]]
