"""`backplay studio`: record, mend and watch in the browser."""

from __future__ import annotations

import socket
import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import tyro

from backplay import runs
from backplay.cli.options import EnvKwargs
from backplay.errors import BackplayError, ensure
from backplay.extras import require
from backplay.train.environments import parse_env_kwargs
from backplay.train.own_envs import on_my_word


@dataclass(frozen=True, kw_only=True)
class StudioConfig:
    """Opens a page to record demonstrations, to mend them, and to watch training.

        backplay studio
        backplay studio MountainCar-v0
        backplay studio MiniGrid-DoorKey-8x8-v0 --seed 3
        backplay studio lake.npz
        backplay studio runs/a runs/b

    Prints an address with a secret token and opens it; Ctrl-C ends. The page sees one folder, by
    default the one it is started in, and answers this machine alone.
    """

    what: Annotated[
        tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="ENV|DEMO|RUNS...")
    ] = ()
    """An environment to record, a demonstration to look at, or runs to watch."""
    folder: Path | None = None
    """Where demonstrations and runs are; by default the present folder."""
    env_kwargs: EnvKwargs = "{}"
    """Arguments of the environment as a JSON object."""
    seed: int = 0
    """Of the environment's reset."""
    host: str = "127.0.0.1"
    """The address to listen on; another than the loopback lets other machines in."""
    port: int = 0
    """The port; 0 takes a free one."""
    no_open: bool = False
    """Only print the address."""


def studio(config: StudioConfig) -> int:
    """Serves until Ctrl-C."""
    require("starlette", "uvicorn", "websockets", "PIL")
    import uvicorn

    from backplay.envs.films import without_screen
    from backplay.studio.desk import Desk
    from backplay.studio.server import application, new_token

    without_screen()
    folder, page = _meant(config)
    ensure(folder.is_dir(), f"{folder} is no folder", do="Choose another --folder.")
    listening = _listen(config.host, config.port)
    port = listening.getsockname()[1]
    token, desk = new_token(), Desk(folder)
    try:
        if page == "record":
            kwargs = parse_env_kwargs(config.env_kwargs)
            desk.record(
                {"env": on_my_word(config.what[0]), "env_kwargs": kwargs, "seed": config.seed}
            )
        hosts = _hosts(config.host, port)
        app = application(desk, token=token, hosts=hosts, cookie=f"backplay-{port}")
        shown = "127.0.0.1" if config.host in ("0.0.0.0", "::") else config.host
        address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/?token={token}#{page}"
        print(address, flush=True)
        if not _is_loopback(config.host):
            print("other machines can reach this; what is sent is not encrypted", file=sys.stderr)
        if not config.no_open:
            with suppress(webbrowser.Error):
                webbrowser.open(address)
        settings = uvicorn.Config(
            app, log_level="warning", ws="websockets-sansio", ws_max_size=2**20, lifespan="off",
            timeout_graceful_shutdown=2,
        )  # fmt: skip
        uvicorn.Server(settings).run(sockets=[listening])
    finally:
        desk.close()
        listening.close()
    return 0


def _meant(config: StudioConfig) -> tuple[Path, str]:
    """The folder, and the page to open: what the words on the command line mean."""
    here = config.folder or Path.cwd()
    if not config.what:
        return here, "home"
    paths = [Path(word) for word in config.what]
    if all(runs.is_run(path) for path in paths):
        folder = config.folder or _around(paths)
        return folder, "watch/" + quote("\n".join(_name(path, folder) for path in paths), safe="")
    if len(paths) == 1 and paths[0].is_file():
        folder = config.folder or _around(paths)
        return folder, "look/" + quote(_name(paths[0], folder), safe="")
    if len(paths) == 1 and paths[0].is_dir():
        return config.folder or paths[0], "home"
    if len(paths) == 1:
        return here, "record"
    raise BackplayError(
        "studio", expected="one environment, one demonstration, or run directories",
        got=" ".join(config.what),
    )  # fmt: skip


def _around(paths: list[Path]) -> Path:
    """The present folder if all paths lie in it, else the folder of the first."""
    here = Path.cwd()
    inside = all(path.resolve().is_relative_to(here) for path in paths)
    return here if inside else paths[0].resolve().parent


def _name(path: Path, folder: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError as error:
        raise BackplayError(
            f"{path} is not in {folder}", do="Choose another --folder, or leave it out."
        ) from error


def _listen(host: str, port: int) -> socket.socket:
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(kind, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()
    except (OSError, OverflowError) as error:
        raise BackplayError(
            f"{host}:{port} cannot be listened on", got=str(error), do="Choose another --port."
        ) from error
    return found


def _hosts(host: str, port: int) -> frozenset[str]:
    """How a browser may name this server."""
    names = {"127.0.0.1", "localhost", "[::1]"}
    if not _is_loopback(host):
        names |= {host, socket.gethostname(), socket.getfqdn()}
        with suppress(OSError):
            found = socket.getaddrinfo(socket.gethostname(), None)
            names |= {str(address[0]) for *_, address in found}
    return frozenset(f"{name}:{port}" for name in names)


def _is_loopback(host: str) -> bool:
    return host in ("127.0.0.1", "localhost", "::1")
