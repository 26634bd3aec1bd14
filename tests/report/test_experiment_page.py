"""The page of an experiment and all that goes with it, from hand-made records."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from made_up_records import record, records

from backplay.report.build import FILES, PAGE, RESULT, build_report, paper_marks
from backplay.report.claims import Claim, Difference, Final, FramesTo, Verdict
from backplay.report.sheet import Picture, table
from backplay.report.statistics import Estimate
from backplay.report.texts import estimate, in_columns, number, verdict_words

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
    return build_report(runs(), **words | {"claims": CLAIMS, "animations": [GIF]} | changes)


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
    assert page.index("<h2>Claims") < page.index("<h2>Results") < page.index("<h2>Learning curves")
    assert page.index("<h2>Episodes") < page.index("<h2>How to make it again")
    assert "1,000 of 1,000 frames" in page
    assert "metrics.jsonl is damaged" in page
    assert 'name="viewport"' in page


def test_the_table_of_claims() -> None:
    head, good, better, slow, missing = report().claims
    assert head == ("claim", "where", "paper", "ours", "seeds", "verdict")
    assert good[1:] == ("Table 2", "75%", "85% [72.6, 97.4]", "3", "holds")
    assert (better[2], better[4], better[5]) == ("–", "2", "undecided")
    assert better[3].startswith("+70 points [")
    assert slow[3:] == ("never [1k, never]", "2", "holds")
    assert missing[2:] == ("20%", "–", "–", "not run")
    page = report().files[PAGE].decode()
    assert '<td class="holds" data-head="verdict">holds</td>' in page
    assert "never got there" in page


def test_the_table_of_results() -> None:
    head, backplay, uniform = report().results
    assert head == ("setting", "regime", "seeds", "frames", "success", "minutes")
    assert backplay == ("Optimal", "backplay", "3", "1k", "85% [72.6, 97.4]", "2.0")
    assert uniform[:4] == ("Optimal", "uniform", "2", "1k")
    assert report().unfinished == ["runs/<late>"]


def test_the_numbers_are_beside_the_page() -> None:
    made = report()
    assert set(made.files) <= FILES
    numbers = json.loads(made.files[RESULT], parse_constant=pytest.fail)
    assert [one["verdict"]["word"] for one in numbers["claims"]] == [
        "holds", "undecided", "holds", "not run",
    ]  # fmt: skip
    assert numbers["claims"][2]["verdict"]["high"] == "inf"
    assert [run["seed"] for run in numbers["runs"]] == [0, 1, 2, 0, 1, 0]
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
