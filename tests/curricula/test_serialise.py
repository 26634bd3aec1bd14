"""Curricula as JSON: an exact round trip, and one error for everything else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import pytest
from curriculum_strategies import curricula
from hypothesis import given, settings
from hypothesis import strategies as st

from backplay.curricula import (
    Backplay,
    Curriculum,
    Standard,
    Uniform,
    Until,
    Window,
    from_json,
    kinds_in,
    to_json,
)
from backplay.errors import BackplayError
from backplay.records import Episode, Start

MAZE = to_json(Backplay.maze())
UNTIL = '{"kind": "Until", "inner": {"kind": "Uniform"}, '


class Visit(NamedTuple):
    start: Start
    rate: float


@dataclass(frozen=True)
class Mine(Standard):
    """A user's curriculum with every kind of field that JSON can carry."""

    name: str = "x"
    on: bool = True
    share: float = 0.5
    bound: int | float | None = None
    visits: tuple[Visit, ...] = ()
    pair: tuple[int, str] = (1, "a")
    window: Window | None = None
    listed: list[int] = field(default_factory=list, hash=False)
    derived: int = field(default=3, init=False)


@dataclass(frozen=True)
class Picky(Standard):
    """A user's curriculum that refuses its fields with an exception of its own."""

    size: int = 1

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ZeroDivisionError("size")


@dataclass(frozen=True)
class Holding(Standard):
    value: Any = None


def mutated(**changes: object) -> str:
    return json.dumps({**json.loads(MAZE), **changes})


@given(curriculum=curricula)
def test_round_trip_is_exact(curriculum: Curriculum) -> None:
    text = to_json(curriculum)
    again = from_json(text)
    assert type(again) is type(curriculum)
    assert again == curriculum
    assert to_json(again) == text


def test_text_is_plain() -> None:
    assert to_json(Standard()) == '{"kind": "Standard"}'
    inner = '{"kind": "Uniform"}'
    text = f'{{"kind": "Until", "inner": {inner}, "at": 9, "frames": 0}}'
    assert to_json(Until(Uniform(), at=9)) == text
    assert json.loads(MAZE)["windows"][1] == {"frames": 350 * 102_400, "lo": 4.0, "hi": 8.0}


def test_a_users_curriculum_comes_back() -> None:
    mine = Mine(
        name="é\ud800",
        share=1,
        bound=2.5,
        visits=(Visit(Start(0, 3), 0.1),),
        window=Window(0, 1, 2),
        listed=[1, 2],
    )
    again = from_json(to_json(mine), kinds=[Mine])
    assert again == mine
    assert isinstance(again.visits[0].start, Start)
    with pytest.raises(BackplayError, match="kinds="):
        from_json(to_json(mine))


def test_a_users_curriculum_inside_another_comes_back() -> None:
    around = Until(Mine(), at=9)
    assert kinds_in(around) == [Until, Mine]
    assert from_json(to_json(around), kinds=kinds_in(around)) == around
    with pytest.raises(BackplayError, match="kinds="):
        from_json(to_json(around))


def test_a_users_exception_becomes_a_backplay_error() -> None:
    with pytest.raises(BackplayError, match="ZeroDivisionError"):
        from_json('{"kind": "Picky", "size": 0}', kinds=[Picky])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "Bakplay"}', "Did you mean 'Backplay'"),
        ('{"kind": "zzz"}', "one of AtPar, Backplay, Backward, "),
        ('{"kind": 3}', "an object such as"),
        ("{}", "an object such as"),
        ("[]", "an object such as"),
        ("null", "an object such as"),
        ("", "damaged"),
        (MAZE[:-5], "damaged"),
        (MAZE[:200], "damaged"),
        ('{"kind": "Standard", "kind": "Uniform"}', "same field twice"),
        ('{"kind": "Standard", "frames": 0}', "unknown field 'frames'"),
        (UNTIL + '"frame": 0, "at": 1}', "Did you mean 'frames'"),
        (UNTIL + '"at": 1}', "got none of the name frames"),
        (UNTIL + '"at": true, "frames": 0}', "Until.at"),
        (UNTIL + '"at": 1.0, "frames": 0}', "Until.at"),
        (UNTIL + '"at": NaN, "frames": 0}', "NaN is not a JSON number"),
        (UNTIL + '"at": -Infinity, "frames": 0}', "-Infinity is not"),
        (UNTIL + '"at": 1e999, "frames": 0}', "Until.at"),
        (UNTIL + f'"at": 1{"0" * 400}, "frames": 0}}', "at"),
        (UNTIL + f'"at": 1{"0" * 9999}, "frames": 0}}', "damaged"),
        ('{"kind": ' + "[" * 100_000, "nesting too deep"),
        ('{"a":' * 100_000, "nesting too deep"),
        (UNTIL + f'"at": {"[" * 500 + "]" * 500}, "frames": 0}}', "at"),
        (mutated(windows=[]), "at least one Window"),
        (mutated(windows={}), r"Backplay.windows: expected a list"),
        (mutated(windows=[[0, 0, 4]]), r"Backplay.windows\[0\]: expected an object"),
        (mutated(windows=[{"frames": 0, "lo": "0", "hi": 4}]), r"windows\[0\].lo"),
        (mutated(windows=[{"frames": 0, "lo": 5, "hi": 4}]), "lo <= hi"),
        (mutated(windows=[{"frames": 0, "lo": 0, "hi": 10**400}]), "Window.hi"),
        (mutated(of_length=1), "Backplay.of_length"),
    ],
)
def test_anything_else_is_one_error(text: str, message: str) -> None:
    with pytest.raises(BackplayError, match=message) as caught:
        from_json(text)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("text", [None, 3, b"{}", {"kind": "Standard"}])
def test_only_text_is_read(text: object) -> None:
    with pytest.raises(BackplayError, match="expected text"):
        from_json(text)


@pytest.mark.parametrize("kind", [Standard(), int, "Standard"])
def test_kinds_are_dataclasses(kind: object) -> None:
    with pytest.raises(BackplayError, match="kinds: expected dataclass curricula"):
        from_json('{"kind": "Standard"}', kinds=[kind])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(field_name=st.sampled_from([*json.loads(MAZE), "other"]), value=json_values)
def test_any_value_in_any_field_loads_or_raises_one_error(field_name: str, value: object) -> None:
    try:
        again = from_json(mutated(**{field_name: value}))
    except BackplayError:
        return
    assert from_json(to_json(again)) == again


@settings(max_examples=300)
@given(at=st.integers(0, len(MAZE) - 1), insert=st.text(max_size=3), cut=st.integers(0, 20))
def test_any_damage_loads_or_raises_one_error(at: int, insert: str, cut: int) -> None:
    try:
        again = from_json(MAZE[:at] + insert + MAZE[at + cut :])
    except BackplayError:
        return
    assert from_json(to_json(again)) == again


class NotADataclass(Curriculum):
    def weights(self, demo: int, length: int) -> np.ndarray:
        return Standard().weights(demo, length)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        return self


@dataclass(frozen=True)
class Named(Standard):
    kind: str = "a"


@pytest.mark.parametrize(
    ("curriculum", "message"),
    [
        (NotADataclass(), "frozen dataclass"),
        (Standard, "a dataclass instance"),
        (Named(), "Rename it"),
        (Holding(np.zeros(3)), "tolist"),
        (Holding({"a": 1}), "Holding.value"),
        (Holding(float("nan")), "finite numbers"),
        (Holding(10**5000), "finite numbers"),
    ],
)
def test_what_cannot_be_written_is_refused(curriculum: Any, message: str) -> None:
    with pytest.raises(BackplayError, match=message):
        to_json(curriculum)


def test_a_field_type_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(BackplayError, match="Annotate the field"):
        from_json(to_json(Holding(3)), kinds=[Holding])
