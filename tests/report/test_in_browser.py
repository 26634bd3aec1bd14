"""The pages in a real browser: all is seen, nothing is fetched, and a phone is wide enough."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backplay.paper.theory.job import TheoryJob
from backplay.report.build import PAGE, build_report
from backplay.report.claims import Claim, Final
from backplay.report.exhibit import Exhibit, Table
from backplay.report.sheet import Picture
from browser import open_browser
from made_up_records import record, records

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.slow

PHONE = 390
LONG = "a/very/long/path/without/any/place/to/break/it/" * 3
# A GIF of two pixels, one after the other.
GIF = bytes.fromhex(
    "474946383961010001008000000000ffffff21f90400000000002c00000000010001000002024401003b"
)


@pytest.fixture(scope="module", params=[1_200, PHONE])
def context(request: pytest.FixtureRequest) -> "Iterator[BrowserContext]":
    with open_browser(request.param) as opened:
        yield opened


def experiment_page() -> str:
    claims = [
        Claim(
            text=f"Regime {regime} reaches the goal in most of the mazes it was trained on",
            where="Table 2", paper=0.75, holds="at least", target=0.5,
            quantity=Final("Optimal", regime, "success"),
        )
        for regime in ("backplay", "uniform", "florensa")
    ]  # fmt: skip
    runs = [
        *records(0.8, 0.9, 0.85), *records(0.1, 0.2, regime="uniform"),
        *records(0.7, 0.6, setting="10-Optimal"), record(0, None, regime="standard", path=LONG),
    ]  # fmt: skip
    made = build_report(
        runs, title="The Maze", about=f"What it is: {LONG}", claims=claims,
        command=f"backplay reproduce maze --dir {LONG}",
        exhibit=Exhibit(films=(Picture("An episode", "image/gif", GIF),)),
    )  # fmt: skip
    return made.files[PAGE].decode()


def wide_page() -> str:
    cells = [("set", "regime", *map(str, range(12))), *[("Optimal",) * 14] * 3]
    made = build_report(
        records(0.8, 0.9), title="Wide", about="", command=LONG, figures=["curves", "bars"],
        exhibit=Exhibit(tables=(Table("A wide table", "", cells),)),
    )  # fmt: skip
    return made.files[PAGE].decode()


def theory_page() -> str:
    line = {"name": "a", "x": [1.0, 2.0], "y": [1.0, 3.0], "style": "line", "low": None}
    panel = {
        "title": "p", "x_name": "M", "y_name": "t", "series": [{**line, "high": None}],
        "log_x": False, "log_y": False, "x_labels": None,
    }  # fmt: skip
    finding = {
        "claim": "Trials grow with the square of the length of the chain", "where": "M = 3",
        "predicted": 1.0, "measured": 2.0, "low": 0.1, "high": 2.3, "verdict": "fails",
    }  # fmt: skip
    study: dict[str, Any] = {
        "name": "s", "title": "A study", "words": "Lines.", "panels": [panel] * 3,
        "tables": [{"title": "T", "head": ["m"] * 30, "rows": [["1000"] * 30]}],
        "findings": [finding],
    }  # fmt: skip
    runs = [record(kind="theory", setting="s", result={"study": study}, curve=[], starts=[])]
    made = build_report(
        runs, title="Theory", about="", command=LONG, exhibit=TheoryJob.exhibit(runs), figures=[]
    )
    return made.files[PAGE].decode()


def small_page() -> str:
    claim = Claim(
        text="Backplay reaches the goal", where="Table 2", paper=0.75, holds="at least",
        quantity=Final("Optimal", "backplay", "success"),
    )  # fmt: skip
    runs = [*records(0.8, 0.9), *records(0.1, 0.2, regime="uniform")]
    made = build_report(runs, title="Small", about="A few runs.", command="c", claims=[claim])
    return made.files[PAGE].decode()


PAGES = {"experiment": experiment_page, "wide": wide_page, "theory": theory_page}


def opened(context: "BrowserContext", file: Path) -> "tuple[Page, list[str], list[str]]":
    """The page of a file, every address it asked for, and every error."""
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.goto(file.as_uri(), wait_until="networkidle")
    return page, asked, wrong


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_all_it_has_and_asks_nobody(
    context: "BrowserContext", tmp_path: Path, name: str
) -> None:
    file = tmp_path / f"{name}.html"
    file.write_text(PAGES[name](), encoding="utf-8")
    page, asked, wrong = opened(context, file)
    assert [address for address in asked if not address.startswith("data:")] == [file.as_uri()]
    assert wrong == []
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("img, svg")].map((one) => {
            const box = one.getBoundingClientRect();
            const loaded = one.tagName !== "IMG" || (one.complete && one.naturalWidth > 0);
            return [loaded, box.width, box.height];
        })"""
    )
    assert len(sizes) == {"experiment": 4, "wide": 2, "theory": 1}[name]
    assert all(loaded and width > 0 and height > 0 for loaded, width, height in sizes)
    least = 150 if name != "experiment" else 1  # the made-up episode is one pixel
    assert all(width >= least for _, width, _ in sizes)
    # Nothing sticks out of the page; what is wider scrolls in a box of its own.
    widths = page.evaluate(
        "() => [document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]"
    )
    assert max(widths[:2]) <= widths[2]
    page.close()


def test_the_first_screen_says_what_came_out_and_a_picture_follows(
    context: "BrowserContext", tmp_path: Path
) -> None:
    file = tmp_path / "index.html"
    file.write_text(small_page(), encoding="utf-8")
    page, _, _ = opened(context, file)
    height = page.evaluate("() => innerHeight")
    for text in ("85%", "15%"):
        box = page.get_by_text(text, exact=True).first.bounding_box()
        assert box["y"] + box["height"] <= height
    picture = page.locator("img").first.bounding_box()
    table = page.locator("table").first.bounding_box()
    assert picture["y"] < height
    assert picture["y"] < table["y"]
    # What these runs leave open is there, and opens without a script.
    claims = page.get_by_role("table", name="Claims")
    assert not claims.is_visible()
    page.locator("summary", has_text="left open").click()
    assert claims.is_visible()
    page.close()


def test_what_a_training_measures_is_read_without_scrolling(
    context: "BrowserContext", tmp_path: Path
) -> None:
    """On a screen; on a phone the table scrolls in its own box."""
    measures = {
        "success": 0.825, "return": 0.825, "steps": 8.15, "greedy_success": 1.0, "greedy_return": 1,
    }  # fmt: skip
    ends = {name: 0.75 * value for name, value in measures.items()}
    runs = [
        record(seed, setting="FrozenLake-v1, ppo.learning_rate 0.0001", measures=found)
        for seed, found in enumerate((measures, ends))
    ]
    file = tmp_path / "index.html"
    made = build_report(runs, title="Runs", about="", command="c", figures=[])
    file.write_text(made.files[PAGE].decode(), encoding="utf-8")
    page, _, _ = opened(context, file)
    widths = page.evaluate(
        """() => [...document.querySelectorAll('[aria-label="Results"]')].map(
            (one) => [one.scrollWidth, one.parentElement.clientWidth, innerWidth])"""
    )
    assert all(inner <= box for inner, box, screen in widths if screen > PHONE)
    assert widths
    page.close()


def test_claims_and_verdicts_can_be_read(context: "BrowserContext", tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(experiment_page(), encoding="utf-8")
    page, _, _ = opened(context, file)
    decided, others = (page.locator('table[aria-label="Claims"]').nth(i) for i in (0, 1))
    assert decided.is_visible()
    page.locator("summary", has_text="left open").click()
    verdicts = [
        one.inner_text()
        for table in (decided, others)
        for one in table.locator("tbody tr td:last-child").all()
    ]
    assert verdicts == ["holds", "few seeds, points to “fails”", "not run"]
    # Every verdict is on the screen, without scrolling sideways, on a phone too.
    for one in page.locator('table[aria-label="Claims"] tbody tr td:last-child').all():
        box = one.bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= page.evaluate("() => innerWidth")
    # What is folded opens without a script.
    hidden = page.get_by_role("table", name="Runs").first
    assert not hidden.is_visible()
    page.locator("summary", has_text="run").first.click()
    assert hidden.is_visible()
    page.close()


def test_a_table_too_wide_for_a_phone_scrolls_by_itself(
    context: "BrowserContext", tmp_path: Path
) -> None:
    file = tmp_path / "index.html"
    file.write_text(wide_page(), encoding="utf-8")
    page, _, _ = opened(context, file)
    inside, outside = page.evaluate(
        "() => { const box = document.querySelector('.wide');"
        " return [box.scrollWidth, box.clientWidth]; }"
    )
    if page.viewport_size is not None and page.viewport_size["width"] == PHONE:
        assert inside > outside
    assert outside <= page.evaluate("() => innerWidth")
    page.close()
