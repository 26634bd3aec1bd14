"""What an environment looks like, as bytes for the page.

Comes in: an id and arguments, then an environment with a render mode. Goes out: PNG for small
pictures, JPEG for large ones, text where there is no picture. Does not know: what is played.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from PIL import Image

from backplay.errors import show
from backplay.restore.rollout import AnyEnv
from backplay.train.environments import make_env
from backplay.train.scenes import Drawn

SHARP = 90_000  # pixels up to which a picture is sent without loss
PHYSICS = 320  # pixels along a picture of MuJoCo's: a processor without graphics draws 40 a second
THUMB = 96  # pixels along a small picture
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FLAGS = ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_SKYBOX", "mjRND_HAZE")


class Picture(NamedTuple):
    """One picture, or a text in its place."""

    kind: str
    """A media type."""
    data: bytes


def make_drawn(env_id: str, kwargs: dict[str, Any]) -> AnyEnv:
    """The environment of an id, see `drawn`."""
    return drawn(lambda **options: make_env(env_id, {**kwargs, **options}))


def drawn(make: Callable[..., AnyEnv]) -> AnyEnv:
    """What `make(render_mode=…)` gives, with the best render mode it has for a page."""
    plain = make()
    modes = plain.metadata.get("render_modes") or ()
    mode = next((mode for mode in ("rgb_array", "ansi") if mode in modes), None)
    if mode is None:
        return plain
    plain.close()
    env = make(render_mode=mode)
    renderer = getattr(env.unwrapped, "mujoco_renderer", None)
    if renderer is not None:
        _make_fast(env.unwrapped, renderer)
    return env


def draw(env: AnyEnv, observation: Any) -> Picture:
    """What `env` looks like now."""
    return encoded(seen(env, observation))


def seen(env: AnyEnv, observation: Any) -> Drawn:
    """Pixels, or what `env` writes, or what is observed in words."""
    pixels = _pixels(env)
    if isinstance(pixels, np.ndarray):
        return pixels
    if pixels:
        return _ANSI.sub("", pixels)
    parts = observation.items() if isinstance(observation, dict) else [("", observation)]
    return "\n".join(f"{key} {show(part, limit=2_000)}".strip() for key, part in parts)


def encoded(drawn: Drawn) -> Picture:
    """The bytes of pixels or of a text."""
    if isinstance(drawn, str):
        return Picture("text/plain", drawn.encode())
    kind = "png" if drawn.shape[0] * drawn.shape[1] <= SHARP else "jpeg"
    return Picture(f"image/{kind}", _encoded(Image.fromarray(drawn), kind))


def draw_small(env: AnyEnv) -> Picture:
    """The same for a strip."""
    pixels = _pixels(env)
    return small("" if pixels is None else pixels)


def small(drawn: Drawn) -> Picture:
    """A picture at most THUMB pixels along; empty text where there is none."""
    if isinstance(drawn, str):
        return Picture("text/plain", b"")
    image = Image.fromarray(drawn)
    image.thumbnail((THUMB, THUMB), Image.Resampling.BOX)
    return Picture("image/jpeg", _encoded(image, "jpeg"))


def pixels_of(env: AnyEnv) -> np.ndarray | None:
    """The picture of `env` as it is drawn, [height, width, 3]; None where it has none."""
    pixels = _pixels(env)
    return pixels if isinstance(pixels, np.ndarray) else None


def _pixels(env: AnyEnv) -> np.ndarray | str | None:
    if env.render_mode not in ("rgb_array", "ansi"):
        return None
    try:
        drawn: Any = env.render()
    except (gym.error.DependencyNotInstalled, ImportError):
        return None
    except Exception as error:  # an environment is anybody's code
        return f"It cannot be drawn: {type(error).__name__}: {str(error)[:300]}"
    if isinstance(drawn, np.ndarray) and drawn.ndim == 3:
        _switch_off_extras(env)
        return np.ascontiguousarray(drawn[..., :3], np.uint8)
    return drawn if isinstance(drawn, str) else None


def _encoded(image: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "png":
        image.save(buffer, "PNG", compress_level=1)
    else:
        image.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def _make_fast(base: Any, renderer: Any) -> None:
    """Sets what MuJoCo draws with: a smaller picture, no smoothing, no shadows."""
    quality, buffer = base.model.vis.quality, base.model.vis.global_
    quality.offsamples = quality.shadowsize = 0
    for side in ("width", "height"):
        wanted = getattr(renderer, side, None) or PHYSICS
        setattr(renderer, side, min(PHYSICS, wanted))
        setattr(buffer, f"off{side}", max(PHYSICS, getattr(buffer, f"off{side}")))


def _switch_off_extras(env: AnyEnv) -> None:
    """Shadows and reflections of MuJoCo's, once there is a scene to switch them off in."""
    scene = getattr(getattr(env.unwrapped, "mujoco_renderer", None), "viewer", None)
    scene = getattr(scene, "scn", None)
    if scene is not None:
        import mujoco

        for flag in _FLAGS:
            scene.flags[getattr(mujoco.mjtRndFlag, flag)] = 0


class Reel:
    """At most so many pictures."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.stride = 1
        """Between two that are kept."""
        self.pictures: dict[int, Picture] = {}

    def wants(self, step: int) -> bool:
        """Whether a picture of this step would be kept."""
        return step % self.stride == 0 and step not in self.pictures

    def add(self, step: int, picture: Picture) -> None:
        """Keeps one more."""
        self.pictures[step] = picture
        if len(self.pictures) > self._most:
            self.stride *= 2
            self.pictures = {t: p for t, p in self.pictures.items() if t % self.stride == 0}

    def forget_after(self, last: int) -> None:
        """Lets go of what comes after this step."""
        if any(step > last for step in self.pictures):
            self.pictures = {step: p for step, p in self.pictures.items() if step <= last}
