"""Versions of installed packages.

Comes in: names of packages. Goes out: the versions of those that are installed.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Iterable


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of the packages that are installed."""
    found = {"python": platform.python_version()}
    return found | {package: version for package in packages if (version := _version(package))}


@functools.cache  # a thousand demonstrations ask a thousand times
def _version(package: str) -> str | None:
    from importlib import metadata  # slow to import, and `import backplay` does not need it

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
