"""BackplayEnv: the one wrapper that starts episodes where a curriculum says.

Every `reset` draws its own start, so auto-reset, which passes neither seed nor options, cannot lose
it. Down goes a curriculum (`set_curriculum`), up come finished episodes (`take_episodes`).
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from backplay.curricula import Curriculum, Frontier
from backplay.demos import Demonstration
from backplay.demos.doubts import KeyWatch
from backplay.demos.fitting import Settings
from backplay.demos.success import Ending, Success, success_rule
from backplay.errors import BackplayError, DemonstrationError, ensure, one_of, show, whole
from backplay.records import Episode, Start, steps_allowed
from backplay.restore import Replay, layers, restart_clocks, step_limit
from backplay.restore.rollout import AnyEnv, require_env
from backplay.wrapper.walks import Origin, Walks

_STREAM = 0xBAC  # so that the draws of starts and the env's own draws differ under the same seed
_QUIET_STEPS = 10_000
_UPDATES, _EPISODES = 10, 100  # that show whether a curriculum moves; some wait for so many

Answer = tuple[Any, Any, bool, bool, dict[str, Any]]
"""What `step` returns."""


class BackplayEnv(gym.Wrapper[Any, Any, Any, Any]):
    """`env`, but its episodes start in states of demonstrations that a curriculum draws.

    Args:
        env: the environment, wrapped as it was when the demonstrations were recorded. Observation
            normalisation belongs around BackplayEnv, not inside. What only counts (a Monitor,
            RecordEpisodeStatistics) may come and go: inside, it counts from the start that was
            drawn, and misses episodes that are cut by patience.
        demos: one or more demonstrations of this environment.
        curriculum: where episodes start now, and when hopeless ones are cut (its `patience`).
        initial: what step 0 means: `"reset"`, the environment's own reset, as without this wrapper;
            or `"demonstration"`, the recorded initial state, for tasks that are a set of levels.
        rng: after a restore, `"reseed"` the random streams, so that a stochastic env does not
            repeat the demonstration's luck, or `"restore"` them.
        time_limit: after a restore, `"continue"` the demonstration's clock, or a `"fresh"` one.
        success: which endings count as success: a function of an `Ending`, or one of the texts
            `info:KEY`, `return>=X`, `terminated`; by default `demos.success.DefaultRule`.
        settings: what to do where `env` has other settings than the recording's (another chance to
            slip, other rewards): refuse it, `"recorded"`, or keep them, `"mine"`. A `TimeLimit`
            keeps its own limit, which is refused if it ends episodes before the demonstration does.
    """

    def __init__(
        self,
        env: AnyEnv,
        demos: Sequence[Demonstration],
        curriculum: Curriculum | None = None,
        *,
        initial: Literal["reset", "demonstration"] = "reset",
        rng: Literal["reseed", "restore"] = "reseed",
        time_limit: Literal["continue", "fresh"] = "continue",
        success: Success | None = None,
        settings: Settings = "recorded",
    ) -> None:
        require_env(env)
        super().__init__(env)
        one_of("initial", initial, ("reset", "demonstration"))
        one_of("rng", rng, ("reseed", "restore"))
        one_of("time_limit", time_limit, ("continue", "fresh"))
        listed = isinstance(demos, list | tuple) and len(demos) > 0
        ensure(
            listed and all(isinstance(demo, Demonstration) for demo in demos), "demos",
            "a list of at least one demonstration", demos, do="Write BackplayEnv(env, [demo]).",
        )  # fmt: skip
        inside = {type(layer).__name__: layer for layer in layers(env)}
        ensure(
            not getattr(inside.get("NormalizeObservation"), "update_running_mean", False),
            "env", "observations that look the same after a restore as after a step",
            got="a NormalizeObservation inside, whose statistics go on changing",
            do="Put NormalizeObservation around BackplayEnv, and record without it.",
        )  # fmt: skip
        if time_limit == "fresh" and "TimeAwareObservation" in inside:
            raise BackplayError(
                "time_limit", expected="observations that do not show the time",
                got="a TimeAwareObservation inside, which shows the demonstration's",
                do='Put TimeAwareObservation around BackplayEnv, or use time_limit="continue".',
            )  # fmt: skip
        self.demos = _fitting(env, demos, settings)
        if time_limit == "fresh" and not restart_clocks(env):
            raise BackplayError(
                "time_limit", expected="a TimeLimit wrapper inside BackplayEnv, or max_steps",
                got="no clock to start afresh", do='Use time_limit="continue", or add TimeLimit.',
            )  # fmt: skip
        if time_limit == "continue":
            _require_time(env, self.demos)
        self.restored_steps = 0
        """Steps spent on restoring (only replay takes any) and walking: part of any budget."""
        self._restored_taken = 0
        self.demo_lengths = [len(demo) for demo in self.demos]
        """Steps of each demonstration."""
        self._returns_to_go = [demo.returns_to_go for demo in self.demos]
        self._initial, self._reseed = initial, rng == "reseed"
        self._fresh_clock = time_limit == "fresh"
        self._walks = Walks(self.demos, reseed=self._reseed, fresh_clock=self._fresh_clock)
        self._succeeded = success_rule(success, self.demos)
        self._key_watch = KeyWatch(self._succeeded)
        self._rng = np.random.default_rng()
        self._has_reset = False
        self._restored: Start | None = None  # of the demonstrations, last
        self._repeats_streams = True  # the env's streams stand where the demonstration's stood
        self._finished: deque[Episode] = deque(maxlen=100_000)
        self._steps_unattended = 0
        self.start: Start | None = None
        """Where the present episode started."""
        self._origin = Origin(Start(0, 0), 0)
        self._total_reward, self._length = 0.0, 0
        self._open: Answer | None = None  # the last answer of an episode that has not ended
        self.set_curriculum(Frontier() if curriculum is None else curriculum)

    def set_curriculum(self, curriculum: Curriculum) -> None:
        """From the next reset on, starts are drawn from `curriculum`."""
        if isinstance(curriculum, type) or not isinstance(curriculum, Curriculum):
            raise BackplayError(
                "curriculum", expected="a curriculum such as bp.Frontier()", got=show(curriculum),
                do="See bp.check_curriculum if you write your own.",
            )  # fmt: skip
        self.curriculum = curriculum
        self._walks.keep(curriculum.walks)
        self._steps_unattended = 0

    def take_episodes(self) -> list[Episode]:
        """The episodes that finished since the last call, oldest first (at most 100,000).

        One that was cut outside, by a TimeLimit around this env or by a trainer, is finished at the
        next reset, if it had as many steps as the demonstration took from the same start.
        """
        taken = list(self._finished)
        self._finished.clear()
        return taken

    def take_restored_steps(self) -> int:
        """The steps spent on restoring since the last call."""
        taken = self.restored_steps - self._restored_taken
        self._restored_taken = self.restored_steps
        return taken

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode where the curriculum says, or at `options["start"]`, a `Start`."""
        if seed is not None:
            self._rng = np.random.default_rng([whole("seed", seed, 0), _STREAM])
        options = dict(options or {})
        asked = options.pop("start", None)
        start = self._draw() if asked is None else self._checked_start(asked)
        self._close()
        self.start = start
        self._warn_if_unattended()
        if seed is None and self._seeds_reset(self.start):
            seed = int(self._rng.integers(2**31))
        return self._enter(self.start, self._walks, self._rng, seed, options)

    def _seeds_reset(self, start: Start) -> bool:
        """Whether this start is a reset that needs a seed, though nobody gave one."""
        # Else it would draw what was drawn before.
        return self._repeats_streams and self._is_reset(start)

    def _enter(
        self,
        start: Start,
        walks: Walks,
        rng: np.random.Generator,
        seed: int | None,
        options: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode at `start`, a state that `walks` knows; what `reset` returns."""
        self._origin = walks.origin(start)
        self._total_reward, self._length, self._open = 0.0, 0, None
        at_reset = self._is_reset(start)
        if at_reset or seed is not None or not self._has_reset:
            try:
                observation, info = self.env.reset(seed=seed, options=options or None)
            except Exception as error:
                if not options:
                    self._blame_state(error)
                raise
            self._has_reset, self._repeats_streams = True, False
            if at_reset:
                return observation, info
        self._restored = self._origin.start
        self.restored_steps += walks.restore(self.env, start, rng if self._reseed else None)
        restorer = self.demos[self._origin.start.demo].restorer
        self._repeats_streams = not self._reseed or isinstance(restorer, Replay)
        if self._fresh_clock:
            restart_clocks(self.env)
        return walks.observation(start), {}

    def step(self, action: Any) -> Answer:
        """A step of the env inside; an episode that ends is kept for `take_episodes`."""
        try:
            answer = self.env.step(action)
        except Exception as error:
            if action in self.action_space and self._restored is not None:
                demo, step = self._restored
                if self.demos[demo].fails(self.env, step):
                    self._blame_state(error)
            raise  # an env may refuse an action that is illegal there
        answer = self._counted(answer)
        if self._open is None:
            self._finish(answer)
        return answer

    def _counted(self, answer: Answer) -> Answer:
        """An answer of the env as a part of the episode: truncated where patience ends."""
        self._total_reward += float(answer[1])
        self._length += 1
        self._steps_unattended += 1
        late = self.start is not None and self._length >= steps_allowed(
            self.curriculum.patience, self._back
        )
        if late and not answer[2]:
            answer = (*answer[:3], True, answer[4])
        self._open = None if answer[2] or answer[3] else answer
        return answer

    def _close(self) -> None:
        """Keeps an episode that was cut outside, by a TimeLimit around this env or by a trainer.

        One that had fewer steps than the demonstration took was given up, and says nothing.
        """
        if self._open is not None and self._length >= self._back:
            self._finish((*self._open[:3], True, self._open[4]))

    def _blame_state(self, error: Exception) -> None:
        """What fails after a restore is said of the state: it may have been put into anything."""
        if self._restored is not None and not isinstance(error, BackplayError):
            demo, step = self._restored
            raise self.demos[demo].unusable(step, error) from error

    @property
    def _back(self) -> int:
        """Steps from the present episode's start to the demonstration's end."""
        origin, walked = self._origin
        return self.demo_lengths[origin.demo] - origin.step + walked

    def _finish(self, answer: Answer) -> None:
        _, reward, terminated, truncated, info = answer
        at_reset = self.start is not None and self._is_reset(self.start)
        # The rule is told where the demonstration was: on a walk, at the state it set out from.
        began = None if at_reset or self.start is None else self._origin.start
        end = Ending(
            began, self._total_reward, self._length,
            float(reward), bool(terminated), bool(truncated), info,
        )  # fmt: skip
        success = bool(self._succeeded(end))
        self._key_watch.saw(info)
        earned = (self.start, end.total_reward, end.length, success)
        origin = self._origin.start
        par = float(self._returns_to_go[origin.demo][origin.step])
        self._finished.append(Episode(*earned, self._back, par))

    def _is_reset(self, start: Start) -> bool:
        """Whether this start means the environment's own reset."""
        return start.step == 0 and start.demo < len(self.demos) and self._initial == "reset"

    def _draw(self) -> Start:
        demo, step = self.curriculum.sample(self.demo_lengths, 1, self._rng)
        return Start(int(demo[0]), int(step[0]))

    def _checked_start(self, asked: Any) -> Start:
        try:
            start = Start(int(asked[0]), int(asked[1]))
            if self._walks.has(start):
                return start
        except (TypeError, ValueError, IndexError):
            pass
        raise BackplayError(
            'options["start"]', got=show(asked),
            expected=f"(demo, step), demo below {len(self.demos)}, step before its end",
            do="Write reset(options={'start': (0, 12)}).",
        )  # fmt: skip

    def _warn_if_unattended(self) -> None:
        """Says once if training goes on for long and nobody moves a curriculum that would move."""
        if self._steps_unattended < _QUIET_STEPS:
            return
        if self._would_move():
            warnings.warn(
                f"This curriculum has stood at {self.curriculum.describe()} for"
                f" {self._steps_unattended} steps of one env. Nobody moves it: call"
                " bp.advance(envs, curriculum, frames) after each rollout, or use"
                " bp.sb3.CurriculumCallback.",
                stacklevel=3,
            )
        self._steps_unattended = -(10**15)

    def _would_move(self) -> bool:
        """Whether the curriculum would stand elsewhere after a while in which all succeeds."""
        now, rng = self.curriculum, np.random.default_rng(0)
        known = dict(enumerate(self.demo_lengths))  # what lies on walks is at no place on them
        for _ in range(_UPDATES):
            drawn = zip(*now.sample(self.demo_lengths, _EPISODES, rng), strict=True)
            starts = [Start(int(demo), int(step)) for demo, step in drawn]
            backs = [max(0, known.get(start.demo, 0) - start.step) for start in starts]
            won = [Episode(s, 0.0, 1, True, back) for s, back in zip(starts, backs, strict=True)]
            now = now.update(won, 10**15)
            if now.describe() != self.curriculum.describe():
                return True
        return False


def _fitting(
    env: AnyEnv, demos: Sequence[Demonstration], settings: Settings
) -> list[Demonstration]:
    """The demonstrations as they fit the env; of several, the one that does not is named."""
    found = []
    for number, demo in enumerate(demos, 1):
        try:
            found.append(demo.fit(env, settings))
        except DemonstrationError as error:
            if len(demos) == 1:
                raise
            raise DemonstrationError(f"Demonstration {number} of {len(demos)}: {error}") from error
    return found


def _require_time(env: AnyEnv, demos: Sequence[Demonstration]) -> None:
    """Refuses a limit within a demonstration: whoever starts beyond it is cut after one step."""
    limit, longest = step_limit(env), max(map(len, demos))
    ensure(
        limit is None or longest <= limit, "This env ends episodes before the demonstration does",
        f"a limit of at least {longest} steps", got=f"one of {limit}",
        do='Give it the limit of the recording, or use time_limit="fresh".',
        error=DemonstrationError,
    )  # fmt: skip
