# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A copy, and softmax, the cross entropy and their backward passes as they are usually written in Triton: one program
holds a row in its registers. A program for a ragged row reads it in blocks, twice."""

import triton
import triton.language as tl

SOFTMAX, LOG_SOFTMAX, LOGSUMEXP = 0, 1, 2


@triton.jit
def row_kernel(x, y, columns, OPERATION: tl.constexpr, BLOCK: tl.constexpr, IN_DOUBLE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    v = tl.load(x + row * columns + column, mask=inside, other=-float("inf"))
    v = v.to(tl.float64 if IN_DOUBLE else tl.float32)
    v_max = tl.max(v, axis=0)
    e = tl.exp(v - v_max)
    total = tl.sum(e, axis=0)
    if OPERATION == 0:
        tl.store(y + row * columns + column, e / total, mask=inside)
    elif OPERATION == 1:
        tl.store(y + row * columns + column, (v - v_max) - tl.log(total), mask=inside)
    else:
        tl.store(y + row, v_max + tl.log(total))


@triton.jit
def backward_kernel(y, dy, dx, columns, IS_LOG: tl.constexpr, BLOCK: tl.constexpr, IN_DOUBLE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    p = tl.load(y + row * columns + column, mask=inside, other=0.0)
    t = tl.load(dy + row * columns + column, mask=inside, other=0.0)
    p = p.to(tl.float64 if IN_DOUBLE else tl.float32)
    t = t.to(tl.float64 if IN_DOUBLE else tl.float32)
    if IS_LOG:
        p = tl.exp(p)
    else:
        t = p * t
    total = tl.sum(t, axis=0)
    tl.store(dx + row * columns + column, t - p * total, mask=inside)


@triton.jit
def cross_entropy_kernel(x, labels, loss, lse, columns, BLOCK: tl.constexpr, IN_DOUBLE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + column, mask=column < columns, other=-float("inf"))
    v = v.to(tl.float64 if IN_DOUBLE else tl.float32)
    of_label = tl.load(x + row * columns + tl.load(labels + row)).to(tl.float64 if IN_DOUBLE else tl.float32)
    v_max = tl.max(v, axis=0)
    log_total = tl.log(tl.sum(tl.exp(v - v_max), axis=0))
    tl.store(loss + row, (v_max - of_label) + log_total)
    tl.store(lse + row, v_max + log_total)


@triton.jit
def gradient_from_lse_kernel(x, labels, lse, derivative, dx, columns, HAS_LABELS: tl.constexpr, BLOCK: tl.constexpr,
                             IN_DOUBLE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    v = tl.load(x + row * columns + column, mask=inside, other=-float("inf"))
    p = tl.exp(v.to(tl.float64 if IN_DOUBLE else tl.float32) - tl.load(lse + row))
    if HAS_LABELS:
        p = tl.where(column == tl.load(labels + row), p - 1, p)
    tl.store(dx + row * columns + column, p * tl.load(derivative + row), mask=inside)


@triton.jit
def ragged_kernel(x, offsets, y, IS_LOGSUMEXP: tl.constexpr, BLOCK: tl.constexpr, IN_DOUBLE: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(offsets + row)
    end = tl.load(offsets + row + 1)
    v_max = tl.full((), -float("inf"), tl.float64 if IN_DOUBLE else tl.float32)
    total = tl.full((), 0.0, tl.float64 if IN_DOUBLE else tl.float32)
    for first in range(begin, end, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < end, other=-float("inf")).to(tl.float64 if IN_DOUBLE else tl.float32)
        new_max = tl.maximum(v_max, tl.max(v, axis=0))
        total = total * tl.exp(v_max - new_max) + tl.sum(tl.exp(v - new_max), axis=0)
        v_max = new_max
    if IS_LOGSUMEXP:
        tl.store(y + row, v_max + tl.log(total))
    else:
        for first in range(begin, end, BLOCK):
            i = first + tl.arange(0, BLOCK)
            v = tl.load(x + i, mask=i < end, other=-float("inf")).to(tl.float64 if IN_DOUBLE else tl.float32)
            tl.store(y + i, tl.exp(v - v_max) / total, mask=i < end)


@triton.jit
def ragged_backward_kernel(y, dy, offsets, dx, BLOCK: tl.constexpr, IN_DOUBLE: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(offsets + row)
    end = tl.load(offsets + row + 1)
    total = tl.full((), 0.0, tl.float64 if IN_DOUBLE else tl.float32)
    for first in range(begin, end, BLOCK):
        i = first + tl.arange(0, BLOCK)
        p = tl.load(y + i, mask=i < end, other=0.0).to(tl.float64 if IN_DOUBLE else tl.float32)
        t = tl.load(dy + i, mask=i < end, other=0.0).to(tl.float64 if IN_DOUBLE else tl.float32)
        total += tl.sum(p * t, axis=0)
    for first in range(begin, end, BLOCK):
        i = first + tl.arange(0, BLOCK)
        p = tl.load(y + i, mask=i < end, other=0.0).to(tl.float64 if IN_DOUBLE else tl.float32)
        t = tl.load(dy + i, mask=i < end, other=0.0).to(tl.float64 if IN_DOUBLE else tl.float32)
        tl.store(dx + i, p * (t - total), mask=i < end)


@triton.jit
def copy_kernel(x, y, bulk, count, BLOCK: tl.constexpr):
    """bulk: count rounded down to a multiple of 16, so that Triton copies 16 bytes at a time."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < bulk), mask=i < bulk)
    if tl.program_id(0) == 0:
        rest = bulk + tl.arange(0, 16)
        tl.store(y + rest, tl.load(x + rest, mask=rest < count), mask=rest < count)


def rows(operation, x, y):
    """Launches an operation (SOFTMAX, ...) on each row of a contiguous matrix."""
    block, warps = block_and_warps(x)
    row_kernel[(x.shape[0],)](x, y, x.shape[1], operation, block, x.element_size() == 8,
                              num_warps=warps)


def backward(is_log, y, dy, dx):
    """Launches the backward pass of softmax or log_softmax on each row of contiguous matrices."""
    block, warps = block_and_warps(y)
    backward_kernel[(y.shape[0],)](y, dy, dx, y.shape[1], is_log, block, y.element_size() == 8,
                                   num_warps=warps)


def cross_entropy(x, labels, loss, lse):
    """Launches the cross entropy of each row of a contiguous matrix."""
    block, warps = block_and_warps(x)
    cross_entropy_kernel[(x.shape[0],)](x, labels, loss, lse, x.shape[1], block, x.element_size() == 8,
                                        num_warps=warps)


def gradient_from_lse(x, labels, lse, derivative, dx):
    """Launches the backward pass of the cross entropy or, if labels is None, of logsumexp."""
    block, warps = block_and_warps(x)
    gradient_from_lse_kernel[(x.shape[0],)](x, labels, lse, derivative, dx, x.shape[1], labels is not None, block,
                                            x.element_size() == 8, num_warps=warps)


def ragged_rows(is_logsumexp, x, offsets, y):
    """Launches softmax or logsumexp on each row of a vector, which must have an entry."""
    rows, block, warps = ragged_launch(x, offsets)
    ragged_kernel[(rows,)](x, offsets, y, is_logsumexp, block, x.element_size() == 8, num_warps=warps)


def ragged_backward(y, dy, offsets, dx):
    """Launches the backward pass of softmax on each row of vectors."""
    rows, block, warps = ragged_launch(y, offsets)
    ragged_backward_kernel[(rows,)](y, dy, offsets, dx, block, y.element_size() == 8, num_warps=warps)


def ragged_launch(x, offsets):
    """The number of rows, and a block and warps for their mean length. A lane has 8 to 16 entries of long blocks."""
    rows = offsets.numel() - 1
    block = min(max(triton.next_power_of_2(x.numel() // rows), 32), 4096)
    return rows, block, min(max(block // 256, 1), 8)


def block_and_warps(x):
    """For one row per program."""
    block = triton.next_power_of_2(x.shape[1])
    return block, min(max(block // 512, 4), 32)


def copy(x, y):
    """Launches a copy of a contiguous tensor."""
    block = 8192 // x.element_size()
    count = x.numel()
    copy_kernel[(triton.cdiv(count, block),)](x, y, count // 16 * 16, count, block, num_warps=4)
