"""Carries out one run directory in this process, in sight: progress, Ctrl-C, how to go on.

Comes in: a run directory. Goes out: an exit code, and what is said on the way. For `train`,
`maze train` and `work`. Does not know: what is trained.
"""

from __future__ import annotations

from backplay.errors import BackplayError
from backplay.learners.workers import Workers
from backplay.runs import Run
from backplay.runs.execute import SAVE_SECONDS, carry_out
from backplay.train.job import Work
from backplay.ui.display import open_display, showing
from backplay.ui.interrupts import STOP_SIGNALS, STOPPING, exit_code, interrupts


def carry(
    run: Run,
    again: str,
    *,
    work: Work | None = None,
    tensorboard: bool = False,
    save_seconds: float = SAVE_SECONDS,
    workers: Workers | None = None,
    trust: bool = False,
) -> int:
    """Works until the end, which is 0, or until it is told to stop, which is 128 + n for signal n.

    Args:
        run: what `prepare` made.
        again: the command that resumes it.
        work: as `carry_out` takes it.
        tensorboard: whether to write logs for it; a run that has some gets more.
        save_seconds: at most so much work is lost to a kill.
        workers: with whom, if not alone.
        trust: as `carry_out` takes it.
    """
    first = workers is None or workers.rank == 0
    logs = run.path / "tensorboard"
    if logs.is_symlink():
        raise BackplayError(f"{logs} is a link", do="Remove it: links in a run are not followed.")
    logged = first and (tensorboard or logs.exists())
    seen: list[int] = []
    try:
        with (
            interrupts(STOPPING, signals=STOP_SIGNALS) as seen,
            open_display() as display,
            showing(run, display, tensorboard=logged) as show,
        ):
            done = carry_out(
                run.path, work=work, stop=lambda: bool(seen), show=show,
                say=display.say if first else None, save_seconds=save_seconds, workers=workers,
                trust=trust,
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = "from the last checkpoint" if run.checkpoint.exists() else "from the beginning"
        if first:
            print(f"stopped at once; to go on {kept}: {again}")
        return exit_code(seen)
    if not done and first:
        print(f"stopped and saved; to go on: {again}")
    return 0 if done else exit_code(seen)
