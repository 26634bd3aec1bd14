"""Recordings that a person makes with keys, mouse and buttons in a real browser."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from pressing import LAKE, WAY, actions_of, begin, overflow, press, save, tab_to
from serving import Served

import backplay as bp
from backplay.train.environments import make_env

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.slow
AT = "Number(document.querySelector('#status').dataset.at)"
PAD = """() => {
  const buttons = Array.from({ length: 16 }, () => ({ pressed: false }));
  window.pad = { connected: true, axes: [0, 0], buttons };
  Object.defineProperty(navigator, "getGamepads", { value: () => [window.pad] });
}"""


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
    tab_to(page, "id", "stage")
    press(page, ["ArrowRight", "ArrowLeft", *WAY[:5]])
    page.keyboard.press("Backspace")
    page.wait_for_selector("#status[data-at='6']")
    page.keyboard.press("Home")
    page.wait_for_selector("#status[data-at='0']")
    page.keyboard.press("End")
    press(page, [WAY[5]], 7)
    tab_to(page, "textContent", "cut 0 to 2")
    page.keyboard.press("Enter")
    page.wait_for_selector("#status[data-at='6'][data-ended='terminated']")
    tab_to(page, "id", "save")
    page.keyboard.press("Enter")
    page.wait_for_selector("#saved pre:has-text('terminates with a last reward above 0')")
    assert bp.load(studio.desk.folder.path / "FrozenLake-v1-0.npz").actions == [2, 2, 1, 1, 1, 2]


def test_mountain_car_in_real_time(page: "Page", studio: Served) -> None:
    begin(page, studio, {"env": "MountainCar-v0", "seed": 3})
    page.fill("#pace", "120")
    page.focus("#stage")
    page.keyboard.down("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {AT} > 40")
    page.keyboard.up("ArrowLeft")
    page.keyboard.down("ArrowRight")
    page.wait_for_function(f"() => {AT} > 80")
    page.keyboard.press("Enter")
    page.keyboard.up("ArrowRight")
    page.wait_for_selector("#play:has-text('Play')")
    demo = save(page, studio, "car.npz")
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
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.wait_for_selector("#status[data-at='3']")
    page.mouse.up()
    demo = save(page, studio, "smooth.npz")
    assert np.allclose(np.concatenate(demo.actions), [-1, 1, 0.5], atol=0.02)


def test_a_held_key_pushes_more_and_more(page: "Page", studio: Served) -> None:
    begin(page, studio, {"env": "MountainCarContinuous-v0"})
    page.fill("#pace", "60")
    page.focus("#stage")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {AT} > 5")
    page.keyboard.down("ArrowRight")
    page.wait_for_function(f"() => {AT} > 60")
    page.keyboard.press("Enter")
    page.keyboard.up("ArrowRight")
    page.wait_for_selector("#play:has-text('Play')")
    pushed = np.concatenate(actions_of(studio))
    assert pushed[0] == 0
    assert pushed[-1] == 1
    assert (np.diff(pushed) >= 0).all()
    assert ((pushed > 0) & (pushed < 1)).any()


@pytest.mark.parametrize("env", ["FrozenLake-v1", "MountainCarContinuous-v0"])
def test_a_gamepad_plays(page: "Page", studio: Served, env: str) -> None:
    page.add_init_script(f"({PAD})()")
    begin(page, studio, {**LAKE, "env": env} if env == LAKE["env"] else {"env": env})
    if env == LAKE["env"]:  # its cross and its stick are arrows
        page.evaluate("() => { pad.buttons[15].pressed = true; }")
        page.wait_for_selector("#status[data-at='1']")
        page.evaluate("() => { pad.buttons[15].pressed = false; pad.axes[1] = 0.9; }")
        page.wait_for_selector("#status[data-at='2']")
        assert actions_of(studio) == [2, 1]
        return
    page.evaluate("() => { pad.axes[0] = 0.5; pad.buttons[0].pressed = true; }")
    page.wait_for_selector("#status[data-at='1']")
    page.evaluate("() => { pad.axes[0] = -1; }")
    page.fill("#pace", "60")
    page.click("#play")
    page.wait_for_function(f"() => {AT} > 60")
    page.click("#play")
    page.wait_for_selector("#play:has-text('Play')")
    pushed = np.concatenate(actions_of(studio))
    assert pushed[0] == 0.5
    assert pushed[-1] == -1


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
    page.click("#first-keys")
    page.focus("#stage")
    press(page, ["ArrowRight"], 2)
    page.keyboard.press("k")  # is no key any more
    press(page, ["ArrowLeft"], 3)
    assert actions_of(studio) == [2, 2, 2, 0]


def test_a_window_that_was_closed_finds_its_recording_again(
    page: "Page", studio: Served, browser: "BrowserContext"
) -> None:
    begin(page, studio, LAKE)
    press(page, WAY[:2])
    page.goto("about:blank")
    again = browser.new_page()
    again.goto(studio.address())
    again.click("text=Go to it")
    again.wait_for_selector("#status[data-at='2']")
    again.focus("#stage")
    press(again, WAY[2:], 2)
    again.close()
    assert actions_of(studio) == [2, 2, 1, 1, 1, 2]


def test_what_looks_like_a_failure_is_said_when_it_is_saved(page: "Page", studio: Served) -> None:
    begin(page, studio, LAKE)
    press(page, ["ArrowRight", "ArrowDown"])  # into a hole
    save(page, studio, "hole.npz")
    assert "of random episodes end in the same way" in page.inner_text("#saved pre")


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
