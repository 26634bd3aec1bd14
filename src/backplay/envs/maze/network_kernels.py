"""The sparse half of the fast Maze network, forward and backward.

Comes in: tables of what a cell's surroundings add to the second convolution (`patterns.py` says
which cell has which), and the first full layer's weights by cell. Goes out: what the second
convolution gives for mazes without an agent, and how an agent changes it and the layer after it.

Cells are y * width + x. The 3 x 3 positions around a cell are numbered row by row from 0 to 8, the
5 x 5 cells around an agent from 0 to 24. CHANNELS and HIDDEN are the paper's, and constants so that
the inner loops become straight vector code.
"""

from __future__ import annotations

from functools import partial

from backplay.envs.kernels import kernel

CHANNELS = 32
HIDDEN = 128
AROUND = 9
WINDOW = 25

sums = partial(kernel, fastmath={"reassoc", "contract", "nsz"})
"""For kernels whose sums may be taken in any order."""


@sums
def _second_layer_at_a_border(kinds, parts, bias, height, width, y, x, before):  # type: ignore[no-untyped-def]
    for c in range(CHANNELS):
        before[c] = bias[c]
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            if 0 <= y + dy < height and 0 <= x + dx < width:
                kind = kinds[(y + dy) * width + x + dx]
                for c in range(CHANNELS):
                    before[c] += parts[kind, 3 * dy + dx + 4, c]


@sums
def second_layer(kinds, parts, bias, width, before, after):  # type: ignore[no-untyped-def]
    """The second convolution of mazes without an agent, before and after its ReLU.

    kinds [mazes, cells], parts [kinds, 9, channels] -> before, after [mazes, cells, channels].
    """
    mazes, cells = kinds.shape
    height = cells // width
    zero = parts.dtype.type(0)
    for maze in range(mazes):
        for y in range(height):
            for x in range(width):
                cell = y * width + x
                if 0 < y < height - 1 and 0 < x < width - 1:
                    up, row, down = cell - width, cell, cell + width
                    a, b, d = kinds[maze, up - 1], kinds[maze, up], kinds[maze, up + 1]
                    e, f, g = kinds[maze, row - 1], kinds[maze, row], kinds[maze, row + 1]
                    h, i, j = kinds[maze, down - 1], kinds[maze, down], kinds[maze, down + 1]
                    for c in range(CHANNELS):
                        total = (
                            bias[c]
                            + (parts[a, 0, c] + parts[b, 1, c] + parts[d, 2, c])
                            + (parts[e, 3, c] + parts[f, 4, c] + parts[g, 5, c])
                            + (parts[h, 6, c] + parts[i, 7, c] + parts[j, 8, c])
                        )
                        before[maze, cell, c] = total
                        after[maze, cell, c] = max(total, zero)
                else:
                    _second_layer_at_a_border(
                        kinds[maze], parts, bias, height, width, y, x, before[maze, cell]
                    )
                    for c in range(CHANNELS):
                        after[maze, cell, c] = max(before[maze, cell, c], zero)


@sums
def second_layer_backward(kinds, gradient, width, to_parts):  # type: ignore[no-untyped-def]
    """Adds the gradient of `before` [mazes, cells, channels] into that of `parts`."""
    mazes, cells = kinds.shape
    height = cells // width
    for maze in range(mazes):
        for y in range(height):
            for x in range(width):
                cell = y * width + x
                for dy in range(-1, 2):
                    for dx in range(-1, 2):
                        if 0 <= y + dy < height and 0 <= x + dx < width:
                            kind = kinds[maze, cell + dy * width + dx]
                            position = 3 * dy + dx + 4
                            for c in range(CHANNELS):
                                to_parts[kind, position, c] += gradient[maze, cell, c]


@sums
def with_agent(slots, agents, kinds, pairs, changes, before, width, moved, differences):  # type: ignore[no-untyped-def]
    """The second convolution around the agents, and how it differs from that without them.

    slots [states] is the row of a state's maze in `kinds` and `before`, agents [states] its cell,
    pairs [kinds, 9] the row in `changes` [pairs, 9, channels] for a kind of cell with the agent at
    a position around it. moved [states, 25, channels] is before the ReLU, differences after it.
    """
    height = kinds.shape[1] // width
    zero = before.dtype.type(0)
    for state in range(slots.shape[0]):
        slot = slots[state]
        y, x = agents[state] // width, agents[state] % width
        for around in range(WINDOW):
            ry, rx = y + around // 5 - 2, x + around % 5 - 2
            if 0 <= ry < height and 0 <= rx < width:
                for c in range(CHANNELS):
                    moved[state, around, c] = before[slot, ry * width + rx, c]
            else:
                for c in range(CHANNELS):
                    moved[state, around, c] = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                qy, qx = y - dy, x - dx  # its first layer sees the agent at (dy, dx)
                if not (0 <= qy < height and 0 <= qx < width):
                    continue
                pair = pairs[kinds[slot, qy * width + qx], 3 * dy + dx + 4]
                for ey in range(-1, 2):
                    for ex in range(-1, 2):
                        around = 5 * (2 - dy - ey) + 2 - dx - ex
                        for c in range(CHANNELS):
                            moved[state, around, c] += changes[pair, 3 * ey + ex + 4, c]
        for around in range(WINDOW):
            ry, rx = y + around // 5 - 2, x + around % 5 - 2
            if 0 <= ry < height and 0 <= rx < width:
                cell = ry * width + rx
                for c in range(CHANNELS):
                    differences[state, around, c] = max(moved[state, around, c], zero) - max(
                        before[slot, cell, c], 0
                    )
            else:
                for c in range(CHANNELS):
                    differences[state, around, c] = 0


@sums
def with_agent_backward(slots, agents, kinds, pairs, gradient, width, to_changes):  # type: ignore[no-untyped-def]
    """Adds the gradient of `moved` [states, 25, channels] into that of `changes`."""
    height = kinds.shape[1] // width
    for state in range(slots.shape[0]):
        y, x = agents[state] // width, agents[state] % width
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                qy, qx = y - dy, x - dx
                if not (0 <= qy < height and 0 <= qx < width):
                    continue
                pair = pairs[kinds[slots[state], qy * width + qx], 3 * dy + dx + 4]
                for ey in range(-1, 2):
                    for ex in range(-1, 2):
                        around = 5 * (2 - dy - ey) + 2 - dx - ex
                        for c in range(CHANNELS):
                            to_changes[pair, 3 * ey + ex + 4, c] += gradient[state, around, c]


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
