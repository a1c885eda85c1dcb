#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables and pictures of a file that compare.py wrote."""

import argparse
import itertools
import pathlib
import sys

import inputs
from results import Results

OURS = "kokkos-softmax"
LIMITS = ("copy", "read", "sum", "exp")  # not softmax, but limits to compare it with
STYLES = {  # in the order of the columns
    "sum": ("black", "."),
    OURS: ("tab:blue", "o"),
    "torch": ("tab:red", "x"),
    "torch.compile": ("tab:orange", "v"),
    "triton": ("tab:green", "^"),
    "onednn": ("tab:cyan", "P"),
    "onnxruntime": ("tab:olive", "*"),
    "jax": ("tab:purple", "s"),
    "quack": ("tab:brown", "D"),
    "pyg": ("tab:pink", "h"),
    "scipy": ("tab:gray", "+"),
}


# ---- Numbers


def limit_of(results, case):
    """What the case is compared with: a read of x if there is one, which is the limit of operations that write numbers
    per row on a host, else a copy of x."""
    read = results.get(case, "read")
    return read if read is not None and read.is_timed else results.get(case, "copy")


def name_of_limit(results, cases):
    limits = [limit_of(results, case) for case in cases]
    return next((limit.peer for limit in limits if limit is not None), "copy")


def ratio_to_limit(result, limit):
    """The rate at which the bytes that must be moved are moved, divided by that of the limit."""
    if result is None or limit is None or not result.is_timed or not limit.is_timed:
        return None
    case = result.case
    return (case.bytes / result.seconds) / (bytes_of_limit(limit) / limit.seconds)


def fraction_of_roof(results, case):
    """The larger of the times of the limit and of as many exponentials in the cache, divided by our time: what
    the machine could reach at most is 1. None unless both were measured."""
    ours, limit, exp = (results.get(case, OURS), limit_of(results, case), results.get(case, "exp"))
    if any(result is None or not result.is_timed for result in (ours, limit, exp)):
        return None
    # the limit moves as many bytes as a copy or a read of x, which may be more than the case must move
    limit_seconds = limit.seconds * case.bytes / bytes_of_limit(limit)
    exp_seconds = exp.seconds * inputs.visible_fraction(case)  # of as many as x has entries
    return max(limit_seconds, exp_seconds) / ours.seconds


def bytes_of_limit(limit):
    return limit.case.read_bytes if limit.peer == "read" else limit.case.copy_bytes


def best_peer(results, case):
    """The fastest of the others."""
    others = [results.get(case, peer) for peer in results.peers() if peer not in (OURS, *LIMITS)]
    return min((other for other in others if other is not None and other.is_timed),
               key=lambda other: other.seconds, default=None)


def ratio_to_best_peer(results, case):
    """Their time divided by ours: above 1, ours is faster."""
    ours, best = results.get(case, OURS), best_peer(results, case)
    if ours is None or best is None or not ours.is_timed:
        return None
    return best.seconds / ours.seconds


# ---- Tables


def digits(number):
    return f"{number:.2f}" if number >= 0.095 else f"{number:.1g}"


def peer_cell(result, limit):
    if result is None:
        return ""
    if not result.is_timed:
        return {"failed": "FAILED"}.get(result.status, result.status)
    ratio = ratio_to_limit(result, limit)
    cell = "?" if ratio is None else digits(ratio)
    if result.status == "slow":
        return cell + "*"
    return cell + "~" if result.scatters else cell


def roof_cell(results, case):
    fraction = fraction_of_roof(results, case)
    return "" if fraction is None else digits(fraction)


def is_of_host(results):
    return "threads" in results.machine


def microseconds(result):
    return f"{1e6 * result.seconds:.1f}" if result is not None and result.is_timed else ""


def table_of_group(results, cases, peers):
    """Of the cases with one operation, type and group."""
    limit_name = name_of_limit(results, cases)
    shape = "rows x entries" if cases[0].is_ragged else "M x N"
    peers = [peer for peer in peers if any(results.has(case, peer) for case in cases)]
    if is_of_host(results):
        head = [shape, f"{limit_name} GB/s", f"{limit_name} us", "ours us",
                *(f"fraction of best {limit_name}" if peer == OURS else peer for peer in peers),
                "of the roof", "best peer", "times the best peer"]
    else:
        head = [shape, "copy us", "ours us", *peers, "best peer", "its time / ours"]
    return format_table(head, [row_of(results, case, limit_of(results, case), peers)
                               for case in cases])


def row_of(results, case, limit, peers):
    ratio, best = ratio_to_best_peer(results, case), best_peer(results, case)
    is_timed = limit is not None and limit.is_timed
    rate = f"{1e-9 * bytes_of_limit(limit) / limit.seconds:.1f}" if is_timed else ""
    return [case.shape,
            *([rate] if is_of_host(results) else []),
            microseconds(limit),
            microseconds(results.get(case, OURS)),
            *(peer_cell(results.get(case, peer), limit) for peer in peers),
            *([roof_cell(results, case)] if is_of_host(results) else []),
            "" if best is None else best.peer,
            "" if ratio is None else digits(ratio)]


def format_table(head, rows):
    widths = [max(map(len, column)) for column in zip(head, *rows)]

    def line(cells):
        return "| " + " | ".join(cell.rjust(width) for cell, width in zip(cells, widths)) + " |"

    return "\n".join([line(head), line([(width - 1) * "-" + ":" for width in widths]),
                      *map(line, rows)])


def notes(results):
    """The cases that each peer refused or computed wrongly, and why."""
    reasons = {}
    for result in results.of.values():
        if result.status in ("refused", "failed"):
            key = (result.peer, result.status, result.message)
            reasons.setdefault(key, []).append(result.case.name)
    for peer, message in results.missing.items():
        yield f"{peer} is missing: {message}"
    for (peer, status, message), names in reasons.items():
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{peer} {status} {names[0]}{others}: {message}"


GPU_TEXT = """\
Ratios are the rate of the bytes that must move (what is read once, the result once) to that of a copy of x: 1 is the
limit if the data don't fit a cache. The backward passes of softmax and log_softmax read y, which counts as x, and dy:
they move 1.5 times the bytes of the copy. An asterisk: timed once. jax: with the latency of a call that waits."""
HOST_TEXT = """\
Ratios are the rate of the bytes that must move (what is read once, the result once) to that of the best copy of x, for
logsumexp, segment_logsumexp and cross_entropy to that of the best read of x. The backward passes of softmax and
log_softmax read y, which counts as x, and dy: they move 1.5 times the bytes of the copy. The ratios and the times are
medians of runs in which all take turns; "times the best peer" is the time of the best peer divided by ours. "of the
roof": the larger of the limit's time and of the time of as many of the library's own exponentials in the first-level
cache, divided by ours. An asterisk: timed once. ~: the median is above 1.2 times the fastest run. jax and scipy return
new arrays, as torch's cross_entropy, the others write into the same one. With operands, torch first writes x with them
into new arrays, and with ragged rows, the steps before the last one. With lengths and causal limits, half of x and half
of the exponentials count. scipy has one thread."""


def tables(results):
    peers = sorted((peer for peer in results.peers() if peer not in ("copy", "read", "exp")),
                   key=lambda peer: (peer != OURS, list(STYLES).index(peer)))
    yield title(results)
    yield HOST_TEXT if is_of_host(results) else GPU_TEXT
    key = sort_key(results)
    for (operation, type_name, group), of_group in itertools.groupby(
            sorted(results.cases(), key=key), key=lambda c: (c.operation, c.type, c.group)):
        of_group = list(of_group)
        along = "" if of_group[0].is_ragged else f", along axis {of_group[0].axis}"
        yield (f"{operation}, {type_name}, {group.replace('_', ' ')}{along}\n"
               + table_of_group(results, of_group, peers))
    yield "\n".join(notes(results))


def sort_key(results):
    """Operations, types and groups in the order of the file; then by columns and rows."""
    places = {}
    for case in results.cases():
        for what in (case.operation, case.type, case.group):
            places.setdefault(what, len(places))
    return lambda case: (places[case.operation], places[case.type], places[case.group],
                         case.columns, case.rows)


def title(results):
    machine = results.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.items()
                         if name != "device" and version)
    return (f"{machine.get('device', 'unknown device')}: {OURS} {results.library.get('version')} "
            f"({results.library.get('space')}, {results.library.get('sha256')}), {versions}")


# ---- Pictures


def draw(plt, results, operation, type_name):
    """Ratio to the copy over N, one line per library; None if nothing was timed."""
    cases = sorted((case for case in results.cases()
                    if (case.operation, case.type, case.group) == (operation, type_name, "large")),
                   key=lambda case: case.columns)
    limit_name = name_of_limit(results, cases)
    figure, axes = plt.subplots(figsize=(10, 5.5), layout="constrained")
    for peer in results.peers():
        points = [(case.columns, ratio_to_limit(results.get(case, peer), limit_of(results, case)))
                  for case in cases]
        points = [point for point in points if point[1] is not None]
        if peer in ("copy", limit_name) or not points:
            continue
        color, marker = STYLES.get(peer, (None, "."))
        ours = peer == OURS
        axes.plot(*zip(*points), label=peer, color=color, marker=marker, markersize=4,
                  linewidth=2 if ours else 1.2, zorder=3 if ours else 2)
    if not axes.lines:
        plt.close(figure)
        return None
    axes.axhline(1, color="black", linestyle="--", linewidth=1.2, label=limit_name)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.grid(True, alpha=0.3)
    axes.set_xlabel("N (columns), M N constant")
    axes.set_ylabel(f"rate of the bytes that must move / rate of a {limit_name}")
    threads = f", {results.machine['threads']} threads" if is_of_host(results) else ""
    figure.suptitle(f"{operation}, {type_name}, {results.machine.get('device', '')}{threads}")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def draw_all(plt, results, directory, prefix):
    """Yields the path of each picture."""
    kinds = dict.fromkeys((case.operation, case.type) for case in results.cases())
    for operation, type_name in kinds:
        figure = draw(plt, results, operation, type_name)
        if figure is not None:
            path = directory / f"{prefix}_{operation}_{type_name}.png"
            figure.savefig(path, dpi=130)
            plt.close(figure)
            yield path


def import_pyplot():
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot
    return matplotlib.pyplot


# ---- Main


def write(results, directory):
    """Writes the tables and pictures into the directory, and prints the tables."""
    directory.mkdir(parents=True, exist_ok=True)
    prefix = results.path.stem
    text = "\n\n".join(filter(None, tables(results))) + "\n"
    (directory / f"{prefix}.txt").write_text(text)
    print(text)
    print(directory / f"{prefix}.txt")
    plt = import_pyplot()
    if plt is None:
        print("no pictures (matplotlib is missing): install it and run report.py")
        return
    for path in draw_all(plt, results, directory, prefix):
        print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="+", type=pathlib.Path,
                        help="JSON of compare.py")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("."),
                        help="where tables and pictures go (default: here)")
    arguments = parser.parse_args()
    for path in arguments.files:
        if not path.exists():
            sys.exit(f"report.py: {path} doesn't exist")
        write(Results(path), arguments.output)


if __name__ == "__main__":
    main()
