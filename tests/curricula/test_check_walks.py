"""check_curriculum on curricula that walk: every rule of walks is broken once, and named."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from backplay.curricula import Standard, check_curriculum
from backplay.errors import BackplayError
from backplay.records import Start, Walk


@dataclass(frozen=True)
class OneWalk(Standard):
    """Half of the starts on a walk of five steps, half in the initial state of the first."""

    walks: tuple[Walk, ...] = (Walk(2, Start(0, 1), 5, 0), Walk(4, Start(2, 5), 3, 0))
    id: int = 4
    step: int = 3
    share: float = 0.5

    def demo_weights(self, lengths: Any) -> Any:
        return np.array([self.share, 0.0])

    def sample(self, lengths: Any, n: int, rng: np.random.Generator) -> Any:
        walks = rng.random(n) < 0.5
        return np.where(walks, self.id, 0), np.where(walks, self.step, 0)


def test_a_sound_walk_passes() -> None:
    check_curriculum(OneWalk(), (3, 3), frames=())


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (OneWalk(walks=(Walk(1, Start(0, 1), 5, 0),)), "walks have ids of their own"),
        (OneWalk(walks=(OneWalk.walks[1],)), "walks set out from known states"),
        (OneWalk(walks=OneWalk.walks[::-1]), "walks set out from known states"),
        (OneWalk(walks=(Walk(2, Start(0, 3), 5, 0),)), "walks set out from known states"),
        (OneWalk(id=3), "demo in 0..1 or the id of a walk"),
        (OneWalk(walks=()), "demo_weights.* sums to 1"),
        (OneWalk(step=4), "0 <= step <= steps of the walk"),
        (OneWalk(share=0.4), "sample agrees with weights: expected (walks|demo 0, step 0) in 0"),
        (OneWalk(share=1.5), "demo_weights.* sums to 1"),
        (replace(OneWalk(share=1.0), walks=()), "demo in 0..1, got"),
    ],
)
def test_a_broken_walk_is_named(broken: Any, rule: str) -> None:
    with pytest.raises(BackplayError, match=rule):
        check_curriculum(broken, (3, 3), frames=())
