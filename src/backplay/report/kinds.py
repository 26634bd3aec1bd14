"""The figures that a report of runs draws by itself, by name; light enough for whoever names them.

Comes in: nothing. Goes out: names. Does not know: how they are drawn.
"""

from __future__ import annotations

FIGURES = ("curves", "starts", "bars")
"""Learning curves; success by start over time; bars of what runs came to."""
