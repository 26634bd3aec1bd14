"""TensorBoard logs say what the run says, once, however often it was killed."""

from pathlib import Path

import numpy as np
import pytest

from backplay.records import Episode, Start
from backplay.train import Progress
from backplay.train.evaluate import Evaluation

pytest.importorskip("tensorboard")

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from backplay.integrations.tensorboard import open_logs


def progress(frames: int, success: float | None = None) -> Progress:
    evaluation = None
    if success is not None:
        won = np.arange(10) < 10 * success
        evaluation = Evaluation(won, won.astype(float), np.full(10, 7))
    return Progress(
        frames=frames, total_frames=100, frames_per_second=5.0, seconds_left=1.0,
        starts="[0, 4) steps back", train_success=0.25, true_success=success,
        evaluation=evaluation, episodes=[Episode(Start(0, 1), 0.0, 3, True)],
        metrics={"entropy": 0.5 + frames},
    )  # fmt: skip


def logged(path: Path) -> EventAccumulator:
    found = EventAccumulator(str(path))
    found.Reload()
    return found


def test_what_was_learned_and_measured_is_logged(tmp_path: Path) -> None:
    with open_logs(tmp_path, resumed_at=0) as show:
        show(progress(10))
        show(progress(20, success=0.3))
    found = logged(tmp_path)
    assert [(e.step, e.value) for e in found.Scalars("learner/entropy")] == [(10, 10.5), (20, 20.5)]
    (measured,) = found.Scalars("success/true_start")
    assert measured.step == 20
    assert measured.value == pytest.approx(0.3)
    assert found.Scalars("success/where_episodes_start")[0].value == 0.25
    assert found.Scalars("episodes/length")[0].value == 3


def test_a_resumed_run_does_not_log_twice(tmp_path: Path) -> None:
    with open_logs(tmp_path, resumed_at=0) as show:
        for frames in (10, 20, 30):
            show(progress(frames))
    with open_logs(tmp_path, resumed_at=10) as show:
        for frames in (20, 30):
            show(progress(frames))
    assert [e.step for e in logged(tmp_path).Scalars("learner/entropy")] == [10, 20, 30]
