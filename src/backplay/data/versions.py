"""Versions of installed packages.

Comes in: names of packages. Goes out: the versions of those that are installed.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of the packages that are installed."""
    from importlib import metadata  # slow to import, and `import backplay` does not need it

    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
