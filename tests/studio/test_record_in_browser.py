"""Recordings that a person makes with keys, mouse and buttons in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from serving import Served, serve, watch_requests

import backplay as bp
from backplay.studio import pictures
from backplay.train.environments import kwargs_for, make_env
from browser import open_browser

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.slow
LAKE = {"env": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}
WAY = ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]


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


def begin(page: "Page", studio: Served, asked: dict[str, Any]) -> None:
    """Opens the page of a new recording, its stage in focus."""
    studio.desk.record(asked)
    page.goto(studio.address("record"))
    page.wait_for_selector("#status[data-at='0']")
    page.focus("#stage")


def press(page: "Page", keys: list[str], first: int = 0) -> None:
    """Presses keys one by one, each when the step before has been seen."""
    for at, key in enumerate(keys, first + 1):
        page.keyboard.press(key)
        page.wait_for_selector(f"#status[data-at='{at}']")


def save(page: "Page", studio: Served, name: str) -> bp.Demonstration:
    """Saves by the form; the demonstration, loaded and checked to the bit."""
    page.fill("#name", name)
    page.click("#save")
    page.wait_for_selector("#saved pre")
    assert "exact:" in page.inner_text("#saved")
    demo = bp.load(studio.desk.folder.path / name)
    assert demo.env_id is not None
    env = make_env(demo.env_id, kwargs_for(demo.env_id, None, demo))
    assert bp.check(env, demo, max_steps=2_000).exact
    return demo


def test_from_the_home_page_to_a_file_with_keys_alone(page: "Page", studio: Served) -> None:
    page.goto(studio.address())
    page.wait_for_selector("#env")
    page.focus("#env")
    page.keyboard.type("FrozenLake-v1")
    page.keyboard.press("Escape")  # closes the list of suggestions
    page.keyboard.press("Tab")
    page.keyboard.type('{"is_slippery": false}')
    page.keyboard.press("Enter")
    page.wait_for_selector("#status[data-at='0']")
    while page.evaluate("() => document.activeElement.id") != "stage":
        page.keyboard.press("Tab")
    press(page, ["ArrowRight", "ArrowLeft", *WAY[:5]])
    page.keyboard.press("Backspace")
    page.wait_for_selector("#status[data-at='6']")
    page.keyboard.press("Home")
    page.wait_for_selector("#status[data-at='0']")
    page.keyboard.press("End")
    press(page, [WAY[5]], 7)
    while page.evaluate("() => document.activeElement.textContent") != "cut 0 to 2":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#status[data-at='6'][data-ended='terminated']")
    while page.evaluate("() => document.activeElement.id") != "save":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#saved pre")
    assert bp.load(studio.desk.folder.path / "FrozenLake-v1-0.npz").actions == [2, 2, 1, 1, 1, 2]


def test_mountain_car_in_real_time(page: "Page", studio: Served) -> None:
    begin(page, studio, {"env": "MountainCar-v0", "seed": 3})
    page.fill("#pace", "120")
    page.focus("#stage")
    page.keyboard.down("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_function("() => Number(document.querySelector('#status').dataset.at) > 40")
    page.keyboard.up("ArrowLeft")
    page.keyboard.down("ArrowRight")
    page.wait_for_function("() => Number(document.querySelector('#status').dataset.at) > 80")
    page.keyboard.press("Enter")
    page.keyboard.up("ArrowRight")
    page.wait_for_selector("#play:has-text('Play')")
    demo = save(page, studio, "car.npz")
    assert demo.actions is not None
    assert demo.actions.count(0) > 20
    assert demo.actions.count(2) > 20


def test_a_minigrid_task_and_another_way_from_the_middle(page: "Page", studio: Served) -> None:
    begin(page, studio, {"env": "MiniGrid-Empty-5x5-v0"})
    press(page, ["ArrowUp", "ArrowUp", "ArrowUp"])  # against the wall
    page.keyboard.press("Backspace")
    page.wait_for_selector("#status[data-at='2']")
    press(page, ["ArrowRight"], 2)
    page.wait_for_selector("#status[data-at='3']")
    press(page, ["ArrowUp", "ArrowUp"], 3)
    page.wait_for_selector("#status[data-ended='terminated']")
    demo = save(page, studio, "grid.npz")
    assert demo.actions == [2, 2, 1, 2, 2]
    assert demo.rewards[-1] > 0


def test_an_atari_game(page: "Page", studio: Served) -> None:
    begin(page, studio, {"env": "ALE/Freeway-v5"})
    press(page, ["ArrowUp", "w", "ArrowDown", "ArrowUp"])
    assert "UP" in page.inner_text("#keys").upper()
    demo = save(page, studio, "road.npz")
    assert demo.actions == [1, 1, 2, 1]
    assert demo.restorer.name == "atari"


def test_a_continuous_task_with_keys_and_mouse(page: "Page", studio: Served) -> None:
    begin(page, studio, {"env": "MountainCarContinuous-v0"})
    press(page, ["ArrowLeft", "ArrowRight"])
    box = page.locator("#stage").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.wait_for_selector("#status[data-at='3']")
    page.mouse.up()
    demo = save(page, studio, "smooth.npz")
    assert demo.actions is not None
    assert np.allclose(np.concatenate(demo.actions), [-1, 1, 0.5], atol=0.02)


def test_a_key_can_be_changed(page: "Page", studio: Served) -> None:
    begin(page, studio, LAKE)
    page.click("#keys div:has-text('right') button:has-text('→')")
    page.keyboard.press("k")
    page.wait_for_selector("#keys kbd:has-text('k')")
    page.focus("#stage")
    press(page, ["k"])
    page.keyboard.press("ArrowRight")  # is no key any more
    page.reload()
    page.wait_for_selector("#keys kbd:has-text('k')")
    page.focus("#stage")
    press(page, ["k"], 1)
    assert studio.desk.stage is not None
    assert studio.desk.stage.recording.take.actions == [2, 2]
    page.evaluate("() => localStorage.clear()")


def test_a_second_window_watches_and_takes_over(
    page: "Page", studio: Served, browser: "BrowserContext"
) -> None:
    begin(page, studio, LAKE)
    second = browser.new_page()
    second.goto(studio.address("record"))
    second.wait_for_selector("text=Another window plays this recording. You are watching.")
    press(page, ["ArrowRight"])
    second.wait_for_selector("#status[data-at='1']")
    second.click("#take-over")
    page.wait_for_selector("#take-over")
    press(second, ["ArrowRight"], 1)
    second.close()
    page.wait_for_selector("text=The window that played was closed.")
    assert "step 2 of 2" in page.inner_text(".strip")


def test_pommerman_is_played_against_agents(page: "Page", studio: Served) -> None:
    game = make_env("Backplay/PommermanFFA-v0", {"opponents": "simple"})
    game.reset()
    game.step(0)  # by now all is compiled, and the page need not wait for it
    page.goto(studio.address())
    page.wait_for_selector("#opponents")
    page.select_option("#opponents", "simple")
    page.click("button:has-text('Play')")
    page.wait_for_selector("#status[data-at='0']")
    page.focus("#stage")
    press(page, ["ArrowRight", "b", "ArrowLeft"])
    demo = save(page, studio, "game.npz")
    assert demo.actions == [4, 5, 3]


@pytest.mark.parametrize("dark", [False, True])
def test_the_pages_fit_a_phone(page: "Page", studio: Served, dark: bool) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.goto(studio.address())
    page.wait_for_selector("#env")
    assert overflow(page) == 0
    begin(page, studio, LAKE)
    page.click("#pads button:has-text('right')")
    page.wait_for_selector("#status[data-at='1']")
    assert overflow(page) == 0
    save(page, studio, "lake.npz")
    page.click("text=Look at it")
    page.wait_for_selector("#stage[data-step='0']")
    assert overflow(page) == 0


def overflow(page: "Page") -> int:
    """Pixels that a page is wider than its window."""
    wide: int = page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide
