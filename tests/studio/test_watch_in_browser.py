"""From a recording to a trained agent without leaving the page; runs watched, stopped, resumed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import gymnasium as gym
import pytest
from serving import Served, serve, watch_requests

import backplay as bp
from backplay.studio import pictures
from browser import open_browser

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.slow
LAKE = {"env": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}
WAY = ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]
RUN = "runs/lake-backplay-0"
PATIENCE = 120_000  # milliseconds: a busy machine trains slowly


@pytest.fixture(scope="module")
def browser() -> "Iterator[BrowserContext]":
    pictures.prepare()
    with open_browser(1_200, 900) as opened:
        yield opened


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path) as served:
        yield served


@pytest.fixture
def page(browser: "BrowserContext", studio: Served) -> "Iterator[Page]":
    opened = browser.new_page()
    wrong = watch_requests(opened, studio.origin)
    yield opened
    opened.close()
    assert wrong == []


def test_a_recording_is_trained_from_to_success_and_watched(page: "Page", studio: Served) -> None:
    studio.desk.record(LAKE)
    page.goto(studio.address("record"))
    page.wait_for_selector("#status[data-at='0']")
    page.focus("#stage")
    for at, key in enumerate(WAY, 1):
        page.keyboard.press(key)
        page.wait_for_selector(f"#status[data-at='{at}']")
    page.click("#save")
    page.click("#train")
    page.fill("#frames", "20000")
    page.click("#start")
    page.wait_for_selector("[data-state='finished']", timeout=PATIENCE)
    success = page.inner_text("dd.success")
    assert re.fullmatch(r"\d+ %", success)
    assert int(success.removesuffix(" %")) >= 50  # drawn actions; the likeliest always arrive
    assert "success 100%" in page.inner_text("[data-run]").split("likeliest")[1]
    assert page.locator("#charts svg").count() >= 2
    assert page.locator("#maps rect").count() > 5
    page.check("#greedy")
    page.click("#film")
    page.wait_for_selector("#outcome[data-success='true']")
    assert "from step 0" in page.inner_text("#outcome")
    page.goto(studio.address("look/FrozenLake-v1-0.npz"))
    page.wait_for_selector("#agent option:nth-child(2)", state="attached")
    page.select_option("#agent", index=1)
    page.wait_for_selector("text=Value seen by the agent")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(studio.address("watch/runs%2FFrozenLake-v1-0-backplay-0"))
    page.wait_for_selector("#film")
    page.wait_for_selector("#maps rect")
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1200, "height": 900})
    assert wide <= 390


def test_a_training_is_stopped_and_resumed(page: "Page", studio: Served) -> None:
    env = gym.make("FrozenLake-v1", is_slippery=False)
    bp.record(env, [2, 2, 1, 1, 1, 2]).save(studio.desk.folder.path / "lake.npz")
    page.goto(studio.address("watch/train:lake.npz"))
    page.fill("#frames", "60000")
    page.click("#start")
    page.wait_for_selector("#charts svg", timeout=PATIENCE)
    page.click("#stop")
    page.wait_for_selector("#resume", timeout=PATIENCE)
    stopped = studio.desk.run(RUN)["frames"]
    assert 0 < stopped < 60_000
    page.click("#resume")
    page.wait_for_selector("[data-state='training']", timeout=PATIENCE)
    while studio.desk.run(RUN)["frames"] <= stopped:
        page.wait_for_timeout(100)


def test_a_demonstration_is_mended_and_exported(page: "Page", studio: Served) -> None:
    env = gym.make("FrozenLake-v1", is_slippery=False)
    folder = studio.desk.folder.path
    bp.record(env, [2, 0, 2, 2, 1, 1, 1, 2]).save(folder / "lake.npz")
    page.goto(studio.address("look/lake.npz"))
    page.wait_for_selector("#stage[data-step='0']")
    page.focus("#stage")
    page.keyboard.press("End")
    page.wait_for_selector("#stage[data-step='8']")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#stage[data-step='7']")
    page.click("button:has-text('Cut 0 to 2')")
    page.wait_for_selector("#told pre")
    assert "The rest goes as it did" in page.inner_text("#told")
    mended = bp.load(folder / "lake-mended.npz")
    assert mended.actions == [2, 2, 1, 1, 1, 2]
    page.fill("#mended", "short.npz")
    page.click("#trim")
    page.wait_for_selector("#told a:has-text('short.npz')")
    assert len(bp.load(folder / "short.npz")) == 7
    for kind, magic in (("GIF", b"GIF8"), ("MP4", b"ftyp")):
        with page.expect_download() as waiting:
            page.click(f"a:has-text('{kind}')")
        assert magic in Path(waiting.value.path()).read_bytes()[:12]
    page.click("#continue")
    page.wait_for_selector("#status[data-at='7']")
    assert studio.desk.stage is not None
    assert studio.desk.stage.recording.take.actions == [2, 0, 2, 2, 1, 1, 1]
