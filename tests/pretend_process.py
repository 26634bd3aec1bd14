"""A worker that only pretends: it counts frames as its run's config says, saves, dies, refuses.

`python pretend_process.py DIR [PAUSE]` is the process; the rest prepares directories for it.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from backplay.runs import create, open_run
from backplay.runs.processes import Planned

FRAMES = 100
_STEP = 10
_CHECKPOINT = 20


def make_task(folder: Path, name: str, **plan: Any) -> Planned:
    """A run directory of this plan.

    Args:
        folder: of all runs.
        name: of this one.
        plan: `pause` seconds between two updates; `die_at` frames at which it is killed, each
            once; `always_die` whenever it begins; `refuse`: exit code 2; `deaf`: cannot be stopped.
    """
    create(folder / name, plan)
    return Planned(name=name, path=folder / name, frames=FRAMES, seconds=10.0)


def command(path: Path) -> list[str]:
    """What `LocalPool` starts."""
    return [sys.executable, __file__, str(path)]


def attempts(task: Planned) -> int:
    """How often a worker has begun this task."""
    file = task.path / "attempts"
    return len(file.read_text()) if file.exists() else 0


def main(path: Path, pause: float = 0.0) -> int:
    """Works as planned; the exit code."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    run = open_run(path)
    plan = run.config
    with (path / "attempts").open("a") as file:
        file.write("x")
    if plan.get("refuse"):
        print("backplay: this job: expected sense, got nonsense", file=sys.stderr)
        return 2
    if plan.get("always_die"):
        os.kill(os.getpid(), signal.SIGKILL)
    with run.locked():
        loaded = run.resume()
        frames = loaded.state["frames"] if loaded else 0
        while frames < FRAMES:
            frames += _STEP
            evaluation = {"evaluation": {"success": frames / FRAMES}} if frames % 50 == 0 else {}
            run.append_metrics({"frames": frames, "starts": "[0, 4) steps back", **evaluation})
            mark = path / f"died at {frames}"
            if frames in plan.get("die_at", ()) and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            stopping = bool(asked) and not plan.get("deaf")
            if frames % _CHECKPOINT == 0 or stopping:
                run.tick(frames, frames / 10)
                run.save({"frames": frames})
            if stopping:
                return 130
            time.sleep(plan.get("pause", pause))
        run.finish({"measures": {"success": 1.0}})
    return 0


if __name__ == "__main__":
    from backplay.runs.processes import end_with_parent

    end_with_parent()
    sys.exit(main(Path(sys.argv[1]), *map(float, sys.argv[2:])))
