"""Chooses the learner's defaults: settings x tasks x seeds, one line of JSON a run, resumable.

Runs that stand in the file already are left out, so a command that was stopped goes on. Seeds from
100 on choose, those below report. `all` runs every rival on the tasks to choose on, takes the one
with the highest mean success over tasks and seeds (a tie: over the curves), and runs that on all
tasks with the other seeds. `race` is for few cores: the first setting runs everything, and another
one leaves as soon as it could not reach its mean any more, were all of its runs to come perfect.

Run: python benchmarks/choose_learner.py all runs.jsonl
     python benchmarks/choose_learner.py race runs.jsonl --settings sf-value03 base
     python benchmarks/choose_learner.py table runs.jsonl --seeds 100 101
     python benchmarks/choose_learner.py run runs.jsonl --settings base flags --seeds 100 101
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from held_out import HELD_OUT
from learner_tasks import CHOOSE, Small
from learner_tasks import TASKS as SMALL
from torch import nn

from backplay import Demonstration, Frontier
from backplay.learners import PPOConfig, make_network
from backplay.train import TrainConfig, Training

BEFORE = {"entropy_coefficient": 0.01, "value_lambda": None}  # of 0.1.0
FLAGS = {"learning_rate": 1e-3, "passes": 8, **BEFORE}
BASE = {"learning_rate": 3e-4, "passes": 4, **BEFORE}
SCALED = {"scaled": True, **FLAGS}
SETTINGS: dict[str, dict[str, Any]] = {
    # The default of 0.1.0; with another learning rate and more passes.
    "base": BASE,
    "flags": FLAGS,
    # Observations scaled by what the demonstrations show of them.
    "scaled": {"scaled": True, **BASE},
    "scaled-flags": SCALED,
    # One or two things more than scaled-flags.
    "sf-entropy03": {**SCALED, "entropy_coefficient": 0.03},
    "sf-value": {**SCALED, "value_lambda": 1.0},
    "sf-value03": {**SCALED, "value_lambda": 1.0, "entropy_coefficient": 0.03},
    "sf-late": {**SCALED, "value_lambda": 1.0, "gae_lambda": 0.99},
    "sf-late03": {
        **SCALED, "value_lambda": 1.0, "gae_lambda": 0.99, "entropy_coefficient": 0.03,
    },
    # The default, whose discount follows from the demonstration; and with the usual one.
    "now": {"scaled": True},
    "now-99": {"scaled": True, "gamma": 0.99},
    # For demonstrations of hundreds of steps: a smaller rate, larger minibatches, larger batches.
    "now-slow": {"scaled": True, "learning_rate": 5e-4},
    "now-coarse": {"scaled": True, "minibatch_size": 512},
    "now-16-envs": {"scaled": True, "num_envs": 16},
    "now-512-steps": {"scaled": True, "num_steps": 512},
}  # fmt: skip
RIVALS = ("base", "scaled-flags", "sf-entropy03", "sf-value", "sf-value03", "sf-late03")
CHOOSING, REPORTING = [100, 101], [0, 1, 2]  # seeds
TASKS = {**SMALL, **HELD_OUT}


def network_of(setting: dict[str, Any], demo: Demonstration) -> Any:
    def make(observations: Any, actions: Any, *, seed: int) -> nn.Module:
        seen = demo.observations if setting.get("scaled") else None
        more = hidden(setting, observations)
        return make_network(observations, actions, seed=seed, examples=seen, **more)

    return make


def hidden(setting: dict[str, Any], observations: Any) -> dict[str, Any]:
    shapes = [getattr(part, "shape", ()) for part in getattr(observations, "values", list)()]
    images = any(len(shape or ()) == 3 for shape in (*shapes, observations.shape))
    return {"hidden": setting["hidden"]} if "hidden" in setting and not images else {}


def carried_out(task: Small, setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """One run: success from the true start after each tenth of the frames, and at the end."""
    demo = task.demonstrate()
    known = asdict(PPOConfig())
    ppo = PPOConfig(**{name: value for name, value in setting.items() if name in known})
    config = TrainConfig(
        frames=task.frames, num_envs=setting.get("num_envs", 8), seed=seed, ppo=ppo,
        evaluate_every=task.frames // 10, evaluation_episodes=20, final_episodes=100,
        exact_resume=False, success=task.success,
    )  # fmt: skip
    training = Training(task.make, [demo], Frontier(), config, network=network_of(setting, demo))
    curve: list[float] = []
    for progress in training.run():
        if progress.evaluation is not None:
            curve.append(round(progress.evaluation.success, 3))
    greedy = training.evaluate(100, greedy=True).success
    training.close()
    return {
        "sampled": curve[-1], "greedy": round(greedy, 3), "curve": curve, "length": len(demo),
        "starts": training.curriculum.describe(),
    }  # fmt: skip


def run(file: Path, settings: list[str], tasks: list[str], seeds: list[int]) -> None:
    wanted = [(seed, task, name) for seed in seeds for name in settings for task in tasks]
    for seed, task, name in wanted:
        if (seed, task, name) in {(r["seed"], r["task"], r["setting"]) for r in read(file)}:
            continue
        began = time.process_time()
        found = carried_out(TASKS[task], SETTINGS[name], seed)
        line = {"setting": name, "task": task, "seed": seed, "frames": TASKS[task].frames, **found}
        line["cpu"] = round(time.process_time() - began, 1)
        with file.open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


def race(file: Path, settings: list[str], tasks: list[str], seeds: list[int]) -> None:
    leader, *others = settings
    run(file, [leader], tasks, seeds)
    wanted = [(seed, task) for seed in seeds for task in tasks]
    for name in others:
        for seed, task in wanted:
            if lost(file, name, wanted) > lost(file, leader, wanted):
                print(f"{name} cannot reach {leader} any more", flush=True)
                break
            run(file, [name], [task], [seed])


def lost(file: Path, name: str, wanted: list[tuple[int, str]]) -> float:
    """What the runs so far are short of the best, summed; what has not been run counts as best."""
    own = [line for line in read(file) if line["setting"] == name]
    return sum(1 - score(line) for line in own if (line["seed"], line["task"]) in wanted)


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def score(line: dict[str, Any]) -> float:
    """Share of the best policy's success at the end; before it, how early it was there."""
    best = TASKS[line["task"]].best
    return min(1.0, line["sampled"] / best)


def table(files: list[Path], seeds: list[int]) -> None:
    """A row for each setting, best worst task first: final success on each task, mean, worst."""
    lines = [line for file in files for line in read(file) if line["seed"] in seeds]
    tasks = [name for name in TASKS if any(line["task"] == name for line in lines)]
    rows = []
    for setting in dict.fromkeys(line["setting"] for line in lines):
        own = [line for line in lines if line["setting"] == setting]
        finals = {t: [score(line) for line in own if line["task"] == t] for t in tasks}
        areas = {t: [np.mean(x["curve"]) for x in own if x["task"] == t] for t in tasks}
        means = [np.mean(part) for part in finals.values() if part]
        pace = np.mean([np.mean(part) for part in areas.values() if part])
        cells = [" ".join(f"{100 * x:.0f}" for x in finals[t]) for t in tasks]
        seconds = np.mean([line["cpu"] for line in own])
        rows.append((len(means), min(means), np.mean(means), pace, seconds, setting, cells))
    print("| setting |", " | ".join(tasks), "| worst | mean | mean of the curve | CPU s |")
    print("|---" * (len(tasks) + 5) + "|")
    for _, worst, mean, pace, seconds, setting, cells in sorted(rows, reverse=True):
        ends = f"{100 * worst:.0f} | {100 * mean:.0f} | {100 * pace:.0f} | {seconds:.0f}"
        print(f"| {setting} | {' | '.join(cells)} | {ends} |")


def best_of(lines: list[dict[str, Any]]) -> str:
    """The setting that is chosen; all have the same runs."""

    def worth(name: str) -> tuple[float, float]:
        own = [line for line in lines if line["setting"] == name]
        return float(np.mean([score(line) for line in own])), pace(own)

    return max(RIVALS, key=worth)


def pace(lines: list[dict[str, Any]]) -> float:
    return float(np.mean([np.mean(line["curve"]) for line in lines]))


def everything(file: Path) -> None:
    run(file, list(RIVALS), list(CHOOSE), CHOOSING)
    lines = [line for line in read(file) if line["seed"] in CHOOSING and line["task"] in CHOOSE]
    run(file, [best_of(lines)], list(TASKS), REPORTING)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("all", "race", "run", "table"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--settings", nargs="+", default=list(RIVALS))
    parser.add_argument("--tasks", nargs="+", default=list(CHOOSE))
    parser.add_argument("--seeds", nargs="+", type=int, default=CHOOSING)
    told = parser.parse_args()
    torch.set_num_threads(1)
    if told.do == "table":
        table(told.files, told.seeds)
    elif told.do == "all":
        everything(told.files[0])
    elif told.do == "race":
        race(told.files[0], told.settings, told.tasks, told.seeds)
    else:
        run(told.files[0], told.settings, told.tasks, told.seeds)
