# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ctypes binding of kokkossoftmax.h; needs a shared libkokkossoftmax and nothing else.

    library = Library("build/host/perf_tests/peers/libkokkossoftmax.so")
    library.apply("softmax", HOST, of_buffer(x), of_buffer(y), axis=0)
    library.fence(HOST)
"""

import collections
import ctypes
import pathlib

DEVICE, HOST = 0, 1  # kokkossoftmax_space
OPERATIONS = {"softmax": 0, "log_softmax": 1, "logsumexp": 2}
TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 3, "bool": 4, "int32": 5, "int64": 6}
FORMATS = {"f": "float32", "d": "float64", "e": "float16", "?": "bool", "B": "bool", "i": "int32",
           "l": f"int{8 * ctypes.sizeof(ctypes.c_long)}", "q": "int64"}
EMPTY_ROWS = {"nan": 0, "zero": 1}
ALGORITHMS = {"automatic": 0, "packed": 1, "subgroup": 2, "fused_registers": 3, "fused_scratch": 4,
              "online": 5, "split": 6, "split_online": 7, "cluster": 8, "column": 9,
              "split_column": 10, "host": 11, "cluster_column": 12,
              "two_pass_column": 13}
STATUSES = {1: "invalid argument", 2: "unsupported", 3: "not initialized", 4: "failure"}

# The place of the elements: address, one of TYPES, extents, strides in elements, and whether they may be
# written.
Array = collections.namedtuple("Array", "address type extents strides writable", defaults=(True,))


class Error(RuntimeError):
    """The message of kokkossoftmax_last_error(), and the status, one of STATUSES."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("rank", ctypes.c_int),
                ("extents", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("scale", ctypes.c_double), ("axis", ctypes.c_int),
                ("empty_rows", ctypes.c_int), ("algorithm", ctypes.c_int),
                ("reproducible", ctypes.c_int), ("axes", ctypes.POINTER(ctypes.c_int)),
                ("axis_count", ctypes.c_int), ("reserved", ctypes.c_int)]


class _CrossEntropyOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("scale", ctypes.c_double), ("label_smoothing", ctypes.c_double),
                ("ignore_index", ctypes.c_int64), ("axis", ctypes.c_int), ("algorithm", ctypes.c_int),
                ("reproducible", ctypes.c_int), ("reserved", ctypes.c_int)]


class _Causal(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_int64), ("has_axis", ctypes.c_int), ("axis", ctypes.c_int)]


OPERANDS = ("lse", "max", "bias", "mask", "lengths")
OPERANDS_OF_LATER_VERSIONS = ("row_bias", "weights", "sign")


class _Operands(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.POINTER(_Tensor)) for name in OPERANDS),
                ("causal", ctypes.POINTER(_Causal)),
                *((name, ctypes.POINTER(_Tensor)) for name in OPERANDS_OF_LATER_VERSIONS),
                ("scale_biases", ctypes.c_int), ("reserved", ctypes.c_int)]


def of_buffer(array):
    """A NumPy array or a ctypes array, of any rank; uint8 counts as bool."""
    view = memoryview(array)
    type_name = FORMATS.get(view.format.strip("<=@"))
    if type_name is None:
        raise TypeError(f"elements of format {view.format!r} are not known "
                        f"({', '.join(sorted(set(FORMATS.values())))} are): convert the array")
    return Array(_address(array), type_name, view.shape, _strides_in_elements(view),
                 not view.readonly)


def _address(array):
    if hasattr(array, "__array_interface__"):
        return array.__array_interface__["data"][0]
    try:
        return ctypes.addressof(array)
    except TypeError:
        raise TypeError(f"a {type(array).__name__} is no array of NumPy or ctypes (only of these "
                        "the address is known): give numpy.asarray() of it") from None


def _strides_in_elements(view):
    """The strides of a memoryview. 1 along an axis with fewer than two elements, whose stride is arbitrary."""
    used = [extent > 1 and view.nbytes > 0 for extent in view.shape]
    if any(stride < 0 for stride, is_used in zip(view.strides, used) if is_used):
        raise ValueError(f"the array has negative strides {view.strides} (the library counts "
                         "forward from the first element): copy it (numpy.ascontiguousarray)")
    if any(stride % view.itemsize for stride, is_used in zip(view.strides, used) if is_used):
        raise ValueError(f"the strides {view.strides} of the array are not multiples of the "
                         f"{view.itemsize} bytes of an element (the library counts in elements): "
                         "copy it (numpy.ascontiguousarray)")
    return tuple(stride // view.itemsize if is_used else 1
                 for stride, is_used in zip(view.strides, used))


def of_tensor(tensor):
    """A PyTorch tensor, on any device. There are no read-only tensors: one that shares the memory of
    a read-only array is written, too."""
    type_name = str(tensor.dtype).replace("torch.", "")
    return Array(tensor.data_ptr(), type_name, tuple(tensor.shape), tensor.stride())


def _tensor(array):
    if array.type not in TYPES:
        raise TypeError(f"elements of type {array.type} are not known (known are "
                        f"{', '.join(TYPES)}): convert the array")
    rank = len(array.extents)
    numbers = ctypes.c_int64 * rank
    return _Tensor(array.address, TYPES[array.type], rank, numbers(*array.extents),
                   numbers(*array.strides))


def _pointer(array):
    return None if array is None else ctypes.pointer(_tensor(array))


def _axes(axis, axes):
    """The members of _Options that say what is reduced."""
    if not axes:
        return {"axis": axis}
    return {"axis": axis, "axes": (ctypes.c_int * len(axes))(*axes), "axis_count": len(axes)}


def _operands(causal=None, causal_axis=None, scale_biases=False, **arrays):
    """The operands of a call, or None if none is given."""
    if not scale_biases and causal is None and causal_axis is None and all(array is None for array in arrays.values()):
        return None
    pointers = [_pointer(arrays.get(name)) for name in OPERANDS]
    if causal is None and causal_axis is not None:
        raise ValueError("causal_axis is given without causal: give the offset, too")
    has_axis = causal_axis is not None
    position = None
    if causal is not None:
        position = ctypes.pointer(_Causal(causal, has_axis, causal_axis if has_axis else 0))
    later = [_pointer(arrays.get(name)) for name in OPERANDS_OF_LATER_VERSIONS]
    return _Operands(ctypes.sizeof(_Operands), *pointers, position, *later, scale_biases)


def _check_writable(**arrays):
    for name, array in arrays.items():
        if array is not None and not array.writable:
            raise ValueError(f"{name} is read-only (the results are written there): give an array that "
                             "may be written")


class Library:
    """A loaded library, with Kokkos initialized until close()."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self._c = ctypes.CDLL(str(self.path))
        self._declare()
        self._check(self._c.kokkossoftmax_initialize())
        self.version = self._c.kokkossoftmax_version().decode()

    def close(self):
        """Finalizes Kokkos if nothing else uses it. Call it once, after all work."""
        self._check(self._c.kokkossoftmax_finalize())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def space_name(self, space):
        """The name of DEVICE or HOST in Kokkos: "Cuda", "OpenMP"."""
        name = self._c.kokkossoftmax_space_name(space)
        return name.decode() if name else None

    def apply(self, operation, space, x, y, stream=None, **options):
        """Enqueues an operation from one Array to another; see prepare()."""
        self.prepare(operation, space, x, y, stream, **options)()

    def prepare(self, operation, space, x, y, stream=None, *, axis=-1, axes=(), scale=1.0, empty_rows="nan",
                algorithm="automatic", reproducible=False, lse=None, max=None, bias=None, mask=None,
                lengths=None, causal=None, causal_axis=None, row_bias=None, weights=None, sign=None,
                scale_biases=False):
        """Returns a function without arguments that does the same, to be called often.

        stream: the handle of a CUDA or HIP stream; None or 0 is Kokkos' default instance.
        axes: axes that are reduced together, in place of axis.
        lse, max: an Array each, to which the log-sum-exp and the maximum of each row are written, too.
        bias, mask, lengths, row_bias: an Array each that is read, broadcast to x. causal: an offset.
        scale_biases: whether the biases are multiplied by the scale. weights: an Array of weights for logsumexp.
        sign: an Array to which the signs of the weighted sums are written.
        """
        _check_writable(y=y, lse=lse, max=max, sign=sign)
        c_options = self._options(**_axes(axis, axes), scale=scale, empty_rows=EMPTY_ROWS[empty_rows],
                                  algorithm=ALGORITHMS[algorithm], reproducible=reproducible)
        operands = _operands(causal, causal_axis, scale_biases, lse=lse, max=max, bias=bias, mask=mask,
                             lengths=lengths, row_bias=row_bias, weights=weights, sign=sign)
        return self._call(self._c.kokkossoftmax_apply_with,
                          (OPERATIONS[operation], space, stream, _tensor(x), _tensor(y), c_options, operands))

    def logsumexp_both_axes(self, space, x, row_lse, column_lse, stream=None, **options):
        """Enqueues the log-sum-exps of all rows and of all columns of the Array x, a matrix, to the Arrays
        row_lse and column_lse; see prepare_logsumexp_both_axes()."""
        self.prepare_logsumexp_both_axes(space, x, row_lse, column_lse, stream, **options)()

    def prepare_logsumexp_both_axes(self, space, x, row_lse, column_lse, stream=None, *, scale=1.0):
        """Returns a function without arguments that does the same, to be called often."""
        _check_writable(row_lse=row_lse, column_lse=column_lse)
        return self._call(self._c.kokkossoftmax_logsumexp_both_axes,
                          (space, stream, _tensor(x), _tensor(row_lse), _tensor(column_lse),
                           self._options(scale=scale)))

    def backward(self, operation, space, y, dy, dx, stream=None, **options):
        """Enqueues the backward pass of softmax or log_softmax from the Arrays y, the output of the
        operation, and dy, the derivative of a loss by it, to dx; see prepare_backward()."""
        self.prepare_backward(operation, space, y, dy, dx, stream, **options)()

    def prepare_backward(self, operation, space, y, dy, dx, stream=None, *, axis=-1, axes=(), scale=1.0,
                         algorithm="automatic", reproducible=False):
        """Returns a function without arguments that does the same, to be called often.

        stream, axes: as for prepare().
        """
        _check_writable(dx=dx)
        c_options = self._options(**_axes(axis, axes), scale=scale, algorithm=ALGORITHMS[algorithm],
                                  reproducible=reproducible)
        return self._call(self._c.kokkossoftmax_backward,
                          (OPERATIONS[operation], space, stream, _tensor(y), _tensor(dy), _tensor(dx),
                           c_options))

    def logsumexp_backward(self, space, x, lse, dlse, dx, stream=None, **options):
        """Enqueues the backward pass of logsumexp from the Arrays x, lse, the output of the operation, and
        dlse, the derivative of a loss by it, to dx; see prepare_logsumexp_backward()."""
        self.prepare_logsumexp_backward(space, x, lse, dlse, dx, stream, **options)()

    def prepare_logsumexp_backward(self, space, x, lse, dlse, dx, stream=None, *, axis=-1, axes=(), scale=1.0,
                                   bias=None, mask=None, lengths=None, causal=None, causal_axis=None):
        """Returns a function without arguments that does the same, to be called often. The axes and the
        operands are those of prepare()."""
        _check_writable(dx=dx)
        return self._call(self._c.kokkossoftmax_logsumexp_backward,
                          (space, stream, _tensor(x), _tensor(lse), _tensor(dlse), _tensor(dx),
                           self._options(**_axes(axis, axes), scale=scale),
                           _operands(causal, causal_axis, bias=bias, mask=mask, lengths=lengths)))

    def cross_entropy(self, space, x, labels, loss, lse=None, stream=None, **options):
        """Enqueues the cross entropy of the Arrays x and labels, whose type is int32 or int64; see
        prepare_cross_entropy()."""
        self.prepare_cross_entropy(space, x, labels, loss, lse, stream, **options)()

    def prepare_cross_entropy(self, space, x, labels, loss, lse=None, stream=None, *, algorithm="automatic",
                              **options):
        """Returns a function without arguments that does the same, to be called often.

        loss, lse: the Arrays to which the loss and, if it isn't None, the log-sum-exp of each row are written.
        options: axis, scale, ignore_index, label_smoothing, reproducible.
        """
        _check_writable(loss=loss, lse=lse)
        return self._call(self._c.kokkossoftmax_cross_entropy,
                          (space, stream, _tensor(x), _tensor(labels), _tensor(loss), _pointer(lse),
                           self._cross_entropy_options(algorithm=ALGORITHMS[algorithm], **options)))

    def cross_entropy_backward(self, space, x, labels, lse, dloss, dx, stream=None, **options):
        """Enqueues the backward pass of cross_entropy() from its Arrays x, labels and lse, and dloss, the
        derivative of a function by the losses, to dx. The options are those of cross_entropy()."""
        self.prepare_cross_entropy_backward(space, x, labels, lse, dloss, dx, stream, **options)()

    def prepare_cross_entropy_backward(self, space, x, labels, lse, dloss, dx, stream=None, **options):
        """Returns a function without arguments that does the same, to be called often."""
        _check_writable(dx=dx)
        return self._call(self._c.kokkossoftmax_cross_entropy_backward,
                          (space, stream, _tensor(x), _tensor(labels), _tensor(lse), _tensor(dloss),
                           _tensor(dx), self._cross_entropy_options(**options)))

    def segment_apply(self, operation, space, x, offsets, y, stream=None, **options):
        """Enqueues an operation on ragged rows, the parts of the Array x between neighbouring elements of the Array
        offsets, whose type is int32 or int64, to y; see prepare_segment_apply()."""
        self.prepare_segment_apply(operation, space, x, offsets, y, stream, **options)()

    def prepare_segment_apply(self, operation, space, x, offsets, y, stream=None, *, scale=1.0, empty_rows="nan"):
        """Returns a function without arguments that does the same, to be called often."""
        _check_writable(y=y)
        return self._call(self._c.kokkossoftmax_segment_apply,
                          (OPERATIONS[operation], space, stream, _tensor(x), _tensor(offsets), _tensor(y),
                           self._options(scale=scale, empty_rows=EMPTY_ROWS[empty_rows])))

    def segment_backward(self, operation, space, y, dy, offsets, dx, stream=None, **options):
        """Enqueues the backward pass of softmax or log_softmax on ragged rows, as backward(), with the Array
        offsets; see prepare_segment_backward()."""
        self.prepare_segment_backward(operation, space, y, dy, offsets, dx, stream, **options)()

    def prepare_segment_backward(self, operation, space, y, dy, offsets, dx, stream=None, *, scale=1.0):
        """Returns a function without arguments that does the same, to be called often."""
        _check_writable(dx=dx)
        return self._call(self._c.kokkossoftmax_segment_backward,
                          (OPERATIONS[operation], space, stream, _tensor(y), _tensor(dy), _tensor(offsets),
                           _tensor(dx), self._options(scale=scale)))

    def segment_logsumexp_backward(self, space, x, lse, dlse, offsets, dx, stream=None, **options):
        """Enqueues the backward pass of logsumexp on ragged rows, as logsumexp_backward(), with the Array offsets;
        see prepare_segment_logsumexp_backward()."""
        self.prepare_segment_logsumexp_backward(space, x, lse, dlse, offsets, dx, stream, **options)()

    def prepare_segment_logsumexp_backward(self, space, x, lse, dlse, offsets, dx, stream=None, *, scale=1.0):
        """Returns a function without arguments that does the same, to be called often."""
        _check_writable(dx=dx)
        return self._call(self._c.kokkossoftmax_segment_logsumexp_backward,
                          (space, stream, _tensor(x), _tensor(lse), _tensor(dlse), _tensor(offsets), _tensor(dx),
                           self._options(scale=scale)))

    def _options(self, **members):
        return self._initialized(_Options(), self._c.kokkossoftmax_options_init_sized, members)

    def _cross_entropy_options(self, **members):
        return self._initialized(_CrossEntropyOptions(),
                                 self._c.kokkossoftmax_cross_entropy_options_init_sized, members)

    def _initialized(self, c_options, init_sized, members):
        """Options with the defaults of the members that aren't given."""
        self._check(init_sized(ctypes.byref(c_options), ctypes.sizeof(c_options)))
        known = {name for name, _ in c_options._fields_}
        for name in members.keys() - known:
            raise TypeError(f"there is no option {name} (known are {', '.join(sorted(known - {'size'}))}): "
                            "leave it out")
        for name, value in members.items():
            setattr(c_options, name, value)
        return c_options

    def _call(self, function, arguments):
        """A function without arguments that calls the other one and checks its status."""

        def call(function=function):
            status = function(*arguments)
            if status != 0:
                self._check(status)

        return call

    def fence(self, space, stream=None):
        """Waits for all work enqueued there."""
        self._check(self._c.kokkossoftmax_fence(space, stream))

    def release_stream(self, space, stream):
        """Call this before the stream is destroyed."""
        self._check(self._c.kokkossoftmax_release_stream(space, stream))

    def _check(self, status):
        if status != 0:
            raise Error(STATUSES.get(status, str(status)),
                        self._c.kokkossoftmax_last_error().decode(errors="replace"))

    def _declare(self):
        c_int, void_p = ctypes.c_int, ctypes.c_void_p
        tensor, options = ctypes.POINTER(_Tensor), ctypes.POINTER(_Options)
        operands, loss_options = ctypes.POINTER(_Operands), ctypes.POINTER(_CrossEntropyOptions)
        for name, result, arguments in (
                ("options_init_sized", c_int, [options, ctypes.c_size_t]),
                ("cross_entropy_options_init_sized", c_int, [loss_options, ctypes.c_size_t]),
                ("version", ctypes.c_char_p, []),
                ("last_error", ctypes.c_char_p, []),
                ("initialize", c_int, []),
                ("finalize", c_int, []),
                ("is_initialized", c_int, []),
                ("space_name", ctypes.c_char_p, [c_int]),
                ("apply_with", c_int, [c_int, c_int, void_p, tensor, tensor, options, operands]),
                ("logsumexp_both_axes", c_int, [c_int, void_p, tensor, tensor, tensor, options]),
                ("backward", c_int, [c_int, c_int, void_p, tensor, tensor, tensor, options]),
                ("logsumexp_backward", c_int,
                 [c_int, void_p, tensor, tensor, tensor, tensor, options, operands]),
                ("cross_entropy", c_int, [c_int, void_p, tensor, tensor, tensor, tensor, loss_options]),
                ("cross_entropy_backward", c_int,
                 [c_int, void_p, tensor, tensor, tensor, tensor, tensor, loss_options]),
                ("segment_apply", c_int, [c_int, c_int, void_p, tensor, tensor, tensor, options]),
                ("segment_backward", c_int, [c_int, c_int, void_p, tensor, tensor, tensor, tensor, options]),
                ("segment_logsumexp_backward", c_int,
                 [c_int, void_p, tensor, tensor, tensor, tensor, tensor, options]),
                ("fence", c_int, [c_int, void_p]),
                ("release_stream", c_int, [c_int, void_p])):
            function = getattr(self._c, f"kokkossoftmax_{name}", None)
            if function is None:  # compare_builds.py also loads older libraries
                continue
            function.restype = result
            function.argtypes = arguments
