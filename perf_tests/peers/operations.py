# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an operation reads and writes, and what a backward pass computes."""

import typing

import library


class Operation(typing.NamedTuple):
    """function: the one of library.OPERATIONS that is computed or, by a backward pass, was computed. reads: the
    arrays that are read besides the first one, with the extents of the first one."""

    function: str
    reads: tuple = ()


# The first array is x. The first array of a backward pass is y, the result of the function.
OPERATIONS = {name: Operation(name) for name in library.OPERATIONS}
BACKWARD = {f"{name}_backward": Operation(name, ("dy",)) for name in ("softmax", "log_softmax")}
OPERATIONS.update(BACKWARD)


def gradient(module, operation, y, dy, axis):
    """dx by the definition, and for each entry the size that its error is relative to: the sum of the absolute values of
    its terms (docs/backward.md#accuracy). The module of the arrays is numpy or torch."""
    p, t = (y, y * dy) if operation == "softmax_backward" else (module.exp(y), dy)
    dx = t - p * t.sum(axis, keepdims=True)
    return dx, abs(t) + p * abs(t).sum(axis, keepdims=True)
