"""Standard, Uniform, and the defaults every curriculum inherits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backplay.curricula import Curriculum, Standard, Uniform, check_curriculum
from backplay.errors import BackplayError
from backplay.records import Episode


@dataclass(frozen=True)
class Halfway(Curriculum):
    """The least a user has to write: everything else is inherited."""

    def weights(self, demo: int, length: int) -> np.ndarray:
        weights = np.zeros(length + 1)
        weights[length // 2] = 1.0
        return weights

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        return self


@dataclass(frozen=True)
class FirstDemo(Standard):
    """A subclass that prefers a demonstration: the fast path has to follow."""

    def demo_weights(self, lengths: np.ndarray) -> np.ndarray:
        weights = np.zeros(len(lengths))
        weights[0] = 1.0
        return weights


def test_standard_starts_in_the_initial_state() -> None:
    assert Standard().weights(0, 3).tolist() == [1, 0, 0, 0]
    assert Standard().update([], 10**6) == Standard()


def test_uniform_is_flat_up_to_the_state_before_the_end() -> None:
    assert Uniform().weights(0, 4).tolist() == [0.25, 0.25, 0.25, 0.25, 0]
    assert Uniform().weights(0, 1).tolist() == [1, 0]


@pytest.mark.parametrize("curriculum", [Standard(), Uniform()])
def test_update_wants_the_total_frames(curriculum: Curriculum) -> None:
    with pytest.raises(BackplayError, match="frames"):
        curriculum.update([], -1)
    with pytest.raises(BackplayError, match="frames"):
        curriculum.update([], 1.0)
    assert curriculum.update([], np.int64(20)) == curriculum.update([], 20).update([], 20)


@pytest.mark.parametrize("curriculum", [Standard(), Uniform(), Halfway()])
def test_contract(curriculum: Curriculum) -> None:
    check_curriculum(curriculum)
    assert isinstance(curriculum, Curriculum)


def test_a_subclass_may_prefer_a_demonstration() -> None:
    check_curriculum(FirstDemo())
    demo, _ = FirstDemo().sample([3, 3, 3], 50, np.random.default_rng(0))
    assert set(demo) == {0}


def test_defaults_draw_from_the_weights() -> None:
    assert Halfway().demo_weights([4, 6, 8, 9]).tolist() == [0.25] * 4
    assert Halfway().describe() == "Halfway"
    demo, step = Halfway().sample([4, 8], 1000, np.random.default_rng(0))
    assert demo.dtype == step.dtype == np.int64
    assert (step == np.array([2, 4])[demo]).all()
    assert 400 < demo.sum() < 600


@given(length=st.integers(1, 500), n=st.integers(0, 5), seed=st.integers(0, 99))
def test_weights_and_samples_of_any_length(length: int, n: int, seed: int) -> None:
    for curriculum in (Standard(), Uniform()):
        weights = curriculum.weights(0, length)
        assert weights.shape == (length + 1,)
        assert weights.sum() == pytest.approx(1.0)
        assert weights[-1] == 0.0
        demo, step = curriculum.sample([length, 3], n, np.random.default_rng(seed))
        assert demo.shape == step.shape == (n,)
        assert (step < np.array([length, 3])[demo]).all()


@pytest.mark.parametrize("lengths", [[], [0], [3, -1], [1.5], ["a"], 5, [[1, 2]], [[1], [2, 3]]])
def test_lengths_are_validated_where_they_enter(lengths: object) -> None:
    rng = np.random.default_rng(0)
    for curriculum in (Standard(), Uniform(), Halfway()):
        with pytest.raises(BackplayError, match="length"):
            curriculum.sample(lengths, 1, rng)
        with pytest.raises(BackplayError, match="length"):
            curriculum.demo_weights(lengths)


def test_a_demonstration_without_steps_is_refused() -> None:
    for curriculum in (Standard(), Uniform()):
        with pytest.raises(BackplayError, match="at least 1 step, got 0"):
            curriculum.weights(0, 0)
