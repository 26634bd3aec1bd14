"""Demonstrations: what they hold, how they are recorded, checked and judged."""

from backplay.demos.demonstration import Demonstration as Demonstration
from backplay.demos.files import load as load
