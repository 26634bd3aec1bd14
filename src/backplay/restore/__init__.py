"""Putting an environment back into a state it was in, exactly."""

from backplay.restore.find import IllegalActionError, find_flaw, find_restorer
from backplay.restore.layers import (
    History,
    capture_wrappers,
    layers,
    put_back_wrappers,
    restart_clocks,
    step_limit,
)
from backplay.restore.replays import FreshReplay, Replay, ReplayState, renew
from backplay.restore.restorer import Restorer
from backplay.restore.restorers import (
    RESTORERS,
    AtariState,
    AttributeState,
    DeepCopy,
    MujocoModelState,
    MujocoState,
    OwnState,
    believed,
    candidates,
    restorer_named,
    restorer_of_file,
)
