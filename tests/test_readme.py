"""The README's program runs as printed."""

import re
from pathlib import Path

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


def test_every_link_of_the_readme_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
