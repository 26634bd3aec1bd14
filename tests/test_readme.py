"""The README's program runs as printed."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def program() -> str:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 1
    return blocks[0]


def test_the_five_lines_run_as_printed():
    # The only change: a smaller budget, twice the same number, as the reader would change it.
    text, changed = re.subn(r"300_000", "6_000", program())
    assert changed == 2
    space: dict = {}
    exec(text, space)
    assert space["demo"].terminated
    assert space["env"].curriculum.frames >= 6_000


def test_every_link_of_the_readme_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
