"""Mutated demonstration files: makes them, loads them, and says what came of each.

    python tests/fuzz_demos.py 10000

Each file must load equal to the original or raise DemonstrationError. Where the digest was computed
anew, it is another file and may also load as another valid demonstration, which must then restore
or raise BackplayError. The process has a limit on memory, every file has one on time, and a pickle
in some of the files would leave a mark if anything ran it. A file is made again from its number.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import backplay as bp
from backplay.errors import DemonstrationError
from backplay.restore import DeepCopy, Replay
from demo_mutations import MARK, MUTATIONS
from envs_for_tests import Corridor, ManyStreams, Spaces, StatefulCorridor

STUCK = 60  # seconds of this process alone, however busy the machine: a file that never ends
MEMORY = 2 * 2**30  # beyond what the process holds before the first file

RICH = spaces.Dict(
    image=spaces.Box(0, 255, (3, 3), np.uint8),
    rest=spaces.Tuple((spaces.Text(4), spaces.MultiBinary(3), spaces.Discrete(4))),
)
ENVS: dict[str, Callable[[], gym.Env[Any, Any]]] = {
    "cartpole": lambda: gym.make("CartPole-v1"),
    "lake": lambda: gym.make("FrozenLake-v1"),
    "corridor": lambda: Corridor(slip=0.3),
    "stateful": lambda: StatefulCorridor(slip=0.3),
    "streams": ManyStreams,
    "rich": lambda: Spaces(RICH, RICH),
}


def make_sources() -> list[tuple[str, bp.Demonstration, bytes]]:
    """Env name, demonstration and file of a few small demonstrations of many kinds."""
    sources = []
    for name, make in ENVS.items():
        env = make()
        env.action_space.seed(1)
        actions = [env.action_space.sample() for _ in range(6)]
        kinds: list[dict[str, Any]] = [{}]
        if name == "corridor":
            kinds += [
                {"restorer": DeepCopy()},
                {"restorer": Replay()},
                {"keep_actions": False},
            ]
        for kwargs in kinds:
            demo = bp.record(env, actions, seed=2, **kwargs)
            with tempfile.TemporaryDirectory() as folder:
                demo.save(Path(folder) / "demo")
                sources.append((name, demo, (Path(folder) / "demo").read_bytes()))
    return sources


def outcome(path: Path, name: str, original: bp.Demonstration, another: bool) -> str:
    """What loading the file did: "equal", "refused", "other"; or what it must not do."""
    try:
        demo = bp.load(path)
    except DemonstrationError as error:
        return "refused" if str(error) else "WRONG: an error without words"
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"[:300]
    if not another:
        return "equal" if demo == original else "WRONG: loaded, but not equal"
    env = ENVS[name]()
    env.reset(seed=0)
    try:
        fitted = demo.fit(env)
        for step in {0, len(demo) // 2, len(demo)}:
            fitted.restore(env, step)
            random = vars(env.unwrapped).get("_np_random")
            if isinstance(random, np.random.Generator):
                random.integers(3, size=700)
    except bp.BackplayError:
        return "other, not restored"
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"[:300]
    return "equal" if demo == original else "other, restored"


def main(count: int, first: int = 0) -> None:
    """Makes and loads files `first` to `first + count`; prints what they did, as JSON."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    gym.logger.min_level = gym.logger.ERROR
    sources = make_sources()
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    found: Counter[str] = Counter()
    by_mutation: dict[str, Counter[str]] = {f.__name__: Counter() for f in MUTATIONS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.npz"
        for number in range(first, first + count):
            rng = np.random.default_rng([2018, number])
            mutate = list(MUTATIONS)[number % len(MUTATIONS)]
            name, demo, data = sources[rng.integers(len(sources))]
            path.write_bytes(mutate(data, rng))
            print(
                number, file=sys.stderr, flush=True
            )  # the last line names the file that killed us
            signal.setitimer(signal.ITIMER_PROF, STUCK)
            what = outcome(path, name, demo, MUTATIONS[mutate])
            signal.setitimer(signal.ITIMER_PROF, 0)
            if os.path.exists(MARK):
                what = "WRONG: ran code"
                os.rmdir(MARK)
            found[f"{what} (file {number})" if what.startswith("WRONG") else what] += 1
            by_mutation[mutate.__name__][what.partition(":")[0]] += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        json.dumps(
            {
                "files": count, "found": found,
                "peak_megabytes": peak, "by_mutation": by_mutation,
            }, indent=1,
        )
    )  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
