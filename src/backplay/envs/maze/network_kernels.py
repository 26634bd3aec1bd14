"""The sparse half of the fast Maze network, forward and backward.

Comes in: tables of what a cell's surroundings add to the second convolution (`patterns.py` says
which cell has which), and the first full layer's weights by cell. Goes out: what the second
convolution gives for mazes without an agent, and how an agent changes it and the layer after it.

Cells are y * width + x. The 3 x 3 positions around a cell are numbered row by row from 0 to 8, the
5 x 5 cells around an agent from 0 to 24. What is of mazes lies by row of
the board, then by maze. CHANNELS and HIDDEN are the paper's, and constants so that the inner loops
become straight vector code.

Of the second layer few channels are on, after some training 2 to 8 of 100. Which ones are is kept
as a number with a bit for each channel, and what is off is left out, forward and backward.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numba.cpython.unsafe.numbers import trailing_zeros

from backplay.envs.kernels import copy_row, kernel

CHANNELS = 32
HIDDEN = 128
WINDOW = 25

sums = partial(kernel, fastmath={"reassoc", "contract", "nsz"})
"""For kernels whose sums may be taken in any order."""
lowest: Any = trailing_zeros
"""The number of the lowest bit."""


@sums
def _add_rows(to, bits, values, rows):  # type: ignore[no-untyped-def]
    """Adds to `to` [HIDDEN] the rows [channels, HIDDEN] of the bits, times their values."""
    more = bits & (bits - 1)
    while more:
        c, d = lowest(bits), lowest(more)
        a, b, x, y = values[c], values[d], rows[c], rows[d]
        for j in range(HIDDEN):
            to[j] += a * x[j] + b * y[j]
        bits = more & (more - 1)
        more = bits & (bits - 1)
    if bits:
        c = lowest(bits)
        a, x = values[c], rows[c]
        for j in range(HIDDEN):
            to[j] += a * x[j]


@sums
def _add_products(to, bits, values, row):  # type: ignore[no-untyped-def]
    """Adds to the rows of the bits of `to` [channels, HIDDEN] row [HIDDEN], times their values."""
    while bits:
        c = lowest(bits)
        a, there = values[c], to[c]
        for j in range(HIDDEN):
            there[j] += a * row[j]
        bits &= bits - 1


@sums
def _dot(x, y):  # type: ignore[no-untyped-def]
    """The sum of x [HIDDEN] times y."""
    total = x.dtype.type(0)
    for j in range(HIDDEN):
        total += x[j] * y[j]
    return total


@sums
def _bits(values):  # type: ignore[no-untyped-def]
    """A bit for each of the values [channels] above 0."""
    found = 0
    for c in range(CHANNELS):
        found |= (values[c] > 0) << c
    return found


@sums
def _columns(x, width):  # type: ignore[no-untyped-def]
    """Which of the channels of the three cells x - 1, x, x + 1 are on the board: first, last."""
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
def second_layer(kinds, parts, bias, before, on):  # type: ignore[no-untyped-def]
    """The second convolution of mazes without an agent before its ReLU, and which of it is on.

    kinds [mazes, cells], parts [kinds, 3, 3 * channels] -> before [height, mazes, width, channels],
    on [height, mazes, width].
    """
    height, mazes, width, _ = before.shape
    for y in range(height):
        for maze in range(mazes):
            there = before[y, maze]
            for x in range(width):
                copy_row(bias, there[x])
            flat = there.reshape(width * CHANNELS)
            for row in range(max(0, 1 - y), min(3, height + 1 - y)):
                source = kinds[maze, (y + row - 1) * width :]
                for x in range(width):
                    first, last = _columns(x, width)
                    at = (x - 1) * CHANNELS
                    _add(flat[at + first : at + last], parts[source[x], 2 - row, first:last])
            for x in range(width):
                on[y, maze, x] = _bits(there[x])


@sums
def second_layer_backward(kinds, gradient, to_parts):  # type: ignore[no-untyped-def]
    """Adds the gradient of `before` [height, mazes, width, channels] into that of `parts`."""
    height, mazes, width, _ = gradient.shape
    for y in range(height):
        for maze in range(mazes):
            flat = gradient[y, maze].reshape(width * CHANNELS)
            for row in range(max(0, 1 - y), min(3, height + 1 - y)):
                source = kinds[maze, (y + row - 1) * width :]
                for x in range(width):
                    first, last = _columns(x, width)
                    at = (x - 1) * CHANNELS
                    _add(to_parts[source[x], 2 - row, first:last], flat[at + first : at + last])


@sums
def with_agent(  # type: ignore[no-untyped-def]
    slots, agents, kinds, pairs, changes, before, was, moved, differences, on
):  # fmt: skip
    """The second convolution around the agents, and how it differs from that without them.

    slots [states] is a state's maze in `kinds`, `before` and `was`, agents [states] its cell, pairs
    [kinds, 9] the row in `changes` [pairs, 3, 3 * channels] for a kind of cell with the agent at a
    position around it. moved [25, channels] is room for one state. differences [25, states,
    channels] are after the ReLU, and anything where nothing is on with or without the agent; on
    [25, states] is which channels are with it.
    """
    height, _, width, _ = before.shape
    zero = before.dtype.type(0)
    rows = moved.reshape(5, 5 * CHANNELS)
    for state in range(slots.shape[0]):
        slot = slots[state]
        y, x = agents[state] // width, agents[state] % width
        for around in range(WINDOW):
            ry, rx = y + around // 5 - 2, x + around % 5 - 2
            if 0 <= ry < height and 0 <= rx < width:
                copy_row(before[ry, slot, rx], moved[around])
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    kind = kinds[slot, (y + dy) * width + x + dx]
                    change = changes[pairs[kind, 4 - 3 * dy - dx]]
                    for row in range(3):
                        to, part = rows[1 + dy + row, (1 + dx) * CHANNELS :], change[row]
                        for c in range(3 * CHANNELS):
                            to[c] += part[c]
        for around in range(WINDOW):
            ry, rx = y + around // 5 - 2, x + around % 5 - 2
            if 0 <= ry < height and 0 <= rx < width:
                now = moved[around]
                bits = _bits(now)
                on[around, state] = bits
                if bits | was[ry, slot, rx]:
                    source, target = before[ry, slot, rx], differences[around, state]
                    for c in range(CHANNELS):
                        target[c] = max(now[c], zero) - max(source[c], zero)


@sums
def with_agent_backward(slots, agents, kinds, pairs, gradient, width, to_changes):  # type: ignore[no-untyped-def]
    """Adds the gradient of `moved` [states, 5, 5 * channels] into that of `changes`."""
    height = kinds.shape[1] // width
    for state in range(slots.shape[0]):
        y, x = agents[state] // width, agents[state] % width
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    kind = kinds[slots[state], (y + dy) * width + x + dx]
                    change = to_changes[pairs[kind, 4 - 3 * dy - dx]]
                    for row in range(3):
                        to = change[row]
                        part = gradient[state, 1 + dy + row, (1 + dx) * CHANNELS :]
                        for c in range(3 * CHANNELS):
                            to[c] += part[c]


@sums
def third_layer_alone(before, on, weights, hidden):  # type: ignore[no-untyped-def]
    """Adds to hidden [mazes, HIDDEN] what mazes without an agent give.

    before [height, mazes, width, channels] and on [height, mazes, width] are those of
    `second_layer`.
    """
    height, mazes, width = on.shape
    for y in range(height):
        for x in range(width):
            here = weights[y * width + x]
            for maze in range(mazes):
                _add_rows(hidden[maze], on[y, maze, x], before[y, maze, x], here)


@sums
def third_layer(first, slots, differences, on, was, weights, hidden):  # type: ignore[no-untyped-def]
    """Adds to hidden [states, HIDDEN] what the agents change in it.

    The states of cell p are first[p] to first[p + 1] - 1; `on` is with the agent, [25, states], and
    `was` without it, [height, mazes, width]. Going over the cells of the board, not over the
    states, keeps each cell's weights [channels, HIDDEN] close while they are needed.
    """
    height, _, width = was.shape
    for cell in range(height * width):
        here = weights[cell]
        y, x = cell // width, cell % width
        for around in range(WINDOW):
            py, px = y - around // 5 + 2, x - around % 5 + 2
            if not (0 <= py < height and 0 <= px < width):
                continue
            agent = py * width + px
            for state in range(first[agent], first[agent + 1]):
                bits = on[around, state] | was[y, slots[state], x]
                _add_rows(hidden[state], bits, differences[around, state], here)


@sums
def third_layer_backward(  # type: ignore[no-untyped-def]
    first, slots, before, differences, on, was, weights, gradient, by_maze, to_weights, to_moved,
    to_before,
):  # fmt: skip
    """From the gradient of `hidden`, by state and by maze, to those of all that it came from.

    Those of `moved` and `before` are 0 at first; that of the weights may be anything.
    """
    height, mazes, width = was.shape
    zero = weights.dtype.type(0)
    for cell in range(height * width):
        here, to_here = weights[cell], to_weights[cell]
        for c in range(CHANNELS):
            for j in range(HIDDEN):
                to_here[c, j] = 0
        y, x = cell // width, cell % width
        for maze in range(mazes):
            bits, row, alone = was[y, maze, x], by_maze[maze], to_before[y, maze, x]
            _add_products(to_here, bits, before[y, maze, x], row)
            while bits:
                c = lowest(bits)
                alone[c] = _dot(here[c], row)
                bits &= bits - 1
        for around in range(WINDOW):
            py, px = y - around // 5 + 2, x - around % 5 + 2
            if not (0 <= py < height and 0 <= px < width):
                continue
            agent = py * width + px
            for state in range(first[agent], first[agent + 1]):
                now, then, row = on[around, state], was[y, slots[state], x], gradient[state]
                moved, alone = to_moved[state, around], to_before[y, slots[state], x]
                bits = now | then
                _add_products(to_here, bits, differences[around, state], row)
                while bits:
                    c = lowest(bits)
                    total = _dot(here[c], row)
                    # The difference of two ReLUs: of `moved`, and of `before`, which is in `moved`
                    moved[c] = total if now >> c & 1 else zero
                    alone[c] += moved[c] - (total if then >> c & 1 else zero)
                    bits &= bits - 1


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
