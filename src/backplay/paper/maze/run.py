"""Names of what a run of the Maze can be, and the paper's numbers. What trains is in `regimes`."""

from __future__ import annotations

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
