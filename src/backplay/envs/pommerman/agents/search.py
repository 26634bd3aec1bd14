"""The state-machine agent's search: one level of moves, each tried out by short random games.

Comes in: the maps of the present, which moves are allowed, and a purpose: to trap a target, or to
reach a cell. Goes out: a move, or -1 if none that is allowed could be tried. Changes no memory.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.chance import below
from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents.fsmts_maps import (
    BLAST,
    GRID,
    LAID,
    LAID_COUNT,
    LIFE,
    MAPS,
    ME,
    PLACES,
    passable,
)
from backplay.envs.pommerman.agents.fsmts_memory import (
    BELIEVED_AMMO,
    IGNORED,
    NO_OWNER,
    NOBODY,
    OWNERS,
    SEAT_0,
)
from backplay.envs.pommerman.agents.fsmts_options import (
    DUPLICATE_FLOOD,
    FROZEN_REPLY,
    ROW0_FREEZE,
    ROW0_TARGET_SCORES_100,
    SIMULATIONS,
    STALE_ROLLOUT_POSITION,
    UNKNOWN_BOMBS_INVISIBLE,
)
from backplay.envs.pommerman.agents.padded import FLAT, ORIGIN, PADDED, STEPS, nth_move
from backplay.envs.pommerman.agents.search_model import (
    ACTION,
    COUNT,
    PLACE,
    STATE,
    WORK,
    add_bomb,
    advance,
    copy_state,
    equip,
    stands,
    takes_part,
)
from backplay.envs.pommerman.agents.search_scores import (
    SCORE_WORK,
    WON,
    attack_score,
    evade_score,
    trapped,
)

# As int64, so that kernels are compiled once for these and for numbers out of arrays.
NO_TARGET = NO_GOAL = np.int64(-1)
MOBILE = np.int64(0)  # nobody is frozen in row 0

# The work array, after the maps.
ROOT = MAPS
TRIAL = ROOT + STATE
CHILDREN = TRIAL + STATE
STEP_WORK = CHILDREN + at.ACTIONS * STATE
RATING_WORK = STEP_WORK + WORK
MOVES = RATING_WORK + SCORE_WORK  # of the children
SUMS = (
    (MOVES + at.ACTIONS + 3) // 4 * 4
)  # of the children, as float64: values, simulations, own value
SEARCH_SCRATCH = SUMS + 3 * at.ACTIONS * 4


@kernel
def search(s, seat, memory, target, goal, allowed, streams, i, options, w):  # type: ignore[no-untyped-def]
    """The best allowed move (bit a of `allowed`: action a) against `target`, if -1 towards `goal`.

    A move that wins at once is taken, allowed or not; if it is to stay, by laying a bomb.
    """
    _imagine(memory, options, w)
    children = _expand(s, seat, memory, streams, i, w)
    for child in range(children):
        start = CHILDREN + child * STATE
        if _won(w[start : start + STATE], seat, target, goal):
            move = w[MOVES + child]
            return at.LAY if move == at.STOP else move
    choices = 0
    choice = -1
    for child in range(children):
        if allowed >> w[MOVES + child] & 1:
            choices += 1
            choice = w[MOVES + child]
    if choices < 2:
        return choice
    return _best(seat, children, target, goal, allowed, streams, i, options, w)


@kernel
def _won(m, seat, target, goal):  # type: ignore[no-untyped-def]
    if target < 0:
        return m[PLACE + seat] == goal
    return trapped(m, seat, target)


@kernel
def _rate(m, seat, target, options, w):  # type: ignore[no-untyped-def]
    if target < 0:
        return evade_score(m, seat)
    work = w[RATING_WORK : RATING_WORK + SCORE_WORK]
    row0, repeat = options[ROW0_TARGET_SCORES_100], options[DUPLICATE_FLOOD]
    return attack_score(m, seat, target, row0, repeat, work)


@kernel
def _imagine(memory, options, w):  # type: ignore[no-untyped-def]
    """The present as the search sees it: the board, who stands where, and the bombs it knows of."""
    m = w[ROOT : ROOT + STATE]
    for p in range(PADDED):
        m[p] = w[GRID + p]
    for k in range(at.SEATS):
        m[PLACE + k] = w[PLACES + k]
    equip(m)
    m[COUNT] = 0
    for k in range(w[LAID_COUNT]):
        bomb = w[LAID + k]
        owner = memory[OWNERS + FLAT[bomb]]
        if owner > IGNORED or not options[UNKNOWN_BOMBS_INVISIBLE]:
            owner = owner - SEAT_0 if SEAT_0 <= owner < NOBODY else -1
            add_bomb(m, bomb, w[LIFE + bomb], w[BLAST + bomb], owner)
    work = w[STEP_WORK : STEP_WORK + WORK]
    for k in range(WORK):
        work[k] = 0


@kernel
def _expand(s, seat, memory, streams, i, w):  # type: ignore[no-untyped-def]
    """Try every move that makes sense once; how many children that gives."""
    children = 0
    for move in range(at.ACTIONS):
        if _makes_sense(s, seat, memory, move, w):
            w[MOVES + children] = move
            start = CHILDREN + children * STATE
            _reply(w[start : start + STATE], seat, np.int64(move), streams, i, w)
            children += 1
    return children


@kernel
def _makes_sense(s, seat, memory, move, w):  # type: ignore[no-untyped-def]
    if move == at.STOP:
        return True
    if move == at.LAY:
        return memory[BELIEVED_AMMO] > 1 and memory[OWNERS + FLAT[w[ME]]] == NO_OWNER
    cell = w[ME] + STEPS[move]
    code = w[GRID + cell]
    if code in (at.RIGID, at.WOOD):
        return False
    if passable(code):
        return True
    kick = s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_KICK]
    return kick != 0 and (code != at.BOMB or w[GRID + cell + STEPS[move]] == at.PASSAGE)


@kernel
def _reply(m, seat, move, streams, i, w):  # type: ignore[no-untyped-def]
    """Make `m` the state after my move and a random answer of the others."""
    copy_state(w[ROOT : ROOT + STATE], m)
    work = w[STEP_WORK : STEP_WORK + WORK]
    for k in range(at.SEATS):
        if k == seat:
            work[ACTION + k] = move
        elif stands(m, k):
            work[ACTION + k] = below(streams, i, at.ACTIONS)
    advance(m, work, MOBILE)
    equip(m)
    for k in range(at.SEATS):
        if k != seat and not stands(m, k):
            m[PLACE + k] = 0


@kernel
def _best(seat, children, target, goal, allowed, streams, i, options, w):  # type: ignore[no-untyped-def]
    """Spend the simulations, then take the allowed child with the best mean.

    Against a target every next simulation goes to the child with the best mean so far, each
    starting with one simulation of 100; on the way to a cell it goes to the child with the fewest,
    and moves that are not allowed only use up their turns.
    """
    attacks = target >= 0
    sums = w[SUMS:SEARCH_SCRATCH].view(np.float64)
    counts, rated = sums[at.ACTIONS : 2 * at.ACTIONS], sums[2 * at.ACTIONS :]
    for child in range(children):
        sums[child] = 100.0 if attacks else 0.0
        counts[child] = 1.0 if attacks else 0.0
        start = CHILDREN + child * STATE
        rated[child] = _rate(w[start : start + STATE], seat, target, options, w)
    child = below(streams, i, children)
    for _ in range(options[SIMULATIONS]):
        if attacks or allowed >> w[MOVES + child] & 1:
            sums[child] += _simulate(
                child, rated[child], seat, target, goal, streams, i, options, w
            )
        counts[child] += 1
        child = _next(children, attacks, sums, counts)
    best, best_mean = -1, -np.inf
    for child in range(children):
        if allowed >> w[MOVES + child] & 1:
            mean = sums[child] / counts[child] if counts[child] > 0 else 100.0
            if mean > best_mean:
                best, best_mean = w[MOVES + child], mean
    return best


@kernel
def _next(children, attacks, sums, counts):  # type: ignore[no-untyped-def]
    """The child to simulate next, the first on equal terms."""
    best = 0
    for child in range(1, children):
        if attacks:
            if sums[child] / counts[child] > sums[best] / counts[best]:
                best = child
        elif counts[child] < counts[best]:
            best = child
    return best


@kernel
def _simulate(child, rated, seat, target, goal, streams, i, options, w):  # type: ignore[no-untyped-def]
    """What a child is worth after no, one or two random steps."""
    steps = below(streams, i, 3)
    frozen = options[FROZEN_REPLY]
    if steps == 0 and frozen:
        return rated
    m = w[TRIAL : TRIAL + STATE]
    if frozen:
        start = CHILDREN + child * STATE
        copy_state(w[start : start + STATE], m)
    else:
        _reply(m, seat, np.int64(w[MOVES + child]), streams, i, w)
        if _won(m, seat, target, goal):
            return WON
    began = m[PLACE + seat]
    if steps > 0 and not stands(m, seat):
        m[PLACE + seat] = ORIGIN  # where the original looks for the dead
    for _ in range(steps):
        around = began if options[STALE_ROLLOUT_POSITION] else m[PLACE + seat]
        _random_step(m, seat, around, streams, i, options, w)
        if _won(m, seat, target, goal):
            return WON
    return _rate(m, seat, target, options, w)


@kernel
def _random_step(m, seat, around, streams, i, options, w):  # type: ignore[no-untyped-def]
    work = w[STEP_WORK : STEP_WORK + WORK]
    freeze = np.int64(options[ROW0_FREEZE])
    for k in range(at.SEATS):
        if takes_part(m, k, freeze):
            if k == seat:
                work[ACTION + k] = _my_random_move(m, seat, around, streams, i)
            else:
                work[ACTION + k] = below(streams, i, at.ACTIONS)
    advance(m, work, freeze)


@kernel
def _my_random_move(m, seat, around, streams, i):  # type: ignore[no-untyped-def]
    """A bomb, or a move to a passable cell next to `around`."""
    moves = 0
    count = 1
    for move in range(at.LAY):
        code = m[around + STEPS[move]]
        if passable(code) or code == at.AGENT + seat:
            moves |= 1 << move
            count += 1
    return nth_move(moves, below(streams, i, count), at.LAY)
