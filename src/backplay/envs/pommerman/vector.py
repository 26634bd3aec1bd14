"""Many learners at once: n games stepped by kernels, observations written into one array.

    envs = gymnasium.make_vec("Backplay/PommermanFFA-v0", num_envs=60, opponents="fsmts", jobs=2)
    envs = PommermanVector(60, demos="games.npz", curriculum=bp.Uniform(), initial="demonstration")

An episode that ends begins anew in the same step. Without demonstrations every game is the one that
`PommermanFFA` plays under the same seed. With them, episodes start where a curriculum says, as
under `BackplayEnv`: `set_curriculum`, `take_episodes` and `bp.advance` work on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from backplay.data.streams import read_stream
from backplay.envs.kernels import kernel
from backplay.envs.pommerman import draw
from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.layout import ACTIONS, MAX_STEPS, SEATS
from backplay.envs.pommerman.learner import episode_rules, is_over, picks_up, result, survivors
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.sights import Sees, sight
from backplay.envs.pommerman.starts import Starts
from backplay.envs.pommerman.vector_state import check_vector_state
from backplay.envs.starts import InitialStates, OneWorker, require_curriculum
from backplay.errors import BackplayError, ensure, show, whole
from backplay.records import DrawsStarts, Episode, Start, episodes_as_rows, steps_allowed


@kernel
def judge(first, last, rows, previous, dones, rewards, seats, item_reward, pay, over):  # type: ignore[no-untyped-def]
    """What the learners of the games first..last-1 get for a step, and whether it was the last."""
    for i in range(first, last):
        seat = seats[i]
        pay[i] = rewards[i, seat]
        if item_reward != 0.0 and picks_up(previous[i], rows[i], seat):
            pay[i] += item_reward
        over[i] = is_over(rows[i], seat, dones[i])


class PommermanVector(OneWorker):
    """n free for alls with one learner each. Opponents and rewards are those of `PommermanFFA`.

    Args:
        num_envs: n.
        opponents: as for `PommermanFFA`.
        seat: the learners', None to draw one at every reset, or `"rotate"`: game i has seat i mod
            4.
        simulations: of each search of an FSMTS opponent.
        item_reward: added when a learner picks up an item and lives.
        max_steps: the step at which a game is over.
        observation: what is seen: the paper's planes, or the numbers of the facts that say the
            same, for networks with a sparse first layer. Turned facts show the board, and take
            actions, as if every learner had begun top left; absolute ones are not as seen from the
            own cell.
        jobs: threads; the results do not depend on them.
        copy: False returns the observations' own array, overwritten by the next step.
        demos: recorded games from a seat each, or the file of a set of games; then episodes start
            where `curriculum` says. With seats given or rotating, a game starts only from
            demonstrations of its seat, and a seat without one is an error.
        curriculum: where episodes start; by default in the initial state.
        initial: what step 0 of a demonstration means: `"reset"`, a fresh board, or
            `"demonstration"`.
        rng: after a restore, `"reseed"` the random streams of the opponents, or `"restore"` them.
        frames: what the older frame shows after a restore: the restored state too (`"doubled"`, as
            in the paper's code), or the state before (`"recorded"`, as under `BackplayEnv`).
        render_mode: `"rgb_array"` or `"ansi"`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponents: str | Sequence[str] = "fsmts",
        seat: int | Literal["rotate"] | None = None,
        simulations: int = 50,
        item_reward: float = 0.0,
        max_steps: int = MAX_STEPS,
        observation: Sees = "planes",
        jobs: int = 1,
        copy: bool = True,
        demos: Sequence[Perspective] | str | Path | None = None,
        curriculum: DrawsStarts | None = None,
        initial: Literal["reset", "demonstration"] = "reset",
        rng: Literal["reseed", "restore"] = "reseed",
        frames: Literal["doubled", "recorded"] = "doubled",
        render_mode: str | None = None,
    ) -> None:
        whole("num_envs", num_envs, 1)
        rotates = seat == "rotate"
        fixed = None if isinstance(seat, str) and rotates else seat
        self.task = episode_rules(opponents, fixed, simulations, item_reward, max_steps)  # type: ignore[arg-type]
        self._sight = sight(observation, num_envs)
        super().__init__(num_envs, self._sight.space, ACTIONS, render_mode)
        self.seats = np.zeros(num_envs, np.int64)
        """The learners' seats in the present episodes."""
        self.starts: list[Start | None] = [None] * num_envs
        """Where the present episodes started."""
        wanted = [i % SEATS if rotates else self.task.seat for i in range(num_envs)]
        self._wanted_seats = wanted
        self._starts = Starts(demos, wanted, initial, rng, frames) if demos is not None else None
        self._games = Games(num_envs, jobs=jobs)
        self._outside = np.zeros((num_envs, SEATS), np.int64)
        self._rngs = [np.random.default_rng() for _ in range(num_envs)]
        self._start_rngs = [np.random.default_rng() for _ in range(num_envs)]
        self._pay, self._over = np.zeros(num_envs), np.zeros(num_envs, np.bool_)
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._limits = np.zeros(num_envs)
        self._copy, self._ready = copy, False
        self._finished: deque[Episode] = deque(maxlen=100_000)
        self.set_curriculum(curriculum or InitialStates())

    def set_curriculum(self, curriculum: DrawsStarts) -> None:
        """From the next reset on, starts are drawn from `curriculum`."""
        require_curriculum(curriculum)
        if getattr(curriculum, "walks", ()):
            raise BackplayError(
                "curriculum", expected="starts on demonstrations", got="one with random walks",
                do="Train in BackplayEnv(PommermanFFA(), ...), which can walk.",
            )  # fmt: skip
        self.curriculum = curriculum

    def take_episodes(self) -> list[Episode]:
        """The episodes that finished since the last call, oldest first (at most 100,000)."""
        taken = list(self._finished)
        self._finished.clear()
        return taken

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """New episodes everywhere; `options["starts"]` may name a `Start` for each game."""
        for i, one in enumerate(self._seeds(seed)):
            if one is not None:
                self._rngs[i], _ = seeding.np_random(one)
                self._start_rngs[i] = np.random.default_rng([one, 0xBAC])  # as BackplayEnv does
        asked = self._asked((options or {}).get("starts"))
        for i in range(self.num_envs):
            self._restart(i, asked[i])
        self._ready = True
        return self._observations(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[
        NDArray[Any],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """One step of all games; where one ended, what is seen is the start of the next."""
        ensure(self._ready, "The games have not begun", do="Call reset first.")
        self._outside[np.arange(self.num_envs), self.seats] = self._sight.meant(
            self.checked_actions(actions), self.seats
        )
        self._games.in_chunks(self._step_chunk)
        self._returns += self._pay
        self._lengths += 1
        rewards, over = self._pay.copy(), self._over.copy()
        cut = ~over & (self._lengths >= self._limits)
        ended = over | cut
        infos = self._finish(np.flatnonzero(ended)) if ended.any() else {}
        infos.update(self._infos())
        return self._observations(), rewards, over, cut, infos

    def _step_chunk(self, chunk: int, first: int, last: int) -> None:
        games = self._games
        games.advance_part(self._outside, chunk, first, last)
        judge(
            first, last, games.rows, games.previous, games.dones, games.rewards, self.seats,
            self.task.item_reward, self._pay, self._over,
        )  # fmt: skip
        self._look(first, last)

    def _look(self, first: int, last: int) -> None:
        games = self._games
        self._sight.look(first, last, games.previous, games.rows, self.seats)

    def _finish(self, ended: NDArray[np.intp]) -> dict[str, Any]:
        """Keeps the episodes that ended, begins the next ones; infos in Gymnasium's form."""
        n = self.num_envs
        mask = np.zeros(n, np.bool_)
        mask[ended] = True
        final_obs, results = np.full(n, None, object), np.full(n, None, object)
        living = np.full(n, None, object)
        won, seats = np.zeros(n, np.bool_), self.seats.copy()
        for i in ended:
            row, seat = self._games.rows[i], int(self.seats[i])
            final_obs[i] = self._sight.seen[i].copy()
            results[i], living[i] = result(row, seat), survivors(row)
            won[i] = results[i] == "win"
            end = (float(self._returns[i]), int(self._lengths[i]), bool(won[i]))
            self._finished.append(Episode(self.starts[i], *end, *self._ahead(i)))
            self._restart(int(i))
        final = {"result": results, "is_success": won, "survivors": living, "seat": seats}
        masks = {f"_{name}": mask.copy() for name in final}
        return {
            "final_obs": final_obs, "_final_obs": mask.copy(),
            "final_info": {**final, **masks}, "_final_info": mask,
        }  # fmt: skip

    def _restart(self, i: int, asked: Start | None = None) -> None:
        """A new episode in game `i`."""
        start = None
        if self._starts is not None:
            start = asked or self._starts.draw(i, self.curriculum, self._start_rngs[i])
        if self._starts is None or start is None or self._starts.is_reset(start):
            wanted = self._wanted_seats[i]
            self.seats[i] = self.task.begin(self._games, i, self._rngs[i], wanted)
        else:
            perspective = self._starts.demos[start.demo]
            self.seats[i] = perspective.seat
            self._games.seat(i, self.task.around(perspective.seat))
            moved = self._starts.enter(self._games, i, start, self._start_rngs[i])
            self._rngs[i] = moved or self._rngs[i]
        self.starts[i] = start
        self._returns[i], self._lengths[i] = 0.0, 0
        back = self._ahead(i)[0]
        self._limits[i] = steps_allowed(self.curriculum.patience if back else None, back)
        self._look(i, i + 1)

    def _ahead(self, i: int) -> tuple[int, float]:
        """From where game `i` started: steps to the demonstration's end, what it earned there."""
        start = self.starts[i]
        if self._starts is None or start is None:
            return 0, 0.0
        return self._starts.back(start), self._starts.par(start)

    def observe(self) -> NDArray[Any]:
        """What is seen now, [num_envs, planes, 11, 11] or [num_envs, facts]."""
        return self._sight.seen.copy()

    def get_state(self) -> dict[str, Any]:
        """Everything but the curriculum, as plain data: with it, a vector goes on exactly."""
        ensure(self._ready, "The games have not begun", do="Call reset first.")
        games = self._games
        return {
            "rows": games.rows.copy(), "memories": games.memories.copy(),
            "streams": games.streams.copy(), "previous": games.previous.copy(),
            "seats": self.seats.copy(), "returns": self._returns.copy(),
            "lengths": self._lengths.copy(), "limits": self._limits.copy(),
            "starts": [start and list(start) for start in self.starts],
            "rngs": [read_stream(rng) for rng in self._rngs],
            "start_rngs": [read_stream(rng) for rng in self._start_rngs],
            "finished": episodes_as_rows(list(self._finished)),
        }  # fmt: skip

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from `get_state()` of a vector made alike, under the curriculum it has now."""
        now = check_vector_state(state, self.num_envs, self.task, self._starts)
        self.starts = now.starts
        self._rngs, self._start_rngs = now.rngs, now.start_rngs
        self._finished = deque(now.finished, maxlen=self._finished.maxlen)
        self.seats[:] = now.seats
        self._returns[:], self._lengths[:], self._limits[:] = now.returns, now.lengths, now.limits
        for i in range(self.num_envs):
            game = {
                "row": now.rows[i], "previous": now.previous[i], "memories": now.memories[i],
                "streams": now.streams[i],
            }  # fmt: skip
            self._games.seat(i, self.task.around(int(self.seats[i])))
            self._games.restore(i, game)
        self._look(0, self.num_envs)
        self._ready = True

    def _asked(self, starts: Any) -> list[Start | None]:
        if starts is None:
            return [None] * self.num_envs
        if self._starts is None or not isinstance(starts, Sequence) or len(starts) != self.num_envs:
            raise BackplayError(
                'options["starts"]', expected=f"{self.num_envs} starts in demonstrations",
                got=show(starts), do="Make the env with demos=, and give a Start for each game.",
            )  # fmt: skip
        return [self._starts.checked(start) for start in starts]

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None or isinstance(seed, int | np.integer):
            return [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        ensure(len(seed) == self.num_envs, "seed", f"one number or {self.num_envs}", seed)
        return list(seed)

    def _observations(self) -> NDArray[Any]:
        return self._sight.seen.copy() if self._copy else self._sight.seen

    def _infos(self) -> dict[str, Any]:
        return {"seat": self.seats.copy(), "_seat": np.ones(self.num_envs, np.bool_)}

    def render(self) -> tuple[Any, ...]:
        """A picture or a text of every game."""
        return tuple(draw.render(row, self.render_mode) for row in self._games.rows)

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads."""
        self._games.close()
