"""The answer: which regime to expect fastest, with what windows, and why; and the same in words.

Comes in: predictions, signs and what was measured. Goes out: `Advice`, plain data, and its text.
Does not know: how anything was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.advise.fit import REGIMES, Fit, Prediction, summarise
from backplay.advise.measure import Measured, Rung
from backplay.advise.signs import Sign
from backplay.curricula import Curriculum, Frontier, Standard, Uniform

FloatArray = NDArray[np.float64]

CLEAR = 1.5  # Standard within this factor of the best is preferred: it needs no demonstration
ERROR = 0.3  # log10: the theory may be off by a factor of 2 for one regime and not for another
BAD = 4.0  # dispersion from which the chain is not to be trusted
LEARNER = 20  # frames of a learner by gradients for one frame of the theory's, roughly
REWARDED = 200_000  # frames to begin with where rewards or luck show the way
LEAST, MOST = 500_000, 50_000_000  # the budget that was tried, see results/learner.md; the largest


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to expect of the three regimes on one task, before any training."""

    env_id: str | None
    demo_steps: int
    """Length of the demonstration."""
    rungs: tuple[Rung, ...]
    """What was measured, by steps back; the last is the environment's own reset."""
    alpha: float
    """Chance of a step nearer on the effective chain, beyond the break: the harder part mostly."""
    alpha_interval: tuple[float, float]
    """95 %."""
    alpha_near: float
    """The same up to the break."""
    break_steps: int
    """Steps back at which alpha changes."""
    unit: int
    """Steps of the demonstration that a step of the chain stands for."""
    misfit: float
    """How much worse the chain fits than chance allows; 1 is as well as can be."""
    signs: tuple[Sign, ...]
    """What bears on the choice beside the chain."""
    predictions: Mapping[str, Prediction]
    """Frames by regime: Standard, Uniform, Backplay."""
    fastest: str
    """The regime to expect fastest."""
    sure: float
    """How sure that is, 0 to 1: a rough score, not a probability that was ever calibrated."""
    helps: bool
    """Whether Backplay is worth a demonstration here."""
    reasons: tuple[str, ...]
    """Why, in sentences."""
    budget: int
    """Frames to begin with."""
    out_of_time: bool
    """Whether the clock ended the measuring."""

    @property
    def curriculum(self) -> Curriculum:
        """The recommended curriculum, ready to use."""
        if self.fastest == "Standard":
            return Standard()
        if self.fastest == "Uniform":
            return Uniform()
        return Frontier()

    @property
    def line(self) -> str:
        """The recommended curriculum as a line of Python."""
        return f"bp.{type(self.curriculum).__name__}()"

    def as_json(self) -> dict[str, Any]:
        """Plain data; frames that no float holds are None, their logarithms are there."""
        plain = asdict(self)
        for name, prediction in self.predictions.items():
            frames = prediction.frames
            plain["predictions"][name]["frames"] = frames if isfinite(frames) else None
        return {**plain, "line": self.line}


def conclude(
    env_id: str | None,
    demo_steps: int,
    measured: Measured,
    fit: Fit,
    signs: tuple[Sign, ...],
    draws: Mapping[str, FloatArray],
    rng: np.random.Generator,
) -> Advice:
    """The advice; `rng` draws what the theory may be wrong by."""
    predictions = {name: summarise(draws[name]) for name in REGIMES}
    kinds = {sign.kind: sign for sign in signs}
    fastest, sure = _fastest(predictions, draws, rng)
    if fit.dispersion > BAD:
        sure *= (BAD / fit.dispersion) ** 0.5
    if {"hopeless", "detour"} & kinds.keys():
        sure *= 0.7
    reasons = []
    rewarded = "dense" in kinds or "easy" in kinds
    if rewarded:
        fastest, sure = "Standard", 0.75
        reasons += [kinds[kind].words for kind in ("easy", "dense") if kind in kinds]
        reasons.append("Plain training has something to learn from at once; Backplay adds little.")
    if "starts" in kinds:
        reasons.append(f"{kinds['starts'].words} What is learned along it does not reach them.")
        sure *= 1 - 0.5 * kinds["starts"].share
    others = ("hopeless", "detour", "stochastic", "revisits")
    reasons += [kinds[kind].words for kind in others if kind in kinds]
    gain = predictions["Standard"].log10_frames - predictions["Backplay"].log10_frames
    helps = fastest != "Standard" and gain > np.log10(2)
    if not helps and not reasons:
        reasons.append("Standard is expected to be about as fast; Backplay will not help much.")
    return Advice(
        env_id=env_id,
        demo_steps=demo_steps,
        rungs=measured.rungs,
        alpha=float(np.median(fit.far)),
        alpha_interval=(float(np.quantile(fit.far, 0.025)), float(np.quantile(fit.far, 0.975))),
        alpha_near=float(np.median(fit.near)),
        break_steps=int(np.median(fit.breaks)) * fit.unit,
        unit=fit.unit,
        misfit=fit.dispersion,
        signs=signs,
        predictions=predictions,
        fastest=fastest,
        sure=float(sure),
        helps=bool(helps),
        reasons=tuple(reasons),
        budget=REWARDED if rewarded else budget_for(predictions[fastest]),
        out_of_time=measured.out_of_time,
    )


def _fastest(
    predictions: Mapping[str, Prediction],
    draws: Mapping[str, FloatArray],
    rng: np.random.Generator,
) -> tuple[str, float]:
    """The regime with the lowest median, Standard where it is about as good; and how sure."""
    best = min(REGIMES, key=lambda name: predictions[name].log10_frames)
    margin = float(np.log10(CLEAR))
    if predictions["Standard"].log10_frames <= predictions[best].log10_frames + margin:
        best = "Standard"
    wrong = {name: draws[name] + rng.normal(0.0, ERROR, len(draws[name])) for name in REGIMES}
    wrong["Standard"] -= margin
    others = [wrong[name] for name in REGIMES if name != best]
    return best, float(np.mean(wrong[best] <= np.min(others, axis=0)))


def budget_for(prediction: Prediction) -> int:
    """Frames to begin with: a round number with room for what the theory leaves out."""
    wanted = LEARNER * prediction.frames
    rounds = [digit * 10**power for power in range(4, 8) for digit in (1, 2, 5)]
    return next((value for value in rounds if value >= max(wanted, LEAST)), MOST)


def describe(advice: Advice) -> str:
    """The answer first, then why, then the numbers."""
    return "\n".join(_lines(advice))


def _lines(advice: Advice) -> Iterator[str]:
    helps = "is likely to help" if advice.helps else "is not likely to help much"
    yield f"Backplay {helps}. Expected fastest: {advice.fastest} ({_sure(advice)})."
    for reason in advice.reasons:
        yield f"  - {reason}"
    yield ""
    yield "success of the policy by steps back from the demonstration's end:"
    near = "  ".join(f"{rung.steps_back}: {rung.success:.0%}" for rung in advice.rungs[:-1])
    reset = advice.rungs[-1]
    yield f"  {near}" if near else "  (the demonstration has one step)"
    yield f"  the environment's own reset: {reset.success:.1%} of {reset.rollouts}"
    low, high = advice.alpha_interval
    step = "a step" if advice.unit == 1 else f"{advice.unit} steps"
    yield (
        f"chance of {step} nearer, on an effective chain: {advice.alpha_near:.2f} up to"
        f" {advice.break_steps} steps back, {advice.alpha:.2f} [{low:.2f}, {high:.2f}] beyond"
    )
    if advice.misfit > BAD:
        yield "  (a chain describes this demonstration badly; trust it less)"
    yield ""
    yield "frames by the theory's count, orders of magnitude only:"
    for name in REGIMES:
        yield f"  {name:<9} {_frames(advice.predictions[name])}"
    if {"dense", "easy"} & {sign.kind for sign in advice.signs}:
        yield "It takes success for the only signal, which it is not here: Standard will do better."
    yield "A learner by gradients needs more than this count; what to compare is the ratio."
    if advice.out_of_time:
        yield "The time ran out before all rollouts were played; --seconds gives it more."


def _sure(advice: Advice) -> str:
    if advice.sure >= 0.85:
        return "fairly sure"
    return "likely" if advice.sure >= 0.6 else "a guess"


def _frames(prediction: Prediction) -> str:
    ends = (prediction.log10_low, prediction.log10_high)
    low, high = (_power(value) for value in ends)
    return f"{_power(prediction.log10_frames):>8}  [{low}, {high}]"


def _power(log10: float) -> str:
    if log10 > 12:
        return "> 1e12"
    return f"{10**log10:.0e}".replace("e+0", "e").replace("e+", "e")
