# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an operation reads, writes and computes."""

import typing

import ragged

# Names of arrays with one number per row. offsets has one more. The others have the extents of x.
PER_ROW = ("labels", "lse", "loss", "dlse", "dloss")


class Operation(typing.NamedTuple):
    """function: what is computed or, by a backward pass, was computed. first: the array that is read first, x or y,
    the result of the function. reads, writes: the other arrays."""

    function: str
    first: str = "x"
    reads: tuple = ()
    writes: tuple = ("y",)


OPERATIONS = {
    "softmax": Operation("softmax"),
    "log_softmax": Operation("log_softmax"),
    "logsumexp": Operation("logsumexp", writes=("lse",)),
    "softmax_backward": Operation("softmax", "y", ("dy",), ("dx",)),
    "log_softmax_backward": Operation("log_softmax", "y", ("dy",), ("dx",)),
    "logsumexp_backward": Operation("logsumexp", "x", ("lse", "dlse"), ("dx",)),
    "cross_entropy": Operation("cross_entropy", "x", ("labels",), ("loss", "lse")),
    "cross_entropy_backward": Operation("cross_entropy", "x", ("labels", "lse", "dloss"), ("dx",)),
    "segment_softmax": Operation("softmax", "x", ("offsets",)),
    "segment_logsumexp": Operation("logsumexp", "x", ("offsets",), ("lse",)),
    "segment_softmax_backward": Operation("softmax", "y", ("dy", "offsets"), ("dx",)),
}
RAGGED = [name for name, operation in OPERATIONS.items() if "offsets" in operation.reads]
OF_MATRICES = [name for name in OPERATIONS if name not in RAGGED]
READS_PER_ROW = [name for name, operation in OPERATIONS.items() if set(operation.reads) & set(PER_ROW)]


# ---- Definitions. The module of the arrays is numpy or torch.


class AlongAxis(typing.NamedTuple):
    """Reductions of the rows of a matrix along an axis. ragged.Rows has the same functions."""

    module: object
    axis: int

    def max(self, v):
        return self.module.amax(v, self.axis, keepdims=True)

    def sum(self, v):
        return v.sum(self.axis, keepdims=True)

    def expand(self, numbers):
        """What max() or sum() returned, so that it can be subtracted from each entry."""
        return numbers

    def vector(self, numbers):
        """What max() or sum() returned, as a vector."""
        return numbers.squeeze(self.axis)


def rows_of(module, given, axis):
    """The rows of an operation. given: {name: array} of what it reads besides the first array."""
    return ragged.Rows(module, given["offsets"]) if "offsets" in given else AlongAxis(module, axis)


def definition(module, operation, first, given, axis):
    """What an operation writes, computed in float64, and the sizes that errors are relative to. given: {name: array} of
    what is read besides the first array. With operands, the first array is inputs.values_in_double()."""
    first, function, rows = in_double(module, first), OPERATIONS[operation].function, rows_of(module, given, axis)
    if OPERATIONS[operation].first == "y":
        return gradient_from_result(module, function, first, in_double(module, given["dy"]), rows)
    if operation in RAGGED or not OPERATIONS[operation].reads:
        return forward(module, function, first, rows)
    matrix = module.moveaxis(first, axis, -1)
    if operation == "cross_entropy":
        return cross_entropy(module, matrix, given["labels"])
    derivative = given["dlse" if operation == "logsumexp_backward" else "dloss"]
    results = gradient_from_lse(module, matrix, given["lse"], derivative, given.get("labels"))
    return tuple(module.moveaxis(result, -1, axis) for result in results)


def forward(module, function, v, rows):
    """What softmax, log_softmax or logsumexp of v writes, and the sizes that errors are relative to. v is of float64. A
    row of -inf alone has the results of EmptyRows::zero."""
    lowest = module.finfo(module.float64).min  # in place of -inf, as -inf - -inf would be NaN
    v_max = rows.max(v)
    v = v - rows.expand(v_max.clip(lowest))
    log_sum = module.log(rows.sum(module.exp(v)))
    if function == "logsumexp":
        lse = rows.vector(v_max + log_sum)
        return lse, abs(lse).clip(1)
    v -= rows.expand(log_sum.clip(lowest))
    if function == "log_softmax":
        return v, abs(v).clip(1)
    y = module.exp(v)
    return y, y


def in_double(module, array):
    return module.asarray(array, dtype=module.float64)


def gradient_from_result(module, function, y, dy, rows):
    """dx, and for each entry the sum of the absolute values of its terms (docs/backward.md#accuracy)."""
    p, t = (y, y * dy) if function == "softmax" else (module.exp(y), dy)
    dx = t - p * rows.expand(rows.sum(t))
    return dx, abs(t) + p * rows.expand(rows.sum(abs(t)))


def gradient_from_lse(module, x, lse, derivative, labels=None):
    """dx, and for each entry the sum of the absolute values of its terms. The term of the softmax, exp(log_p), counts
    max(1, |log_p|) times: PyTorch rounds log_p to the type of x. Rows are along the last axis."""
    log_p = x - lse[:, None]
    p = module.exp(log_p)
    size = p * abs(log_p).clip(1)
    if labels is not None:
        of_label = index_of_labels(module, labels)
        p[of_label] -= 1
        size[of_label] += 1
    return derivative[:, None] * p, abs(derivative)[:, None] * size


def cross_entropy(module, x, labels):
    """The losses and the log-sum-exp of the rows along the last axis, and max(1, |value|)."""
    lse = log_sum_exp(module, x)
    results = module.stack([lse - x[index_of_labels(module, labels)], lse])
    return results, abs(results).clip(1)


def log_sum_exp(module, x):
    """Of the rows along the last axis."""
    x_max = module.amax(x, -1, keepdims=True)
    return (x_max + module.log(module.exp(x - x_max).sum(-1, keepdims=True)))[..., 0]


def index_of_labels(module, labels):
    """Of the entry of each row that its label names."""
    return indices(module, len(labels), labels), labels


def indices(module, count, array):
    """0 to count - 1, on the device of the array."""
    return module.arange(count, **device_of(module, array))


def device_of(module, array):
    """An argument of functions that make an array. NumPy has one device."""
    return {"device": array.device} if module.__name__ == "torch" else {}
