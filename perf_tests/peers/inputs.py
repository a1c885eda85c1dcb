# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls read besides x: in some groups of cases, and in some operations. The module that functions take is that of
the arrays, numpy or torch.

    group = "mask_per_column_axis0"; kind_of(group) == "mask_per_column"
"""

import math

import operations
import ragged

LIMITS = ("lengths", "mixed_lengths", "causal")  # rows end at one column, at random ones, or at a diagonal
KINDS = ("bias", "bias_per_column", "mask", "mask_per_column", *LIMITS, "weights", "weights_per_column")
OF_LOGSUMEXP = ("weights", "weights_per_column")
ADDED = ("bias", "weights")  # what bias_of() makes a summand of
MEAN_OF_DY = 1.0  # with 0, the sum in the gradient of a long row would be too small to check


def kind_of(group):
    """One of KINDS, or None for a group of calls that read x alone."""
    kind = group.removesuffix("_axis0")
    return kind if kind in KINDS else None


def are_of(operation, kind):
    """Whether an operation has cases of a kind, or without one (None). Operations that read more than x have none with
    operands."""
    if kind in OF_LOGSUMEXP:
        return operation == "logsumexp"
    return kind is None or not operations.OPERATIONS[operation].reads


def bytes_of_group(case, bytes_per_entry):
    """The bytes that a group reads besides x, without those of a few entries."""
    of_entry = {"bias": bytes_per_entry, "mask": 1, "weights": bytes_per_entry}.get(kind_of(case.group), 0)
    return of_entry * case.entries


def visible_fraction(case):
    """The part of x that must be read: half of it with lengths and causal limits as in make()."""
    return 0.5 if kind_of(case.group) in LIMITS else 1.0


def make(module, case, x, random):
    """{name: array or number} of the operands, as the library takes them. The module is numpy or torch.
    random.normal(extents, type) and random.uniform(extents, type), from 0 to 1, make random arrays."""
    if case.first == "y":
        dy = module.asarray(random.normal(case.x_extents, module.float32) + MEAN_OF_DY, dtype=x.dtype)
        return {"dy": dy, **offsets(module, case, x)}
    if case.is_ragged:
        return offsets(module, case, x)
    if case.reads:
        return per_row(module, case, x, random)
    kind, extents = kind_of(case.group), case.extents
    if kind and kind.endswith("per_column"):
        extents = (case.columns,) if case.axis == 1 else (case.columns, 1)
    if kind in ("bias", "bias_per_column"):
        return {"bias": module.asarray(random.normal(extents, module.float32), dtype=x.dtype)}
    if kind in OF_LOGSUMEXP:  # above 0, because others add their logarithms
        return {"weights": module.asarray(1 - random.uniform(extents, module.float32), dtype=x.dtype)}
    if kind in ("mask", "mask_per_column"):
        return {"mask": random.uniform(extents, module.float32) < 0.7}
    if kind == "lengths":
        return {"lengths": module.full_like(x.reshape(-1)[:case.rows], case.columns // 2, dtype=module.int32)}
    if kind == "mixed_lengths":
        lengths = (case.columns + 1) * random.uniform(case.rows, module.float64)
        return {"lengths": module.asarray(lengths, dtype=module.int32)}
    if kind == "causal":
        return {"causal": case.columns // 2 - case.rows // 2}
    return {}


def offsets(module, case, x):
    """{"offsets": array} if rows are ragged, or {}."""
    if not case.is_ragged:
        return {}
    of_numpy = ragged.offsets(case.group, case.rows, case.entries)
    return {"offsets": module.asarray(of_numpy, **operations.device_of(module, x))}


def per_row(module, case, x, random):
    """{name: array} of what an operation reads per row. random: as for make()."""

    def make_one(name):
        if name == "lse":
            numbers = operations.log_sum_exp(module, module.moveaxis(operations.in_double(module, x), case.axis, -1))
        else:
            numbers = random.uniform(case.rows, module.float64)
        if name == "labels":
            return module.asarray(case.columns * numbers, dtype=module.int64)
        return module.asarray(numbers if name == "lse" else 2 * numbers - 1, dtype=getattr(module, case.row_type))

    return {name: make_one(name) for name in case.reads}


def visible(module, case, x, inputs):
    """An array of bool, broadcast to x: which entries take part. None if all do."""
    if "mask" in inputs:
        return inputs["mask"]
    if "lengths" in inputs:
        ends = inputs["lengths"]
    elif "causal" in inputs:
        ends = operations.indices(module, case.rows, x) + (inputs["causal"] + 1)
    else:
        return None
    columns = operations.indices(module, case.columns, x)
    return columns < ends[:, None] if case.axis == 1 else columns[:, None] < ends


def rows_of_nan(module, case, is_visible):
    """An array of bool, broadcast to y: the rows without an entry that takes part, in which some peers give NaN, as
    PyTorch. None if there can't be any. is_visible as from visible()."""
    if is_visible is None or case.writes_rows:
        return None
    return ~module.broadcast_to(is_visible, case.extents).any(case.axis, keepdims=True)


def bias_of(module, inputs):
    """What others add to x: the bias, or the logarithms of weights, which are positive here. None if there is none."""
    return module.log(inputs["weights"]) if "weights" in inputs else inputs.get("bias")


def values(module, x, bias, is_visible):
    """What others compute the function of; is_visible as from visible()."""
    v = x if bias is None else x + bias
    return v if is_visible is None else module.where(is_visible, v, -math.inf)


def values_in_double(module, x, inputs, is_visible):
    """values() in float64, with the logarithms of weights."""
    added = {name: operations.in_double(module, inputs[name]) for name in ADDED if name in inputs}
    return values(module, operations.in_double(module, x), bias_of(module, added), is_visible)


def arrays(inputs, array_of):
    """The operands for binding.Library. array_of makes an Array."""
    return {name: value if isinstance(value, int) else array_of(value) for name, value in inputs.items()}
