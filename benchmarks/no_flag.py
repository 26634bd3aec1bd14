"""The commands of the help and of docs/own-environment.md, with no flag of the learner's.

Records and trains by the command line, one line of JSON a run: what its result says. Runs that are
in the file already are left out.

Run: python benchmarks/no_flag.py results/no-flag.jsonl 0 1 2 3 4 [ENV]
"""

import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import torch

from backplay.cli import main

PAGE = Path(__file__).parent.parent / "docs" / "own-environment.md"
SWING = "def policy(observation):\n    return 2 if observation[1] >= 0 else 0\n"
CAR, DOORS = "MountainCar-v0", "./key_door.py:KeyDoor"
RECORD = {
    CAR: ("--policy", "swing.py", "--seed", "7"),
    DOORS: ("--policy", "key_door.py:player"),
}
TRAIN = {CAR: ("--frames", "300000"), DOORS: ()}  # the help's example; the default


def files() -> None:
    """What a reader has written: the policy, and the class of the page."""
    Path("swing.py").write_text(SWING)
    found = re.search(r"<!-- file: key_door.py -->\n```python\n(.*?)```", PAGE.read_text(), re.S)
    assert found is not None
    Path("key_door.py").write_text(found[1])


def run(env: str, seed: int) -> dict[str, object]:
    """One run in a directory of its own."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            files()
            began = time.process_time()
            assert main(["record", env, "--out", "demo.npz", *RECORD[env]]) == 0
            words = ["train", env, "demo.npz", *TRAIN[env], "--seed", str(seed), "--dir", "run"]
            assert main(words) == 0
            result = json.loads(Path("run/result.json").read_text())
            cpu = round(time.process_time() - began, 1)
        finally:
            os.chdir(here)
    command = f"backplay {' '.join(words)}"
    kept = {name: result[name] for name in ("frames", "measures", "sampled", "greedy")}
    return {"env": env, "seed": seed, "command": command, **kept, "cpu": cpu}


if __name__ == "__main__":
    out, *words = sys.argv[1:]
    seeds = [word for word in words if word.isdigit()]
    wanted = [word for word in words if not word.isdigit()] or list(RECORD)
    torch.set_num_threads(1)
    file = Path(out).absolute()
    done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for env in wanted:
        for seed in map(int, seeds):
            if any(line["env"] == env and line["seed"] == seed for line in done):
                continue
            line = run(env, seed)
            with file.open("a") as lines:
                lines.write(json.dumps(line) + "\n")
