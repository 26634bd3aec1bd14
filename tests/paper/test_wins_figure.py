"""Wins while training: what is pooled, and where the red bar stands."""

from __future__ import annotations

from typing import Any

import pytest

from backplay.paper.pommerman.curves import RED, draw_wins, pooled
from backplay.rates import wilson
from backplay.report.records import RunRecord, grouped
from made_up_records import record


def trained(seed: int, rates: dict[int, float], **changes: Any) -> RunRecord:
    curve = [(frames, {"success": rate}) for frames, rate in rates.items()]
    made = {"setting": "winner", "frames": 1_000, "asked": {"maps": "4", "games": "8"}}
    return record(seed, kind="pommerman", curve=curve, **{**made, **changes})


def test_seeds_are_pooled_by_their_games() -> None:
    (group,) = grouped([trained(0, {10: 0.5, 20: 1.0}), trained(1, {10: 0.25})])
    first, second = pooled(group)
    assert first == (10, 0.375, *wilson(24, 64))
    assert second == (20, 1.0, *wilson(32, 32))


def test_with_many_maps_each_is_played_once() -> None:
    (group,) = grouped([trained(0, {10: 0.5}, asked={"maps": "100", "games": "8"})])
    assert pooled(group) == [(10, 0.5, *wilson(50, 100))]


@pytest.mark.parametrize(("maps", "at"), [("4", 600), ("100", 600)])
def test_the_red_bar_stands_where_the_last_window_opens(maps: str, at: float) -> None:
    asked = {"maps": maps, "games": "8"}
    runs = [
        trained(0, {500: 0.1, 1_000: 0.9}, asked=asked),
        trained(1, {}, asked=asked),
        trained(0, {500: 0.0, 1_000: 0.2}, asked=asked, regime="standard"),
        trained(0, {500: 0.0}, asked=asked, setting="other", regime="standard"),
    ]
    figure = draw_wins(grouped(runs))
    bars = {
        axes.get_title("left"): [
            line.get_xdata()[0] for line in axes.lines if line.get_color() == RED
        ]
        for axes in figure.axes
    }
    assert bars == {"winner": [at], "other": []}
    assert [text.get_text() for text in figure.axes[0].texts] == ["1 seed", "1 seed"]


def test_nothing_is_drawn_of_nothing() -> None:
    assert draw_wins(grouped([trained(0, {})])) is None
