"""Putting an environment back into a state it was in, exactly."""

from backplay.restore.find import find_flaw, find_restorer
from backplay.restore.layers import History, layers, restart_clocks
from backplay.restore.restorers import (
    RESTORERS,
    AtariState,
    AttributeState,
    DeepCopy,
    MujocoState,
    OwnState,
    Replay,
    ReplayState,
    Restorer,
    candidates,
)

__all__ = [
    "RESTORERS",
    "AtariState",
    "AttributeState",
    "DeepCopy",
    "History",
    "MujocoState",
    "OwnState",
    "Replay",
    "ReplayState",
    "Restorer",
    "candidates",
    "find_flaw",
    "find_restorer",
    "layers",
    "restart_clocks",
]
