"""Training in an environment, in pictures: states of its demonstrations, episodes, whole films.

Comes in: a job in progress, or a run directory. Goes out: pictures, what its policy does from any
step, and a film from the true start, which shows in words what the environment says where nothing
is drawn. Other kinds of jobs draw themselves, see `train.scenes`. Does not know: requests, files of
films.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from backplay.data import trees
from backplay.demos import Demonstration, load
from backplay.demos.fitting import Settings
from backplay.demos.success import Ending
from backplay.envs.films import without_screen
from backplay.errors import BackplayError
from backplay.records import Start
from backplay.restore.rollout import AnyEnv
from backplay.runs.execute import opened
from backplay.studio import pictures
from backplay.train.agent import acting
from backplay.train.env_job import EnvWork
from backplay.train.evaluate import batch_of
from backplay.train.loop import without_words
from backplay.train.scenes import Drawn, Moment, Scenes

__all__ = ["Film", "film_of"]

Pixels = NDArray[np.uint8]
MOST_STEPS = 10_000  # of an episode that does not end
SMALLEST, WIDEST = 200, 640  # pixels
ROWS, COLUMNS = 24, 60  # of a picture in words, at most
LETTER, EDGE = (6, 12), 6  # pixels of a letter and its line, and around them


def scenes_of(work: object) -> Scenes:
    """A job in progress, in pictures; BackplayError where there are none."""
    if isinstance(work, EnvWork):
        return EnvScenes(work)
    own: Callable[[], Scenes] | None = getattr(work, "scenes", None)
    if own is None:
        raise BackplayError("Runs of this kind have no pictures", do="Look at its curves.")
    return own()


class EnvScenes(Scenes):
    """Demonstrations of an environment, and a policy that plays it."""

    def __init__(self, work: EnvWork) -> None:
        self._env = pictures.drawn(work.make)
        self._training = work.training
        plain = without_words(self._env)
        self._space = plain.observation_space
        settings = work.training.config.settings
        self.demos = [_fitted(demo, self._env, settings) for demo in work.demos]

    @property
    def lengths(self) -> list[int]:
        """The steps of each demonstration."""
        return [len(demo) for demo in self.demos]

    @property
    def fps(self) -> float:
        """Pictures a second, as the environment has it."""
        return float(self._env.metadata.get("render_fps") or 10)

    def picture(self, demo: int, step: int) -> Drawn:
        """A state of a demonstration."""
        stand(self._env, self.demos[demo], step)
        return pictures.seen(self._env, self.demos[demo].observations[step])

    def play(self, demo: int, step: int, *, greedy: bool, seed: int) -> Iterator[Moment]:
        """An episode from that state; from step 0 the one that the demonstration's seed begins."""
        stand(self._env, self.demos[demo], step)
        seen = self.demos[demo].observations[step]
        return self._played(seen, Start(demo, step), greedy=greedy, seed=seed)

    def play_from_reset(self, seed: int, *, greedy: bool) -> Iterator[Moment]:
        """An episode from the environment's own reset with this seed."""
        seen, _ = self._env.reset(seed=seed)
        return self._played(seen, None, greedy=greedy, seed=seed)

    def _played(
        self, seen: Any, start: Start | None, *, greedy: bool, seed: int
    ) -> Iterator[Moment]:
        """What the policy does from here on."""
        env = self._env
        act = acting(self._training.learner, greedy=greedy, seed=seed)
        total, count, over = 0.0, 0, False
        yield Moment(partial(pictures.seen, env, seen), total, None)
        while not over:
            batch = batch_of(self._space, [numbers(self._space, seen)])
            action = act(batch)[0]
            seen, reward, terminated, truncated, info = env.step(action)
            total, count, over = total + float(reward), count + 1, terminated or truncated
            success = None
            if over:
                ending = Ending(
                    start, total, count, float(reward), bool(terminated),
                    bool(truncated), info,
                )  # fmt: skip
                success = bool(self._training.succeeded(ending))
            yield Moment(partial(pictures.seen, env, seen), total, success)

    def close(self) -> None:
        """Closes the environment."""
        self._env.close()


def stand(env: AnyEnv, demo: Demonstration, step: int) -> None:
    """Puts `env` at a step, by one step of its own where that is possible: it then draws it."""
    if step and demo.actions is not None:
        demo.restore(env, step - 1)
        with demo.blamed(step - 1):
            env.step(trees.copy(demo.actions[step - 1]))
    elif step == 0 and demo.seed is not None and demo.actions is not None:
        env.reset(seed=demo.seed, options=demo.options)
    else:
        demo.restore(env, step)


def numbers(space: Any, observation: Any) -> Any:
    """The parts of an observation that are in `space`: no texts."""
    return {key: observation[key] for key in space} if hasattr(space, "spaces") else observation


def _fitted(demo: Demonstration, env: AnyEnv, settings: Settings) -> Demonstration:
    """The same for an environment that draws: as from a file, for states may hold another one."""
    return load(io.BytesIO(demo.to_bytes())).fit(env, settings)


class Film(NamedTuple):
    """One episode."""

    frames: list[Pixels]
    """The first picture, and one after each step."""
    fps: float
    total_reward: float
    success: bool | None
    """None where the episode was left before its end."""

    @property
    def steps(self) -> int:
        """How long it was."""
        return len(self.frames) - 1


def film_of(path: Path, *, seed: int, greedy: bool, trust: bool = False) -> Film:
    """An episode of the agent of a run, from its environment's reset with `seed`.

    Runs of other kinds begin where their demonstrations do: the one with the number `seed`, counted
    round.
    """
    without_screen()
    _, work = opened(path, trust=trust)
    try:
        scenes = scenes_of(work)
        try:
            return _filmed(scenes, _moments(scenes, seed, greedy))
        finally:
            scenes.close()
    finally:
        work.close()


def _moments(scenes: Scenes, seed: int, greedy: bool) -> Iterator[Moment]:
    if isinstance(scenes, EnvScenes):
        return scenes.play_from_reset(seed, greedy=greedy)
    return scenes.play(seed % len(scenes.lengths), 0, greedy=greedy, seed=seed)


def _filmed(scenes: Scenes, moments: Iterator[Moment]) -> Film:
    drawn: list[Drawn] = []
    for moment in moments:
        shown = moment.draw()
        drawn.append(shown if isinstance(shown, str) else _picture(shown))
        if len(drawn) > MOST_STEPS:
            break
    fps = scenes.fps if isinstance(scenes, EnvScenes) else 10.0
    written = iter(_written([one for one in drawn if isinstance(one, str)]))
    frames = [next(written) if isinstance(one, str) else one for one in drawn]
    return Film(frames, fps, moment.total, moment.success)


def _picture(drawn: Pixels) -> Pixels:
    """Of SMALLEST to WIDEST pixels."""
    times = max(1, -(-SMALLEST // max(drawn.shape[:2])))
    image = Image.fromarray(drawn.repeat(times, 0).repeat(times, 1))
    image.thumbnail((WIDEST, WIDEST))
    return np.asarray(image)


def _written(texts: list[str]) -> list[Pixels]:
    """Texts as pictures of one size, in which the longest has room and no more."""
    pages = [
        [part for line in text.splitlines() for part in wrap(line, COLUMNS) or [""]][:ROWS]
        for text in texts
    ]
    columns = max((len(line) for page in pages for line in page), default=0)
    rows = max(map(len, pages), default=0)
    size = (columns * LETTER[0] + 2 * EDGE, rows * LETTER[1] + 2 * EDGE)
    times = min(4, max(1, WIDEST // max(size)))
    font = ImageFont.load_default_imagefont()  # all letters as wide: grids stay grids
    made = []
    for page in pages:
        image = Image.new("RGB", size, "white")
        for row, line in enumerate(page):
            text = line.encode("latin-1", "replace").decode("latin-1")  # all that the font has
            ImageDraw.Draw(image).text((EDGE, EDGE + row * LETTER[1]), text, "black", font)
        made.append(np.asarray(image).repeat(times, 0).repeat(times, 1))
    return made
