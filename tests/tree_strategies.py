"""Hypothesis strategies for trees of plain data."""

from collections import deque
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from backplay.data.trees import LEFT, Attributes, RandomStream, read_stream

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    hnp.unicode_string_dtypes(endianness="?", min_len=1, max_len=4),
    hnp.byte_string_dtypes(min_len=1, max_len=4),
)
TEXT = st.text(st.characters(), max_size=5)  # lone surrogates included


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    shape = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    array = draw(hnp.arrays(DTYPES, shape))
    return np.asfortranarray(array) if draw(st.booleans()) and array.ndim > 1 else array


@st.composite
def bit_patterns(draw: st.DrawFn) -> np.ndarray:
    """Floats of any bits: signalling NaNs and NaNs that carry something among them."""
    kind = draw(st.sampled_from(["<f2", ">f4", "<f8", ">f8", "<c8"]))
    data = draw(st.binary(min_size=16, max_size=16))
    special = np.array([0x7FF8000000ABCDEF, 0xFFF0000000000001], "<u8").tobytes()
    return np.frombuffer(draw(st.sampled_from([data, special])), kind).copy()


@st.composite
def streams(draw: st.DrawFn) -> RandomStream:
    seed = draw(st.integers(0, 2**32 - 1))
    kinds = [np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox]
    made: list[Any] = [np.random.Generator(kind(seed)) for kind in (*kinds, np.random.SFC64)]
    made += [np.random.RandomState(seed), Random(seed)]  # envs hold such
    generator = draw(st.sampled_from(made))
    if isinstance(generator, Random):
        generator.gauss(0, 1)
    else:
        generator.standard_normal(draw(st.integers(0, 5)))
    return read_stream(generator)


ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**300), 2**300),
    st.floats(),
    TEXT,
    st.binary(max_size=6),
)
SCALARS = st.one_of(
    hnp.arrays(st.one_of(hnp.integer_dtypes(), hnp.floating_dtypes(sizes=(16, 32, 64))), ()),
    hnp.arrays(hnp.boolean_dtypes(), ()),
    hnp.arrays(hnp.complex_number_dtypes(sizes=(64, 128)), ()),
).map(lambda array: array[()])
HASHABLE = st.recursive(
    st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), TEXT, st.binary(max_size=4)),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)
NAMES = st.one_of(TEXT, st.sampled_from(["$array", "$", "$dict", "tree", "shared", ""]))
LEAVES = st.one_of(ATOMS, SCALARS, arrays(), bit_patterns(), streams(), st.just(LEFT))


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=4)
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(deque),
        lists.map(lambda items: deque(items, maxlen=len(items) + 2)),
        st.sets(HASHABLE, max_size=4),
        st.dictionaries(NAMES, inner, max_size=4),
        st.dictionaries(HASHABLE, inner, max_size=3),
        st.builds(Attributes, TEXT, st.dictionaries(NAMES, inner, max_size=3)),
        inner.map(lambda item: [item, (item, item), {"again": item}]),  # in several places
    )


TREES = st.recursive(LEAVES, _containers, max_leaves=12)
