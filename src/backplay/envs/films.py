"""Films of episodes: GIF by Pillow, MP4 by imageio where it is installed.

Comes in: pictures of one size. Goes out: a file. Does not know: what they show. Also how envs come
to draw pictures where there is no screen.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backplay.errors import BackplayError, ensure

_REST = 12  # the last picture stays this many times longer
_LONGEST = 655_350  # milliseconds that GIF has for a picture
_BLOCK = 4  # players want sizes that are multiples of it


def without_screen() -> None:
    """Lets environments draw where there is no screen; to be called before any is made.

    MuJoCo ends the whole process where it cannot open one, and nobody has named another way.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        os.environ.setdefault("MUJOCO_GL", "egl")


def require_film(path: Path) -> None:
    """Refuses a name that no film can be written to, before any work begins."""
    kind = path.suffix.lower()
    ensure(kind in (".gif", ".mp4"), "--out", "a name that ends in .gif or .mp4", got=str(path))
    if kind == ".mp4" and (find_spec("imageio") is None or find_spec("imageio_ffmpeg") is None):
        raise BackplayError(
            "MP4 needs imageio and its ffmpeg plugin",
            do='Install them: pip install "backplay[film]", or name a .gif, which needs nothing.',
        )


def write_film(path: Path, frames: Sequence[NDArray[np.uint8]], fps: float) -> None:
    """Writes the frames, the last one held a little."""
    require_film(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".gif":
        path.write_bytes(as_gif(frames, fps))
    else:
        _write_mp4(path, frames, fps)


def as_gif(frames: Sequence[NDArray[np.uint8]], fps: float) -> bytes:
    """The bytes of a GIF that begins again and again."""
    # One palette for all: changing ones flicker and take room.
    sample = np.concatenate([frames[i] for i in np.linspace(0, len(frames) - 1, 8).astype(int)])
    palette = Image.fromarray(sample).quantize(128, Image.Quantize.MEDIANCUT)
    images = [
        Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)
        for frame in frames
    ]
    # Pillow makes one of pictures that are alike, and fails where it is shown for too long.
    alike = [list(group) for _, group in groupby(images, key=Image.Image.tobytes)]
    shown = [len(group) for group in alike]
    shown[-1] += _REST - 1
    times = [min(round(1000 * count / fps), _LONGEST) for count in shown]
    first, *others = (group[0] for group in alike)
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return buffer.getvalue()


def _write_mp4(path: Path, frames: Sequence[NDArray[np.uint8]], fps: float) -> None:
    import imageio.v2

    writer: Any = imageio.v2.get_writer(path, fps=fps, macro_block_size=_BLOCK)
    missing = [(0, -size % _BLOCK) for size in frames[0].shape[:2]]
    try:
        for frame in [*frames, *[frames[-1]] * _REST]:
            writer.append_data(np.pad(frame, [*missing, (0, 0)], mode="edge"))
    finally:
        writer.close()
