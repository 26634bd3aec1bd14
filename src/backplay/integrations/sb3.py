"""Stable-Baselines3: one callback that moves, logs and saves the curriculum.

    env = bp.BackplayEnv(gym.make("MountainCar-v0"), [demo])
    PPO("MlpPolicy", env).learn(300_000, callback=bp.sb3.CurriculumCallback())

Works with one env and with DummyVecEnv and SubprocVecEnv of them, on-policy and off-policy.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

from backplay.curricula import Curriculum, from_json, kinds_in, to_json
from backplay.demos.doubts import BackplayWarning
from backplay.errors import BackplayError
from backplay.extras import require
from backplay.records import Episode
from backplay.wrapper import advance

require("stable_baselines3")

from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402  # after the clear error

# Attributes of a model, as JSON.
_SAVED_AS = "backplay_curriculum"  # as it stands
_GIVEN_AS = "backplay_given"  # as the env had it at first, and the lengths of the demonstrations


class CurriculumCallback(BaseCallback):
    """Moves the curriculum of all workers as frames go by; logs success by where episodes start.

    The curriculum is kept in the model, as JSON: `model.save` saves it, and a loaded model that
    goes on learning goes on where its curriculum stood. If the env has another one then, other
    settings or demonstrations of other lengths, the env's counts, and a warning says so.

    Logged: `backplay/success` and, for fifths of the demonstration, `backplay/success_from_0%` (its
    first fifth, with the true start in it) to `backplay/success_from_80%`; `backplay/true_start`
    for episodes from step 0 alone; `backplay/frames` with the steps spent on restoring.

    Args:
        every: update once in about so many frames, in the middle of a rollout too: a trainer with
            long rollouts does not make the curriculum wait.
    """

    def __init__(self, every: int = 1_000, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.every = every
        self.episodes: list[Episode] = []
        """The episodes of the last update."""
        self._curriculum: Curriculum | None = None
        self._frames_before = 0
        self._restored = 0
        self._lengths: list[int] = []
        self._next_update = 0

    @property
    def curriculum(self) -> Curriculum:
        """The present curriculum."""
        if self._curriculum is None:
            raise BackplayError(
                "There is no curriculum yet", expected="a call from learn()",
                do="Pass this callback to model.learn(..., callback=...).",
            )  # fmt: skip
        return self._curriculum

    def _init_callback(self) -> None:
        try:
            found = self.training_env.get_attr("curriculum")
            self._lengths = self.training_env.get_attr("demo_lengths")[0]
        except AttributeError as error:
            raise BackplayError(
                "This model's env has no curriculum", expected="a BackplayEnv in every worker",
                got=str(self.training_env),
                do="Wrap each env: bp.BackplayEnv(env, [demo], curriculum).",
            ) from error  # fmt: skip
        saved, own = getattr(self.model, _SAVED_AS, None), to_json(found[0])
        news = saved and self._news(saved, own)
        if news:
            warnings.warn(
                f"This model was trained with {news}: training goes on with the env's curriculum,"
                " not where the model's stood.", BackplayWarning, stacklevel=5,
            )  # fmt: skip
        self._curriculum = found[0]
        if saved and not news:
            self._curriculum = from_json(saved, kinds=kinds_in(found[0]))
        if news or not hasattr(self.model, _GIVEN_AS):
            setattr(self.model, _GIVEN_AS, json.dumps([own, self._lengths]))
        # learn() may count from zero again; the curriculum's clock does not.
        ahead = getattr(self._curriculum, "frames", 0) - self.model.num_timesteps
        self._frames_before = ahead if news else max(0, ahead)
        self._restored = 0
        self._next_update = 0

    # Settings and state look alike in JSON, so what the env had at first is kept to compare with.
    def _news(self, saved: str, own: str) -> str:
        """What the model was trained with and its env has not, in words; "" if there is nothing."""
        before, now = _in_words(saved), _in_words(own)
        if before != now:
            return f"the curriculum {before}, its env has {now}"
        given, lengths = json.loads(getattr(self.model, _GIVEN_AS, "[null, null]"))
        if given and own not in (given, saved):  # a new env has the first, one in use the other
            was, has = (_fields(json.loads(text)) for text in (given, own))
            return f"{_listed(was - has)}, its env has {_listed(has - was)}"
        if lengths and lengths != self._lengths:
            return f"demonstrations of {lengths} steps, its env has such of {self._lengths}"
        return ""

    def _on_training_start(self) -> None:
        self._advance()

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next_update:
            self._advance()
        return True

    def _on_training_end(self) -> None:
        self._advance()

    def _advance(self) -> None:
        self._restored += sum(self.training_env.env_method("take_restored_steps"))
        frames = self._frames_before + self.model.num_timesteps + self._restored
        self._curriculum, self.episodes = advance(self.training_env, self.curriculum, frames)
        setattr(self.model, _SAVED_AS, to_json(self._curriculum))
        self._next_update = self.num_timesteps + self.every
        self._log(frames)

    def _log(self, frames: int) -> None:
        self.logger.record("backplay/frames", frames)
        self.logger.record("backplay/starts", self.curriculum.describe(), exclude="tensorboard")
        groups: dict[str, list[bool]] = {}
        for episode in self.episodes:
            groups.setdefault("success", []).append(episode.success)
            if episode.start is None or episode.start.demo >= len(self._lengths):  # a walk's
                continue
            if episode.start.step == 0:
                groups.setdefault("true_start", []).append(episode.success)
            fifth = 5 * episode.start.step // self._lengths[episode.start.demo]
            groups.setdefault(f"success_from_{20 * fifth}%", []).append(episode.success)
        for name, successes in sorted(groups.items()):
            self.logger.record_mean(f"backplay/{name}", sum(successes) / len(successes))


def _in_words(written: str) -> str:
    """The kinds of a curriculum and of those inside it, from its JSON."""
    return " around ".join(_kinds(json.loads(written)))


def _kinds(tree: Any) -> list[str]:
    if not isinstance(tree, dict):
        return []
    own = [str(tree["kind"])] if "kind" in tree else []
    return own + [kind for part in tree.values() for kind in _kinds(part)]


def _fields(tree: Any, name: str = "") -> set[str]:
    """The fields of a curriculum and of those inside it, from its JSON, each as `name=value`."""
    if not isinstance(tree, dict):
        return {f"{name}={json.dumps(tree)}"}
    return {field for key, part in tree.items() for field in _fields(part, key)}


def _listed(fields: set[str]) -> str:
    text = ", ".join(sorted(fields))
    return text if len(text) <= 200 else f"{text[:199]}…"


def curriculum_of(model: Any) -> Curriculum:
    """The curriculum saved in a model that was trained with the callback."""
    saved = getattr(model, _SAVED_AS, None)
    if saved is None:
        raise BackplayError(
            "This model has no curriculum", expected="a model trained with CurriculumCallback",
            do="Train it with callback=bp.sb3.CurriculumCallback().",
        )  # fmt: skip
    return from_json(saved)
