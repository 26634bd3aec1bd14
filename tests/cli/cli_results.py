"""Running the command line, and what a refusal looks like."""

from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


def assert_refused(result: Result, *parts: str) -> None:
    """Exit code 2 and one line that says all of `parts`."""
    assert result.code == 2, result
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("backplay: ")
    for part in parts:
        assert part in result.err, result.err
