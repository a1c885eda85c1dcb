#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times softmax, log_softmax and logsumexp of this library and of others, on the same tensors.

Needs a shared libkokkossoftmax, PyTorch and, on a GPU, Triton. Uses JAX, QuACK and matplotlib if they
are installed. Each result is written when it has been measured, and a run with the same library on the
same machine leaves out the results that exist.
"""

import argparse
import hashlib
import importlib.metadata
import pathlib
import platform
import re
import signal
import sys
import time

import cases
import report
from library import DEVICE, HOST, Library
from peers import OURS, PEERS, load
from results import Result, Results


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    names = {"type": lambda text: text.split(","), "metavar": "NAME,..."}
    parser.add_argument("--library", metavar="PATH", type=pathlib.Path,
                        help="the shared libkokkossoftmax")
    parser.add_argument("--cases", metavar="TEXT", default="",
                        help="only cases with this in their name (see --list)")
    parser.add_argument("--operations", default=list(cases.OPERATIONS), **names)
    parser.add_argument("--types", default=list(cases.TYPE_BYTES), **names)
    parser.add_argument("--peers", default=list(PEERS), **names, help=", ".join(PEERS))
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
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    arguments = parser.parse_args()
    for option, known in (("operations", cases.OPERATIONS), ("types", cases.TYPE_BYTES),
                          ("peers", PEERS)):
        for name in getattr(arguments, option):
            if name not in known:
                parser.error(f"--{option}: {name} is unknown (known are {', '.join(known)})")
    if arguments.library is None and not arguments.list:
        parser.error("--library is missing: give the path of libkokkossoftmax.so")
    return arguments


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def describe_machine(torch, device):
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor()
    return {"device": name or platform.machine(), "python": platform.python_version(),
            "torch": torch.__version__, "cuda": torch.version.cuda,
            "triton": version_of("triton"), "jax": version_of("jax"),
            "quack": version_of("quack-kernels")}


def describe_library(library, device):
    digest = hashlib.sha256(library.path.read_bytes()).hexdigest()
    return {"version": library.version, "sha256": digest[:16],
            "space": library.space_name(DEVICE if device == "cuda" else HOST)}


def results_path(directory, machine, library):
    device = re.sub("[^a-z0-9]+", "-", machine["device"].lower()).strip("-")
    return directory / f"compare_{device}_{library['sha256'][:8]}.json"


def clock_text(seconds):
    return f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"


def progress(result, copy):
    if not result.is_timed:
        return f"{result.peer} {result.status} ({result.message})"
    ratio = report.ratio_to_copy(result, copy)
    of_copy = "" if ratio is None or result.peer == "copy" else f" {ratio:.3f}"
    return f"{result.peer} {1e6 * result.seconds:.1f} us{of_copy}"


def is_done(results, case, peer, retry):
    result = results.get(case, peer)
    return result is not None and (result.is_timed or not retry)


def run_case(case, peers, results, clock, time_limit):
    from measure import Bench
    bench = Bench(case, clock)
    for name, peer in peers.items():
        results.add(Result(case, name, "running"))
        try:
            results.add(Result(case, name, **bench.measure(peer, time_limit)))
        except KeyboardInterrupt:  # not an error of the peer
            results.remove(case, name)
            raise


def run(selected, peers, results, clock, arguments):
    from measure import DeviceLost
    begin = time.monotonic()
    for number, case in enumerate(selected, 1):
        if time.monotonic() - begin > arguments.stop_after:
            print(f"stopped after {arguments.stop_after:g} s: run it again to go on", flush=True)
            return
        to_do = {name: peer for name, peer in peers.items()
                 if case.operation in getattr(peer, "operations", cases.OPERATIONS)
                 and not is_done(results, case, name, arguments.retry)}
        if not to_do:
            continue
        try:
            run_case(case, to_do, results, clock, arguments.time_limit)
        except DeviceLost as error:
            sys.exit(f"compare.py: the device was lost in {case.name} ({error}): run it again, to "
                     "go on after that")
        except RuntimeError as error:  # no memory for the tensors of the case
            print(f"{case.name}: {error}", flush=True)
        copy = results.get(case, "copy")
        told = [progress(results.get(case, name), copy) for name in to_do
                if results.has(case, name)]
        print(f"[{number}/{len(selected)} {clock_text(time.monotonic() - begin)}] {case.name}: "
              + "; ".join(told), flush=True)


def interrupt(signal_number, frame):
    raise KeyboardInterrupt


def main():
    signal.signal(signal.SIGTERM, interrupt)
    arguments = parse_arguments()
    selected = cases.select(arguments.operations, arguments.types, arguments.cases)
    if not selected:
        sys.exit("compare.py: no case is selected (see --list)")
    if arguments.list:
        print("\n".join(case.name for case in selected))
        return
    try:
        import torch
    except ImportError as error:
        sys.exit(f"compare.py: PyTorch can't be imported ({error}): install it, or use --list or "
                 "report.py")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("compare.py: PyTorch sees no GPU (--device is cuda): use a machine with one, or "
                 "--device cpu")
    import measure

    with Library(arguments.library) as library:  # after torch, whose CUDA libraries it shares
        machine = describe_machine(torch, arguments.device)
        about_library = describe_library(library, arguments.device)
        arguments.output.mkdir(parents=True, exist_ok=True)
        results = Results(results_path(arguments.output, machine, about_library), machine,
                          about_library)
        peers, results.missing = load(arguments.peers, torch, arguments.device, library)
        if OURS in results.missing:
            sys.exit(f"compare.py: {results.missing[OURS]}")
        clock = measure.make_clock(arguments.device)
        if arguments.device == "cuda":
            # Not the legacy default stream, which waits for other streams and has no handle.
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                run(selected, peers, results, clock, arguments)
            library.release_stream(DEVICE, stream.cuda_stream)
        else:
            run(selected, peers, results, clock, arguments)
    results.write()
    report.write(results, arguments.output)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("compare.py: interrupted: run it again to go on")
