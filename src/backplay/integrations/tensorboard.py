"""TensorBoard logs of a training run, beside the run's own metrics.

    with open_logs(Path("runs/backplay-0/tensorboard"), resumed_at=0) as show:
        for progress in training.run():
            show(progress)

Comes in: `Progress` after every update. Goes out: event files. Needs the extra `tensorboard`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from backplay.extras import require
from backplay.train import Progress


@contextmanager
def open_logs(path: Path, *, resumed_at: int) -> Iterator[Callable[[Progress], None]]:
    """A function that logs an update; what a killed run logged beyond `resumed_at` is hidden."""
    require("tensorboard")
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(path), purge_step=resumed_at + 1)

    def log(progress: Progress) -> None:
        for name, value in _scalars(progress).items():
            writer.add_scalar(name, value, progress.frames)
        writer.add_text("starts", progress.starts, progress.frames)

    try:
        yield log
    finally:
        writer.close()


def _scalars(progress: Progress) -> dict[str, float]:
    found = {f"learner/{name}": value for name, value in progress.metrics.items()}
    found["speed/frames_per_second"] = progress.frames_per_second
    if progress.train_success is not None:
        found["success/where_episodes_start"] = progress.train_success
    if progress.evaluation is not None:
        found["success/true_start"] = progress.evaluation.success
        found["return/true_start"] = float(progress.evaluation.returns.mean())
    if progress.episodes:
        lengths = [episode.length for episode in progress.episodes]
        found["episodes/length"] = sum(lengths) / len(lengths)
    return found
