"""`backplay watch`: a film of what an agent has learned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backplay.cli.options import OnRun, require_new_file
from backplay.errors import ensure


@dataclass(frozen=True, kw_only=True)
class WatchConfig(OnRun):
    """Films one episode of a trained agent from the environment's own reset.

        backplay watch runs/doorkey
        backplay watch runs/doorkey --out doorkey.mp4 --seed 3 --sampled
        backplay watch runs/doors --env ./grid.py:KeyDoor

    Without --out the film is DIR/watch.gif. An environment without a picture of its own, render
    mode rgb_array, is filmed in words.
    """

    out: Path | None = None
    """A .gif or .mp4 to write."""
    seed: int = 10_000
    """Of the environment's reset; of the demonstration, where these are levels or maps."""
    sampled: bool = False
    """Draw the actions instead of taking the likeliest."""
    overwrite: bool = False
    """Replace the file if it exists."""


def watch(config: WatchConfig) -> None:
    """Writes the film, and says what it shows."""
    from backplay.envs.films import require_film, write_film
    from backplay.studio.scenes import film_of

    ensure(config.seed >= 0, "--seed", "a whole number from 0 on", got=str(config.seed))
    out = config.out or config.dir / "watch.gif"
    require_film(out)
    require_new_file(out, overwrite=config.overwrite or config.out is None)
    film = film_of(config.dir, seed=config.seed, greedy=not config.sampled, trust=config.trust)
    write_film(out, film.frames, film.fps)
    ended = {True: "success", False: "no success", None: "left before its end"}[film.success]
    print(f"{out}: {film.steps} steps, return {film.total_reward:g}, {ended}")
    if not film.success and not config.sampled:
        print("These were the likeliest actions; with --sampled they are drawn, as in training.")
