# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times one peer in one case."""

import math
import time

import torch
from peers import Copy, JaxResult, Sum

# Errors allowed: relative for softmax, relative to max(1, |value|) for logarithms.
TOLERANCE = {"float32": 1e-4, "float64": 1e-10, "bfloat16": 2e-2,
             "float16": 2e-3}
ONE_RUN_OF = 8  # a call that takes more than the time limit divided by this is not repeated


class DeviceLost(RuntimeError):
    """No further call can succeed in this process."""


class CudaClock:
    device = "cuda"

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


class HostClock:
    device = "cpu"

    def synchronize(self):
        pass

    def once(self, call):
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    def repeated(self, call):
        """The fastest of many calls: other programs can only add to a time."""
        times, total = [], 0.0
        while total < (0.1 if len(times) >= 25 else 1.0) and len(times) < 1000:
            times.append(self.once(call))
            total += times[-1]
        return min(times)


def make_clock(device):
    return CudaClock() if device == "cuda" else HostClock()


class Bench:
    """The tensors of a case, the same for all peers, and the expected results."""

    def __init__(self, case, clock):
        self.case, self.clock = case, clock
        generator = torch.Generator(device=clock.device).manual_seed(case.rows + case.columns)
        value_type = getattr(torch, case.type)
        in_float = torch.float64 if case.type == "float64" else torch.float32
        self.x = torch.randn(case.extents, dtype=in_float, device=clock.device,
                             generator=generator).to(value_type)
        y_extents = (case.rows,) if case.operation == "logsumexp" else case.extents
        self.y = torch.empty(y_extents, dtype=value_type, device=clock.device)
        self._expected = self._compute_expected()

    def measure(self, peer, time_limit):
        """A result for the report: status, time and error."""
        if isinstance(peer, Copy):
            return self._measure_copy(peer)
        try:
            self.y.fill_(float("nan"))
            call = peer.prepare(self.case, self.x, self.y)
            begin = time.perf_counter()
            got = call()
            self.clock.synchronize()
            first_call = time.perf_counter() - begin
            error = self._sum_error(got) if isinstance(peer, Sum) else self._error(got)
            del got
            result = {"max_error": error if math.isfinite(error) else None,
                      "first_call_s": round(first_call, 3)}
            if not error <= TOLERANCE[self.case.type]:  # also if it is NaN
                return {**result, "status": "failed",
                        "message": f"wrong by {error:.2g} (allowed: "
                                   f"{TOLERANCE[self.case.type]:g})"}
            one_call = self.clock.once(call)
            if ONE_RUN_OF * one_call > time_limit:
                return {**result, "status": "slow", "seconds": one_call,
                        "message": f"one call takes {one_call:.3g} s and was timed once"}
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
        elif not isinstance(got, torch.Tensor):
            got = self.y
        expected = self._expected
        if got.shape != expected.shape:
            raise ValueError(f"the result has the shape {tuple(got.shape)}")
        if self.case.operation == "softmax":
            size = expected.clamp(min=torch.finfo(self.x.dtype).tiny)
        else:
            size = expected.abs().clamp(min=1)
        return ((got.double() - expected).abs_() / size).max().item()

    def _compute_expected(self):
        """Computed in float64 by the definition."""
        axis = self.case.axis
        v = self.x.to(torch.float64, copy=True)
        v_max = v.amax(axis, keepdim=True)
        v -= v_max
        log_sum = v.exp().sum(axis, keepdim=True).log()
        if self.case.operation == "logsumexp":
            return (v_max + log_sum).squeeze(axis)
        v -= log_sum
        return v.exp_() if self.case.operation == "softmax" else v

    def _check_device(self, error):
        try:
            self.clock.synchronize()
        except RuntimeError as lost:
            raise DeviceLost(short_message(lost)) from error
        if self.clock.device == "cuda":
            torch.cuda.empty_cache()


def short_message(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    if type(error).__name__ != "Refused":
        text = f"{type(error).__name__}: {text}"
    return text[:300]
