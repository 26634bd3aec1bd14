"""What the state-machine agent remembers between two decisions: its memory row.

A row of zeros has seen nothing. Cells and seats are kept plus one, so that 0 is none. Who laid
which bomb, where it wandered and what it believes to carry is noted here; goal and target are set
by the states that have them.
"""

from __future__ import annotations

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents import fsmts_maps as maps
from backplay.envs.pommerman.agents.padded import FLAT, PAD, STEPS

OWNERS = 0  # by cell: who laid the bomb there
VISITS = OWNERS + at.CELLS  # by cell: how often it wandered from there
RECENT = VISITS + at.CELLS  # where it wandered from last, oldest first
RECENT_CELLS = 6
GOAL = RECENT + RECENT_CELLS  # the cell it is committed to
BEFORE = GOAL + 1  # its last deliberate move
PLACE_BEFORE = BEFORE + 1  # where its last committed step began
TARGET = PLACE_BEFORE + 1  # the seat it attacks
BELIEVED_AMMO = TARGET + 1
BELIEVED_BLAST = BELIEVED_AMMO + 1
REMEMBERED = BELIEVED_BLAST + 1

NO_OWNER, IGNORED, SEAT_0, NOBODY = 0, 1, 2, 6  # in OWNERS: none; seats -1, 0..3; another
MANY_VISITS = 32_000


@kernel
def note_supplies(s, seat, frozen, memory):  # type: ignore[no-untyped-def]
    """Believe to have the ammo and blast strength that the agent has, or if frozen had at first."""
    if memory[BELIEVED_AMMO] == 0 or not frozen:
        me = at.AGENTS + seat * at.AGENT_FIELDS
        memory[BELIEVED_AMMO] = s[me + at.AGENT_AMMO] + 1
        memory[BELIEVED_BLAST] = s[me + at.AGENT_BLAST]


@kernel
def note_owners(shift, memory, w):  # type: ignore[no-untyped-def]
    """Whoever stands on a bomb laid in the last step owns it, or if `shift` the seat below does.

    An owned bomb that is gone may have been kicked: its owner passes to all bombs next to its cell
    that have none.
    """
    for k in range(w[maps.LAID_COUNT]):
        bomb = w[maps.LAID + k]
        if w[maps.LIFE + bomb] == at.BOMB_LIFE - 1:
            seat = w[maps.GRID + bomb] - at.AGENT
            memory[OWNERS + FLAT[bomb]] = (
                seat + (IGNORED if shift else SEAT_0) if seat >= 0 else NOBODY
            )
    for k in range(w[maps.LAID_COUNT]):
        bomb = w[maps.LAID + k]
        if memory[OWNERS + FLAT[bomb]] == NO_OWNER:
            for move in (at.UP, at.LEFT, at.RIGHT, at.DOWN):
                p = bomb + STEPS[move]
                if (
                    maps.on_board(p)
                    and w[maps.LIFE + p] == 0
                    and memory[OWNERS + FLAT[p]] != NO_OWNER
                ):
                    memory[OWNERS + FLAT[bomb]] = memory[OWNERS + FLAT[p]]
    for cell in range(at.CELLS):
        if w[maps.LIFE + PAD[cell]] == 0:
            memory[OWNERS + cell] = NO_OWNER


@kernel
def not_recent(moves, memory, w):  # type: ignore[no-untyped-def]
    """Of these moves (bit a: action a) those that lead to no recent cell."""
    for move in range(at.LAY):
        cell = FLAT[w[maps.ME] + STEPS[move]] + 1
        for k in range(RECENT_CELLS):
            if memory[RECENT + k] == cell:
                moves &= ~(1 << move)
    return moves


@kernel
def note_place(cell, memory):  # type: ignore[no-untyped-def]
    """Wandering leaves this cell."""
    for k in range(RECENT_CELLS - 1):
        memory[RECENT + k] = memory[RECENT + k + 1]
    memory[RECENT + RECENT_CELLS - 1] = cell + 1
    if memory[VISITS + cell] < MANY_VISITS:
        memory[VISITS + cell] += 1
