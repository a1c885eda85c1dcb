# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ragged rows: their lengths, their reductions, and the functions of PyTorch for them. Row r has the entries offsets[r]
to offsets[r + 1] - 1 of a vector. The distributions of the lengths are those of
../segments/KokkosSoftmaxSegments_Rows.hpp.
"""

import math

UNIFORM_LENGTHS = (12, 128, 1000, 4096)
# power_law: lengths with a density of 1 / length^2. With a mean of 32, this ratio gives lengths from 2.5 to 10^6.
MEAN_LENGTH = 32
LONGEST_TO_SHORTEST = 4 * 10**5
# long_row: a row of 10^7 in the middle of 10^6 rows of 12. With fewer rows, it has 10 entries per other row, too.
SHORT_LENGTH, SHORT_ROWS = 12, 10**6
LONG_PER_SHORT_ROW = 10


def shapes(entries):
    """Yields (group, (rows, entries)), with at most as many entries as are given, except if a row has more."""
    for length in UNIFORM_LENGTHS:
        rows = max(1, entries // length)
        yield "uniform", (rows, rows * length)
    yield "power_law", (max(1, entries // MEAN_LENGTH), max(1, entries))
    per_short_row = SHORT_LENGTH + LONG_PER_SHORT_ROW
    short_rows = max(1, min(SHORT_ROWS, entries // per_short_row))
    yield "long_row", (short_rows + 1, short_rows * per_short_row)


def offsets(group, rows, entries):
    """An array of NumPy, of int32. Each row has an entry."""
    import numpy
    if group == "uniform":
        lengths = numpy.full(rows, entries // rows)
    elif group == "power_law":
        # Quantiles in random order. Random lengths would have another mean, and scaling would change all of them.
        quantiles = (numpy.random.default_rng(5).permutation(rows) + 0.5) / rows
        lengths = 1 / (1 - quantiles * (1 - 1 / LONGEST_TO_SHORTEST))
    else:
        lengths = numpy.full(rows, SHORT_LENGTH)
        lengths[(rows - 1) // 2] = entries - (rows - 1) * SHORT_LENGTH
    ends = numpy.cumsum(lengths)  # those of a power law are scaled to the number of entries
    return numpy.concatenate([[0], numpy.rint(ends * (entries / ends[-1]))]).astype(numpy.int32)


class Rows:
    """Reductions of rows, as those of operations.AlongAxis. Each row must have an entry: for a row without one,
    reduceat() returns the entry after it. The module of the arrays is numpy or torch."""

    def __init__(self, module, offsets):
        self.module, self.offsets, self.is_of_torch = module, offsets, module.__name__ == "torch"

    def max(self, v):
        if self.is_of_torch:
            return self.module.segment_reduce(v, "max", offsets=self.offsets)
        return self.module.maximum.reduceat(v, self.offsets[:-1])

    def sum(self, v):
        if self.is_of_torch:
            return self.module.segment_reduce(v, "sum", offsets=self.offsets)
        return self.module.add.reduceat(v, self.offsets[:-1])

    def expand(self, numbers):
        """The number of the row of each entry."""
        repeat = self.module.repeat_interleave if self.is_of_torch else self.module.repeat
        return repeat(numbers, self.module.diff(self.offsets))

    def vector(self, numbers):
        return numbers


# ---- PyTorch


def index_of_rows(torch, offsets):
    """The row of each entry, as functions of PyTorch take it."""
    rows = torch.arange(len(offsets) - 1, device=offsets.device)
    return torch.repeat_interleave(rows, torch.diff(offsets))


def by_index(torch, v, reduction, offsets, index):
    """As users write it. reduction: max or sum."""
    rows = len(offsets) - 1
    if reduction == "max":
        return v.new_full((rows,), -math.inf).scatter_reduce(0, index, v, "amax")
    return v.new_zeros(rows).scatter_add(0, index, v)


def by_offsets(torch, v, reduction, offsets, index):
    """The same. On hosts it is faster."""
    return torch.segment_reduce(v, reduction, offsets=offsets)


def torch_functions(torch, reduce):
    """{operation: function}. reduce is by_index or by_offsets. Half types are computed in float, because sums of half
    types have too few bits."""

    def in_float(array):
        return array.float() if array.element_size() < 4 else array

    def written(function, first, second, type_of, out):
        if out is None:
            return function(first, second).to(type_of.dtype)
        return function(first, second, out=out)

    def exponentials(x, offsets, index):
        """The maxima, exp(x - maximum), and the sums."""
        v = in_float(x)
        v_max = reduce(torch, v, "max", offsets, index)
        e = torch.exp(v - v_max.index_select(0, index))
        return v_max, e, reduce(torch, e, "sum", offsets, index)

    def softmax(x, offsets, index, dim, out=None):
        _, e, total = exponentials(x, offsets, index)
        return written(torch.div, e, total.index_select(0, index), x, out)

    def logsumexp(x, offsets, index, dim, out=None):
        v_max, _, total = exponentials(x, offsets, index)
        return written(torch.add, v_max, torch.log(total), v_max, out)

    def softmax_backward(y, dy, offsets, index, dim, out=None):
        total = reduce(torch, in_float(y) * dy, "sum", offsets, index)
        return written(torch.mul, y, dy - total.index_select(0, index), y, out)

    return {"segment_softmax": softmax, "segment_logsumexp": logsumexp, "segment_softmax_backward": softmax_backward}
