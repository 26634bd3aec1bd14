"""Actions over time: what is counted, how seeds are put together, what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from backplay.paper.pommerman.actions import action_counts, action_shares, draw_actions

NAMES = ("pass", "up", "down", "left", "right", "bomb")


def test_only_lines_that_count_actions_are_read() -> None:
    lines: list[dict[str, Any]] = [
        {"frames": 5}, {"frames": 10, "actions": [1, 0, 0, 0, 0, 3]}, {"actions": [1]},
        {"frames": 20, "actions": [0, 0]}, {"frames": 30, "actions": [1, -1]},
        {"frames": 40, "actions": "no"}, {"frames": 50, "actions": [2, 2]},
        {"frames": 60, "actions": []},
    ]  # fmt: skip
    assert action_counts(lines) == [(10, [1, 0, 0, 0, 0, 3]), (50, [2, 2])]


def test_shares_are_of_all_seeds_together() -> None:
    frames, shares = action_shares([[(10, [1, 3]), (20, [4, 0])], [(10, [5, 1])]])
    assert frames == [10, 20]
    np.testing.assert_allclose(shares, [[0.6, 0.4], [1.0, 0.0]])


def test_a_panel_for_each_kind_with_the_shares_stacked() -> None:
    runs = [[(10, [1, 0, 0, 0, 0, 3]), (20, [2, 0, 0, 0, 0, 2])]]
    figure = draw_actions({"a": runs, "nothing": [[]], "b": runs, "c": runs, "d": runs}, NAMES)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == ["a", "b", "c", "d"]
    areas = shown[0].collections
    assert [area.get_label() for area in areas] == list(NAMES)
    bomb = areas[5].get_paths()[0].vertices
    at_ten = bomb[bomb[:, 0] == 10][:, 1]
    assert (at_ten.min(), at_ten.max()) == pytest.approx((0.25, 1.0))
    at_twenty = bomb[bomb[:, 0] == 20][:, 1]
    assert (at_twenty.min(), at_twenty.max()) == pytest.approx((0.5, 1.0))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(NAMES[::-1])


def test_a_single_evaluation_is_drawn_and_none_is_not() -> None:
    figure = draw_actions({"a": [[(10, [1, 1])]]}, ("x",))
    assert figure.axes[0].get_xlim() == (0, 10)
    assert [area.get_label() for area in figure.axes[0].collections] == ["x", "action 1"]
    assert draw_actions({"a": [[]]}, NAMES) is None
    assert draw_actions({}, NAMES) is None
