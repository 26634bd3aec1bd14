"""Curricula as JSON text and back, exactly.

Comes in: a curriculum that is a dataclass of plain data, or text from anywhere. Goes out: text, or
an equal curriculum, or one BackplayError. Nothing that is read can run code.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from backplay.curricula.backward import Backward
from backplay.curricula.bins import FailureBins, Learnability
from backplay.curricula.bisection import Bisection
from backplay.curricula.combinators import AtPar, Patience, TrueStarts, Until, Waiting
from backplay.curricula.curriculum import Curriculum
from backplay.curricula.frontier import Frontier
from backplay.curricula.growing import GrowingWindow
from backplay.curricula.reverse import ReverseCurriculum
from backplay.curricula.reverse_forward import ReverseForward
from backplay.curricula.staircase import Staircase
from backplay.curricula.standard import Standard, Uniform
from backplay.curricula.windows import Backplay
from backplay.errors import BackplayError, ensure, show

Known = dict[str, type[Curriculum]]
KINDS: tuple[type[Curriculum], ...] = (
    Standard, Uniform, Backplay, Frontier, Staircase, ReverseCurriculum,
    Backward, ReverseForward, Learnability, FailureBins, Bisection, GrowingWindow,
    AtPar, Patience, TrueStarts, Until, Waiting,
)  # fmt: skip


def to_json(curriculum: Curriculum) -> str:
    """The curriculum as one line of JSON: {"kind": its class, and every field}."""
    if not is_dataclass(curriculum) or isinstance(curriculum, type):
        _refuse(
            "curriculum", "a dataclass instance", curriculum, "Make its class a frozen dataclass."
        )
    written = _encode(curriculum, type(curriculum).__name__)
    try:
        return json.dumps(written, allow_nan=False)
    except ValueError as error:  # NaN, infinity, or an int of thousands of digits
        raise BackplayError(
            "curriculum", expected="finite numbers", got=show(curriculum), do="Look for NaN or inf."
        ) from error


def from_json(text: str, kinds: Iterable[type[Curriculum]] = ()) -> Curriculum:
    """The curriculum that `to_json` wrote.

    Args:
        text: JSON from anywhere; whatever it holds, the outcome is a curriculum or a BackplayError.
        kinds: your own curriculum classes that the text may name, beside the library's.
    """
    known: Known = {}
    for known_kind in (*KINDS, *kinds):  # yours come last, so your own "Backplay" wins over ours
        if not isinstance(known_kind, type) or not is_dataclass(known_kind):
            _refuse("kinds", "dataclass curricula", known_kind, "Pass classes, not instances.")
        known[known_kind.__name__] = known_kind
    try:
        return _decode_curriculum(_parse(text), "curriculum JSON", known)
    except RecursionError as error:
        raise BackplayError("curriculum JSON", expected="fewer curricula in another") from error


def kinds_in(curriculum: Curriculum) -> list[type[Curriculum]]:
    """The classes of a curriculum and of those inside it: what `from_json` must know to read it."""
    parts = [getattr(curriculum, f.name) for f in fields(curriculum)]  # type: ignore[arg-type]
    inside = [kind for part in parts if _is_curriculum(part) for kind in kinds_in(part)]
    return [type(curriculum), *inside]


def _is_curriculum(value: object) -> bool:
    return is_dataclass(value) and not isinstance(value, type) and isinstance(value, Curriculum)


def _decode_curriculum(data: Any, where: str, known: Known) -> Curriculum:
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        _refuse(where, 'an object such as {"kind": "Standard"}', data, "See to_json.")
    kind = data.pop("kind")
    if kind not in known:
        raise BackplayError(
            "kind of curriculum",
            expected=f"one of {', '.join(sorted(known))}",
            got=show(kind),
            do=_did_you_mean(kind, known) + "Pass your own class as from_json(text, kinds=[...]).",
        )
    return typing.cast(Curriculum, _decode_dataclass(known[kind], data, kind, known))


def _parse(text: object) -> Any:
    if not isinstance(text, str):
        _refuse("curriculum JSON", "text", text, "Read the file as UTF-8 text first.")
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:  # malformed, 5,000-digit ints, deep nesting
        reason = "nesting too deep" if isinstance(error, RecursionError) else str(error)
        raise BackplayError(
            "curriculum JSON",
            expected="text that to_json wrote",
            got=f"{show(text, limit=60)} ({reason})",
            do="The text is damaged: write it again with to_json.",
        ) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object names the same field twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _encode(value: object, where: str) -> Any:
    """Plain JSON data for a value; dataclasses become objects, tuples (named ones too) lists."""
    if is_dataclass(value) and not isinstance(value, type):
        written = {
            field.name: _encode(getattr(value, field.name), f"{where}.{field.name}")
            for field in fields(value)
            if field.init
        }
        if not isinstance(value, Curriculum):
            return written
        if "kind" in written:
            do = "Rename it: JSON keeps the class under that name."
            raise BackplayError("field 'kind'", do=do)
        return {"kind": type(value).__name__, **written}
    if isinstance(value, tuple | list):
        return [_encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if value is None or type(value) in (bool, int, float, str):
        return value
    _refuse(
        where,
        "None, bool, int, float, str, a tuple of these or a dataclass",
        value,
        "Store arrays as tuples: tuple(array.tolist()).",
    )


def _decode(hint: Any, value: Any, where: str, known: Known) -> Any:
    """The value a field of type `hint` had before `_encode`."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(args, value, where, known)
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        return tuple(_decode_each(args, value, where, known))
    if origin in (tuple, list, Sequence):
        hints = args[:1] * len(value) if isinstance(value, list) else ()
        items = _decode_each(hints, value, where, known)
        return items if origin is list else tuple(items)
    if hint is Curriculum:
        return _decode_curriculum(value, where, known)
    if isinstance(hint, type) and is_dataclass(hint):
        return _decode_dataclass(hint, value, where, known)
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        named = typing.get_type_hints(hint)
        return hint(*_decode_each([named[name] for name in hint._fields], value, where, known))
    # An int may stand where a float belongs, but true is never a number.
    plain: dict[Any, tuple[type, ...]] = {
        bool: (bool,), int: (int,), float: (float, int), str: (str,), type(None): (type(None),)
    }  # fmt: skip
    ensure(
        hint in plain, where,
        "a field type made of None, bool, int, float, str, tuples and dataclasses", hint,
        do="Annotate the field with one of these to read it from JSON.",
    )  # fmt: skip
    if type(value) not in plain[hint]:
        _refuse(where, f"a value of type {getattr(hint, '__name__', hint)}", value)
    return value


def _decode_union(hints: Sequence[Any], value: Any, where: str, known: Known) -> Any:
    for hint in hints:
        try:
            return _decode(hint, value, where, known)
        except BackplayError:
            continue
    _refuse(where, " or ".join(getattr(hint, "__name__", str(hint)) for hint in hints), value)


def _decode_each(hints: Sequence[Any], value: Any, where: str, known: Known) -> list[Any]:
    if not isinstance(value, list) or len(value) != len(hints):
        _refuse(where, f"a list of {len(hints) or 'values'}", value)
    pairs = enumerate(zip(hints, value, strict=True))
    return [_decode(hint, item, f"{where}[{i}]", known) for i, (hint, item) in pairs]


def _decode_dataclass(cls: type, value: Any, where: str, known: Known) -> Any:
    if not isinstance(value, dict):
        _refuse(where, "an object", value)
    names = [field.name for field in fields(cls) if field.init]
    for name in value:
        if name not in names:
            raise BackplayError(
                f"{where} in JSON",
                expected=f"the fields {', '.join(names) or 'none'}",
                got=f"the unknown field {show(name)}",
                do=_did_you_mean(name, names) + "Remove it or correct its name.",
            )
    missing = [name for name in names if name not in value]
    if missing:
        # Defaults are not filled in: a checkpoint that lost its clock must not restart in silence.
        raise BackplayError(
            f"{where} in JSON",
            expected=f"the fields {', '.join(names)}",
            got=f"none of the name {', '.join(missing)}",
            do="Write every field, as to_json does.",
        )
    try:
        hints = typing.get_type_hints(cls)
        return cls(**{k: _decode(hints[k], value[k], f"{where}.{k}", known) for k in names})
    except BackplayError:
        raise
    except Exception as error:  # a user's class may refuse its fields with any exception
        raise BackplayError(
            f"{where} in JSON",
            expected=f"fields that {cls.__name__} accepts",
            got=f"{type(error).__name__}: {error}",
            do="Correct the fields.",
        ) from error


def _did_you_mean(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name[:100], list(names), n=1)
    return f"Did you mean {close[0]!r}? " if close else ""


def _refuse(what: str, expected: str, got: object, do: str | None = None) -> NoReturn:
    raise BackplayError(what, expected=expected, got=show(got), do=do)
