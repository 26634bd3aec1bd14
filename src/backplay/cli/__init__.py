"""The command line: parse, call, print.

Each command is a module here with a frozen dataclass of its options and a function of its name,
imported when it is asked for. Bad input becomes one line on standard error and exit code 2.
"""

from __future__ import annotations

import importlib
import inspect
import io
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from types import ModuleType

from backplay.errors import BackplayError, BusyError
from backplay.extras import missing

BUSY = 75  # as sysexits.h has it: try again later

COMMANDS = {
    "demo": "train Backplay, Uniform and Standard on a sparse task and show the difference",
    "record": "record a demonstration from actions, a policy file or a saved SB3 model",
    "play": "record a demonstration by playing in the terminal, with undo",
    "studio": "record, mend and watch in the browser",
    "check": "restore every state of a demonstration and compare it to the bit",
    "train": "train an agent from demonstrations",
    "evaluate": "measure a trained agent from the true start",
    "watch": "film a trained agent from the true start: GIF or MP4",
    "advise": "say beforehand whether Backplay will help, and what to begin with",
    "report": "turn run directories into tables, figures and one page",
    "compare": "put two folders of runs side by side: differences with intervals",
    "experiments": "list the paper's experiments and ours, with what they cost",
    "reproduce": "run an experiment, or what is missing of it, and report",
    "work": "carry out one prepared run directory, on any machine that sees it",
    "theory": "compute the paper's analysis: figures, a table, one page",
    "maze": "the paper's first experiment: mazes, training, measurements, the table",
    "pommerman": "the paper's game: tournaments, films, traces, demonstrations",
}

EXAMPLES = """\
the first five minutes:
  backplay demo

your own environment:
  backplay play MiniGrid-DoorKey-8x8-v0 --out demo.npz
  backplay check MiniGrid-DoorKey-8x8-v0 demo.npz
  backplay train MiniGrid-DoorKey-8x8-v0 demo.npz --frames 500000 --dir runs/doorkey
  backplay evaluate runs/doorkey
  backplay watch runs/doorkey
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; its exit code.

    0 done, 1 a negative answer, 2 bad input, 75 in use or no room now, 128 + n stopped by signal n.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):  # a path may be no text in any encoding
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with _warnings_in_one_line():
            return _run(arguments)
    except BusyError as error:
        _refuse(str(error))
        return BUSY
    except BackplayError as error:
        return _refuse(str(error))
    except ModuleNotFoundError as error:
        said = missing(error)
        if said is None:
            raise
        return _refuse(str(said))
    except BrokenPipeError:  # the reader of a pipe has left; nothing more can be said
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{where}{error.strerror or error}")
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Our own warnings without the place in our code that gave them; all others as they are."""
    usual = warnings.formatwarning

    def said(
        message: Warning | str, category: type[Warning], filename: str, lineno: int,
        line: str | None = None,
    ) -> str:  # fmt: skip
        if category.__module__.startswith("backplay."):
            return f"backplay: warning: {message}\n"
        return usual(message, category, filename, lineno, line)

    warnings.formatwarning = said
    try:
        yield
    finally:
        warnings.formatwarning = usual


def _run(arguments: list[str]) -> int:
    if _asks_help(arguments):
        what = "learn hard, sparse-reward tasks from a single demonstration"
        return _explain("backplay", what, COMMANDS, EXAMPLES, arguments)
    if arguments[0] == "--version":
        from backplay import __version__

        print(f"backplay {__version__}")
        return 0
    name, *options = arguments
    _known(name, COMMANDS, "backplay")
    command = importlib.import_module(f"backplay.cli.{name}")
    if not hasattr(command, "PARTS"):
        return _call(command, name, options, f"backplay {name}")
    program = f"backplay {name}"
    if _asks_help(options):
        examples = getattr(command, "EXAMPLES", "")
        return _explain(program, COMMANDS[name], command.PARTS, examples, options)
    part = _known(options[0], command.PARTS, program)
    return _call(command, part, options[1:], f"{program} {part}")


def _asks_help(words: Sequence[str]) -> bool:
    return not words or words[0] in ("-h", "--help", "help")


def _explain(
    program: str, what: str, commands: Mapping[str, str], examples: str, words: Sequence[str]
) -> int:
    """Prints what there is; 0 if that was asked for, 2 if there were no words at all."""
    width = max(map(len, commands)) + 2
    print(f"{program}: {what}.\n\nusage: {program} COMMAND [OPTIONS]\n\ncommands:")
    print(*(f"  {name:<{width}}{about}" for name, about in commands.items()), sep="\n")
    print(f"\n{examples}" * bool(examples))
    print(f"`{program} COMMAND --help` explains each command with examples.")
    return 0 if words else 2


def _known(name: str, commands: Iterable[str], program: str) -> str:
    """`name`, refused unless it is one of the commands of `program`."""
    if name in commands:
        return name
    close = get_close_matches(name, commands, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"See {program} --help."
    raise BackplayError(
        "command", expected=f"one of {', '.join(commands)}", got=repr(name), do=hint
    )


def _call(command: ModuleType, name: str, options: list[str], program: str) -> int:
    """Parses the options of the command `name` and calls its function; the exit code."""
    import tyro

    config_class = getattr(command, f"{name.title()}Config")
    try:
        config = tyro.cli(
            config_class,
            prog=program,
            description=_laid_out(config_class.__doc__ or ""),
            args=options,
            config=(tyro.conf.DisallowNone, tyro.conf.FlagCreatePairsOff),
        )
    except SystemExit as error:  # --help, or options that do not parse
        return error.code if isinstance(error.code, int) else 2
    return getattr(command, name)(config) or 0


def _laid_out(docstring: str) -> str:
    """A docstring for tyro's help: paragraphs fitted to the terminal, examples as they are."""
    width = min(100, shutil.get_terminal_size().columns) - 1
    blocks = [
        block if block.startswith(" ") else textwrap.fill(" ".join(block.split()), width)
        for block in inspect.cleandoc(docstring).split("\n\n")
    ]
    # tyro joins lines that begin with a letter and doubles empty ones, hence the invisible marks.
    return textwrap.indent("\n\u200b\n".join(blocks), " ")


def _refuse(message: str) -> int:
    print(f"backplay: {' '.join(message.split())}", file=sys.stderr)
    return 2
