"""How a game lies in memory: one row of int16 per game, complete, without pointers.

Copying a row copies the game; two games are equal when their rows are. Lists (bombs, flames) keep
their order, and what lies beyond their length is zero, so equal rows are equal games.
A cell is 11 * row + col.
"""

from __future__ import annotations

import numpy as np

SIZE = 11
CELLS = SIZE * SIZE
SEATS = 4

# What a cell of the board shows.
PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG = 0, 1, 2, 3, 4, 5
EXTRA_BOMB, RANGE, KICK = 6, 7, 8
DUMMY = 9
AGENT = 10  # seat k shows as AGENT + k

# Actions; also the directions a bomb can roll in (0: at rest).
STOP, UP, DOWN, LEFT, RIGHT, LAY = 0, 1, 2, 3, 4, 5
ACTIONS = 6

START_CELLS = (12, 100, 108, 20)  # (1,1) (9,1) (9,9) (1,9)
BOMB_LIFE = 10  # when laid; ticks in the same step
FLAME_LIFE = 2  # when drawn
START_AMMO, START_BLAST = 1, 2
MAX_AMMO = 10
MAX_STEPS = 800

# The row, from its beginning.
STEP = 0  # steps played
LIMIT = 1  # the step at which the game is over: 800
TEAM = 2  # 0 free for all; 1 teams 0+2 against 1+3
VIEW = 3  # 0: everything is seen; n: cells at Chebyshev distance > n are fog
MAX_BLAST = 4  # what range items can reach: 10, or 4 in the partially observed team game
COLLAPSE = 5  # 1: rings of the board turn rigid from step 500 on
RADIO = 6  # 1: teammates send two words a step
WORDS = 7  # 4 seats x 2 words, sent this step
SHIELD = WORDS  # 1, in games without radio: nobody is burned by the explosion of an own bomb
BOARD = WORDS + 2 * SEATS  # 121 cells
ITEMS = BOARD + CELLS  # 121 cells: the item hidden under wood or flames, 0 for none
AGENTS = ITEMS + CELLS  # 4 x AGENT_FIELDS
AGENT_CELL, AGENT_ALIVE, AGENT_AMMO, AGENT_BLAST, AGENT_KICK = 0, 1, 2, 3, 4
AGENT_FIELDS = 5
BOMB_COUNT = AGENTS + SEATS * AGENT_FIELDS
BOMBS = BOMB_COUNT + 1  # MAX_BOMBS x BOMB_FIELDS, in the order in which they were laid
BOMB_CELL, BOMB_LEFT, BOMB_BLAST, BOMB_DIRECTION, BOMB_OWNER = 0, 1, 2, 3, 4
BOMB_FIELDS = 5
MAX_BOMBS = CELLS  # no two in one cell
FLAME_COUNT = BOMBS + MAX_BOMBS * BOMB_FIELDS
FLAME = FLAME_COUNT + 1  # MAX_FLAMES x FLAME_FIELDS, oldest first; several in a cell are possible
FLAME_CELL, FLAME_LEFT = 0, 1
FLAME_FIELDS = 2
MAX_FLAMES = 3 * CELLS  # at most 121 of each life (2, 1, 0)
ROW = FLAME + MAX_FLAMES * FLAME_FIELDS

DTYPE = np.int16


def _neighbours() -> np.ndarray:
    table = np.full((CELLS, 5), -1, np.int16)
    for cell in range(CELLS):
        row, col = divmod(cell, SIZE)
        table[cell, STOP] = cell
        for action, (down, right) in (
            (UP, (-1, 0)),
            (DOWN, (1, 0)),
            (LEFT, (0, -1)),
            (RIGHT, (0, 1)),
        ):
            if 0 <= row + down < SIZE and 0 <= col + right < SIZE:
                table[cell, action] = SIZE * (row + down) + col + right
    return table


NEXT = (
    _neighbours()
)  # NEXT[cell, action]: where it leads, -1 off the board; NEXT[cell, STOP] is the cell
ROW_OF = (np.arange(CELLS) // SIZE).astype(np.int16)
COL_OF = (np.arange(CELLS) % SIZE).astype(np.int16)
