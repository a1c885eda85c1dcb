# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times the peers of a case on a GPU, one after the other."""

import math
import time

import inputs
import operations
import torch
from measure import DeviceLost, describe_error, is_too_slow, short_message, slow
from peers import Copy, JaxResult, Sum, prepare


class Clock:
    def __init__(self):
        import triton.testing
        self.do_bench = triton.testing.do_bench

    def synchronize(self):
        torch.cuda.synchronize()

    def once(self, call):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        return 1e-3 * begin.elapsed_time(end)

    def repeated(self, call):
        """The median, with the L2 cache flushed before each call."""
        return 1e-3 * self.do_bench(call, return_mode="median")


class Session:
    """Measures one case after the other."""

    def __init__(self, time_limit):
        self.clock, self.time_limit = Clock(), time_limit

    def measure(self, case, peers):
        """Yields (name of a peer, result), first with the status "running"."""
        bench = Bench(case, self.clock)
        for name, peer in peers.items():
            yield name, {"status": "running"}
            yield name, bench.measure(peer, self.time_limit)


class Random:
    """Random tensors on the GPU."""

    def __init__(self, seed):
        self.options = {"device": "cuda", "generator": torch.Generator(device="cuda").manual_seed(seed)}

    def normal(self, extents, dtype):
        return torch.randn(extents, dtype=dtype, **self.options)

    def uniform(self, extents, dtype):
        return torch.rand(extents, dtype=dtype, **self.options)


class Bench:
    """The tensors of a case, the same for all peers, and the expected results."""

    def __init__(self, case, clock):
        self.case, self.clock = case, clock
        random = Random(case.rows + case.columns)
        value_type = getattr(torch, case.type)
        in_float = torch.float64 if case.type == "float64" else torch.float32
        self.x = random.normal(case.x_extents, in_float).to(value_type)
        self.y = torch.empty(case.result_extents, dtype=getattr(torch, case.result_type), device="cuda")
        self.inputs = inputs.make(torch, case, self.x, random)
        if case.first == "y":  # the result of the function
            v, rows = operations.in_double(torch, self.x), operations.rows_of(torch, self.inputs, case.axis)
            self.x = operations.forward(torch, case.function, v, rows)[0].to(value_type)
            del v
        is_visible = inputs.visible(torch, case, self.x, self.inputs)
        self._may_be_nan = inputs.rows_of_nan(torch, case, is_visible)
        self._expected, self._size = self._compute_expected(is_visible)

    def measure(self, peer, time_limit):
        """A result for the report: status, time and error."""
        if isinstance(peer, Copy):
            return self._measure_copy(peer)
        try:
            self.y.fill_(float("nan"))
            call = prepare(peer, self.case, self.x, self.y, self.inputs)
            begin = time.perf_counter()
            got = call()
            self.clock.synchronize()
            first_call = time.perf_counter() - begin
            error = self._sum_error(got) if isinstance(peer, Sum) else self._error(got)
            del got
            result = {"max_error": error if math.isfinite(error) else None,
                      "first_call_s": round(first_call, 3)}
            if message := describe_error(error, self.case.type):
                return {**result, "status": "failed", "message": message}
            one_call = self.clock.once(call)
            if is_too_slow(one_call, time_limit):
                return {**result, **slow(one_call)}
            return {**result, "status": "ok", "seconds": self.clock.repeated(call)}
        except Exception as error:  # noqa: BLE001  any exception of a peer is a refusal
            self._check_device(error)
            return {"status": "refused", "message": short_message(error)}

    def _measure_copy(self, peer):
        y = torch.empty_like(self.x)
        times = []
        for call in peer.alternatives(self.x, y):
            y.fill_(float("nan"))
            call()
            if not torch.equal(self.x, y):
                return {"status": "failed", "message": "the copy isn't x"}
            times.append(self.clock.repeated(call))
        return {"status": "ok", "seconds": min(times), "max_error": 0.0,
                "message": ", ".join(f"{1e6 * seconds:.1f} us" for seconds in times)}

    def _sum_error(self, got):
        """Relative to the size that a sum of normal numbers has."""
        expected = self.x.sum(self.case.axis, dtype=torch.float64)
        return ((got.double() - expected).abs().max() / max(self.case.columns, 1) ** 0.5).item()

    def _error(self, got):
        if isinstance(got, JaxResult):
            got = got.tensor()
        elif isinstance(got, tuple):
            got = torch.stack(got)
        elif not isinstance(got, torch.Tensor):
            got = self.y
        expected, size = self._expected, self._size
        if len(self.case.writes) > 1 and got.dim() == 1:  # the first result alone
            expected, size = expected[0], size[0]
        if got.shape != expected.shape:
            raise ValueError(f"the result has the shape {tuple(got.shape)}")
        got = got.double()
        error = (got - expected).abs_() / size
        is_right = got == expected  # inf - inf would be NaN
        if self._may_be_nan is not None:
            is_right |= self._may_be_nan & got.isnan()
        return error.masked_fill_(is_right, 0).max().item()

    def _compute_expected(self, is_visible):
        """(results, the sizes that errors are relative to), in float64 by the definition."""
        v = self.x if self.case.reads else inputs.values_in_double(torch, self.x, self.inputs, is_visible)
        results, size = operations.definition(torch, self.case.operation, v, self.inputs, self.case.axis)
        return results, size.clamp(min=torch.finfo(self.x.dtype).tiny)

    def _check_device(self, error):
        try:
            self.clock.synchronize()
        except RuntimeError as lost:
            raise DeviceLost(short_message(lost)) from error
        torch.cuda.empty_cache()
