"""Sums of table rows, their gradient, and Adam on rows: loops that numba compiles.

Comes in: a table [facts, width], the facts that hold [n, most] (int32; a negative number ends a
row early), buffers to write. Does not know: torch, networks, losses.

Only `sparse` imports this, when a layer is made, so that nobody else needs numba. Rows are added in
their order: the same input gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

_OPTIONS: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
compiled: Any = njit(**_OPTIONS)
reordered: Any = njit(**_OPTIONS, fastmath={"reassoc"})
"""For sums that may be taken in several parts at once, the same ones every time."""
bits: Any = intrinsic


@bits
def widened(context, half):  # type: ignore[no-untyped-def]
    """The float32 of a bfloat16's bits, which are its upper half."""

    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        number, kind = (context.get_value_type(one) for one in (types.float32, types.uint32))
        return builder.bitcast(builder.shl(builder.zext(arguments[0], kind), kind(16)), number)

    return types.float32(types.uint16), code


@bits
def rounded(context, number):  # type: ignore[no-untyped-def]
    """The bits of the bfloat16 nearest to a float32, the even one of two: as torch rounds."""

    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kind, half = (context.get_value_type(one) for one in (types.uint32, types.uint16))
        bits = builder.bitcast(arguments[0], kind)
        odd = builder.and_(builder.lshr(bits, kind(16)), kind(1))
        up = builder.add(bits, builder.add(odd, kind(0x7FFF)))
        return builder.trunc(builder.lshr(up, kind(16)), half)

    return types.uint16(types.float32), code


@compiled
def add_rows(table, bias, facts, out):  # type: ignore[no-untyped-def]
    """out[i] = bias + the sum of the rows of facts[i]; four rows a turn, to store less often."""
    width = table.shape[1]
    for i in range(facts.shape[0]):
        row, total = facts[i], out[i]
        for j in range(width):
            total[j] = bias[j]
        count = 0
        while count < row.shape[0] and row[count] >= 0:
            count += 1
        k = 0
        while k + 4 <= count:
            a, b, c, d = table[row[k]], table[row[k + 1]], table[row[k + 2]], table[row[k + 3]]
            for j in range(width):
                total[j] += (a[j] + b[j]) + (c[j] + d[j])
            k += 4
        while k < count:
            a = table[row[k]]
            for j in range(width):
                total[j] += a[j]
            k += 1


@compiled
def add_rows_cut(table, bias, facts, out):  # type: ignore[no-untyped-def]
    """Adds to `out` as `add_rows` does, 0 where that is less; it has the bits of bfloat16."""
    width = table.shape[1]
    total, zero = np.empty_like(bias), bias.dtype.type(0)
    for i in range(facts.shape[0]):
        row, cut = facts[i], out[i]
        for j in range(width):
            total[j] = bias[j] + widened(cut[j])
        count = 0
        while count < row.shape[0] and row[count] >= 0:
            count += 1
        k = 0
        while k + 4 <= count:
            a, b, c, d = table[row[k]], table[row[k + 1]], table[row[k + 2]], table[row[k + 3]]
            for j in range(width):
                total[j] += (a[j] + b[j]) + (c[j] + d[j])
            k += 4
        while k < count:
            a = table[row[k]]
            for j in range(width):
                total[j] += a[j]
            k += 1
        for j in range(width):
            cut[j] = rounded(zero if total[j] <= zero else total[j])


@compiled
def count(facts, counts):  # type: ignore[no-untyped-def]
    """Adds to counts [facts] how often each fact holds."""
    for i in range(facts.shape[0]):
        for k in range(facts.shape[1]):
            if facts[i, k] < 0:
                break
            counts[facts[i, k]] += 1


@compiled
def part(facts, columns, none, rest, held):  # type: ignore[no-untyped-def]
    """Facts that have a column become a one there, the bits of bfloat16; the rest stay.

    What has none is said to have the column `none`, where anything may be written. A fact that a
    sample has twice stays the second time.
    """
    one, zero = np.uint16(0x3F80), np.uint16(0)
    for i in range(facts.shape[0]):
        row, left, to = facts[i], rest[i], held[i]
        kept = 0
        for k in range(row.shape[0]):
            fact = row[k]
            if fact < 0:
                break
            column = columns[fact]
            left[kept] = fact
            kept += int(column == none) | int(to[column] != zero)
            to[column] = one
        if kept < left.shape[0]:
            left[kept] = -1


@compiled
def cut_gradient(gradients, outputs, left, sums):  # type: ignore[no-untyped-def]
    """What is left of gradients [n, width] where outputs were cut off, and its sums by column.

    All but the sums are the bits of bfloat16.
    """
    sums[:] = 0
    none = np.uint16(0)
    for i in range(gradients.shape[0]):
        g, o, to = gradients[i], outputs[i], left[i]
        for j in range(g.shape[0]):
            bits = g[j] if o[j] != none else none
            to[j] = bits
            sums[j] += widened(bits)


@compiled
def invert(facts, counts, starts, samples):  # type: ignore[no-untyped-def]
    """Which samples have each fact: those of fact f are samples[starts[f]:starts[f + 1]].

    `counts` [facts] is room to count in; `samples` is as long as all numbers in `facts`.
    """
    counts[:] = 0
    for i in range(facts.shape[0]):
        for k in range(facts.shape[1]):
            if facts[i, k] < 0:
                break
            counts[facts[i, k]] += 1
    total = 0
    for f in range(counts.shape[0]):
        starts[f] = total
        total += counts[f]
        counts[f] = starts[f]
    starts[counts.shape[0]] = total
    for i in range(facts.shape[0]):
        for k in range(facts.shape[1]):
            fact = facts[i, k]
            if fact < 0:
                break
            samples[counts[fact]] = i
            counts[fact] += 1


@compiled
def add_gradients(starts, samples, gradients, out, marks):  # type: ignore[no-untyped-def]
    """out[f] += the sum of gradients[i] [n, width] over the samples i that have fact f.

    Rows to which something was added are marked.
    """
    width = out.shape[1]
    for f in range(out.shape[0]):
        k, last = starts[f], starts[f + 1]
        total = out[f]
        if k < last:
            marks[f] = 1
        while k + 4 <= last:
            a, b = gradients[samples[k]], gradients[samples[k + 1]]
            c, d = gradients[samples[k + 2]], gradients[samples[k + 3]]
            for j in range(width):
                total[j] += (a[j] + b[j]) + (c[j] + d[j])
            k += 4
        while k < last:
            a = gradients[samples[k]]
            for j in range(width):
                total[j] += a[j]
            k += 1


@compiled
def add_half_gradients(starts, samples, gradients, out, marks):  # type: ignore[no-untyped-def]
    """As `add_gradients`, of the bits of gradients in bfloat16; sums are float32."""
    width = out.shape[1]
    for f in range(out.shape[0]):
        k, last = starts[f], starts[f + 1]
        total = out[f]
        if k < last:
            marks[f] = 1
        while k + 4 <= last:
            a, b = gradients[samples[k]], gradients[samples[k + 1]]
            c, d = gradients[samples[k + 2]], gradients[samples[k + 3]]
            for j in range(width):
                two = widened(a[j]) + widened(b[j])
                total[j] += two + (widened(c[j]) + widened(d[j]))
            k += 4
        while k < last:
            a = gradients[samples[k]]
            for j in range(width):
                total[j] += widened(a[j])
            k += 1


@reordered
def squared_norm(gradient, marks):  # type: ignore[no-untyped-def]
    """The sum of the squares in the marked rows of a gradient, in float64."""
    total = 0.0
    for f in range(gradient.shape[0]):
        if marks[f]:
            row = gradient[f]
            for j in range(row.shape[0]):
                total += np.float64(row[j]) * np.float64(row[j])
    return total


@compiled
def descend(table, gradient, mean, square, marks, known, scale, rate, root, betas, eps):  # type: ignore[no-untyped-def]
    """One step of Adam on the rows that ever had a gradient; clears gradient and marks.

    A row that never had one has no momentum either: Adam would leave it where it is.

    Args:
        table: what is learned, [facts, width]; `gradient`, `mean` and `square` are of its shape.
        gradient: this step's; of the rows that are not marked it is 0.
        mean: Adam's mean of the gradients.
        square: Adam's mean of their squares.
        marks: which rows have a gradient, [facts].
        known: which ever had one, [facts].
        scale: the gradient is multiplied by this.
        rate: the learning rate over the mean's bias.
        root: the square root of the square's bias.
        betas: how much of the mean and of the square is kept.
        eps: Adam's epsilon.
    """
    first, second, one = betas[0], betas[1], table.dtype.type(1)
    tiny = table.dtype.type(1e-30)  # what is smaller is cleared: such numbers are slow
    for f in range(table.shape[0]):
        if marks[f]:
            known[f] = 1
        if not known[f]:
            continue
        marks[f] = 0
        w, g, m, v = table[f], gradient[f], mean[f], square[f]
        for j in range(w.shape[0]):
            slope = g[j] * scale
            moved = first * m[j] + (one - first) * slope
            moved = moved if abs(moved) > tiny else one - one
            spread = second * v[j] + (one - second) * slope * slope
            w[j] -= rate * moved / (np.sqrt(spread) / root + eps)
            m[j], v[j], g[j] = moved, spread, one - one
