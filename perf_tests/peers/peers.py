# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries that are compared on a GPU, and what host_peers.py shares with them. Only this module,
measure_gpu.py and triton_kernels.py need PyTorch.

A peer has prepare(case, x, y). It returns a function without arguments that computes the case from
x, into y or into a tensor that it returns. If prepare or that function raises an exception, the peer
refuses the case. prepare_with(case, x, y, inputs) does the same for cases that read more than x, see
inputs.py; a peer without it refuses them. x stands for the first array, also if that is y, the result of the
function, and y for the result, also if that is the gradient. Results per row are the rows of y, or a tuple; a
peer may return the first alone. A peer with `operations` is left out of cases with others.
"""

import contextlib
import functools
import os
import typing

import inputs
import library as binding
import ragged
from operations import OF_MATRICES, OPERATIONS


class Setup(typing.NamedTuple):
    """What peers are made for."""

    library: object  # a library.Library
    device: str = "cuda"  # or cpu
    torch: object = None  # the module, on a GPU
    threads: int = 1  # on a host
    helper: object = None  # on a host: the path of libkokkossoftmax_host_peers


class Refused(Exception):
    """This peer doesn't support this case."""


FORWARD = tuple(binding.OPERATIONS)
ONE_ARRAY = "takes x alone"
NO_REDUCTION, IGNORE_INDEX = 0, -100  # arguments of PyTorch's losses


def prepare(peer, case, x, y, given):
    """The function of a peer, which may refuse. given: what is read besides x."""
    if not given:
        return peer.prepare(case, x, y)
    if not hasattr(peer, "prepare_with"):
        raise Refused(ONE_ARRAY)
    return peer.prepare_with(case, x, y, given)


def load(names, classes, setup, context=contextlib.nullcontext):
    """({name: peer}, {name: why it is missing}). Each peer is loaded within a context."""
    peers, missing = {}, {}
    for name in names:
        try:
            with context():
                peers[name] = classes[name](setup)
        except Exception as error:  # noqa: BLE001  packages fail to load in many ways
            missing[name] = f"{type(error).__name__}: {error}"
    return peers, missing


def need_rows(case):
    if case.axis != 1:
        raise Refused("computes along the last axis only")


def need_operation(case, operations):
    """For peers that read more than x only if the operation does."""
    if case.operation not in operations or not case.reads:
        raise Refused(f"has no {case.operation}" if case.reads else ONE_ARRAY)


class Copy:
    """The limit: the better of PyTorch's copy and a kernel with 16-byte accesses."""

    def __init__(self, setup):
        import triton_kernels
        self.kernel = triton_kernels.copy

    def alternatives(self, x, y):
        return [lambda: y.copy_(x), lambda: self.kernel(x, y)]


class Sum:
    """The limit of logsumexp only: a plain sum over the same rows."""

    operations = ("logsumexp",)

    def __init__(self, setup):
        self.sum = setup.torch.sum

    def prepare(self, case, x, y):
        return functools.partial(self.sum, x, dim=case.axis)


class Ours:
    def __init__(self, setup):
        self.torch, self.library = setup.torch, setup.library
        space = self.library.space_name(binding.DEVICE)
        if space not in ("Cuda", "HIP"):
            raise RuntimeError(f"{self.library.path} is built for {space} (tensors are on a GPU): "
                               "give a library built for it")

    def prepare(self, case, x, y):
        return self.prepare_with(case, x, y, {})

    def prepare_with(self, case, x, y, given):
        stream = self.torch.cuda.current_stream().cuda_stream
        return prepare_ours(self.library, binding.DEVICE, case, x, y, given, binding.of_tensor, stream)


def prepare_ours(library, space, case, x, y, given, array_of, stream=None):
    """The function of the library. array_of makes an Array of library.py."""
    results = map(array_of, y) if len(case.writes) > 1 else [array_of(y)]
    x, given = array_of(x), inputs.arrays(given, array_of)
    if case.is_ragged:
        prepare_segment = library.prepare_segment_backward if case.first == "y" else library.prepare_segment_apply
        return prepare_segment(case.function, space, x, *(given[name] for name in case.reads), *results, stream=stream)
    options = {"stream": stream, "axis": case.axis}
    if case.first == "y":
        return library.prepare_backward(case.function, space, x, given["dy"], *results, **options)
    if case.reads:
        prepare_operation = getattr(library, f"prepare_{case.operation}")
        return prepare_operation(space, x, *(given[name] for name in case.reads), *results, **options)
    if given:
        options.update(empty_rows="zero", **given)
    return library.prepare(case.operation, space, x, *results, **options)


class TorchEager:
    def __init__(self, setup):
        self.torch, self.functions = setup.torch, torch_functions(setup.torch)

    def prepare(self, case, x, y):
        return functools.partial(self.functions[case.operation], x, dim=case.axis)

    def prepare_with(self, case, x, y, given):
        function = functools.partial(self.functions[case.operation], dim=case.axis)
        if case.reads:
            x, given = torch_arguments(self.torch, case, x, given)
            return functools.partial(function, x, **given, **torch_outputs(case, x, y))
        return torch_of_values(self.torch, function, case, x, given)


class TorchCompile:
    def __init__(self, setup):
        self.torch, self.functions = setup.torch, torch_functions(setup.torch)
        self.compile = self.torch.compile  # missing before PyTorch 2

    def prepare(self, case, x, y):
        function, axis = self.functions[case.operation], case.axis
        return functools.partial(self.compiled(lambda t: function(t, dim=axis)), x)

    def prepare_with(self, case, x, y, given):
        function, axis = self.functions[case.operation], case.axis
        if case.reads:
            x, given = torch_arguments(self.torch, case, x, given)
            return functools.partial(self.compiled(lambda t, **others: function(t, dim=axis, **others)), x, **given)
        def with_inputs(t, given, seen):
            return function(inputs.values(self.torch, t, inputs.bias_of(self.torch, given), seen), dim=axis)

        return functools.partial(self.compiled(with_inputs), x, given, inputs.visible(self.torch, case, x, given))

    def compiled(self, function):
        # Reset for each case; otherwise it would end with code for any shape, or without compiling.
        self.torch._dynamo.reset()
        return self.compile(function, dynamic=False)


def torch_functions(torch, reduce_ragged=ragged.by_index):
    return {**ragged.torch_functions(torch, reduce_ragged),
            "softmax": torch.softmax, "log_softmax": torch.log_softmax,
            "logsumexp": torch.logsumexp,
            "softmax_backward": torch_backward(torch, "_softmax_backward_data", "grad_input"),
            "log_softmax_backward": torch_backward(torch, "_log_softmax_backward_data", "out"),
            "logsumexp_backward": torch_logsumexp_backward(torch),
            "cross_entropy": torch_cross_entropy(torch),
            "cross_entropy_backward": torch_cross_entropy_backward(torch)}


def torch_arguments(torch, case, x, given):
    """(first array, the others) of the function of an operation, made before it is timed."""
    if case.is_ragged:
        return x, {**given, "index": ragged.index_of_rows(torch, given["offsets"])}
    if case.operation != "cross_entropy_backward":
        return x, given
    # The forward pass of autograd keeps log_softmax and, for means, the weight. The derivatives have the type of x.
    return torch.log_softmax(x, case.axis), {"labels": given["labels"], "dloss": given["dloss"].to(x.dtype),
                                             "total_weight": x.new_zeros(())}


def torch_outputs(case, x, y):
    """The memory that functions with `out` write."""
    return {"out": y, "dlog_y": x.new_empty(x.shape)} if case.operation == "cross_entropy_backward" else {"out": y}


def torch_of_values(torch, function, case, x, given):
    """The function of x with operands. Which entries take part is found out before it is timed."""
    is_visible = inputs.visible(torch, case, x, given)
    return lambda: function(inputs.values(torch, x, inputs.bias_of(torch, given), is_visible))


def torch_backward(torch, name, name_of_out):
    """The operator of PyTorch that autograd calls. torch.compile replaces it by its formula."""
    operator = getattr(torch.ops.aten, name)

    def backward(y, dy, dim, out=None):
        if out is None:
            return operator(dy, y, dim, y.dtype)
        return operator.out(dy, y, dim, y.dtype, **{name_of_out: out})

    return backward


def torch_logsumexp_backward(torch):
    """The formula that autograd computes."""

    def backward(x, lse, dlse, dim, out=None):
        lse, dlse = lse.unsqueeze(dim), dlse.unsqueeze(dim)
        if out is None:
            return (dlse * torch.exp(x - lse)).to(x.dtype)
        torch.sub(x, lse, out=out)
        torch.exp(out, out=out)
        return torch.mul(out, dlse, out=out)

    return backward


# PyTorch has the classes along dimension 1: a matrix with rows along axis 0 is one image, whose pixels are the rows.


def classes_second(matrix, dim):
    return matrix if dim == 1 else matrix[None, :, None, :]


def per_pixel(numbers, dim):
    return numbers if dim == 1 else numbers[None, None, :]


def torch_cross_entropy(torch):
    """It has no `out`."""

    def forward(x, labels, dim, out=None):
        losses = torch.nn.functional.cross_entropy(classes_second(x, dim), per_pixel(labels, dim), reduction="none")
        return losses.reshape(-1)

    return forward


def torch_cross_entropy_backward(torch):
    """The operators that autograd calls, from log_y = log_softmax(x)."""
    of_log_softmax = torch_backward(torch, "_log_softmax_backward_data", "out")

    def backward(log_y, labels, dloss, total_weight, dim, dlog_y=None, out=None):
        operator = torch.ops.aten.nll_loss_backward if dim == 1 else torch.ops.aten.nll_loss2d_backward
        arguments = (per_pixel(dloss, dim), classes_second(log_y, dim), per_pixel(labels, dim), None, NO_REDUCTION,
                     IGNORE_INDEX, total_weight)
        if out is None:
            return of_log_softmax(log_y, operator(*arguments).reshape(log_y.shape), dim)
        operator.grad_input(*arguments, grad_input=classes_second(dlog_y, dim))
        return of_log_softmax(log_y, dlog_y, dim, out)

    return backward


class Triton:
    MAX_COLUMNS = 131072  # wider blocks compile for minutes, and their code has too few registers

    def __init__(self, setup):
        import triton_kernels
        self.kernels = triton_kernels

    def prepare(self, case, x, y):
        self.need_short_rows(case)
        return functools.partial(self.kernels.rows, binding.OPERATIONS[case.operation], x, y)

    def prepare_with(self, case, x, y, given):
        need_operation(case, OPERATIONS)
        if case.is_ragged:
            return self.prepare_ragged(case, x, y, **given)
        self.need_short_rows(case)
        if case.first == "y":
            return functools.partial(self.kernels.backward, case.function == "log_softmax", x, given["dy"], y)
        if case.writes_rows:
            return functools.partial(self.kernels.cross_entropy, x, given["labels"], *y)
        derivative = given[case.reads[-1]]
        return functools.partial(self.kernels.gradient_from_lse, x, given.get("labels"), given["lse"], derivative, y)

    def prepare_ragged(self, case, x, y, offsets, dy=None):
        if case.first == "y":
            return functools.partial(self.kernels.ragged_backward, x, dy, offsets, y)
        return functools.partial(self.kernels.ragged_rows, case.function == "logsumexp", x, offsets, y)

    def need_short_rows(self, case):
        need_rows(case)
        if case.columns > self.MAX_COLUMNS:
            raise Refused(f"a row of more than {self.MAX_COLUMNS} columns doesn't fit one program")


class Jax:
    """Each call returns a new array and waits for its end. On a GPU, JAX runs on streams of its own, so that
    times include that latency."""

    operations = FORWARD

    def __init__(self, setup):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
        import jax.dlpack
        jax.config.update("jax_enable_x64", True)
        if setup.device == "cuda" and jax.default_backend() != "gpu":
            raise RuntimeError("JAX has no GPU")
        self.torch, self.jax, self.device = setup.torch, jax, setup.device
        self.functions = {"softmax": jax.nn.softmax, "log_softmax": jax.nn.log_softmax,
                          "logsumexp": jax.nn.logsumexp}

    def prepare(self, case, x, y):
        self.synchronize()
        array = self.jax.dlpack.from_dlpack(x)
        function = self.jax.jit(functools.partial(self.functions[case.operation], axis=case.axis))

        def call():
            self.synchronize()
            return JaxResult(self.torch, function(array).block_until_ready())

        return call

    def synchronize(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()


class JaxResult:
    """Converted only for the check: to a tensor, or by NumPy."""

    def __init__(self, torch, array):
        self.torch, self.array = torch, array

    def tensor(self):
        return self.torch.from_dlpack(self.array)

    def __array__(self, dtype=None, copy=None):
        return self.array.__array__(dtype)


class Quack:
    """Its losses are imported in their cases alone, because not every version has them."""

    operations = OF_MATRICES

    def __init__(self, setup):
        from quack.softmax import softmax, softmax_bwd
        self.softmax, self.softmax_backward = softmax, softmax_bwd

    def prepare(self, case, x, y):
        need_rows(case)
        if case.operation != "softmax":
            raise Refused(f"has no {case.operation}")
        return functools.partial(self.softmax, x)

    def prepare_with(self, case, x, y, given):
        need_operation(case, ("softmax_backward", "cross_entropy", "cross_entropy_backward"))
        need_rows(case)
        if case.operation == "softmax_backward":
            return functools.partial(self.softmax_backward, given["dy"], x)
        from quack.cross_entropy import cross_entropy_bwd, cross_entropy_fwd
        if case.operation == "cross_entropy":
            return functools.partial(cross_entropy_fwd, x, given["labels"], return_lse=True)
        return functools.partial(cross_entropy_bwd, x, given["labels"], given["dloss"], given["lse"])


class PyG:
    """The softmax of PyTorch Geometric, which returns a new tensor."""

    operations = ("segment_softmax",)

    def __init__(self, setup):
        from torch_geometric.utils import softmax
        self.softmax = softmax

    def prepare_with(self, case, x, y, given):
        return functools.partial(self.softmax, x, ptr=given["offsets"].long())


OURS = "kokkos-softmax"
PEERS = {"copy": Copy, "sum": Sum, OURS: Ours, "torch": TorchEager, "torch.compile": TorchCompile,
         "triton": Triton, "jax": Jax, "quack": Quack, "pyg": PyG}
