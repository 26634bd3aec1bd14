"""The paper's three grid worlds and its binary tree (section 3.2): what it argues, what happens.

python examples/grid_worlds.py --out grid-worlds.jsonl
python examples/grid_worlds.py --show grid-worlds.jsonl

Six regimes learn in each with the same PPO. One line of JSON per run; a run that is already in the
file is not made again, so an interrupted comparison goes on where it stopped.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from grid_tasks import BATCH, FRAMES, TASKS, Table, network

import backplay as bp
from backplay.learners import PPO, clone

GOOD = 0.95
ENOUGH = 0.02  # a cloned policy's loss: it then follows the demonstration when sampled, too
WINDOW = 16  # steps; each window begins in the middle of the one before


def backplay_windows(length: int) -> bp.Backplay:
    """Windows of 16 steps, each until 90 % of its episodes succeed; then the true start."""
    count = -(-2 * length // WINDOW)
    back = [(WINDOW // 2 * i, WINDOW // 2 * i + WINDOW) for i in range(count)] + [(length, length)]
    windows = [bp.Window(BATCH * i, lo, hi) for i, (lo, hi) in enumerate(back)]
    return bp.Backplay(windows, mastery=0.9)


def reverse(length: int, frames: int, seed: int) -> bp.ReverseCurriculum:
    """The paper's numbers for RCG, a tenth of them or so: these worlds have one maze, not 100."""
    return bp.ReverseCurriculum.begin(
        [length], seed=seed, round_frames=4 * BATCH, new_states=500, walk_steps=25,
        new_starts=100, old_starts=50, until=frames // 2,
    )  # fmt: skip


# From the length of the demonstration, the frames and the seed; None does not train with PPO.
REGIMES: dict[str, Callable[[int, int, int], bp.Curriculum | None]] = {
    "standard": lambda length, frames, seed: bp.Standard(),
    "uniform": lambda length, frames, seed: bp.Uniform(until=frames // 2),
    "backplay": lambda length, frames, seed: backplay_windows(length),
    "rcg": reverse,
    "cloning": lambda length, frames, seed: None,
    "cloning + ppo": lambda length, frames, seed: bp.Standard(),
}


class Claim(NamedTuple):
    """What the paper expects of a world: a measure is lower for one regime than for another."""

    words: str
    measure: str
    lower: str
    higher: str
    expected: bool = True
    """False: the paper expects that it is not lower."""


CLAIMS = {
    "open": (
        Claim("Backplay learns faster than Standard", "to_success", "backplay", "standard"),
        Claim("Backplay surpasses the demonstration", "steps", "backplay", "demonstration"),
        Claim("cloning does not", "steps", "cloning", "demonstration", False),
        Claim("Backplay learns faster than RCG", "to_success", "backplay", "rcg"),
    ),
    "bottlenecks": (
        Claim("Backplay learns faster than Standard", "to_success", "backplay", "standard"),
        Claim("RCG wastes time in the right chamber", "to_success", "backplay", "rcg"),
        Claim("cloning learns the optimal path", "steps", "shortest", "cloning", False),
        Claim("cloning suffers beside the path", "beside_greedy", "cloning", "backplay"),
    ),
    "basin": (
        Claim("Backplay surpasses the demonstration", "steps", "backplay", "demonstration"),
        Claim("Standard does as well or better", "to_optimal", "backplay", "standard", False),
        Claim("cloning is worse off than Backplay", "steps", "backplay", "cloning"),
        Claim("RCG does better than Backplay", "to_optimal", "rcg", "backplay"),
    ),
    "tree": (
        Claim("Backplay gains nothing over Standard", "to_success", "backplay", "standard", False),
    ),
}


def run(world: str, regime: str, seed: int, frames: int) -> dict[str, Any]:
    """One training run and what came of it."""
    task, began = TASKS[world](), time.process_time()
    curriculum, start = REGIMES[regime](task.length, frames, seed), {}
    if regime.startswith("cloning"):
        cloned = cloned_network(task, seed)
        start["initial_weights"] = cloned.state_dict()
    if curriculum is None:
        learner = PPO(cloned, task.spaces[1], seed=seed)
        curve = [measured(task, learner, 0)]
    else:
        training = task.training(curriculum, frames, seed, **start)
        curve = [measured(task, training.learner, 0)] if start else []
        for progress in training.run():
            if progress.evaluation is not None:
                curve.append(measured(task, training.learner, progress.frames))
        learner = training.learner
        training.close()
    return {
        "world": world, "regime": regime, "seed": seed, "frames": frames,
        "apart": not Table.common,
        **{key: curve[-1][key] for key in ("success", "optimal", "steps")},
        "to_success": reached(curve, "success"), "to_optimal": reached(curve, "optimal"),
        "beside": task.from_beside(acting(learner)).success,
        "beside_greedy": task.from_beside(acting(learner, greedy=True)).success,
        "demonstration": task.length, "shortest": task.shortest,
        "seconds": round(time.process_time() - began, 1),
    }  # fmt: skip


def cloned_network(task: Any, seed: int) -> torch.nn.Module:
    """A network that does as the demonstration did."""
    net = network(*task.spaces, seed=seed)
    observations, actions = task.pairs()
    passes = clone(
        net, observations, actions, action_space=task.spaces[1], seed=seed,
        learning_rate=3e-2, agreement=float("inf"),
    )  # fmt: skip
    for progress in passes:
        if progress.loss < ENOUGH:
            break
    return net


def acting(learner: PPO, *, greedy: bool = False) -> Callable[[Any], Any]:
    """The policy; what it draws does not disturb the training."""
    generator = torch.Generator().manual_seed(0)
    return lambda seen: learner.act(seen, greedy=greedy, generator=generator)


def measured(task: Any, learner: PPO, frames: int) -> dict[str, float]:
    """How well it plays from the true start: success when sampled, steps when greedy."""
    sampled = task.from_start(acting(learner), episodes=64, seed=10_000)
    greedy = task.from_start(acting(learner, greedy=True), episodes=task.starts, seed=10_000)
    best = greedy.successes & (greedy.lengths == task.shortest)
    return {
        "frames": frames, "success": sampled.success, "optimal": float(best.mean()),
        "steps": float(greedy.lengths.mean()),
    }  # fmt: skip


def reached(curve: Sequence[dict[str, float]], measure: str) -> float | None:
    """The frames at which a measure was good for the first time."""
    return next((point["frames"] for point in curve if point[measure] >= GOOD), None)


def values(results: list[dict[str, Any]], world: str, regime: str, measure: str) -> np.ndarray:
    """A measure by seed, [seeds]; what was never reached counts as all the frames.

    The demonstration and the shortest path are regimes too, as far as steps go.
    """
    rows = [r for r in results if r["world"] == world]
    if regime in ("demonstration", "shortest"):
        return np.array([r[regime] for r in rows[:1]], float)
    rows = [r for r in rows if r["regime"] == regime]
    return np.array([r["frames"] if r[measure] is None else r[measure] for r in rows], float)


def means(sample: np.ndarray) -> np.ndarray:
    """Means of the sample drawn again and again, with replacement: [10_000]."""
    return np.random.default_rng(0).choice(sample, (10_000, len(sample))).mean(1)


def interval(sample: np.ndarray, scale: float = 1.0) -> str:
    """The mean and a 95 % bootstrap interval of it."""
    low, high = np.percentile(means(sample), [2.5, 97.5]) * scale
    return f"{sample.mean() * scale:,.0f} [{low:,.0f}, {high:,.0f}]"


def verdict(claim: Claim, results: list[dict[str, Any]], world: str) -> str:
    """Whether a claim came true, with the difference that decides it."""
    lower, higher = (values(results, world, name, claim.measure) for name in claim[2:4])
    if not len(lower) or not len(higher):
        return "not tried"
    rng = np.random.default_rng(0)
    drawn = [rng.choice(part, (10_000, len(part))).mean(1) for part in (lower, higher)]
    low, high = np.percentile(drawn[0] - drawn[1], [2.5, 97.5])
    if (
        min(len(values(results, world, name, "steps")) for name in claim[2:4] if name in REGIMES)
        < 2
    ):
        word = "one seed"
    elif high < 0 or low >= 0:
        word = "yes" if (high < 0) == claim.expected else "no"
    else:
        word = "undecided" if claim.expected else "no difference seen"
    difference = lower.mean() - higher.mean()
    return (
        f"{word}: {claim.measure} of {claim.lower} minus {claim.higher}"
        f" {difference:,.3g} [{low:,.3g}, {high:,.3g}]"
    )


def show(results: list[dict[str, Any]]) -> None:
    """The table, and under it what the paper argues for each world and whether it happened."""
    heads = (
        "world", "regime", "seeds", "success %", "optimal %", "steps (demonstration, shortest)",
        "frames to success", "frames to optimal", "beside it %", "beside it, greedy %",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for world, regime in dict.fromkeys((r["world"], r["regime"]) for r in results):
        of = {name: values(results, world, regime, name) for name in results[0] if name in _SHOWN}
        one = next(r for r in results if r["world"] == world)
        cells = (
            world, regime, str(len(of["steps"])),
            interval(of["success"], 100), interval(of["optimal"], 100),
            f"{interval(of['steps'])} ({one['demonstration']}, {one['shortest']})",
            interval(of["to_success"]), interval(of["to_optimal"]),
            interval(of["beside"], 100), interval(of["beside_greedy"], 100),
        )  # fmt: skip
        print(f"| {' | '.join(cells)} |")
    print("\nMeans over seeds, 95 % intervals; what was never reached counts as all the frames.")
    for world in dict.fromkeys(r["world"] for r in results):
        print(f"\n{world}")
        for claim in CLAIMS[world]:
            print(f"  {claim.words}: {verdict(claim, results, world)}")


_SHOWN = {
    "success", "optimal", "steps", "to_success", "to_optimal", "beside", "beside_greedy",
}  # fmt: skip


def read(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", default=",".join(TASKS))
    parser.add_argument("--regimes", default=",".join(REGIMES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=0, help="0: each world's own budget")
    parser.add_argument("--out", type=Path, default=Path("grid-worlds.jsonl"))
    parser.add_argument(
        "--apart", action="store_true", help="values without a part in common: see grid_tasks.Table"
    )
    parser.add_argument("--show", type=Path, help="print the table of a results file")
    args = parser.parse_args()
    if args.show:
        return show(read(args.show))
    torch.set_num_threads(1)
    Table.common = not args.apart
    keys = ("world", "regime", "seed", "frames")
    known = read(args.out)
    if any(r["apart"] != args.apart for r in known):
        raise SystemExit(f"{args.out} was made {'without' if args.apart else 'with'} --apart")
    have = {tuple(r[key] for key in keys) for r in known}
    jobs = [
        (world, regime, seed, args.frames or FRAMES[world])
        for world in args.worlds.split(",")
        for seed in range(1, args.seeds + 1)  # the settings were chosen with seed 0
        for regime in args.regimes.split(",")
    ]
    jobs = [job for job in jobs if job not in have]
    for count, job in enumerate(jobs, 1):
        result = run(*job)
        with args.out.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(
            f"{count} of {len(jobs)}: {job[0]}, {job[1]}, seed {job[2]}:"
            f" success {result['success']:.0%}, {result['steps']:.0f} steps,"
            f" {result['seconds']} s",
            flush=True,
        )
    show(read(args.out))


if __name__ == "__main__":
    main()
