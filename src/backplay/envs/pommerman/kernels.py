"""How this folder's kernels are compiled.

`kernel` is numba's njit for functions that own no memory. They hold no reference counts, whose
atomic updates would cost more than the rules; in return, a kernel that allocates does not compile.
Kernels release the GIL, so threads run them side by side, and are cached on disk.
"""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

_OPTIONS: Any = {"cache": True, "nogil": True, "_nrt": False}
kernel: Any = njit(**_OPTIONS)


def _reserve(_context: Any, count: Any) -> Any:
    """A pointer to `count` int16 that live until the kernel which asks for them returns.

    `count` is a constant; what the numbers are at first is anybody's guess.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    number = types.int16

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        kind = context.get_value_type(number)
        return cgutils.alloca_once(builder, kind, count.literal_value)  # type: ignore[no-untyped-call]

    return types.CPointer(number)(count), generate  # type: ignore[no-untyped-call]


reserve: Any = intrinsic(_reserve)


@kernel
def copy_row(source, target):  # type: ignore[no-untyped-def]
    """Copies one array [n] into another; `target[:] = source` takes five times as long."""
    for i in range(target.shape[0]):
        target[i] = source[i]
