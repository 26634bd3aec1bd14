"""Other libraries, each imported only when asked for."""

from __future__ import annotations

from importlib.util import find_spec

from backplay.errors import BackplayError


def require(package: str, extra: str) -> None:
    """Says which extra to install if `package` is not there."""
    if find_spec(package) is None:
        raise BackplayError(
            f"{package} is not installed", do=f'Install it: pip install "backplay[{extra}]".'
        )
