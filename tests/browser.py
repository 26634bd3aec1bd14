"""A Chromium for tests: found, or set up where that is allowed.

Looks on the PATH; then asks the system's package manager, as root or with sudo that needs no
password; then Playwright. Where none of them can, tests are skipped with the reason, but under
CI=true they fail: there it must work.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETUP_SECONDS = 300.0
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-default-apps", "--disable-sync", "--no-first-run",
    "--no-default-browser-check", "--disable-extensions", "--metrics-recording-only",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
)  # fmt: skip


@cache
def executable() -> str | None:
    """Where Chromium is; None if there is none and none can be set up.

    One process at a time: tests run in several, and a package manager serves one.
    """
    with (Path(tempfile.gettempdir()) / "backplay-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return on_path() or from_packages() or from_playwright()


def on_path() -> str | None:
    """The first that the PATH has."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def from_packages() -> str | None:
    """From the system's package manager, if it may."""
    if not shutil.which("apt-get"):
        return None
    root = os.geteuid() == 0
    if not root and not (shutil.which("sudo") and _runs("sudo", "-n", "true")):
        return None
    sudo = [] if root else ["sudo", "-n"]
    install = [
        *sudo,
        "apt-get",
        "-o",
        "DPkg::Lock::Timeout=240",
        "install",
        "-y",
        "--no-install-recommends",
        "chromium",
    ]
    if not _runs(*install):
        _runs(*sudo, "apt-get", "update")
        _runs(*install)
    return on_path()


def from_playwright() -> str | None:
    """Playwright's own."""
    from playwright.sync_api import sync_playwright

    _runs(sys.executable, "-m", "playwright", "install", "chromium")
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def give_up(reason: str) -> NoReturn:
    """Skips the test, or fails it where a browser must be."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def open_browser(width: int = 1_200, height: int = 800) -> Iterator[BrowserContext]:
    """A browser with a window of this size, a profile of its own and no network of its own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up("the package playwright is not installed: pip install -e '.[dev]'")
    path = executable()
    if path is None:
        give_up("there is no Chromium, and none could be installed")
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, headless=True, args=list(ARGUMENTS),
            viewport={"width": width, "height": height},
        )  # fmt: skip
        try:
            yield context
        finally:
            context.close()


def _runs(*command: str) -> bool:
    """Whether a command ends well, in time and without a question."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, env=quiet,
            timeout=SETUP_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
