"""What bombs will do: when cells burn, and which moves can be survived.

Comes in: a state row, of which only what a frame shows is read: the board, bombs with their time
left and blast. Goes out: for each cell the step in which it begins to burn; for each move whether
there is a way to live on. Does not know: who moves where, which bombs roll, how old flames are.

Others are taken to let us pass, bombs to lie still, flames to be new.
"""

from __future__ import annotations

from backplay.envs.kernels import kernel, reserve
from backplay.envs.pommerman import layout as at

NEVER = 99
"""When a cell burns that no bomb reaches."""
BURNING = at.FLAME_LIFE + 1
"""Steps that an explosion burns."""
AHEAD = at.BOMB_LIFE + BURNING
"""After so many steps everything that lies now has burned."""
_SIZE = at.SIZE  # `reserve` takes a name, no attribute
_FIRES = (AHEAD + 1) * at.SIZE


@kernel
def burning_times(s, place, blast, times):  # type: ignore[no-untyped-def]
    """Writes into `times` [CELLS] in how many steps each cell begins to burn, chains included.

    With a `blast`, as if a bomb of it were laid at `place` in the next step.
    """
    for cell in range(at.CELLS):
        times[cell] = NEVER
    end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    more = end > at.BOMBS or blast > 0
    while more:  # a bomb in the rays of an earlier one goes off with it
        more = False
        for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
            cell = s[bomb + at.BOMB_CELL]
            left = min(s[bomb + at.BOMB_LEFT], times[cell])
            if s[at.BOARD + cell] == at.FLAMES:
                left = 1
            more |= _burn_rays(s, cell, s[bomb + at.BOMB_BLAST], left, times)
        if blast > 0:
            more |= _burn_rays(s, place, blast, min(at.BOMB_LIFE, times[place]), times)


@kernel
def _burn_rays(s, centre, blast, when, times):  # type: ignore[no-untyped-def]
    """Says of the cells that a bomb reaches that they burn by then; whether that was news."""
    news = times[centre] > when
    times[centre] = min(times[centre], when)
    for direction in range(1, 5):
        cell = centre
        for _ in range(blast - 1):
            cell = at.NEXT[cell, direction]
            if cell < 0 or s[at.BOARD + cell] == at.RIGID:
                break
            news |= times[cell] > when
            times[cell] = min(times[cell], when)
            if s[at.BOARD + cell] == at.WOOD:
                break
    return news


@kernel
def survivable(s, place, blast, times, moves):  # type: ignore[no-untyped-def]
    """Writes into `moves` [5] whether each is closed (0), deadly (1) or can be survived (2).

    Of who stands at `place`, where with a `blast` a bomb is laid in this step; `times` are those of
    `burning_times` for both. Who stands on a bomb may stay there, and not come back. Rows of the
    board are bits, so that a step is a few shifts.
    """
    free, lives, before = reserve(_SIZE), reserve(_SIZE), reserve(_SIZE)
    fire = reserve(_FIRES)  # [AHEAD + 1, SIZE]: what burns after so many steps
    for k in range(_FIRES):
        fire[k] = 0
    on_bomb = blast > 0
    if blast > 0:
        _set_fire(s, place, blast, times[place], fire)
    for bomb in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
        cell = s[bomb + at.BOMB_CELL]
        on_bomb |= cell == place
        _set_fire(s, cell, s[bomb + at.BOMB_BLAST], times[cell], fire)
    for row in range(at.SIZE):
        free[row] = 0
        for col in range(at.SIZE):
            cell = at.SIZE * row + col
            code = s[at.BOARD + cell]
            if cell == place or not (code == at.RIGID or code == at.WOOD or code == at.BOMB):
                free[row] |= 1 << col
            if code == at.FLAMES:
                for t in range(1, BURNING):
                    fire[t * at.SIZE + row] |= 1 << col
        lives[row] = free[row]
    own_row, own = place // at.SIZE, 1 << place % at.SIZE
    for ahead in range(AHEAD):
        t = AHEAD - ahead  # from the last step back to the first
        for row in range(at.SIZE):
            before[row] = lives[row]
        stays = before[own_row] & own
        if on_bomb:  # nobody comes back
            before[own_row] &= ~own
        for row in range(at.SIZE):
            reach = before[row] | before[row] << 1 | before[row] >> 1
            if row > 0:
                reach |= before[row - 1]
            if row < at.SIZE - 1:
                reach |= before[row + 1]
            if row == own_row:
                reach |= stays
            lives[row] = reach & free[row] & ~fire[t * at.SIZE + row]
    for move in range(5):
        onto = at.NEXT[place, move]
        if onto < 0 or not free[onto // at.SIZE] >> onto % at.SIZE & 1:
            moves[move] = 0
        else:
            moves[move] = 1 + (lives[onto // at.SIZE] >> onto % at.SIZE & 1)


@kernel
def _set_fire(s, centre, blast, when, fire):  # type: ignore[no-untyped-def]
    """Marks in `fire` [AHEAD + 1, SIZE] what a bomb burns, from its explosion on."""
    for direction in range(5):
        cell = centre
        for _ in range(1 if direction == 0 else blast - 1):
            cell = at.NEXT[cell, direction]
            if cell < 0 or s[at.BOARD + cell] == at.RIGID:
                break
            for t in range(when, when + BURNING):
                fire[t * at.SIZE + cell // at.SIZE] |= 1 << cell % at.SIZE
            if s[at.BOARD + cell] == at.WOOD:
                break
