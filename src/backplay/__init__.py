"""Learn hard, sparse-reward tasks from a single demonstration."""

from typing import TYPE_CHECKING, Any

from backplay import envs
from backplay.curricula import (
    Backplay,
    Curriculum,
    ReverseCurriculum,
    Standard,
    Uniform,
    Window,
    check_curriculum,
    from_json,
    to_json,
)
from backplay.demos import Demonstration, load
from backplay.demos.check import Report, check
from backplay.demos.record import record
from backplay.demos.success import Ending
from backplay.errors import BackplayError, DemonstrationError
from backplay.records import Episode, Snapshot, Start, Walk
from backplay.restore import RESTORERS, DeepCopy, Replay, Restorer, find_restorer
from backplay.wrapper import BackplayEnv, advance, set_curriculum, take_episodes

if TYPE_CHECKING:
    from backplay.integrations import minari, sb3

__version__ = "0.1.0"

__all__ = [
    "RESTORERS",
    "Backplay",
    "BackplayEnv",
    "BackplayError",
    "Curriculum",
    "DeepCopy",
    "Demonstration",
    "DemonstrationError",
    "Ending",
    "Episode",
    "Replay",
    "Report",
    "Restorer",
    "ReverseCurriculum",
    "Snapshot",
    "Standard",
    "Start",
    "Uniform",
    "Walk",
    "Window",
    "advance",
    "check",
    "check_curriculum",
    "envs",
    "find_restorer",
    "from_json",
    "load",
    "minari",
    "record",
    "sb3",
    "set_curriculum",
    "take_episodes",
    "to_json",
]


def __getattr__(name: str) -> Any:
    """The integrations, imported when first asked for: each needs its extra."""
    if name in ("minari", "sb3"):
        import importlib

        return importlib.import_module(f"backplay.integrations.{name}")
    raise AttributeError(f"module 'backplay' has no attribute {name!r}")
