"""Benchmarks: what is compared has to run."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

RACE = Path(__file__).parents[1] / "benchmarks" / "ppo.py"


def test_both_learners_of_the_race_train() -> None:
    race = runpy.run_path(str(RACE))
    case = race["cases"]()[0]
    short = replace(case, config=replace(case.config, num_steps=16, passes=1), updates=1)
    for trainer in (race["ours"], race["theirs"]):
        trainer(short)()
