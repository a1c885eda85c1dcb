#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables and pictures of a file that compare.py wrote."""

import argparse
import itertools
import pathlib
import sys

from results import Results

OURS = "kokkos-softmax"
LIMITS = ("copy", "sum")  # not softmax, but limits to compare it with
STYLES = {
    "sum": ("black", "."),
    OURS: ("tab:blue", "o"),
    "torch": ("tab:red", "x"),
    "torch.compile": ("tab:orange", "v"),
    "triton": ("tab:green", "^"),
    "jax": ("tab:purple", "s"),
    "quack": ("tab:brown", "D"),
}


# ---- Numbers


def ratio_to_copy(result, copy):
    """The rate at which the bytes that must be moved are moved, divided by that of the copy."""
    if result is None or copy is None or not result.is_timed or not copy.is_timed:
        return None
    case = result.case
    return (case.bytes / result.seconds) / (case.copy_bytes / copy.seconds)


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


def peer_cell(result, copy):
    if result is None:
        return ""
    if not result.is_timed:
        return {"failed": "FAILED"}.get(result.status, result.status)
    ratio = ratio_to_copy(result, copy)
    cell = "?" if ratio is None else digits(ratio)
    return cell + "*" if result.status == "slow" else cell


def row_of(results, case, peers):
    copy, ours = results.get(case, "copy"), results.get(case, OURS)
    ratio, best = ratio_to_best_peer(results, case), best_peer(results, case)
    return [case.shape,
            f"{1e6 * copy.seconds:.1f}" if copy is not None and copy.is_timed else "",
            f"{1e6 * ours.seconds:.1f}" if ours is not None and ours.is_timed else "",
            *(peer_cell(results.get(case, peer), copy) for peer in peers),
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


def tables(results):
    order = [OURS, *(peer for peer in results.peers() if peer not in (OURS, "copy"))]
    peers = [peer for peer in order if peer in results.peers()]
    head = ["M x N", "copy us", "ours us", *peers, "best peer", "its time / ours"]
    yield title(results)
    yield ("Ratios are the rate of the bytes that must move (x once, the result once) to that of a "
           "copy of x: 1 is the\nlimit where the data don't fit a cache. An asterisk: timed once. "
           "jax: with the latency of a call that waits.")
    key = sort_key(results)
    for (operation, type_name, group), of_group in itertools.groupby(
            sorted(results.cases(), key=key), key=lambda c: (c.operation, c.type, c.group)):
        of_group = list(of_group)
        yield (f"{operation}, {type_name}, {group.replace('_', ' ')}, along axis "
               f"{of_group[0].axis}\n"
               + format_table(head, [row_of(results, case, peers) for case in of_group]))
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
    figure, axes = plt.subplots(figsize=(10, 5.5), layout="constrained")
    for peer in results.peers():
        points = [(case.columns, ratio_to_copy(results.get(case, peer), results.get(case, "copy")))
                  for case in cases]
        points = [point for point in points if point[1] is not None]
        if peer == "copy" or not points:
            continue
        color, marker = STYLES.get(peer, (None, "."))
        ours = peer == OURS
        axes.plot(*zip(*points), label=peer, color=color, marker=marker, markersize=4,
                  linewidth=2 if ours else 1.2, zorder=3 if ours else 2)
    if not axes.lines:
        plt.close(figure)
        return None
    axes.axhline(1, color="black", linestyle="--", linewidth=1.2, label="copy")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.grid(True, alpha=0.3)
    axes.set_xlabel("N (columns), M N constant")
    axes.set_ylabel("rate of the bytes that must move / rate of a copy")
    figure.suptitle(f"{operation}, {type_name}, {results.machine.get('device', '')}")
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
