"""Reports: results, which are plain data, become a page and a picture. Trains nothing."""

# ruff: noqa: E402  # the clear error comes first

from backplay.extras import require

require("matplotlib", "scipy")

from backplay.report.page import write_page
from backplay.report.picture import draw_picture
from backplay.report.results import Comparison, Run, StartCounts, Summary, summarise

__all__ = [
    "Comparison",
    "Run",
    "StartCounts",
    "Summary",
    "draw_picture",
    "summarise",
    "write_page",
]
