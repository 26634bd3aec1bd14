"""Runs that are killed again and again, beside one that is left alone.

    python tests/survival.py maze 200
    python tests/survival.py gym 200 --seed 7

Each kill is SIGKILL, at a moment drawn at random: the n-th time that an env is stepped, a gradient
step is taken, an evaluation asks for actions, or a file is written: in the middle of a line of
metrics, before bytes are safe on the disk (some are lost then), before a file gets its name, just
after. The next process goes on from what it finds. When a run ends its files are compared with
those of the run that was left alone, byte for byte; then another run begins, until there were as
many kills as asked for.

With the kinds `train` and `maze-train` the commands of that name are run, and what ends them is a
signal from outside: TERM, HUP, INT, KILL at any moment; STOP and CONT only halt them.

    python tests/survival.py train 200

Each attempt is a fork of this process, which has compiled and imported everything, so a kill costs
a fraction of a second.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from backplay import runs
from backplay.runs.execute import carry_out, prepare
from backplay.train.job import Job

MOMENTS = (
    "step", "gradient", "evaluation", "half a line", "unsafe write", "before naming",
    "after naming",
)  # fmt: skip


def job_of(kind: str) -> Job:
    """A run of a second or so, of either path."""
    from backplay.paper.maze.job import MazeJob
    from backplay.paper.sparse_tasks.job import GymJob

    if kind == "walks":
        return GymJob(
            task="mountaincar", regime="reverse", seed=3, frames=8_192, evaluations=2,
            final_episodes=3,
        )  # fmt: skip
    if kind == "maze":
        return MazeJob(
            regime="backplay", seed=3, frames=25_600, mazes=4, held_out=1, size=10, evaluations=2,
            effort=0.1,
        )  # fmt: skip
    return GymJob(
        task="cartpole", regime="backplay", seed=3, frames=8_192, evaluations=2, final_episodes=3
    )


def hook(call: Callable[[str], bool]) -> None:
    """Makes this process call `call(moment)` at every moment; it dies there when that is True."""
    import gymnasium.vector

    from backplay.envs.maze.vector import MazeVector
    from backplay.learners.optimiser import FlatAdam
    from backplay.learners.ppo import PPO

    def before(owner: Any, name: str, moment: str) -> None:
        original = getattr(owner, name)

        def hooked(*args: Any, **kwargs: Any) -> Any:
            if call(moment):
                die()
            return original(*args, **kwargs)

        setattr(owner, name, hooked)

    for vector in (MazeVector, gymnasium.vector.SyncVectorEnv):
        before(vector, "step", "step")
    before(FlatAdam, "step", "gradient")
    before(PPO, "act", "evaluation")
    fsync, replace, write = os.fsync, os.replace, os.write

    unsafe = Counter[str]()  # bytes of each file since it was last made safe: only they can be lost

    def name_of(handle: int) -> str:
        return os.readlink(f"/proc/self/fd/{handle}")

    def half(handle: int, data: Any) -> int:
        if call("half a line"):
            write(handle, bytes(data)[: len(data) // 2])
            die()
        written = write(handle, data)
        unsafe[name_of(handle)] += written
        return written

    def torn(handle: int) -> None:
        name = name_of(handle)
        if call("unsafe write"):
            size = os.fstat(handle).st_size
            grows = name.endswith(".jsonl")
            os.ftruncate(handle, size - min(3, unsafe[name]) if grows else size // 2)
            die()
        fsync(handle)
        unsafe[name] = 0

    def named(source: Any, target: Any, **where: Any) -> None:
        if call("before naming"):
            die()
        replace(source, target, **where)
        if call("after naming"):
            die()

    os.fsync, os.replace, os.write = torn, named, half


def die() -> None:
    """As if the power went."""
    os.kill(os.getpid(), signal.SIGKILL)


def attempt(path: Path, call: Callable[[str], bool]) -> bool:
    """Carries the run out in a process of its own; False if that was killed."""
    pid = os.fork()
    if pid == 0:
        attempt_in_place(path, call)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return False
    if status != 0:
        raise SystemExit(f"{path}: a process that was to go on ended with status {status}")
    return True


def count_moments(path: Path) -> Counter[str]:
    """How often each moment comes in a run that is left alone, which this carries out."""
    reader, writer = os.pipe()

    tell = os.write  # before it is hooked

    def note(moment: str) -> bool:
        tell(writer, moment.encode() + b"\n")
        return False

    found: Counter[str] = Counter()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        attempt_in_place(path, note)
    os.close(writer)
    with os.fdopen(reader) as lines:
        found.update(line.strip() for line in lines)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit("the run that was left alone failed")
    return found


def attempt_in_place(path: Path, call: Callable[[str], bool]) -> None:
    """In this process, which ends with it."""
    code = 1
    try:
        hook(call)
        carry_out(path, save_seconds=0.05)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def killed_at(moment: str, n: int) -> Callable[[str], bool]:
    """Says yes the n-th time that a moment comes."""
    seen = Counter[str]()

    def call(now: str) -> bool:
        seen[now] += 1
        return now == moment and seen[now] == n

    return call


def content(path: Path) -> dict[str, bytes]:
    """What must be the same: metrics, result, and what the last checkpoint holds."""
    run = runs.open_run(path)
    loaded = run.load()
    state = loaded.state
    learner = state["learner"]
    weights = b"".join(
        np.asarray(learner["network"][k]).tobytes() for k in sorted(learner["network"])
    )
    files = {name: (path / name).read_bytes() for name in ("metrics.jsonl", "result.json")}
    return {**files, "weights": weights, "frames": str(state["frames"]).encode(),
            "checkpoint": loaded.path.read_bytes()}  # fmt: skip


def survive(kind: str, kills: int, seed: int, folder: Path) -> dict[str, Any]:
    """Kills runs `kills` times in all; how often at which moment, and how many runs ended."""
    torch.set_num_threads(1)
    job, rng = job_of(kind), np.random.default_rng(seed)
    prepare(folder / "warm", job)
    carry_out(folder / "warm")  # in this process: what a first time compiles, forks need not
    prepare(folder / "alone", job)
    often = count_moments(folder / "alone")
    missing = [moment for moment in MOMENTS if not often[moment]]
    if missing:
        raise SystemExit(f"moments that never came: {', '.join(missing)}")
    wanted, done, ended = content(folder / "alone"), Counter[str](), 0
    while sum(done.values()) < kills:
        path = folder / f"killed-{ended}"
        prepare(path, job)
        finished = False
        while not finished and sum(done.values()) < kills:
            moment = MOMENTS[sum(done.values()) % len(MOMENTS)]
            finished = attempt(path, killed_at(moment, int(rng.integers(1, often[moment] + 1))))
            done[moment] += not finished
        carry_out_alone(path)
        ended += 1
        found = content(path)
        different = [name for name in wanted if found[name] != wanted[name]]
        if different:
            raise SystemExit(f"{path} differs in {', '.join(different)} after {dict(done)}")
    return {"kind": kind, "kills": dict(done), "runs": ended, "frames": job.frames, "seed": seed}


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGSTOP)


def command_of(kind: str, folder: Path) -> list[str]:
    """The command that begins a run of a second or so; `--dir` is still to come."""
    if kind == "maze-train":
        file = folder / "mazes.npz"
        generate = ["--mazes", "4", "--held-out", "1", "--size", "10", "--walls", "20"]
        assert main_command(["maze", "generate", str(file), *generate, "--min-length", "8"]) == 0
        return ["maze", "train", str(file), "--frames", "25600", "--seed", "3"]
    import gymnasium as gym

    import backplay as bp

    file = folder / "demo.npz"
    bp.record(gym.make("CartPole-v1"), [0, 1] * 10, seed=1).save(file)
    options = "--frames 8192 --seed 3 --evaluate-every 2048 --final-episodes 3"
    return ["train", "CartPole-v1", str(file), *options.split()]


def signalled(command: list[str], path: Path, number: int | None, wait: float) -> tuple[bool, bool]:
    """Begins or resumes a run by its command, signals it after so long: was it hit, is it done."""
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        begin = [*command, "--dir", str(path)]
        program = command[: 2 if command[0] == "maze" else 1]
        os._exit(main_command([*program, "--resume", str(path)] if runs.is_run(path) else begin))
    until = time.monotonic() + wait
    ended, status = os.waitpid(pid, os.WNOHANG if number is not None else 0)
    while not ended and time.monotonic() < until:
        time.sleep(0.01)
        ended, status = os.waitpid(pid, os.WNOHANG)
    hit = not ended and number is not None
    if hit and number is not None:
        os.kill(pid, number)
        if number == signal.SIGSTOP:
            time.sleep(0.05)
            os.kill(pid, signal.SIGCONT)
        status = os.waitpid(pid, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 128 + (number or 0), -(number or 0)):
        raise SystemExit(f"{path}: signal {number} and the code {code}")
    return hit, code == 0


def main_command(words: list[str]) -> int:
    from backplay.cli import main as command_line

    return command_line(words)


def survive_signals(kind: str, kills: int, seed: int, folder: Path) -> dict[str, Any]:
    """As `survive`, through the command line, by signals from outside."""
    torch.set_num_threads(1)
    rng, command = np.random.default_rng(seed), command_of(kind, folder)
    signalled(command, folder / "warm", None, 0.0)
    began = time.monotonic()
    signalled(command, folder / "alone", None, 0.0)
    seconds = time.monotonic() - began
    wanted, done, ended = content(folder / "alone"), Counter[str](), 0
    while sum(done.values()) < kills:
        path, finished = folder / f"run-{ended}", False
        while not finished and sum(done.values()) < kills:
            number = SIGNALS[sum(done.values()) % len(SIGNALS)]
            began = time.monotonic()
            hit, finished = signalled(command, path, number, float(rng.uniform(0, seconds)))
            done[signal.Signals(number).name] += hit
            if not hit:  # it was faster than the first one: then the signals come earlier
                seconds = 0.5 * (seconds + time.monotonic() - began)
        signalled(command, path, None, 0.0)
        ended += 1
        print(f"{sum(done.values())} signals, {ended} runs", file=sys.stderr, flush=True)
        found = content(path)
        different = [name for name in wanted if found[name] != wanted[name]]
        if different:
            raise SystemExit(f"{path} differs in {', '.join(different)} after {dict(done)}")
        shutil.rmtree(path)
    return {"kind": kind, "kills": dict(done), "runs": ended, "seconds": round(seconds, 1)}


def carry_out_alone(path: Path) -> None:
    if not attempt(path, lambda _: False):
        raise SystemExit(f"{path}: killed by somebody else")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=("maze", "gym", "walks", "train", "maze-train"))
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=0)
    config = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        do = survive_signals if config.kind in ("train", "maze-train") else survive
        print(json.dumps(do(config.kind, config.kills, config.seed, Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
