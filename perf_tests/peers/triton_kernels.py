# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A copy, and softmax and its backward pass as they are usually written in Triton: one program holds a row in
its registers."""

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


def block_and_warps(x):
    """For one row per program."""
    block = triton.next_power_of_2(x.shape[1])
    return block, min(max(block // 512, 4), 32)


def copy(x, y):
    """Launches a copy of a contiguous tensor."""
    block = 8192 // x.element_size()
    count = x.numel()
    copy_kernel[(triton.cdiv(count, block),)](x, y, count // 16 * 16, count, block, num_warps=4)
