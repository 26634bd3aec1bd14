"""Pictures and the page of the studies, from made-up data."""

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

from backplay.paper.theory.figures import draw_study, findings_table, write_theory_page

EMPTY = {"meta", "img", "br"}


def series(name: str, style: str = "line", **more: Any) -> dict[str, Any]:
    plain = {"name": name, "x": [1.0, 2.0, 4.0], "y": [1.0, None, 9.0], "style": style}
    return {**plain, "low": None, "high": None, **more}


def made_up(name: str = "trials", panels: int = 2) -> dict[str, Any]:
    lines = [
        series("Uniform"),
        series("Uniform, simulated", "dots", low=[0.5, 1.0, 8.0], high=[2.0, 3.0, 10.0]),
        series("claimed", "dashes"),
    ]
    axes = {"x_name": "M", "y_name": "trials", "series": lines, "log_x": True}
    axes = {**axes, "log_y": True, "x_labels": None}
    finding = {"claim": "a < b", "where": "M = 3", "predicted": 1.0, "measured": None}
    return {
        "name": name, "title": f"About {name} & more", "words": "Lines <are> exact.",
        "panels": [{"title": f"panel {i}", **axes} for i in range(panels)],
        "tables": [{"title": "T", "head": ["m", "x"], "rows": [["1", "2.5e3"], ["2", "<b>"]]}],
        "findings": [{**finding, "low": 0.0001, "high": 2.34567, "verdict": "fails"}],
    }  # fmt: skip


class Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen[tag] += 1
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag


def page(studies: list[dict[str, Any]]) -> str:
    pictures = {study["name"]: draw_study(study) or b"" for study in studies if study["panels"]}
    return write_theory_page(
        studies, pictures, command="backplay theory --out 'a <b>'", versions={"numpy": "2.0"},
        seconds=12.3,
    )  # fmt: skip


def test_pictures_are_pngs_as_wide_as_their_panels_and_always_the_same() -> None:
    one, three = draw_study(made_up(panels=1)), draw_study(made_up(panels=3))
    assert one is not None
    assert three is not None
    assert one.startswith(b"\x89PNG")
    assert int.from_bytes(three[16:20], "big") > 2 * int.from_bytes(one[16:20], "big")
    assert draw_study(made_up(panels=3)) == three
    assert draw_study(made_up(panels=0)) is None


def test_a_picture_shows_its_numbers() -> None:
    other = made_up()
    other["panels"][0]["series"][1]["y"][2] = 3.0
    assert draw_study(other) != draw_study(made_up())


def test_places_without_a_number_have_names() -> None:
    named = made_up(panels=1)
    named["panels"][0] |= {"log_x": False, "x_labels": ["Standard", "Uniform"]}
    other = made_up(panels=1)
    other["panels"][0] |= {"log_x": False, "x_labels": ["Standard", "Backplay"]}
    assert draw_study(named) != draw_study(other)


def test_a_series_without_points_is_left_out() -> None:
    study = made_up(panels=1)
    study["panels"][0]["series"][1] = series("Uniform, simulated", "dots", x=[], y=[])
    assert draw_study(study) is not None


def test_the_table_has_a_row_for_each_finding() -> None:
    head, *rows = findings_table([made_up(), made_up("gap")])
    assert head == ("claim", "case", "predicted", "measured", "interval", "verdict")
    assert rows == [("a < b", "M = 3", "1", "inf", "[0, 2.35]", "fails")] * 2


def test_the_page_is_balanced_html_with_everything_in_it_and_asks_no_host() -> None:
    text = page([made_up(), made_up("gap", panels=0)])
    balance = Balance()
    balance.feed(text)
    balance.close()
    assert not balance.open
    assert balance.seen["img"] == 1
    assert balance.seen["table"] == 3
    for part in (
        "About trials &amp; more",
        "Lines &lt;are&gt; exact.",
        "&lt;b&gt;",
        "2.5e3",
        "numpy",
    ):
        assert part in text
    assert "backplay theory --out &#x27;a &lt;b&gt;&#x27;" in text
    assert not re.search(r"https?:|@import|url\(|<link|<script|src=\"(?!data:image/png)", text)
    assert page([made_up()]) == page([made_up()])
