# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries that are compared on a GPU, and what host_peers.py shares with them. Only this module,
measure_gpu.py and triton_kernels.py need PyTorch.

A peer has prepare(case, x, y). It returns a function without arguments that computes the case from
x, into y or into a tensor that it returns. If prepare or that function raises an exception, the peer
refuses the case. prepare_with(case, x, y, inputs) does the same for cases that read more than x, see
inputs.py; a peer without it refuses them. For a backward pass, x is the result of the function, and y is for
the gradient. A peer with `operations` is left out of cases with others.
"""

import contextlib
import functools
import os
import typing

import inputs
import library as binding


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


def need_backward(case):
    if not case.is_backward:
        raise Refused(ONE_ARRAY)


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
        return prepare_ours(self.library, binding.DEVICE, case, binding.of_tensor(x), binding.of_tensor(y),
                            inputs.arrays(given, binding.of_tensor), stream)


def prepare_ours(library, space, case, x, y, given, stream=None):
    """The function of the library, with Arrays of library.py."""
    if case.is_backward:
        return library.prepare_backward(case.function, space, x, given["dy"], y, stream, axis=case.axis)
    options = {"empty_rows": "zero", **given} if given else {}
    return library.prepare(case.operation, space, x, y, stream, axis=case.axis, **options)


class TorchEager:
    def __init__(self, setup):
        self.torch, self.functions = setup.torch, torch_functions(setup.torch)

    def prepare(self, case, x, y):
        return functools.partial(self.functions[case.operation], x, dim=case.axis)

    def prepare_with(self, case, x, y, given):
        function = functools.partial(self.functions[case.operation], dim=case.axis)
        if case.is_backward:
            return functools.partial(function, x, **given, out=y)
        is_visible = inputs.visible(self.torch, case, x.device, given)
        return lambda: function(inputs.values(x, given.get("bias"), is_visible))


class TorchCompile:
    def __init__(self, setup):
        self.torch, self.functions = setup.torch, torch_functions(setup.torch)
        self.compile = self.torch.compile  # missing before PyTorch 2

    def prepare(self, case, x, y):
        function, axis = self.functions[case.operation], case.axis
        return functools.partial(self.compiled(lambda t: function(t, dim=axis)), x)

    def prepare_with(self, case, x, y, given):
        function, axis = self.functions[case.operation], case.axis
        if case.is_backward:
            return functools.partial(self.compiled(lambda t, dy: function(t, dy, dim=axis)), x, given["dy"])
        compiled = self.compiled(lambda t, bias, seen: function(inputs.values(t, bias, seen), dim=axis))
        return functools.partial(compiled, x, given.get("bias"),
                                 inputs.visible(self.torch, case, x.device, given))

    def compiled(self, function):
        # Reset for each case; otherwise it would end with code for any shape, or without compiling.
        self.torch._dynamo.reset()
        return self.compile(function, dynamic=False)


def torch_functions(torch):
    return {"softmax": torch.softmax, "log_softmax": torch.log_softmax,
            "logsumexp": torch.logsumexp,
            "softmax_backward": torch_backward(torch, "_softmax_backward_data", "grad_input"),
            "log_softmax_backward": torch_backward(torch, "_log_softmax_backward_data", "out")}


def torch_backward(torch, name, name_of_out):
    """The operator of PyTorch that autograd calls. torch.compile replaces it by its formula."""
    operator = getattr(torch.ops.aten, name)

    def backward(y, dy, dim, out=None):
        if out is None:
            return operator(dy, y, dim, y.dtype)
        return operator.out(dy, y, dim, y.dtype, **{name_of_out: out})

    return backward


class Triton:
    MAX_COLUMNS = 131072  # wider blocks compile for minutes, and their code has too few registers

    def __init__(self, setup):
        import triton_kernels
        self.rows, self.backward = triton_kernels.rows, triton_kernels.backward

    def prepare(self, case, x, y):
        self.need_short_rows(case)
        return functools.partial(self.rows, binding.OPERATIONS[case.operation], x, y)

    def prepare_with(self, case, x, y, given):
        need_backward(case)
        self.need_short_rows(case)
        return functools.partial(self.backward, case.function == "log_softmax", x, given["dy"], y)

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
    def __init__(self, setup):
        from quack.softmax import softmax, softmax_bwd
        self.softmax, self.softmax_backward = softmax, softmax_bwd

    def prepare(self, case, x, y):
        self.need_softmax(case)
        return functools.partial(self.softmax, x)

    def prepare_with(self, case, x, y, given):
        need_backward(case)
        self.need_softmax(case)
        return functools.partial(self.softmax_backward, given["dy"], x)

    def need_softmax(self, case):
        need_rows(case)
        if case.function != "softmax":
            raise Refused(f"has no {case.operation}")


OURS = "kokkos-softmax"
PEERS = {"copy": Copy, "sum": Sum, OURS: Ours, "torch": TorchEager, "torch.compile": TorchCompile,
         "triton": Triton, "jax": Jax, "quack": Quack}
