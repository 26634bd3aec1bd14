"""Minari: demonstrations as a Minari dataset, and Minari episodes as demonstrations.

    bp.minari.to_minari([demo], "taxi/mine-v0", env=env)
    demo = bp.minari.from_minari("taxi/mine-v0", env)

What is exported is a usual dataset, with observations, actions and rewards for everyone, and beside
them, in the infos of each episode, the demonstration itself with its states: its file's bytes, cut
into one row per step. An episode from elsewhere is played again from its seed and actions, and must
come out the same; one without a seed is made from the states in it, if there are any.
"""

from __future__ import annotations

import io
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from backplay.data import trees
from backplay.demos.demonstration import Demonstration
from backplay.demos.described import describe_env
from backplay.demos.files import load
from backplay.demos.record import record
from backplay.errors import BackplayError, DemonstrationError, ensure, refusing
from backplay.extras import require
from backplay.restore import Restorer
from backplay.restore.rollout import AnyEnv
from backplay.train.trust import asked_for, require_trust

require("minari")

import minari  # noqa: E402  # after the clear error
from minari.data_collector import EpisodeBuffer  # noqa: E402
from minari.storage import get_dataset_path  # noqa: E402

from backplay.integrations.minari_values import (  # noqa: E402
    columns,
    comparable,
    plain,
    value,
)

_ROWS = "backplay"
_LENGTH = np.dtype("<u8")


def to_minari(
    demos: Sequence[Demonstration],
    dataset_id: str,
    *,
    env: AnyEnv | None = None,
    data_format: str | None = None,
    **about: Any,
) -> minari.MinariDataset:
    """Writes demonstrations of one env as a Minari dataset, one episode each; returns the dataset.

    Args:
        demos: demonstrations with actions.
        dataset_id: as Minari wants it, such as `"maze/mine-v0"`; there must be no such dataset yet.
        env: the env they were recorded on; by default made from the id in the demonstrations.
        data_format: `"hdf5"`, `"arrow"` or `"parquet"`; by default Minari's own default.
        about: what else Minari keeps: author, author_email, code_permalink, description, and so on.
    """
    if isinstance(demos, Demonstration) or not demos:
        raise BackplayError(
            "demos", expected="a list of at least one demonstration", got=type(demos).__name__,
            do="Write to_minari([demo], dataset_id).",
        )  # fmt: skip
    env = _made(demos[0]) if env is None else env
    episodes = [_episode(demo, env) for demo in demos]
    named = env if _can_be_written(env) else None
    folder = Path(get_dataset_path(dataset_id))
    ensure(
        not folder.exists(), f"There is a Minari dataset {dataset_id} already", "a new name",
        got=folder, do=f"Choose another, or minari.delete_dataset({dataset_id!r}).",
    )  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # one for all that `about` leaves out
            return minari.create_dataset_from_buffers(
                dataset_id, episodes, env=named, data_format=data_format, jpeg_encoding=False,
                observation_space=env.observation_space, action_space=env.action_space, **about,
            )  # fmt: skip
    except Exception as error:  # whatever h5py, pyarrow and Minari raise
        shutil.rmtree(folder, ignore_errors=True)
        raise BackplayError(
            f"Minari could not write {dataset_id}",
            expected="an id such as 'maze/mine-v0', and spaces and a format that Minari knows",
            got=f"{type(error).__name__}: {str(error)[:300]}",
            do="Nothing was left behind; demo.save(path) writes any demonstration.",
        ) from error


def from_minari(
    dataset: str | minari.MinariDataset,
    env: AnyEnv,
    *,
    episode: int = 0,
    restorer: Restorer | None = None,
    states: Callable[[Any], Sequence[Any]] | None = None,
    put: Callable[[AnyEnv, Any], None] | None = None,
) -> Demonstration:
    """One episode of a Minari dataset as a demonstration of `env`, with its states.

    An episode that `to_minari` wrote comes back as it was. Any other is played again on `env` from
    its seed and actions; if it does not come out the same, DemonstrationError says where it
    differs. One without a seed is made from its states, without its actions: a simulator that is
    put into a pose answers nearly as before, and `bp.check` says what it could not compare.

    Args:
        dataset: the dataset, or the id of one on this machine.
        env: the environment of the demonstration.
        episode: which one.
        restorer: as in `bp.record`; for an episode of `to_minari` as in `bp.load`.
        states: takes the Minari episode, returns its T + 1 states, and is used whether or not there
            is a seed; by default `infos["qpos"]` and `infos["qvel"]`, where there is no seed.
        put: puts the env into one of these states; by default `env.unwrapped.set_state(*state)`.
    """
    if isinstance(dataset, str):
        dataset = _opened(dataset)
    if not 0 <= episode < len(dataset):
        raise BackplayError(
            "episode", expected=f"a number below {len(dataset)}", got=episode, do="Choose another."
        )
    data = dataset[episode]
    (metadata,) = dataset.storage.get_episode_metadata([data.id])
    if _ROWS not in (data.infos or {}):
        seed = metadata.get("seed")
        if states is None and isinstance(seed, int | np.integer):
            return _played_again(dataset, data, metadata, env, restorer)
        return _from_poses(dataset, data, env, restorer, states or _poses, put or _set_pose)
    demo = load(io.BytesIO(_joined(data.infos[_ROWS])), env, restorer=restorer)
    difference = trees.first_difference(np.asarray(data.rewards, np.float64), demo.rewards)
    ensure(
        not difference, "This episode was changed after it was exported",
        "the rewards of the demonstration stored in it", got=difference,
        do="Take its states from the original dataset.", error=DemonstrationError,
    )  # fmt: skip
    return demo


def all_from_minari(
    dataset: str | minari.MinariDataset, env: AnyEnv, **how: Any
) -> list[Demonstration]:
    """Every episode of a Minari dataset as a demonstration of `env`; `how` as for `from_minari`."""
    opened = _opened(dataset) if isinstance(dataset, str) else dataset
    return [from_minari(opened, env, episode=number, **how) for number in range(len(opened))]


def _made(demo: Demonstration) -> AnyEnv:
    try:
        # Only ids known already: "module:Id" would import a module that a file has named.
        if demo.env_id and demo.env_id in gym.registry:
            require_trust(asked_for(demo.env_kwargs), "This demonstration")
            return gym.make(demo.env_id, **demo.env_kwargs)
        problem = f"{demo.env_id!r}, which is not registered"
    except BackplayError:
        raise
    except Exception as error:  # whatever an env's constructor does
        problem = f"{type(error).__name__}: {str(error)[:200]}"
    raise BackplayError(
        "env", expected="an env id from which the env can be made", got=problem,
        do="Pass the env: to_minari(demos, dataset_id, env=env).",
    )  # fmt: skip


def _can_be_written(env: AnyEnv) -> bool:
    """Whether the env's spec is data: one with functions in it is not."""
    try:
        return env.spec is not None and bool(env.spec.to_json())
    except Exception:
        return False


def _episode(demo: Demonstration, env: AnyEnv) -> EpisodeBuffer:
    here = describe_env(env)["spaces"]
    ensure(
        demo.spaces == here, "This demonstration is of an env with other spaces", here,
        got=demo.spaces, do="Pass the env it was recorded on as env=.", error=DemonstrationError,
    )  # fmt: skip
    rollout = demo.rollout()
    return EpisodeBuffer(
        seed=demo.seed if demo.seed is not None and abs(demo.seed) < 2**63 else None,
        options=demo.options if _is_simple(demo.options) else None,
        observations=columns(env.observation_space, rollout.observations),
        actions=columns(env.action_space, rollout.actions),
        rewards=rollout.rewards.tolist(),
        terminations=rollout.terminations.tolist(),
        truncations=rollout.truncations.tolist(),
        infos={_ROWS: _cut(demo.to_bytes(), len(demo) + 1)},
    )


def _is_simple(options: Any) -> bool:
    """Whether Minari's formats can hold these options; in any case they are in our bytes."""
    if isinstance(options, dict):
        return all(isinstance(k, str) and _is_simple(v) for k, v in options.items())
    return isinstance(options, bool | float | str) or (
        isinstance(options, int) and abs(options) < 2**63
    )


def _cut(data: bytes, rows: int) -> np.ndarray:
    """`data`, its length in front, as rows of bytes of equal length, [rows, width]."""
    whole = np.array(len(data), _LENGTH).tobytes() + data
    width = -(-len(whole) // rows)
    return np.frombuffer(whole.ljust(rows * width, b"\0"), np.uint8).reshape(rows, width)


def _joined(rows: Any) -> bytes:
    whole = np.asarray(rows, np.uint8).tobytes()
    length = int.from_bytes(whole[: _LENGTH.itemsize], "little")
    return whole[_LENGTH.itemsize : _LENGTH.itemsize + length]


def _opened(dataset_id: str) -> minari.MinariDataset:
    with refusing(
        f"The Minari dataset {dataset_id} cannot be opened", "a dataset on this machine",
        do=f"Download it: minari.download_dataset({dataset_id!r}).",
    ):  # fmt: skip
        return minari.load_dataset(dataset_id)


def _played_again(
    dataset: minari.MinariDataset,
    data: Any,
    metadata: dict[str, Any],
    env: AnyEnv,
    restorer: Restorer | None,
) -> Demonstration:
    _require_spaces(dataset, env)
    try:
        demo = record(
            env, [value(env.action_space, data.actions, t) for t in range(len(data))],
            seed=int(metadata["seed"]), options=plain(metadata.get("options")) or None,
            restorer=restorer,
        )  # fmt: skip
    except Exception as error:  # an env does what it likes with actions not its own
        raise _not_reproduced(dataset, f"{type(error).__name__}: {str(error)[:500]}") from error
    difference = _first_difference(dataset, data, demo)
    if difference:
        raise _not_reproduced(dataset, f"another answer at {difference}")
    return demo


def _require_spaces(dataset: minari.MinariDataset, env: AnyEnv) -> None:
    for what in ("observation_space", "action_space"):
        if getattr(dataset, what) != getattr(env, what):
            raise _not_reproduced(dataset, f"another {what.replace('_', ' ')}")


def _from_poses(
    dataset: minari.MinariDataset,
    data: Any,
    env: AnyEnv,
    restorer: Restorer | None,
    states: Callable[[Any], Sequence[Any]],
    put: Callable[[AnyEnv, Any], None],
) -> Demonstration:
    """An episode from the states in it, without its actions."""
    _require_spaces(dataset, env)
    found = states(data)
    if len(found) != len(data) + 1:
        raise _not_reproduced(dataset, f"{len(found)} states of an episode of {len(data)} steps")
    space = env.observation_space
    return Demonstration.from_states(
        env, found, put=put, rewards=np.asarray(data.rewards, np.float64), restorer=restorer,
        observations=[value(space, data.observations, t) for t in range(len(found))],
        terminated=bool(data.terminations[-1]),
    )  # fmt: skip


def _poses(data: Any) -> Sequence[Any]:
    """Positions and velocities, as datasets of MuJoCo's envs have them."""
    infos = data.infos or {}
    ensure(
        {"qpos", "qvel"} <= infos.keys(), "This Minari episode has neither a seed nor known states",
        "a seed, or infos with qpos and qvel", got=f"infos with {', '.join(infos) or 'nothing'}",
        do="Say where its states are: from_minari(..., states=lambda episode: ..., put=...).",
        error=DemonstrationError,
    )  # fmt: skip
    return list(zip(np.asarray(infos["qpos"]), np.asarray(infos["qvel"]), strict=True))


def _set_pose(env: AnyEnv, pose: Any) -> None:
    base: Any = env.unwrapped
    base.set_state(*pose)


def _first_difference(dataset: minari.MinariDataset, data: Any, demo: Demonstration) -> str | None:
    """Where the episode played again first differs from the stored one, by step and field."""
    space = dataset.observation_space
    ours = columns(space, demo.observations)
    lossy = dataset.storage.jpeg_encoding
    for t in range(len(demo) + 1):
        fields = [
            ("observation", comparable(space, ours, t, lossy),
             comparable(space, data.observations, t, lossy)),
        ]  # fmt: skip
        if t:
            last = t == len(data)  # Minari marks an episode that was cut off as truncated
            truncated = bool(data.truncations[t - 1]) and not (last and not demo.truncations[-1])
            fields += [
                ("reward", float(demo.rewards[t - 1]), float(data.rewards[t - 1])),
                ("terminated", bool(demo.terminations[t - 1]), bool(data.terminations[t - 1])),
                ("truncated", bool(demo.truncations[t - 1]), truncated),
            ]
        for name, now, stored in fields:
            difference = trees.first_difference(now, stored)
            if difference:
                return f"step {t}, {name}: now and as stored: {difference}"
    if len(demo) != len(data):
        return f"step {len(demo)}: it ends now, and goes on to step {len(data)} as stored"
    return None


def _not_reproduced(dataset: minari.MinariDataset, got: str) -> DemonstrationError:
    spec = dataset.env_spec
    return DemonstrationError(
        "This Minari episode has no states and cannot be reproduced on this env",
        expected=f"{spec.id if spec else 'its env'} to answer to its seed and actions as stored",
        got=got,
        do="Use the env and the package versions it was collected with, or record a new one.",
    )
