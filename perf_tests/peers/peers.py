# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries that are compared on a GPU, and what host_peers.py shares with them. Only this module,
measure_gpu.py and triton_kernels.py need PyTorch.

A peer has prepare(case, x, y). It returns a function without arguments that computes the case from
x, into y or into a tensor that it returns. If prepare or that function raises an exception, the peer
refuses the case. prepare_with(case, x, y, inputs) does the same for cases that read more than x, see
inputs.py; a peer without it refuses them.
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
        stream = self.torch.cuda.current_stream().cuda_stream
        return self.library.prepare(case.operation, binding.DEVICE, binding.of_tensor(x),
                                    binding.of_tensor(y), stream, axis=case.axis)

    def prepare_with(self, case, x, y, given):
        stream = self.torch.cuda.current_stream().cuda_stream
        return self.library.prepare(case.operation, binding.DEVICE, binding.of_tensor(x),
                                    binding.of_tensor(y), stream, axis=case.axis, empty_rows="zero",
                                    **inputs.arrays(given))


class TorchEager:
    def __init__(self, setup):
        self.torch, self.functions = setup.torch, torch_functions(setup.torch)

    def prepare(self, case, x, y):
        return functools.partial(self.functions[case.operation], x, dim=case.axis)

    def prepare_with(self, case, x, y, given):
        function = functools.partial(self.functions[case.operation], dim=case.axis)
        is_visible = inputs.visible(self.torch, case, x.device, given)
        return lambda: function(inputs.values(x, given.get("bias"), is_visible))


class TorchCompile:
    def __init__(self, setup):
        self.torch, self.functions = setup.torch, torch_functions(setup.torch)
        self.compile = self.torch.compile  # missing before PyTorch 2

    def prepare(self, case, x, y):
        # Reset for each case; otherwise it would end with code for any shape, or without compiling.
        self.torch._dynamo.reset()
        function, axis = self.functions[case.operation], case.axis
        return functools.partial(self.compile(lambda t: function(t, dim=axis), dynamic=False), x)

    def prepare_with(self, case, x, y, given):
        self.torch._dynamo.reset()
        function, axis = self.functions[case.operation], case.axis
        compiled = self.compile(lambda t, bias, seen: function(inputs.values(t, bias, seen), dim=axis),
                                dynamic=False)
        return functools.partial(compiled, x, given.get("bias"),
                                 inputs.visible(self.torch, case, x.device, given))


def torch_functions(torch):
    return {"softmax": torch.softmax, "log_softmax": torch.log_softmax,
            "logsumexp": torch.logsumexp}


class Triton:
    MAX_COLUMNS = 131072  # wider blocks compile for minutes, and their code has too few registers

    def __init__(self, setup):
        import triton_kernels
        self.rows = triton_kernels.rows

    def prepare(self, case, x, y):
        need_rows(case)
        if case.columns > self.MAX_COLUMNS:
            raise Refused(f"a row of more than {self.MAX_COLUMNS} columns doesn't fit one program")
        return functools.partial(self.rows, binding.OPERATIONS[case.operation], x, y)


class Jax:
    """Each call returns a new array and waits for its end. On a GPU, JAX runs on streams of its own, so that
    times include that latency."""

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
        from quack.softmax import softmax
        self.softmax = softmax

    def prepare(self, case, x, y):
        need_rows(case)
        if case.operation != "softmax":
            raise Refused(f"has no {case.operation}")
        return functools.partial(self.softmax, x)


OURS = "kokkos-softmax"
PEERS = {"copy": Copy, "sum": Sum, OURS: Ours, "torch": TorchEager, "torch.compile": TorchCompile,
         "triton": Triton, "jax": Jax, "quack": Quack}
