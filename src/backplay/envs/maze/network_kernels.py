"""The sparse half of the fast Maze network, forward and backward.

Comes in: tables of what a cell's surroundings add to the second convolution (`patterns.py` says
which cell has which), and the first full layer's weights by cell. Goes out: what the second
convolution gives for mazes without an agent, and how an agent changes it and the layer after it.

Cells are y * width + x. The 3 x 3 positions around a cell are numbered row by row from 0 to 8, the
5 x 5 cells around an agent from 0 to 24. What a cell adds to the nine around it is stored as three
rows of 3 * channels: cells side by side on the board lie side by side in memory, so that each row
is added at once. CHANNELS and HIDDEN are the paper's, and constants so that the inner loops become
straight vector code.
"""

from __future__ import annotations

from functools import partial

from backplay.envs.kernels import kernel

CHANNELS = 32
HIDDEN = 128
WINDOW = 25

sums = partial(kernel, fastmath={"reassoc", "contract", "nsz"})
"""For kernels whose sums may be taken in any order."""


@sums
def _columns(cell, width):  # type: ignore[no-untyped-def]
    """Which of the channels of the three cells x - 1, x, x + 1 are on the board: first, last."""
    x = cell % width
    return (0 if x > 0 else CHANNELS), (3 * CHANNELS if x < width - 1 else 2 * CHANNELS)


@sums
def _add(to, part):  # type: ignore[no-untyped-def]
    """Adds part [n] to to [n]. Slices come in, so that no index can be negative in here."""
    if part.shape[0] == 3 * CHANNELS:
        for c in range(3 * CHANNELS):
            to[c] += part[c]
    else:
        for c in range(part.shape[0]):
            to[c] += part[c]


@sums
def second_layer(kinds, parts, bias, width, before, after):  # type: ignore[no-untyped-def]
    """The second convolution of mazes without an agent, before and after its ReLU.

    kinds [mazes, cells], parts [kinds, 3, 3 * channels] -> before, after [mazes, cells * channels].
    """
    mazes, cells = kinds.shape
    zero = parts.dtype.type(0)
    for maze in range(mazes):
        here = before[maze]
        for cell in range(cells):
            there = here[cell * CHANNELS : (cell + 1) * CHANNELS]
            for c in range(CHANNELS):
                there[c] = bias[c]
        for cell in range(cells):
            part = parts[kinds[maze, cell]]
            first, last = _columns(cell, width)
            for row in range(3):
                to = cell + (row - 1) * width
                if 0 <= to < cells:
                    at = (to - 1) * CHANNELS
                    _add(here[at + first : at + last], part[row, first:last])
        there = after[maze]
        for i in range(cells * CHANNELS):
            there[i] = max(here[i], zero)


@sums
def second_layer_backward(kinds, gradient, width, to_parts):  # type: ignore[no-untyped-def]
    """Adds the gradient of `before` [mazes, cells * channels] into that of `parts`."""
    mazes, cells = kinds.shape
    for maze in range(mazes):
        for cell in range(cells):
            part = to_parts[kinds[maze, cell]]
            first, last = _columns(cell, width)
            for row in range(3):
                source = cell + (row - 1) * width
                if 0 <= source < cells:
                    at = (source - 1) * CHANNELS
                    _add(part[row, first:last], gradient[maze, at + first : at + last])


@sums
def with_agent(slots, agents, kinds, pairs, changes, before, width, moved, differences):  # type: ignore[no-untyped-def]
    """The second convolution around the agents, and how it differs from that without them.

    slots [states] is the row of a state's maze in `kinds` and `before`, agents [states] its cell,
    pairs [kinds, 9] the row in `changes` [pairs, 3, 3 * channels] for a kind of cell with the agent
    at a position around it. moved [states, 25 * channels] is before the ReLU, differences after it;
    cells off the board have the numbers of nobody, and 0.
    """
    height = kinds.shape[1] // width
    zero = before.dtype.type(0)
    for state in range(slots.shape[0]):
        slot = slots[state]
        y, x = agents[state] // width, agents[state] % width
        here, difference = moved[state], differences[state]
        for around in range(WINDOW):
            ry, rx = y + around // 5 - 2, x + around % 5 - 2
            at = (ry * width + rx) * CHANNELS
            on_board = 0 <= ry < height and 0 <= rx < width
            target = here[around * CHANNELS : (around + 1) * CHANNELS]
            if on_board:
                source = before[slot, at : at + CHANNELS]
                for c in range(CHANNELS):
                    target[c] = source[c]
            else:
                for c in range(CHANNELS):
                    target[c] = zero
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    kind = kinds[slot, (y + dy) * width + x + dx]
                    change = changes[pairs[kind, 4 - 3 * dy - dx]]
                    for row in range(3):
                        at = (5 * (1 + dy + row) + 1 + dx) * CHANNELS
                        _add(here[at : at + 3 * CHANNELS], change[row])
        for around in range(WINDOW):
            ry, rx = y + around // 5 - 2, x + around % 5 - 2
            at = (ry * width + rx) * CHANNELS
            on_board = 0 <= ry < height and 0 <= rx < width
            target = difference[around * CHANNELS : (around + 1) * CHANNELS]
            if on_board:
                now = here[around * CHANNELS : (around + 1) * CHANNELS]
                source = before[slot, at : at + CHANNELS]
                for c in range(CHANNELS):
                    target[c] = max(now[c], zero) - max(source[c], zero)
            else:
                for c in range(CHANNELS):
                    target[c] = zero


@sums
def with_agent_backward(slots, agents, kinds, pairs, gradient, width, to_changes):  # type: ignore[no-untyped-def]
    """Adds the gradient of `moved` [states, 25 * channels] into that of `changes`."""
    height = kinds.shape[1] // width
    for state in range(slots.shape[0]):
        y, x = agents[state] // width, agents[state] % width
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    kind = kinds[slots[state], (y + dy) * width + x + dx]
                    change = to_changes[pairs[kind, 4 - 3 * dy - dx]]
                    for row in range(3):
                        at = (5 * (1 + dy + row) + 1 + dx) * CHANNELS
                        _add(change[row], gradient[state, at : at + 3 * CHANNELS])


@sums
def third_layer(first, differences, weights, width, hidden):  # type: ignore[no-untyped-def]
    """Adds to hidden [states, HIDDEN] what the agents change in it.

    The states of cell p are first[p] to first[p + 1] - 1. Going over the cells of the board, not
    over the states, keeps each cell's weights [channels, HIDDEN] close while they are needed.
    """
    cells = weights.shape[0]
    height = cells // width
    for cell in range(cells):
        y, x = cell // width, cell % width
        for around in range(WINDOW):
            py, px = y - around // 5 + 2, x - around % 5 + 2
            if not (0 <= py < height and 0 <= px < width):
                continue
            agent = py * width + px
            for state in range(first[agent], first[agent + 1]):
                for c in range(0, CHANNELS, 4):
                    a = differences[state, around, c]
                    b = differences[state, around, c + 1]
                    d = differences[state, around, c + 2]
                    e = differences[state, around, c + 3]
                    if a != 0 or b != 0 or d != 0 or e != 0:
                        for j in range(HIDDEN):
                            hidden[state, j] += (
                                a * weights[cell, c, j]
                                + b * weights[cell, c + 1, j]
                                + d * weights[cell, c + 2, j]
                                + e * weights[cell, c + 3, j]
                            )


@sums
def _states_around(cell, first, width, height, states, places):  # type: ignore[no-untyped-def]
    """The states with an agent within 2 of a cell, and where the cell is around it; how many."""
    y, x = cell // width, cell % width
    count = 0
    for around in range(WINDOW):
        py, px = y - around // 5 + 2, x - around % 5 + 2
        if 0 <= py < height and 0 <= px < width:
            agent = py * width + px
            for state in range(first[agent], first[agent + 1]):
                states[count] = state
                places[count] = around
                count += 1
    return count


@sums
def _outer_products(i, states, places, differences, gradient, to_weights):  # type: ignore[no-untyped-def]
    """Adds what the states i to i + 3 give to the gradient of one cell's weights."""
    w = differences[states[i], places[i]]
    x = differences[states[i + 1], places[i + 1]]
    y = differences[states[i + 2], places[i + 2]]
    z = differences[states[i + 3], places[i + 3]]
    to_w, to_x = gradient[states[i]], gradient[states[i + 1]]
    to_y, to_z = gradient[states[i + 2]], gradient[states[i + 3]]
    for c in range(CHANNELS):
        row = to_weights[c]
        a, b, d, e = w[c], x[c], y[c], z[c]
        for j in range(HIDDEN):
            row[j] += a * to_w[j] + b * to_x[j] + d * to_y[j] + e * to_z[j]


@sums
def _outer_product(difference, gradient, to_weights):  # type: ignore[no-untyped-def]
    """Adds what one state gives."""
    for c in range(CHANNELS):
        row = to_weights[c]
        a = difference[c]
        for j in range(HIDDEN):
            row[j] += a * gradient[j]


@sums
def _dot_products(weights, gradient, out):  # type: ignore[no-untyped-def]
    """Into out [channels]: weights [channels, HIDDEN] times gradient [HIDDEN]."""
    for c in range(0, CHANNELS, 4):
        w, x, y, z = weights[c], weights[c + 1], weights[c + 2], weights[c + 3]
        a = b = d = e = gradient.dtype.type(0)
        for j in range(HIDDEN):
            a += w[j] * gradient[j]
            b += x[j] * gradient[j]
            d += y[j] * gradient[j]
            e += z[j] * gradient[j]
        out[c] = a
        out[c + 1] = b
        out[c + 2] = d
        out[c + 3] = e


@sums
def third_layer_backward(  # type: ignore[no-untyped-def]
    first, slots, before, moved, differences, weights, gradient, width, to_weights, to_moved,
    to_before, states, places,
):  # fmt: skip
    """From the gradient of `hidden` to those of weights and `before`, added, and of `moved`.

    states and places [25 * number of states] are for work.
    """
    cells = weights.shape[0]
    height = cells // width
    zero = gradient.dtype.type(0)
    for cell in range(cells):
        count = _states_around(cell, first, width, height, states, places)
        whole = count - count % 4
        for i in range(0, whole, 4):
            _outer_products(i, states, places, differences, gradient, to_weights[cell])
        for i in range(whole, count):
            _outer_product(differences[states[i], places[i]], gradient[states[i]], to_weights[cell])
        for i in range(count):
            state = states[i]
            on, out = moved[state, places[i]], to_moved[state, places[i]]
            was, to_was = before[slots[state], cell], to_before[slots[state], cell]
            _dot_products(weights[cell], gradient[state], out)
            # The difference of two ReLUs, of `moved` and of `before`, which `moved` contains too
            for c in range(CHANNELS):
                through = out[c] if on[c] > 0 else zero
                to_was[c] += through - (out[c] if was[c] > 0 else zero)
                out[c] = through


@kernel
def distinct(keys, seen, rows, found):  # type: ignore[no-untyped-def]
    """The distinct keys in order into `found`, each key's place there into `rows`; their number.

    `seen` [largest key + 1] is all -1 before and after.
    """
    for i in range(keys.shape[0]):
        seen[keys[i]] = 0
    count = 0
    for key in range(seen.shape[0]):
        if seen[key] == 0:
            seen[key] = count
            found[count] = key
            count += 1
    for i in range(keys.shape[0]):
        rows[i] = seen[keys[i]]
    for i in range(count):
        seen[found[i]] = -1
    return count
