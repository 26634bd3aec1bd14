"""Signs that the chain knows nothing of: dense rewards, other starts, detours, luck.

Comes in: a demonstration and what was measured. Goes out: `Sign`s, each with the numbers it rests
on in words. Does not know: predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from backplay.advise.measure import Measured, Rung
from backplay.demos import Demonstration
from backplay.rates import wilson

FloatArray = NDArray[np.float64]
Kind = Literal["easy", "dense", "starts", "detour", "revisits", "stochastic", "hopeless"]

EASY = 0.2  # success from the reset from which nobody needs a demonstration
SHAPED = 0.25  # share of steps with another reward than the commonest: rewards that say something
NEARER = 0.5  # of the costs far from the goal: dearer steps near it say nothing of the way
NUMBERS = 4_096  # of an observation that are looked at, at most
OFF = 0.2  # share of resets off the demonstration from which it is said


@dataclass(frozen=True)
class Sign:
    """Something about the task that bears on the choice of a curriculum."""

    kind: Kind
    words: str
    share: float = 1.0
    """How much of it there is, 0 to 1, where that can be said."""


def find_signs(space: gym.Space[Any], demo: Demonstration, measured: Measured) -> tuple[Sign, ...]:
    """Every sign that shows."""
    found = [
        _easy(demo, measured), _dense(demo, measured), _starts(space, demo, measured),
        _detour(measured.rungs), _revisits(space, demo), _hopeless(measured.rungs),
    ]  # fmt: skip
    if measured.stochastic:
        words = "The same actions lead elsewhere with other luck: the environment is stochastic."
        found.append(Sign("stochastic", words))
    return tuple(sign for sign in found if sign is not None)


def _easy(demo: Demonstration, measured: Measured) -> Sign | None:
    reset = measured.reset
    if reset.success >= EASY:
        words = (
            f"The policy succeeds from {reset.success:.0%} of the environment's own resets already."
        )
        return Sign("easy", words, reset.success)
    returns = np.array([rewards.sum() for rewards in measured.reset_rewards])
    as_good = float((returns >= demo.rewards.sum() - 1e-9).mean())
    varied = float(returns.std()) > 0
    if as_good >= EASY and varied:
        words = f"{as_good:.0%} of the policy's episodes earn as much as the demonstration."
        return Sign("easy", words, as_good)
    return None


def _dense(demo: Demonstration, measured: Measured) -> Sign | None:
    """Rewards that tell good from bad long before the end, and side with the demonstration."""
    rewards = np.concatenate(measured.reset_rewards)
    values, counts = np.unique(np.round(rewards, 9), return_counts=True)
    common = float(values[counts.argmax()])
    varied = 1 - float(counts.max()) / len(rewards)
    lengths = np.array([len(one) for one in measured.reset_rewards])
    survival = common > 0 and varied < SHAPED and float((lengths < len(demo)).mean()) > 0.5
    if not survival and varied < SHAPED:
        return None
    for share in (0.25, 0.5, 0.75):
        steps = max(1, int(share * len(demo)))
        ours = np.array([one[:steps].sum() for one in measured.reset_rewards])
        if float((ours < demo.rewards[:steps].sum() - 1e-9).mean()) < 0.8:
            return None
    if _costs_of_acting(demo.rewards):
        return None
    what = (
        "Staying alive is paid for" if survival
        else f"{varied:.0%} of the steps have a reward of their own"
    )  # fmt: skip
    return Sign("dense", f"{what}, and the demonstration earns more than the policy from early on.")


def _costs_of_acting(rewards: FloatArray) -> bool:
    """Whether nothing is ever earned and steps cost about as much near the goal as far from it."""
    quarter = max(1, len(rewards) // 4)
    first, last = float(rewards[:quarter].mean()), float(rewards[-quarter:].mean())
    return bool(rewards.max() <= 0) and last <= NEARER * first


def _starts(space: gym.Space[Any], demo: Demonstration, measured: Measured) -> Sign | None:
    """Resets that are off the demonstration, measured by its own steps."""
    seen = _flat(space, measured.reset_observations)
    shown = _flat(space, demo.observations)
    if seen is None or shown is None:
        return None
    spread = np.concatenate([shown, seen]).std(0)
    scale = np.where(spread > 0, spread, 1.0)
    nearest = _nearest(seen / scale, shown / scale)
    steps = np.linalg.norm(np.diff(shown / scale, axis=0), axis=1)
    own = float(np.median(steps))
    across = float(np.linalg.norm((shown - shown[0]) / scale, axis=1).max())
    # Where all states are equally far apart (one-hot), to be off is to be none of them.
    limit = 0.5 * own if across < 1.5 * own else max(3 * own, 0.5 * across)
    off = float((nearest > max(limit, 1e-9)).mean())
    if off < OFF:
        return None
    words = (
        f"{off:.0%} of the resets are off the demonstration: the median is"
        f" {float(np.median(nearest)) / max(own, 1e-9):.0f} of its steps away from it."
    )
    return Sign("starts", words, off)


def _detour(rungs: Sequence[Rung]) -> Sign | None:
    """An earlier state from which the policy succeeds clearly more often than from a later one."""
    worst = None
    for later, near in enumerate(rungs):
        for far in rungs[later + 1 :]:
            gap = _interval(far)[0] - _interval(near)[1]
            if gap > 0.05 and (worst is None or gap > worst[0]):
                worst = gap, near, far
    if worst is None:
        return None
    _, near, far = worst
    words = (
        f"From {far.steps_back} steps back the policy succeeds in {far.success:.0%}, from"
        f" {near.steps_back} steps back in {near.success:.0%}: the demonstration passes a trap or"
        " takes a detour."
    )
    return Sign("detour", words, worst[0])


def _revisits(space: gym.Space[Any], demo: Demonstration) -> Sign | None:
    shown = _flat(space, demo.observations)
    if shown is None:
        return None
    again = 1 - len(np.unique(shown, axis=0)) / len(shown)
    if again < 0.1:
        return None
    return Sign(
        "revisits", f"{again:.0%} of the demonstration's states look like one before.", again
    )


def _hopeless(rungs: Sequence[Rung]) -> Sign | None:
    if any(rung.successes for rung in rungs):
        return None
    words = "The policy succeeded from nowhere, not even next to the end."
    return Sign("hopeless", words)


def _flat(space: gym.Space[Any], observations: Sequence[Any]) -> FloatArray | None:
    """Observations as rows of numbers, [n, d]; None where the space has no such form.

    Of a picture some of its numbers, evenly spread: they tell two apart as well as all.
    """
    try:
        each = max(1, -(-gym.spaces.flatdim(space) // NUMBERS))
        rows = []
        for observation in observations:
            whole: Any = gym.spaces.flatten(space, observation)
            rows.append(np.array(whole[::each], np.float64))
        flat = np.stack(rows)
    except (NotImplementedError, TypeError, ValueError, AttributeError, IndexError):
        return None
    return flat if flat.ndim == 2 and np.isfinite(flat).all() else None


def _nearest(points: FloatArray, others: FloatArray) -> FloatArray:
    """Distance of each point to the nearest of the others, [n]."""
    return np.array([np.linalg.norm(others - point, axis=1).min() for point in points])


def _interval(rung: Rung) -> tuple[float, float]:
    """Of the success from a rung."""
    return wilson(rung.successes, rung.rollouts)
