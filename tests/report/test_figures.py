"""Curves, counts and figures of hand-made records, and how records are grouped."""

import numpy as np
import pytest

from backplay.report.curves import bin_width, last_frame, mean_curve, start_counts
from backplay.report.figures import COLOURS, as_svg, draw_bars, draw_curves, draw_starts
from backplay.report.records import grouped, is_share, measures_of, twice
from made_up_records import record, records


def test_runs_are_one_group_if_only_their_seeds_differ() -> None:
    runs = [
        record(2), record(setting="5-Optimal"), record(regime="uniform"), record(1),
        record(frames=2_000), record(kind="grid"),
    ]  # fmt: skip
    groups = grouped(runs)
    assert [[run.seed for run in group.runs] for group in groups] == [[1, 2], [0], [0], [0], [0]]
    names = [
        (group.first.kind, group.setting, group.regime, group.first.frames) for group in groups
    ]
    assert names == [
        ("maze", "Optimal", "backplay", 1_000), ("maze", "Optimal", "uniform", 1_000),
        ("maze", "Optimal", "backplay", 2_000), ("maze", "5-Optimal", "backplay", 1_000),
        ("grid", "Optimal", "backplay", 1_000),
    ]  # fmt: skip
    assert twice(groups) == []
    again = record(1, path="elsewhere/1")
    assert twice(grouped([*runs, again])) == [(runs[3], again)]


def test_runs_set_up_differently_are_groups_of_their_own_that_say_so() -> None:
    name = "settings.ppo.learning_rate"
    asked = {name: "0.1", "env_kwargs": "null"}
    runs = [
        *records(0.1, 0.2, asked=asked), record(0, 0.9, asked=asked | {name: "0.001"}),
        record(0, 0.5, regime="uniform", asked=asked | {"env_kwargs": '{"size": 1}'}),
    ]  # fmt: skip
    groups = grouped(runs)
    assert [group.setting for group in groups] == [
        f"Optimal, {name} 0.1", f"Optimal, {name} 0.001", "Optimal",
    ]  # fmt: skip
    assert [group.values("success") for group in groups] == [[0.1, 0.2], [0.9], [0.5]]
    assert twice(groups) == []
    assert [group.first.setting for group in groups] == ["Optimal"] * 3  # as claims know it
    # What only one of them has, long texts, and many differences.
    (plain, long) = grouped([record(), record(asked={"windows": f'"{"x" * 99}"'})])
    assert plain.setting == "Optimal, windows none"
    assert len(long.setting) == len("Optimal, windows ") + 8
    many, _ = grouped([record(asked={f"n{i}": str(i) for i in range(9)}), record()])
    assert many.setting == "Optimal, n0 0, n1 1, n2 2, 6 more"


def test_only_runs_that_have_ended_have_values() -> None:
    (group,) = grouped([record(0, 0.5), record(1, None), record(2, measures={"success": None})])
    assert [run.seed for run in group.ended] == [0, 2]
    assert group.values("success") == [0.5]
    assert measures_of(group.runs) == ["success"]
    assert record(1, None).reached == 1_000


def test_shares_are_known_by_name_and_value() -> None:
    assert is_share("sampled_success", [0.0, 1.0])
    assert is_share("within_5", [0.3])
    assert is_share("beside_greedy", [0.3])
    assert is_share("ties", [0.3])
    assert not is_share("extra_mean", [0.3])
    assert not is_share("success", [1.2])


def test_a_mean_curve_goes_on_with_the_seeds_that_have_come_that_far() -> None:
    longer = [(at, {"success": at / 2_000}) for at in (200, 400, 800, 1_000)]
    short = [(400, {"success": 0.4}), (800, {"success": 0.8})]
    (group,) = grouped([record(0, curve=longer), record(1, curve=short), record(2, curve=[])])
    frames, means, seeds = mean_curve(group, "success")
    assert frames == [200, 400, 800, 1_000]
    assert [one.value for one in means] == pytest.approx([0.1, 0.3, 0.6, 0.5])
    assert seeds == 2  # the third has nothing to draw
    # One seed alone has no interval, and a share has no more room than from 0 to 1.
    assert [one.low for one in means] == [None, 0.0, 0.0, None]
    assert [one.high for one in means] == [None, 1.0, 1.0, None]
    assert mean_curve(group, "nothing") == ([], [], 0)
    (free,) = grouped([record(i, curve=[(5, {"extra": 0.5 + i})]) for i in (0, 1)])
    assert mean_curve(free, "extra").means[0].high == pytest.approx(1 + 12.706 * 0.5, rel=1e-4)


def test_a_line_says_how_many_seeds_are_in_it() -> None:
    begun = record(1, None, curve=[(250, {"success": 0.1})])
    waiting = record(2, None, curve=[])
    late = record(0, 0.9, regime="uniform", curve=[])  # trained, and never evaluated on the way
    cloned = [record(i, 0.4, regime="cloned", curve=[], frames=0) for i in (0, 1)]
    cloned.append(record(2, None, regime="cloned", curve=[], frames=0))
    runs = [record(0, 0.8), begun, waiting, late, *cloned]
    (axes,) = draw_curves(grouped(runs), {"success": "x"}).axes
    lines = {str(line.get_label()): line for line in axes.get_lines()}
    assert set(lines) == {"backplay, 2 seeds", "cloned, 2 seeds"}
    assert np.asarray(lines["backplay, 2 seeds"].get_xdata()).tolist() == [500, 1_000]
    assert lines["cloned, 2 seeds"].get_linestyle() == ":"


@pytest.mark.parametrize("width", [1, 4, 5, 16])
def test_maps_of_starts_have_the_bins_that_runs_counted_in(width: int) -> None:
    runs = [
        record(seed, starts=[(at, i * width, 10, 5) for at in (500, 1_000) for i in bins])
        for seed, bins in enumerate([(0, 1, 2, 3), (2, 5, 4)])
    ]
    (group,) = grouped(runs)
    assert bin_width(group) == width
    episodes, _ = start_counts(group)
    assert episodes.tolist() == [[10, 10, 20, 10, 10, 10]] * 2  # no stripe is empty
    (image,) = draw_starts([group]).axes[0].get_images()
    assert tuple(image.get_extent()) == (0, 1_000, 0, 6 * width)
    assert (np.asarray(image.get_array())[..., 3] > 0).all()


def test_starts_are_counted_by_time_and_steps_back() -> None:
    (group,) = grouped([record(0), record(1)])
    episodes, successes = start_counts(group)
    assert episodes.T.tolist() == [[20, 0, 0, 0], [0, 16, 0, 0], [0, 0, 12, 8]]
    assert successes.T.tolist() == [[10, 0, 0, 0], [0, 4, 0, 0], [0, 0, 12, 2]]
    # A run that is half done fills the left half, one that overshot makes room.
    (half,) = grouped([record(starts=[(250, 0, 10, 5), (500, 0, 8, 2)])])
    assert start_counts(half)[0].T.tolist() == [[10, 8, 0, 0]]
    (beyond,) = grouped([record(starts=[(600, 0, 1, 1), (1_200, 0, 2, 2)])])
    assert last_frame(beyond) == 1_200
    assert start_counts(beyond)[0].T.tolist() == [[1, 2]]
    (many,) = grouped([record(starts=[(at, 0, 1, 1) for at in range(1, 1_001)])])
    assert start_counts(many)[0].shape == (60, 1)
    assert start_counts(many)[0].sum() == 1_000


def test_curves_have_a_column_for_each_setting_and_a_line_for_each_regime() -> None:
    runs = [
        *records(0.6, 0.8), record(0, 0.4, regime="cloned", curve=[], frames=0),
        record(0, 0.5, regime="backplay (paper)"), record(0, 0.7, setting="5-Optimal"),
        record(0, 0.7, setting="5-Optimal", regime="ours alone"),
    ]  # fmt: skip
    figure = draw_curves(grouped(runs), {"success": "reached the goal"})
    first, second = figure.axes
    lines = {str(line.get_label()): line for line in first.get_lines()}
    assert set(lines) == {"backplay, 2 seeds", "cloned, 1 seed", "backplay (paper), 1 seed"}
    assert np.asarray(lines["backplay, 2 seeds"].get_ydata()).tolist() == pytest.approx([0.35, 0.7])
    assert np.asarray(lines["cloned, 1 seed"].get_ydata()).tolist() == [0.4, 0.4]
    assert lines["backplay, 2 seeds"].get_color() == COLOURS["backplay"]
    assert lines["backplay (paper), 1 seed"].get_color() == COLOURS["backplay"]
    assert lines["backplay (paper), 1 seed"].get_linestyle() == "--"
    assert len(first.collections) == 1  # the band of the two seeds
    assert [str(line.get_label()) for line in second.get_lines()] == [
        "backplay, 1 seed", "ours alone, 1 seed",
    ]  # fmt: skip
    assert first.get_title(loc="left") == "Optimal: reached the goal"
    assert first.get_ylim() == (-0.03, 1.03)


def test_the_map_of_starts_colours_success() -> None:
    figure = draw_starts(grouped([record(), record(regime="cloned", starts=[])]))
    (image,) = figure.axes[0].get_images()
    colours = np.asarray(image.get_array())
    assert colours.shape == (3, 4, 4)  # steps back, time
    assert (colours[..., 3] > 0).sum() == 4  # as many cells as there were starts
    assert colours[2, 2, 0] < colours[2, 3, 0]  # all won: less red than few won
    assert tuple(image.get_extent()) == (0, 1_000, 0, 12)
    draw_starts([])  # nothing to show is no error


def test_bars_are_means_with_every_seed_and_the_papers_marks() -> None:
    runs = [*records(0.6, 0.8), record(0, 0.2, setting="5-Optimal"), record(0, None, regime="late")]
    figure = draw_bars(grouped(runs), "success", "success", {("Optimal", "backplay"): 0.31})
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.7, 0.2])  # type: ignore[attr-defined]
    dots = [np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()]
    assert dots == [[0.6, 0.8], [0.31], [0.2]]
    assert len(axes.collections) == 1  # one interval: the other has one seed
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "backplay\nOptimal", "backplay\n5-Optimal",
    ]  # fmt: skip
    again = draw_bars(grouped(runs), "success", "success", {("Optimal", "backplay"): 0.31})
    assert as_svg(figure) == as_svg(again)
