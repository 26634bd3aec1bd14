"""Random numbers inside kernels: independent SplitMix64 streams, each one uint64 in an array.

A stream's whole state is its number, so it is saved, restored and compared like any other part of
a game, and what one stream draws never depends on another or on the number of threads. Comes in: an
array of streams and the index of one. Goes out: its next number. Does not know what is drawn.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32, _S11 = (np.uint64(n) for n in (30, 27, 31, 32, 11))


@kernel
def draw(streams, i):  # type: ignore[no-untyped-def]
    """The next 64 bits of stream `i`."""
    streams[i] += _STEP
    z = streams[i]
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@kernel
def below(streams, i, n):  # type: ignore[no-untyped-def]
    """A uniform integer 0..n-1 (n < 2**31; the bias is below n / 2**32)."""
    return np.int64(((draw(streams, i) >> _S32) * np.uint64(n)) >> _S32)


@kernel
def uniform(streams, i):  # type: ignore[no-untyped-def]
    """A uniform float in [0, 1)."""
    return np.float64(draw(streams, i) >> _S11) * (1.0 / 9007199254740992.0)


def streams(seed: int | None, *shape: int) -> np.ndarray:
    """Fresh independent streams of this shape, the same for the same seed."""
    return (
        np.random.SeedSequence(seed).generate_state(int(np.prod(shape)), np.uint64).reshape(shape)
    )


def drawn_from(rng: np.random.Generator) -> np.ndarray:
    """One fresh stream [1], its place drawn from `rng`."""
    return rng.integers(2**64, size=1, dtype=np.uint64)
