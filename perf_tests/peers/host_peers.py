# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The libraries that are compared on a host, and the limits there. A peer is one as in peers.py. x and y
are arrays of NumPy. A function without a result has written y.
"""

import ctypes
import functools

import inputs
import library as binding
import peers
import ragged
from operations import OPERATIONS

BLOCKING = ("OpenMP", "Serial", "Threads")  # a launch returns when the kernel has ended


class Ours:
    def __init__(self, setup):
        self.library = setup.library

    def prepare(self, case, x, y):
        return self.prepare_with(case, x, y, {})

    def prepare_with(self, case, x, y, given):
        call = peers.prepare_ours(self.library, binding.HOST, case, x, y, given, binding.of_buffer)
        if self.library.space_name(binding.HOST) in BLOCKING:
            return call

        def call_and_wait():
            call()
            self.library.fence(binding.HOST)

        return call_and_wait


# ---- Packages of Python


class Torch:
    def __init__(self, setup):
        import torch
        torch.set_num_threads(setup.threads)
        self.torch, self.functions = torch, peers.torch_functions(torch, ragged.by_offsets)

    def prepare(self, case, x, y):
        """Writes into y, except cross_entropy. Else the pages of new memory would be mapped while they are written, which can
        take as long as the computation. With operands, what the function is of is computed first, in new memory."""
        return self.prepare_with(case, x, y, {})

    def prepare_with(self, case, x, y, given):
        x, y = map(self.torch.from_numpy, (x, y))
        given = inputs.arrays(given, self.torch.from_numpy)
        function = functools.partial(self.functions[case.operation], dim=case.axis, **peers.torch_outputs(case, x, y))
        if given and not case.reads:
            return peers.torch_of_values(self.torch, function, case, x, given)
        x, given = peers.torch_arguments(self.torch, case, x, given)
        return functools.partial(function, x, **given)


class TorchCompile(peers.TorchCompile):
    """Returns a new tensor. It compiles for some ten seconds in each case."""

    def __init__(self, setup):
        import torch
        torch.set_num_threads(setup.threads)
        super().__init__(setup._replace(torch=torch))

    def prepare(self, case, x, y):
        return super().prepare(case, self.torch.from_numpy(x), y)

    def prepare_with(self, case, x, y, given):
        given = inputs.arrays(given, self.torch.from_numpy)
        return super().prepare_with(case, self.torch.from_numpy(x), y, given)


class OnnxRuntime:
    """Writes into y, through an I/O binding."""

    operations = peers.FORWARD
    OPERATORS = {"softmax": ("Softmax", {"axis": 1}), "log_softmax": ("LogSoftmax", {"axis": 1}),
                 "logsumexp": ("ReduceLogSumExp", {"axes": [1], "keepdims": 0})}

    def __init__(self, setup):
        import onnx
        import onnxruntime
        self.onnx, self.runtime = onnx, onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = setup.threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3  # errors only
        # Its threads wait by spinning. They must not do so while the other peers run.
        self.options.add_session_config_entry("session.force_spinning_stop", "1")

    def prepare(self, case, x, y):
        session = self.runtime.InferenceSession(self.model(case, y), self.options,
                                                providers=["CPUExecutionProvider"])
        bound = session.io_binding()
        bound.bind_input("x", "cpu", 0, x.dtype.type, x.shape, x.ctypes.data)
        bound.bind_output("y", "cpu", 0, y.dtype.type, y.shape, y.ctypes.data)
        return functools.partial(session.run_with_iobinding, bound)

    def model(self, case, y):
        """One node, in the format of ONNX."""
        helper, protobuf = self.onnx.helper, self.onnx.TensorProto
        value_type = {"float32": protobuf.FLOAT, "float64": protobuf.DOUBLE}[case.type]
        operator, attributes = self.OPERATORS[case.operation]
        attributes = {name: value if name == "keepdims" else
                      [case.axis] if name == "axes" else case.axis
                      for name, value in attributes.items()}
        graph = helper.make_graph(
            [helper.make_node(operator, ["x"], ["y"], **attributes)], "peer",
            [helper.make_tensor_value_info("x", value_type, case.extents)],
            [helper.make_tensor_value_info("y", value_type, y.shape)])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                                 ir_version=8).SerializeToString()


class SciPy:
    """Runs on one thread, and returns a new array."""

    operations = peers.FORWARD

    def __init__(self, setup):
        import scipy.special
        self.functions = {name: getattr(scipy.special, name) for name in self.operations}

    def prepare(self, case, x, y):
        return functools.partial(self.functions[case.operation], x, axis=case.axis)


# ---- C functions of HostPeers.cpp


class Helper:
    """The shared library of HostPeers.cpp."""

    PREFIX = "kokkossoftmax_peers_"

    def __init__(self, path):
        if path is None:
            raise RuntimeError("libkokkossoftmax_host_peers.so was not found (not beside --library, "
                               "nor in perf_tests/peers/ of its build): give it with --helper")
        self._c = ctypes.CDLL(str(path))
        c_int, void_p, text = ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p
        for name, result, arguments in (
                ("threads", c_int, []),
                ("copies", c_int, []), ("copy_name", text, [c_int]),
                ("copy", None, [c_int, void_p, void_p, ctypes.c_size_t]),
                ("reads", c_int, []), ("read_name", text, [c_int]),
                ("read", ctypes.c_uint64, [c_int, void_p, ctypes.c_size_t]),
                ("exp", ctypes.c_uint64, [c_int, c_int, ctypes.c_size_t]),
                ("why_no_onednn", text, []), ("onednn_version", text, []),
                ("last_error", text, []),
                ("prepare_onednn", void_p,
                 [c_int, ctypes.c_int64, ctypes.c_int64, c_int, void_p, void_p]),
                ("run", c_int, [void_p]), ("free", None, [void_p])):
            function = getattr(self._c, self.PREFIX + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


def onednn_version(path):
    """None without oneDNN or without the shared library."""
    return Helper(path).onednn_version().decode() or None if path is not None else None


class Limit:
    """Not softmax, but what it is compared with: the best of the ways that alternatives() returns.
    mistake() says what is wrong with the result of one of them."""

    operations = tuple(OPERATIONS)

    def __init__(self, setup):
        self.helper = Helper(setup.helper)


class Copy(Limit):
    """A copy of x, with one slice per thread."""

    def alternatives(self, case, x, y):
        """{name: function}."""
        return {self.helper.copy_name(number).decode():
                functools.partial(self.helper.copy, number, x.ctypes.data, y.ctypes.data, x.nbytes)
                for number in range(self.helper.copies())}

    def mistake(self, result, x, y):
        return "" if (x == y).all() else "the copy isn't x"


class Read(Limit):
    """A read of x, with one slice per thread: the limit of operations that write numbers per row."""

    operations = ("logsumexp", "cross_entropy", "segment_logsumexp")

    def alternatives(self, case, x, y):
        return {self.helper.read_name(number).decode():
                functools.partial(self.helper.read, number, x.ctypes.data, x.nbytes)
                for number in range(self.helper.reads())}

    def mistake(self, result, x, y):
        from measure_host import exclusive_or  # which needs NumPy
        return "" if result == exclusive_or(x) else "the result isn't the exclusive or of x"


class Exp(Limit):
    """As many exponentials as x has entries, by the functions of this library, of numbers in the first-level
    cache: the limit of the processor."""

    operations = (*peers.FORWARD, "cross_entropy", "segment_softmax", "segment_logsumexp")

    def alternatives(self, case, x, y):
        return {"": functools.partial(self.helper.exp, case.type == "float64",
                                      case.function != "softmax", x.size)}

    def mistake(self, result, x, y):
        return "" if result == x.size else f"{result} exponentials were computed, not {x.size}"


class OneDnn:
    """On the threads of OpenMP; writes into y."""

    operations = ("softmax", "log_softmax")

    def __init__(self, setup):
        self.helper = Helper(setup.helper)
        if reason := self.helper.why_no_onednn().decode():
            raise RuntimeError(reason)

    def prepare(self, case, x, y):
        if case.type != "float32":
            raise peers.Refused("has no softmax of double")
        return OneDnnCall(self.helper, case, x, y)


class OneDnnCall:
    def __init__(self, helper, case, x, y):
        self.helper = helper
        self.prepared = helper.prepare_onednn(case.operation == "log_softmax", *case.extents,
                                              case.axis, x.ctypes.data, y.ctypes.data)
        if not self.prepared:
            raise peers.Refused(helper.last_error().decode())

    def __call__(self):
        if not self.helper.run(self.prepared):
            raise RuntimeError(self.helper.last_error().decode())

    def __del__(self):
        if self.prepared:
            self.helper.free(self.prepared)


PEERS = {"copy": Copy, "read": Read, "exp": Exp, peers.OURS: Ours, "torch": Torch, "onednn": OneDnn,
         "onnxruntime": OnnxRuntime, "jax": peers.Jax, "scipy": SciPy,
         "torch.compile": TorchCompile}
DEFAULT = [name for name in PEERS if name != "torch.compile"]  # which takes long
