"""The site builds, every link in it leads somewhere, and it loads nothing from elsewhere."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import backplay as bp

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Links(HTMLParser):
    """Where a page leads, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        held = {name: value or "" for name, value in attributes}
        self.places |= {held[name] for name in ("id", "name") if name in held}
        if tag == "a" and "href" in held:
            self.leads.append(held["href"])
        elif tag in LOADED and LOADED[tag] in held and held.get("rel") != "canonical":
            self.loads.append(held[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(place)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env=quiet, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return place


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {path: Links(path.read_text()) for path in site.rglob("*.html")}


def is_elsewhere(link: str) -> bool:
    return link.startswith(("http:", "https:", "//", "mailto:", "data:"))


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Links]) -> None:
    assert len(pages) > 50
    broken = []
    for path, links in pages.items():
        if path.name == "404.html":
            continue  # its links are from the root of a server
        for link in links.leads + links.loads:
            if is_elsewhere(link):
                continue
            target, place = urldefrag(unquote(link))
            file = (path.parent / target).resolve() if target else path
            file = file / "index.html" if file.is_dir() else file
            known = pages[file].places if file in pages else {place}
            if not file.exists() or (place and place not in known):
                broken.append((path.name, link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Links]) -> None:
    assert [(path.name, x) for path, p in pages.items() for x in p.loads if is_elsewhere(x)] == []
    for path in site.rglob("*.css"):
        assert "url(http" not in path.read_text(), path
        assert "@import" not in path.read_text(), path


def test_the_reference_has_every_public_name(pages: dict[Path, Links]) -> None:
    places = set().union(*(p.places for path, p in pages.items() if path.parent.name == "api"))
    missing = [name for name in bp.__all__ if not any(x.endswith(f".{name}") for x in places)]
    assert missing == []


def test_results_decisions_and_recipes_are_in_it(site: Path) -> None:
    for folder, here, kind in (
        ("results", "results", "md"), ("docs/decisions", "decisions", "md"),
        ("examples", "recipes", "py"), ("docs/notebooks", "notebooks", "ipynb"),
    ):  # fmt: skip
        for path in (ROOT / folder).rglob(f"*.{kind}"):
            page = "index" if path.stem == "README" else path.stem
            inside = path.parent.relative_to(ROOT / folder)
            if "runs" in inside.parts:
                continue  # run directories are data, not pages
            assert (site / here / inside / f"{page}.html").exists(), path
