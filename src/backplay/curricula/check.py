"""The contract of a curriculum as a function anyone can call on their own.

Comes in: a curriculum and the lengths of demonstrations to try it on. Goes out: nothing, or a
BackplayError that names the first broken rule and what to do.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from math import exp, factorial, inf
from typing import Any, NoReturn, TypeVar

import numpy as np

from backplay.curricula.curriculum import Curriculum, FloatArray, IntArray, as_lengths
from backplay.curricula.serialise import from_json, kinds_in, to_json
from backplay.errors import BackplayError, show
from backplay.records import Episode, Start

T = TypeVar("T")
METHODS = ("weights", "update", "demo_weights", "sample", "describe")


def check_curriculum(
    curriculum: Curriculum,
    lengths: Sequence[int] = (1, 2, 5, 37, 200),
    *,
    frames: Sequence[int] = (0, 1, 10**3, 10**5, 10**6, 10**7, 10**8, 10**9),
    draws: int = 20_000,
    seed: int = 0,
) -> None:
    """Raise a BackplayError that names the first rule of a curriculum this one breaks.

    The curriculum is tried as it is and after an update at each of `frames`, with episodes that
    succeeded and failed, so that what it says later in training is checked too.

    Args:
        curriculum: the value to check; it is left as it was.
        lengths: lengths of the demonstrations to try it on, [num_demos].
        frames: total frames of training at which to try it, counted from its own clock.
        draws: how many starts to draw when comparing `sample` with `weights`.
        seed: of the generator that draws them; the check is deterministic.
    """
    demo_lengths = as_lengths(lengths)
    _check_methods(curriculum)
    _check_value(curriculum)
    clock = getattr(curriculum, "frames", 0)
    clock = clock if isinstance(clock, int) else 0  # its own clock must not be asked to go back
    stage = curriculum
    _check_distribution(stage, demo_lengths, draws, seed)
    for count in frames:
        stage = _check_update(stage, demo_lengths, clock + count, seed)
        _check_value(stage)
        _check_distribution(stage, demo_lengths, draws, seed)


def _check_methods(curriculum: Curriculum) -> None:
    if isinstance(curriculum, type):
        _broken("it is a value", "an instance", curriculum, f"Pass {curriculum.__name__}(...).")
    for name in METHODS:
        if not callable(getattr(curriculum, name, None)):
            _broken(
                f"it has a method {name}",
                f"the methods {', '.join(METHODS)}",
                f"{type(curriculum).__name__} without {name}",
                "Inherit from backplay.Curriculum: it brings all but weights and update.",
            )


def _check_value(curriculum: Curriculum) -> None:
    """A dataclass equals and hashes like its copy, and survives JSON."""
    if not is_dataclass(curriculum):
        return
    twin = copy.deepcopy(curriculum)
    if twin != curriculum:
        _broken(
            "equal values are equal", "a copy equal to it", "a copy that is not", "Keep eq=True."
        )
    if type(curriculum).__dataclass_params__.frozen:
        codes = _try("hash", lambda: (hash(curriculum), hash(twin)), "Use tuples, not lists.")
        if codes[0] != codes[1]:
            _broken("equal values hash alike", codes[0], codes[1], "Hash the fields, not the id.")
    kinds = kinds_in(curriculum)
    again = _try("JSON", lambda: from_json(to_json(curriculum), kinds=kinds), "Use plain fields.")
    if again != curriculum:
        _broken("it survives JSON", curriculum, again, "Keep all that matters in dataclass fields.")


def _check_update(stage: Curriculum, lengths: IntArray, frames: int, seed: int) -> Curriculum:
    """The curriculum after an update that broke no rule."""
    demo, step = _sample(stage, lengths, 8, seed)
    starts = [Start(int(d), int(s)) for d, s in zip(demo, step, strict=True)]
    far = [int(lengths[s.demo]) - s.step if s.demo < len(lengths) else 1 for s in starts]
    episodes = [
        Episode(start, float(i % 2), 3, i % 2 == 1, back, 1.0)
        for i, (start, back) in enumerate(zip(starts, far, strict=True))
    ]
    episodes.append(Episode(None, 0.0, 10, False))  # an episode may begin in the env's own reset
    before, twin = _all_weights(stage, lengths), copy.deepcopy(stage)
    call = f"update(episodes, {frames})"
    after = _try(call, lambda: stage.update(episodes, frames), "Accept any episodes, even none.")
    if type(after) is not type(stage):
        _broken(
            "update returns the next curriculum",
            f"a {type(stage).__name__}",
            after,
            "End update with `return dataclasses.replace(self, ...)`.",
        )
    unchanged = all(map(np.array_equal, before, _all_weights(stage, lengths)))
    if not unchanged or (is_dataclass(stage) and twin != stage):
        _broken(
            "update leaves the old value unchanged",
            "the same weights and fields as before the update",
            "others",
            "Make the dataclass frozen and build the next one with dataclasses.replace.",
        )
    none: list[Episode] = []
    once = _try(f"update([], {frames})", lambda: after.update(none, frames), "Accept no episodes.")
    twice = once.update(none, frames)
    # The clock itself may not show in the weights yet, so fields are compared where there are any.
    same = once == twice if is_dataclass(once) else True
    if not same or not all(
        map(np.array_equal, _all_weights(once, lengths), _all_weights(twice, lengths))
    ):
        _broken(
            "frames is the total so far",
            "no change when update says the same frames again without episodes",
            "a change",
            "Store frames as it comes; do not add it to your own count.",
        )
    return after


def _check_distribution(stage: Curriculum, lengths: IntArray, draws: int, seed: int) -> None:
    """Weights and demo weights are distributions, and `sample` draws from them."""
    walks = _walk_steps(stage, lengths)
    for demo, length in enumerate(lengths.tolist()):
        _check_weights(stage, demo, length)
    demo_weights = _try("demo_weights", lambda: stage.demo_weights(lengths), "Return [num_demos].")
    call = f"demo_weights({show(lengths)})"
    _check_probabilities(call, demo_weights, len(lengths), at_most=bool(walks))
    _check_sample(stage, lengths, demo_weights, draws, seed)


def _walk_steps(stage: Curriculum, lengths: IntArray) -> dict[int, int]:
    """The steps of each walk by its id; each must set out from a state that is known by then."""
    last = {demo: length - 1 for demo, length in enumerate(lengths.tolist())}
    latest = len(last) - 1
    for walk in getattr(stage, "walks", ()):
        if walk.demo <= latest:
            ids = f"ids that rise from {len(lengths)} on, the number of demonstrations"
            _broken("walks have ids of their own", ids, walk.demo, "Count on; reuse no id.")
        if not 0 <= walk.start.step <= last.get(walk.start.demo, -1):
            known = "a state of a demonstration or of a walk listed before"
            _broken("walks set out from known states", known, walk.start, "List that walk too.")
        last[walk.demo], latest = walk.steps, walk.demo
    return {demo: steps for demo, steps in last.items() if demo >= len(lengths)}


def _check_weights(stage: Curriculum, demo: int, length: int) -> None:
    call = f"weights({demo}, {length})"
    weights = _try(call, lambda: stage.weights(demo, length), "Accept any length from 1 on.")
    _check_probabilities(call, weights, length + 1)
    if weights[-1] != 0.0:
        _broken(
            f"{call} is 0 at the end",
            "0 for the last state: no episode can start there",
            weights[-1],
            "Move that weight to the state before.",
        )
    before = weights.copy()
    if weights.flags.writeable:
        weights[:] = -1.0  # a caller may do what it likes with the array it was given
    if not np.array_equal(before, stage.weights(demo, length)):
        _broken(
            f"{call} is deterministic",
            "the same weights when asked again",
            "others",
            "Compute them from the fields alone and return a new array; randomness is in sample.",
        )


def _check_probabilities(call: str, weights: Any, size: int, *, at_most: bool = False) -> None:
    """Refuse anything but a float64 array [size] of probabilities; `at_most`: of some of them."""
    kind = f"{weights.dtype}{list(weights.shape)}" if isinstance(weights, np.ndarray) else weights
    if not isinstance(weights, np.ndarray) or weights.shape != (size,):
        _broken(f"{call} has the right shape", f"a numpy array [{size}]", kind, "One per state.")
    if weights.dtype != np.float64:
        _broken(f"{call} is float64", f"float64[{size}]", kind, "Use weights.astype(np.float64).")
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        _broken(
            f"{call} is not negative", "finite numbers >= 0", weights, "Clip before normalising."
        )
    excess = float(weights.sum()) - 1.0
    if excess > 1e-9 or (excess < -1e-9 and not at_most):
        _broken(f"{call} sums to 1", 1.0, 1.0 + excess, "Divide by the sum.")


def _sample(stage: Curriculum, lengths: IntArray, n: int, seed: int) -> tuple[IntArray, IntArray]:
    """`n` starts from `sample`, in range and the same for the same generator."""
    call = f"sample({show(lengths)}, {n}, rng)"

    def draw() -> tuple[IntArray, IntArray]:
        demo, step = stage.sample(lengths, n, np.random.default_rng(seed))
        return np.asarray(demo), np.asarray(step)

    demo, step = _try(call, draw, "Return the arrays (demo [n], step [n]).")
    for name, drawn in (("demo", demo), ("step", step)):
        if drawn.shape != (n,) or drawn.dtype != np.int64:
            got = f"{drawn.dtype}{list(drawn.shape)}"
            _broken(f"{call} returns {name} [n]", f"int64[{n}]", got, "Draw one start for each n.")
    walks = _walk_steps(stage, lengths)
    on_walk = np.isin(demo, list(walks))
    if ((demo < 0) | (demo >= len(lengths)))[~on_walk].any():
        expected = f"demo in 0..{len(lengths) - 1}" + (" or the id of a walk" if walks else "")
        _broken(f"{call} in range", expected, demo, "Index the lengths, or list the walk.")
    if ((step < 0) | (step >= lengths[np.where(on_walk, 0, demo)]))[~on_walk].any():
        _broken(f"{call} in range", "0 <= step < lengths[demo]", step, "Clip to length - 1.")
    beyond = [s for d, s in zip(demo, step, strict=True) if d in walks and not 0 <= s <= walks[d]]
    if beyond:
        _broken(f"{call} in range", "0 <= step <= steps of the walk", beyond, "Clip to its steps.")
    if not all(map(np.array_equal, (demo, step), draw())):
        _broken(
            f"{call} depends on rng alone",
            "the same starts for the same generator",
            "others",
            "Draw only from the rng that is passed in.",
        )
    return demo, step


def _check_sample(
    stage: Curriculum, lengths: IntArray, demo_weights: FloatArray, draws: int, seed: int
) -> None:
    """Compare the counts of drawn starts with the weights; all walks together count as one."""
    demo, step = _sample(stage, lengths, draws, seed)
    rows = np.append(0, np.cumsum(lengths + 1))
    on_walk = demo >= len(lengths)
    observed = np.bincount((rows[demo[~on_walk]] + step[~on_walk]), minlength=rows[-1])
    observed = np.append(observed, on_walk.sum())
    share = np.repeat(demo_weights, lengths + 1) * np.concatenate(_all_weights(stage, lengths))
    share = np.append(share, max(0.0, 1.0 - demo_weights.sum()) if on_walk.any() else 0.0)
    wrong = np.flatnonzero((share == 0.0) & (observed > 0))
    if not wrong.size and _surprise(observed, draws * share) < 6.0:
        return
    worst = int(wrong[0] if wrong.size else np.abs(observed - draws * share).argmax())
    where = int(np.searchsorted(rows, worst, side="right")) - 1
    place = "walks" if worst == rows[-1] else f"demo {where}, step {worst - rows[where]}"
    _broken(
        "sample agrees with weights",
        f"{place} in {share[worst]:.4f} of the starts",
        f"{observed[worst] / draws:.4f} of {draws} starts",
        "Correct sample, or remove it to inherit the one that draws from weights.",
    )


def _surprise(observed: IntArray, expected: FloatArray) -> float:
    """How many standard deviations the counts are off: a chi-square test, by Wilson-Hilferty."""
    rare = expected < 5.0  # chi-square needs a few counts per cell, so rare cells count as one
    seen, mean = observed[~rare].astype(np.float64), expected[~rare]
    rest, rest_mean = int(observed[rare].sum()), float(expected[rare].sum())
    if rest_mean >= 5.0:
        seen, mean = np.append(seen, rest), np.append(mean, rest_mean)
    elif _poisson_tail(rest, rest_mean) < 1e-9:  # six standard deviations
        return inf
    if not len(mean):
        return 0.0
    freedom = max(1, len(mean) - 1)
    chi_square = float(((seen - mean) ** 2 / mean).sum())
    spread = 2.0 / (9.0 * freedom)
    return float(((chi_square / freedom) ** (1.0 / 3.0) - (1.0 - spread)) / spread**0.5)


def _poisson_tail(count: int, mean: float) -> float:
    """The chance of `count` or more where `mean` are expected."""
    terms = (exp(-mean) * mean**i / factorial(i) for i in range(min(count, 100)))
    return 1.0 - sum(terms)


def _all_weights(stage: Curriculum, lengths: IntArray) -> list[FloatArray]:
    return [stage.weights(demo, length).copy() for demo, length in enumerate(lengths.tolist())]


def _try(call: str, function: Callable[[], T], do: str) -> T:
    """The function's result; any exception of the curriculum's own becomes a broken rule."""
    try:
        return function()
    except Exception as error:
        raise BackplayError(
            f"curriculum rule broken: {call} works",
            expected="no exception",
            got=f"{type(error).__name__}: {error}",
            do=do,
        ) from error


def _broken(rule: str, expected: object, got: object, do: str) -> NoReturn:
    text = got if isinstance(got, str) else show(got)
    raise BackplayError(f"curriculum rule broken: {rule}", expected=expected, got=text, do=do)
