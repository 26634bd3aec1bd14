"""Learn hard, sparse-reward tasks from a single demonstration.

The public surface. Everything else lives in its module, e.g. `backplay.records.Start` or
`backplay.restore.Replay`. `import backplay` needs numpy and gymnasium alone; whatever needs more
says which extra to install.
"""

from typing import TYPE_CHECKING

from backplay import envs as _envs  # registers their ids with Gymnasium  # noqa: F401
from backplay.advise import advise
from backplay.curricula import (
    Backplay,
    Curriculum,
    ReverseCurriculum,
    Standard,
    Uniform,
    Window,
    check_curriculum,
)
from backplay.demos import Demonstration, load
from backplay.demos.check import check
from backplay.demos.record import record
from backplay.errors import BackplayError
from backplay.extras import lazily
from backplay.restore import find_restorer
from backplay.train.calls import evaluate, train
from backplay.wrapper import BackplayEnv, advance

if TYPE_CHECKING:
    from backplay.integrations import minari, sb3

__version__ = "0.1.0"

__all__ = [
    "Backplay",
    "BackplayEnv",
    "BackplayError",
    "Curriculum",
    "Demonstration",
    "ReverseCurriculum",
    "Standard",
    "Uniform",
    "Window",
    "advance",
    "advise",
    "check",
    "check_curriculum",
    "evaluate",
    "find_restorer",
    "load",
    "minari",
    "record",
    "sb3",
    "train",
]

__getattr__ = lazily(__name__, {"minari": "integrations.minari", "sb3": "integrations.sb3"})
