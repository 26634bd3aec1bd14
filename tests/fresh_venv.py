"""Installs backplay into new virtual environments and tries what the README promises there.

    python tests/fresh_venv.py            # the core alone, and the README's five lines with [sb3]

Not collected by pytest: it installs packages, torch among them. Prints what it saw.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = {"torch", "numba", "matplotlib", "scipy", "networkx", "rich", "tyro"}
CORE = """
import gymnasium as gym
import backplay as bp
env = gym.make("MountainCar-v0")
demo = bp.record(env, lambda seen: 2 if seen[1] >= 0 else 0, seed=3)
print(bp.check(env, demo))
env = bp.BackplayEnv(env, [demo])
env.reset(seed=0)
env.step(0)
print(bp.advance(env, env.curriculum, 10)[0].describe())
try:
    bp.train(lambda: gym.make("MountainCar-v0"), [demo], frames=1000)
except bp.BackplayError as error:
    print(error)
"""


def install(folder: Path, what: str) -> Path:
    """A new virtual environment with `what` in it; its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pip = [programs / "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", ROOT / "constraints.txt", what], check=True, cwd=folder)
    return programs


def say(programs: Path, *words: str) -> str:
    """What a program there prints."""
    done = subprocess.run(
        [programs / words[0], *words[1:]], cwd=programs, capture_output=True, text=True, check=False
    )
    return f"{done.stdout}{done.stderr}".strip()


def main() -> int:
    """Tries both; 1 if anything is not as promised."""
    with tempfile.TemporaryDirectory() as folder:
        core = install(Path(folder) / "core", str(ROOT))
        names = say(core, "pip", "list", "--format=freeze").splitlines()
        print("core:", ", ".join(names))
        heavy = HEAVY & {name.partition("==")[0].lower() for name in names}
        tried = say(core, "python", "-c", CORE)
        print(tried)
        command = say(core, "backplay", "check", "MountainCar-v0", "demo.npz")
        print(command)
        sb3 = install(Path(folder) / "sb3", f"{ROOT}[sb3]")
        program = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
        program = (
            program.replace("300_000", "6_000") + "\nprint('five lines:', env.curriculum.frames)"
        )
        five = say(sb3, "python", "-c", program)
        print(five)
        return int(
            bool(heavy) or "exact:" not in tried or 'pip install "backplay[train]"' not in tried
            or 'pip install "backplay[cli]"' not in command or "five lines:" not in five
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
