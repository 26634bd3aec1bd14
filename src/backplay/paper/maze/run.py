"""One run of the paper's Maze as plain data, and the paper's numbers for it.

Comes in: a regime, a preset, a budget. Goes out: the same, checked. Light: what trains is in
`regimes`.
"""

from __future__ import annotations

from dataclasses import dataclass

from backplay.errors import BackplayError, show
from backplay.paper import regimes

OWN = (
    "backplay", "uniform", "standard", "florensa", "cloned", "cloned+ppo", "kickstarted",
    "gail", "gail+uniform", "gail+default", "dagger",
)  # fmt: skip
REGIMES = tuple(dict.fromkeys((*OWN, *regimes.ALL)))
"""Those of the paper's Maze, and what other experiments know."""
FOR_ALL_MAZES = ("backplay", "uniform", "standard", "default")
"""Regimes for networks that know mazes never seen: those with sight, and those that plan."""
PRESETS = ("ours", "paper")

PAPER_EPOCHS, PAPER_EPOCH = 2_000, 102_400

_COLUMNS = ("optimal", "within_5", "extra_mean", "extra_std")
_ROWS: dict[tuple[str, int], tuple[float | None, ...]] = {
    ("standard", 0): (0.0, 0.0, None, None),
    ("standard", 5): (0.0, 0.0, None, None),
    ("standard", 10): (0.0, 0.0, None, None),
    ("uniform", 0): (0.27, 0.91, 8.26, 32.92),
    ("uniform", 5): (0.51, 0.98, 2.04, 17.39),
    ("uniform", 10): (0.49, 0.98, 2.04, 16.79),
    ("florensa", 0): (0.20, 0.51, 63.36, 78.08),
    ("florensa", 5): (0.48, 0.77, 25.44, 56.89),
    ("florensa", 10): (0.49, 0.69, 39.75, 70.92),
    ("backplay", 0): (0.31, 1.00, 0.64, 4.96),
    ("backplay", 5): (0.37, 0.94, 7.94, 33.35),
    ("backplay", 10): (0.54, 0.99, 0.37, 3.49),
}
PAPER = {key: dict(zip(_COLUMNS, row, strict=True)) for key, row in _ROWS.items()}
"""Table 2 of the paper, after 2,000 epochs: by regime and steps that demonstrations waste."""


@dataclass(frozen=True, kw_only=True)
class MazeRun:
    """One run of the experiment."""

    regime: str = "backplay"
    """One of REGIMES."""
    preset: str = "ours"
    """`"paper"`: the settings of the paper and its code; `"ours"`: what learns in fewer frames."""
    frames: int = 10_240_000
    """Budget; schedules are stretched to it. The paper's is 204.8 million."""
    seed: int = 0
    """Of the network, the starts and the learner."""
    evaluations: int = 40
    """How often success from the true start is measured on the way."""
    sight: int = 0
    """How many cells around the agent the network sees; 0: the paper's network, which sees all."""
    planning: int = 0
    """Sweeps of a network that plans, for each cell along a side; 0: a network that does not."""
    epochs: int = PAPER_EPOCHS
    """Of the paper, for which the frames stand; its schedules are told in them."""

    def __post_init__(self) -> None:
        for name, allowed in (("regime", REGIMES), ("preset", PRESETS)):
            if getattr(self, name) not in allowed:
                raise BackplayError(
                    name, expected=" or ".join(allowed), got=show(getattr(self, name))
                )
        least_of = {
            "frames": 1, "seed": 0, "evaluations": 1, "sight": 0, "planning": 0, "epochs": 1
        }  # fmt: skip
        for name, least in least_of.items():
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise BackplayError(name, expected=f"a whole number from {least} on", got=value)
        ours = self.regime in FOR_ALL_MAZES and self.preset == "ours"
        if (self.sight or self.planning) and (not ours or (self.sight and self.planning)):
            raise BackplayError(
                "sight, planning", got=f"{self.sight}, {self.planning} with {self.regime}",
                expected=f"0, or one of them, {', '.join(FOR_ALL_MAZES)} and our preset",
            )  # fmt: skip
