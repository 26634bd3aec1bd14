"""Arrays from outside: checked before anybody reads them, and no larger than their bytes."""

import numpy as np
import pytest

from backplay.data.arrays import checked_array, from_buffer
from backplay.errors import BackplayError


def test_checked_array_names_what_is_wrong() -> None:
    good = np.arange(4, dtype=np.int32)
    assert checked_array("x", good, np.int32, (None,), low=0, high=3) is good
    for value, dtype, low, high, words in [
        (good.astype(np.int64), np.int32, None, None, "int32"),
        (good, np.int32, 1, None, "numbers from 1"),
        (good, np.int32, None, 2, "to 2"),
        (np.array([0.0, np.nan, 1, 2]), np.float64, 0, 3, "finite"),
        ([0, 1, 2, 3], np.int32, None, None, "int32"),
    ]:
        with pytest.raises(BackplayError, match=words):
            checked_array("x", value, dtype, (4,), low=low, high=high)


@pytest.mark.parametrize(
    ("dtype", "shape"), [("<U0", [10**10]), ("<f8", [2]), ("|S100000", [0]), ("|V8", [1])]
)
def test_bytes_are_no_larger_an_array_than_they_are(dtype: str, shape: list[int]) -> None:
    with pytest.raises(ValueError, match=r"size|empty|plain"):
        from_buffer(bytearray(8), np.dtype(dtype), shape, 0, 8 if dtype in ("<f8", "|V8") else 0)
