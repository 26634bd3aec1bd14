"""`python -m backplay.cli`, the same as `backplay`."""

import sys

from backplay.cli import main

sys.exit(main())
