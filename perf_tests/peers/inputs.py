# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls read besides x: in some groups of cases, and in some operations. The functions for tensors need PyTorch.

    group = "mask_per_column_axis0"; kind_of(group) == "mask_per_column"
"""

import operations

LIMITS = ("lengths", "mixed_lengths", "causal")  # rows end at one column, at random ones, or at a diagonal
KINDS = ("bias", "bias_per_column", "mask", "mask_per_column", *LIMITS, "weights", "weights_per_column")
OF_LOGSUMEXP = ("weights", "weights_per_column")
MEAN_OF_DY = 1.0  # with 0, the sum in the gradient of a long row would be too small to check


def kind_of(group):
    """One of KINDS, or None for a group of calls that read x alone."""
    kind = group.removesuffix("_axis0")
    return kind if kind in KINDS else None


def bytes_of_group(case, bytes_per_entry):
    """The bytes that a group reads besides x, without those of a few entries."""
    of_entry = {"bias": bytes_per_entry, "mask": 1, "weights": bytes_per_entry}.get(kind_of(case.group), 0)
    return of_entry * case.rows * case.columns


def visible_fraction(case):
    """The part of x that must be read: half of it with lengths and causal limits as in make()."""
    return 0.5 if kind_of(case.group) in LIMITS else 1.0


def make(torch, case, x, generator):
    """{name: tensor or number} of the operands, as the library takes them."""
    if case.first == "y":
        dy = torch.randn(case.extents, dtype=torch.float32, device=x.device, generator=generator)
        return {"dy": (dy + MEAN_OF_DY).to(x.dtype)}
    if case.reads:
        return per_row(torch, case, x, lambda count: torch.rand(
            count, dtype=torch.float64, device=x.device, generator=generator))
    kind = kind_of(case.group)
    extents = case.extents
    if kind and kind.endswith("per_column"):
        extents = (case.columns,) if case.axis == 1 else (case.columns, 1)
    if kind in ("bias", "bias_per_column"):
        bias = torch.randn(extents, dtype=torch.float32, device=x.device, generator=generator)
        return {"bias": bias.to(x.dtype)}
    if kind in OF_LOGSUMEXP:
        weights = torch.rand(extents, dtype=torch.float32, device=x.device, generator=generator)
        return {"weights": weights.to(x.dtype)}
    if kind in ("mask", "mask_per_column"):
        return {"mask": torch.rand(extents, device=x.device, generator=generator) < 0.7}
    if kind == "lengths":
        return {"lengths": torch.full((case.rows,), case.columns // 2, dtype=torch.int32, device=x.device)}
    if kind == "mixed_lengths":
        return {"lengths": torch.randint(0, case.columns + 1, (case.rows,), dtype=torch.int32, device=x.device,
                                         generator=generator)}
    if kind == "causal":
        return {"causal": case.columns // 2 - case.rows // 2}
    return {}


def per_row(module, case, x, uniform):
    """{name: array} of what an operation reads per row. The module is numpy or torch. uniform makes as many
    random numbers from 0 to 1, in float64."""

    def make(name):
        if name == "labels":
            return module.asarray(case.columns * uniform(case.rows), dtype=module.int64)
        if name == "lse":
            numbers = operations.log_sum_exp(module, module.moveaxis(operations.in_double(module, x), case.axis, -1))
        else:
            numbers = 2 * uniform(case.rows) - 1
        return module.asarray(numbers, dtype=getattr(module, case.row_type))

    return {name: make(name) for name in case.reads}


def visible(torch, case, device, inputs):
    """A tensor of bool, broadcast to x: which entries take part. None if all do."""
    if "mask" in inputs:
        return inputs["mask"]
    columns, rows = (torch.arange(n, device=device) for n in (case.columns, case.rows))
    if "lengths" in inputs:
        is_visible = columns[None, :] < inputs["lengths"][:, None]
    elif "causal" in inputs:
        is_visible = columns[None, :] <= rows[:, None] + inputs["causal"]
    else:
        return None
    return is_visible if case.axis == 1 else is_visible.t()


def bias_of(inputs):
    """What others add to x: the bias, or the logarithms of weights, which are positive here. None if there is none."""
    return inputs["weights"].log() if "weights" in inputs else inputs.get("bias")


def values(x, bias, is_visible):
    """What others compute the function of; is_visible as from visible()."""
    v = x if bias is None else x + bias
    return v if is_visible is None else v.masked_fill(~is_visible, -float("inf"))


def arrays(inputs, array_of):
    """The operands for binding.Library. array_of makes an Array."""
    return {name: value if isinstance(value, int) else array_of(value) for name, value in inputs.items()}
