"""The page and the picture, from made-up results."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from backplay.report import Comparison, Run, StartCounts, draw_picture, summarise, write_page
from backplay.report.charts import frame_ticks
from backplay.report.results import frames_to

FRAMES, LENGTH = 100_000, 60
VOID = {"meta", "input", "br", "img", "link", "hr"}


def made_up_run(regime: str, seed: int, midpoint: float) -> Run:
    """A run whose success rises around `midpoint`, a share of the frames; past 1, never."""
    rng = np.random.default_rng([seed, len(regime)])
    frames = list(range(5_000, FRAMES + 1, 5_000))
    success = [float(1 / (1 + np.exp(-(f / FRAMES - midpoint) * 25))) for f in frames]
    starts = StartCounts.empty(FRAMES, LENGTH)
    for at in rng.integers(1, FRAMES + 1, size=3_000):
        back = (
            LENGTH
            if regime == "Standard"
            else rng.uniform(0.5, 1) * LENGTH * min(1, 2 * at / FRAMES)
        )
        step = int(np.clip(LENGTH - back, 0, LENGTH - 1))
        starts.add(int(at), step, bool(rng.random() < 1 - 0.6 * back / LENGTH))
    positions = [float(x) for x in -0.5 + 0.4 * np.sin(np.arange(50) / 9)]
    return Run(
        regime=regime, seed=seed, seconds=20.0, frames=frames, success=success,
        successes=round(100 * success[-1]), episodes=100, starts=starts,
        positions=positions, reached_goal=regime != "Standard",
    )  # fmt: skip


def made_up(seeds: int = 3) -> Comparison:
    midpoints = {"Backplay": 0.5, "Uniform": 0.7, "Standard": 9.0}
    return Comparison(
        env_id="MountainCar-v0",
        task="The reward comes at the flag only.",
        frames=FRAMES,
        demo_positions=[float(x) for x in np.linspace(-0.5, 0.5, LENGTH + 1)],
        runs=[
            made_up_run(regime, seed, midpoint)
            for seed in range(seeds)
            for regime, midpoint in midpoints.items()
        ],
        command="backplay demo --out 'a <b>'",
        settings={"learner": "PPO"},
        versions={"backplay": "0.1.0"},
        seconds=123.0,
    )


class Balance(HTMLParser):
    """Fails on an element that is closed and not open, or open at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen[tag] = self.seen.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen[tag] = self.seen.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag, tag


def test_the_page_asks_no_host_for_anything() -> None:
    page = write_page(made_up())
    assert not re.search(r"https?:|//[\w-]+\.\w|@import|url\(|\bsrc=|<link|fetch\(|XMLHttp", page)


def test_the_page_is_balanced_html_with_everything_in_it() -> None:
    balance = Balance()
    page = write_page(made_up())
    balance.feed(page)
    balance.close()
    assert not balance.open
    assert balance.seen["svg"] == 4  # curves, and a map for each regime
    assert balance.seen["canvas"] == 4  # the demonstration, and an episode for each regime
    for text in ("Backplay", "Uniform", "Standard", "MountainCar-v0", "100%", "never", "0.1.0"):
        assert text in page
    assert "backplay demo --out &#x27;a &lt;b&gt;&#x27;" in page


def test_the_embedded_data_is_json_and_cannot_end_its_element() -> None:
    hostile = "</script><script>alert(1)</script>"
    comparison = made_up(seeds=1)
    comparison = replace(
        comparison, runs=[replace(run, regime=run.regime + hostile) for run in comparison.runs]
    )
    page = write_page(comparison)
    assert hostile not in page
    embedded = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert embedded
    data = json.loads(embedded[1])
    assert len(data["tracks"]) == 4
    assert [len(curve["frames"]) for curve in data["curves"]] == [20, 20, 20]
    assert set(data["starts"]) == {run.regime for run in comparison.runs}


def test_the_same_results_give_the_same_page_and_picture() -> None:
    assert write_page(made_up()) == write_page(made_up())
    assert draw_picture(made_up()) == draw_picture(made_up())


def test_the_picture_is_a_png_of_a_readable_size() -> None:
    picture = draw_picture(made_up())
    assert picture.startswith(b"\x89PNG")
    width = int.from_bytes(picture[16:20], "big")
    assert 1200 <= width <= 2400
    assert len(picture) < 300_000


def test_the_table_takes_medians_over_seeds_and_never_counts_as_last() -> None:
    runs = [
        made_up_run("Backplay", 0, 0.5),
        made_up_run("Backplay", 1, 0.7),
        made_up_run("Backplay", 2, 9.0),
    ]
    (row,) = summarise(replace(made_up(), runs=runs))
    assert frames_to(runs[0], 0.5) == 50_000
    assert frames_to(runs[2], 0.5) is None
    assert row.frames_to_half == 70_000
    assert row.by_seed == [1.0, 1.0, 0.0]
    assert row.success == pytest.approx(2 / 3)
    (row,) = summarise(replace(made_up(), runs=runs[1:]))
    assert row.frames_to_half is None


def test_starts_are_counted_in_their_cells() -> None:
    starts = StartCounts.empty(1_000, 10, columns=4, rows=30)
    assert len(starts.episodes[0]) == 10  # no more rows than steps
    starts.add(1, 0, False)
    starts.add(250, 9, True)
    starts.add(251, 9, True)
    starts.add(1_500, 5, False)  # the last rollout may go beyond the budget
    assert [sum(column) for column in starts.episodes] == [2, 1, 0, 1]
    assert starts.successes[0] == [0] * 9 + [1]
    assert starts.episodes[3][5] == 1


@pytest.mark.parametrize("frames", [7, 2_048, 100_000, 200_000, 1_500_000])
def test_frame_ticks_are_few_and_start_at_zero(frames: int) -> None:
    ticks = frame_ticks(frames)
    assert 2 <= len(ticks) <= 5
    assert ticks[0] == (0.0, "0")
    assert all(value <= frames for value, _ in ticks)
