"""What the studio delivers: frames a second to a window, time to go back, memory of an hour.

    python benchmarks/studio.py

Prints JSON. Frames a second are those that a socket receives over the loopback, with the pace at
its highest; going back is from step 600 to step 100; the hour is 216,000 steps of MountainCar,
whose restorer is the same as that of most environments.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "studio"))

import gymnasium as gym
import numpy as np
from serving import serve
from websockets.sync.client import connect

from backplay.demos.take import Take
from backplay.studio import pictures
from backplay.train.environments import make_env

SECONDS = 4.0
BACK = 500
HOUR = 216_000  # steps at sixty a second


def frames_a_second(env: str) -> float:
    """Pictures that arrive at a window in a second of real time."""
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as studio:
        studio.desk.record({"env": env, "env_kwargs": unending(env)})  # an end would stop it
        headers = {"Authorization": f"Bearer {studio.token}"}
        address = f"ws://127.0.0.1:{studio.port}/recording"
        with connect(address, additional_headers=headers, max_size=None) as line:
            line.send(json.dumps({"do": "play", "pace": 120}))
            for _ in range(5):
                line.recv()
            count, began = 0, time.perf_counter()
            while time.perf_counter() - began < SECONDS:
                line.recv()
                count += 1
        return count / (time.perf_counter() - began)


def unending(env_id: str) -> dict[str, int]:
    """Arguments with which an episode lasts as long as it is looked at."""
    return {} if "ALE" in env_id else {"max_episode_steps": 10_000}


def seconds_back(env_id: str) -> float:
    """From step 600 to step 100, the middle of five times."""
    env = make_env(env_id, unending(env_id))
    take = Take(env)
    space = env.action_space
    space.seed(0)
    while len(take) < BACK + 100 and not take.ended:
        take.step(space.sample())
    found = []
    for _ in range(5):
        take.go(len(take))
        began = time.perf_counter()
        take.go(max(0, len(take) - BACK))
        found.append(time.perf_counter() - began)
    return float(np.median(found))


def megabytes_of_an_hour() -> dict[str, float]:
    """What the process grows by, over the first tenth of an hour of play and over all of it."""
    env = gym.make("MountainCar-v0", max_episode_steps=HOUR + 1)
    take, before, marks = Take(env), _megabytes(), {}
    env.unwrapped.goal_position = 9.0  # type: ignore[attr-defined]  # never reached
    for step in range(HOUR):
        take.step(step % 3)
        if step == HOUR // 10:
            marks["after 6 minutes"] = _megabytes() - before
    marks["after an hour"] = _megabytes() - before
    began = time.perf_counter()
    take.go(HOUR - BACK)
    return {**marks, "seconds to go back 500 steps then": time.perf_counter() - began}


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    pictures.prepare()
    report = {
        "frames a second": {
            env: round(frames_a_second(env), 1)
            for env in ("ALE/Freeway-v5", "HalfCheetah-v5", "MountainCar-v0")
        },
        "seconds to go back 500 steps": {
            env: round(seconds_back(env), 4)
            for env in ("ALE/Freeway-v5", "HalfCheetah-v5", "MountainCarContinuous-v0")
        },
        "megabytes": {name: round(mb, 3) for name, mb in megabytes_of_an_hour().items()},
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
