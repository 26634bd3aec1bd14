"""Learn hard, sparse-reward tasks from a single demonstration.

The public surface. Everything else lives in its module, e.g. `backplay.records.Start` or
`backplay.restore.Replay`. Names are imported when they are first asked for, so that `import
backplay` takes hardly longer than gymnasium; whatever needs more than numpy and gymnasium says
which extra to install.
"""

from typing import TYPE_CHECKING

from backplay.extras import lazily

if TYPE_CHECKING:
    from backplay.advise import advise
    from backplay.curricula import (
        Backplay,
        Curriculum,
        Frontier,
        Patience,
        ReverseCurriculum,
        Standard,
        TrueStarts,
        Uniform,
        Until,
        Window,
        check_curriculum,
    )
    from backplay.demos import Demonstration, load
    from backplay.demos.check import check
    from backplay.demos.files import load_all
    from backplay.demos.record import record
    from backplay.errors import BackplayError
    from backplay.integrations import minari as minari
    from backplay.integrations import sb3 as sb3
    from backplay.restore import find_restorer
    from backplay.runs.execute import load_agent
    from backplay.train.calls import evaluate, train
    from backplay.wrapper import BackplayEnv, advance
else:
    from backplay import advise, envs, train  # noqa: F401  # envs registers its ids with Gymnasium

    # Two packages have the names of two functions. Loaded now and taken out of sight, they are not
    # bound here again when a module of theirs is imported.
    del advise, train

__version__ = "0.2.0"

__all__ = [
    "Backplay",
    "BackplayEnv",
    "BackplayError",
    "Curriculum",
    "Demonstration",
    "Frontier",
    "Patience",
    "ReverseCurriculum",
    "Standard",
    "TrueStarts",
    "Uniform",
    "Until",
    "Window",
    "advance",
    "advise",
    "check",
    "check_curriculum",
    "evaluate",
    "find_restorer",
    "load",
    "load_agent",
    "load_all",
    "record",
    "train",
]

__getattr__ = lazily(
    __name__,
    {
        "advise.advisor": "advise",
        "curricula": "Backplay Curriculum Frontier Patience ReverseCurriculum Standard TrueStarts"
        " Uniform Until Window check_curriculum",
        "demos": "Demonstration load",
        "demos.check": "check",
        "demos.files": "load_all",
        "demos.record": "record",
        "errors": "BackplayError",
        "integrations": "minari sb3",
        "restore": "find_restorer",
        "runs.execute": "load_agent",
        "train.calls": "evaluate train",
        "wrapper": "BackplayEnv advance",
    },
)
