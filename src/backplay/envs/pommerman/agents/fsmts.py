"""The state-machine agent with a tree search (FSMTS), the Backplay paper's expert for Pommerman.

It flees while a bomb may reach it, attacks when an enemy is near, and otherwise collects items,
blasts wood and wanders. Fleeing commits it to a cell; on the way there, and when it attacks, it may
search. Comes in: a state row, of which it sees what its seat observes; a memory row; a random
stream. Goes out: an action, and the memory row changed.

Other agents block its way, teammates too; only those of the other team are enemies.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.chance import below, uniform
from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents import fsmts_maps as maps
from backplay.envs.pommerman.agents import fsmts_memory as mind
from backplay.envs.pommerman.agents.fsmts_options import (
    FROZEN_SUPPLIES,
    OWNER_SHIFT,
    RESET_ON_EPISODE,
)
from backplay.envs.pommerman.agents.padded import FLAT, PAD, PADDED, STEPS, WIDTH, nth_move
from backplay.envs.pommerman.agents.search import NO_GOAL, NO_TARGET, SEARCH_SCRATCH, search

SCRATCH_NEEDED = SEARCH_SCRATCH
UNDECIDED = -1
EVERYWHERE = 0b11111  # all moves but laying a bomb
MINDFUL = 0.75  # how often wandering avoids recent cells


@kernel
def decide(s, seat, memory, streams, i, options, scratch):  # type: ignore[no-untyped-def]
    """The action of this seat; called once a step, for a second call meets a changed memory."""
    if not s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_ALIVE]:
        return at.STOP
    if options[RESET_ON_EPISODE] and s[at.STEP] == 0:
        memory[:] = 0
    maps.look(s, seat, scratch)
    mind.note_supplies(s, seat, options[FROZEN_SUPPLIES], memory)
    mind.note_owners(options[OWNER_SHIFT], memory, scratch)
    action = _walk_on(s, seat, memory, streams, i, options, scratch)
    if action != UNDECIDED:
        return action
    if scratch[maps.THREAT + scratch[maps.ME]]:
        return _evade(memory, streams, i, scratch)
    if memory[mind.BELIEVED_AMMO] > 1 and scratch[maps.NEAREST_DIST] <= 5:
        return _attack(s, seat, memory, streams, i, options, scratch)
    return _explore(memory, streams, i, scratch)


@kernel
def _verdict(move, w):  # type: ignore[no-untyped-def]
    """2: the move is safe; 1: it leads into a cell closed on all sides; 0: not to be made."""
    q = w[maps.ME] + STEPS[move]
    code = w[maps.GRID + q]
    if code in (at.RIGID, at.WOOD, at.FLAMES) or w[maps.THREAT + q]:
        return 0
    return 1 if maps.closed_sides(w, q) == 4 else 2


@kernel
def _safe(moves, w):  # type: ignore[no-untyped-def]
    """Of these moves (bit a: action a) the safe ones; if there is none, those into closed cells."""
    kept, aside = 0, 0
    for move in range(at.LAY):
        if moves >> move & 1:
            verdict = _verdict(move, w)
            kept |= (verdict == 2) << move
            aside |= (verdict == 1) << move
    return kept if kept else aside


@kernel
def _walk_on(s, seat, memory, streams, i, options, w):  # type: ignore[no-untyped-def]
    """The next step to the goal, whatever else there is; UNDECIDED without a goal."""
    if memory[mind.GOAL] == 0:
        return UNDECIDED
    goal = np.int64(PAD[memory[mind.GOAL] - 1])
    place = FLAT[w[maps.ME]] + 1
    if goal == w[maps.ME] or w[maps.DIST + goal] >= maps.FAR:
        memory[mind.GOAL] = 0
        return UNDECIDED
    move = maps.first_move(w, goal)
    if move == memory[mind.BEFORE] and place == memory[mind.PLACE_BEFORE]:
        memory[mind.GOAL] = 0  # it did not get anywhere: make room
        return at.LAY
    if maps.in_blast(w, w[maps.ME] + STEPS[move]):
        allowed = _safe(EVERYWHERE, w)
        action = search(s, seat, memory, NO_TARGET, goal, allowed, streams, i, options, w)
        if action != UNDECIDED:
            return action
    memory[mind.BEFORE] = move
    memory[mind.PLACE_BEFORE] = place
    return move


@kernel
def _evade(memory, streams, i, w):  # type: ignore[no-untyped-def]
    """Commit to the nearest safe cell, by the least threatened way; without one, move at random."""
    near = w[maps.NEAREST_DIST] <= 3
    goal, steps, threats = -1, 15, 0
    for q in range(WIDTH + 1, PADDED - WIDTH - 1):
        if (
            w[maps.DIST + q] > steps
            or w[maps.DIST + q] >= 15
            or w[maps.THREAT + q]
            or not maps.passable(w[maps.GRID + q])
        ):
            continue
        if near and maps.closed_sides(w, q) >= 2:
            continue
        on_the_way = _threats(q, w)
        if w[maps.DIST + q] < steps or on_the_way < threats:
            goal, steps, threats = q, w[maps.DIST + q], on_the_way
    if goal < 0:
        return _flee(streams, i, w)
    move = maps.first_move(w, goal)
    memory[mind.GOAL] = FLAT[goal] + 1
    memory[mind.BEFORE] = move
    return move


@kernel
def _threats(q, w):  # type: ignore[no-untyped-def]
    """How many cells on the way to `q` are threatened, not counting the first one."""
    count = 0
    while w[maps.DIST + q] > 1:
        count += w[maps.THREAT + q]
        for move in (at.UP, at.LEFT, at.RIGHT, at.DOWN):
            p = q + STEPS[move]
            if w[maps.DIST + p] == w[maps.DIST + q] - 1 and maps.passable(w[maps.GRID + p]):
                q = p
                break
    return count


@kernel
def _flee(streams, i, w):  # type: ignore[no-untyped-def]
    """Any way that is neither rigid nor on fire, or none."""
    moves, count = 0, 0
    for move in range(at.LAY):
        code = w[maps.GRID + w[maps.ME] + STEPS[move]]
        if code != at.RIGID and code != at.FLAMES:
            moves |= 1 << move
            count += 1
    return nth_move(moves, below(streams, i, count), at.STOP)


@kernel
def _attack(s, seat, memory, streams, i, options, w):  # type: ignore[no-untyped-def]
    """Search against the target; without one, walk up to the nearest enemy."""
    target = _aim(s, seat, memory, w)
    if target >= 0:
        allowed = _safe(EVERYWHERE, w) | 1 << at.LAY
        action = search(s, seat, memory, target, NO_GOAL, allowed, streams, i, options, w)
        if action == UNDECIDED:
            return _explore(memory, streams, i, w)
        if action == at.LAY and not _may_lay(memory, w):
            return at.STOP
        return action
    move = maps.first_move(w, w[maps.PLACES + w[maps.NEAREST]])
    if _verdict(move, w):
        memory[mind.BEFORE] = move
        return move
    return _explore(memory, streams, i, w)


@kernel
def _aim(s, seat, memory, w):  # type: ignore[no-untyped-def]
    """The seat to attack, -1 for none.

    A target more than four steps away is dropped, and no other is chosen this time; a new one is
    the first enemy within three.
    """
    target = memory[mind.TARGET] - 1
    if target >= 0:
        place = w[maps.PLACES + target]
        if place == 0 or w[maps.DIST + place] > 4:
            memory[mind.TARGET] = 0
            return -1
        return target
    for k in range(at.SEATS):
        if (
            maps.is_enemy(s, seat, k)
            and w[maps.PLACES + k] > 0
            and w[maps.DIST + w[maps.PLACES + k]] <= 3
        ):
            memory[mind.TARGET] = k + 1
            return k
    return -1


@kernel
def _may_lay(memory, w):  # type: ignore[no-untyped-def]
    return memory[mind.BELIEVED_AMMO] > 1 and maps.can_lay(w, memory[mind.BELIEVED_BLAST])


@kernel
def _explore(memory, streams, i, w):  # type: ignore[no-untyped-def]
    """Go for items, else blast wood, else go for wood, else wander."""
    move = _towards(maps.ITEMS, w[maps.ITEM_COUNT], at.EXTRA_BOMB, at.KICK, 15, w)
    if move != UNDECIDED:
        memory[mind.BEFORE] = move
        return move
    for move in (at.UP, at.LEFT, at.RIGHT, at.DOWN):
        wood = w[maps.ME] + STEPS[move]
        if w[maps.GRID + wood] == at.WOOD:
            return at.LAY if not maps.in_blast(w, wood) and _may_lay(memory, w) else at.STOP
    move = _towards(maps.WOODS, w[maps.WOOD_COUNT], at.WOOD, at.WOOD, 12, w)
    if move != UNDECIDED:
        return move
    return _wander(memory, streams, i, w)


@kernel
def _towards(cells, count, first_kind, last_kind, radius, w):  # type: ignore[no-untyped-def]
    """The first safe move towards one of these cells, UNDECIDED if there is none.

    Cells are asked by kind, then row-major; but one nearer than all before it is asked before them.
    """
    head = tail = radius + 1
    nearest = radius + 1
    for kind in range(first_kind, last_kind + 1):
        for k in range(count):
            q = w[cells + k]
            if w[maps.GRID + q] != kind or w[maps.DIST + q] > radius:
                continue
            if w[maps.DIST + q] < nearest:
                nearest = w[maps.DIST + q]
                head -= 1
                w[maps.QUEUE + head] = q
            else:
                w[maps.QUEUE + tail] = q
                tail += 1
    tried, aside = 0, UNDECIDED
    for k in range(head, tail):
        move = maps.first_move(w, w[maps.QUEUE + k])
        if tried >> move & 1:
            continue
        tried |= 1 << move
        verdict = _verdict(move, w)
        if verdict == 2:
            return move
        if verdict == 1 and aside == UNDECIDED:
            aside = move
    return aside


@kernel
def _wander(memory, streams, i, w):  # type: ignore[no-untyped-def]
    """To the neighbour it wandered from least often, mostly avoiding those it was in lately."""
    moves = 1 << at.STOP
    for move in range(at.UP, at.LAY):
        if maps.passable(w[maps.GRID + w[maps.ME] + STEPS[move]]):
            moves |= 1 << move
    moves = _safe(moves, w)
    if uniform(streams, i) < MINDFUL:
        fresh = mind.not_recent(moves, memory, w)
        moves = fresh if fresh else moves
    if moves & (moves - 1):  # more than one
        moves &= ~(1 << at.STOP)
    mind.note_place(FLAT[w[maps.ME]], memory)
    best, fewest = at.STOP, 1 << 15
    for move in range(at.LAY):
        visits = memory[mind.VISITS + FLAT[w[maps.ME] + STEPS[move]]]
        if moves >> move & 1 and visits < fewest:
            best, fewest = move, visits
    return best
