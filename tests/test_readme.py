"""The README's program runs as printed; commands that are named exist, and links lead somewhere."""

import re
from pathlib import Path

import pytest

from backplay.cli import COMMANDS
from backplay.paper import catalogue

README = Path(__file__).parent.parent / "README.md"


def programs() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_the_five_lines_run_as_printed():
    # The only change: a smaller budget, as the reader would change it.
    text, changed = re.subn(r"300_000", "6_000", programs()[0])
    assert changed == 1
    space: dict = {}
    exec(text, space)
    assert space["demo"].terminated
    assert space["env"].curriculum.frames >= 6_000


def test_the_games_begin_as_printed():
    space: dict = {}
    exec(programs()[1], space)
    observations, _ = space["envs"].reset(seed=0)
    assert observations.shape == (60, 38, 11, 11)
    assert len(programs()) == 2


ROOT = README.parent
PAGES = [
    *(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"),
    *(path for folder in ("docs", "results") for path in (ROOT / folder).rglob("*.md")),
]  # fmt: skip
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_every_link_leads_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@each_page
def test_every_command_exists(page: Path):
    text = page.read_text()
    for name in re.findall(r"backplay reproduce ([a-z][\w-]*)", text):
        assert name in catalogue.names(), name
    for name in re.findall(r"`backplay ([a-z]+)", text):
        assert name in COMMANDS, name
    for script in re.findall(r"python ((?:benchmarks|tests|examples)/[\w./]+\.py)", text):
        assert (ROOT / script).exists(), script


def test_all_evidence_is_listed_with_its_command():
    for folder in (ROOT / "results", ROOT / "results" / "0.1.0"):
        listed = (folder / "README.md").read_text()
        for file in folder.iterdir():
            assert file.name in listed or file.name == "README.md", file
