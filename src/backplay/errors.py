"""The library's one error class.

Comes in: what is wrong, what was expected, what came, what to do. Goes out: one readable message.
Does not know: who raises it or where it is caught.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any


class BackplayError(Exception):
    """What went wrong, what was expected, what came and what to do, as one message.

    The parts stay readable as attributes, as text, so that any error survives pickling: it travels
    from the workers of a vector environment to the process that trains.

    >>> print(BackplayError("lo", expected="a number", got=show("x"), do="Write Window(0, 0, 4)."))
    lo: expected a number, got 'x'. Write Window(0, 0, 4).
    """

    what: str
    expected: str | None
    got: str | None
    do: str | None

    def __init__(
        self,
        what: object,
        *,
        expected: object | None = None,
        got: object | None = None,
        do: object | None = None,
    ) -> None:
        self.what = _text(what)
        self.expected = None if expected is None else _text(expected)
        self.got = None if got is None else _text(got)
        self.do = None if do is None else _text(do)
        super().__init__(_message(self.what, self.expected, self.got, self.do))

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception's own __reduce__ calls the class with `args` alone, which would lose the parts.
        return _rebuild, (type(self), *self.args), self.__dict__.copy()


class BusyError(BackplayError):
    """Something that cannot be done now and may be later: another process is at it, or no room."""


class DemonstrationError(BackplayError):
    """A demonstration, or its file, that is damaged or does not fit the environment."""


def show(value: object, limit: int = 120) -> str:
    """`repr(value)` cut to about `limit` characters; never raises, whatever the value."""
    try:
        text = repr(value)
    except Exception:  # e.g. an int of 5,000 digits, or a user's broken __repr__
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number between two bounds, or a refusal."""
    fits = isinstance(value, Integral) and not isinstance(value, bool) and value >= least  # type: ignore[operator]
    if fits and (most is None or value <= most):
        return int(value)
    upper = "on" if most is None else f"to {most}"
    raise BackplayError(name, expected=f"a whole number from {least} {upper}", got=show(value))


def one_of(name: str, value: object, allowed: Sequence[object]) -> None:
    """Refuses what is none of these."""
    ensure(value in allowed, name, " or ".join(map(repr, allowed)), value)


_NOTHING = object()


def ensure(
    holds: object,
    what: object,
    expected: object | None = None,
    value: object = _NOTHING,
    *,
    got: object | None = None,
    do: object | None = None,
    error: type[BackplayError] = BackplayError,
) -> None:
    """Raises unless `holds`; what came is `value`, shown as it is, or `got`, in words.

    >>> ensure(2 < 1, "lo", "less than 1", 2)
    Traceback (most recent call last):
    backplay.errors.BackplayError: lo: expected less than 1, got 2
    """
    if not holds:
        said = got if value is _NOTHING else show(value)
        raise error(what, expected=expected, got=said, do=do)


@contextmanager
def refusing(
    what: object,
    expected: object | None = None,
    *,
    do: object | None = None,
    of: type[Exception] | tuple[type[Exception], ...] = Exception,
    error: type[BackplayError] = BackplayError,
) -> Iterator[None]:
    """What goes wrong inside, of these kinds, is raised as one message that says it.

    By default of any kind: whatever hostile data brings about.
    """
    try:
        yield
    except of as wrong:
        raise error(what, expected=expected, got=reason(wrong), do=do) from wrong


def reason(error: Exception) -> str:
    """What went wrong, in a line."""
    return f"{type(error).__name__}: {str(error)[:200]}"


def _text(part: object) -> str:
    return part if isinstance(part, str) else show(part)


def _message(what: str, expected: str | None, got: str | None, do: str | None) -> str:
    """The parts as `what: expected …, got …. do`, leaving out those that are not given."""
    found = [
        f"{label} {part}"
        for label, part in (("expected", expected), ("got", got))
        if part is not None
    ]
    message = f"{what}: {', '.join(found)}" if found else what
    if do is None:
        return message
    # One full stop between the finding and the advice, whether or not the caller wrote it.
    return f"{message.rstrip('.')}. {do}"


def _rebuild(cls: type[BackplayError], *args: object) -> BackplayError:
    """The error with its message; pickle then restores the attributes."""
    error: BackplayError = cls.__new__(cls, *args)
    return error
