"""The page of an experiment and all that goes with it, from hand-made records."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from backplay.report.build import PAGE, RESULT, build_report, paper_marks
from backplay.report.claims import Claim, Difference, Final, FramesTo
from backplay.report.exhibit import Exhibit, Table
from backplay.report.judging import Scale, Verdict
from backplay.report.sheet import Picture, table
from backplay.report.statistics import Estimate
from backplay.report.texts import (
    estimate,
    in_columns,
    number,
    target,
    verdict_words,
    words_in,
)
from made_up_records import record, records

EMPTY = {"meta", "img", "br"}
CLAIMS = [
    Claim(
        text="Backplay <reaches> the goal", where="Table 2", paper=0.75, holds="at least",
        quantity=Final("Optimal", "backplay", "success"), target=0.5,
    ),
    Claim(
        text="Backplay beats Uniform", where="Figure 3", holds="at least", target=0.1,
        quantity=Difference(
            Final("Optimal", "backplay", "success"), Final("Optimal", "uniform", "success")
        ),
    ),
    Claim(
        text="Uniform is slow", where="appendix", holds="at least", target=600.0,
        quantity=FramesTo("Optimal", "uniform", "success", 0.5),
    ),
    Claim(
        text="Florensa lags", where="Table 2", paper=0.2, holds="at most",
        quantity=Final("Optimal", "florensa", "success"),
    ),
]  # fmt: skip
GIF = Picture("An episode", "image/gif", b"GIF89a-made-up", "of seed 0")


class Reader(HTMLParser):
    """What is on a page; fails on an element that is closed and not open."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()
        self.addresses: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        wanted = ("src", "href", "srcset", "data", "action", "poster")
        self.addresses += [value or "" for name, value in attrs if name in wanted]
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def runs() -> list[Any]:
    return [
        *records(0.8, 0.9, 0.85), *records(0.1, 0.2, regime="uniform"),
        record(0, None, regime="standard", path="runs/<late>", notes=("metrics.jsonl is damaged",)),
    ]  # fmt: skip


def report(**changes: Any) -> Any:
    words: dict[str, Any] = {
        "title": "The Maze & more",
        "about": "What <it> is.",
        "command": "backplay 'a <b>'",
    }
    shown = Exhibit(films=(GIF,))
    return build_report(runs(), **words | {"claims": CLAIMS, "exhibit": shown} | changes)


def test_everything_is_on_the_page_and_it_asks_no_host() -> None:
    page = report().files[PAGE].decode()
    reader = Reader(page)
    words = " ".join(reader.text)
    for claim in CLAIMS:
        assert claim.text in words
    for part in ("The Maze & more", "What <it> is.", "backplay 'a <b>'", "runs/<late>", "abc123"):
        assert part in words
    assert reader.seen["img"] == 4  # curves, starts, bars, an episode
    assert all(address.startswith("data:image/") for address in reader.addresses)
    assert not re.search(r"https?:|@import|url\(|<link|<script", page)
    titles = re.findall("<h2>(.*?)</h2>", page)
    assert titles == [
        "Learning curves", "What runs came to",
        "Where episodes started, and whether they reached the goal", "Episodes", "Results",
        "Claims", "How to make it again", "What it was made with", "What is not finished",
        "Claims that these runs leave open",
    ]  # fmt: skip
    assert "1,000 of 1,000 frames" in page
    assert "metrics.jsonl is damaged" in page
    assert 'name="viewport"' in page


def test_the_first_screen_says_what_came_out() -> None:
    page = report().files[PAGE].decode()
    header = page[page.index("<header>") : page.index("</header>")]
    for text, regime in (("85%", "backplay"), ("15%", "uniform")):
        assert re.search(rf"<b style=[^>]*>{text}</b><span>{regime}</span>", header)
    assert "Of 4 claims: 1 held up, 3 left open (too few runs or frames)." in header
    assert "Of " not in build_report(runs(), title="t", about="", command="c").files[PAGE].decode()


def test_what_is_left_open_is_folded_at_the_end() -> None:
    page = report(scale=Scale(0.01, 0.05)).files[PAGE].decode()
    assert "<h2>Claims</h2>" not in page
    folded = page[page.index("<h2>Claims that these runs leave open") :]
    assert "<summary>4 claims left open</summary>" in folded
    assert "The interval decides" in folded
    assert "<h2>" not in folded[4:]


def test_the_table_of_claims() -> None:
    head, good, better, slow, missing = report().claims
    assert head == ("claim", "where", "holds if", "paper", "ours", "seeds", "verdict")
    assert good[1:] == ("Table 2", "≥ 50%", "75%", "85% [72.6, 97.4]", "3", "holds")
    assert better[2:4] == ("≥ +10 points", "–")
    assert better[5:] == ("2", "few seeds, points to “holds”")
    assert better[4].startswith("+70 points [")
    assert slow[2:] == ("≥ 600", "–", "never [1k, never]", "2", "few seeds, points to “holds”")
    assert missing[2:] == ("≤ 20%", "20%", "–", "–", "not run")
    page = report().files[PAGE].decode()
    assert '<td class="holds" data-head="verdict">holds</td>' in page
    assert '<td class="unsure" data-head="verdict">few seeds' in page
    assert "never got there" in page


def test_the_page_says_how_a_claim_is_measured() -> None:
    made = report()
    page = made.files[PAGE].decode()
    for claim in CLAIMS:
        assert f"<small>{claim.quantity.words}</small></td>" in page
    # In a terminal the target alone, so that lines stay short.
    assert max(map(len, in_columns(made.claims, 2).splitlines())) < 150
    numbers = json.loads(made.files[RESULT])
    assert numbers["claims"][0]["measured"] == CLAIMS[0].quantity.words


def test_targets_as_text() -> None:
    own: dict[str, Any] = {"text": "c", "where": "w", "quantity": CLAIMS[0].quantity}
    assert target(Claim(**own, holds="at least", target=1.1, strict=True), "") == "> 1.1"
    assert target(Claim(**own, holds="at most", target=1e6, strict=True), "frames") == "< 1 M"
    near = Claim(**own, holds="near", target=0.76, tolerance=0.05)
    assert target(near, "share") == "76% ± 5 points"
    assert target(near, "points") == "+76 points ± 5 points"


def test_a_smoke_run_decides_no_claim_and_the_page_says_its_scale_first() -> None:
    small, full = report(scale=Scale(0.01, 0.05)), report(scale=Scale(0.05, 0.05))
    assert [row[-1] for row in small.claims[1:]] == [*["too few frames"] * 3, "not run"]
    assert [row[:-1] for row in small.claims] == [row[:-1] for row in full.claims]
    assert full.claims == report().claims
    page = small.files[PAGE].decode()
    words = "<p>Scale 0.01 of the full frames; the experiment&#x27;s own is 0.05.</p>"
    assert page.index("<h1>") < page.index(words) < page.index("<p>What &lt;it&gt; is.</p>")
    assert page.count('<td class="unsure" data-head="verdict">too few frames</td>') == 3
    assert ".unsure { color: var(--soft); }" in page
    assert not re.search(r'<td class="(holds|fails)"', page)


def test_a_page_takes_figures_and_tables_of_its_own() -> None:
    figure = Figure()
    figure.subplots().plot([1, 2])
    own = Table("A table", "With <a> note.", [("head", "x"), ("one", "2")])
    exhibit = Exhibit(
        figures={"Actions over time": figure}, words={"Actions over time": "Of <all>."},
        tables=(own,),
    )  # fmt: skip
    made = report(exhibit=exhibit)
    page = made.files[PAGE].decode()
    assert made.files["actions-over-time.svg"].startswith(b"<?xml")
    assert "actions-over-time.png" in made.files
    assert page.index("<h2>What runs came to") < page.index("<h2>Actions over time")
    assert page.index("Of &lt;all&gt;.") < page.index("<h2>A table") < page.index("<h2>Results")
    assert "With &lt;a&gt; note." in page
    for title in ("Curves", "-"):
        with pytest.raises(ValueError, match="title of its own"):
            report(exhibit=Exhibit(figures={title: figure}))


def test_the_table_of_results() -> None:
    head, backplay, uniform = report().results
    assert head == ("setting", "regime", "seeds", "frames", "success", "minutes")
    assert backplay == ("Optimal", "backplay", "3", "1k", "85% [72.6, 97.4]", "2.0")
    assert uniform[:4] == ("Optimal", "uniform", "2", "1k")
    assert report().unfinished == ["runs/<late>"]


def test_numbers_of_steps_are_never_below_none() -> None:
    two = [
        *records(0.5, measures={"steps": 2.0, "return": 0.1}),
        record(1, 0.5, measures={"steps": 14.0, "return": 0.9}),
    ]
    _, row = build_report(two, title="t", about="", command="c").results
    assert "8 [0, " in row[4]
    assert "[-" in row[5]  # a return may be


def test_settings_with_nothing_in_common_have_a_row_for_each_measure() -> None:
    apart = [
        *records(0.5, 0.5, 0.5, setting="gap", measures={"a very long name": 2.0, "none": None}),
        *records(0.5, setting="trees", measures={"within_5": 0.25}),
    ]
    cells = build_report(apart, title="t", about="", command="c").results
    assert cells == [
        ("setting", "regime", "measure", "value", "seeds", "frames"),
        ("gap", "backplay", "a very long name", "2 [2, 2]", "3", "1k"),
        ("trees", "backplay", "within 5", "25%", "1", "1k"),
    ]
    assert words_in(cells) == 3


def test_more_measures_than_fit_side_by_side_are_rows_and_none_is_left_out() -> None:
    names = [f"a measure with a long name and the number {i}" for i in range(9)]
    many = records(0.5, 0.6, measures=dict.fromkeys(names, 1.0))
    made = build_report(many, title="t", about="", command="c")
    assert [row[2] for row in made.results[1:]] == names
    assert max(map(len, in_columns(made.results, 3).splitlines())) < 120
    assert all(name in made.files[PAGE].decode() for name in names)
    few = records(0.5, 0.6, measures=dict.fromkeys(names[:8], 1.0))
    assert len(build_report(few, title="t", about="", command="c").results) == 2


def test_the_numbers_are_beside_the_page() -> None:
    made = report()
    numbers = json.loads(made.files[RESULT], parse_constant=pytest.fail)
    assert [one["verdict"]["word"] for one in numbers["claims"]] == [
        "holds", "few seeds", "few seeds", "not run",
    ]  # fmt: skip
    assert numbers["claims"][2]["verdict"]["high"] == "inf"
    assert [run["seed"] for run in numbers["runs"]] == [0, 1, 2, 0, 1, 0]
    assert set(numbers["files"]) == set(made.files)
    assert report().files == made.files  # the same runs, the same bytes


def test_a_report_needs_neither_claims_nor_ended_runs() -> None:
    made = build_report([record(0, None, curve=[], starts=[])], title="t", about="", command="c")
    assert set(made.files) == {PAGE, RESULT}
    reader = Reader(made.files[PAGE].decode())
    assert "No run has ended yet." in reader.text
    assert "Claims" not in reader.text
    assert set(report(figures=["bars"]).files) == {PAGE, RESULT, "bars.png", "bars.svg"}


def test_runs_made_alike_share_their_provenance() -> None:
    reader = Reader(report().files[PAGE].decode())
    assert reader.text.count("abc123") == 1
    other = record(9, provenance={"commit": "other", "begun": "today"})
    page = build_report([*runs(), other], title="t", about="", command="c").files[PAGE].decode()
    assert page.count("abc123") == 1
    assert page.count("<dd>other</dd>") == 1


def test_marks_are_the_papers_numbers_of_ends() -> None:
    assert paper_marks(CLAIMS) == {
        ("Optimal", "backplay", "success"): 0.75, ("Optimal", "florensa", "success"): 0.2,
    }  # fmt: skip


def test_numbers_as_text() -> None:
    assert [number(value, "share") for value in (0, 1, 0.123, 0.999, 0.9999)] == [
        "0%", "100%", "12.3%", "99.9%", "100%",
    ]  # fmt: skip
    assert [number(value, "frames") for value in (950, 1_500, 10_240_000, np.inf)] == [
        "950", "1.5k", "10.2 M", "never",
    ]  # fmt: skip
    assert [number(value) for value in (0.00001, 0.64, -np.inf)] == ["0", "0.64", "-∞"]
    assert number(-0.123, "points") == "-12.3 points"
    assert estimate(Estimate(0.9, 0.7, 1.1), "share") == "90% [70, 100]"
    assert estimate(Estimate(0.9, None, None), "") == "0.9"
    assert in_columns([("a", "bb"), ("ccc", "d")]) == "a    bb\nccc   d"
    assert verdict_words(Verdict(word="one seed", points="fails")) == "one seed, points to “fails”"


def test_a_cell_cannot_be_html() -> None:
    made = table([("<a>", "b"), ('"&', "</table>")])
    assert "&lt;a&gt;" in made
    assert "&quot;&amp;" in made
    assert made.count("</table>") == 1
