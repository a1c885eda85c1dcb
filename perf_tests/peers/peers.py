# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries that are compared. Only this module, measure.py and triton_kernels.py need PyTorch.

A peer has prepare(case, x, y). It returns a function without arguments that computes the case from
x, into y or into a tensor that it returns. If prepare or that function raises an exception, the peer
refuses the case.
"""

import functools
import os

import library as binding


class Refused(Exception):
    """This peer doesn't support this case."""


def load(names, torch, device, library):
    """({name: peer}, {name: why it is missing})."""
    peers, missing = {}, {}
    for name in names:
        try:
            peers[name] = PEERS[name](torch, device, library)
        except Exception as error:  # noqa: BLE001  packages fail to load in many ways
            missing[name] = f"{type(error).__name__}: {error}"
    return peers, missing


def need_rows(case):
    if case.axis != 1:
        raise Refused("computes along the last axis only")


def output(device, y):
    """The arguments that make a function of PyTorch write into y, on a host. New memory is mapped page
    by page there while it is written, which can take as long as the computation. On a GPU, PyTorch
    takes memory from its cache, which costs the device nothing."""
    return {"out": y} if device == "cpu" else {}


class Copy:
    """The limit: the better of PyTorch's copy and a kernel with 16-byte accesses."""

    def __init__(self, torch, device, library):
        self.kernel = None
        if device == "cuda":
            import triton_kernels
            self.kernel = triton_kernels.copy

    def alternatives(self, x, y):
        calls = [lambda: y.copy_(x)]
        if self.kernel is not None:
            calls.append(lambda: self.kernel(x, y))
        return calls


class Sum:
    """The limit of logsumexp only: a plain sum over the same rows."""

    operations = ("logsumexp",)

    def __init__(self, torch, device, library):
        self.sum, self.device = torch.sum, device

    def prepare(self, case, x, y):
        return functools.partial(self.sum, x, dim=case.axis, **output(self.device, y))


class Ours:
    def __init__(self, torch, device, library):
        self.torch, self.library = torch, library
        self.space = binding.DEVICE if device == "cuda" else binding.HOST
        if device == "cuda" and library.space_name(self.space) not in ("Cuda", "HIP"):
            raise RuntimeError(f"{library.path} is built for {library.space_name(self.space)} "
                               "(tensors are on a GPU): give a library built for it")

    def prepare(self, case, x, y):
        stream = None
        if self.space == binding.DEVICE:
            stream = self.torch.cuda.current_stream().cuda_stream
        return self.library.prepare(case.operation, self.space, binding.of_tensor(x),
                                    binding.of_tensor(y), stream, axis=case.axis)


class TorchEager:
    def __init__(self, torch, device, library):
        self.functions, self.device = torch_functions(torch), device

    def prepare(self, case, x, y):
        return functools.partial(self.functions[case.operation], x, dim=case.axis,
                                 **output(self.device, y))


class TorchCompile:
    def __init__(self, torch, device, library):
        self.torch, self.functions = torch, torch_functions(torch)
        self.compile = torch.compile  # missing before PyTorch 2

    def prepare(self, case, x, y):
        # Reset for each case; otherwise it would end with code for any shape, or without compiling.
        self.torch._dynamo.reset()
        function, axis = self.functions[case.operation], case.axis
        return functools.partial(self.compile(lambda t: function(t, dim=axis), dynamic=False), x)


def torch_functions(torch):
    return {"softmax": torch.softmax, "log_softmax": torch.log_softmax,
            "logsumexp": torch.logsumexp}


class Triton:
    MAX_COLUMNS = 131072  # wider blocks compile for minutes, and their code has too few registers

    def __init__(self, torch, device, library):
        if device != "cuda":
            raise RuntimeError("runs on GPUs only")
        import triton_kernels
        self.rows = triton_kernels.rows

    def prepare(self, case, x, y):
        need_rows(case)
        if case.columns > self.MAX_COLUMNS:
            raise Refused(f"a row of more than {self.MAX_COLUMNS} columns doesn't fit one program")
        return functools.partial(self.rows, binding.OPERATIONS[case.operation], x, y)


class Jax:
    """Runs on streams of its own, so each call waits for its end: times include that latency."""

    def __init__(self, torch, device, library):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
        import jax.dlpack
        jax.config.update("jax_enable_x64", True)
        if device == "cuda" and jax.default_backend() != "gpu":
            raise RuntimeError("JAX has no GPU")
        self.torch, self.jax, self.device = torch, jax, device
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
    """Converted to a tensor only for the check."""

    def __init__(self, torch, array):
        self.torch, self.array = torch, array

    def tensor(self):
        return self.torch.from_dlpack(self.array)


class Quack:
    def __init__(self, torch, device, library):
        from quack.softmax import softmax
        if device != "cuda":
            raise RuntimeError("runs on GPUs only")
        self.softmax = softmax

    def prepare(self, case, x, y):
        need_rows(case)
        if case.operation != "softmax":
            raise Refused(f"has no {case.operation}")
        return functools.partial(self.softmax, x)


OURS = "kokkos-softmax"
PEERS = {"copy": Copy, "sum": Sum, OURS: Ours, "torch": TorchEager, "torch.compile": TorchCompile,
         "triton": Triton, "jax": Jax, "quack": Quack}
