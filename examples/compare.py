"""Regimes side by side on one task: many seeds, the same frames, success from the true start.

python examples/compare.py mountaincar --trainer sb3 --seeds 5 --out results/mountaincar-sb3.jsonl
python examples/compare.py --show results/mountaincar-sb3.jsonl

One line of JSON per run. A run that is already in the file is not made again, so an interrupted
comparison goes on where it stopped.
"""

import argparse
import json
import multiprocessing
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import gymnasium as gym
import numpy as np
from tasks import TASKS, Task

import backplay as bp


@dataclass(frozen=True)
class CutUniform(bp.Uniform):
    """Anywhere on the demonstration, with episodes as short as the default's on MountainCar."""

    @property
    def patience(self) -> float:
        return 1.0


# From "bare" on: the default with one thing changed, to see what it is good for.
REGIMES: dict[str, Callable[[int, list[int]], bp.Curriculum | None]] = {
    "plain": lambda frames, lengths: None,
    "uniform": lambda frames, lengths: bp.Uniform(),
    "backplay": lambda frames, lengths: bp.Backplay.stretch(frames, lengths),
    "bare": lambda frames, lengths: bp.Backplay.stretch(
        frames, lengths, first_steps=4, share_of_budget=0.8, start_share=0.0
    ),
    "no true starts": lambda frames, lengths: bp.Backplay.stretch(frames, lengths, start_share=0.0),
    "windows over a third": lambda frames, lengths: bp.Backplay.stretch(
        frames, lengths, share_of_budget=1 / 3
    ),
    "slow": lambda frames, lengths: bp.Backplay.stretch(frames, lengths, share_of_budget=0.8),
    "wide first window": lambda frames, lengths: bp.Backplay.stretch(
        frames, lengths, first_steps=32
    ),
    "never cut": lambda frames, lengths: bp.Backplay.stretch(frames, lengths, cut=None),
    "a quarter of the episodes": lambda frames, lengths: bp.Backplay.stretch(
        frames, lengths, share_of_budget=0.4, start_share=0.25, by_frames=False, cut=None
    ),
    "cut uniform": lambda frames, lengths: CutUniform(),
    "waiting": lambda frames, lengths: bp.Backplay.stretch(
        frames, lengths, mastery=0.5, bridge=0.0, latest_share=1.0, if_silent=False
    ),
    "frames alone": lambda frames, lengths: bp.Backplay.stretch(frames, lengths, mastery=0.0),
    "no bridge": lambda frames, lengths: bp.Backplay.stretch(frames, lengths, bridge=0.0),
    "overlap": lambda frames, lengths: bp.Backplay.stretch(frames, lengths, overlap=0.5),
    "uniform at the end": lambda frames, lengths: _uniform_at_the_end(frames, lengths),
}


def _uniform_at_the_end(frames: int, lengths: list[int]) -> bp.Backplay:
    """The default, but after the windows episodes start anywhere instead of at the true start."""
    default = bp.Backplay.stretch(frames, lengths)
    *windows, last = default.windows
    return bp.Backplay(
        (*windows, bp.Window(last.frames, 0.0, 1.0)),
        of_length=True,
        start_share=default.start_share,
        by_frames=default.by_frames,
        cut=default.cut,
    )


def train_sb3(task: Task, demo: bp.Demonstration, curriculum, seed: int) -> Callable:
    """Stable-Baselines3's PPO, 8 envs; the policy, batched."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    def make() -> gym.Env:
        if not curriculum:
            return task.make()
        return bp.BackplayEnv(task.make(), [demo], curriculum, **task.wrapper)

    envs = make_vec_env(make, 8, seed=seed)
    model = PPO("MlpPolicy", envs, seed=seed, device="cpu", **task.sb3)
    callback = bp.sb3.CurriculumCallback() if curriculum else None
    model.learn(task.frames, callback=callback)
    return lambda observations, greedy: model.predict(observations, deterministic=greedy)[0]


def train_ours(task: Task, demo: bp.Demonstration, curriculum, seed: int) -> Callable:
    """Our PPO, 8 envs; the policy, batched."""
    from backplay.train import TrainConfig, Training

    config = TrainConfig(
        frames=task.frames, seed=seed, evaluate_every=0, final_episodes=1, ppo=task.ours,
        **task.wrapper if curriculum else {},
    )  # fmt: skip
    training = Training(task.make, [demo], curriculum or bp.Standard(), config)
    for _ in training.run():
        pass
    return lambda observations, greedy: training.learner.act(observations, greedy=greedy)


TRAINERS = {"sb3": train_sb3, "ours": train_ours}


def run(job: tuple[str, str, str, int, int]) -> dict:
    """One training run and its evaluation from the true start."""
    import torch

    from backplay.demos.success import default_rule
    from backplay.train.evaluate import evaluate

    name, trainer, regime, seed, frames = job
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    task = replace(TASKS[name], frames=frames)
    demo = task.demonstrate()
    began = time.time()
    act = TRAINERS[trainer](task, demo, REGIMES[regime](task.frames, [len(demo)]), seed)
    seconds = time.time() - began
    result = {"task": name, "trainer": trainer, "regime": regime, "seed": seed}
    for kind, greedy in (("sampled", False), ("greedy", True)):
        done = evaluate(
            task.make, lambda o, g=greedy: act(o, g), default_rule([demo]), episodes=task.episodes
        )
        result[kind] = done.success
    return {
        **result,
        "episodes": task.episodes,
        "frames": task.frames,
        "seconds": round(seconds),
        "demonstration_steps": len(demo),
        "commit": commit(),
        "versions": {p: metadata.version(p) for p in ("gymnasium", "torch", "stable-baselines3")}
        | {"python": platform.python_version()},
        "command": "python " + " ".join(sys.argv),
    }


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def show(path: Path) -> None:
    """The table of a results file: each seed, and the mean with a bootstrap interval over seeds."""
    results = [json.loads(line) for line in path.read_text().splitlines()]
    keys = dict.fromkeys((r["task"], r["trainer"], r["regime"], r["frames"]) for r in results)
    rng = np.random.default_rng(0)
    heads = (
        "task",
        "trainer",
        "frames",
        "regime",
        "success from the true start",
        "by seed",
        "greedy",
    )
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for task, trainer, regime, frames in keys:
        wanted = {"task": task, "trainer": trainer, "regime": regime, "frames": frames}
        rows = sorted((r for r in results if {**r, **wanted} == r), key=lambda r: r["seed"])
        sampled = np.array([100 * r["sampled"] for r in rows])
        means = rng.choice(sampled, (10_000, len(sampled))).mean(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        seeds = " ".join(f"{s:.0f}" for s in sampled)
        greedy = " ".join(f"{100 * r['greedy']:.0f}" for r in rows)
        interval = f"{sampled.mean():.0f} % [{low:.0f}, {high:.0f}]"
        print(f"| {task} | {trainer} | {frames:,} | {regime} | {interval} | {seeds} | {greedy} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", nargs="?", choices=TASKS)
    parser.add_argument("--trainer", choices=TRAINERS, default="sb3")
    parser.add_argument("--regimes", default="plain,uniform,backplay", help=f"of {list(REGIMES)}")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=0, help="0: the task's own budget")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=Path, help="print the table of a results file")
    args = parser.parse_args()
    if args.show:
        return show(args.show)
    if not args.task or not args.out:
        parser.error("name a task and --out, or --show a results file")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    lines = args.out.read_text().splitlines() if args.out.exists() else []
    known = [json.loads(line) for line in lines]
    have = {(r["task"], r["trainer"], r["regime"], r["seed"], r["frames"]) for r in known}
    frames = args.frames or TASKS[args.task].frames
    wanted = [
        (args.task, args.trainer, regime, seed, frames)
        for seed in range(args.seeds)
        for regime in args.regimes.split(",")
    ]
    jobs = [job for job in wanted if job not in have]
    with multiprocessing.get_context("spawn").Pool(args.jobs, maxtasksperchild=1) as pool:
        for count, result in enumerate(pool.imap_unordered(run, jobs), 1):
            with args.out.open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(
                f"{count} of {len(jobs)}: {result['regime']}, seed {result['seed']}:"
                f" sampled {result['sampled']:.0%}, greedy {result['greedy']:.0%},"
                f" {result['seconds']} s",
                flush=True,
            )
    show(args.out)


if __name__ == "__main__":
    main()
