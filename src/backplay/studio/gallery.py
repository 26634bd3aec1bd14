"""A demonstration opened: pictures along it, loops and wasted steps, trims and exports.

Comes in: the file of a demonstration. Goes out: plain data and pictures. Its environment lives in a
thread of its own. Does not know: requests, pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from backplay.demos import Demonstration, load, sights
from backplay.demos.check import check
from backplay.demos.take import Take
from backplay.envs.films import write_film
from backplay.errors import BackplayError, DemonstrationError, ensure
from backplay.extras import require
from backplay.restore.rollout import AnyEnv
from backplay.studio import pictures
from backplay.studio.journal import Setup
from backplay.studio.own_thread import OwnThread
from backplay.studio.pictures import Picture
from backplay.studio.recording import CHECKED_STEPS
from backplay.studio.scenes import stand
from backplay.train.environments import kwargs_for, make_env
from backplay.ui.keys import action_names

MOST_POINTS = 4_000  # of a curve
MOST_THUMBS = 24  # more would lie one upon the other
MOST_FRAMES = 240  # of a film
FPS = 12.0

T = TypeVar("T")


class Opened:
    """One demonstration that is looked at."""

    def __init__(self, path: Path) -> None:
        """Reads and rebuilds it; DemonstrationError if it is damaged or does not fit its env."""
        self.path = path
        self._thread = OwnThread("gallery")
        self._env: AnyEnv | None = None
        try:
            self.demo = self.run(lambda: self._begin(load(path)))
        except BaseException:
            self.close()
            raise

    def run(self, work: Callable[[], T]) -> T:
        """Does `work` in the thread of the environment."""
        return self._thread.run(work)

    def task(self) -> Setup:
        """What it is a demonstration of."""
        demo = self.demo
        assert demo.env_id is not None
        kwargs = kwargs_for(demo.env_id, None, demo)
        return Setup(env=demo.env_id, env_kwargs=kwargs, seed=demo.seed or 0)

    def facts(self) -> dict[str, Any]:
        """What it holds, as plain data."""
        demo = self.demo
        prints = [sights.fingerprint(observation) for observation in demo.observations]
        wasted = sights.wasted(prints)
        every = -(-len(demo) // MOST_POINTS)
        assert self._env is not None
        try:
            names: list[str] | None = action_names(self._env)
        except BackplayError:
            names = None
        actions = None
        if demo.actions is not None:
            actions = [np.asarray(a).tolist() for a in demo.actions[::every]]
        return {
            "env": demo.env_id, "env_kwargs": self.task().env_kwargs, "seed": demo.seed,
            "length": len(demo), "total": float(demo.rewards.sum()), "success": demo.success,
            "ended": "terminated" if demo.terminated
            else "truncated" if demo.truncations[-1] else "cut off",
            "restorer": demo.restorer.name, "versions": demo.versions,
            "every": every, "rewards": demo.rewards[::every].tolist(), "actions": actions,
            "names": names, "wasted": wasted[:MOST_POINTS], "wasted_count": len(wasted),
            "loops": sights.loops(prints),
            "can_mend": demo.actions is not None and demo.seed is not None,
        }  # fmt: skip

    def picture(self, step: int) -> Picture:
        """What the state at `step` looks like."""
        return self.run(lambda: self._draw(step, False))

    def thumbs(self) -> dict[int, Picture]:
        """Small pictures along it."""
        steps = np.linspace(0, len(self.demo), min(MOST_THUMBS, len(self.demo) + 1)).astype(int)
        return self.run(lambda: {int(step): self._draw(int(step), True) for step in steps})

    def mended(self, path: Path, *, end: int, cut: tuple[int, int] | None) -> dict[str, Any]:
        """Writes a demonstration that ends at `end`, with the steps of `cut` left out."""

        def work() -> dict[str, Any]:
            demo, env = self.demo, self._env
            if env is None or demo.actions is None or demo.seed is None:
                raise DemonstrationError(
                    "This demonstration cannot be mended", expected="a seed and actions"
                )
            take = Take(env, demo.seed)
            take.play(demo.actions)
            take.go(end)
            take.trim()
            differs = take.cut(*cut) if cut else None
            task = self.task()
            plain = make_env(task.env, task.env_kwargs)
            try:
                made = take.demonstration(plain)
                report = check(plain, made, max_steps=CHECKED_STEPS)
            finally:
                plain.close()
            made.save(path)
            return {
                "length": len(made), "total": float(made.rewards.sum()), "differs": differs,
                "report": str(report), "success": made.success,
            }  # fmt: skip

        return self.run(work)

    def film(self, kind: str) -> bytes:
        """The whole as a film, `gif` or `mp4`; a long one in strides."""
        ensure(kind in ("gif", "mp4"), "kind", "gif or mp4", got=kind)
        frames = self.run(self._frames)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"film.{kind}"
            write_film(path, frames, FPS)
            return path.read_bytes()

    def to_minari(self, dataset_id: str) -> str:
        """Writes it as a Minari dataset on this machine; where."""
        require("minari")
        from backplay.integrations.minari import to_minari

        def work() -> str:
            task = self.task()
            plain = make_env(task.env, task.env_kwargs)
            try:
                return str(to_minari([self.demo], dataset_id, env=plain).spec.data_path)
            finally:
                plain.close()

        return self.run(work)

    def close(self) -> None:
        """Ends the thread and closes the environment in it."""
        self._thread.end(self._env.close if self._env is not None else None)

    def _begin(self, demo: Demonstration) -> Demonstration:
        # An id with a module is no id that Gymnasium writes: a file must not name what is imported.
        if demo.env_id is None or ":" in demo.env_id:
            raise DemonstrationError(
                "This demonstration names no environment", expected="an id that Gymnasium knows",
                do="Register the environment, make it by its id, and record again.",
            )  # fmt: skip
        self._env = pictures.make_drawn(demo.env_id, kwargs_for(demo.env_id, None, demo))
        self._env.reset(seed=demo.seed)
        return demo.fit(self._env)

    def _at(self, step: int) -> AnyEnv:
        """The environment, put at `step`."""
        assert self._env is not None
        stand(self._env, self.demo, step)
        return self._env

    def _draw(self, step: int, small: bool) -> Picture:
        ensure(0 <= step <= len(self.demo), "step", f"from 0 to {len(self.demo)}", got=step)
        env = self._at(step)
        seen = self.demo.observations[step]
        return pictures.draw_small(env) if small else pictures.draw(env, seen)

    def _frames(self) -> list[np.ndarray]:
        every = -(-(len(self.demo) + 1) // MOST_FRAMES)
        steps = sorted({*range(0, len(self.demo) + 1, every), len(self.demo)})
        frames = [pictures.pixels_of(self._at(step)) for step in steps]
        found = [frame for frame in frames if frame is not None]
        ensure(found, "This environment has no pictures", "render mode rgb_array")
        return [frame[: len(frame) // 2 * 2, : frame.shape[1] // 2 * 2] for frame in found]
