"""The rules: one step of one game, exactly as the public game plays it.

Comes in: a state row (layout.py) and four actions. Goes out: the same row, one step later; rewards
and whether the game is over. Does not know: where boards come from, who acts, what is seen.

A step in order: flames age, agents lay bombs or wish to move, wishes that meet are settled
(collisions.py), items are picked up, bombs tick and explode in chains (explosions.py), everything
is drawn.
"""

from __future__ import annotations

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.collisions import settle, step_onto, wish
from backplay.envs.pommerman.explosions import (
    BURST,
    age_flames,
    drop_burst,
    drop_spent,
    return_ammo,
    tick,
)

FIRST_COLLAPSE, COLLAPSE_EVERY, COLLAPSES = 500, 75, 4


@kernel
def step(s, actions):  # type: ignore[no-untyped-def]
    """Advances one game by one step, in place. `actions` holds one of 0..5 per seat.

    Words are cleared: a plain action says nothing. A collapse that is due comes first, so that what
    was seen, won and lost at its step was the board before it.
    """
    if s[at.COLLAPSE] != 0:
        collapse(s)
    if s[at.RADIO] != 0:
        s[at.WORDS : at.WORDS + 2 * at.SEATS] = 0
    if s[at.FLAME_COUNT] > 0:
        age_flames(s)
    _move(s, actions)
    if s[at.BOMB_COUNT] > 0:
        tick(s)
    _draw_agents(s)
    s[at.STEP] += 1


@kernel
def step_with_words(s, actions, words):  # type: ignore[no-untyped-def]
    """`step` in the radio game; `words` [4, 2] are sent by those who live before the step."""
    if s[at.COLLAPSE] != 0:
        collapse(s)
    speaks = (
        s[at.AGENTS + at.AGENT_ALIVE],
        s[at.AGENTS + at.AGENT_FIELDS + at.AGENT_ALIVE],
        s[at.AGENTS + 2 * at.AGENT_FIELDS + at.AGENT_ALIVE],
        s[at.AGENTS + 3 * at.AGENT_FIELDS + at.AGENT_ALIVE],
    )
    step(s, actions)
    for seat in range(at.SEATS):
        if s[at.RADIO] != 0 and speaks[seat] != 0:
            s[at.WORDS + 2 * seat] = words[seat, 0]
            s[at.WORDS + 2 * seat + 1] = words[seat, 1]


@kernel
def outcome(s, rewards):  # type: ignore[no-untyped-def]
    """Fills `rewards` [4] with -1, 0 or 1 and returns 1 if the game is over, else 0."""
    living = 0
    for seat in range(at.SEATS):
        if s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_ALIVE] != 0:
            living |= 1 << seat
    late = s[at.STEP] >= s[at.LIMIT]
    if s[at.TEAM] != 0:
        return _team_outcome(living, late, rewards)
    alone = living != 0 and living & (living - 1) == 0
    for seat in range(at.SEATS):
        lives = (living >> seat) & 1
        if alone:
            rewards[seat] = 2 * lives - 1
        elif late:
            rewards[seat] = -1
        else:
            rewards[seat] = lives - 1
    return 1 if alone or late or living == 0 else 0


@kernel
def _team_outcome(living, late, rewards):  # type: ignore[no-untyped-def]
    even, odd = living & 0b0101, living & 0b1010
    for seat in range(at.SEATS):
        if (even == 0) != (odd == 0):
            rewards[seat] = 1 if (seat % 2 == 0) == (even != 0) else -1
        elif late or living == 0:
            rewards[seat] = -1
        else:
            rewards[seat] = 0
    return 1 if late or even == 0 or odd == 0 else 0


@kernel
def step_many(states, actions, rewards, dones):  # type: ignore[no-untyped-def]
    """`step` and `outcome` for n games: states [n, ROW], actions and rewards [n, 4], dones [n]."""
    for i in range(states.shape[0]):
        step(states[i], actions[i])
        dones[i] = outcome(states[i], rewards[i])


@kernel
def collapse(s):  # type: ignore[no-untyped-def]
    """Turns the ring that is due at this step into rigid walls; doing it twice changes nothing.

    Agents there die, bombs vanish and return as ammo, flames and items go.
    """
    if s[at.COLLAPSE] == 0:
        return
    since = s[at.STEP] - FIRST_COLLAPSE
    ring = since // COLLAPSE_EVERY
    if since < 0 or since % COLLAPSE_EVERY != 0 or ring >= COLLAPSES:
        return
    for seat in range(at.SEATS):
        agent = at.AGENTS + seat * at.AGENT_FIELDS
        if _ring(s[agent + at.AGENT_CELL]) == ring:
            s[agent + at.AGENT_ALIVE] = 0
    for bomb in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
        if _ring(s[bomb + at.BOMB_CELL]) == ring:
            return_ammo(s, s[bomb + at.BOMB_OWNER])
            s[bomb + at.BOMB_LEFT] = BURST
    drop_burst(s)
    for flame in range(at.FLAME, at.FLAME + s[at.FLAME_COUNT] * at.FLAME_FIELDS, at.FLAME_FIELDS):
        if _ring(s[flame + at.FLAME_CELL]) == ring:
            s[flame + at.FLAME_LEFT] = -1
    drop_spent(s)
    for cell in range(at.CELLS):
        if _ring(cell) == ring:
            s[at.BOARD + cell] = at.RIGID
            s[at.ITEMS + cell] = 0


@kernel
def _ring(cell):  # type: ignore[no-untyped-def]
    """How far a cell is from the edge of the board."""
    row, col = at.ROW_OF[cell], at.COL_OF[cell]
    return min(min(row, at.SIZE - 1 - row), min(col, at.SIZE - 1 - col))


@kernel
def _move(s, actions):  # type: ignore[no-untyped-def]
    """Agents lay bombs and walk. Only where wishes may meet does `settle` have to decide."""
    to = (
        wish(s, 0, actions[0]),
        wish(s, 1, actions[1]),
        wish(s, 2, actions[2]),
        wish(s, 3, actions[3]),
    )
    meet = to[0] == to[1] or to[0] == to[2] or to[0] == to[3]
    meet = meet or to[1] == to[2] or to[1] == to[3] or to[2] == to[3]
    for seat in range(at.SEATS):
        agent = at.AGENTS + seat * at.AGENT_FIELDS
        if to[seat] < 0:
            continue
        if to[seat] != s[agent + at.AGENT_CELL]:
            shown = s[at.BOARD + to[seat]]
            meet = meet or shown == at.BOMB or shown >= at.AGENT
        elif actions[seat] == at.LAY:
            _lay(s, seat)
    for bomb in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
        meet = meet or s[bomb + at.BOMB_DIRECTION] != 0
    for seat in range(at.SEATS):
        if to[seat] >= 0:
            s[at.BOARD + s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_CELL]] = at.PASSAGE
    if meet:
        settle(s, actions)
    else:
        for seat in range(at.SEATS):
            if to[seat] >= 0 and to[seat] != s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_CELL]:
                step_onto(s, seat, to[seat])


@kernel
def _lay(s, seat):  # type: ignore[no-untyped-def]
    """Appends a bomb under the agent if it has one and none lies there."""
    agent = at.AGENTS + seat * at.AGENT_FIELDS
    end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    can = s[agent + at.AGENT_AMMO] > 0
    for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
        can = can and s[bomb + at.BOMB_CELL] != s[agent + at.AGENT_CELL]
    if can:
        s[agent + at.AGENT_AMMO] -= 1
        s[end + at.BOMB_CELL] = s[agent + at.AGENT_CELL]
        s[end + at.BOMB_LEFT] = at.BOMB_LIFE
        s[end + at.BOMB_BLAST] = s[agent + at.AGENT_BLAST]
        s[end + at.BOMB_DIRECTION] = 0
        s[end + at.BOMB_OWNER] = seat
        s[at.BOMB_COUNT] += 1


@kernel
def _draw_agents(s):  # type: ignore[no-untyped-def]
    """Living agents in flames die; the others are drawn."""
    for seat in range(at.SEATS):
        agent = at.AGENTS + seat * at.AGENT_FIELDS
        if s[agent + at.AGENT_ALIVE] != 0:
            cell = at.BOARD + s[agent + at.AGENT_CELL]
            if s[cell] == at.FLAMES:
                s[agent + at.AGENT_ALIVE] = 0
            else:
                s[cell] = at.AGENT + seat
