"""`backplay play`: a demonstration by a person at the keyboard."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from backplay.cli.options import NewDemo, require_new_file, without_warnings
from backplay.cli.record import save_and_report
from backplay.demos.take import Take
from backplay.errors import BackplayError
from backplay.restore.rollout import AnyEnv
from backplay.train.environments import make_env, parse_env_kwargs
from backplay.train.own_envs import on_my_word
from backplay.ui import keys
from backplay.ui.screen import captions, choose_render_mode, draw

_COMMANDS = "u ⌫ undo   U undo ten   r restart   s save and leave   q leave"


@dataclass(frozen=True, kw_only=True)
class PlayConfig(NewDemo):
    """Records a demonstration while you play in the terminal, with undo.

        backplay play FrozenLake-v1 --out lake.npz --env-kwargs '{"is_slippery": false}'
        backplay play MiniGrid-DoorKey-8x8-v0 --out key.npz --seed 3
        backplay play ALE/Freeway-v5 --out road.npz --env-kwargs '{"frameskip": 4}'

    The screen says which key is which action. Undo puts the environment back into the state before,
    as often as you like, and what you took back is not in the demonstration. The environment waits
    for you: nothing moves until you press a key. Keys can also come from a pipe:

        echo 221112s | backplay play FrozenLake-v1 --out lake.npz \\
            --env-kwargs '{"is_slippery": false}'
    """


def play(config: PlayConfig) -> int:
    """Plays until the person saves or leaves."""
    require_new_file(config.out, overwrite=config.overwrite)
    kwargs = parse_env_kwargs(config.env_kwargs)
    plain = make_env(on_my_word(config.env), kwargs)
    names = keys.action_names(plain)
    mode = choose_render_mode(plain)
    env = make_env(config.env, {**kwargs, "render_mode": mode} if mode else kwargs)
    first = int(plain.action_space.start)  # type: ignore[attr-defined]  # action_names checked it
    actions = {key: first + i for key, i in keys.assign_keys(names).items()}
    take: Take | None = None
    try:
        with _open_screen(f"{config.env}, seed {config.seed}", names) as screen:
            take = Take(env, config.seed)
            with keys.keyboard() as pressed:
                wants_save = _follow(
                    take, pressed, actions, lambda say: screen.show(take, env, say)
                )
        if wants_save:
            with without_warnings():  # the report says the same
                demo = take.demonstration(plain, success=config.success)
            save_and_report(plain, demo, config)
        else:
            print("left without saving")
    except KeyboardInterrupt:
        print(f"\nstopped. {_again(config, take)}", file=sys.stderr)
        return 130
    except (BackplayError, OSError) as error:
        raise BackplayError(error, do=_again(config, take) or None) from error
    finally:
        env.close()
        plain.close()
    return 0


def _again(config: PlayConfig, take: Take | None) -> str:
    """The command that records what was played, so that nothing is lost."""
    if take is None or not take.actions:
        return ""
    words = ["backplay", "record", config.env, "--seed", str(config.seed), "--out", str(config.out)]
    words += ["--actions", ",".join(map(str, take.actions))]
    if config.env_kwargs != "{}":
        words += ["--env-kwargs", config.env_kwargs]
    return f"To record what was played: {shlex.join(words)}"


class Screen(Protocol):
    """Where the episode is shown."""

    def show(self, take: Take, env: AnyEnv, message: str) -> None:
        """The present moment."""


def _follow(
    take: Take, pressed: Iterator[str], actions: dict[str, int], show: Callable[[str], None]
) -> bool:
    """Does what the keys say until they say to leave; whether to save."""
    show("")
    leaving = False
    for key in pressed:
        message = ""
        if key == keys.LEAVE:
            if leaving or not take.actions:
                return False
            message = "press q again to leave without saving, s to save"
        elif key == keys.SAVE:
            if take.actions:
                return True
            message = "there is nothing to save yet"
        elif key in (keys.UNDO, "backspace", keys.UNDO_TEN):
            taken = take.undo(10 if key == keys.UNDO_TEN else 1)
            message = f"took back {taken}" if taken else "this is the beginning"
        elif key == keys.RESTART:
            take.restart()
            message = "from the beginning"
        elif key not in actions:
            message = f"{key!r} is no key here"
        elif take.ended:
            message = "the episode is over: s saves it, u takes steps back"
        else:
            take.step(actions[key])
        leaving = key == keys.LEAVE
        show(message)
    return False


@contextmanager
def _open_screen(title: str, names: list[str]) -> Iterator[Screen]:
    legend = keys.legend(names, keys.assign_keys(names))
    if sys.stdin.isatty() and sys.stdout.isatty():
        with Live(console=Console(highlight=False), screen=True, auto_refresh=False) as live:
            yield FullScreen(live, title, legend)
    else:
        print(f"{title}: {legend}   {_COMMANDS}")
        yield Lines()


def _status(take: Take) -> str:
    status = f"step {take.at}, return {take.total_reward:g}, reward {take.reward:g}"
    if take.ended:
        status += ", the end: " + ("terminated" if take.terminated else "truncated")
    return status


class Lines:
    """A line after every key, and the env's own text if it has one."""

    def show(self, take: Take, env: AnyEnv, message: str) -> None:
        if env.render_mode == "ansi":
            print(str(env.render()).strip("\n"))
        print(_status(take) + (f"; {message}" if message else ""), flush=True)


class FullScreen:
    """The whole terminal: status, picture, keys."""

    def __init__(self, live: Live, title: str, legend: str) -> None:
        self._live, self._title, self._legend = live, title, legend

    def show(self, take: Take, env: AnyEnv, message: str) -> None:
        columns, rows = shutil.get_terminal_size()
        words = captions(take.observation)
        around = 6 + len(words) + len(self._legend) // columns
        self._live.update(
            Group(
                Text(self._title, style="bold"),
                Text(_status(take), style="green" if take.ended else ""),
                draw(env, take.observation, columns, max(4, rows - around)),
                *(Text(caption, style="italic") for caption in words),
                Text(self._legend, style="cyan"),
                Text(_COMMANDS, style="dim"),
                Text(message, style="yellow"),
            ),
            refresh=True,
        )
