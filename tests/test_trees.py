import json
import math
from collections import deque
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backplay.data import packing, trees
from backplay.data.trees import LEFT, Attributes, RandomStream, first_difference
from backplay.errors import DemonstrationError
from tree_strategies import ATOMS, SCALARS, TREES, arrays


def assert_identical(a: Any, b: Any) -> None:
    """The same types all the way down, and the same bits; written apart from the code it tests."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray | np.generic):
        assert (a.dtype.str, a.shape, a.tobytes()) == (b.dtype.str, b.shape, b.tobytes())
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_identical(a[key], b[key])
    elif isinstance(a, list | tuple | deque):
        assert len(a) == len(b)
        assert getattr(a, "maxlen", None) == getattr(b, "maxlen", None)
        for x, y in zip(a, b, strict=True):
            assert_identical(x, y)
    elif isinstance(a, set):
        assert_identical(sorted(a, key=repr), sorted(b, key=repr))
    elif isinstance(a, float):
        assert math.isnan(a) == math.isnan(b)
        assert math.isnan(a) or a.hex() == b.hex()
    else:
        assert a == b


def parts(tree: Any) -> list[Any]:
    """Every array and every container of a tree that can be changed in place."""
    if isinstance(tree, np.ndarray):
        return [tree]
    if isinstance(tree, set):
        return [tree]
    if isinstance(tree, dict):
        return [tree, *(part for child in tree.values() for part in parts(child))]
    if isinstance(tree, list | tuple | deque):
        own = [] if isinstance(tree, tuple) else [tree]
        return own + [part for child in tree for part in parts(child)]
    return []


@given(TREES)
def test_a_packed_tree_unpacks_identical(tree: Any) -> None:
    again = packing.unpack(*packing.pack(tree))
    assert_identical(again, tree)
    assert first_difference(again, tree) is None


@pytest.mark.parametrize("dtype", ["?", ">i2", "<u8", ">f4", "<f2", ">c8", ">U3", "S2", "<f16"])
@pytest.mark.parametrize("shape", [(), (0,), (2,), (1, 0, 3)])
def test_every_kind_of_array_unpacks_identical(dtype: str, shape: tuple[int, ...]) -> None:
    tree = [np.zeros(shape, dtype), np.ones(shape, dtype)]
    assert_identical(packing.unpack(*packing.pack(tree)), tree)


@given(TREES)
def test_a_copy_is_identical_and_shares_nothing(tree: Any) -> None:
    copied = trees.copy(tree)
    assert_identical(copied, tree)
    mine, copies = parts(tree), parts(copied)
    assert not {id(part) for part in mine} & {id(part) for part in copies}
    for a in mine:
        for b in copies:
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
                assert not np.shares_memory(a, b)


@given(TREES)
def test_packing_is_json_and_plain_arrays(tree: Any) -> None:
    text, packed = packing.pack(tree)
    json.loads(text)
    assert all(type(array) is np.ndarray and array.dtype.kind in "biufcSU" for array in packed)


def changed(leaf: Any) -> Any:
    """Something that differs from `leaf` as little as can be."""
    if isinstance(leaf, np.ndarray):
        if not leaf.size:
            return np.zeros((*leaf.shape, 1), leaf.dtype)
        other = leaf.copy()
        at = tuple(size - 1 for size in leaf.shape)
        other[at] = changed(leaf[at])
        return other
    if isinstance(leaf, np.bool_ | bool):
        return not leaf
    if isinstance(leaf, np.complexfloating):
        return type(leaf)(complex(leaf.real, changed(leaf.imag)))
    if isinstance(leaf, np.floating):
        if leaf == 0:
            return -leaf  # 0.0 and -0.0
        return leaf.dtype.type(0 if np.isnan(leaf) else np.nextafter(leaf, leaf.dtype.type(0)))
    if isinstance(leaf, np.integer):
        return leaf ^ leaf.dtype.type(1)
    if isinstance(leaf, float):
        return 0.0 if math.isnan(leaf) else -leaf if leaf == 0 else math.nextafter(leaf, 0)
    if isinstance(leaf, int):
        return leaf + 1
    if isinstance(leaf, str):
        return "a" if leaf.startswith("b") else "b"
    if isinstance(leaf, bytes):
        return b"a" if leaf.startswith(b"b") else b"b"
    return 0  # None


@given(st.one_of(ATOMS, SCALARS, arrays()), TREES, st.sampled_from("ltdq"))
def test_every_single_change_is_found(leaf: Any, beside: Any, kind: str) -> None:
    def around(value: Any) -> Any:
        inner = {
            "l": [beside, value], "t": (value, beside),
            "d": {"x": beside, "y": value}, "q": deque([beside, value, beside]),
        }[kind]  # fmt: skip
        return {"outer": [inner, Attributes("Env", {"state": value})]}

    tree, other = around(leaf), trees.copy(around(changed(leaf)))
    assert first_difference(tree, trees.copy(tree)) is None
    found = first_difference(tree, other)
    assert found.startswith("['outer'][0]")  # the first of the two places
    assert first_difference(other, tree) is not None


@given(TREES)
def test_a_missing_or_an_additional_part_is_found(tree: Any) -> None:
    assert first_difference([tree], [tree, tree])
    assert first_difference({"a": tree}, {"a": tree, "b": tree})
    assert first_difference({1, 2}, {1, 2, 3})


def test_differences_are_readable() -> None:
    a = {"camera": np.zeros((2, 2), np.uint8)}
    b = {"camera": np.array([[0, 0], [7, 0]], np.uint8)}
    assert first_difference(a, b) == (
        "['camera']: 1 of 4 values, first at [1, 0]: np.uint8(0) and np.uint8(7)"
    )
    assert first_difference(a, {"camera": np.zeros((2, 3))}) == (
        "['camera']: uint8[2, 2] and float64[2, 3]"
    )


@pytest.mark.parametrize(
    "zero", [0.0, np.float32(0), np.float64(0), np.zeros(3), np.zeros((), ">f4"), np.zeros(2, "c8")]
)
def test_zero_and_minus_zero_differ(zero: Any) -> None:
    assert first_difference(zero, -zero)
    assert first_difference([1, {"x": zero}], [1, {"x": -zero}])
    assert first_difference(zero, trees.copy(zero)) is None


def test_nan_equals_nan_and_numbers_equal_across_types() -> None:
    assert first_difference(math.nan, float("nan")) is None
    assert first_difference(np.array([np.nan, 1]), np.array([-np.nan, 1])) is None
    assert first_difference(np.array([complex(math.nan, 1)]), np.array([complex(math.nan, 2)]))
    assert first_difference(1, 1.0) is None
    assert first_difference(np.float64(1), 1) is None
    assert first_difference((1, 2), [1, 2]) is None
    assert first_difference({math.nan}, {float("nan")}) is None


def test_arrays_beside_other_things_differ_without_an_exception() -> None:
    for other in (None, LEFT, {}, [[1], [2, 3]], "text", 2**70, {1}, b""):
        assert first_difference(np.zeros(2), other)
        assert first_difference(other, np.zeros(2))


def test_what_is_shared_is_written_once_and_shared_again() -> None:
    table = {i: [(0.5, i, 0.0)] for i in range(200)}
    # As deep as restorers nest them: tree > states > state > layers > layer > attributes > table.
    layers = [[["Wrapper", {}], ["Env", {"table": table, "at": t}]] for t in range(50)]
    tree = {"states": [[t, layer] for t, layer in enumerate(layers)]}
    text, _ = packing.pack(tree)
    assert len(text) < 2 * len(packing.pack(table)[0]) + 50 * 100
    again = packing.unpack(*packing.pack(tree))
    assert_identical(again, tree)
    tables = [state[1][1][1]["table"] for state in again["states"]]
    assert all(one is tables[0] for one in tables)


def test_what_is_shared_is_compared_once() -> None:
    a, b = [1], [1]
    for _ in range(200):
        a, b = [a, a], [b, b]
    assert first_difference(a, b) is None


def test_arrays_of_one_shape_become_one_array() -> None:
    _, packed = packing.pack([np.full(3, i) for i in range(100)])
    assert [array.shape for array in packed] == [(100, 3)]


@pytest.mark.parametrize(
    "value",
    [object(), lambda: 0, np.array([object()]), np.datetime64("2018-07-18"), {"a": {1, 2j}}],
)
def test_what_is_no_data_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="not plain data"):
        packing.pack({"x": [value]})


def refused(body: Any, packed: list[np.ndarray] | None = None, shared: Any = ()) -> str:
    text = json.dumps({"tree": body, "shared": list(shared)})
    with pytest.raises(DemonstrationError) as caught:
        packing.unpack(text, packed or [])
    return str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        {"$array": [0, 0]}, {"$array": [-1, 0]}, {"$array": [0]}, {"$array": "0"}, {"$scalar": 0},
        {"$bytes": [True, 0]}, {"$shared": 0}, {"$shared": -1}, {"$unknown": 1}, {"$": []},
        {"$tuple": 1}, {"$set": [[1]]}, {"$set": [{"a": 1}]}, {"$dict": [[1]]},
        {"$dict": [[[], 1]]}, {"$dict": {"a": 1}}, {"$deque": [-1, []]}, {"$deque": [2**70, []]},
        {"$deque": [1.5, []]}, {"$deque": []}, {"$attributes": [1, {}]}, {"$attributes": ["a", []]},
        {"$tuple": [], "a": 1}, {"$stream": ["os.system", "ls"]}, {"$stream": [[], 1]},
        {"$stream": ["Random", {"$tuple": [3, {"$tuple": [1, 2]}, None]}]},
    ],
)  # fmt: skip
def test_a_tree_that_was_never_packed_is_refused(body: Any) -> None:
    refused(body)
    refused([{"deep": body}])


def test_no_array_can_stand_in_two_places() -> None:
    rows = [np.zeros((2, 8), np.uint8)]
    assert "two places" in refused([{"$bytes": [0, 0]}, {"$bytes": [0, 0]}], rows)
    assert "two places" in refused({"$array": [0, 1]}, rows, shared=[{"$array": [0, 1]}])


def test_nothing_shared_holds_anything_shared() -> None:
    laughs = [["lol"] * 10, *([{"$shared": i}] * 10 for i in range(9))]
    assert "where there are 0 entries" in refused({"$shared": 9}, shared=laughs)


def test_keys_hold_nothing_shared() -> None:
    """A short file could else hold a key that takes for ever to hash."""
    shared = [{"$tuple": [1]}]
    assert "where there are 0" in refused({"$set": [{"$shared": 0}]}, shared=shared)
    assert "where there are 0" in refused({"$dict": [[{"$shared": 0}, 1]]}, shared=shared)
    key = ((1, 2), (3, 4))
    tree = [{key: 1}, {key: 2}, key, [key], {key}, {key[0]}]
    assert_identical(packing.unpack(*packing.pack(tree)), tree)


def test_keys_made_to_collide_are_refused() -> None:
    same_hash = [i * (2**61 - 1) for i in range(1000)]
    assert "collide" in refused({"$set": same_hash})
    assert "collide" in refused({"$dict": [[{"$tuple": [key]}, 0] for key in same_hash]})


def test_deep_nesting_and_giant_numbers_are_refused() -> None:
    for text in ("[" * 100_000, '{"tree":' * 50_000, '{"tree":[],"shared":' + "9" * 5000 + "}"):
        with pytest.raises(DemonstrationError):
            packing.unpack(text, [])
    deep = '{"shared":[],"tree":' + "[" * 900 + "]" * 900 + "}"
    with suppress(DemonstrationError):  # within or beyond the recursion limit: never anything else
        packing.unpack(deep, [])


def states_of(kind: str) -> Any:
    if kind == "Random":
        return Random(1).getstate()
    if kind == "RandomState":
        return np.random.RandomState(1).get_state(legacy=False)
    return getattr(np.random, kind)(1).state


def with_position(kind: str, position: int) -> Any:
    state = states_of(kind)
    if kind == "Random":
        return (3, (*state[1][:-1], position), None)
    if kind == "Philox":
        return {**state, "buffer_pos": position}
    return {**state, "state": {**state["state"], "pos": position}}


@pytest.mark.parametrize("position", [-1, 625, 10**9, 2**31, 2**63])
@pytest.mark.parametrize("kind", ["MT19937", "RandomState", "Random", "Philox"])
def test_a_stream_beyond_its_buffer_is_refused(kind: str, position: int) -> None:
    """numpy would take it, and read foreign memory on the next draw."""
    good = RandomStream(kind, with_position(kind, 4))
    assert first_difference(packing.unpack(*packing.pack(good)), good) is None
    with pytest.raises(DemonstrationError):
        packing.unpack(*packing.pack(RandomStream(kind, with_position(kind, position))))


def test_a_stream_that_stands_still_is_refused() -> None:
    """A draw by rejection from it would never end."""
    zeros = {"key": np.zeros(624, np.uint32), "pos": 0}
    for still in (
        RandomStream("PCG64", {**states_of("PCG64"), "state": {"state": 0, "inc": 0}}),
        RandomStream("RandomState", {**states_of("RandomState"), "state": zeros}),
        RandomStream("Random", (3, (0,) * 625, None)),
    ):  # fmt: skip
        with pytest.raises(DemonstrationError):
            packing.unpack(*packing.pack(still))


@pytest.mark.parametrize(
    "kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "RandomState"]
)
def test_a_stream_with_wrong_parts_is_refused(kind: str) -> None:
    state = states_of(kind)
    for name in state:
        for wrong in (None, "x", 2**1100, [], {}, np.zeros(3)):
            with pytest.raises(DemonstrationError):
                packing.unpack(*packing.pack(RandomStream(kind, {**state, name: wrong})))
    for strange in ({**state, "more": 1}, {**state, "bit_generator": "PCG32"}):
        with pytest.raises(DemonstrationError):
            packing.unpack(*packing.pack(RandomStream(kind, strange)))
    assert isinstance(packing.unpack(*packing.pack(RandomStream(kind, state))), RandomStream)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(0, 700))
def test_a_stream_draws_on_as_it_would_have(seed: int, drawn: int) -> None:
    for generator in (np.random.default_rng(seed), np.random.Generator(np.random.Philox(seed))):
        generator.random(drawn)
        generator.integers(3, dtype=np.int32)
        stream = trees.read_stream(generator)
        assert stream is not None
        moved = trees.set_stream(np.random.default_rng(), packing.unpack(*packing.pack(stream)))
        assert first_difference(moved.random(5), generator.random(5)) is None
