"""What a run has learned: pictures of its demonstrations, films of its policy, values it sees.

Comes in: a run directory. Goes out: pictures, numbers. The job is built once, in a thread of its
own, and takes up every new checkpoint. Does not know: requests, what kinds of jobs there are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from backplay import runs
from backplay.errors import BackplayError, ensure
from backplay.runs.execute import begun
from backplay.studio import pictures
from backplay.studio.gallery import MOST_POINTS, MOST_THUMBS, Opened
from backplay.studio.own_thread import OwnThread
from backplay.studio.pictures import Picture, Reel
from backplay.studio.scenes import numbers, scenes_of
from backplay.train.env_job import EnvWork
from backplay.train.evaluate import batch_of

MOST_STEPS = 1_000  # of a film
MOST_FRAMES = 250
_AT_ONCE = 256  # observations that are valued together


class RunAgent:
    """The policy of a run as it was saved last."""

    def __init__(self, path: Path) -> None:
        """Builds the job; BackplayError where it cannot be built or has nothing to show."""
        self._path, self._thread = path, OwnThread("agent")
        self._file: Path | None = None
        self._films = 0
        try:
            self._thread.run(self._begin)
        except BaseException:
            self._thread.end()
            raise

    def lengths(self) -> list[int]:
        """The steps of each of its demonstrations."""
        return list(self._scenes.lengths)

    def picture(self, demo: int, step: int) -> Picture:
        """A state of a demonstration."""
        return self._thread.run(lambda: pictures.encoded(self._drawn(demo, step)))

    def thumbs(self, demo: int) -> dict[int, Picture]:
        """Small pictures along a demonstration."""
        length = self._length(demo)
        steps = np.linspace(0, length, min(MOST_THUMBS, length + 1)).astype(int)
        return self._thread.run(
            lambda: {int(at): pictures.small(self._drawn(demo, int(at))) for at in steps}
        )

    def film(self, demo: int, step: int, *, greedy: bool) -> tuple[dict[str, Any], Reel]:
        """An episode of the policy from a step of a demonstration: what came of it, and pictures.

        Drawn, or with the likeliest actions.
        """
        length = self._length(demo)
        ensure(0 <= step < length, "step", f"from 0 to {length - 1}", got=step)
        return self._thread.run(lambda: self._film(demo, step, greedy))

    def values(self, opened: Opened) -> list[float]:
        """The value of every state of a demonstration, thinned as its curves are."""
        return self._thread.run(lambda: self._values(opened))

    def close(self) -> None:
        """Ends it."""

        def last() -> None:
            self._scenes.close()
            self._work.close()

        self._thread.end(last)

    def _begin(self) -> None:
        self._work = begun(runs.open_run(self._path))
        try:
            self._scenes = scenes_of(self._work)
        except BaseException:
            self._work.close()
            raise

    def _refresh(self) -> int:
        """Takes up the newest checkpoint; the frames it has seen."""
        run, training = runs.open_run(self._path), self._work.training
        if training is None:
            return 0
        if self._file != run.checkpoint:
            loaded = run.load()
            if loaded is not None:
                training.load_state(loaded.state)
                self._file = loaded.path
        return int(training.frames)

    def _film(self, demo: int, step: int, greedy: bool) -> tuple[dict[str, Any], Reel]:
        frames, reel = self._refresh(), Reel(MOST_FRAMES)
        self._films += 1  # so that the next one is another
        moments = self._scenes.play(demo, step, greedy=greedy, seed=self._films)
        for count, moment in enumerate(moments):
            over = moment.success is not None
            if reel.wants(count):
                reel.add(count, pictures.encoded(moment.draw()))
            elif over:
                reel.pictures[count] = pictures.encoded(moment.draw())
            if count == MOST_STEPS:
                break
        facts = {
            "total": moment.total, "steps": count, "over": over, "success": moment.success,
            "start": step, "demo": demo, "frames": frames,
        }  # fmt: skip
        return facts, reel

    def _values(self, opened: Opened) -> list[float]:
        self._refresh()
        work, demo, found = self._work, opened.demo, []
        learner = work.training.learner if isinstance(work, EnvWork) else None
        if not isinstance(work, EnvWork) or work.demos[0].env_id != demo.env_id:
            raise BackplayError(
                f"{self._path.name} sees something else than this demonstration shows",
                expected=f"an agent for {demo.env_id}",
            )
        if not hasattr(learner, "values"):
            raise BackplayError(f"{self._path.name} was not trained by backplay's own learner")
        space = work.training.envs.single_observation_space
        known = (
            demo.observations[:-1] if demo.terminated else demo.observations
        )  # no end has a value
        seen = known[:: -(-len(demo) // MOST_POINTS)]
        for first in range(0, len(seen), _AT_ONCE):
            parts = [numbers(space, one) for one in seen[first : first + _AT_ONCE]]
            found += work.training.learner.values(batch_of(space, parts)).tolist()
        return [float(value) for value in found]

    def _length(self, demo: int) -> int:
        lengths = self._scenes.lengths
        ensure(0 <= demo < len(lengths), "demo", f"from 0 to {len(lengths) - 1}", got=demo)
        return lengths[demo]

    def _drawn(self, demo: int, step: int) -> Any:
        if not 0 <= step <= self._length(demo):
            raise BackplayError("step", expected=f"from 0 to {self._length(demo)}", got=step)
        return self._scenes.picture(demo, step)
