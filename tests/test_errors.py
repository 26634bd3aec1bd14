"""The one error class: its message, its parts, and its way across processes."""

import copy
import pickle
from multiprocessing import get_context

import pytest

from backplay.errors import BackplayError, DemonstrationError, show


class Tagged(BackplayError):
    """A subclass with its own arguments, which plain pickling of exceptions cannot rebuild."""

    def __init__(self, tag: int, text: str) -> None:
        super().__init__(f"{text} #{tag}", do="Look.")
        self.tag = tag


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "lo"),
        ({"expected": "a number"}, "lo: expected a number"),
        ({"got": "'x'"}, "lo: got 'x'"),
        ({"expected": 1, "got": 2}, "lo: expected 1, got 2"),
        ({"do": "Swap them."}, "lo. Swap them."),
        ({"expected": "a", "got": "b", "do": "Do c."}, "lo: expected a, got b. Do c."),
        ({"expected": "a", "got": "b.", "do": "Do c."}, "lo: expected a, got b. Do c."),
    ],
)
def test_message_joins_the_parts_that_are_given(parts: dict[str, object], message: str) -> None:
    error = BackplayError("lo", **parts)
    assert str(error) == message
    assert error.what == "lo"
    for name in ("expected", "got", "do"):
        assert getattr(error, name) == (str(parts[name]) if name in parts else None)


def test_a_demonstration_error_is_a_backplay_error() -> None:
    assert issubclass(DemonstrationError, BackplayError)


def test_gymnasium_rebuilds_a_worker_error_from_its_text_alone() -> None:
    # AsyncVectorEnv raises type(error)(str(error)) in the parent.
    error = BackplayError("a", expected="b", got="c", do="D.")
    assert str(type(error)(str(error))) == str(error)


@pytest.mark.parametrize(
    "error",
    [
        BackplayError("a", expected="b", got=lambda: 0, do="D."),
        DemonstrationError("step 3", got="nothing"),
        Tagged(7, "text"),
    ],
)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_class_message_and_parts(error: BackplayError, protocol: int) -> None:
    error.add_note("in worker 3")
    for again in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


def _fail(step: int) -> None:
    raise DemonstrationError("step", expected="below 3", got=step, do="Record again.")


def test_an_error_crosses_a_process_boundary() -> None:
    with get_context("fork").Pool(1) as pool, pytest.raises(DemonstrationError) as caught:
        pool.apply(_fail, (5,))
    assert str(caught.value) == "step: expected below 3, got 5. Record again."
    assert (caught.value.expected, caught.value.got) == ("below 3", "5")


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value", [10**5000, Unprintable(), "x" * 10_000, [[0] * 100] * 100], ids=type
)
def test_show_is_short_and_never_raises(value: object) -> None:
    assert len(show(value)) <= 120
    assert len(str(BackplayError("a", got=value if not isinstance(value, str) else "s"))) <= 130
