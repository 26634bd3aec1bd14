"""Random numbers inside kernels: one SplitMix64 stream, a uint64 in an array [1].

Comes in: a stream. Goes out: its next number. Does not know what is drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backplay.envs.kernels import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32, _S11 = (np.uint64(n) for n in (30, 27, 31, 32, 11))


@kernel
def draw(stream):  # type: ignore[no-untyped-def]
    """The next 64 bits."""
    stream[0] += _STEP
    z = stream[0]
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@kernel
def below(stream, n):  # type: ignore[no-untyped-def]
    """A uniform integer 0..n-1 (n < 2**31; the bias is below n / 2**32)."""
    return np.int64(((draw(stream) >> _S32) * np.uint64(n)) >> _S32)


@kernel
def uniform(stream):  # type: ignore[no-untyped-def]
    """A uniform float in [0, 1)."""
    return np.float64(draw(stream) >> _S11) * (1.0 / 9007199254740992.0)


def stream(rng: np.random.Generator) -> NDArray[np.uint64]:
    """A fresh stream, its place drawn from `rng`."""
    return rng.integers(2**64, size=1, dtype=np.uint64)
