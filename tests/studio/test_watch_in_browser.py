"""From a recording to a trained agent without leaving the page; runs watched, stopped, resumed."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import gymnasium as gym
import minari
import pytest
from pressing import LAKE, WAY, actions_of, begin, overflow, press, tab_to
from serving import Served

import backplay as bp
from backplay.curricula import Frontier, Uniform
from backplay.runs.execute import carry_out, prepare
from backplay.train import TrainConfig
from backplay.train.env_job import EnvJob

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
RUN = "runs/lake-backplay-0"
PATIENCE = 120_000  # milliseconds: a busy machine trains slowly


def test_a_recording_is_trained_from_to_success_and_watched(page: "Page", studio: Served) -> None:
    begin(page, studio, LAKE)
    press(page, WAY)
    page.click("#save")
    page.click("#train")
    page.fill("#frames", "20000")
    page.click("#start")
    page.wait_for_selector("[data-state='finished']", timeout=PATIENCE)
    success = page.inner_text("dd.success")
    assert re.fullmatch(r"\d+ %", success)
    assert int(success.removesuffix(" %")) >= 90  # drawn actions; the likeliest always arrive
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
    assert overflow(page) == 0


def test_a_training_is_stopped_and_resumed(page: "Page", studio: Served) -> None:
    env = gym.make("FrozenLake-v1", is_slippery=False)
    bp.record(env, [2, 2, 1, 1, 1, 2]).save(studio.desk.folder.path / "lake.npz")
    page.goto(studio.address("watch/train:lake.npz"))
    page.fill("#frames", "2000000")
    page.click("#start")
    page.wait_for_selector("#charts svg", timeout=PATIENCE)
    page.click("#stop")
    page.wait_for_selector("#resume", timeout=PATIENCE)
    stopped = studio.desk.run(RUN)["frames"]
    assert 0 < stopped < 2_000_000
    page.click("#resume")
    page.wait_for_selector("[data-state='training']", timeout=PATIENCE)
    while studio.desk.run(RUN)["frames"] <= stopped:
        page.wait_for_timeout(100)


def test_runs_are_overlaid_and_their_policies_filmed_by_keys_alone(
    page: "Page", studio: Served
) -> None:
    folder = studio.desk.folder.path
    env = gym.make("FrozenLake-v1", is_slippery=False)
    bp.record(env, [2, 2, 1, 1, 1, 2]).save(folder / "short.npz")
    bp.record(env, [2, 0, 2, 2, 1, 1, 1, 2]).save(folder / "long.npz")
    config = TrainConfig(
        frames=4_096, evaluate_every=2_048, evaluation_episodes=4, final_episodes=4
    )
    for name, starts in (("a", Uniform()), ("b", Frontier())):
        job = EnvJob.of("FrozenLake-v1", starts, config)
        run = prepare(folder / name, job, [folder / "short.npz", folder / "long.npz"])
        carry_out(run.path)
    page.goto(studio.address("watch/a%0Ab"))
    page.wait_for_selector("#film:not([disabled])")
    assert page.locator("#runs .card").count() == 2
    assert page.locator("#maps svg").count() == 2
    assert page.locator("#charts figure").first.locator("polyline").count() == 2
    page.select_option("#which", "b")
    page.wait_for_selector("#film:not([disabled])")
    page.fill("#demo", "1")
    page.keyboard.press("Tab")
    page.wait_for_selector(".strip:has-text('step 0 of 8')")
    tab_to(page, "ariaLabel", "Step")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("#stage[data-step='7']")
    page.focus("#film")
    page.keyboard.press("Enter")
    page.wait_for_selector("#outcome[data-start='7'][data-demo='1']")
    assert "after 4,096 frames" in page.inner_text("#outcome")


def test_a_demonstration_is_mended_and_exported(
    page: "Page", studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(studio.desk.folder.path / "datasets"))
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
    page.click("#minari")
    page.wait_for_selector("text=Written to")
    (episode,) = minari.load_dataset("studio/lake-v0").iterate_episodes()
    assert episode.actions.tolist() == [2, 0, 2, 2, 1, 1, 1, 2]
    page.click("#continue")
    page.wait_for_selector("#status[data-at='7']")
    assert actions_of(studio) == [2, 0, 2, 2, 1, 1, 1]
