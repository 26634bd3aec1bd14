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
ON, WAS = CHANNELS, 2 * CHANNELS  # beside a channel: on with the agent, on without it

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
def _add_one(to, a, x):  # type: ignore[no-untyped-def]
    """Adds a x [HIDDEN] to `to`."""
    for j in range(HIDDEN):
        to[j] += a * x[j]


@sums
def _add_four(to, a, x, b, y, c, z, d, w):  # type: ignore[no-untyped-def]
    """Adds a x + b y + c z + d w to `to`."""
    for j in range(HIDDEN):
        to[j] += (a * x[j] + b * y[j]) + (c * z[j] + d * w[j])


@sums
def _dot(x, y):  # type: ignore[no-untyped-def]
    """The sum of x [HIDDEN] times y."""
    total = x.dtype.type(0)
    for j in range(HIDDEN):
        total += x[j] * y[j]
    return total


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
def with_agent(  # type: ignore[no-untyped-def]
    slots, agents, kinds, pairs, changes, before, width, moved, differences, used, counts
):  # fmt: skip
    """The second convolution around the agents, and how it differs from that without them.

    slots [states] is the row of a state's maze in `kinds` and `before`, agents [states] its cell,
    pairs [kinds, 9] the row in `changes` [pairs, 3, 3 * channels] for a kind of cell with the agent
    at a position around it. moved [states, 25 * channels] is before the ReLU, differences after it;
    cells off the board have the numbers of nobody, and 0. used [states, 25, channels] begins with
    the channels that are on with the agent (+ ON) or were without it (+ WAS), counts [states, 25]
    of them: in a trained network a few, and no other matters for what follows.
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
                count, listed = 0, used[state, around]
                for c in range(CHANNELS):
                    on, was = now[c] > zero, source[c] > zero
                    listed[count] = c + ON * on + WAS * was
                    count += on or was
                counts[state, around] = count
            else:
                for c in range(CHANNELS):
                    target[c] = zero
                counts[state, around] = 0


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
def third_layer(first, differences, used, counts, weights, width, hidden):  # type: ignore[no-untyped-def]
    """Adds to hidden [states, HIDDEN] what the agents change in it.

    The states of cell p are first[p] to first[p + 1] - 1. Going over the cells of the board, not
    over the states, keeps each cell's weights [channels, HIDDEN] close while they are needed.
    """
    cells = weights.shape[0]
    height = cells // width
    for cell in range(cells):
        here = weights[cell]
        y, x = cell // width, cell % width
        for around in range(WINDOW):
            py, px = y - around // 5 + 2, x - around % 5 + 2
            if not (0 <= py < height and 0 <= px < width):
                continue
            agent = py * width + px
            for state in range(first[agent], first[agent + 1]):
                difference, channels = differences[state, around], used[state, around]
                count, row = counts[state, around], hidden[state]
                whole = count - count % 4
                for k in range(0, whole, 4):
                    c, d = channels[k] % CHANNELS, channels[k + 1] % CHANNELS
                    e, f = channels[k + 2] % CHANNELS, channels[k + 3] % CHANNELS
                    _add_four(
                        row, difference[c], here[c], difference[d], here[d],
                        difference[e], here[e], difference[f], here[f],
                    )  # fmt: skip
                for k in range(whole, count):
                    c = channels[k] % CHANNELS
                    _add_one(row, difference[c], here[c])


@sums
def third_layer_backward(  # type: ignore[no-untyped-def]
    first, slots, differences, used, counts, weights, gradient, width, to_weights, to_moved,
    to_before,
):  # fmt: skip
    """From the gradient of `hidden` to those of weights and `before`, added, and of `moved`."""
    cells = weights.shape[0]
    height = cells // width
    for cell in range(cells):
        here, to_here = weights[cell], to_weights[cell]
        y, x = cell // width, cell % width
        for around in range(WINDOW):
            py, px = y - around // 5 + 2, x - around % 5 + 2
            if not (0 <= py < height and 0 <= px < width):
                continue
            agent = py * width + px
            for state in range(first[agent], first[agent + 1]):
                difference, channels = differences[state, around], used[state, around]
                row = gradient[state]
                for k in range(counts[state, around]):
                    c = channels[k] % CHANNELS
                    _add_one(to_here[c], difference[c], row)
                    total = _dot(here[c], row)
                    # The difference of two ReLUs: of `moved`, and of `before`, which is in `moved`
                    if channels[k] & ON:
                        to_moved[state, around, c] = total
                        if not channels[k] & WAS:
                            to_before[slots[state], cell, c] += total
                    else:
                        to_before[slots[state], cell, c] -= total


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
