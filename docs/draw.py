#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the pictures of docs/online.md; needs NumPy and matplotlib.

    docs/draw.py [--out DIR]
"""

import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COLORS = {"read": "#4878a8", "write": "#d07040"}


def online_sum(out):
    """The running (max, sum) of a row in chunks, and what rescaling does to the sum."""
    rng = np.random.default_rng(3)
    chunk, count = 16, 12
    row = rng.normal(0, 2, chunk * count) + np.linspace(0, 6, chunk * count)
    maxima, sums, before = [-np.inf], [0.0], []
    for c in range(count):
        part = row[c * chunk : (c + 1) * chunk]
        new = max(maxima[-1], part.max())
        rescaled = sums[-1] * np.exp(maxima[-1] - new) if c else 0.0
        before.append(rescaled)
        maxima.append(new)
        sums.append(rescaled + np.exp(part - new).sum())
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(8, 5))
    top.plot(row, ".", ms=3, color="0.5", label="entries")
    edges = np.arange(count + 1) * chunk
    top.step(edges[1:], maxima[1:], where="post", color=COLORS["read"], label="running max, after each chunk")
    top.set_ylabel("v")
    top.legend(loc="lower right", frameon=False)
    centers = edges[:-1] + chunk / 2
    bottom.bar(centers, before, chunk * 0.8, color=COLORS["read"], label="rescaled to the new max")
    bottom.bar(centers, np.array(sums[1:]) - before, chunk * 0.8, bottom=before,
               color=COLORS["write"], label="of this chunk")
    bottom.set_ylabel("running sum")
    bottom.set_xlabel("column")
    bottom.legend(loc="upper left", frameon=False)
    save(figure, out / "online_sum.png")
    assert np.isclose(maxima[-1] + np.log(sums[-1]), np.log(np.exp(row).sum()))


def traffic(out):
    """Bytes that are moved for each byte of x."""
    ways = [("one kernel per step", 5, 3), ("three passes", 3, 1), ("two passes (online)", 2, 1),
            ("online, second pass in the cache", 1, 1), ("fused, split", 1, 1)]
    figure, axes = plt.subplots(figsize=(8, 2.6))
    for y, (name, reads, writes) in enumerate(reversed(ways)):
        axes.barh(y, reads, 0.6, color=COLORS["read"], label="read" if y == 0 else None)
        axes.barh(y, writes, 0.6, left=reads, color=COLORS["write"],
                  label="written" if y == 0 else None)
    axes.set_yticks(range(len(ways)), [name for name, *_ in reversed(ways)])
    axes.set_xlabel("times the size of x, through memory")
    axes.legend(frameon=False)
    save(figure, out / "traffic.png")


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        default=pathlib.Path(__file__).parent / "plots")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    online_sum(out)
    traffic(out)


if __name__ == "__main__":
    main()
