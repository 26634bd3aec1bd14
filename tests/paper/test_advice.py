"""The check of the advice: what is right, and a tiny one from beginning to end."""

from __future__ import annotations

import json

import pytest

from backplay.paper.advice.job import FRAMES, AdviceJob
from backplay.paper.advice.work import is_right, subject

NEEDED = {"Standard": None, "Uniform": 100, "Backplay": 124}


@pytest.mark.parametrize(
    ("said", "right"), [("Uniform", True), ("Backplay", True), ("Standard", False)]
)
def test_near_the_fastest_is_right(said: str, right: bool) -> None:
    assert is_right(said, NEEDED) is right
    assert is_right("Backplay", {**NEEDED, "Backplay": 126}) is False


def test_where_none_arrives_nothing_is_right_or_wrong() -> None:
    assert is_right("Uniform", dict.fromkeys(NEEDED)) is None


@pytest.mark.parametrize("task", FRAMES)
def test_every_task_has_a_demonstration_that_arrives(task: str) -> None:
    assert subject(task).demo.terminated


def test_a_tiny_check() -> None:
    job = AdviceJob(task="maze-8", frames=4_096)
    work = job.begin()
    assert work.training is None
    result = json.loads(json.dumps(work.result()))
    assert set(result["measures"]) == set(job.measures)
    assert result["said"] in ("Standard", "Uniform", "Backplay")
    assert 0.0 <= result["measures"]["sure"] <= 1.0
