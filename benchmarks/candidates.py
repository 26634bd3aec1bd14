"""The frontier with every number that was tried as an argument, for `choose_curriculum.py`.

Comes in: what came of episodes. Goes out: a curriculum, `Falls()` or `Tried()`. With one
demonstration the library's `Frontier` is `Tried(outward=1.0, part=0.5)`; before it was
`Tried(outward=1.0)`, and first `Tried()`, which is `Falls(costs_share=0.1, least=16, lag=True)` but
for a lost end. Kept so that the choice can be made
again.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from backplay.curricula import Frontier
from backplay.curricula import frontier as now
from backplay.curricula.curriculum import Curriculum
from backplay.curricula.memory import chance_of_share, mean_lengths, seen
from backplay.records import steps_allowed


def pav(points, half=0.5):
    """points: sorted list of (back, wins, tries). blocks: [first, last, value]."""
    blocks = []
    for b, w, n in points:
        blocks.append([b, b, w, n])
        while len(blocks) > 1 and val(blocks[-2], half) <= val(blocks[-1], half):
            _, far, w1, n1 = blocks.pop()
            blocks[-1][1] = far
            blocks[-1][2] += w1
            blocks[-1][3] += n1
    return [(block[0], block[1], val(block, half)) for block in blocks]


def val(block, half):
    return (block[2] + half) / (block[3] + 2 * half)


def falls(memory, length, first, reach, half=0.5):
    """Chance of each steps back: [length + 1], index = back."""
    out = np.zeros(length + 1)
    counts = {}
    for b, s in memory:
        w, n = counts.get(b, (0, 0))
        counts[b] = (w + s, n + 1)
    blocks = pav([(b, *counts[b]) for b in sorted(counts)], half)
    now, edge = 1.0, 0
    for near, last, v in blocks:
        v = min(v, now)
        if now > v:
            out[edge + 1 : near + 1] += (now - v) / (near - edge)
        now, edge = v, last
    if edge >= length:
        out[length] += now
    else:  # beyond what was tried: spread evenly up to reach times as far
        far = max(edge + first, int(np.ceil(edge * reach)))
        each = now / (far - edge)
        inside = min(far, length)
        out[edge + 1 : inside + 1] += each
        out[length] += each * (far - inside)
    return out


@dataclass(frozen=True)
class Falls(Curriculum):
    memory: int = 64
    least: int = 8
    anywhere: float = 0.1
    start: float = 0.1
    cut: float | None = None
    reach: float = 2.0
    first: int = 4
    half: float = 0.5
    costs_share: float = 0.5
    lag: bool = False
    seen_: tuple = ()
    lens: tuple = ()
    lengths: tuple = (0.0, 0.0)
    costs: bool = False
    frames: int = 0

    @property
    def patience(self):
        if self.cut is not None:
            return self.cut
        return 1.0 if self.costs else 4.0

    @property
    def start_chance(self):
        share = self.costs_share if self.costs else self.start
        return min(share, chance_of_share(share, self.lengths))

    def chances(self, demo, length):
        cache = self.__dict__.setdefault("_cache", {})
        if (demo, length) not in cache:
            mem = self.seen_[demo] if demo < len(self.seen_) else ()
            p = falls(mem, length, self.first, self.reach, self.half)
            c = self.start_chance
            p = (1 - self.anywhere) * p
            p[1:] += self.anywhere / length
            p *= 1 - c
            p[length] += c
            cache[demo, length] = p / p.sum()
        return cache[demo, length]

    def weights(self, demo, length):
        return np.ascontiguousarray(self.chances(int(demo), int(length))[::-1])

    def demo_weights(self, lengths):
        if not self.lag:
            return super().demo_weights(lengths)
        w = np.array([1.1 - self.top(d, int(t)) for d, t in enumerate(lengths)])
        return w / w.sum()

    def top(self, demo, length):
        mem = self.seen_[demo] if demo < len(self.seen_) else ()
        at = [s for b, s in mem if b >= length]
        return (sum(at) + 0.0) / (len(at) + 1.0)

    def sample_steps(self, demo, length, rng):
        step = np.empty(len(demo), dtype=np.int64)
        for i, (d, t) in enumerate(zip(demo, length, strict=True)):
            cum = np.cumsum(self.chances(int(d), int(t)))
            step[i] = t - min(np.searchsorted(cum, rng.random() * cum[-1], side="right"), t)
        return step

    def update(self, episodes, frames):
        mem = [list(x) for x in self.seen_]
        for one in seen(episodes):
            mem.extend([] for _ in range(one.demo + 1 - len(mem)))
            mem[one.demo].append((one.back, int(one.success)))
        keep = max(self.least, self.memory // max(1, len(mem)))
        mem = tuple(tuple(x[-keep:]) for x in mem)
        costs = self.costs or any(e.par < 0 and 0 < e.back <= 4 for e in episodes)
        lengths = mean_lengths(self.lengths, episodes)
        return replace(self, seen_=mem, frames=frames, costs=costs, lengths=lengths)

    def describe(self):
        return f"{[max([b for b, s in row if s] or [0]) for row in self.seen_[:3]]}"


@dataclass(frozen=True)
class Tried(Frontier):
    """`Frontier` with what was tried after it became the default; `outward` was taken."""

    by: str = "episodes"
    """What a chance is a share of: "episodes"; "anywhere": for starts anywhere, of the frames that
    episodes may take; "all": for all starts, of these frames."""
    anywhere: float = now.ANYWHERE
    inward: float = 0.0
    """Each start is drawn again between its place and this share of the way to the end..."""
    outward: float = 0.0
    """... and as far beyond it, ..."""
    part: float = 1.0
    """... in this share of the cases."""
    times: float = 0.0
    """Cut at so many times what successes take, from 1 to `most` times the demonstration."""
    most: float = 8.0
    took: tuple[float, float] = (0.0, 0.0)
    """Means of the last successes: steps, and the demonstration's from there."""
    OVER: ClassVar[int] = 50  # of which the means are

    @property
    def patience(self):
        steps, back = self.took
        if self.cut is not None or self.state.costs or not self.times or not back:
            return super().patience
        return min(self.most, max(1.0, self.times * steps / back))

    def weights(self, demo, length):
        past = self.seen_of(demo)
        near = [back > 0 for back in past if abs(back) <= now.FIRST]
        fall = self.spread(now.falls(past, length), length)
        takes = steps_allowed(self.patience, np.arange(length + 1.0))
        anywhere = now.LOST if near and not any(near) else self.anywhere
        if self.by == "anywhere":
            means = (float(takes[1:].mean()), float(fall @ takes))
            anywhere = min(anywhere, chance_of_share(anywhere, means))
        by_back = (1 - anywhere) * fall
        by_back[1:] += anywhere / length
        if self.by == "all":
            by_back /= takes
            by_back /= by_back.sum()
        by_back *= 1 - self.start_chance
        by_back[length] += self.start_chance
        return np.ascontiguousarray(by_back[::-1])

    def sample_steps(self, demo, length, rng):
        return Curriculum.sample_steps(self, demo, length, rng)

    def spread(self, fall, length):
        if not self.inward and not self.outward:
            return fall
        wide = np.zeros_like(fall)
        wide[length] = fall[length]
        for back in np.flatnonzero(fall[:length]):
            near = max(1, round(back * (1 - self.inward)))
            far = max(back, round(back * (1 + self.outward)))
            each = fall[back] / (far - near + 1)
            wide[near : min(far, length) + 1] += each
            wide[length] += each * max(0, far - length)
        return self.part * wide + (1 - self.part) * fall

    def update(self, episodes, frames):
        steps, back = self.took
        for one in episodes:
            if one.success and one.back > 0:
                over = self.OVER if back else 1
                steps, back = steps + (one.length - steps) / over, back + (one.back - back) / over
        return replace(super().update(episodes, frames), took=(steps, back))
