"""`backplay pommerman`: tournaments, games to watch, traces to verify, demonstrations."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from backplay.cli.options import require_at_least, require_new_file
from backplay.errors import ensure
from backplay.ui.display import counting

if TYPE_CHECKING:
    from backplay.envs.pommerman.matches import Standings
    from backplay.envs.pommerman.players import Player

PARTS = {
    "tournament": "play games and say who wins how often",
    "watch": "show a game in the terminal, or write a film of it",
    "verify": "play recorded games of the public game again and compare every field",
    "demos": "make a set of demonstrations in one file",
    "agent": "write what a run has learned as a player in a small file",
}

JOBS = os.cpu_count() or 1
PATIENCE = 3.0  # seconds
Row = Any  # a game's state row; numpy and numba are imported when a command begins its work


@dataclass(frozen=True, kw_only=True)
class TournamentConfig:
    """Plays games and says who wins how often, by agent and by seat; seats rotate from game to
    game.

        backplay pommerman tournament --agents fsmts,simple,simple,simple --games 400
        backplay pommerman tournament --agents backplay,fsmts
        backplay pommerman tournament --agents run:runs/pommerman-4/RUN,fsmts:250,fsmts,simple

    Agents are fsmts, fsmts:SIMULATIONS, simple and random; backplay, the trained one that comes
    with the library; run:DIR, what a run has learned, and FILE.npz, the same in a file. Ctrl-C
    stops and says what is known so far.
    """

    agents: str = "fsmts,simple,simple,simple"
    """Four names; of fewer, the last one sits in the other seats too."""
    games: int = 400
    """How many."""
    seed: int = 0
    """Of all games; the results do not depend on --jobs."""
    shield: bool = False
    """Nobody is burned by the explosion of an own bomb."""
    simulations: int = 50
    """Of each search of fsmts."""
    jobs: int = JOBS
    """Threads."""


@dataclass(frozen=True, kw_only=True)
class WatchConfig:
    """Shows a game in the terminal, or writes it to a film.

        backplay pommerman watch --agents fsmts --seed 3
        backplay pommerman watch --agents backplay,fsmts --out game.gif

    Where the output is no terminal, only the end of the game is printed.
    """

    agents: str = "fsmts,simple,simple,simple"
    """Four names for the seats 0 to 3; of fewer, the last one sits in the other seats too."""
    seed: int = 0
    """Of the game."""
    simulations: int = 50
    """Of each search of fsmts."""
    fps: float = 8.0
    """Steps a second."""
    out: Path | None = None
    """A .gif or .mp4 to write instead."""
    overwrite: bool = False
    """Replace the file if it exists."""


@dataclass(frozen=True, kw_only=True)
class VerifyConfig:
    """Plays recorded games of the public game again and compares every field of every step.

        backplay pommerman verify games.jsonl.gz stress.jsonl.gz

    The exit code is 0 if all agree, 1 at the first difference, 2 if a file cannot be read.
    """

    files: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE...")]
    """Traces, one game a line."""


@dataclass(frozen=True, kw_only=True)
class DemosConfig:
    """Makes a set of demonstrations: games of four agents with one survivor, 240 steps or longer.

        backplay pommerman demos --maps 4 --out four.npz
        backplay pommerman demos --maps 100 --held-out 10 --out hundred.npz

    A set of 4 has one map for each seat. Everything is in one file, the state of every step too.
    Ctrl-C stops; then nothing is written.
    """

    out: Path
    """Where to write them."""
    maps: int = 4
    """Games to train on."""
    held_out: int = 10
    """Games to measure on."""
    perspective: Literal["winner", "runner-up"] = "winner"
    """Whose game the learner is to follow."""
    agents: str = "fsmts"
    """Who plays, in all four seats."""
    simulations: int = 50
    """Of each search of fsmts."""
    seed: int = 0
    """Of all games; the set does not depend on --jobs."""
    jobs: int = JOBS
    """Threads."""
    overwrite: bool = False
    """Replace the file if it exists."""


@dataclass(frozen=True, kw_only=True)
class AgentConfig:
    """Writes what a run has learned as a player: half precision, arrays and JSON, a digest.

        backplay pommerman agent --run runs/pommerman-4/RUN --out agent.npz
        backplay pommerman watch --agents agent.npz,fsmts

    It holds what was met in training; other things on the board say nothing to it.
    """

    run: Path
    """The run's directory."""
    out: Path
    """Where to write it."""
    least: float = 0.0
    """Leaves out what is known of facts whose rows are shorter; at first rows have length 0.25."""
    overwrite: bool = False
    """Replace the file if it exists."""


def tournament(config: TournamentConfig) -> int:
    """Plays, and prints the standings."""
    from backplay.envs.pommerman import matches

    require_at_least(config, games=1, jobs=1)
    four = _four(config)
    standings: Standings | None = None
    code = 0
    try:
        _compile()
        rounds = matches.tournament(
            four, config.games, seed=config.seed, jobs=config.jobs, shield=config.shield,
        )  # fmt: skip
        with counting(config.games, "games") as count:
            for standings in rounds:
                leading = max(standings.names, key=lambda name: standings.score(name).wins)
                count(standings.games, f"{leading} {standings.score(leading)}")
    except KeyboardInterrupt:
        print(f"stopped after {standings.games if standings else 0} of {config.games} games")
        code = 130
    if standings is not None:
        _print_standings(standings)
    return code


def _print_standings(standings: Standings) -> None:
    """Results by agent, then by seat."""
    width = max(12, *(len(_label(standings, name)) for name in standings.names))
    print(f"{'agent':<{width}}  games won, 95 % interval")
    for name in standings.names:
        print(f"{_label(standings, name):<{width}}  {standings.score(name)}")
    ties = standings.timeouts + standings.deaths
    causes = f"{standings.timeouts} time was up, {standings.deaths} died together"
    print(f"{'ties':<{width}}  {ties} of {standings.games} ({causes})")
    print(f"{'mean length':<{width}}  {standings.mean_length:.0f} steps")
    for seat in range(4):
        print(f"\nseat {seat}")
        for name in standings.names:
            print(f"{name:<{width}}  {standings.seat_score(name, seat)}")


def _label(standings: Standings, name: str) -> str:
    times = standings.agents.count(name)
    return f"{name} (any of {times})" if times > 1 else name


def watch(config: WatchConfig) -> int:
    """Shows one game, or writes its film."""
    from backplay.envs.films import require_film, write_film
    from backplay.envs.pommerman.draw import picture, text
    from backplay.envs.pommerman.matches import follow

    ensure(0 < config.fps <= 1000, "--fps", "a number above 0", got=config.fps)
    if config.out is not None:
        require_film(config.out)
        require_new_file(config.out, overwrite=config.overwrite)
    four = _four(config)
    _compile()
    game = follow(four, config.seed)
    if config.out is None and sys.stdout.isatty():
        last = _animate(game, [player.name for player in four], config.fps)
    else:
        rows = list(game)
        last = rows[-1]
        if config.out is not None:
            write_film(config.out, [picture(row) for row in rows], config.fps)
            print(f"{config.out}: {len(rows)} pictures")
        else:
            print(text(last, colour=False), end="")
    print(_verdict(last, [player.name for player in four]))
    return 0


def _animate(game: Iterator[Row], names: list[str], fps: float) -> Row:
    """Shows the game as it is played; its last row."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from backplay.envs.pommerman.draw import text

    seats = "  ".join(f"{seat} {name}" for seat, name in enumerate(names))
    due = time.monotonic()
    with Live(console=Console(highlight=False), auto_refresh=False) as live:
        for row in game:
            live.update(Text.from_ansi(f"{text(row)}{seats}"), refresh=True)
            due += 1 / fps
            time.sleep(max(0.0, due - time.monotonic()))
    return row


def _verdict(row: Row, names: list[str]) -> str:
    from backplay.envs.pommerman.layout import STEP
    from backplay.envs.pommerman.learner import survivors

    living = survivors(row)
    steps = f"after {row[STEP]} steps"
    if len(living) == 1:
        return f"seat {living[0]}, {names[living[0]]}, wins {steps}"
    return f"a tie {steps}: " + ("time is up" if living else "the last died together")


def verify(config: VerifyConfig) -> int:
    """Plays traces again; 0 if they agree, 1 at the first difference."""
    from backplay.envs.pommerman import traces

    ensure(config.files, "verify", "at least one file of traces", got="none")
    with _patience() as has_begun, counting(None, "games") as count:

        def progress(games: int, steps: int) -> None:
            has_begun()
            count(games, f"{steps:,} steps")

        report = traces.verify(config.files, progress)
    if report.first is None:
        print(f"verified {report.games:,} games, {report.steps:,} steps")
        return 0
    first = report.first
    print(f"{report.differing:,} of {report.games:,} games differ; the first difference:")
    print(f"{first.path}, game {first.line}, step {first.step} (ours, the trace's)")
    for field in first.fields:
        print(f"  {field}")
    return 1


def demos(config: DemosConfig) -> int:
    """Makes a set of games and writes its file."""
    from backplay.envs.pommerman.demonstrations import make_games
    from backplay.envs.pommerman.players import player

    require_new_file(config.out, overwrite=config.overwrite)
    require_at_least(config, jobs=1, maps=1, held_out=0)
    wanted = config.maps + config.held_out
    player(config.agents, config.simulations)  # a bad name is refused at once
    try:
        _compile()
        with counting(wanted, "games") as count:
            library = make_games(
                config.maps, held_out=config.held_out, perspective=config.perspective,
                agent=config.agents, simulations=config.simulations, seed=config.seed,
                jobs=config.jobs,
                progress=lambda kept, _, played: count(kept, f"kept of {played} played"),
            )  # fmt: skip
    except KeyboardInterrupt:
        print("stopped; nothing was written")
        return 130
    library.save(config.out)
    print(f"{config.out}: {library}")
    return 0


def agent(config: AgentConfig) -> int:
    """Writes what a run has learned."""
    from backplay.paper.pommerman.agent import learned_by

    require_new_file(config.out, overwrite=config.overwrite)
    learned_by(config.run).trimmed(config.least).save(config.out)
    print(f"{config.out}: {config.out.stat().st_size / 1e6:.1f} MB")
    return 0


def _four(config: TournamentConfig | WatchConfig) -> list[Player]:
    """Who sits in the four seats; bad names are refused."""
    from backplay.envs.pommerman.players import players
    from backplay.paper.pommerman.agent import named

    names = config.agents.split(",")
    names += names[-1:] * (4 - len(names))
    return players([named(name) for name in names], 4, config.simulations)


def _compile() -> None:
    """Makes the kernels that games need, if that was never done here."""
    from backplay.envs.pommerman.matches import play_match
    from backplay.envs.pommerman.players import players

    with _patience():
        play_match(players("random", 4), seed=0, number=0)


@contextmanager
def _patience() -> Iterator[Callable[[], None]]:
    """Says why, if it takes long until the function is called or the end is reached."""
    words = "the game's kernels are being compiled, which is done once and can take a minute"
    timer = Timer(PATIENCE, lambda: print(words, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield timer.cancel
    finally:
        timer.cancel()
