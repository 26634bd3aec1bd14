"""Reports: run directories become records, statistics, verdicts, figures and one page."""

from backplay.extras import require

require("matplotlib", "scipy")
