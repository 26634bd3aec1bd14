"""Carries out what a run directory asks for: begins or resumes it, saves on the way, measures.

    run = prepare(Path("runs/backplay-0"), MazeJob(regime="backplay"))
    carry_out(run.path)

Comes in: a run directory with a job in its config. Goes out: its metrics, checkpoints and, at the
end, its result. A run that is killed at any moment and carried out again ends with the same bytes
in its metrics, last checkpoint and result. Does not know: screens, processes, other runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch

from backplay import runs
from backplay.errors import BackplayError, ensure, show
from backplay.learners.workers import Alone, Workers, any_of, from_first
from backplay.runs import Run
from backplay.runs.run import CLOCK
from backplay.runs.waiting import until_it_works
from backplay.train import Progress, Training
from backplay.train.agent import Agent
from backplay.train.env_job import EnvJob
from backplay.train.job import Job, Work, from_json, to_json
from backplay.train.own_envs import made_known
from backplay.train.trust import require_trust

SAVE_SECONDS = 30.0  # at most this much work is lost to a crash

Show = Callable[[Progress], None]
Say = Callable[[str], None]
Stop = Callable[[], bool]


def prepare(
    path: Path,
    job: Job,
    files: Sequence[Path] = (),
    *,
    threads: int = 1,
    command: str | None = None,
) -> Run:
    """The run directory of a job, made if there is none; one of another job is refused.

    Args:
        path: where.
        job: what is asked for.
        files: what the job needs besides; the run keeps copies of its own.
        threads: of the learner.
        command: how it is made; by default as this process was started.
    """
    config = {"job": to_json(job), "threads": threads}
    if not runs.is_run(path):
        try:
            return runs.create(path, config, files, command=command)
        except BackplayError:
            if not runs.is_run(path):  # else somebody was faster
                raise
    run = runs.open_run(path)
    ensure(
        asked(run) == (job, threads), f"{path} is another run", show(config), run.config,
        do="Choose another directory, or remove this one.",
    )  # fmt: skip
    return run


def carry_out(
    path: Path,
    *,
    work: Work | None = None,
    stop: Stop | None = None,
    show: Show | None = None,
    say: Say | None = None,
    save_seconds: float = SAVE_SECONDS,
    workers: Workers | None = None,
    trust: bool = False,
) -> bool:
    """Does the job of a run directory from where it stands; False if it was stopped before the end.

    Args:
        path: what `prepare` made.
        work: what `begin` of its job made just now; by default that is done here.
        stop: asked after every update; once it says yes, the run is saved and left.
        show: told where the run stands after every update.
        say: told what happens besides, in words.
        save_seconds: at most so much work is lost to a kill.
        workers: with whom, if not alone; all call this, and the first one writes and shows.
        trust: whether the directory may name paths and code to its environment.
    """
    run, workers = runs.open_run(path), workers or Alone()
    with run.locked() if workers.rank == 0 else nullcontext():
        if run.result is not None:
            return True
        if work is None:
            job, threads = asked(run)
            _require_trust(run, job, trust)
            torch.set_num_threads(threads)
            work = job.begin(say, workers, run.demonstrations)
        try:
            return drive(
                run, work, stop=stop, show=show, say=say, save_seconds=save_seconds,
                workers=workers,
            )  # fmt: skip
        finally:
            work.close()


def drive(
    run: Run,
    work: Work,
    *,
    stop: Stop | None = None,
    show: Show | None = None,
    say: Say | None = None,
    save_seconds: float = SAVE_SECONDS,
    workers: Workers | None = None,
) -> bool:
    """Resumes `work`, which stands at its beginning, and goes on; as `carry_out`, in a locked run.

    Of several workers, which are the training's, all call this and the first one writes.

    The seconds of building it are not counted, those of everything from here on are.
    """
    training = work.training
    workers = workers or Alone()
    files = _Files(run, say, stop) if workers.rank == 0 else None
    if training is None:
        if files:
            files.patiently(run.begin_process)
            files.save({"frames": 0, **work.state()})
            files.finish({"frames": 0, **work.result()})
        return True
    state = from_first(workers, files.resume(exact=training.exact_resume) if files else None)
    if state is not None:
        training.load_state(state)
    if files:
        files.say(f"{run.path}: at {training.frames:,} of {training.total_frames:,} frames")
    saved = time.monotonic()
    for progress in training.run():
        if files:
            line = work.line(progress)
            files.patiently(partial(run.append_metrics, line))
            if show:
                show(progress)
        due = time.monotonic() - saved >= save_seconds or progress.evaluation is not None
        stopping = any_of(workers, stop is not None and stop()) and not progress.finished
        if any_of(workers, due or stopping):
            state = training.state()
            if files and state is not None:  # None: a trainer that begins again when it is killed
                files.save(state)
            saved = time.monotonic()
        if stopping:
            return False
    result = work.result()
    if files:
        files.finish({"frames": training.frames, **result})
    return True


class _Files:
    """Writes a run's files, and the time that has passed; waits where the disk is full."""

    def __init__(self, run: Run, say: Say | None, stop: Stop | None) -> None:
        self._run, self.say, self._stop = run, say or (lambda _: None), stop
        self._frames, self._began = 0, time.monotonic()
        self._notes: list[str] = []
        try:
            self._before = run.seconds
        except BackplayError as error:
            self._before = 0.0
            self._notes.append(f"the wall time before is lost: {error}")
            (run.path / CLOCK).unlink(missing_ok=True)

    def resume(self, *, exact: bool) -> dict[str, Any] | None:
        """What was saved last; where it is not resumed exactly, that is noted."""
        loaded = self.patiently(self._run.resume)
        self._notes += loaded.notes if loaded else []
        if loaded and not exact:
            self._notes.append(f"new episodes from {loaded.state['frames']:,} frames on")
        for note in self._notes:
            self.say(note)
        self.patiently(lambda: self._run.begin_process(self._notes))
        return loaded.state if loaded else None

    def save(self, state: dict[str, Any]) -> None:
        """A checkpoint, and when it was made."""
        self._frames = int(state["frames"])
        self.patiently(lambda: self._run.save(state))
        self._tick()  # after it: a clock that has ticked says that there is a checkpoint

    def finish(self, result: dict[str, Any]) -> None:
        """The end."""
        self._frames = int(result["frames"])
        self.patiently(lambda: self._run.finish(result))
        self._tick()

    def _tick(self) -> None:
        seconds = self._before + time.monotonic() - self._began
        self.patiently(lambda: self._run.tick(self._frames, seconds))

    def patiently(self, write: Callable[[], Any]) -> Any:
        """What `write` returns, after as long as the disk takes to have room for it."""
        return until_it_works(write, self.say, self._stop)


def asked(run: Run) -> tuple[Job, int]:
    """The job of a run directory, and its threads."""
    threads = run.config.get("threads")
    try:
        job = from_json(run.job)
        ensure(type(threads) is int and threads > 0, "threads", "a whole number from 1 on", threads)
    except BackplayError as error:
        if "job" not in run.config:
            raise
        command = run.provenance.get("command")
        raise BackplayError(
            f"{run.path}/config.json is damaged, or of another version of backplay", got=error,
            do=f"Copy the run again from where it came, or make it anew: {command}",
        ) from error  # fmt: skip
    return job, cast(int, threads)


def _require_trust(run: Run, job: Job, trust: bool) -> None:
    """Refuses a run that names more than plain settings, unless the user trusts it."""
    asks_for = getattr(job, "asks_for", None)
    if asks_for is not None and not trust:
        require_trust(asks_for(run.demonstrations), str(run.path))


def begun(run: Run, *, trust: bool = False) -> Work:
    """The job of a run directory at its beginning; `trust` is as for `carry_out`."""
    job, threads = asked(run)
    _require_trust(run, job, trust)
    torch.set_num_threads(threads)
    return job.begin(files=run.demonstrations)


def opened(path: Path, *, trust: bool = False) -> tuple[Run, Work]:
    """A run as it stood when it was saved last; BackplayError where nothing was saved.

    `trust` is as for `carry_out`.
    """
    run = runs.open_run(path)
    asked(run)  # a damaged job is the first thing to say
    state = last_state(run)
    work = begun(run, trust=trust)
    if work.training is not None:
        work.training.load_state(state)
    return run, work


def last_state(run: Run) -> dict[str, Any]:
    """What a run saved last; BackplayError where nothing was saved."""
    loaded = run.load()
    if loaded is None:
        again = f"Resume it: backplay work {run.path}"
        raise BackplayError(f"{run.path} has no checkpoint yet", do=again)
    return loaded.state


@contextmanager
def trained(path: Path, *, trust: bool = False) -> Iterator[tuple[Work, Training]]:
    """The work and the training of a run that our own loop trained, as it was saved last.

    `trust` is as for `carry_out`.
    """
    _, work = opened(path, trust=trust)
    try:
        if not isinstance(work.training, Training):
            raise BackplayError(
                f"{path} was not trained by backplay's own learner",
                do="See its result.json for what it measured; load it with the trainer that made"
                " it.",
            )
        yield work, work.training
    finally:
        work.close()


def load_agent(
    path: str | Path, make_env: Callable[..., Any] | None = None, *, trust: bool = False
) -> Agent:
    """The agent of the run in a directory, as it was saved last.

    Args:
        path: the directory.
        make_env: your class, where the run is of code of your own, `./grid.py:KeyDoor`: a directory
            alone never runs code.
        trust: let the directory name paths and code to its environment, see docs/trust.md.
    """
    if make_env is not None:
        _take_for_its_env(Path(path), make_env)
    with trained(Path(path), trust=trust) as (_, training):
        space = training.envs.single_observation_space
        return Agent(training.learner, space, training.succeeded, seed=training.config.seed)


def _take_for_its_env(path: Path, make_env: Callable[..., Any]) -> None:
    job, _ = asked(runs.open_run(path))
    if not isinstance(job, EnvJob) or ":" not in job.env:
        raise BackplayError(
            "make_env", expected="nothing: this run is of no code of your own",
            got=job.setting, do="Leave it out.",
        )  # fmt: skip
    made_known(job.env, make_env)
