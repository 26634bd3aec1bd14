"""The state-machine agent's search: one level of moves, each tried out by short random games.

Comes in: the maps of the present, which moves are allowed, and a purpose: to trap a target, or to
reach a cell. Goes out: a move, or -1 if none that is allowed could be tried. Changes no memory.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.chance import below
from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents import fsmts_maps as maps
from backplay.envs.pommerman.agents import fsmts_memory as mind
from backplay.envs.pommerman.agents import fsmts_options as option
from backplay.envs.pommerman.agents import search_model as model
from backplay.envs.pommerman.agents import search_scores as scores
from backplay.envs.pommerman.agents.padded import FLAT, ORIGIN, PADDED, STEPS, nth_move

# As int64, so that kernels are compiled once for these and for numbers out of arrays.
NO_TARGET = NO_GOAL = np.int64(-1)
MOBILE = np.int64(0)  # nobody is frozen in row 0

# The work array, after the maps.
ROOT = maps.MAPS
TRIAL = ROOT + model.STATE
CHILDREN = TRIAL + model.STATE
STEP_WORK = CHILDREN + at.ACTIONS * model.STATE
RATING_WORK = STEP_WORK + model.WORK
MOVES = RATING_WORK + scores.SCORE_WORK  # of the children
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
        start = CHILDREN + child * model.STATE
        if _won(w[start : start + model.STATE], seat, target, goal):
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
        return m[model.PLACE + seat] == goal
    return scores.trapped(m, seat, target)


@kernel
def _rate(m, seat, target, options, w):  # type: ignore[no-untyped-def]
    if target < 0:
        return scores.evade_score(m, seat)
    work = w[RATING_WORK : RATING_WORK + scores.SCORE_WORK]
    row0, repeat = options[option.ROW0_TARGET_SCORES_100], options[option.DUPLICATE_FLOOD]
    return scores.attack_score(m, seat, target, row0, repeat, work)


@kernel
def _imagine(memory, options, w):  # type: ignore[no-untyped-def]
    """The present as the search sees it: the board, who stands where, and the bombs it knows of."""
    m = w[ROOT : ROOT + model.STATE]
    for p in range(PADDED):
        m[p] = w[maps.GRID + p]
    for k in range(at.SEATS):
        m[model.PLACE + k] = w[maps.PLACES + k]
    model.equip(m)
    m[model.COUNT] = 0
    for k in range(w[maps.LAID_COUNT]):
        bomb = w[maps.LAID + k]
        owner = memory[mind.OWNERS + FLAT[bomb]]
        if owner > mind.IGNORED or not options[option.UNKNOWN_BOMBS_INVISIBLE]:
            owner = owner - mind.SEAT_0 if mind.SEAT_0 <= owner < mind.NOBODY else -1
            model.add_bomb(m, bomb, w[maps.LIFE + bomb], w[maps.BLAST + bomb], owner)
    work = w[STEP_WORK : STEP_WORK + model.WORK]
    for k in range(model.WORK):
        work[k] = 0


@kernel
def _expand(s, seat, memory, streams, i, w):  # type: ignore[no-untyped-def]
    """Try every move that makes sense once; how many children that gives."""
    children = 0
    for move in range(at.ACTIONS):
        if _makes_sense(s, seat, memory, move, w):
            w[MOVES + children] = move
            start = CHILDREN + children * model.STATE
            _reply(w[start : start + model.STATE], seat, np.int64(move), streams, i, w)
            children += 1
    return children


@kernel
def _makes_sense(s, seat, memory, move, w):  # type: ignore[no-untyped-def]
    if move == at.STOP:
        return True
    if move == at.LAY:
        return (
            memory[mind.BELIEVED_AMMO] > 1
            and memory[mind.OWNERS + FLAT[w[maps.ME]]] == mind.NO_OWNER
        )
    cell = w[maps.ME] + STEPS[move]
    code = w[maps.GRID + cell]
    if code in (at.RIGID, at.WOOD):
        return False
    if maps.passable(code):
        return True
    kick = s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_KICK]
    return kick != 0 and (code != at.BOMB or w[maps.GRID + cell + STEPS[move]] == at.PASSAGE)


@kernel
def _reply(m, seat, move, streams, i, w):  # type: ignore[no-untyped-def]
    """Make `m` the state after my move and a random answer of the others."""
    model.copy_state(w[ROOT : ROOT + model.STATE], m)
    work = w[STEP_WORK : STEP_WORK + model.WORK]
    for k in range(at.SEATS):
        if k == seat:
            work[model.ACTION + k] = move
        elif model.stands(m, k):
            work[model.ACTION + k] = below(streams, i, at.ACTIONS)
    model.advance(m, work, MOBILE)
    model.equip(m)
    for k in range(at.SEATS):
        if k != seat and not model.stands(m, k):
            m[model.PLACE + k] = 0


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
        start = CHILDREN + child * model.STATE
        rated[child] = _rate(w[start : start + model.STATE], seat, target, options, w)
    child = below(streams, i, children)
    for _ in range(options[option.SIMULATIONS]):
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
    frozen = options[option.FROZEN_REPLY]
    if steps == 0 and frozen:
        return rated
    m = w[TRIAL : TRIAL + model.STATE]
    if frozen:
        start = CHILDREN + child * model.STATE
        model.copy_state(w[start : start + model.STATE], m)
    else:
        _reply(m, seat, np.int64(w[MOVES + child]), streams, i, w)
        if _won(m, seat, target, goal):
            return scores.WON
    began = m[model.PLACE + seat]
    if steps > 0 and not model.stands(m, seat):
        m[model.PLACE + seat] = ORIGIN  # where the original looks for the dead
    for _ in range(steps):
        around = began if options[option.STALE_ROLLOUT_POSITION] else m[model.PLACE + seat]
        _random_step(m, seat, around, streams, i, options, w)
        if _won(m, seat, target, goal):
            return scores.WON
    return _rate(m, seat, target, options, w)


@kernel
def _random_step(m, seat, around, streams, i, options, w):  # type: ignore[no-untyped-def]
    work = w[STEP_WORK : STEP_WORK + model.WORK]
    freeze = np.int64(options[option.ROW0_FREEZE])
    for k in range(at.SEATS):
        if model.takes_part(m, k, freeze):
            if k == seat:
                work[model.ACTION + k] = _my_random_move(m, seat, around, streams, i)
            else:
                work[model.ACTION + k] = below(streams, i, at.ACTIONS)
    model.advance(m, work, freeze)


@kernel
def _my_random_move(m, seat, around, streams, i):  # type: ignore[no-untyped-def]
    """A bomb, or a move to a passable cell next to `around`."""
    moves = 0
    count = 1
    for move in range(at.LAY):
        code = m[around + STEPS[move]]
        if maps.passable(code) or code == at.AGENT + seat:
            moves |= 1 << move
            count += 1
    return nth_move(moves, below(streams, i, count), at.LAY)
