# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the peers of a case on a host, and times them in turn."""

import gc
import math
import statistics
import time
import types
import typing

import inputs
import numpy
import operations
from measure import describe_error, is_too_slow, short_message, slow
from peers import prepare

ALIGNMENT = 2 * 2**20  # a large page
CHECKED_ENTRIES = 2**20
SHORTEST_RUN = 1e-3  # seconds: a run has as many calls as take that long
MOST_CALLS = 1000


class Contender(typing.NamedTuple):
    """What is timed: a peer, or one of the ways to copy or read."""

    peer: str
    way: str
    call: object


class Session:
    """Measures one case after the other. All peers use the same memory."""

    def __init__(self, time_limit, runs, free):
        """free: a context in which threads may be created, see host_machine.Processors."""
        self.time_limit, self.runs, self.free = time_limit, runs, free
        self._memory = {}  # name: array

    def measure(self, case, peers):
        """Yields (name of a peer, result). A peer that runs for the first time, which may end the process,
        has the status "running". None stands for a result that comes later."""
        bench = self.bench(case)
        contenders, about = [], {}
        for name, peer in peers.items():
            yield name, {"status": "running"}
            begin = time.perf_counter()
            try:
                with self.free():
                    calls = bench.check(peer)
                about[name] = {"max_error": bench.error, "first_call_s":
                               round(time.perf_counter() - begin, 3)}
                seconds = {way: once(call) for way, call in calls.items()}
            except Exception as error:  # noqa: BLE001  any exception of a peer is a refusal
                yield name, {"status": "refused", "message": short_message(error)}
                continue
            if bench.message:
                yield name, {**about[name], "status": "failed", "message": bench.message}
            elif is_too_slow(min(seconds.values()), self.time_limit):
                yield name, {**about[name], **slow(min(seconds.values()))}
            else:
                contenders += [Contender(name, way, call) for way, call in calls.items()]
                yield name, None
            calls = None
        for name, times in best_ways(contenders, times_in_turn(contenders, self.runs)):
            yield name, {**about[name], **times}
        del contenders
        gc.collect()

    def bench(self, case):
        return Bench(case, *self._arrays(case))

    def _arrays(self, case):
        """What the case reads, y, and the memory for a copy, which is that of y."""
        x, copy, given = self._array("x", case, mean=0.0), self._array("y", case), {}
        if case.first == "y":
            given = inputs.arrays(inputs.offsets(numpy, case, x), aligned_copy)
            rows = operations.rows_of(numpy, given, case.axis)
            x = apply_function(case.function, x, rows, self._array("result", case))
            given["dy"] = self._array("dy", case, mean=inputs.MEAN_OF_DY)
        else:
            given = inputs.arrays(inputs.make(numpy, case, x, random_arrays(case.rows)), aligned_copy)
        y = copy.reshape(-1)[:math.prod(case.result_extents)].reshape(case.result_extents)
        return x, y, copy, given

    def _array(self, name, case, mean=None):
        """An array of the extents of x, in memory that is kept as long as the type is the same. It is filled
        with random-normal numbers if their mean is given."""
        elements = case.entries
        memory = self._memory.get(name)
        if memory is None or memory.dtype != case.type or memory.size < elements:
            memory = None
            self._memory.pop(name, None)
            memory = self._memory[name] = aligned(elements, case.type)
            if mean is not None:
                seed = [elements, *name.encode()]
                numpy.random.default_rng(seed).standard_normal(dtype=memory.dtype, out=memory)
                memory += mean
        return memory[:elements].reshape(case.x_extents)


def aligned(elements, type_name):
    """Memory in large pages, if the system has them: NumPy asks for them."""
    size = elements * numpy.dtype(type_name).itemsize
    memory = numpy.empty(size + ALIGNMENT, numpy.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin:begin + size].view(type_name)


def aligned_copy(array):
    copy = aligned(array.size, array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def random_arrays(seed):
    """As inputs.make() takes them."""
    generator = numpy.random.default_rng(seed)
    return types.SimpleNamespace(normal=generator.standard_normal, uniform=generator.random)


def apply_function(function, x, rows, y):
    """Writes softmax or log_softmax of x, which a backward pass reads, and returns y. rows: as from rows_of()."""
    numpy.subtract(x, rows.expand(rows.max(x)), out=y)
    y -= rows.expand(numpy.log(rows.sum(numpy.exp(y))))
    return numpy.exp(y, out=y) if function == "softmax" else y


# ---- Check


class Bench:
    """The arrays of a case, and the expected results of some rows. Of ragged rows, it has those of all."""

    def __init__(self, case, x, y, copy, given):
        """given: what is read besides x."""
        self.case, self.x, self.y, self.copy, self.given = case, x, y, copy, given
        self.error = self.message = None
        self._rows = slice(None) if case.is_ragged else some_rows(case)
        is_visible = inputs.visible(numpy, case, x, given)
        self._may_be_nan = inputs.rows_of_nan(numpy, case, is_visible)
        with numpy.errstate(divide="ignore"):  # the logarithm of 0, of rows without visible entries
            self._expected, self._size = self._compute_expected(is_visible)

    def check(self, peer):
        """Calls the peer. Returns {way: call} and sets error and, if the result is wrong, message."""
        if hasattr(peer, "alternatives"):
            return self._check_limit(peer)
        self.y.fill(math.nan)
        call = prepare(peer, self.case, self.x, self.y, self.given)
        got = call()
        got = self.y if got is None else numpy.asarray(got)
        error = self._error(got)
        self.error = error if math.isfinite(error) else None
        self.message = describe_error(error, self.case.type)
        return {"": call}

    def _check_limit(self, peer):
        self.error, self.message = 0.0, ""
        calls = peer.alternatives(self.case, self.x, self.copy)
        for way, call in calls.items():
            self.copy.fill(math.nan)
            result = call()
            if mistake := peer.mistake(result, self.x, self.copy):
                self.message = f"{way}: {mistake}"
        return calls

    def _error(self, got):
        expected, size, shape = self._expected, self._size, self.y.shape
        if len(self.case.writes) > 1 and got.ndim == 1:  # the first result alone
            expected, size, shape = expected[0], size[0], shape[1:]
        if got.shape != shape:
            raise ValueError(f"the result has the shape {got.shape}")
        if self._has_nan(got):
            return math.nan
        values = got[..., self._rows] if self.case.writes_rows else self._rows_of(got)
        with numpy.errstate(invalid="ignore"):  # inf - inf
            error = abs(values.astype(numpy.float64) - expected) / size
        is_right = (values == expected) | numpy.isnan(values)  # the NaN that _has_nan() permits
        return float(numpy.where(is_right, 0, error).max())

    def _has_nan(self, got):
        """Whether there is NaN in any row, except in those where it may be."""
        if self._may_be_nan is None:
            return math.isnan(got.min())
        return (numpy.isnan(got.min(self.case.axis, keepdims=True)) & ~self._may_be_nan).any()

    def _rows_of(self, array):
        if array.ndim == 1:  # a number per row, or ragged rows
            return array[self._rows]
        return numpy.moveaxis(array, self.case.axis, -1)[self._rows]

    def _rows_of_operand(self, operand):
        return self._rows_of(numpy.broadcast_to(operand, self.case.extents))

    def _compute_expected(self, is_visible):
        """(results, the sizes that errors are relative to), in float64 by the definition."""
        tiny = numpy.finfo(self.case.type).tiny
        x = self._rows_of(self.x)
        if self.case.reads:
            given = {name: self._rows_of(array) for name, array in self.given.items()}
        else:
            added = {name: self._rows_of_operand(self.given[name]) for name in inputs.ADDED if name in self.given}
            of_rows = None if is_visible is None else self._rows_of_operand(is_visible)
            x, given = inputs.values_in_double(numpy, x, added, of_rows), {}
        results, size = operations.definition(numpy, self.case.operation, x, given, -1)
        return results, numpy.maximum(size, tiny)


def some_rows(case):
    """The numbers of rows with about CHECKED_ENTRIES entries together, from the first one to the last one."""
    wanted = max(2, CHECKED_ENTRIES // case.columns)
    return numpy.unique(numpy.linspace(0, case.rows - 1, min(case.rows, wanted)).astype(int))


def exclusive_or(x):
    """Of the words of eight bytes, as HostRead.hpp defines it."""
    data = x.reshape(-1).view(numpy.uint8)
    words = data[:data.size // 8 * 8].view(numpy.uint64)
    rest = bytes(data[words.nbytes:])
    return int(numpy.bitwise_xor.reduce(words)) ^ int.from_bytes(rest, "little")


# ---- Times


def once(call, calls=1):
    """The seconds of one call in a run of several."""
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def times_in_turn(contenders, runs):
    """[seconds of a call in each run] for each contender. One after the other runs, and then all again, so
    that what disturbs the machine for a while disturbs all."""
    calls = [calls_of_a_run(contender.call) for contender in contenders]
    times = [[] for _ in contenders]
    order = list(range(len(contenders)))
    for run in range(runs):
        for i in order if run % 2 == 0 else reversed(order):
            if calls[i] > 1:  # wakes the threads and fills the caches
                contenders[i].call()
            times[i].append(once(contenders[i].call, calls[i]))
    return times


def calls_of_a_run(call):
    shortest = min(once(call) for _ in range(2))
    return max(1, min(MOST_CALLS, math.ceil(SHORTEST_RUN / max(shortest, 1e-9))))


def best_ways(contenders, times):
    """Yields (name of a peer, result), with the way that has the least median."""
    of_peer = {}
    for contender, runs in zip(contenders, times):
        of_peer.setdefault(contender.peer, []).append((statistics.median(runs), contender.way, runs))
    for name, ways in of_peer.items():
        ways.sort(key=lambda way: way[0])
        median, _, runs = ways[0]
        message = ", ".join(f"{way} {1e6 * seconds:.1f} us" for seconds, way, _ in ways if way)
        yield name, {"status": "ok", "seconds": median, "message": message,
                     "runs": [float(f"{seconds:.4g}") for seconds in runs]}
