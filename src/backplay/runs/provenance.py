"""Where a run comes from: the command, the versions, the machine.

Comes in: nothing but the process itself. Goes out: plain data. Does not know: what the run does.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backplay.data.versions import versions_of

PACKAGES = (
    "backplay", "torch", "numpy", "numba", "gymnasium", "scipy",
    "stable-baselines3", "minigrid", "ale-py", "mujoco", "gymnasium-robotics", "ray",
)  # fmt: skip


def gather(command: str | None = None) -> dict[str, Any]:
    """What is known of this process; `command` instead of the one it was started with."""
    return {
        "command": command or shlex.join(sys.orig_argv),
        "versions": versions_of(PACKAGES),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "commit": commit_of(Path(__file__)),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def commit_of(file: Path) -> str | None:
    """The commit a source file belongs to, "+" after it if files were changed since; None if none.

    A package that is installed inside somebody's repository is no part of it.
    """
    if _git(file, "ls-files", "--error-unmatch", file.name) is None:
        return None
    commit = _git(file, "rev-parse", "HEAD")
    changed = _git(file, "status", "--porcelain", "--untracked-files=no")
    return None if commit is None else commit + ("+" if changed else "")


def _git(file: Path, *words: str) -> str | None:
    """What git answers in the folder of a file; None if it fails or is not there."""
    command = ["git", "--no-optional-locks", "-C", str(file.parent), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip()


def _processor() -> str:
    """Its model: another one may round otherwise."""
    with suppress(OSError, UnicodeDecodeError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
