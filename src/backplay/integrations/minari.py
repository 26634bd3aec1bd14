"""Minari: demonstrations as a Minari dataset, and Minari episodes as demonstrations.

    bp.minari.to_minari([demo], "taxi/mine-v0", env=env)
    demo = bp.minari.from_minari("taxi/mine-v0", env)

What is exported is a usual dataset, with observations, actions and rewards for everyone, and beside
them, in the infos of each episode, the demonstration itself with its states: its file's bytes, cut
into one row per step. An episode from elsewhere has no states: it is played again from its seed and
actions, and must come out the same.
"""

from __future__ import annotations

import io
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from backplay.data import trees
from backplay.demos.demonstration import Demonstration, load
from backplay.demos.described import describe_env
from backplay.demos.record import record
from backplay.errors import BackplayError, DemonstrationError
from backplay.extras import require
from backplay.restore import Restorer
from backplay.restore.rollout import AnyEnv
from backplay.train.trust import asked_for, require_trust

require("minari")

import minari  # noqa: E402  # after the clear error
from minari.data_collector import EpisodeBuffer  # noqa: E402
from minari.dataset.minari_storage import is_image_space  # noqa: E402
from minari.storage import get_dataset_path  # noqa: E402

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
    if folder.exists():
        raise BackplayError(
            f"There is a Minari dataset {dataset_id} already", expected="a new name", got=folder,
            do=f"Choose another, or minari.delete_dataset({dataset_id!r}).",
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
) -> Demonstration:
    """One episode of a Minari dataset as a demonstration of `env`, with its states.

    An episode that `to_minari` wrote comes back as it was. Any other is played again on `env` from
    its seed and actions; if it does not come out the same, or has no seed, DemonstrationError says
    where it differs. `restorer` is as in `bp.record` for these, and as in `bp.load` for ours.
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
        return _played_again(dataset, data, metadata, env, restorer)
    demo = load(io.BytesIO(_joined(data.infos[_ROWS])), env, restorer=restorer)
    difference = trees.first_difference(np.asarray(data.rewards, np.float64), demo.rewards)
    if difference:
        raise DemonstrationError(
            "This episode was changed after it was exported",
            expected="the rewards of the demonstration stored in it", got=difference,
            do="Take its states from the original dataset.",
        )  # fmt: skip
    return demo


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
    if demo.spaces != here:
        raise DemonstrationError(
            "This demonstration is of an env with other spaces",
            expected=here, got=demo.spaces, do="Pass the env it was recorded on as env=.",
        )  # fmt: skip
    rollout = demo.rollout()
    return EpisodeBuffer(
        seed=demo.seed if demo.seed is not None and abs(demo.seed) < 2**63 else None,
        options=demo.options if _is_simple(demo.options) else None,
        observations=_columns(env.observation_space, rollout.observations),
        actions=_columns(env.action_space, rollout.actions),
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


def _columns(space: gym.Space[Any], values: Sequence[Any]) -> Any:
    """Values of a space as Minari keeps them: one array or list for each of the space's leaves."""
    if isinstance(space, spaces.Dict):
        return {name: _columns(sub, [v[name] for v in values]) for name, sub in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_columns(sub, [v[i] for v in values]) for i, sub in enumerate(space.spaces))
    if isinstance(space, spaces.Text):
        return [str(value) for value in values]
    return np.array([np.asarray(value) for value in values], space.dtype)


def _value(space: gym.Space[Any], columns: Any, step: int) -> Any:
    """The value at `step` of what `_columns` made."""
    if isinstance(space, spaces.Dict):
        return {name: _value(sub, columns[name], step) for name, sub in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_value(sub, columns[i], step) for i, sub in enumerate(space.spaces))
    if isinstance(space, spaces.Text):
        return str(columns[step])
    if isinstance(space, spaces.Discrete):
        return int(columns[step])
    return np.array(columns[step], space.dtype)


def _opened(dataset_id: str) -> minari.MinariDataset:
    try:
        return minari.load_dataset(dataset_id)
    except Exception as error:
        raise BackplayError(
            f"The Minari dataset {dataset_id} cannot be opened",
            expected="a dataset on this machine",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            do=f"Download it: minari.download_dataset({dataset_id!r}).",
        ) from error


def _played_again(
    dataset: minari.MinariDataset,
    data: Any,
    metadata: dict[str, Any],
    env: AnyEnv,
    restorer: Restorer | None,
) -> Demonstration:
    for what in ("observation_space", "action_space"):
        if getattr(dataset, what) != getattr(env, what):
            raise _not_reproduced(dataset, f"another {what.replace('_', ' ')}")
    seed = metadata.get("seed")
    if not isinstance(seed, int | np.integer):
        raise _not_reproduced(dataset, "an episode without a seed")
    try:
        demo = record(
            env, [_value(env.action_space, data.actions, t) for t in range(len(data))],
            seed=int(seed), options=_plain(metadata.get("options")) or None, restorer=restorer,
        )  # fmt: skip
    except Exception as error:  # an env does what it likes with actions not its own
        raise _not_reproduced(dataset, f"{type(error).__name__}: {str(error)[:500]}") from error
    difference = _first_difference(dataset, data, demo)
    if difference:
        raise _not_reproduced(dataset, f"another answer at {difference}")
    return demo


def _first_difference(dataset: minari.MinariDataset, data: Any, demo: Demonstration) -> str | None:
    """Where the episode played again first differs from the stored one, by step and field."""
    space = dataset.observation_space
    ours = _columns(space, demo.observations)
    lossy = dataset.storage.jpeg_encoding
    for t in range(len(demo) + 1):
        fields = [
            ("observation", _comparable(space, ours, t, lossy),
             _comparable(space, data.observations, t, lossy)),
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


def _comparable(space: gym.Space[Any], columns: Any, step: int, lossy: bool) -> Any:
    """As `_value`, without the images that the dataset keeps only roughly, as JPEG."""
    if isinstance(space, spaces.Dict):
        return {k: _comparable(sub, columns[k], step, lossy) for k, sub in space.items()}
    if isinstance(space, spaces.Tuple):
        subspaces = enumerate(space.spaces)
        return tuple(_comparable(sub, columns[i], step, lossy) for i, sub in subspaces)
    return None if lossy and is_image_space(space) else _value(space, columns, step)


def _plain(value: Any) -> Any:
    """Options as they were before HDF5 made numpy scalars of them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _not_reproduced(dataset: minari.MinariDataset, got: str) -> DemonstrationError:
    spec = dataset.env_spec
    return DemonstrationError(
        "This Minari episode has no states and cannot be reproduced on this env",
        expected=f"{spec.id if spec else 'its env'} to answer to its seed and actions as stored",
        got=got,
        do="Use the env and the package versions it was collected with, or record a new one.",
    )
