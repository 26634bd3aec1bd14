"""`python -m backplay.cli.leashed DIR`: `backplay work DIR` on the leash of whoever started it.

For `backplay reproduce`, which holds the other end of the standard input: see `runs.processes`.
"""

from __future__ import annotations

import sys

from backplay.cli import main
from backplay.runs.processes import end_with_parent

if __name__ == "__main__":
    end_with_parent()
    sys.exit(main(["work", *sys.argv[1:]]))
