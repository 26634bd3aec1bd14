"""The simple agent a second time, slowly: an observation dictionary in, exact probabilities out.

It follows the rules to the letter (a queue, distances, lists of parents) and tries every outcome of
every chance event, so that a fast kernel can be held against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

STOP, UP, DOWN, LEFT, RIGHT, BOMB = range(6)
MOVES = {UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}
PASSAGE, RIGID, WOOD, FLAMES, FOG = 0, 1, 2, 4, 5
ITEMS = (6, 7, 8)
FAR = 10**6

Cell = tuple[int, int]
Memory = tuple[int, tuple[Cell, ...]]  # the last step to an enemy (0: none), the last six visits
FRESH: Memory = (0, ())
Pick = Callable[[Sequence[float]], int]


def outcomes(obs: dict[str, Any], memory: Memory) -> dict[tuple[int, Memory], float]:
    """The probability of every (action, memory afterwards)."""
    found: dict[tuple[int, Memory], float] = defaultdict(float)
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        script = scripts.pop()
        taken: list[int] = []
        probability = 1.0

        def pick(weights: Sequence[float], script=script, taken=taken) -> int:
            nonlocal probability
            k = len(taken)
            if k >= len(script):  # a new chance event: come back for its other outcomes
                scripts.extend((*taken, other) for other in range(1, len(weights)))
            taken.append(script[k] if k < len(script) else 0)
            probability *= weights[taken[k]]
            return taken[k]

        found[Decision(obs, memory, pick).outcome()] += probability
    return dict(found)


class Decision:
    """One decision, with the chance events decided by `pick`."""

    def __init__(self, obs: dict[str, Any], memory: Memory, pick: Pick) -> None:
        cells = [divmod(k, 11) for k in range(121)]
        self.board: dict[Cell, int] = dict(zip(cells, obs["board"], strict=True))
        strengths = zip(cells, obs["bomb_blast_strength"], strict=True)
        self.bombs = [(cell, int(blast)) for cell, blast in strengths if blast > 0]
        self.me: Cell = tuple(obs["position"])
        self.enemies, self.ammo, self.blast = obs["enemies"], obs["ammo"], obs["blast_strength"]
        self.last_step, self.visits = memory
        self.pick = pick
        self.search()

    def passable(self, cell: Cell) -> bool:
        code = self.board[cell]
        return code == PASSAGE or code in ITEMS or (code >= 10 and code not in self.enemies)

    def search(self) -> None:
        """Distances, and the parents that came with the shortest, in the order of their coming."""
        (row, col), depth = self.me, 10
        self.distance = {
            (r, c): FAR
            for r in range(max(0, row - depth), min(11, row + depth))
            for c in range(max(0, col - depth), min(11, col + depth))
            if abs(r - row) + abs(c - col) <= depth and self.board[r, c] not in (RIGID, FLAMES, FOG)
        }
        self.distance[self.me] = 0
        self.parents: dict[Cell, list[Cell]] = defaultdict(list)
        self.parent: dict[Cell, Cell] = {}
        queue = [self.me]
        for cell in queue:
            if not self.passable(cell):
                continue
            for step in MOVES:
                onwards, distance = beside(cell, step), self.distance[cell] + 1
                if onwards not in self.distance or distance > self.distance[onwards]:
                    continue
                if distance < self.distance[onwards]:
                    self.distance[onwards] = distance
                    queue.append(onwards)
                self.parents[onwards].append(cell)

    def step_to(self, cell: Cell) -> int:
        """The first step of the way kept: each later parent replaced the former with p = 1/2."""
        while True:
            if cell not in self.parent:
                n = len(self.parents[cell])
                weights = [0.5 ** (n - 1), *(0.5 ** (n - k) for k in range(1, n))]
                self.parent[cell] = self.parents[cell][self.pick(weights)]
            if self.parent[cell] == self.me:
                return next(step for step in MOVES if beside(self.me, step) == cell)
            cell = self.parent[cell]

    def nearest(self, codes: Sequence[int], radius: int) -> Cell | None:
        found, best = None, radius
        for code in codes:
            for cell in sorted(self.distance):
                if self.board[cell] == code and self.distance[cell] <= best:
                    found, best = cell, self.distance[cell]
        return found

    def uniform(self, steps: Sequence[int]) -> int:
        return steps[self.pick([1 / len(steps)] * len(steps))]

    def outcome(self) -> tuple[int, Memory]:
        action = self.decide()
        return action, (self.last_step, tuple(self.visits))

    def decide(self) -> int:
        unsafe = self.unsafe()
        if unsafe:
            return self.flee(unsafe)
        enemy = self.nearest(self.enemies, 3)
        if enemy and self.distance[enemy] == 1 and self.may_bomb():
            return BOMB
        if enemy:
            step = self.step_to(enemy)
            if step != self.last_step or self.pick([0.5, 0.5]):
                self.last_step = step
                return step
        item = self.nearest(ITEMS, 2)
        if item:
            return self.step_to(item)
        wood = self.nearest([WOOD], 2)
        if wood and self.distance[wood] == 1:
            return BOMB if self.may_bomb() else STOP
        if wood and self.safe(beside(self.me, step := self.step_to(wood))):
            return step
        return self.wander()

    def unsafe(self) -> dict[int, int]:
        """The unsafe directions in the order in which they became so, with the largest blast."""
        (row, col), unsafe = self.me, defaultdict(int)
        for (r, c), blast in self.bombs:
            if self.distance.get((r, c), FAR) > blast:
                continue
            steps: tuple[int, ...] = ()
            if (r, c) == self.me:
                steps = (RIGHT, LEFT, UP, DOWN)
            elif r == row:
                steps = (RIGHT if c > col else LEFT,)
            elif c == col:
                steps = (DOWN if r > row else UP,)
            for step in steps:
                unsafe[step] = max(unsafe[step], blast)
        return dict(unsafe)

    def flee(self, unsafe: dict[int, int]) -> int:
        on_board = [step for step in MOVES if beside(self.me, step) in self.board]
        if len(unsafe) == 4:
            for step, blast in unsafe.items():
                cell = beside(self.me, step)
                if cell in self.board and self.passable(cell) and not self.stuck(cell, blast):
                    return step
            return STOP
        into = {step: beside(self.me, step) for step in on_board}
        safe = [
            step
            for step, cell in into.items()
            if step not in unsafe and (self.passable(cell) or self.board[cell] == FOG)
        ]
        return self.uniform(safe or [step for step in unsafe if step in on_board] or [STOP])

    def stuck(self, start: Cell, blast: int) -> bool:
        queue = [start]
        for cell in queue:
            apart = abs(cell[0] - start[0]), abs(cell[1] - start[1])
            if all(apart) or sum(apart) > blast:
                return False
            for step in MOVES:
                onwards = beside(cell, step)
                if onwards in self.board and onwards != self.me and onwards not in queue:
                    queue.extend([onwards] if self.passable(onwards) else [])
        return True

    def may_bomb(self) -> bool:
        (row, col), reach = self.me, self.distance
        passages = [cell for cell in reach if self.board[cell] == PASSAGE and reach[cell] < FAR]
        return self.ammo >= 1 and any(
            reach[r, c] > self.blast or (r != row and c != col) for r, c in passages
        )

    def safe(self, cell: Cell) -> bool:
        return not any(
            (r == cell[0] and abs(c - cell[1]) <= blast)
            or (c == cell[1] and abs(r - cell[0]) <= blast)
            for (r, c), blast in self.bombs
        )

    def wander(self) -> int:
        into = {step: beside(self.me, step) for step in (STOP, LEFT, RIGHT, UP, DOWN)}
        steps = [
            step
            for step, cell in into.items()
            if cell in self.board and self.passable(cell) and self.safe(cell)
        ]
        steps = [step for step in steps if into[step] not in self.visits] or steps
        if len(steps) > 1:
            steps = [step for step in steps if step != STOP]
        self.visits = (*self.visits, self.me)[-6:]
        return self.uniform(steps or [STOP])


def beside(cell: Cell, step: int) -> Cell:
    down, right = MOVES.get(step, (0, 0))
    return cell[0] + down, cell[1] + right
