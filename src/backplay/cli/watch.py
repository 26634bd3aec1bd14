"""`backplay watch`: a film of what an agent has learned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from backplay.cli.options import require_new_file
from backplay.errors import ensure
from backplay.train.own_envs import on_my_word


@dataclass(frozen=True, kw_only=True)
class WatchConfig:
    """Films one episode of a trained agent from the environment's own reset.

        backplay watch runs/doorkey
        backplay watch runs/doorkey --out doorkey.mp4 --seed 3 --sampled
        backplay watch runs/doors --env ./grid.py:KeyDoor

    Without --out the film is DIR/watch.gif. An environment without a picture of its own, render
    mode rgb_array, is filmed in words.
    """

    dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """The run's directory."""
    out: Path | None = None
    """A .gif or .mp4 to write."""
    env: str | None = None
    """The run's environment, said again, if it is code of yours: file.py:Class or module:Class."""
    trust: bool = False
    """Let the file name paths and code to the environment; see docs/trust.md."""
    seed: int = 10_000
    """Of the environment's reset; of the demonstration, where these are levels or maps."""
    sampled: bool = False
    """Draw the actions instead of taking the likeliest."""
    overwrite: bool = False
    """Replace the file if it exists."""


def watch(config: WatchConfig) -> None:
    """Writes the film, and says what it shows."""
    from backplay.envs.films import require_film, write_film
    from backplay.studio.films import film_of

    ensure(config.seed >= 0, "--seed", "a whole number from 0 on", got=str(config.seed))
    out = config.out or config.dir / "watch.gif"
    require_film(out)
    require_new_file(out, overwrite=config.overwrite or config.out is None)
    if config.env is not None:
        on_my_word(config.env)
    film = film_of(config.dir, seed=config.seed, greedy=not config.sampled, trust=config.trust)
    write_film(out, film.frames, film.fps)
    ended = {True: "success", False: "no success", None: "left before its end"}[film.success]
    print(f"{out}: {film.steps} steps, return {film.total_reward:g}, {ended}")
