"""`backplay train`: an agent from demonstrations, in a run directory that can be resumed."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Literal

import torch
import tyro

from backplay import runs
from backplay.cli.carrying import carry
from backplay.cli.hints import going_on, what_to_try
from backplay.cli.options import say_doubts
from backplay.curricula import (
    Backplay,
    Curriculum,
    Frontier,
    ReverseCurriculum,
    Standard,
    Uniform,
    Window,
)
from backplay.demos import Demonstration, load
from backplay.demos.files import demonstration_files
from backplay.demos.success import describe_rule
from backplay.errors import BackplayError, ensure, show
from backplay.runs import Run
from backplay.runs.execute import asked, opened, prepare
from backplay.train import TrainConfig as Settings
from backplay.train.env_job import EnvJob, EnvWork
from backplay.train.environments import parse_env_kwargs
from backplay.train.job import Work, to_json
from backplay.train.own_envs import on_my_word
from backplay.train.trust import require_trust


@dataclass(frozen=True, kw_only=True)
class Told(Settings):
    """The settings of a run, where it matters whether its frames were told."""

    frames: int | None = None  # type: ignore[assignment]  # None is never handed on
    """Frames to train for, 500,000 if nothing is said; with --resume: in all, to go on until."""

    def __post_init__(self) -> None:
        self.settled  # noqa: B018  # raises where a setting is none

    @property
    def settled(self) -> Settings:
        """The settings, with the frames that are meant."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return Settings(**{name: value for name, value in told.items() if value is not None})


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Trains an agent with PPO; its episodes start in states of demonstrations.

        backplay train MountainCar-v0 car.npz --frames 300000
        backplay train MiniGrid-DoorKey-8x8-v0 a.npz b.npz --frames 1000000 --dir runs/doorkey
        backplay train MountainCar-v0 car.npz --curriculum uniform --seed 1 --ppo.gamma 0.999
        backplay train MountainCar-v0 car.npz --regime gail --curriculum standard
        backplay train --resume runs/doorkey
        backplay train --resume runs/doorkey --frames 2000000

    The default curriculum starts near the end of the demonstration and moves back with success;
    `uniform` starts anywhere on it, `standard` in the initial state only, and
    `reverse` from random walks that lead away from its end. With --windows the steps back are
    yours: here 0 to 3 at first, 4 to 15 from frame 50000 on:

        backplay train MountainCar-v0 car.npz --windows 0:0:4 50000:4:16 100000:16:120

    A class of your own is named by its file, `./grid.py:KeyDoor`, or its module; a run of one takes
    the same word again: `backplay train ./grid.py:KeyDoor --resume runs/doors`.

    Ctrl-C, SIGTERM and SIGHUP stop, save and say how to go on; a second one stops at once. A run
    that has ended goes on with more --frames.
    """

    env: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="ENV")] = None
    """The environment's id, or a class of yours, or a function that makes one: file.py:Class or
    module:Class."""
    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMO...")] = ()
    """Files of demonstrations, and folders of such files."""
    curriculum: Literal["backplay", "uniform", "standard", "reverse"] = "backplay"
    """Where episodes start."""
    regime: Literal["ppo", "gail"] = "ppo"
    """What is learned from: rewards, or (gail) what was done in the demonstrations."""
    windows: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FRAMES:LO:HI...")] = ()
    """Windows of your own for the curriculum backplay, in steps back from the end."""
    dir: Path | None = None
    """The run's directory; by default runs/ENV-CURRICULUM-SEED."""
    resume: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Resume the run in this directory, as it was set up."""
    tensorboard: bool = False
    """Write logs for TensorBoard, too, into the run's directory."""
    env_kwargs: Annotated[str | None, tyro.conf.arg(metavar="JSON")] = None
    """Arguments of the environment as a JSON object; by default those of the demonstration."""
    trust: bool = False
    """Let the file name paths and code to the environment; see docs/trust.md."""
    settings: Annotated[Told, tyro.conf.arg(name="")] = field(default_factory=Told)
    """Everything else."""


def train(config: TrainConfig) -> int:
    """Trains to the end or until signal n stops it, which is exit code 128 + n."""
    doubted = False
    if config.resume is not None:
        run, work = _resumed(config, config.resume)
    else:
        run, begun = _begun(config)
        work, doubted = begun, _say_success(config, begun)
    job, _ = asked(run)
    again = shlex.join(going_on(run, job)) if isinstance(job, EnvJob) else ""
    code = carry(run, again, work=work, tensorboard=config.tensorboard, trust=True)
    if code == 0:
        _say_result(run)
        if doubted:
            print(
                "mind that the demonstration may be no success, see above: then neither are these"
            )
    return code


def _say_result(run: Run) -> None:
    """Says how good the agent is, and where."""
    result = run.result or {}
    print(f"after {result['frames']:,} frames, from the true start:")
    print(f"  sampled  {result['sampled']}")
    print(f"  greedy   {result['greedy']}")
    print(f"model: {run.checkpoint}")
    job, _ = asked(run)
    if isinstance(job, EnvJob):
        for line in what_to_try(run, job):
            print(line)


def _begun(config: TrainConfig) -> tuple[Run, EnvWork]:
    if config.demos:
        config = replace(config, demos=tuple(demonstration_files(config.demos)))
    if config.env is None or not config.demos:
        raise BackplayError(
            "train",
            expected="an environment and at least one demonstration",
            got="no environment" if config.env is None else "no demonstration",
            do="Write backplay train ENV demo.npz; make one with backplay play or record.",
        )
    kind = config.curriculum if config.regime == "ppo" else f"gail-{config.curriculum}"
    name = re.sub(r"[^\w.-]+", "-", f"{config.env}-{kind}-{config.settings.seed}").lstrip(".-")
    path = config.dir or Path("runs") / name
    runs.require_free(path)
    on_my_word(config.env)
    kwargs = None if config.env_kwargs is None else parse_env_kwargs(config.env_kwargs)
    curriculum = _curriculum(config, [load(file) for file in config.demos])
    job = EnvJob.of(config.env, curriculum, config.settings.settled, kwargs, config.regime)
    if kwargs is None:
        require_trust(job.asks_for(config.demos), str(config.demos[0]), trust=config.trust)
    work = job.begin(files=config.demos)  # first, so that bad input leaves no directory behind
    return prepare(path, job, config.demos, threads=torch.get_num_threads()), work


def _say_success(config: TrainConfig, work: EnvWork) -> bool:
    """Says which rule of success is in force; whether anything speaks against a demonstration."""
    print(f"success: {describe_rule(work.training.succeeded)}", file=sys.stderr)
    assert work.training.make_env is not None
    env = work.training.make_env()
    doubted = [say_doubts(env, demo, config.settings.success) for demo in work.demos]
    env.close()
    return any(doubted)


def _resumed(config: TrainConfig, path: Path) -> tuple[Run, Work | None]:
    exact, frames = config.settings.exact_resume, config.settings.frames
    plain = TrainConfig(settings=Told(exact_resume=exact, frames=frames))
    said = replace(config, resume=None, env=None, tensorboard=False, env_kwargs=None, trust=False)
    ensure(
        said == plain, "--resume",
        "no other option but --frames, --tensorboard and --no-exact-resume: a run goes"
        " on as it was set up", do="Start a new run for other settings.",
    )  # fmt: skip
    if config.env is not None:
        on_my_word(config.env)
    run = runs.open_run(path)
    job, threads = asked(run)
    if not isinstance(job, EnvJob):
        raise BackplayError(f"{path} is no run of backplay train", do=f"Use backplay work {path}.")
    _require_trust(config, run, job)
    if frames is not None:
        job = _extended(run, job, frames)
    if exact:
        return run, None
    torch.set_num_threads(threads)
    changed = replace(job, settings={**job.settings, "exact_resume": False})
    return run, changed.begin(files=run.demonstrations)


def _require_trust(config: TrainConfig, run: Run, job: EnvJob) -> None:
    """What the directory asks the environment for must be plain, or said again by the user."""
    again = None if config.env_kwargs is None else parse_env_kwargs(config.env_kwargs)
    if again is not None and again != job.env_kwargs:
        raise BackplayError(
            "--env-kwargs", expected=f"those of the run, {show(job.env_kwargs)}", got=show(again),
            do="Say the same to trust them, or start a new run.",
        )  # fmt: skip
    trust = config.trust or again is not None
    require_trust(job.asks_for(run.demonstrations), str(run.path), trust=trust)


def _extended(run: Run, job: EnvJob, frames: int) -> EnvJob:
    """The job with so many frames, written into its directory."""
    ensure(
        frames >= job.frames, "--frames", f"at least the {job.frames:,} that this run is to have",
        got=f"{frames:,}", do="A run is made longer, never shorter.",
    )  # fmt: skip
    if frames == job.frames:
        return job
    ppo = job.config.ppo
    if min(ppo.final_learning_rate, ppo.final_entropy_coefficient) < 1:
        print(
            "the learner's rates, which fall to the end, rise and fall once more", file=sys.stderr
        )
    longer = replace(job, settings={**job.settings, "frames": frames})
    if run.checkpoint.exists():
        opened(run.path, trust=True)[1].close()  # first: what cannot go on keeps its result
    with run.locked():
        run.extend(to_json(longer))
    return longer


def _curriculum(config: TrainConfig, demos: Sequence[Demonstration]) -> Curriculum:
    if config.windows and config.curriculum != "backplay":
        raise BackplayError(
            "--windows", expected="--curriculum backplay", got=f"--curriculum {config.curriculum}"
        )
    if config.curriculum == "uniform":
        return Uniform()
    if config.curriculum == "standard":
        return Standard()
    if config.windows:
        return Backplay(tuple(_window(text) for text in config.windows))
    frames, lengths = config.settings.settled.frames, [len(demo) for demo in demos]
    if config.curriculum == "reverse":
        # As in the paper's Maze, where initial states come alone after 1750 of 2000 epochs.
        each = max(1, frames // 100)
        return ReverseCurriculum.begin(
            lengths, seed=config.settings.seed, round_frames=each, new_states=max(50, each // 10),
            until=frames * 7 // 8,
        )  # fmt: skip
    return Frontier()


def _window(text: str) -> Window:
    try:
        frames, lo, hi = (int(part) for part in text.split(":"))
    except ValueError as error:
        raise BackplayError(
            "--windows",
            expected="FRAMES:LO:HI, three whole numbers",
            got=repr(text),
            do="Write it like this: --windows 0:0:4 50000:4:16.",
        ) from error
    return Window(frames, lo, hi)
