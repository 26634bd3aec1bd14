"""One browser a file, a studio and a page of its own for every test."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from serving import Served, serve, watch_requests

from backplay.envs.films import without_screen
from browser import open_browser

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


@pytest.fixture(scope="module")
def browser() -> "Iterator[BrowserContext]":
    without_screen()
    with open_browser(1_200, 900) as opened:
        yield opened


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path) as served:
        yield served


@pytest.fixture
def page(browser: "BrowserContext", studio: Served) -> "Iterator[Page]":
    """A window that fails its test if it asks another host for anything, or if it errs."""
    opened = browser.new_page()
    wrong = watch_requests(opened, studio.origin)
    yield opened
    opened.close()
    assert wrong == []
