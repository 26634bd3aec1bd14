"""Curves, counts and figures of hand-made records, and how records are grouped."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from backplay.records import TRUE_START
from backplay.report.axes import REGIMES
from backplay.report.figures import as_svg, draw_bars, draw_curves, draw_overview, draw_starts
from backplay.report.means import bin_width, last_frame, mean_curve, start_counts
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


def test_the_fewer_episodes_are_measured_the_wider_is_the_interval_of_a_curve() -> None:
    curve = [(500, {"success": 0.5})]

    def width(episodes: int) -> float:
        runs = [record(seed, curve=curve, evaluated=episodes) for seed in range(5)]
        (mean,) = mean_curve(grouped(runs)[0], "success").means
        assert mean.low is not None
        return mean.value - mean.low

    # Seeds that agree are no surer than the coins that were tossed: 5 x 20, and 5 x 80.
    assert width(20) == pytest.approx(2 * width(80), rel=0.05)
    assert width(20) == pytest.approx(1.96 * 0.5 / 10, rel=0.01)


def test_a_line_says_how_many_seeds_are_in_it() -> None:
    begun = record(1, None, curve=[(250, {"success": 0.1})])
    waiting = record(2, None, curve=[])
    late = record(0, 0.9, regime="uniform", curve=[])  # trained, and never evaluated on the way
    cloned = [record(i, 0.4, regime="cloned", curve=[], frames=0) for i in (0, 1)]
    cloned.append(record(2, None, regime="cloned", curve=[], frames=0))
    runs = [record(0, 0.8), begun, waiting, late, *cloned]
    figure = draw_curves(grouped(runs), {"success": "x"})
    assert legend(figure) == ["backplay, 2 seeds", "cloned, 2 seeds"]
    lines = lines_of(figure.axes[0])
    assert np.asarray(lines["backplay"].get_xdata()).tolist() == [500, 1_000]
    assert lines["cloned"].get_linestyle() == ":"


@pytest.mark.parametrize("width", [1, 4, 5, 16])
def test_maps_of_starts_have_the_bins_that_runs_counted_in(width: int) -> None:
    runs = [
        record(seed, starts=[(at, i * width, 10, 5) for at in (500, 1_000) for i in bins])
        for seed, bins in enumerate([(0, 1, 2, 3), (2, 5, 4)])
    ]
    (group,) = grouped(runs)
    assert bin_width(group) == width
    episodes = start_counts(group).episodes
    assert episodes.tolist() == [[10, 10, 20, 10, 10, 10]] * 2  # no stripe is empty
    (image,) = draw_starts([group]).axes[0].get_images()
    assert tuple(image.get_extent()) == (0, 1_000, 0, 6 * width)
    assert (np.asarray(image.get_array())[..., 3] > 0).all()


def test_starts_are_counted_by_time_and_steps_back() -> None:
    (group,) = grouped([record(0), record(1)])
    episodes, successes, *_ = start_counts(group)
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
    lines = lines_of(first)
    assert set(lines) == {"backplay", "cloned", "backplay (paper)"}
    assert np.asarray(lines["backplay"].get_ydata()).tolist() == pytest.approx([0.35, 0.7])
    assert np.asarray(lines["cloned"].get_ydata()).tolist() == [0.4, 0.4]
    assert lines["backplay"].get_color() == REGIMES["backplay"]
    assert lines["backplay (paper)"].get_color() == REGIMES["backplay"]
    assert lines["backplay (paper)"].get_linestyle() == "--"
    thin = [line for line in first.get_lines() if line.get_linewidth() < 1]
    assert len(thin) == 2  # the two seeds
    assert set(lines_of(second)) == {"backplay", "ours alone"}
    assert legend(figure) == [
        "backplay, 1 to 2 seeds", "cloned, 1 seed", "backplay (paper), 1 seed",
        "ours alone, 1 seed",
    ]  # fmt: skip
    assert first.get_title(loc="left") == "Optimal: reached the goal"
    assert first.get_ylim() == (-0.03, 1.03)


def test_from_five_seeds_on_there_is_a_band_instead_of_each() -> None:
    (axes,) = draw_curves(grouped(records(0.1, 0.2, 0.3, 0.4, 0.5)), {"success": "x"}).axes
    assert len(axes.get_lines()) == 1
    assert len(axes.collections) == 1


def test_panels_of_many_settings_are_three_in_a_row_with_titles_that_fit() -> None:
    long = "FrankaKitchen-v1, microwave and kettle, a long name that does not fit in one line"
    runs = [record(setting=name) for name in ("a", "b", "c", long)]
    figure = draw_curves(grouped(runs), {"success": "x"})
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 4
    assert figure.get_figwidth() < 15
    title = shown[3].get_title(loc="left")
    assert max(map(len, title.splitlines())) <= 46
    assert title.replace("\n", " ") == f"{long}: x"


def test_labels_of_a_large_sweep_overlap_nowhere() -> None:
    regimes = [f"a regime with a long name, number {i}" for i in range(8)]
    settings = ["MiniGrid-ObstructedMaze-2Dlhb-v1, sticky actions", "AdroitHandRelocateSparse-v1"]
    runs = [record(setting=one, regime=name) for one in settings for name in regimes]
    for figure in (
        draw_curves(grouped(runs), {"success": "reached the goal"}),
        draw_bars(grouped(runs), "success", "success"),
        draw_starts(grouped(runs)),
    ):
        boxes = text_boxes(figure)
        assert len(boxes) > 8
        for i, (words, box) in enumerate(boxes):
            assert box.x0 >= -1, words
            assert box.x1 <= figure.bbox.width + 1, words
            for other, box_of_other in boxes[i + 1 :]:
                assert not box.padded(-1).overlaps(box_of_other.padded(-1)), (words, other)


def test_the_map_of_starts_colours_success() -> None:
    figure = draw_starts(grouped([record(), record(regime="cloned", starts=[])]))
    (image,) = figure.axes[0].get_images()
    colours = np.asarray(image.get_array())
    assert colours.shape == (3, 4, 4)  # steps back, time
    assert (colours[..., 3] > 0).sum() == 4  # as many cells as there were starts
    assert colours[2, 2, 0] < colours[2, 3, 0]  # all won: less red than few won
    assert tuple(image.get_extent()) == (0, 1_000, 0, 12)
    draw_starts([])  # nothing to show is no error


def test_the_true_start_is_a_strip_of_its_own_above_the_same_axes() -> None:
    starts = [(250, 0, 10, 5), (500, 8, 8, 2), (500, TRUE_START, 6, 3), (1_000, TRUE_START, 4, 4)]
    only = [(500, TRUE_START, 7, 0), (1_000, TRUE_START, 7, 0)]
    runs = [record(starts=starts), record(regime="standard", starts=only)]
    (group, standard) = grouped(runs)
    counts = start_counts(group)
    assert counts.true_episodes.tolist() == [0, 6, 4]
    assert counts.true_successes.tolist() == [0, 3, 4]
    assert counts.episodes.shape == (3, 2)
    assert start_counts(standard).episodes.shape == (2, 0)
    first, second = draw_starts([group, standard]).axes[:2]
    cells, strip = first.get_images()
    assert tuple(cells.get_extent()) == (0, 1_000, 0, 16)
    low, high = strip.get_extent()[2:]
    assert 16 < low < high
    assert high - low < 0.1 * 16  # narrow
    assert len(second.get_images()) == 1
    assert first.get_ylim() == second.get_ylim()
    assert first.get_xlim() == second.get_xlim()
    assert first.get_yticklabels()[-1].get_text() == "true start"


def test_the_overview_has_the_curves_and_the_first_ones_starts() -> None:
    runs = [*records(0.8, 0.9), *records(0.1, 0.2, regime="uniform")]
    figure = draw_overview(grouped(runs), "success", "A task")
    left, right = figure.axes[:2]
    assert set(lines_of(left)) == {"backplay", "uniform"}
    assert len(right.get_images()) == 1
    assert legend(figure) == ["backplay, 2 seeds", "uniform, 2 seeds"]


def test_bars_are_means_with_every_seed_and_the_papers_marks() -> None:
    runs = [*records(0.6, 0.8), record(0, 0.2, setting="5-Optimal"), record(0, None, regime="late")]
    figure = draw_bars(grouped(runs), "success", "success", {("Optimal", "backplay"): 0.31})
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.7, 0.2])
    dots = [np.asarray(line.get_xdata()).tolist() for line in axes.get_lines()]
    assert dots == [[0.6, 0.8], [0.31], [0.2]]
    assert len(axes.collections) == 1  # one interval: the other has one seed
    assert [text.get_text() for text in axes.get_yticklabels()] == ["backplay", "backplay"]
    assert [text.get_text() for text in axes.texts] == ["Optimal", "5-Optimal"]
    again = draw_bars(grouped(runs), "success", "success", {("Optimal", "backplay"): 0.31})
    assert as_svg(figure) == as_svg(again)


def lines_of(axes: Axes) -> dict[str, Line2D]:
    """The lines that have a name, by it."""
    named = {str(line.get_label()): line for line in axes.get_lines()}
    return {name: line for name, line in named.items() if not name.startswith("_")}


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def text_boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """All that is written and seen in a figure, and where."""
    FigureCanvasAgg(figure).draw()
    seen = [
        one
        for one in figure.findobj(Text)
        if isinstance(one, Text) and one.get_visible() and one.get_text().strip()
    ]
    hidden = {id(part) for axes in figure.axes if not axes.get_visible() for part in axes.findobj()}
    for axes in figure.axes:  # ticks beyond the ends of an axis are there, and not drawn
        for labels, (low, high), place in (
            (axes.get_xticklabels(), axes.get_xlim(), 0),
            (axes.get_yticklabels(), axes.get_ylim(), 1),
        ):
            least, most = sorted((low, high))
            hidden |= {id(one) for one in labels if not least <= one.get_position()[place] <= most}
    return [(one.get_text(), one.get_window_extent()) for one in seen if id(one) not in hidden]


def test_names_with_dollars_are_drawn_as_they_are() -> None:
    runs = [record(0, 0.4, setting=r"$\frac{$ x", regime="a $_ b$")]
    assert as_svg(draw_curves(grouped(runs), {"success": "goal"}))
    assert as_svg(draw_bars(grouped(runs), "success", "goal"))
