"""What the state-machine agent sees: the maps it computes before every decision.

Comes in: a state row and a seat. Goes out: maps over the padded board and short lists, in the work
array at the places named here. Reads only what the seat's observation shows: the board and the two
bomb maps within its view, and its own cell. Knows nothing of memory, states or search.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents.padded import FLAT, PAD, PADDED, STEPS, WIDTH

REACH = 15  # cells farther away than this, counted in steps, do not exist for the agent
FAR, UNSEEN = 999, 1000  # distances: seen but not reachable; not seen

# Maps, one entry per padded cell.
GRID = 0  # what the board shows
DIST = GRID + PADDED  # steps from me; blocked cells: one more than their nearest neighbour
FIRST = DIST + PADDED  # for passable cells the first move on the way there
BLOCKED = FIRST + PADDED  # 1: counts as a closed side of its neighbours
THREAT = BLOCKED + PADDED  # 1: a bomb may reach it, however long its blast
LIFE = THREAT + PADDED  # life of the bomb there, 0 for none
BLAST = LIFE + PADDED
# Lists of padded cells, row-major where the board is.
QUEUE = BLAST + PADDED
WOODS = QUEUE + PADDED
ITEMS = WOODS + at.CELLS + 1
LAID = ITEMS + at.CELLS + 1  # bombs, with room for one more
MERGED = LAID + at.CELLS + 1  # life of each bomb if what lies in line goes off together
# Single numbers.
ME = MERGED + at.CELLS + 1
WOOD_COUNT = ME + 1
ITEM_COUNT = WOOD_COUNT + 1
LAID_COUNT = ITEM_COUNT + 1
PLACES = LAID_COUNT + 1  # 4: where each seat stands, 0 if it is not seen
NEAREST = PLACES + at.SEATS  # the nearest enemy's seat and distance; ties go to the higher seat
NEAREST_DIST = NEAREST + 1
MAPS = NEAREST_DIST + 1  # the size of all this

# By code: walls, bombs, flames and agents close a side.
_BLOCKS = np.array(
    [at.RIGID <= c <= at.FLAMES or c >= at.AGENT for c in range(at.AGENT + at.SEATS)], np.int16
)


@kernel
def look(s, seat, w):  # type: ignore[no-untyped-def]
    """Compute all maps and lists for this seat."""
    _clear(w)
    me = s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_CELL]
    w[ME] = PAD[me]
    _see_bombs(s, me, w)
    _see_board(s, me, w)
    _spread(w)
    _threaten(w)
    _see_agents(s, seat, w)


@kernel
def _clear(w):  # type: ignore[no-untyped-def]
    for p in range(PADDED):
        w[GRID + p] = at.RIGID
        w[DIST + p] = UNSEEN
        w[BLOCKED + p] = 1
        w[THREAT + p] = 0
        w[LIFE + p] = 0
        w[BLAST + p] = 0


@kernel
def _in_view(s, me, cell):  # type: ignore[no-untyped-def]
    view = s[at.VIEW]
    return view == 0 or (
        abs(cell // at.SIZE - me // at.SIZE) <= view and abs(cell % at.SIZE - me % at.SIZE) <= view
    )


@kernel
def _see_bombs(s, me, w):  # type: ignore[no-untyped-def]
    count = 0
    for k in range(s[at.BOMB_COUNT]):
        bomb = at.BOMBS + k * at.BOMB_FIELDS
        cell = s[bomb + at.BOMB_CELL]
        if _in_view(s, me, cell):
            p = PAD[cell]
            w[LAID + count] = p
            w[LIFE + p] = s[bomb + at.BOMB_LEFT]
            w[BLAST + p] = s[bomb + at.BOMB_BLAST]
            count += 1
    w[LAID_COUNT] = count


@kernel
def _see_board(s, me, w):  # type: ignore[no-untyped-def]
    woods, items = 0, 0
    everything = s[at.VIEW] == 0
    cell = 0
    for row in range(at.SIZE):
        reach = REACH - abs(row - me // at.SIZE)
        for col in range(at.SIZE):
            p = WIDTH * (row + 1) + col + 1
            code = s[at.BOARD + cell]
            if not everything and not _in_view(s, me, cell):
                code = at.FOG
            cell += 1
            seen = code != at.FOG and abs(col - me % at.SIZE) <= reach
            w[GRID + p] = code
            w[DIST + p] = FAR if seen else UNSEEN
            w[BLOCKED + p] = _BLOCKS[code] if seen else 0
            w[WOODS + woods] = p
            woods += seen and code == at.WOOD
            w[ITEMS + items] = p
            items += seen and at.EXTRA_BOMB <= code <= at.KICK
    w[WOOD_COUNT] = woods
    w[ITEM_COUNT] = items
    w[BLOCKED + w[ME]] = w[LIFE + w[ME]] > 0


@kernel
def passable(code):  # type: ignore[no-untyped-def]
    """Whether a cell that shows this can be entered: passages and items."""
    return code == at.PASSAGE or at.EXTRA_BOMB <= code <= at.KICK


@kernel
def _spread(w):  # type: ignore[no-untyped-def]
    """Distances from me, and the first move towards every passable cell.

    On equal terms a way comes from above, then from the left, the right, below.
    """
    w[DIST + w[ME]] = 0
    w[QUEUE] = w[ME]
    head, tail = 0, 1
    while head < tail:
        p = w[QUEUE + head]
        head += 1
        near = w[DIST + p]
        if near > 1:
            for move in (at.UP, at.LEFT, at.RIGHT, at.DOWN):
                q = p + STEPS[move]
                if w[DIST + q] == near - 1 and not w[BLOCKED + q]:
                    w[FIRST + p] = w[FIRST + q]
                    break
        for move in (at.UP, at.DOWN, at.LEFT, at.RIGHT):
            q = p + STEPS[move]
            if w[DIST + q] != FAR:
                continue
            w[DIST + q] = near + 1
            if near == 0:
                w[FIRST + q] = move
            if not w[BLOCKED + q]:
                w[QUEUE + tail] = q
                tail += 1


@kernel
def first_move(w, q):  # type: ignore[no-untyped-def]
    """The first move on the way to a cell with 0 < distance < FAR.

    A blocked cell is entered from above, else from below, the left, the right: an order of its own.
    """
    if w[DIST + q] == 1 or passable(w[GRID + q]):
        return w[FIRST + q]
    for move in (at.UP, at.DOWN, at.LEFT, at.RIGHT):
        p = q + STEPS[move]
        if w[DIST + p] == w[DIST + q] - 1 and passable(w[GRID + p]):
            return w[FIRST + p]
    return 0


@kernel
def _threaten(w):  # type: ignore[no-untyped-def]
    """Mark what some bomb threatens.

    That is every cell in a clear line with it, at any distance; and its whole row and column, walls
    or not, if I could be there in no more steps than its blast.
    """
    for k in range(w[LAID_COUNT]):
        bomb = w[LAID + k]
        w[THREAT + bomb] = 1
        close = w[DIST + bomb] <= w[BLAST + bomb]
        for move in (at.UP, at.DOWN, at.LEFT, at.RIGHT):
            q = bomb + STEPS[move]
            clear = True
            while on_board(q):
                clear = (
                    clear
                    and w[GRID + q] != at.RIGID
                    and w[GRID + q] != at.WOOD
                    and w[GRID + q] != at.FOG
                )
                if not clear and not close:
                    break
                w[THREAT + q] = 1
                q += STEPS[move]


@kernel
def on_board(p):  # type: ignore[no-untyped-def]
    """Whether a padded cell next to the board or on it is on it."""
    return p >= WIDTH and p < PADDED - WIDTH and 0 < p % WIDTH < WIDTH - 1


@kernel
def _see_agents(s, seat, w):  # type: ignore[no-untyped-def]
    w[NEAREST] = -1
    w[NEAREST_DIST] = UNSEEN
    for k in range(at.SEATS):
        agent = at.AGENTS + k * at.AGENT_FIELDS
        place = PAD[s[agent + at.AGENT_CELL]]
        if not s[agent + at.AGENT_ALIVE] or w[GRID + place] == at.FOG:
            place = 0
        w[PLACES + k] = place
        steps = w[DIST + place]
        if is_enemy(s, seat, k) and steps < FAR and steps <= w[NEAREST_DIST]:
            w[NEAREST] = k
            w[NEAREST_DIST] = steps


@kernel
def is_enemy(s, seat, other):  # type: ignore[no-untyped-def]
    """Whether two seats play against each other."""
    return other != seat and not (s[at.TEAM] == 1 and (seat - other) % 2 == 0)


@kernel
def closed_sides(w, q):  # type: ignore[no-untyped-def]
    """How many of a cell's four sides are closed."""
    return w[BLOCKED + q - WIDTH] + w[BLOCKED + q + WIDTH] + w[BLOCKED + q - 1] + w[BLOCKED + q + 1]


@kernel
def in_blast(w, q):  # type: ignore[no-untyped-def]
    """Whether a bomb in line is within its blast of the cell and no wall lies strictly between."""
    for k in range(w[LAID_COUNT]):
        bomb = w[LAID + k]
        if q == bomb:
            return True
        apart = FLAT[q] - FLAT[bomb]
        if q // WIDTH == bomb // WIDTH:
            step, steps = 1, abs(apart)
        elif q % WIDTH == bomb % WIDTH:
            step, steps = WIDTH, abs(apart) // at.SIZE
        else:
            continue
        if steps > w[BLAST + bomb]:
            continue
        step = step if apart > 0 else -step
        p = bomb + step
        while p != q and w[GRID + p] != at.RIGID and w[GRID + p] != at.WOOD:
            p += step
        if p == q:
            return True
    return False


@kernel
def can_lay(w, my_blast):  # type: ignore[no-untyped-def]
    """Whether, after laying a bomb here, a passage is left to flee to in time."""
    me = w[ME]
    deadline = _deadline(w, my_blast)
    near = w[NEAREST_DIST] <= 3
    for q in range(WIDTH + 1, PADDED - WIDTH - 1):
        if w[GRID + q] != at.PASSAGE or w[DIST + q] > 5 or w[THREAT + q]:
            continue
        down, right = abs(q // WIDTH - me // WIDTH), abs(q % WIDTH - me % WIDTH)
        if down == 0 or right == 0 or down + right + 4 > deadline:
            continue
        if not (near and closed_sides(w, q) >= 3):
            return True
    return False


@kernel
def _deadline(w, my_blast):  # type: ignore[no-untyped-def]
    """The shortest life among the bombs closer than four steps, with the one to be laid.

    Linked bombs go off together: those in a row or column within the longer of their blasts,
    whatever lies between.
    """
    count = w[LAID_COUNT]
    w[LAID + count] = w[ME]
    for k in range(count):
        w[MERGED + k] = w[LIFE + w[LAID + k]]
    w[MERGED + count] = 10
    changed = True
    while changed:
        changed = False
        for j in range(count + 1):
            for k in range(j):
                if w[MERGED + j] != w[MERGED + k] and _linked(w, j, k, count, my_blast):
                    shorter = min(w[MERGED + j], w[MERGED + k])
                    w[MERGED + j] = shorter
                    w[MERGED + k] = shorter
                    changed = True
    deadline = w[MERGED + count]
    for k in range(count):
        if w[DIST + w[LAID + k]] < 4:
            deadline = min(deadline, w[MERGED + k])
    return deadline


@kernel
def _linked(w, j, k, mine, my_blast):  # type: ignore[no-untyped-def]
    a, b = w[LAID + j], w[LAID + k]
    reach = max(my_blast if j == mine else w[BLAST + a], w[BLAST + b])
    if a // WIDTH == b // WIDTH:
        return abs(a - b) <= reach
    return a % WIDTH == b % WIDTH and abs(a - b) // WIDTH <= reach
