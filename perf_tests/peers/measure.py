# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What measure_gpu.py and measure_host.py share: which errors are allowed, and how results are described."""

# Errors allowed: relative for softmax, relative to max(1, |value|) for logarithms and losses, relative to the sum of
# the absolute values of the terms for gradients.
TOLERANCE = {"float32": 1e-4, "float64": 1e-10, "bfloat16": 2e-2,
             "float16": 2e-3}
ONE_RUN_OF = 8  # a call that takes more than the time limit divided by this is not repeated


class DeviceLost(RuntimeError):
    """No further call can succeed in this process."""


def describe_error(error, type_name):
    """A message if the error is too large; else an empty text."""
    if error <= TOLERANCE[type_name]:  # not if it is NaN
        return ""
    return f"wrong by {error:.2g} (allowed: {TOLERANCE[type_name]:g})"


def is_too_slow(one_call, time_limit):
    return ONE_RUN_OF * one_call > time_limit


def slow(one_call):
    return {"status": "slow", "seconds": one_call,
            "message": f"one call takes {one_call:.3g} s and was timed once"}


def short_message(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    if type(error).__name__ != "Refused":
        text = f"{type(error).__name__}: {text}"
    return text[:300]
