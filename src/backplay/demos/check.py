"""Does a demonstration hold on an environment? Restore every state, replay the rest, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from backplay.data import trees
from backplay.demos import sights
from backplay.demos.demonstration import Demonstration
from backplay.demos.described import describe_env
from backplay.demos.doubts import find_doubts
from backplay.demos.fitting import Settings
from backplay.demos.record import find_exact
from backplay.demos.sights import fingerprint
from backplay.demos.success import Success, SuccessRule, describe_rule, success_rule
from backplay.errors import BackplayError, DemonstrationError, ensure
from backplay.restore import Replay, renew
from backplay.restore.rollout import (
    AnyEnv,
    Divergence,
    replay,
    replay_from_reset,
    require_env,
    reset_to_another,
)

WAYS, LONG = 16, 100  # states that are tried where each takes a way of more than so many steps
_NOT_COMPARED = (
    "it has no actions: states were restored and saved again, but what the env answers after a"
    " restore (observations, rewards, endings) was not compared"
)
_NOT_EVEN_STATES = (
    "it has no actions, and {} states cannot be compared: they were restored, and nothing more"
)


@dataclass(frozen=True)
class Checked:
    """What `check` found. `print` it."""

    restorer: str
    """What restored the states."""
    restored: int
    """How many states were restored."""
    replayed: int
    """How many steps were replayed from them."""
    divergence: Divergence | None = None
    """The first answer that differs, or None: the demonstration restores exactly."""
    restored_at: int | None = None
    """The state from which it diverged."""
    exact_restorer: str | None = None
    """Where the demonstration's own restorer is not exact: one that would be."""
    other_settings: bool = False
    """Whether the env has settings of its own, so that the same actions may well lead elsewhere."""
    success: str = ""
    """What counts as a success, in words."""
    remarks: tuple[str, ...] = field(default=())
    """What else is worth knowing: loops, wasted steps, no success, other package versions."""

    @property
    def exact(self) -> bool:
        """Whether every restored state answered exactly as recorded."""
        return self.divergence is None

    @property
    def other_limit(self) -> bool:
        """Whether what differs is a limit of steps, which no restorer mends."""
        found = self.divergence
        return found is not None and found.field == "truncated" and not self.exact_restorer

    def __str__(self) -> str:
        if self.divergence is None:
            lines = [
                f"exact: {self.restored} states restored by {self.restorer},"
                f" {self.replayed} steps replayed, no difference"
            ]
        else:
            lines = [
                f"not exact: restored at step {self.restored_at}, differs at {self.divergence}"
            ]
            lines += [self._why()]
        lines += [f"success: {self.success}"] if self.success else []
        return "\n".join(lines + [f"note: {remark}" for remark in self.remarks])

    def _why(self) -> str:
        if self.other_settings:
            return "as is to be expected: from the restored state on, this env's own settings hold"
        if self.exact_restorer:
            return f"exact would be: {self.exact_restorer}"
        if self.other_limit:
            return "this env ends episodes after another number of steps than the recording's"
        return (
            "no other restorer is exact either: this env is another one than the recording's,"
            " or not deterministic"
        )


def check(
    env: AnyEnv,
    demo: Demonstration,
    *,
    max_steps: int = 200_000,
    must_be_exact: bool = True,
    settings: Settings = "recorded",
    success: Success | None = None,
) -> Checked:
    """Restores every recorded state in `env`, replays the rest, compares every answer to the bit.

    All of the rest is replayed from every state if that takes at most `max_steps` steps; if not, as
    many steps from each as that allows, and the whole from the first. Where a restore goes the
    whole way to a state again, and that is long, some states are tried. Raises BackplayError if
    anything differs, unless `must_be_exact` is False. `settings` as for BackplayEnv: with "mine",
    what is found exact is exact under the settings of `env`. `success` as for BackplayEnv: the
    report says which rule is in force and what speaks against the demonstration being a success.
    """
    require_env(env)
    ensure(
        isinstance(demo, Demonstration), "demo", "a demonstration", demo,
        do="Write check(env, demo); a file is loaded by bp.load(path).",
    )  # fmt: skip
    other = settings == "mine" and not _fits(env, demo)
    demo = demo.fit(env, settings)
    rule = success_rule(success, [demo])
    whole = demo.actions is not None
    report = _restore_all(env, demo, max_steps, rule) if whole else _states_alone(env, demo, rule)
    report = replace(report, other_settings=other)
    if report.exact:
        return report
    if must_be_exact:
        raise BackplayError(
            "This demonstration does not restore exactly",
            expected="the recorded answers after every restore",
            got=str(report),
            do="Pass must_be_exact=False to see it as a report: these settings are your wish."
            if other
            else f"Record it again with restorer={report.exact_restorer!r}."
            if report.exact_restorer
            else "Give the env the limit of steps that it had when it was recorded."
            if report.other_limit
            else "Training from these states would teach another task. Make the env deterministic"
            " given its seed, or give it get_state() and set_state().",
        )
    return report


def _fits(env: AnyEnv, demo: Demonstration) -> bool:
    """Whether the env has the settings of the recording."""
    try:
        demo.fit(env)
    except DemonstrationError:
        return False
    return True


def _restore_all(env: AnyEnv, demo: Demonstration, max_steps: int, rule: SuccessRule) -> Checked:
    length = len(demo)
    whole = length * (length + 1) // 2
    horizon = length if whole <= max_steps else max(1, max_steps // length)
    reset_to_another(env, demo.seed, demo.options)
    # In a scattered order: a restore must not depend on what was restored before it.
    tried, remarks = np.arange(length), _remarks(env, demo, rule)
    if isinstance(demo.restorer, Replay) and length > LONG:
        tried = np.linspace(0, length - 1, WAYS).astype(np.int64)
        remarks += (f"each restore goes the whole way again: {WAYS} of {length} states were tried",)
    order = np.random.default_rng(0).permutation(tried).tolist()
    restored, replayed, failure = _restore_each(env, demo, order, horizon)
    found = Checked(
        demo.restorer.name, restored, replayed, success=describe_rule(rule), remarks=remarks
    )
    if failure is None:
        return found
    # Then from the first state on, to name the first divergence; the other counts if this has none.
    *_, first = _restore_each(env, demo, sorted(order), horizon)
    divergence, at = first or failure
    would_be = _would_be_exact(env, demo)
    return replace(found, divergence=divergence, restored_at=at, exact_restorer=would_be)


def _states_alone(env: AnyEnv, demo: Demonstration, rule: SuccessRule) -> Checked:
    """Restores every state and saves it again: all that can be compared without actions."""
    reset_to_another(env, demo.seed, demo.options)
    storable = demo.restorer.storable
    said = _NOT_COMPARED if storable else _NOT_EVEN_STATES.format(demo.restorer.name)
    found = Checked(
        demo.restorer.name, len(demo) + 1, 0, success=describe_rule(rule),
        remarks=(*_remarks(env, demo, rule), said),
    )  # fmt: skip
    for t in (int(t) for t in np.random.default_rng(0).permutation(len(demo) + 1)):
        state = demo.snapshot(t).state
        try:
            demo.restorer.load(env, state)
            again = demo.restorer.save(env) if storable else state
            difference = trees.first_difference(again, state)
        except Exception as error:  # whatever the env or its set_state does not bear
            difference = f"{type(error).__name__}: {str(error)[:300]}"
        if difference:
            divergence = Divergence(t, "state", f"saved again and as recorded: {difference}")
            return replace(found, divergence=divergence, restored_at=t)
    return found


def _restore_each(
    env: AnyEnv, demo: Demonstration, order: Sequence[int], horizon: int
) -> tuple[int, int, tuple[Divergence, int] | None]:
    """States restored, steps replayed, and the first divergence with the state it came after."""
    rollout = demo.rollout()
    replayed = 0
    for count, t in enumerate(order):
        stop = len(demo) if t == 0 else min(len(demo), t + horizon)
        try:
            demo.restorer.load(env, demo.snapshot(t).state)
            divergence = replay(env, rollout, t, stop)
        except Exception as error:  # whatever the env or its set_state does not bear
            divergence = Divergence(t, "restore", f"{type(error).__name__}: {str(error)[:300]}")
        if divergence:
            return count + 1, replayed, (divergence, t)
        replayed += stop - t
    return len(order), replayed, None


def _would_be_exact(env: AnyEnv, demo: Demonstration) -> str | None:
    """The name of a restorer that is exact on this demonstration, if any is."""
    try:
        found = find_exact(env, demo.rollout(), but=demo.restorer.name)
    except BackplayError:
        return None
    restorer, again = found
    # A fresh instance has answers of its own; but one that ends elsewhere has another limit.
    same = np.array_equal(again.truncations, demo.truncations)
    return restorer.name if same else None


def _remarks(env: AnyEnv, demo: Demonstration, rule: SuccessRule) -> tuple[str, ...]:
    remarks = []
    prints = [fingerprint(observation) for observation in demo.observations]
    wasted = sights.wasted(prints)
    loop = next((pair for pair in sights.loops(prints) if pair[1] - pair[0] > 1), None)
    if loop:
        remarks.append(f"it loops: what is seen at step {loop[1]} was seen at step {loop[0]}")
    if wasted:
        count = "1 step changes" if len(wasted) == 1 else f"{len(wasted)} steps change"
        remarks.append(f"{count} nothing to be seen, the first is step {wasted[0]}")
    if not demo.terminated and demo.success is None:
        remarks.append("it ends without termination, and nothing says that it was a success")
    remarks += find_doubts(env, demo, rule)
    here = describe_env(env)["versions"]
    for package, version in demo.versions.items():
        if here.get(package, version) != version:
            remarks.append(f"recorded with {package} {version}, this is {here[package]}")
    renew(env, demo.restorer)
    if demo.seed is not None and demo.actions is not None:
        other = replay_from_reset(env, demo.rollout())
        alone = "its seed and actions alone do not lead to the same episode again"
        remarks += [f"{alone}: {other}"] if other else []
    return tuple(remarks)
