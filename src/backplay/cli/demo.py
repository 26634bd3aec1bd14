"""`backplay demo`: three ways to start episodes, the same frames, one page with what came of it."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from backplay.cli.race import ENV_ID, REGIMES, Task, make_env, race
from backplay.data.files import write_atomically
from backplay.demos import Demonstration
from backplay.demos.check import check
from backplay.demos.record import record
from backplay.errors import BackplayError
from backplay.learners import PPOConfig
from backplay.report import Comparison, Run, draw_picture, summarise, write_page
from backplay.train import TrainConfig
from backplay.ui.standings import Standings, show_standings

DEMO_SEED = 7
PPO = PPOConfig(
    learning_rate=2e-3,
    passes=8,
    # Advantages as they are: scaled to deviation 1 they are mere noise as long as no reward came,
    # and now and then that noise alone drives plain PPO up the hill.
    normalise_advantages="none",
    entropy_coefficient=0.001,
)
PAGE, PICTURE, RESULT, DEMONSTRATION = "index.html", "demo.png", "result.json", "demo.npz"


@dataclass(frozen=True, kw_only=True)
class DemoConfig:
    """Trains Backplay, Uniform and Standard on MountainCar with a reward at the flag only.

        backplay demo
        backplay demo --seeds 1 --frames 150000
        backplay demo --out page --jobs 8

    The three regimes differ in where training episodes start and in nothing else. Takes about two
    minutes on 2 cores. Writes a page that needs no network, and says where it is.
    """

    out: Path = Path("backplay-demo")
    """Directory of the page, the picture, the numbers and the demonstration."""
    frames: int = 200_000
    """Frames of each run."""
    seeds: int = 3
    """Runs of each regime."""
    jobs: int | None = None
    """Processes at a time; by default one for each core."""
    episodes: int = 100
    """Episodes from the true start that judge each agent at the end."""


def demo(config: DemoConfig) -> int:
    """Trains, prints the table and writes the page; 130 after Ctrl-C."""
    try:
        _refuse_nonsense(config)
        _race_and_report(config)
    except KeyboardInterrupt:
        print(f"\nstopped; no page was written. To start again: {_command(config)}")
        return 130
    return 0


def _race_and_report(config: DemoConfig) -> None:
    began = time.monotonic()
    demonstration = _record(config.out)
    tasks = _tasks(config)
    jobs = min(config.jobs or _cores(), len(tasks))
    print(
        f"{ENV_ID}, a reward at the flag only, one demonstration of {len(demonstration)} steps."
        f" {len(REGIMES)} regimes × {config.seeds} seeds × {config.frames:,} frames,"
        f" {jobs} at a time:",
        flush=True,
    )
    runs = _train(config, tasks, jobs)
    comparison = Comparison(
        env_id=ENV_ID,
        task="The car is too weak to drive straight up, and the only reward is at the flag.",
        frames=config.frames,
        demo_positions=[float(observation[0]) for observation in demonstration.observations],
        runs=sorted(runs, key=lambda run: (REGIMES.index(run.regime), run.seed)),
        command=_command(config),
        settings=_settings(config, demonstration),
        versions=_versions(),
        seconds=time.monotonic() - began,
    )
    print(f"\n{table(comparison)}\n")
    _write(config.out, comparison)
    print(f"{comparison.seconds:.0f} seconds. Open {config.out / PAGE}")


def table(comparison: Comparison) -> str:
    """The results as text."""
    head = ("regime", "success from the true start", "by seed", "to 50%", "to 90%", "seconds")
    rows = [head]
    for row in summarise(comparison):
        low, high = (f"{100 * bound:.0f}" for bound in row.interval)
        seeds = " ".join(f"{100 * share:.0f}" for share in row.by_seed)
        half, most = (
            "never" if frames is None else f"{frames:,}"
            for frames in (row.frames_to_half, row.frames_to_most)
        )
        success = f"{row.success:.0%} [{low}, {high}]"
        rows.append((row.regime, success, seeds, half, most, f"{row.seconds:.0f}"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _train(config: DemoConfig, tasks: Sequence[Task], jobs: int) -> list[Run]:
    runs = []
    updates = race(tasks, jobs)
    try:
        with show_standings(Standings(REGIMES, config.frames, config.seeds)) as screen:
            for update in updates:
                screen.show(update)
                if update.run is not None:
                    runs.append(update.run)
    finally:
        updates.close()  # stops the processes
    return runs


def _tasks(config: DemoConfig) -> list[Task]:
    """All runs, seed by seed, so that the regimes stay side by side."""
    tasks = []
    for seed in range(config.seeds):
        settings = TrainConfig(
            frames=config.frames,
            seed=seed,
            evaluate_every=max(1, config.frames // 25),
            final_episodes=config.episodes,
            ppo=PPO,
        )
        tasks += [Task(regime, settings, config.out / DEMONSTRATION) for regime in REGIMES]
    return tasks


def _record(out: Path) -> Demonstration:
    """The demonstration: push the way the car rolls. Checked, and written for the runs to load."""
    env = make_env()
    demonstration = record(env, lambda seen: 2 if seen[1] >= 0 else 0, seed=DEMO_SEED)
    check(env, demonstration)
    env.close()
    demonstration.save(out / DEMONSTRATION)
    return demonstration


def _refuse_nonsense(config: DemoConfig) -> None:
    for name in ("frames", "seeds", "jobs", "episodes"):
        value = getattr(config, name)
        if value is not None and value < 1:
            raise BackplayError(f"--{name}", expected="at least 1", got=str(value))
    out = config.out
    if out.exists() and not out.is_dir():
        raise BackplayError(f"{out} is a file", do="Choose another --out; nothing was written.")
    ours = {PAGE, PICTURE, RESULT, DEMONSTRATION}
    if out.is_dir() and not {file.name for file in out.iterdir()} <= ours:
        raise BackplayError(
            f"{out} holds other files than a demo's",
            do="Choose another --out; nothing was written.",
        )


def _write(out: Path, comparison: Comparison) -> None:
    result = json.dumps(asdict(comparison), indent=1) + "\n"
    write_atomically(out / RESULT, result.encode())
    write_atomically(out / PICTURE, draw_picture(comparison))
    write_atomically(out / PAGE, write_page(comparison).encode())


def _command(config: DemoConfig) -> str:
    """What to type to get the same again."""
    parts = ["backplay", "demo"]
    default = DemoConfig()
    for name in ("out", "frames", "seeds", "jobs", "episodes"):
        value = getattr(config, name)
        if value != getattr(default, name):
            parts += [f"--{name}", str(value)]
    return shlex.join(parts)


def _settings(config: DemoConfig, demonstration: Demonstration) -> dict[str, str]:
    changed: dict[str, Any] = {
        name: value for name, value in asdict(PPO).items() if value != asdict(PPOConfig())[name]
    }
    described = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in changed.items())
    return {
        "task": f"{ENV_ID}, reward 1 at the flag and 0 else, 200 steps at most",
        "demonstration": f"one, scripted, {len(demonstration)} steps, seed {demonstration.seed}",
        "learner": f"backplay's PPO, 8 envs, {described}, else its defaults",
        "curriculum": "Backplay.stretch with its defaults",
        "seeds": f"0 to {config.seeds - 1}" if config.seeds > 1 else "0",
    }


def _versions() -> dict[str, str]:
    packages = {
        name: metadata.version(name) for name in ("backplay", "gymnasium", "torch", "numpy")
    }
    return {**packages, "python": platform.python_version(), "machine": platform.machine()}


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


if __name__ == "__main__":
    import tyro

    sys.exit(demo(tyro.cli(DemoConfig)))
