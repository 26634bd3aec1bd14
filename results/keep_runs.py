"""Copies finished runs to where evidence is kept, small enough to be committed.

    python results/keep_runs.py /tmp/runs/pommerman-4 results/runs/pommerman-4

What is copied of each run that has a result: config, provenance, result, clock, processes, and its
metrics: the lines with an evaluation as they are, with the starts of all lines before them counted
in. Of the commands that made it, paths of the machine are left out. Checkpoints are left behind.
`backplay reproduce NAME --dir results/runs` takes such runs for finished, and makes the page.
"""

import json
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from backplay.runs import documents, open_run

AS_THEY_ARE = ("config.json", "result.json", "clock.jsonl")
COUNTED = "by_steps_back"


def thinned(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines with an evaluation, each with the starts since the one before."""
    tries, wins = Counter[int](), Counter[int]()
    for line in lines:
        for back, tried, won in line.get(COUNTED, []):
            tries[back] += tried
            wins[back] += won
        if line.get("evaluation"):
            counts = [[back, tries[back], wins[back]] for back in sorted(tries)]
            yield {**line, COUNTED: counts} if COUNTED in line else line
            tries.clear()
            wins.clear()


def keep(run: Path, target: Path) -> None:
    """One run, replaced where it was kept before."""
    target.mkdir(parents=True, exist_ok=True)
    for name in AS_THEY_ARE:
        if (run / name).exists():
            shutil.copyfile(run / name, target / name)
    provenance = open_run(run).provenance
    told = {**provenance, "command": without_paths(provenance["command"])}
    documents.write(target / "provenance.json", told, documents.digest(open_run(run).config))
    processes = [json.loads(line) for line in (run / "processes.jsonl").read_text().splitlines()]
    for line in processes:
        line["command"] = without_paths(line["command"])
    write_lines(target / "processes.jsonl", processes)
    if (run / "demonstrations").exists():
        shutil.copytree(run / "demonstrations", target / "demonstrations", dirs_exist_ok=True)
    lines = run / "metrics.jsonl"  # who only clones has none
    read = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    write_lines(target / "metrics.jsonl", thinned(read))


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """One line of JSON each."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def without_paths(command: str) -> str:
    """A command without its --dir, and with the last part alone of every other path."""
    words = shlex.split(command)
    if "--dir" in words:
        at = words.index("--dir")
        del words[at : at + 2]
    return shlex.join(Path(word).name if word.startswith("/") else word for word in words)


def main() -> None:
    """Every finished run below the first folder, into the second."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    for result in sorted(source.rglob("result.json")):
        if (result.parent / "config.json").exists():  # a report's folder has none
            keep(result.parent, target / result.parent.relative_to(source))
            print(result.parent.relative_to(source))


if __name__ == "__main__":
    main()
