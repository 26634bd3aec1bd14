"""One run by several workers: the same as by one, up to the order in which numbers are added."""

import functools
from typing import Any

import numpy as np
import pytest
import together as tasks
import torch
from together import together

from backplay.data.trees import first_difference
from backplay.errors import BackplayError
from backplay.learners.division import divide
from backplay.learners.rollout import own_rows
from backplay.learners.workers import Alone, EnvRange, distributed, join, means, own_range
from backplay.train import TrainConfig

TASKS = (
    tasks.words, tasks.minibatch, tasks.batch, tasks.tiny, tasks.facts, tasks.taught, tasks.car,
    tasks.car_resumed, tasks.maze, tasks.maze_resumed, tasks.strangers,
)  # fmt: skip


@functools.cache
def done(size: int) -> dict[str, list[Any]]:
    """What so many workers came to in every task, by worker; they are started once."""
    alone("facts")  # compiles the kernels, so that no worker waits for another's compiler
    answers = together(*TASKS, size=size)
    return {task.__name__: said for task, said in zip(TASKS, answers, strict=True)}


@functools.cache
def alone(name: str) -> Any:
    torch.set_num_threads(1)
    return getattr(tasks, name)(Alone())


sizes = pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])


@sizes
@pytest.mark.parametrize("name", ["minibatch", "batch", "tiny", "facts", "taught"])
def test_workers_act_and_learn_as_one_would(name: str, size: int) -> None:
    whole, parts = alone(name), done(size)[name]
    for key, axis in (("actions", 1), ("rewards", 1), ("seen", 1)):
        np.testing.assert_array_equal(np.concatenate([p[key] for p in parts], axis), whole[key])
    for part in parts:
        np.testing.assert_array_equal(part["generator"], whole["generator"])
        # In float64 whatever is more than rounding would be seen.
        np.testing.assert_allclose(part["weights"], whole["weights"], rtol=1e-11, atol=1e-13)
        for mine, expected in zip(part["metrics"], whole["metrics"], strict=True):
            assert mine == pytest.approx(expected, rel=1e-5, abs=1e-8)
            assert list(mine) == list(expected)


@sizes
@pytest.mark.parametrize("name", ["minibatch", "batch", "tiny", "facts", "taught", "car", "maze"])
def test_workers_hold_the_same_weights_to_the_bit(name: str, size: int) -> None:
    first, *others = done(size)[name]
    for other in others:
        assert other["weights"].tobytes() == first["weights"].tobytes()


@sizes
@pytest.mark.parametrize("name", ["car", "maze"])
def test_a_run_by_workers_tells_the_same_story(name: str, size: int) -> None:
    whole = alone(name)
    assert len(whole["told"]) >= 3
    assert sum(len(update[4]) for update in whole["told"]) > 20  # episodes
    assert len({update[1] for update in whole["told"]}) > 1  # the curriculum moves
    assert sum(update[3] is not None for update in whole["told"]) >= 2  # evaluations
    for part in done(size)[name]:
        assert part["told"] == whole["told"]
        np.testing.assert_allclose(part["weights"], whole["weights"], rtol=1e-3, atol=1e-5)


@sizes
@pytest.mark.parametrize("name", ["car", "maze"])
def test_workers_go_on_with_what_one_saved(name: str, size: int) -> None:
    whole, begun = alone(name), alone(f"{name}_begun")
    assert 0 < len(begun["told"]) < len(whole["told"])
    for part in done(size)[f"{name}_resumed"]:
        assert begun["told"] + part["told"] == whole["told"]
        np.testing.assert_allclose(part["weights"], whole["weights"], rtol=1e-3, atol=1e-5)


@sizes
@pytest.mark.parametrize("name", ["car", "maze"])
def test_the_state_that_workers_save_is_what_one_would_save(name: str, size: int) -> None:
    whole = alone(name)["state"]
    for part in done(size)[name]:
        state = part["state"]
        assert state.keys() == whole.keys()
        for key in state.keys() - {"learner"}:
            assert first_difference(state[key], whole[key]) is None, key
        assert state["learner"].keys() == whole["learner"].keys()


@sizes
def test_workers_tell_each_other_plain_data(size: int) -> None:
    for said in done(size)["words"]:
        assert [tree["rank"] for tree in said["gathered"]] == list(range(size))
        for rank, tree in enumerate(said["gathered"]):
            np.testing.assert_array_equal(tree["row"], np.arange(1000 * rank, dtype=np.float16))
        assert said["first"] == ["of", 0]
        assert said["wished"] == [False] + [True] * size
        np.testing.assert_allclose(said["sum"], sum(0.1 * (rank + 1) for rank in range(size)))


@sizes
def test_workers_of_two_runs_are_refused(size: int) -> None:
    for error in done(size)["strangers"]:
        assert isinstance(error, BackplayError)
        assert "differ in settings" in str(error)
        assert "seed 2" in str(error)


def test_a_worker_that_dies_is_an_error_of_the_others() -> None:
    first, dead = together(tasks.death, size=2)[0]
    assert dead is None
    assert isinstance(first, BackplayError)
    assert "Another worker has ended or does not answer" in str(first)


def test_a_worker_that_is_silent_is_an_error_after_a_while() -> None:
    first, _ = together(tasks.silence, size=2, timeout=1.5)[0]
    assert isinstance(first, BackplayError)
    assert "Another worker has ended or does not answer" in str(first)


def test_one_alone_is_what_there_was_before_workers() -> None:
    # Recorded before this file was: a learner that shares with nobody must not have changed.
    found = alone("minibatch")
    assert found["actions"].sum() == 208
    np.testing.assert_allclose(found["weights"][:2], [-2.401619707482203, -0.47868937136326206])
    assert found["metrics"][-1] == pytest.approx(
        {
            "policy_loss": -0.006679782946346974, "value_loss": 35.63743826659296,
            "entropy": 0.6110411355782274, "approximate_kl": 0.003808781333664604,
            "clip_fraction": 0.0711805522441864, "explained_variance": -0.020417922845578973,
            "gradient_norm": 2.632946340687636, "learning_rate": 0.003, "frames": 144.0,
        }
    )  # fmt: skip


def test_shares_cover_all_envs_in_their_order() -> None:
    for total in (1, 5, 6, 512):
        for size in range(1, min(total, 7) + 1):
            shares = [EnvRange.of(total, rank, size) for rank in range(size)]
            owned = [i for share in shares for i in range(share.first, share.last)]
            assert owned == list(range(total))
            assert np.ptp([share.count for share in shares]) <= 1


def test_own_rows_by_hand() -> None:
    # Two steps of three envs are the samples 0 to 5; a worker has the envs 1 and 2.
    order = torch.tensor([5, 0, 3, 1, 4, 2])
    rows, bounds = own_rows(order, [0, 1, 3, 6], EnvRange(1, 3, 3))
    # Its own rows: sample 5 is step 1, env 2, so row 3; 1 is row 0; 4 is row 2; 2 is row 1.
    assert rows.tolist() == [3, 0, 2, 1]
    assert bounds == [0, 1, 1, 4]  # none in the second minibatch
    assert own_rows(order, [0, 6], EnvRange(0, 3, 3)) == (order, [0, 6])


def test_alone_nothing_is_copied() -> None:
    part, share = torch.arange(6.0).reshape(2, 3), EnvRange(0, 3, 3)
    assert own_range(Alone(), 3) == share
    assert join(Alone(), part, share, dim=1) is part
    assert Alone().add(part) is part
    assert means(Alone(), [part]) == [2.5]


def test_a_process_without_companions_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert isinstance(distributed(), Alone)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(BackplayError, match="no MASTER_ADDR"):
        distributed()
    with pytest.raises(BackplayError, match="more than 0"):
        distributed(0)


def test_companions_that_never_come_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    for name, value in (names | {"MASTER_PORT": str(tasks.free_port())}).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BackplayError, match="2 workers within 1 s"):
        distributed(1)


def test_more_workers_than_envs_are_refused() -> None:
    class Three(Alone):
        size = 3

    envs = tasks.maze_training(Alone()).envs
    with pytest.raises(BackplayError, match="at least 3, one for each worker"):
        divide(envs, 2, Three())
    with pytest.raises(BackplayError, match="7, as many as the batched env has"):
        divide(envs, TrainConfig().num_envs, Alone())
