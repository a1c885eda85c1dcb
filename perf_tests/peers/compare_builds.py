#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times several builds of this library in one run, in turn, on the same memory of a GPU.

    kokkossoftmax_sweep --list --points=full --algorithms=library > points.txt
    perf_tests/peers/compare_builds.py --points points.txt before=old/libkokkossoftmax.so after=new/libkokkossoftmax.so

Times of two runs differ by some percent, because the memory lies elsewhere and the clock of the GPU is another one. Here
each build is loaded by a process of its own, and all processes use the tensors of the main process. A batch of launches
waits until all of them are enqueued, so that only the time of the GPU counts. Each result is compared with one in
float64 before its time counts. Give the same build twice to see the scatter. `with_both=new/libkokkossoftmax.so,lse,max`
writes the log-sum-exp and the maximum of each row beside y. Needs PyTorch and shared libraries.
"""

import argparse
import json
import math
import queue
import re
import sys
import time

import library as binding

TYPES = {"float": "float32", "double": "float64", "half": "float16", "bhalf": "bfloat16"}
TOLERANCE = {"float": 1e-5, "double": 1e-13, "half": 1e-3, "bhalf": 1e-2}
POINT = re.compile(r"^([a-z_]+)/(float|double)/library/(\d+(?:x\d+)+)(?:/(left|right)/axis(\d))?\s.* rows of (\d+) columns")
BATCH_SECONDS = 1.2e-3
ROUNDS = (5, 10, 20)  # more rounds as long as the builds differ by more than this:
WORTH_MORE_ROUNDS = 0.006


class Point:
    """A line of kokkossoftmax_sweep --list."""

    def __init__(self, match, type_name=None):
        self.table, self.type, shape, layout, axis, columns = match.groups()
        self.type = type_name or self.type
        self.extents = tuple(int(n) for n in shape.split("x"))
        strides, next_stride = [0] * len(self.extents), 1
        order = range(len(self.extents)) if layout == "left" else reversed(range(len(self.extents)))
        for d in order:
            strides[d], next_stride = next_stride, next_stride * self.extents[d]
        self.strides = tuple(strides)
        # of matrices, the names don't say the axis
        self.axis = int(axis) if axis else 1 if self.extents[1] == int(columns) else 0
        self.name = f"{self.table}/{self.type}/{shape}" + (f"/{layout}" if layout else "") + f"/axis{self.axis}"

    def views(self, operation, x, y):
        """x and y with the axis as the last one: the library sees the same problem."""
        last = [d for d in range(len(self.extents)) if d != self.axis] + [self.axis]
        extents, strides = [self.extents[d] for d in last], [self.strides[d] for d in last]
        x = x.as_strided(extents, strides)
        if operation != "logsumexp":
            return x, y.as_strided(extents, strides)
        return x, y[:math.prod(extents[:-1])].view(extents[:-1])


def read_points(path, types):
    with open(path, encoding="utf-8") as file:
        return [Point(match, type_name) for match in map(POINT.match, file) if match for type_name in types]


def work(path, beside_y, tasks, answers, tensors):
    """The process of a build: runs or times what it is asked for."""
    import torch
    torch.cuda.init()
    library = binding.Library(path)
    stream = torch.cuda.Stream()
    library.fence(binding.DEVICE, stream.cuda_stream)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    while (task := tasks.get()) is not None:
        operation, point, launches = task
        x, y = point.views(operation, *tensors[point.type])
        outputs = {name: binding.of_tensor(space.as_strided(x.shape[:-1], packed_strides(x)))
                   for name, space in zip(beside_y, tensors["beside " + point.type])}
        call = library.prepare(operation, binding.DEVICE, binding.of_tensor(x), binding.of_tensor(y), stream.cuda_stream,
                               **outputs)
        try:
            with torch.cuda.stream(stream):
                if launches > 1:
                    torch.cuda._sleep(100_000 + 12_000 * launches)  # until all launches are enqueued
                call()
                begin.record()
                for _ in range(launches - 1):
                    call()
                end.record()
            end.synchronize()
            answers.put(begin.elapsed_time(end) / max(1, launches - 1) * 1e-3)
        except binding.Error as error:
            answers.put(str(error))


def packed_strides(x):
    """The strides of an array without gaps whose elements lie in the order of the rows of x."""
    extents, strides = x.shape[:-1], [0] * (x.dim() - 1)
    next_stride = 1
    for d in sorted(range(len(extents)), key=lambda d: (x.stride(d), -d)):
        strides[d], next_stride = next_stride, next_stride * extents[d]
    return strides


class Build:
    """A build, and what it writes beside y: NAME=PATH[,lse][,max]."""

    def __init__(self, context, text, tensors):
        self.name, path = text.split("=", 1)
        path, *self.beside_y = path.split(",")
        self._tasks, self._answers = context.Queue(), context.Queue()
        self._process = context.Process(target=work, args=(path, self.beside_y, self._tasks, self._answers, tensors), daemon=True)
        self._process.start()

    def run(self, operation, point, launches):
        """The seconds of a launch, or a message."""
        self._tasks.put((operation, point, launches))
        while True:
            try:
                return self._answers.get(timeout=5)
            except queue.Empty:
                if not self._process.is_alive():
                    sys.exit(f"the process of {self.name} has ended: see its message above")

    def end(self):
        self._tasks.put(None)
        self._process.join()


def wrong(torch, operation, point, x, y):
    """The relative error of some rows if it is too large, else None."""
    rows = x.shape[0]
    some = torch.linspace(0, rows - 1, min(rows, 64), device="cuda", dtype=torch.float64).long().clamp(0, rows - 1)
    if x[0].numel() * len(some) > 3e7:
        some = some[:1]
    result = {"softmax": torch.softmax, "log_softmax": torch.log_softmax, "logsumexp": torch.logsumexp}
    expected = result[operation](x[some].double(), -1)
    error = ((y[some].double() - expected).norm() / expected.norm()).item()
    return None if error < TOLERANCE[point.type] else f"relative error {error:.1e}"


def wrong_beside_y(torch, build, point, x, tensors):
    """What differs from PyTorch's results, else None."""
    result = {"lse": torch.logsumexp, "max": torch.amax}
    for name, space in zip(build.beside_y, tensors["beside " + point.type]):
        got, want = space.as_strided(x.shape[:-1], packed_strides(x)), result[name](x.to(space.dtype), -1)
        if not torch.allclose(got, want, rtol=TOLERANCE[point.type], atol=TOLERANCE[point.type]):
            return f"{name} differs by {(got - want).abs().max().item():.1e}"
    return None


def median(values):
    return sorted(values)[len(values) // 2]


def times_of(builds, operation, point, launches):
    """{name: [seconds, ...]}, with the builds in turn."""
    times = {build.name: [] for build in builds}
    for rounds in ROUNDS:
        for i in range(rounds):
            for build in builds if i % 2 == 0 else reversed(builds):
                times[build.name].append(build.run(operation, point, launches))
        medians = [median(t) for t in times.values()]
        if max(medians) / min(medians) - 1 < WORTH_MORE_ROUNDS:
            break
    return times


def measure(torch, builds, operation, point, tensors):
    x, y = point.views(operation, *tensors[point.type])
    builds = [build for build in builds if operation != "logsumexp" or not build.beside_y]
    for build in builds:
        y.fill_(float("nan"))
        for space in tensors["beside " + point.type]:
            space.fill_(float("nan"))
        torch.cuda.synchronize()
        failure = build.run(operation, point, 1)
        failure = failure if isinstance(failure, str) else wrong(torch, operation, point, x, y)
        failure = failure or wrong_beside_y(torch, build, point, x, tensors)
        if failure:
            return {"operation": operation, "point": point.name, "build": build.name, "failure": failure}
    traffic = (x.numel() + y.numel()) * x.element_size()
    launches = 1 + max(2, min(200, int(BATCH_SECONDS / (traffic / 4e12 + 2e-6))))
    return {"operation": operation, "point": point.name, "seconds": times_of(builds, operation, point, launches)}


def print_table(results, names):
    first = names[0]
    for name in names[1:]:
        print(f"\n{name} / {first}: the ratio of the median times\n"
              "| operation | table | points | median | largest | at |\n|---|---|--:|--:|--:|---|")
        groups = {}
        for r in results:
            if name in r.get("seconds", ()):
                ratio = median(r["seconds"][name]) / median(r["seconds"][first])
                groups.setdefault((r["operation"], "/".join(r["point"].split("/")[:2])), []).append((ratio, r["point"]))
        for (operation, table), ratios in groups.items():
            largest, at = max(ratios)
            print(f"| {operation} | {table} | {len(ratios)} | {median(ratios)[0]:.3f} | {largest:.3f} | {at} |")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", metavar="NAME=PATH[,lse][,max]",
                        help="the shared libraries; the first one is compared with")
    parser.add_argument("--points", required=True, metavar="FILE", help="what kokkossoftmax_sweep --list prints")
    parser.add_argument("--tables", metavar="NAME,...", help="default: all in FILE")
    parser.add_argument("--types", metavar="NAME,...", help="float, double, half, bhalf; default: those in FILE")
    parser.add_argument("--operations", default="softmax", metavar="NAME,...", help="default: softmax")
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--output", metavar="FILE", help="a JSON file with all times")
    parser.add_argument("--list", action="store_true", help="print the points and do nothing")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    tables = arguments.tables.split(",") if arguments.tables else None
    types = arguments.types.split(",") if arguments.types else [None]
    points = [p for p in read_points(arguments.points, types) if tables is None or p.table in tables]
    if arguments.list:
        print("\n".join(point.name for point in points))
        return 0 if points else f"{arguments.points} has no points of the library"

    import torch
    import torch.multiprocessing
    largest = {type_name: max((math.prod(p.extents) for p in points if p.type == type_name), default=0)
               for type_name in TYPES}
    tensors = {}
    for type_name, dtype in TYPES.items():
        x = torch.empty(largest[type_name], dtype=getattr(torch, dtype), device="cuda").normal_()
        tensors[type_name] = (x, torch.empty_like(x))
        rows = max((math.prod(p.extents) // p.extents[p.axis] for p in points if p.type == type_name), default=0)
        tensors["beside " + type_name] = tuple(
            torch.empty(rows, dtype=torch.promote_types(x.dtype, torch.float32), device="cuda") for _ in range(2))
    context = torch.multiprocessing.get_context("spawn")
    builds = [Build(context, build, tensors) for build in arguments.builds]
    results, begin = [], time.time()
    for operation in arguments.operations.split(","):
        for point in points:
            if time.time() - begin > arguments.stop_after:
                break
            results.append(measure(torch, builds, operation, point, tensors))
            if "failure" in results[-1]:
                print("FAILED", results[-1], flush=True)
    for build in builds:
        build.end()
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            json.dump(results, file)
    print_table(results, [build.name for build in builds])
    return 1 if any("failure" in r for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
