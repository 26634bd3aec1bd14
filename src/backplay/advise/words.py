"""An `Advice` as a short text.

Comes in: an Advice. Goes out: lines. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from backplay.advise.advice import BAD, Advice
from backplay.advise.predict import REGIMES, Prediction


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
