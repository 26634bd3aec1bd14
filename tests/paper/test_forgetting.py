"""What is forgotten when windows move is what it was at first; the rest is kept."""

from __future__ import annotations

import pytest
import torch

from backplay.curricula import Backplay, Uniform, Window
from backplay.errors import BackplayError
from backplay.paper.forgetting import Forgetful, forgetful
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.grid_worlds.work import GridWork, begun

PARTS = {"values": ("values", "in_common"), "policy": ("logits",)}
FRAMES = 8_192  # eight updates; the windows have moved by the fourth


def work(forgets: str) -> GridWork:
    job = GridJob(world="bottlenecks", regime="pace 0.5", frames=FRAMES, forgets=forgets)
    return begun(job, None, None, ())


def weights(made: GridWork) -> dict[str, torch.Tensor]:
    return {name: part.detach().clone() for name, part in made.network.named_parameters()}


@pytest.mark.parametrize("forgets", ["nothing", "values", "policy", "both"])
def test_the_parts_are_put_back_when_the_windows_move(forgets: str) -> None:
    made = work(forgets)
    first, put_back = weights(made), set[str]()
    for _ in made.training.run():
        now = weights(made)
        put_back |= {name for name in first if torch.equal(now[name], first[name])}
    made.close()
    expected = {
        name for kind, names in PARTS.items() for name in names if forgets in (kind, "both")
    }
    assert put_back == expected


def test_one_that_is_resumed_forgets_as_often() -> None:
    whole, half = work("both"), work("both")
    steps = half.training.run()
    for _ in range(3):
        next(steps)
    state = half.training.state()
    again = work("both")
    again.training.load_state(state)
    for made in (whole, again):
        list(made.training.run())
    for name, part in weights(whole).items():
        torch.testing.assert_close(weights(again)[name], part, rtol=0, atol=0)
    for made in (whole, half, again):
        made.close()


def test_only_windows_that_move_by_frames_are_forgotten_with() -> None:
    given = {"values": ("v",), "policy": ("p",), "frames": 100}
    with pytest.raises(BackplayError, match="move by frames alone"):
        forgetful("values", starts=Uniform(), **given)
    windows = Backplay([Window(0, 0, 4), Window(50, 4, 8)])
    made = forgetful("values", starts=windows, **given)
    assert made.func is Forgetful
    assert made.keywords == {"parts": ("v",), "moves": [0.5]}
