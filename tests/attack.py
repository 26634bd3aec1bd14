"""The attack: mutated files and states for every reader, and what came of each.

    python tests/attack.py --count 100000
    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=/tmp/checked python tests/attack.py --accepted 20000

Whatever is opened must be accepted or refused by one error of ours: no crash, no raw traceback, no
import, no memory without bound (the process has a limit of address space), no file that never ends
(each has a limit of CPU time). What is accepted is used: restored, and stepped. Where digests stand
in a file they are right. A file is made again from its number. Prints a table and, last, JSON.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
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

import attack_targets
from backplay.errors import BackplayError
from demo_mutations import MARK

STUCK = 60  # seconds of this process alone, however busy the machine: a file that never ends
MEMORY = 2 * 2**30  # beyond what the process holds before the first file
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "shutil.rmtree")


def watch_for_code(seen: list[str]) -> Callable[[str, Any], None]:
    """An audit hook that notes what no reader may do."""

    def hook(event: str, arguments: Any) -> None:
        if event in FORBIDDEN or (event == "import" and str(arguments[0]).startswith("evil_env")):
            seen.append(f"{event} {str(arguments)[:80]}")

    return hook


def outcome(attempt: Callable[[], bool]) -> str:
    """What came of one file: accepted, refused, or what it must not do."""
    try:
        return "accepted" if attempt() else "refused"
    except BackplayError as error:
        return "refused" if str(error) else "WRONG: an error without words"
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"[:300]


def attack(
    count: int, first: int, accepted: int, only: list[str], folder: Path
) -> dict[str, Counter[str]]:
    """Files `first` to `first + count`, or until each reader of states has accepted so many."""
    targets = {
        name: make
        for name, make in attack_targets.made(folder).items()
        if (not only or name in only) and (not accepted or name in attack_targets.KERNELS)
    }
    ran: list[str] = []
    sys.addaudithook(watch_for_code(ran))
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    found: dict[str, Counter[str]] = {name: Counter() for name in targets}
    number = first
    while number < first + count or any(found[name]["accepted"] < accepted for name in targets):
        name = [*targets][number % len(targets)]
        rng = np.random.default_rng([2018, number])
        if not accepted or found[name]["accepted"] < accepted:
            print(number, file=sys.stderr, flush=True)  # the last line names what killed us
            signal.setitimer(signal.ITIMER_PROF, STUCK)
            what = outcome(lambda name=name, rng=rng: targets[name](rng))
            signal.setitimer(signal.ITIMER_PROF, 0)
            if ran or os.path.exists(MARK):
                what = f"WRONG: ran {ran}"
                ran.clear()
            found[name][f"{what} (number {number})" if what.startswith("WRONG") else what] += 1
        number += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--accepted", type=int, default=0, help="states that kernels are to read")
    parser.add_argument("--only", nargs="*", default=[])
    config = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    gym.logger.min_level = gym.logger.ERROR
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "evil_env.py").write_text("import os; os.system('true')\n")
        sys.path.insert(0, folder)
        found = attack(config.count, config.first, config.accepted, config.only, Path(folder))
    table = io.StringIO()
    print(f"{'reader':<28}{'tried':>9}{'accepted':>10}{'refused':>9}{'wrong':>7}", file=table)
    wrong = []
    for name, counts in found.items():
        bad = [what for what in counts if what.startswith("WRONG")]
        wrong += [f"{name}: {what}" for what in bad]
        numbers = (sum(counts.values()), counts["accepted"], counts["refused"])
        columns = "".join(f"{n:>{w}}" for n, w in zip(numbers, (9, 10, 9), strict=True))
        print(f"{name:<28}{columns}{sum(counts[what] for what in bad):>7}", file=table)
    print(table.getvalue(), *wrong, sep="\n")
    report = {
        "tried": sum(sum(c.values()) for c in found.values()), "wrong": wrong,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "boundscheck": os.environ.get("NUMBA_BOUNDSCHECK") == "1",
        "readers": {
            name: {k: v for k, v in counts.items() if " " not in k}
            for name, counts in found.items()
        },
    }  # fmt: skip
    print(json.dumps(report))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
