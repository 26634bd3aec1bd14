"""What was seen along an episode: fingerprints of observations, loops, steps that change nothing.

A sight is not a state: what looks like a loop may be one in which something unseen has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from backplay.data import packing

SIZE = 16  # bytes of a fingerprint


def fingerprint(observation: Any) -> bytes:
    """A digest that differs where observations do."""
    text, arrays = packing.pack(observation)
    digest = hashlib.blake2b(text.encode(), digest_size=SIZE)
    for part in arrays:
        digest.update(part.tobytes())
    return digest.digest()


def loops(prints: Sequence[bytes]) -> list[tuple[int, int]]:
    """Stretches that begin and end with the same sight, as (first, last), the longest first.

    They do not overlap. Leaving all of them out leaves no sight twice.
    """
    last = {seen: step for step, seen in enumerate(prints)}
    found, step = [], 0
    while step < len(prints):
        end = last[prints[step]]
        if end > step:
            found.append((step, end))
        step = max(end, step + 1)
    return sorted(found, key=lambda pair: pair[0] - pair[1])


def wasted(prints: Sequence[bytes]) -> list[int]:
    """The steps after which the same is seen as before them."""
    return [step for step in range(len(prints) - 1) if prints[step] == prints[step + 1]]
