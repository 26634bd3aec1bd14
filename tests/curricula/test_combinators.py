"""What goes around a curriculum: shares of other starts, an end, a cut, waiting, par."""

import numpy as np
import pytest

from backplay.curricula import (
    AtPar,
    Backplay,
    Curriculum,
    Frontier,
    Patience,
    ReverseCurriculum,
    Standard,
    TrueStarts,
    Uniform,
    Until,
    Waiting,
    Window,
    check_curriculum,
)
from backplay.errors import BackplayError
from backplay.records import Episode, Start, steps_allowed

WINDOWS = Backplay((Window(0, 2, 3), Window(100, 4, 5)))
COMPOSED = (
    Until(TrueStarts(Patience(Uniform(), 4.0)), at=500_000),
    TrueStarts(WINDOWS, 0.25, by_frames=False),
    AtPar(Frontier(), 0.1),
    Waiting(WINDOWS, 0.5),
)


def episode(step: int, success: bool, *, length: int = 10, reward: float = 0.0) -> Episode:
    return Episode(Start(0, step), reward, length, success, 10 - step, 1.0)


@pytest.mark.parametrize("curriculum", COMPOSED, ids=lambda c: type(c).__name__)
def test_contract(curriculum: Curriculum) -> None:
    check_curriculum(curriculum)


def test_shares_by_hand() -> None:
    true = TrueStarts(Backplay((Window(0, 2, 3),)), 0.25, by_frames=False)
    assert true.weights(0, 5).tolist() == [0.25, 0, 0, 0.75, 0, 0]


def test_a_share_of_frames_draws_long_episodes_less_often() -> None:
    curriculum = TrueStarts(Uniform(), 0.5)
    assert curriculum.chance == 0.5
    told = curriculum.update([episode(0, False, length=90), episode(5, True, length=10)], 100)
    assert told.chance == pytest.approx(0.1)
    chance = told.chance
    assert chance * 90 == pytest.approx((1 - chance) * 10)


def test_until_ends_in_the_initial_state_and_leaves_the_rest_as_it_stood() -> None:
    curriculum = Until(WINDOWS, at=1000)
    before = curriculum.update([], 999)
    assert before.weights(0, 9).argmax() == 5
    after = before.update([], 1000)
    assert after.weights(0, 9).tolist() == Standard().weights(0, 9).tolist()
    assert set(after.sample([5, 9], 100, np.random.default_rng(0))[1]) == {0}
    assert after.describe() == "initial state"
    assert after.inner == before.inner
    walking = ReverseCurriculum.begin([5, 9], seed=0, new_states=10, walk_steps=5)
    assert Until(walking, at=10).walks == walking.walks
    assert Until(walking, at=10).update([], 10).walks == ()


def test_waiting_holds_the_clock_inside() -> None:
    curriculum = Waiting(WINDOWS, 0.8)
    lost = [episode(8, False)] * 100
    held = curriculum.update(lost, 500)
    assert held.inner.frames == 0
    assert held.frames == 500
    assert "until 80% succeed (now 0%)" in held.describe()
    elsewhere = held.update([episode(1, True)] * 100, 600)  # not from the window: says nothing
    assert elsewhere.inner.frames == 0
    mastered = elsewhere.update([episode(8, True)] * 100, 700)
    assert mastered.inner.window.lo == 4
    assert mastered.recent == ()


def test_patience_is_the_curriculums() -> None:
    assert Uniform().patience is None
    assert Until(TrueStarts(Patience(Uniform(), 2)), at=9).patience == 2.0
    assert steps_allowed(2.0, 10) == 36
    assert steps_allowed(None, 10) > 10**18
    limited = Until(Patience(Uniform(), 2.0), at=10)
    assert limited.patience == 2.0
    assert limited.update([], 10).patience is None  # initial states have the time that they need


def test_par_is_success_by_reward() -> None:
    reached = episode(8, True, reward=0.5)
    rewarded = episode(8, False, reward=0.95)
    for told, moves in ((reached, False), (rewarded, True)):
        curriculum = AtPar(Waiting(WINDOWS, 0.8), 0.1).update([told] * 100, 100)
        assert (curriculum.inner.inner.frames > 0) is moves


@pytest.mark.parametrize(
    "make",
    [
        lambda: Patience(Uniform(), 0.5),
        lambda: Patience("uniform", 2.0),
        lambda: Patience(Uniform, 2.0),
        lambda: Until(Uniform(), at=-1),
        lambda: TrueStarts(Uniform(), 1.5),
        lambda: TrueStarts(Uniform(), lengths=(3.0,)),
        lambda: TrueStarts(Uniform(), float("nan")),
        lambda: AtPar(Uniform(), -0.1),
        lambda: Waiting(WINDOWS, 2.0),
        lambda: TrueStarts(ReverseCurriculum.begin([5], seed=0, new_states=10, walk_steps=5)),
        lambda: Waiting(ReverseCurriculum.begin([5], seed=0, new_states=10, walk_steps=5)),
    ],
)
def test_what_is_refused(make: object) -> None:
    with pytest.raises(BackplayError):
        make()
