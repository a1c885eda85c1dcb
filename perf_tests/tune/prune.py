#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says which compiled schedules can be left out, and what each of the others brings.

Reads measurements of kokkossoftmax_tune --next=COUNT (FILE.csv): for each point, the schedule that the library takes
and the ones that would be taken without it. Schedules are left out one after another, the one that costs least first,
as long as no point becomes slower by more than --loss percent. Schedules of several operations are one schedule here,
because their lists of shapes are the same.

A schedule that no point takes costs nothing, so the points must have what it is for: odd widths, few rows, strided rows.
"""
import argparse
import csv
import math
import sys
from collections import defaultdict


def read(paths):
    """{(type, operation, axis, rows, columns): [(schedule, seconds), ...]}, in the order of the file."""
    points = defaultdict(list)
    for path in paths:
        with open(path, newline="") as file:
            lines = (line for line in file if not line.startswith("#"))
            for row in csv.DictReader(lines):
                if row["result"] == "right":
                    point = tuple(row[name] for name in ("type", "operation", "axis", "rows", "columns"))
                    points[point].append((row["schedule"], float(row["seconds"])))
    return points


def loss(candidates, kept):
    """How much slower a point becomes if only the schedules in `kept` remain: 0.02 is 2 percent."""
    for schedule, seconds in candidates:
        if schedule in kept:
            return seconds / candidates[0][1] - 1
    return math.inf


def worst_without(schedule, kept, users):
    """The largest loss, and its point, if a schedule is left out of `kept`."""
    rest = kept - {schedule}
    return max(((loss(candidates, rest), point) for point, candidates in users[schedule]), default=(0, None))


def prune(points, most):
    """The schedules that are left out, in this order, and those that are kept; each with its loss and its point."""
    users = defaultdict(list)
    for point, candidates in points.items():
        for schedule, _ in candidates:
            users[schedule].append((point, candidates))
    kept, left_out = set(users), []
    while kept:
        (worst, point), schedule = min((worst_without(s, kept, users), s) for s in kept)
        if worst > most:
            break
        kept.remove(schedule)
        left_out.append((schedule, worst, point))
    return left_out, [(s, *worst_without(s, kept, users)) for s in sorted(kept)]


def line(schedule, worst, point):
    percent = "no other measured" if math.isinf(worst) else f"{100 * worst:.1f} %"
    return f"  {percent:>18}  {schedule}  {'x'.join(point[3:]) + ' ' + point[1] if point else ''}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="+", help="FILE.csv of kokkossoftmax_tune --next=COUNT")
    parser.add_argument("--loss", type=float, default=2, help="percent that a point may become slower by; default 2")
    arguments = parser.parse_args()
    points = read(arguments.csv)
    for types in sorted({point[0] for point in points}):
        of_type = {p: c for p, c in points.items() if p[0] == types}
        left_out, kept = prune(of_type, arguments.loss / 100)
        print(f"{types}: {len(of_type)} points, {len(left_out)} schedules can be left out, {len(kept)} are kept")
        print("left out, with the largest loss then:")
        print("\n".join(line(*entry) for entry in left_out))
        print("kept, with the largest loss without it:")
        print("\n".join(line(*entry) for entry in kept))
    return 0 if points else "no measurements in " + ", ".join(arguments.csv)


if __name__ == "__main__":
    sys.exit(main())
