#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times softmax, log_softmax, logsumexp, cross_entropy and backward passes of this library and of others, also those of
ragged rows, on the same memory.

Needs a shared libkokkossoftmax. On a GPU it also needs PyTorch and Triton, and uses JAX, QuACK and PyTorch Geometric if
they are installed. On a host (--device cpu) it needs NumPy, and uses PyTorch, oneDNN, onnxruntime (with onnx), JAX and
SciPy if they are installed. Pictures need matplotlib. Results are written when they have been measured, and a
run with the same library on the same machine leaves out the results that exist.
"""

import argparse
import contextlib
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import time

import cases
import host_machine
import host_peers
import peers
import report
from library import DEVICE, HOST, Library
from measure import DeviceLost
from peers import OURS
from results import Result, Results

CLASSES = {"cuda": peers.PEERS, "cpu": host_peers.PEERS}
HELPER = "libkokkossoftmax_host_peers.so"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    names = {"type": lambda text: text.split(","), "metavar": "NAME,..."}
    parser.add_argument("--library", metavar="PATH", type=pathlib.Path,
                        help="the shared libkokkossoftmax")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--cases", metavar="TEXT", default="",
                        help="only cases with this in their name (see --list)")
    parser.add_argument("--operations", default=list(cases.OPERATIONS), **names)
    parser.add_argument("--types", default=list(cases.TYPE_BYTES), **names)
    parser.add_argument("--peers", **names,
                        help="; ".join(f"{device}: {', '.join(classes)}"
                                       for device, classes in CLASSES.items()))
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path,
                        default=pathlib.Path("results"), help="default: results")
    parser.add_argument("--list", action="store_true", help="print the cases and do nothing")
    parser.add_argument("--time-limit", metavar="SECONDS", type=float, default=4.0,
                        help="for the calls of one peer in one case; where an eighth of it isn't "
                             "enough for one call, that one is timed (default: 4)")
    parser.add_argument("--stop-after", metavar="SECONDS", type=float, default=float("inf"),
                        help="begin no case after that time (default: never stop)")
    parser.add_argument("--retry", action="store_true",
                        help="measure again what failed or was refused")
    host = parser.add_argument_group("with --device cpu")
    host.add_argument("--threads", metavar="NUMBER,...",
                      type=lambda text: [positive(number) for number in text.split(",")],
                      help="one run for each number of threads (default: 1 and all)")
    host.add_argument("--bytes", metavar="BYTES", type=size_in_bytes,
                      help="of x in most cases, for example 256M (default: by the last-level cache)")
    host.add_argument("--runs", metavar="NUMBER", type=positive, default=9,
                      help="of each peer, in turn (default: 9)")
    host.add_argument("--helper", metavar="PATH", type=pathlib.Path,
                      help=f"{HELPER} (default: found by --library)")
    arguments = parser.parse_args()
    known_peers = list(CLASSES[arguments.device])
    default = host_peers.DEFAULT if arguments.device == "cpu" else known_peers
    arguments.peers = arguments.peers or default
    for option, known in (("operations", cases.OPERATIONS), ("types", cases.TYPE_BYTES),
                          ("peers", known_peers)):
        for name in getattr(arguments, option):
            if name not in known:
                parser.error(f"--{option}: {name} is unknown (known are {', '.join(known)})")
    if arguments.library is None and not arguments.list:
        parser.error("--library is missing: give the path of libkokkossoftmax.so")
    return arguments


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return number


def size_in_bytes(text):
    """A number with K, M or G, or without."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not match or int(match[1]) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no size: give a number, for example 256M")
    return int(match[1]) * 1024 ** " KMG".index(match[2] or " ")


# ---- What is measured


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def describe_gpu(torch):
    return {"device": torch.cuda.get_device_name(), "python": platform.python_version(),
            "torch": torch.__version__, "cuda": torch.version.cuda,
            "triton": version_of("triton"), "jax": version_of("jax"),
            "quack": version_of("quack-kernels")}


def describe_host(threads, runs, helper):
    return {"device": host_machine.processor_name(), "threads": threads, "runs": runs,
            "settings": host_machine.thread_settings(), "python": platform.python_version(),
            **{name: version_of(name)
               for name in ("numpy", "torch", "onnxruntime", "jax", "scipy")},
            "onednn": host_peers.onednn_version(helper)}


def describe_library(library, space):
    digest = hashlib.sha256(library.path.read_bytes()).hexdigest()
    return {"version": library.version, "sha256": digest[:16], "space": library.space_name(space)}


def results_path(directory, machine, library):
    device = re.sub("[^a-z0-9]+", "-", machine["device"].lower()).strip("-")
    threads = f"_{machine['threads']}threads" if "threads" in machine else ""
    return directory / f"compare_{device}{threads}_{library['sha256'][:8]}.json"


def clock_text(seconds):
    return f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"


# ---- Runs


def progress(result, limit):
    if not result.is_timed:
        return f"{result.peer} {result.status} ({result.message})"
    ratio = report.ratio_to_limit(result, limit)
    of_limit = "" if ratio is None or result.peer in report.LIMITS else f" {ratio:.3f}"
    return f"{result.peer} {1e6 * result.seconds:.1f} us{of_limit}"


def is_done(results, case, peer, retry):
    result = results.get(case, peer)
    return result is not None and (result.is_timed or not retry)


def peers_to_do(case, loaded, results, arguments):
    """Those without a result. On a host, where peers take turns, also those with a time if one is without."""
    of_case = {name: peer for name, peer in loaded.items()
               if case.operation in getattr(peer, "operations", cases.OPERATIONS)}
    to_do = {name: peer for name, peer in of_case.items()
             if not is_done(results, case, name, arguments.retry)}
    if not to_do or arguments.device == "cuda":
        return to_do
    return {name: peer for name, peer in of_case.items()
            if name in to_do or results.get(case, name).is_timed}


def run_case(case, to_do, results, session):
    try:
        for name, result in session.measure(case, to_do):
            if result is None:
                results.remove(case, name)
            else:
                results.add(Result(case, name, **result))
    except KeyboardInterrupt:  # not an error of the peer
        for name in to_do:
            if results.has(case, name) and results.get(case, name).status == "running":
                results.remove(case, name)
        raise


def run(selected, loaded, results, session, arguments):
    begin = time.monotonic()
    for number, case in enumerate(selected, 1):
        if time.monotonic() - begin > arguments.stop_after:
            print(f"stopped after {arguments.stop_after:g} s: run it again to go on", flush=True)
            return
        to_do = peers_to_do(case, loaded, results, arguments)
        if not to_do:
            continue
        try:
            run_case(case, to_do, results, session)
        except DeviceLost as error:
            sys.exit(f"compare.py: the device was lost in {case.name} ({error}): run it again, to "
                     "go on after that")
        except (RuntimeError, MemoryError) as error:  # no memory for the arrays of the case
            print(f"{case.name}: {error}", flush=True)
        limit = report.limit_of(results, case)
        told = [progress(results.get(case, name), limit) for name in to_do
                if results.has(case, name)]
        print(f"[{number}/{len(selected)} {clock_text(time.monotonic() - begin)}] {case.name}: "
              + "; ".join(told), flush=True)


def load_peers(arguments, results, setup, context=contextlib.nullcontext):
    loaded, results.missing = peers.load(arguments.peers, CLASSES[arguments.device], setup, context)
    if OURS in results.missing:
        sys.exit(f"compare.py: {results.missing[OURS]}")
    for name, reason in results.missing.items():
        print(f"{name} is missing: {reason}", flush=True)
    return loaded


def open_results(arguments, machine, library, space):
    about_library = describe_library(library, space)
    arguments.output.mkdir(parents=True, exist_ok=True)
    return Results(results_path(arguments.output, machine, about_library), machine, about_library)


def compare_on_gpu(arguments, selected):
    try:
        import torch
    except ImportError as error:
        sys.exit(f"compare.py: PyTorch can't be imported ({error}): install it, or use --list, "
                 "--device cpu or report.py")
    if not torch.cuda.is_available():
        sys.exit("compare.py: PyTorch sees no GPU (--device is cuda): use a machine with one, or "
                 "--device cpu")
    import measure_gpu

    with Library(arguments.library) as library:  # after torch, whose CUDA libraries it shares
        results = open_results(arguments, describe_gpu(torch), library, DEVICE)
        loaded = load_peers(arguments, results, peers.Setup(library, "cuda", torch))
        session = measure_gpu.Session(arguments.time_limit)
        # Not the legacy default stream, which waits for other streams and has no handle.
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            run(selected, loaded, results, session, arguments)
        library.release_stream(DEVICE, stream.cuda_stream)
    return results


def compare_on_host(arguments, selected, threads):
    try:
        import measure_host
    except ImportError as error:
        sys.exit(f"compare.py: NumPy can't be imported ({error}): install it, or use --list or "
                 "report.py")
    processors = host_machine.Processors(threads)
    with processors.free():
        library = Library(arguments.library)
        helper = find_helper(arguments)
        machine = describe_host(threads, arguments.runs, helper)
    with library:
        results = open_results(arguments, machine, library, HOST)
        setup = peers.Setup(library, "cpu", threads=threads, helper=helper)
        loaded = load_peers(arguments, results, setup, processors.free)
        session = measure_host.Session(arguments.time_limit, arguments.runs, processors.free)
        run(selected, loaded, results, session, arguments)
        del loaded, session  # what was allocated by libraries ends before them
    return results


def find_helper(arguments):
    """The shared library of copies and reads, in the build of the library."""
    if arguments.helper is not None:
        return arguments.helper.resolve()
    folder = arguments.library.resolve().parent
    places = [folder / HELPER, folder.parent / "perf_tests" / "peers" / HELPER]
    return next((place for place in places if place.exists()), None)


def in_a_process_each(thread_counts, stop_after):
    """Runs this program once for each number of threads, which is set before libraries are loaded."""
    begin = time.monotonic()
    for threads in thread_counts:
        left = max(0.0, stop_after - (time.monotonic() - begin))
        command = [sys.executable, *sys.argv, "--threads", str(threads), "--stop-after", str(left)]
        environment = {**os.environ, **host_machine.thread_environment(threads, os.environ)}
        status = run_process(command, environment)
        if status != 0:
            return status
    return 0


def run_process(command, environment):
    process = subprocess.Popen(command, env=environment)
    try:
        return process.wait()
    except KeyboardInterrupt:  # so that it writes what it has
        process.terminate()
        process.wait()
        raise


def interrupt(signal_number, frame):
    raise KeyboardInterrupt


def host_cases(arguments):
    size, reason = arguments.bytes, "by --bytes"
    if size is None:
        size, reason = host_machine.default_bytes(host_machine.last_level_cache())
    if not arguments.list:
        print(f"x has {size / host_machine.MIB:g} MiB in most cases ({reason})", flush=True)
    return cases.of_hosts(size)


def main():
    signal.signal(signal.SIGTERM, interrupt)
    arguments = parse_arguments()
    thread_counts = arguments.threads or sorted({1, len(host_machine.processors())})
    is_child = len(thread_counts) == 1 and host_machine.is_set_up(thread_counts[0], os.environ)
    if arguments.device == "cpu" and not arguments.list and not is_child:
        sys.exit(in_a_process_each(thread_counts, arguments.stop_after))
    every_case = cases.of_gpus() if arguments.device == "cuda" else host_cases(arguments)
    selected = cases.select(every_case, arguments.operations, arguments.types, arguments.cases)
    if not selected:
        sys.exit("compare.py: no case is selected (see --list)")
    if arguments.list:
        print("\n".join(case.name for case in selected))
        return
    if arguments.device == "cuda":
        results = compare_on_gpu(arguments, selected)
    else:
        results = compare_on_host(arguments, selected, thread_counts[0])
    results.write()
    report.write(results, arguments.output)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("compare.py: interrupted: run it again to go on")
