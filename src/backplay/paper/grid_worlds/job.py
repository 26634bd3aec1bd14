"""The grid worlds and the tree as jobs: seven regimes, the same PPO on a table.

Comes in: a `GridJob`. Goes out: a `Training`, or a cloned table where nothing is trained; lines for
the metrics; at the end how well it plays from the true start and from beside the demonstration.
Does not know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from backplay.curricula import (
    Backplay,
    Curriculum,
    ReverseCurriculum,
    Standard,
    Uniform,
    Until,
    Waiting,
    Window,
)
from backplay.errors import ensure
from backplay.paper import regimes
from backplay.paper.experiment import FolderJob
from backplay.train.job import require_one_of, require_whole

FRAMES = {"open": 200_000, "bottlenecks": 200_000, "basin": 200_000, "tree": 100_000}
"""The full budget of each world."""
ENVS, STEPS = 32, 32  # side by side, and between two updates
BATCH = ENVS * STEPS
WINDOW = 16  # steps; each window begins in the middle of the one before
ROUND, NEW_STATES = 4 * BATCH, 500  # of RCG with all frames; shorter rounds walk less
SETTINGS = {"open": "open world", "bottlenecks": "bottlenecks", "basin": "basin", "tree": "tree"}


def backplay_windows(length: int, share: float) -> Waiting:
    """Windows of 16 steps, each until 90 % of its episodes succeed; then the true start.

    `share` is that of the world's full budget: each window stays for that share of a batch at
    least.
    """
    count = -(-2 * length // WINDOW)
    back = [(WINDOW // 2 * i, WINDOW // 2 * i + WINDOW) for i in range(count)] + [(length, length)]
    least = max(1, round(BATCH * share))
    windows = [Window(least * i, lo, hi) for i, (lo, hi) in enumerate(back)]
    return Waiting(Backplay(windows), 0.9)


def reverse(job: GridJob, length: int) -> ReverseCurriculum:
    """The paper's numbers for RCG, a tenth of them or so: these worlds have one maze, not 100."""
    return ReverseCurriculum.begin(
        [length], seed=job.seed, round_frames=max(1, round(ROUND * job.share)),
        new_states=max(1, round(NEW_STATES * job.share)), walk_steps=25, new_starts=100,
        old_starts=50, until=job.frames // 2,
    )  # fmt: skip


OWN: dict[str, Callable[[GridJob, int], Curriculum | None]] = {
    "standard": lambda job, length: Standard(),
    "uniform": lambda job, length: Until(Uniform(), at=job.frames // 2),
    "backplay": lambda job, length: backplay_windows(length, job.share),
    "rcg": reverse,
    "cloning": lambda job, length: None,
    "cloning + ppo": lambda job, length: Standard(),
    "gail": lambda job, length: Standard(),
}
"""From the job and the demonstration's length; None does not train with PPO."""
REGIMES = tuple(dict.fromkeys((*OWN, *regimes.ALL)))
"""Those of the paper's grid worlds, and what other experiments know."""


def curriculum(job: GridJob, length: int) -> Curriculum | None:
    """Where episodes start; None where nothing is trained with PPO."""
    if job.regime in OWN:
        return OWN[job.regime](job, length)
    return regimes.curriculum(job.regime, [length], job.frames, seed=job.seed)


@dataclass(frozen=True, kw_only=True)
class GridJob(FolderJob):
    """One run in one world."""

    kind: ClassVar[str] = "grid_worlds"
    curve: ClassVar[tuple[str, ...]] = ("success", "optimal", "steps")
    measures: ClassVar[tuple[str, ...]] = (
        *curve, "beside", "beside_greedy", "fewer_than_demonstration", "more_than_shortest",
    )  # fmt: skip

    world: str
    """One of FRAMES."""
    regime: str
    """One of REGIMES; "cloning" trains nothing and has 0 frames."""
    seed: int = 1
    """Of the table, the starts and the learner. The settings were chosen with seed 0."""
    frames: int = 200_000
    """Budget; schedules are stretched to it."""
    apart: bool = False
    """Values without a part in common: see `grid_worlds.Tabular`."""
    forgets: str = "nothing"
    """What is forgotten whenever windows move that move by frames alone, one of FORGETS."""

    def __post_init__(self) -> None:
        require_one_of("world", self.world, tuple(FRAMES))
        require_one_of("regime", self.regime, REGIMES)
        require_whole(self, seed=0, frames=0)
        trains = self.regime != "cloning"
        ensure((self.frames > 0) == trains, "frames", "1 or more; of cloning 0", self.frames)
        ensure(isinstance(self.apart, bool), "apart", "True or False", self.apart)
        require_one_of("forgets", self.forgets, regimes.FORGETS)

    @property
    def share(self) -> float:
        """Of the world's full budget."""
        return self.frames / FRAMES[self.world]

    @property
    def setting(self) -> str:
        """The world, in words."""
        words = [SETTINGS[self.world], *["values apart"] * self.apart]
        words += [f"forgets {self.forgets}"] * (self.forgets != "nothing")
        return ", ".join(words)

    @property
    def seconds(self) -> float:
        """Three for 200,000 frames."""
        return 1.0 + 15.0 * self.frames / 1_000_000


JOB = GridJob
