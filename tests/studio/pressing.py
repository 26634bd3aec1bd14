"""What a person does on the pages, for tests."""

from typing import TYPE_CHECKING, Any

from serving import Served

import backplay as bp
from backplay.train.environments import kwargs_for, make_env

if TYPE_CHECKING:
    from playwright.sync_api import Page

LAKE: dict[str, Any] = {"env": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}
WAY = ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]


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
    env = make_env(demo.env_id, kwargs_for(demo.env_id, None, demo))
    assert bp.check(env, demo, max_steps=2_000).exact
    return demo


def tab_to(page: "Page", what: str, name: str) -> None:
    """Presses Tab until something with this `what`, an attribute, is in focus."""
    for _ in range(80):
        if page.evaluate(f"() => document.activeElement.{what}") == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {name}")


def actions_of(studio: Served) -> list[Any]:
    """What has been done in the recording that is open."""
    return studio.desk.stage.recording.take.actions


def overflow(page: "Page") -> int:
    """Pixels that a page is wider than its window."""
    wide: int = page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide
