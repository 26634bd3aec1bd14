"""What the paper observed of its curriculum (appendix A.9), and what it asks, measured.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data; of the runs, how often
success in training went to zero and came back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.grid_worlds.job import FRAMES as GRID_FRAMES
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.maze.job import MazeJob
from backplay.paper.regimes import FORGETS, SWEEPS
from backplay.report.claims import Claim, Final, at_least
from backplay.report.exhibit import Exhibit, Table
from backplay.train.job import Job

if TYPE_CHECKING:
    from backplay.report.records import RunRecord

MAZE_FRAMES, MAZE_SET = 600_000, 2  # half of them: the paper's windows hardly learn a maze
HIGH, NONE = 0.5, 0.02  # success in training that was there, and that counts as gone
NEAR = 0.05  # success that may be lacking where two count as equal


def _maze(regime: str, seed: int, scale: float = 1.0, forgets: str = "nothing") -> MazeJob:
    return MazeJob(
        regime=regime, seed=seed, frames=scaled(MAZE_FRAMES, scale), size=12, held_out=0,
        maze_seed=MAZE_SET, evaluations=20, forgets=forgets,
    )  # fmt: skip


def _world(regime: str, seed: int, scale: float = 1.0, forgets: str = "nothing") -> GridJob:
    frames = scaled(GRID_FRAMES["bottlenecks"], scale)
    return GridJob(world="bottlenecks", regime=regime, seed=seed, frames=frames, forgets=forgets)


MakeJob = Callable[..., MazeJob | GridJob]
TASKS: tuple[tuple[MakeJob, str], ...] = ((_maze, "sampled_success"), (_world, "success"))


def _jobs(scale: float, seeds: int) -> list[Job]:
    return [
        make(regime, seed, scale)
        for make, _ in TASKS
        for seed in seeds_from(0, seeds)
        for regime in SWEEPS
    ]


def _claims() -> list[Claim]:
    claims = []
    for make, measure in TASKS:
        setting = make("pace 0.5", 0).setting
        for text, ours, other, least, strict in (
            ("windows that pass too fast end lower", "pace 0.75", "pace 0.05", 0.0, True),
            ("slow windows do not", "pace 0.95", "pace 0.5", -NEAR, False),
            ("high success is not needed before moving on", "target 0.2", "target 0.8", -NEAR,
             False),
        ):  # fmt: skip
            ahead = Final(setting, ours, measure) - Final(setting, other, measure)
            claims.append(at_least(f"{setting}: {text}", "ours", ahead, least, strict=strict))
    return claims


def recovery(records: Sequence[RunRecord]) -> Exhibit:
    """Runs whose success in training went to zero, and those of them in which it came back."""
    found: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)
    for run in records:
        found[run.setting, run.regime].append(fell_and_rose(rates(run)))
    counts = {key: [len(runs), *map(sum, zip(*runs, strict=True))] for key, runs in found.items()}
    rows = [(*key, *map(str, counted)) for key, counted in counts.items() if counted[1]]
    head = ("setting", "regime", "runs", "went to zero", "came back")
    note = (
        f"Success of the training episodes between two looks at most {NONE:.0%} after"
        f" {HIGH:.0%}; then {HIGH:.0%} again. Of {len(records)} runs; where none went to zero there"
        " is no row."
    )
    return Exhibit(tables=(Table("Recovery", note, [head, *rows]),)) if rows else Exhibit()


def rates(run: RunRecord) -> list[float]:
    """Success of training episodes up to each look from the true start, since the one before."""
    looks = [at for at, _ in run.curve]
    tries, wins = defaultdict[int, int](int), defaultdict[int, int](int)
    for frames, _, tried, won in run.starts:
        part = bisect_left(looks, frames)
        tries[part] += tried
        wins[part] += won
    return [wins[at] / tries[at] for at in sorted(tries) if tries[at]]


def fell_and_rose(rates: Sequence[float]) -> tuple[bool, bool]:
    """Whether success was there and went to zero, and whether it came back after that."""
    was = fell = rose = False
    for rate in rates:
        was |= rate >= HIGH
        rose |= fell and rate >= HIGH
        fell |= was and rate <= NONE
    return fell, rose


OBSERVED = Experiment(
    name="curricula-observed", title="what the paper observed: pace, target, recovery",
    where="ours",
    about="What appendix A.9 says in words, by experiments of ours: the paper's windows, passed"
    " within a share of the frames (pace), and the staircase with other targets, on 100 mazes of"
    " 12 x 12 cells and in a grid world. Success is from the true start, actions drawn.",
    scale=1.0, seeds=5, jobs=_jobs, claims=tuple(_claims()), exhibit=recovery,
)  # fmt: skip


PACE = "pace 0.5"  # the paper's windows, passed after half of the frames


def _heads_jobs(scale: float, seeds: int) -> list[Job]:
    kinds = [(PACE, forgets) for forgets in FORGETS] + [("standard", "nothing")]
    return [
        make(regime, seed, scale, forgets)
        for make, _ in TASKS
        for seed in seeds_from(0, seeds)
        for regime, forgets in kinds
    ]


def _heads_claims(make: MakeJob, measure: str) -> list[Claim]:
    """What the windows gain, and how much of it is lost with each of the two."""

    def end(regime: str, forgets: str = "nothing") -> Final:
        return Final(make(regime, 0, 1.0, forgets).setting, regime, measure)

    return [
        at_least(f"{make(PACE, 0).setting}: {text}", "Section 5, a question", quantity, 0.0,
                 strict=True)
        for text, quantity in (
            ("the windows gain over the true start alone", end(PACE) - end("standard")),
            ("who forgets the values at each move ends lower", end(PACE) - end(PACE, "values")),
            ("who forgets the policy at each move ends lower", end(PACE) - end(PACE, "policy")),
            ("forgetting the values costs more than forgetting the policy",
             end(PACE, "policy") - end(PACE, "values")),
        )
    ]  # fmt: skip


HEADS = Experiment(
    name="curricula-heads", title="values or policy: what the gains rest on", where="ours",
    about="The paper asks whether its gains come from values, as its analysis suggests, from the"
    " policy, or from both. The paper's windows pass within half of the frames; at each move the"
    " values, the policy, both or nothing are put back to what they were at first. In the grid"
    " world both are tables of their own, in the mazes heads on a network that they share.",
    scale=1.0, seeds=5, jobs=_heads_jobs, exhibit=recovery,
    claims=tuple(claim for task in TASKS for claim in _heads_claims(*task)),
)  # fmt: skip
