"""Ways of putting an environment back into a state it was in.

Each restorer saves a state from an env and loads it into that env or another one built alike. They
do not say whether they are exact: `find_restorer` proves that on the env at hand.
"""

from __future__ import annotations

import copy as python_copy
import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backplay.data import trees
from backplay.data.streams import read_stream, set_stream
from backplay.errors import BackplayError, DemonstrationError, ensure
from backplay.restore import atari
from backplay.restore import layers as stack
from backplay.restore.fits import FITS, refuse_claim
from backplay.restore.layers import History, layers
from backplay.restore.replays import FreshReplay, Replay
from backplay.restore.restorer import Restorer, State
from backplay.restore.rollout import AnyEnv


def _save_layers(env: AnyEnv, previous: State = None, wrappers_only: bool = False) -> State:
    """Name and attributes of each layer; see `capture` for `previous`."""
    found = list(layers(env))[: -1 if wrappers_only else None]
    if previous is None or len(previous) != len(found):
        previous = [[None, None]] * len(found)
    return [
        [type(layer).__name__, stack.capture(layer, before)]
        for layer, (_, before) in zip(found, previous, strict=True)
    ]


def _load_layers(env: AnyEnv, saved: State, training: bool, wrappers_only: bool = False) -> None:
    saved = [pair for pair in saved if pair[0] not in stack.WATCHERS]  # some older files have
    found = require_layers(env, [name for name, _ in saved], wrappers_only)
    stack.begin_watching(env)
    for layer, (_, values) in zip(found, saved, strict=True):
        stack.put_back(layer, values, stack.spanning(layer) if training else ())


def require_layers(env: AnyEnv, recorded: list[str], wrappers_only: bool = False) -> list[AnyEnv]:
    """The layers of `env`, refused unless they are of the recorded classes."""
    found = list(layers(env))[: -1 if wrappers_only else None]
    names = [type(layer).__name__ for layer in found]
    ensure(
        names == recorded, "This state is of another stack of wrappers",
        " > ".join(recorded) or "no wrapper", got=" > ".join(names) or "no wrapper",
        do="Build the env as it was built when the demonstration was recorded; other wrappers"
        " go around BackplayEnv.", error=DemonstrationError,
    )  # fmt: skip
    return found


@dataclass(frozen=True)
class AttributeState:
    """The attributes of the env and its wrappers, where all of them are plain data."""

    name: str = field(default="attributes", init=False)
    storable: bool = field(default=True, init=False)
    claimed: bool = field(default=False, compare=False, repr=False)
    """Whether a file chose it: then never in the place of an env's own `set_state`."""
    _last: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def save(self, env: AnyEnv) -> State:
        state = _save_layers(env, self._last.get("state"))
        self._last["state"] = state  # unchanging tables are shared between successive states
        return state

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        refuse_claim(self, env)
        _load_layers(env, state, rng is not None)
        if rng is not None:
            stack.refresh(env, rng)
        return 0


@dataclass(frozen=True)
class OwnState:
    """The env's own `get_state()` and `set_state(state)`, and the attributes of its wrappers.

    And its `np_random`: wrappers draw from it too, so an env that does not may well leave it out.
    """

    name: str = field(default="own", init=False)
    storable: bool = field(default=True, init=False)

    def save(self, env: AnyEnv) -> State:
        base: Any = env.unwrapped
        stream = read_stream(vars(base).get("_np_random"))
        return [trees.copy(base.get_state()), stream, _save_layers(env, wrappers_only=True)]

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        own, stream, wrappers = state
        _load_layers(env, wrappers, rng is not None, wrappers_only=True)
        base: Any = env.unwrapped
        if stream is not None:
            base._np_random = set_stream(vars(base).get("_np_random"), stream)
        base.set_state(trees.copy(own))
        if rng is not None:
            stack.refresh(env, rng)
        return 0


@dataclass(frozen=True)
class AtariState:
    """The emulator's state with its random stream and sticky action, and the layers' attributes.

    The emulator's screen is stale until the step after a load: use the recorded observation.
    """

    name: str = field(default="atari", init=False)
    storable: bool = field(default=True, init=False)
    claimed: bool = field(default=False, compare=False, repr=False)
    """As of `AttributeState`."""
    _vouched: set[bytes] = field(default_factory=set, init=False, repr=False, compare=False)

    def save(self, env: AnyEnv) -> State:
        last = env.actions[-1] if isinstance(env, History) and env.actions else None
        return [atari.save_emulator(*_emulator(env), last), _save_layers(env)]

    def doubts(self, state: State) -> bool:
        """Whether a file has this state and the emulator has never been seen in it.

        The emulator believes every byte: a count in them makes it write over foreign memory.
        """
        return self.claimed and state[0][0] not in self._vouched

    def vouch(self, env: AnyEnv, state: State) -> bool:
        """Whether `env`, which came here by itself, is in this state; then it may be restored."""
        refuse_claim(self, env)
        same: bool = atari.content(env.unwrapped) == state[0][0]
        if same:
            self._vouched.add(state[0][0])
        return same

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        refuse_claim(self, env)
        if self.doubts(state):
            raise BackplayError(
                "This state of an emulator is a file's word alone",
                expected="one that its seed and actions lead to: nothing else is safe to load",
                do="Use bp.load(path, env); or, if you know who made the file,"
                " bp.load(path, restorer=AtariState()), of backplay.restore.",
            )
        game, saved = state
        atari.load_emulator(*_emulator(env), game, rng)
        _load_layers(env, saved, rng is not None)
        if rng is not None:
            stack.refresh(env, rng)
        return 0


def _emulator(env: AnyEnv) -> tuple[Any, list[Any]]:
    """The emulator and the actions it may be given."""
    base: Any = env.unwrapped
    return base.ale, list(base._action_set)


@dataclass(frozen=True)
class MujocoState:
    """The full integration state, the quantities derived from it, and all layers' attributes.

    Derived quantities (body positions, sensor data) are half a step behind the integration state
    after a step, and rewards read them: recomputing them would not be exact.
    """

    name: str = field(default="mujoco", init=False)
    storable: bool = field(default=True, init=False)
    claimed: bool = field(default=False, compare=False, repr=False)
    """As of `AttributeState`."""

    def save(self, env: AnyEnv) -> State:
        import mujoco

        model, data = _physics(env)
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        physics = np.empty(mujoco.mj_stateSize(model, kind))
        mujoco.mj_getState(model, data, physics, kind)
        derived = {name: getattr(data, name).copy() for name in _derived_names()}
        return [physics, derived, _save_layers(env)]

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        refuse_claim(self, env)
        import mujoco

        physics, derived, saved = state
        model, data = _physics(env)
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        if len(physics) != mujoco.mj_stateSize(model, kind):
            raise BackplayError(
                "This state is of another physics model",
                expected=f"{mujoco.mj_stateSize(model, kind)} numbers",
                got=len(physics),
                do="Use the env the demonstration was recorded on.",
            )
        mujoco.mj_setState(model, data, np.array(physics, np.float64), kind)
        for name in _derived_names():
            getattr(data, name)[...] = derived[name]
        _load_layers(env, saved, rng is not None)
        if rng is not None:
            stack.refresh(env, rng)
        return 0


def _physics(env: AnyEnv) -> tuple[Any, Any]:
    base: Any = env.unwrapped
    return base.model, base.data


@functools.cache
def _derived_names() -> list[str]:
    """Names of the arrays of MjData that follow from its state, by their documented prefixes.

    Not among them: constraint arrays (`efc_…`), whose sizes change from step to step and which no
    step reads before computing them anew.
    """
    import mujoco

    prefixes = (
        "x", "geom_x", "site_x", "cam_x", "light_x", "cvel", "cacc", "cfrc", "cinert", "cdof",
        "crb", "subtree_", "sensordata", "actuator_", "qacc", "qfrc_", "flexvert_",
    )  # fmt: skip
    return [name for name in dir(mujoco.MjData) if name.startswith(prefixes)]


@dataclass(frozen=True)
class MujocoModelState(MujocoState):
    """As `MujocoState`, and what an env may have moved in the model itself when it was reset.

    Adroit's door, Meta-World's goal: the place of a body is no state of the physics, but differs
    from episode to episode.
    """

    name: str = field(default="mujoco-model", init=False)

    def save(self, env: AnyEnv) -> State:
        model, _ = _physics(env)
        return [*super().save(env), {name: getattr(model, name).copy() for name in _MOVED}]

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        *usual, moved = state
        steps = super().load(env, usual, rng)
        model, _ = _physics(env)
        for name in _MOVED:
            getattr(model, name)[...] = moved[name]
        return steps


_MOVED = (
    "body_pos", "body_quat", "body_mass", "body_inertia", "geom_pos", "geom_quat", "geom_size",
    "geom_rgba", "geom_friction", "site_pos", "site_quat", "site_size", "site_rgba", "cam_pos",
    "cam_quat", "light_pos", "light_dir", "jnt_range", "qpos0", "dof_damping", "dof_frictionloss",
    "actuator_gainprm", "actuator_biasprm",
)  # fmt: skip
"""Arrays of MjModel that environments write to: places, sizes, colours, masses, gains."""


class _Layer:
    """Stands for one layer, of class `name`, inside a deep copy, so that it fits any such stack."""

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True)
class DeepCopy:
    """Deep copies of the attributes of every layer. Not data: a file keeps seed and actions."""

    name: str = field(default="deepcopy", init=False)
    storable: bool = field(default=False, init=False)

    def save(self, env: AnyEnv) -> State:
        found = list(layers(env))
        marks = [_Layer(type(layer).__name__) for layer in found]
        memo: dict[int, Any] = {id(layer): mark for layer, mark in zip(found, marks, strict=True)}
        return [marks, python_copy.deepcopy([stack.own_attributes(x) for x in found], memo)]

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        marks, saved = state
        found = require_layers(env, [mark.name for mark in marks])
        stack.begin_watching(env)
        memo: dict[int, Any] = {id(mark): layer for mark, layer in zip(marks, found, strict=True)}
        fresh = python_copy.deepcopy(saved, memo)
        for layer, values in zip(found, fresh, strict=True):
            keep = stack.spanning(layer) if rng is not None else ()
            for name in stack.own_attributes(layer).keys() - values.keys():
                delattr(layer, name)
            vars(layer).update({k: v for k, v in values.items() if k not in keep})
        if rng is not None:
            stack.refresh(env, rng)
        return 0


RESTORERS: dict[str, Callable[[], Restorer]] = {
    "own": OwnState,
    "atari": AtariState,
    "mujoco": MujocoState,
    "mujoco-model": MujocoModelState,
    "attributes": AttributeState,
    "deepcopy": DeepCopy,
    "replay": Replay,
    "fresh": FreshReplay,
}
"""By name, fastest first."""


def restorer_named(asked: Restorer | str) -> Restorer:
    """The restorer of a name; one that is given as an object is itself."""
    if not isinstance(asked, str):
        return asked
    if asked in RESTORERS:
        return RESTORERS[asked]()
    raise BackplayError(
        "restorer", expected=f"one of {', '.join(map(repr, RESTORERS))}", got=repr(asked),
        do="Or pass a restorer of your own, an object with save and load.",
    )  # fmt: skip


def restorer_of_file(name: str) -> Restorer:
    """The restorer that a file names, which does not get past an env's own `set_state`."""
    made = RESTORERS[name]()
    if isinstance(made, AttributeState | AtariState | MujocoState):
        return replace(made, claimed=True)
    return made


def believed(restorer: Restorer) -> Restorer:
    """The same for states that were saved here, not read from a file."""
    if isinstance(restorer, AttributeState | AtariState | MujocoState):
        return replace(restorer, claimed=False)
    return restorer


def candidates(env: AnyEnv) -> list[Restorer]:
    """The restorers that may work on `env`, fastest first."""
    return [make() for name, make in RESTORERS.items() if name not in FITS or FITS[name](env)]
