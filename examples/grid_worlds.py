"""The paper's three grid worlds and its binary tree (section 3.2): what it argues, what happens.

python examples/grid_worlds.py --out grid-worlds.jsonl
python examples/grid_worlds.py --show grid-worlds.jsonl

Six regimes learn in each with the same PPO: the jobs of `backplay reproduce grid-worlds`, here in
one process and with --apart, if wanted. One line of JSON per run; a run that is already in the
file is not made again, so an interrupted comparison goes on where it stopped.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from backplay.paper.grid_worlds.job import FRAMES, REGIMES, GridJob
from backplay.paper.grid_worlds.worlds import TASKS

GOOD = 0.95


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


def run(world: str, regime: str, seed: int, frames: int, *, apart: bool) -> dict[str, Any]:
    """One training run and what came of it."""
    began = time.process_time()
    trained = 0 if regime == "cloning" else frames
    job = GridJob(world=world, regime=regime, seed=seed, frames=trained, apart=apart)
    work = job.begin()
    curve = [{"frames": 0, **work.measured()}] if regime.startswith("cloning") else []
    for progress in work.training.run() if work.training else ():
        line = work.line(progress)
        if "evaluation" in line:
            curve.append({"frames": line["frames"], **line["evaluation"]})
    result = work.result()
    work.close()
    return {
        "world": world, "regime": regime, "seed": seed, "frames": frames, "apart": apart,
        **{key: curve[-1][key] for key in ("success", "optimal", "steps")},
        "to_success": reached(curve, "success"), "to_optimal": reached(curve, "optimal"),
        **{key: result["measures"][key] for key in ("beside", "beside_greedy")},
        "demonstration": result["demonstration"], "shortest": result["shortest"],
        "seconds": round(time.process_time() - began, 1),
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
        "--apart",
        action="store_true",
        help="values without a part in common: see `grid_worlds.Table`",
    )
    parser.add_argument("--show", type=Path, help="print the table of a results file")
    args = parser.parse_args()
    if args.show:
        return show(read(args.show))
    torch.set_num_threads(1)
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
        result = run(*job, apart=args.apart)
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
