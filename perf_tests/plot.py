#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the results of kokkossoftmax_sweep: one picture per table and value type."""

import argparse
import collections
import json
import pathlib
import sys

Result = collections.namedtuple(
    "Result", "table dtype algorithm shape variant M N seconds gb_per_s copy_gb_per_s bytes")

# The lines of an algorithm look the same in every picture; the library stands out.
STYLES = {
    "naive": ("tab:red", "x"),
    "thread_per_row": ("tab:brown", "v"),
    "thread_per_row_online": ("tab:pink", "^"),
    "team_scratch": ("tab:olive", "<"),
    "team_shuffle": ("tab:green", ">"),
    "fused_one_row": ("tab:cyan", "s"),
    "fused_persistent": ("tab:purple", "D"),
    "tiled_three_pass": ("tab:orange", "P"),
    "online_two_pass": ("goldenrod", "p"),
    "online_two_pass_reversed": ("tab:gray", "h"),
    "library": ("tab:blue", "o"),
    "portable": ("tab:orange", "X"),
}
COPY_STYLE = {"color": "black", "linestyle": "--", "linewidth": 1.2}
COPY = "copy of the same bytes (the limit)"
RATE = "GB/s (x read once, y written once)"
RATIO = "rate divided by that of a copy of the same bytes"
COLUMNS = "N (columns of a row)"


# ---- Reading


def read_file(path):
    """The machine (a title) and the results of a Benchmark JSON file."""
    try:
        document = json.loads(path.read_text())
        entries = document["benchmarks"]
    except OSError as error:
        sys.exit(f"plot.py: {path} can't be read: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        sys.exit(f"plot.py: {path} is not a JSON file of Google Benchmark")
    results = [read_entry(entry) for entry in entries if is_measurement(entry)]
    return machine_of(document.get("context", {})), results


def is_measurement(entry):
    return (entry.get("run_type", "iteration") == "iteration" and "GB_per_s" in entry
            and not entry.get("error_occurred") and not entry.get("skipped"))


def read_entry(entry):
    # table/dtype/algorithm/shape, then layout/axis in one of the tables, then the suffixes of Benchmark
    table, dtype, algorithm, shape, *rest = entry["name"].split("/")
    variant = tuple(rest[:2]) if table == "axis_layout" else ()
    return Result(table, dtype, algorithm, shape, variant, int(entry["M"]), int(entry["N"]),
                  1e-9 * entry["bytes"] / entry["GB_per_s"], entry["GB_per_s"],
                  entry["copy_GB_per_s"], entry["bytes"])


def machine_of(context):
    backend = context.get("backend", "unknown backend")
    device = context.get("device", "unknown device")
    kokkos = context.get("kokkos_version", "?")
    version = context.get("kokkossoftmax_version", "?")
    rest = float(context.get("rest_ms", 0))
    rested = f", after {rest:g} ms of rest" if rest > 0 else ""
    return f"{backend} on {device}{rested}  |  Kokkos {kokkos}, KokkosSoftmax {version}"


def merge_by_machine(files):
    """[(prefix for the pictures' names, machine, results)]; files of one machine are one item."""
    merged = {}
    for path, (machine, results) in files:
        merged.setdefault(machine, (path.stem, []))[1].extend(results)
    several = len(merged) > 1
    stems = [stem for stem, _ in merged.values()]
    if len(set(stems)) < len(stems):
        stems = [f"{stem}{number}" for number, stem in enumerate(stems, 1)]
    return [(f"{stem}_" if several else "", machine, results)
            for stem, (machine, (_, results)) in zip(stems, merged.items())]


# ---- Pieces of a picture


def group(results, key):
    """Results by key, in the order in which the keys appear."""
    groups = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def draw_lines(axes, results, value, copy_value):
    """value against N, a line per algorithm; the copy ceiling dashed."""
    for algorithm, points in group(results, lambda r: r.algorithm).items():
        color, marker = STYLES.get(algorithm, (None, "."))
        points = sorted(points, key=lambda r: r.N)
        axes.plot([p.N for p in points], [value(p) for p in points], label=algorithm, color=color,
                  marker=marker, markersize=4, linewidth=2 if algorithm == "library" else 1.2,
                  zorder=3 if algorithm == "library" else 2)
    copies = {r.N: copy_value(r) for r in sorted(results, key=lambda r: r.N)}
    axes.plot(list(copies), list(copies.values()), label=COPY, **COPY_STYLE)
    axes.grid(True, which="major", alpha=0.3)


def draw_grouped_bars(axes, results, category, series):
    """Horizontal bars of GB/s, grouped by category, one bar per series; the copy as dashed marks."""
    categories = list(group(results, category))
    all_series = list(group(results, series))
    height = 0.8 / len(all_series)
    for number, name in enumerate(all_series):
        points = [r for r in results if series(r) == name]
        rows = [categories.index(category(r)) + (number - (len(all_series) - 1) / 2) * height
                for r in points]
        color = STYLES.get(name, (None, None))[0] if len(all_series) > 1 else "tab:blue"
        bars = axes.barh(rows, [r.gb_per_s for r in points], height=0.9 * height, color=color,
                         label=name if len(all_series) > 1 else None)
        axes.bar_label(bars, [f"{r.gb_per_s:.4g}" for r in points], padding=3, fontsize=8)
    for number, name in enumerate(categories):
        copy = next(r.copy_gb_per_s for r in results if category(r) == name)
        axes.plot([copy, copy], [number - 0.5, number + 0.5], **COPY_STYLE,
                  label=COPY if number == 0 else None)
    axes.set_yticks(range(len(categories)), categories)
    axes.invert_yaxis()
    axes.set_xlabel(RATE)
    axes.set_xlim(0, 1.12 * max(max(r.gb_per_s, r.copy_gb_per_s) for r in results))
    axes.grid(True, axis="x", alpha=0.3)


def spread_low_values(axis, lowest, least):
    """A logarithmic axis, if values below `least` would lie near the zero of a linear one."""
    if lowest >= least:
        return False
    from matplotlib import ticker
    axis.axes.set_yscale("log")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())
    return True


def legend_below(figure, axes):
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)),
                  frameon=False)


# ---- One function per kind of picture; each returns its figure


def bandwidth_against_columns(plt, results):
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    draw_lines(axes, results, lambda r: r.gb_per_s, lambda r: r.copy_gb_per_s)
    axes.set_xlabel(COLUMNS)
    axes.set_ylabel(RATE)
    if not spread_low_values(axes.yaxis, min(r.gb_per_s for r in results),
                             max(r.copy_gb_per_s for r in results) / 25):
        axes.set_ylim(bottom=0)
    legend_below(figure, axes)
    return figure


def copy_time(result):
    """In microseconds."""
    return 1e-3 * result.bytes / result.copy_gb_per_s


def time_against_columns(plt, results):
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    draw_lines(axes, results, lambda r: 1e6 * r.seconds, copy_time)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(COLUMNS)
    axes.set_ylabel("time (µs)")
    legend_below(figure, axes)
    return figure


def rate_for_each_row_count(plt, results):
    return panel_for_each_row_count(plt, results, RATE, lambda r: r.gb_per_s,
                                    lambda r: r.copy_gb_per_s)


def time_for_each_row_count(plt, results):
    return panel_for_each_row_count(plt, results, "time (µs)", lambda r: 1e6 * r.seconds, copy_time)


def panel_for_each_row_count(plt, results, label, value, copy_value):
    panels = sorted(group(results, lambda r: r.M).items())
    columns = 2 if len(panels) == 4 else min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(1.5 + 3.8 * columns, 1.4 + 3.2 * rows),
                                sharey=True, squeeze=False, layout="constrained")
    for axes, (row_count, points) in zip(grid.flat, panels):
        draw_lines(axes, points, value, copy_value)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_title("M = 1 row" if row_count == 1 else f"M = {row_count} rows", fontsize=10)
        axes.set_xlabel(COLUMNS)
    for axes in grid[:, 0]:
        axes.set_ylabel(label)
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    legend_below(figure, grid[0][0])
    return figure


def bars_for_each_algorithm(plt, results):
    figure, axes = plt.subplots(figsize=(9, 1.8 + 0.4 * len(results)), layout="constrained")
    draw_grouped_bars(axes, results, lambda r: r.algorithm, lambda r: "softmax")
    legend_below(figure, axes)
    return figure


def bars_for_each_shape(plt, results):
    figure, axes = plt.subplots(figsize=(9, 2.2 + 0.28 * len(results)), layout="constrained")
    draw_grouped_bars(axes, results, lambda r: r.shape, lambda r: r.algorithm)
    legend_below(figure, axes)
    return figure


def bars_for_each_axis(plt, results):
    figure, axes = plt.subplots(figsize=(9, 2.2 + 0.35 * len(results)), layout="constrained")
    draw_grouped_bars(
        axes, results, lambda r: f"{r.shape}, {r.variant[1].replace('axis', 'axis ')}",
        lambda r: f"{r.algorithm}, Layout{r.variant[0].capitalize()}")
    legend_below(figure, axes)
    return figure


def ratio_against_columns(plt, results):
    """Ratio to the copy."""
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    draw_ratios(axes, results)
    finish_ratios(figure, axes, results)
    return figure


def cliffs_against_columns(plt, results):
    """The same. Widths that are much slower than the previous one are marked."""
    steepest = 0.85  # of the rate of the previous width
    points = sorted((r for r in results if r.algorithm == "library"), key=lambda r: r.N)
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    draw_ratios(axes, results)
    ratios = [ratio(r) for r in points]
    cliffs = [i for i in range(1, len(points)) if ratios[i] < steepest * ratios[i - 1]]
    axes.plot([points[i].N for i in cliffs], [ratios[i] for i in cliffs], "o", color="tab:red",
              markersize=7, fillstyle="none",
              label=f"more than 15 % slower per byte than the width before ({len(cliffs)})")
    finish_ratios(figure, axes, results)
    return figure


def draw_ratios(axes, results):
    """One line per algorithm."""
    for algorithm, points in group(results, lambda r: r.algorithm).items():
        points = sorted(points, key=lambda r: r.N)
        axes.plot([r.N for r in points], [ratio(r) for r in points], marker=".", markersize=5,
                  linewidth=1.2, label=algorithm, color=STYLES.get(algorithm, (None, "."))[0],
                  zorder=3 if algorithm == "library" else 2)
    axes.set_xscale("log")
    axes.set_xlabel(COLUMNS)


def ratio(result):
    return result.gb_per_s / result.copy_gb_per_s


def ratio_against_rows(plt, results):
    points = sorted(results, key=lambda r: r.M)
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    axes.plot([r.M for r in points], [ratio(r) for r in points],
              color="tab:blue", marker=".", linewidth=1.2, label="library")
    axes.axhline(2 / 3, color="tab:gray", linestyle=":", label="limit if x is read twice")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("M (rows side by side)")
    finish_ratios(figure, axes, results)
    return figure


def ratio_against_short_columns(plt, results):
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    for odd, points in group(results, lambda r: r.M % 2).items():
        points = sorted(points, key=lambda r: r.N)
        axes.plot([r.N for r in points], [ratio(r) for r in points], marker=".", linewidth=1.2,
                  label="odd number of rows" if odd else "multiple of 8 rows")
    axes.axhline(2 / 3, color="tab:gray", linestyle=":", label="limit if x is read twice")
    axes.set_xscale("log", base=2)
    axes.set_xlabel(COLUMNS)
    finish_ratios(figure, axes, results)
    return figure


def finish_ratios(figure, axes, results):
    axes.axhline(1, label=COPY, **COPY_STYLE)
    axes.set_ylabel(RATIO)
    lowest = min(ratio(r) for r in results)
    if spread_low_values(axes.yaxis, lowest, 1 / 8):
        axes.set_ylim(lowest / 1.5, 1.5)
    else:
        axes.set_ylim(0, 1.1)
    axes.grid(True, alpha=0.3)
    legend_below(figure, axes)


# table: (title, drawing function)
PICTURES = {
    "large": ("chosen widths, about the same number of entries", ratio_against_columns),
    "few_rows": ("few rows, and small matrices", time_for_each_row_count),
    "fused_vs_naive": ("rows read once (library, fused) and one kernel per step (naive), 4096 rows",
                       bandwidth_against_columns),
    "wide": ("the library and four baselines, 1024 rows", time_against_columns),
    "odd": ("the library and every baseline, 1823 x 781", bars_for_each_algorithm),
    "shapes": ("the library, one thread per row and one team per row", rate_for_each_row_count),
    "axis_layout": ("any axis of any layout", bars_for_each_axis),
    "cliffs": ("widths from 2 on, log-spaced, the same number of entries", cliffs_against_columns),
    "side_by_side": ("strided rows side by side, the same number of entries",
                     ratio_against_rows),
    "short_columns": ("many strided rows of few columns, the same number of entries",
                      ratio_against_short_columns),
    "own": ("shapes given", bars_for_each_shape),
}


# ---- Main


def draw_all(plt, machine, results, out, prefix):
    """Yields the path of each picture drawn."""
    for (table, dtype), points in group(results, lambda r: (r.table, r.dtype)).items():
        if table not in PICTURES:
            continue
        title, draw = PICTURES[table]
        figure = draw(plt, points)
        figure.suptitle(f"softmax, {dtype}: {title}\n{machine}", fontsize=11)
        path = out / f"{prefix}{table}_{dtype}.png"
        figure.savefig(path, dpi=130)
        plt.close(figure)
        yield path


def import_pyplot():
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot.py: matplotlib is missing: install it (python3 -m pip install matplotlib, "
                 "Debian: python3-matplotlib) and run this again")
    matplotlib.use("Agg")
    import matplotlib.pyplot
    return matplotlib.pyplot


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="+", type=pathlib.Path,
                        help="JSON of kokkossoftmax_sweep (--benchmark_out)")
    parser.add_argument("--out", metavar="DIR", default=pathlib.Path("."), type=pathlib.Path,
                        help="where the pictures go (default: here)")
    arguments = parser.parse_args()

    plt = import_pyplot()
    arguments.out.mkdir(parents=True, exist_ok=True)
    files = [(path, read_file(path)) for path in arguments.files]
    pictures = 0
    for prefix, machine, results in merge_by_machine(files):
        for path in draw_all(plt, machine, results, arguments.out, prefix):
            print(path)
            pictures += 1
    if pictures == 0:
        sys.exit("plot.py: there is no measurement in these files")


if __name__ == "__main__":
    main()
