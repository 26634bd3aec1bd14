"""How the kernels of the environments are compiled.

`kernel` is numba's njit for functions that own no memory. They hold no reference counts, whose
atomic updates would cost more than the rules; in return, a kernel that allocates does not compile.
Kernels release the GIL, so threads run them side by side, and are cached on disk. A cached kernel
holds the code of the kernels it calls, so it is stale as soon as any file of its environment's
folder changes, or of the files that all environments share: numba looks at the kernel's own file
only, `kernel` at all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from backplay.extras import require

require("numba")

from numba import njit, types  # noqa: E402  # after the clear error
from numba.core import cgutils  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

_OPTIONS: Any = {"cache": True, "nogil": True, "_nrt": False}
_HERE = Path(__file__).parent


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """The function, compiled when it is first called."""
    options = _OPTIONS | options
    compiled: Any = njit(**options)(function)
    try:
        file = compiled._cache._cache_file
        file._source_stamp = (file._source_stamp, _sources(function.__code__.co_filename))
    except AttributeError:  # another numba: slow to start is better than stale
        return njit(**options | {"cache": False})(function)
    return compiled


def _sources(filename: str) -> str:
    """A hash of every source file of the environment that a file belongs to."""
    path = Path(filename)
    inside = path.is_relative_to(_HERE) and path.parent != _HERE
    return _fingerprint(_HERE / path.relative_to(_HERE).parts[0] if inside else path.parent)


@cache
def _fingerprint(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted({*_HERE.glob("*.py"), *folder.rglob("*.py")}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


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
