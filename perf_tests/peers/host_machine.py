# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processors, threads and caches of a host."""

import contextlib
import os
import pathlib
import platform

MIB = 2**20
CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
MODERATE_BYTES = 256 * MIB
HUGE_CACHE = 128 * MIB  # of a server, or of a virtual machine that shares it with others


def processor_name():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


# ---- Caches


def last_level_cache(directory=CACHES):
    """The bytes of the last-level cache, or None if the system doesn't say them."""
    sizes = {}
    for cache in directory.glob("index*"):
        try:
            level = int((cache / "level").read_text())
            size = (cache / "size").read_text().strip()
            sizes[level] = max(sizes.get(level, 0), int(size.rstrip("KM"))
                               * {"K": 2**10, "M": MIB}.get(size[-1], 1))
        except (OSError, ValueError):
            continue
    return sizes[max(sizes)] if sizes else None


def default_bytes(cache):
    """(the bytes of x, and why): x and y together are beyond four times the last-level cache. If that is
    too much, or if its size isn't known, they have a moderate size."""
    if cache is None:
        return MODERATE_BYTES, "the last-level cache is unknown"
    known = f"the last-level cache has {cache // MIB} MiB"
    if cache > HUGE_CACHE:
        return MODERATE_BYTES, known + ", four times that would be too much"
    return max(2 * cache, 64 * MIB), known


# ---- Threads


def processors():
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def thread_environment(threads, environment):
    """The variables that a process needs at its start so that each library has this many threads. How
    threads of OpenMP wait and where they run is left as it is if the user has set it."""
    wanted = {"OMP_NUM_THREADS": str(threads), "NPROC": str(threads), "PJRT_NPROC": str(threads),
              "JAX_PLATFORMS": "cpu"}
    if threads == 1:
        flag = "--xla_cpu_multi_thread_eigen=false"
        flags = environment.get("XLA_FLAGS", "")
        wanted["XLA_FLAGS"] = flags if flag in flags else f"{flags} {flag}".strip()
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"} & environment.keys():
        wanted["GOMP_SPINCOUNT"] = "1000"
    if not {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"} & environment.keys():
        wanted.update(OMP_PROC_BIND="spread", OMP_PLACES="threads")
    return wanted


def is_set_up(threads, environment):
    wanted = thread_environment(threads, environment)
    return all(environment.get(name) == value for name, value in wanted.items())


def thread_settings():
    """Those of OpenMP, for a report."""
    return " ".join(f"{name}={os.environ[name]}"
                    for name in ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY",
                                 "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
                    if name in os.environ)


class Processors:
    """The first processors, one for each thread. No library can use more than these.

    An OpenMP runtime binds the main thread when it is loaded. Every thread that is created later, and every
    other OpenMP runtime, would then be limited to the processor of the main thread. So libraries are loaded
    and create their threads within free().
    """

    def __init__(self, threads):
        self.all = set(processors()[:threads])
        self.binds = os.environ.get("OMP_PROC_BIND", "false").lower() != "false"
        self._set(self.all)

    @contextlib.contextmanager
    def free(self):
        self._set(self.all)
        try:
            yield
        finally:
            if self.binds:
                self._set({min(self.all)})  # the place of the main thread

    @staticmethod
    def _set(numbers):
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, numbers)
