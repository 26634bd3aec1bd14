"""A person's recording: the present take, the kept ones, time travel, saving.

Comes in: messages of the page as plain data, and the passing of time. Goes out: where it stands, as
plain data, and pictures. Does not know: threads, sockets, browsers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from backplay.demos.check import check
from backplay.demos.take import Take
from backplay.errors import BackplayError, ensure, show, whole
from backplay.studio import controls, pictures
from backplay.studio.folder import Folder
from backplay.studio.journal import Journal, Setup, Takes, ending_of
from backplay.studio.pictures import Picture, Reel
from backplay.train.environments import make_env

MOST_THUMBS = 96
MOST_MARKS = 400
MOST_LOOPS = 8
CHECKED_STEPS = 20_000  # replayed by the check of a recording that was just made
PACES = (0.5, 120.0)  # steps a second
_WORDS = 3  # of info that are shown


class Recording:
    """One task, played by one person."""

    def __init__(
        self,
        task: Setup,
        folder: Folder,
        *,
        actions: Sequence[Any] = (),
        takes: Sequence[Sequence[Any]] = (),
    ) -> None:
        """Begins a recording, or resumes one whose `actions` and `takes` were left behind."""
        self.task, self._folder = task, folder
        self._env = pictures.make_drawn(task.env, task.env_kwargs)
        self.controls = controls.controls_of(self._env)
        self.take = Take(self._env, task.seed)
        self.takes = Takes()
        self.thumbs = Reel(MOST_THUMBS)
        self.pace: float | None = None
        """Steps a second while it plays; None while it waits."""
        self.message = ""
        self.saved: dict[str, Any] | None = None
        """What was saved last, until the take changes."""
        self.version = 0
        """Changes when more than one step at the end has changed."""
        self._held: Any = None
        self._journal = Journal(folder, task)
        self._look()
        for kept in takes:
            self._load([self._typed(action) for action in kept])
            self._keep()
        if actions:
            self._load([self._typed(action) for action in actions])
        elif takes:
            self._restart()

    def do(self, message: Any) -> None:
        """Does what the page asks for; what goes wrong is said in `message`."""
        self.message = ""
        try:
            name = message.get("do") if isinstance(message, dict) else None
            action: Callable[..., None] | None = _DEEDS.get(name) if name else None
            if action is None:
                raise BackplayError("do", expected=f"one of {', '.join(_DEEDS)}", got=show(name))
            action(self, message)
        except BackplayError as error:
            self.pace = None
            self.message = str(error)
        except Exception as error:  # an environment is anybody's code: the take is on disk
            self.pace = None
            self.message = f"The environment failed: {type(error).__name__}: {str(error)[:300]}"

    def tick(self) -> None:
        """One step of real time: with what is held, or idle; where nothing is idle it waits."""
        held = self._held if self._held is not None else self._idle()
        if self.take.ended:
            self.pace = None
        elif held is not None:
            self.do({"do": "act", "action": held})

    def picture(self) -> Picture:
        """What is seen now."""
        return pictures.draw(self._env, self.take.observation)

    def scene(self) -> dict[str, Any]:
        """Where it stands, after every step."""
        take = self.take
        return {
            "at": take.at, "length": len(take), "reward": take.reward, "total": take.total_reward,
            "ended": ending_of(take.terminated, take.truncated),
            "success": self._success() if take.ended else None, "pace": self.pace,
            "message": self.message, "saved": self.saved, "version": self.version,
            "thumb_stride": self.thumbs.stride, "words": _words(take),
            "action": None if not take.at else np.asarray(take.actions[take.at - 1]).tolist(),
        }  # fmt: skip

    def timeline(self) -> dict[str, Any]:
        """The whole take: where rewards came, what looks like a loop, and the other takes."""
        rewards = np.asarray(self.take.rewards)
        usual = float(np.median(rewards)) if len(rewards) else 0.0
        marks = np.flatnonzero(rewards != usual)[:MOST_MARKS]
        return {
            "version": self.version,
            "usual": usual,
            "marks": [[int(t) + 1, float(rewards[t])] for t in marks],
            "loops": self.take.loops()[:MOST_LOOPS],
            "takes": self.takes.listed(),
        }

    def close(self) -> None:
        """Ends it; unless it was saved as it stands, it is offered again."""
        self._journal.close(
            remove=self.saved is not None or not (len(self.take) or len(self.takes))
        )
        self._env.close()

    def _act(self, message: dict[str, Any]) -> None:
        action = controls.action_from(self._env.action_space, message.get("action"))
        take = self.take
        ensure(not take.ended, "The episode is over", do="Save it, go back, or begin again.")
        if take.at < len(take):
            if any(take.ends):
                self._keep()
            self._journal.back(take.at)
            self.version += 1
        take.step(action)
        self._journal.act(action)
        self.saved = None
        if take.ended:
            self.pace = None
            self.version += 1
        self._look()

    def _hold(self, message: dict[str, Any]) -> None:
        self._held = message.get("action")
        if self._held is not None:
            controls.action_from(self._env.action_space, self._held)

    def _play(self, message: dict[str, Any]) -> None:
        pace = message.get("pace")
        if not isinstance(pace, int | float) or not PACES[0] <= pace <= PACES[1]:
            raise BackplayError(
                "pace", expected=f"{PACES[0]} to {PACES[1]} steps a second", got=show(pace)
            )
        self.pace = None if self.take.ended else float(pace)

    def _pause(self, _: dict[str, Any]) -> None:
        self.pace = None
        self.version += 1

    def _go(self, message: dict[str, Any]) -> None:
        self.pace = None
        self.take.go(_whole(message, "step"))

    def _back(self, message: dict[str, Any]) -> None:
        self.pace = None
        self.take.go(max(0, self.take.at - _whole(message, "steps")))

    def _restart(self, _: dict[str, Any] | None = None) -> None:
        self._keep()
        self._load([])

    def _cut(self, message: dict[str, Any]) -> None:
        first, last = _whole(message, "first"), _whole(message, "last")
        self._keep()
        self.pace = None
        before = self.take.total_reward if self.take.at == len(self.take) else None
        self.thumbs.forget_after(first)
        differs = self.take.cut(first, last, self._look)
        self._changed()
        if differs is None:
            self.message = f"{last - first} steps are out, and the rest goes as it did"
        else:
            now = f", return {self.take.total_reward:g}" if before is not None else ""
            self.message = (
                f"{last - first} steps are out; from step {differs} on the rest goes another way"
                f"{now}. The take as it was is kept below."
            )

    def _trim(self, _: dict[str, Any]) -> None:
        self._keep()
        self.take.trim()
        self.thumbs.forget_after(self.take.at)
        self._changed()

    def _open(self, message: dict[str, Any]) -> None:
        kept = self.takes.at(_whole(message, "take"))
        self._keep()
        self._load(list(kept.actions))

    def _drop(self, message: dict[str, Any]) -> None:
        self.takes.drop(_whole(message, "take"))
        self._note_takes()

    def _save(self, message: dict[str, Any]) -> None:
        success = message.get("success")
        ensure(isinstance(success, bool | None), "success", "true, false or null", success)
        path = self._folder.new_file(message.get("name"), overwrite=message.get("replace") is True)
        self.pace = None
        plain = make_env(self.task.env, self.task.env_kwargs)
        try:
            demo = self.take.demonstration(plain, success)
            report = check(plain, demo, max_steps=CHECKED_STEPS)
            demo.save(path)
        finally:
            plain.close()
        self._keep()
        self.saved = {
            "name": self._folder.name_of(path), "exact": report.exact, "report": str(report),
            "length": len(demo), "total": float(demo.rewards.sum()), "success": demo.success,
        }  # fmt: skip

    def _load(self, actions: Sequence[Any]) -> None:
        """Another take in place of this one."""
        self.pace = None
        self.take.restart()
        self.thumbs.forget_after(-1)
        self._look()
        taken = self.take.play(actions, self._look)
        self._changed()
        if taken < len(actions):
            self.message = f"the episode ended after {taken} of {len(actions)} actions"

    def _keep(self) -> None:
        """Keeps the whole take beside the present one, unless it is kept already."""
        if self.takes.keep(self.take, self._success()):
            self._note_takes()

    def _note_takes(self) -> None:
        self._journal.keep([kept.actions for kept in self.takes.kept])
        self.version += 1

    def _changed(self) -> None:
        self._journal.replace(self.take.actions)
        self.saved = None
        self.version += 1

    def _look(self) -> None:
        """Keeps a small picture of the present step if its turn has come."""
        at = self.take.at
        if len(self.take) == at:
            self.thumbs.forget_after(at - 1)
        if self.thumbs.wants(at):
            self.thumbs.add(at, pictures.draw_small(self._env))

    def _success(self) -> bool | None:
        """What the environment says of the end of the take; None if it says nothing."""
        said = [self.take.end_info[k] for k in ("is_success", "success") if k in self.take.end_info]
        return bool(said[0]) if said and any(self.take.ends) else None

    def _idle(self) -> Any:
        kind = self.controls["kind"]
        if kind == "discrete":
            return self.controls["idle"]
        if kind == "box":
            return [part["rest"] for part in self.controls["parts"]]
        return [0] * len(self.controls["sizes"])

    def _typed(self, action: Any) -> Any:
        """An action as it was, from JSON."""
        space = self._env.action_space
        if isinstance(space, spaces.Discrete):
            return int(action)
        return np.asarray(action, space.dtype)


_DEEDS: dict[str, Callable[[Recording, dict[str, Any]], None]] = {
    "act": Recording._act, "hold": Recording._hold, "play": Recording._play,
    "pause": Recording._pause, "go": Recording._go, "back": Recording._back,
    "restart": Recording._restart, "cut": Recording._cut, "trim": Recording._trim,
    "keep": lambda recording, _: recording._keep(), "open": Recording._open,
    "drop": Recording._drop, "save": Recording._save,
}  # fmt: skip


def _words(take: Take) -> list[str]:
    """Texts in what is seen and said, such as MiniGrid's mission."""
    seen = take.observation if isinstance(take.observation, dict) else {}
    said = {**take.info, **seen}
    return [f"{key}: {part}" for key, part in said.items() if isinstance(part, str)][:_WORDS]


def _whole(message: dict[str, Any], name: str) -> int:
    return whole(name, message.get(name), 0)
