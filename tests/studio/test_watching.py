"""Run directories as data for the page."""

from backplay.studio.trainings import success_map


def test_the_map_counts_wins_by_start_and_time_and_puts_the_true_start_last() -> None:
    lines = [
        {"frames": 100, "by_steps_back": [[0, 2, 1]]},
        {"frames": 900, "by_steps_back": [[-1, 4, 0], [0, 2, 2]]},
        {"frames": 1000, "by_steps_back": [[4, 3, 3], [0, 2, 1]]},
    ]
    made = success_map(lines, columns=2)
    assert made["rows"] == [0, 4, -1]
    assert made["frames"] == [500, 1000]
    assert made["cells"] == [[0.5, None, None], [0.75, 1.0, 0.0]]
    assert made["now"] == [[-1, 4, 0], [0, 4, 3], [4, 3, 3]]


def test_a_run_that_has_not_begun_has_an_empty_map() -> None:
    assert success_map([]) == {"frames": [], "rows": [], "cells": [], "now": []}
    assert success_map([{"frames": 8}])["cells"] == []
