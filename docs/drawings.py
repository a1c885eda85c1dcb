#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the pictures of docs/algorithms.md as SVG files; needs nothing but Python's standard library.

    docs/drawings.py [--out DIR]

Each picture has a background of its own, so that it is readable on light and on dark pages.
"""

import argparse
import pathlib
from xml.sax.saxutils import escape

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# Upper bounds of the mean width of a character, in font sizes, for the check that text fits.
MEAN_WIDTH = {FONT: 0.56, MONO: 0.61}

INK, SOFT = "#1f2933", "#52606d"
PAGE, EDGE = "#fbfbf8", "#9aa5b1"
HOST, DEVICE, BASE = "#d9e6f2", "#f6e0cc", "#e3e7ea"  # what runs where


class Drawing:
    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts = []

    def box(self, x, y, width, height, fill, radius=6):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" '
                          f'fill="{fill}" stroke="{EDGE}"/>')

    def text(self, x, y, text, size=13, width=None, color=INK, anchor="start", weight="normal",
             font=FONT):
        """A line of text whose baseline is at y; `width`: the room that it has."""
        estimate = len(text) * size * MEAN_WIDTH[font]
        room = width if width is not None else self.width - x
        if estimate > room:
            raise ValueError(f"{text!r} takes about {estimate:.0f} of {room} (the text is too long): "
                             "shorten it, or make its box wider")
        self.parts.append(f'<text x="{x}" y="{y}" font-family="{font}" font-size="{size}" '
                          f'font-weight="{weight}" text-anchor="{anchor}" fill="{color}">'
                          f'{escape(text)}</text>')

    def line(self, points, head=True, dashed=False):
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        style = ' stroke-dasharray="5 4"' if dashed else ""
        end = ' marker-end="url(#head)"' if head else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{SOFT}" stroke-width="1.5"{style}{end}/>')

    def svg(self):
        return "\n".join([
            "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
            "<!-- Made by docs/drawings.py. -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img">',
            f"<title>{escape(self.title)}</title>",
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{SOFT}"/></marker></defs>',
            f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="8" '
            f'fill="{PAGE}" stroke="{EDGE}"/>',
            *self.parts,
            "</svg>",
            "",
        ])


def legend(d, y, entries):
    x = 60
    for fill, text in entries:
        d.box(x, y, 18, 14, fill, 3)
        d.text(x + 26, y + 12, text, 12, color=SOFT)
        x += 26 + 24 + round(len(text) * 7)


def layers():
    """The folders of src/, one above the other. Their order is that of cmake/check_layers.py."""
    folders = [
        ("dispatch", "chooses a compiled kernel: tuning table, then rule", HOST),
        ("launch", "launches a kernel: policy, scratch size, workspace", HOST),
        ("schedules", "the kernels: which thread holds which entries, and when", DEVICE),
        ("op", "softmax, log_softmax, logsumexp: from the state to the output", DEVICE),
        ("row", "entries between memory and registers: chunks, tiles, access modes", DEVICE),
        ("team", "states merged over the lanes of a vector and the threads of a team", DEVICE),
        ("host", "kernels of hosts: vectors of several instruction sets, nothing of Kokkos", HOST),
        ("numerics", "exponentials and compensated sums of one thread", DEVICE),
        ("backend", "what CUDA, HIP and hosts do differently; the description of a kernel", BASE),
    ]
    left, width, step, height = 60, 680, 54, 40
    d = Drawing(800, 624, "The layers of src/: each includes only itself and the layers below it")
    half = (width - 20) // 2
    d.box(left, 20, half, 56, "#ffffff")
    d.text(left + 14, 43, "include/", 14, weight="bold", font=MONO)
    d.text(left + 14, 64, "C++ interface: Views become rows", 13, half - 20, SOFT)
    d.box(left + half + 20, 20, half, 56, HOST)
    d.text(left + half + 34, 43, "c_interface", 14, weight="bold", font=MONO)
    d.text(left + half + 34, 64, "C interface: tensors become rows", 13, half - 20, SOFT)
    top = 104
    for x in (left + half // 2, left + half + 20 + half // 2):
        d.line([(x, 76), (x, top - 2)])
    d.text(left + width // 2, 95, "rows x columns", 12, 120, SOFT, "middle")
    for k, (name, what, fill) in enumerate(folders):
        y = top + k * step
        d.box(left, y, width, height, fill)
        d.text(left + 14, y + 25, name, 14, 110, weight="bold", font=MONO)
        d.text(left + 130, y + 25, what, 13, width - 140)
        if k + 1 < len(folders):
            d.line([(left + width // 2, y + height), (left + width // 2, y + step - 2)])
    bottom = top + (len(folders) - 1) * step + height
    d.line([(32, top), (32, bottom)])
    d.text(0, 0, "includes go down only", 12, 300, SOFT, "middle")
    d.parts[-1] = d.parts[-1].replace('x="0" y="0"',
                                      f'transform="translate(22 {(top + bottom) // 2}) rotate(-90)"')
    legend(d, bottom + 20, [(HOST, "host code"), (DEVICE, "code of the kernels"), (BASE, "both")])
    return d


def row():
    """What a kernel does with a row, step by step; the register kernels as the example."""
    lane = "each lane"
    steps = [
        ("load", "chunks of up to 16 bytes from memory to registers", "row/TileSlots.hpp", lane),
        ("value", "v = scale * x, in float or double; -inf in slots without an entry",
         "row/Source.hpp", lane),
        ("max", "largest v; from it the reference \u03c1, at or just below the maximum",
         "row/Tile.hpp, numerics/KokkosSoftmax_Exp.hpp", lane),
        ("exp, sum", "sum of exp(v - \u03c1): the lane's state is (\u03c1, sum)",
         "row/Tile.hpp, numerics/", lane),
        ("merge lanes", "the largest \u03c1 first, then the rescaled sums, by shuffles",
         "team/TeamReduce.hpp", "lanes of a vector"),
        ("merge team", "one state per thread through scratch memory, with one barrier",
         "team/TeamReduce.hpp", "threads of a team"),
        ("epilogue", "the result from the row's state and from what the tile holds",
         "op/KokkosSoftmax_Softmax.hpp, ...", lane),
        ("store", "chunks of up to 16 bytes from registers to memory", "row/Tile.hpp", lane),
    ]
    left, width, step, height = 150, 620, 70, 50
    d = Drawing(820, 620, "A row's way through a kernel, from load to store")
    top = 24
    middle = [top + k * step + height // 2 for k in range(len(steps))]
    groups = []
    for k, (name, what, where, who) in enumerate(steps):
        y = top + k * step
        memory = name in ("load", "store")
        merge = name.startswith("merge")
        d.box(left, y, width, height, HOST if memory else DEVICE if merge else "#ffffff")
        d.text(left + 14, y + 30, name, 14, 110, weight="bold")
        d.text(left + 130, y + 21, what, 13, width - 140)
        d.text(left + 130, y + 40, "src/" + where, 11, width - 140, SOFT, font=MONO)
        if k + 1 < len(steps):
            d.line([(left + 60, y + height), (left + 60, y + step - 2)])
        if groups and groups[-1][0] == who:
            groups[-1][2] = k
        else:
            groups.append([who, k, k])
    for who, first, last in groups:
        y0, y1 = top + first * step + 4, top + last * step + height - 4
        d.line([(left - 10, y0), (left - 18, y0), (left - 18, y1), (left - 10, y1)], head=False)
        d.text(left - 26, (y0 + y1) // 2 + 4, who, 12, 124, SOFT, "end")
    # What stays in registers while the states are merged.
    right = left + width
    d.line([(right, middle[3]), (right + 14, middle[3]), (right + 14, middle[6]), (right + 2, middle[6])],
           dashed=True)
    d.text(0, 0, "tile stays in registers", 12, 300, SOFT, "middle")
    d.parts[-1] = d.parts[-1].replace(
        'x="0" y="0"', f'transform="translate({right + 30} {(middle[3] + middle[6]) // 2}) rotate(-90)"')
    legend(d, top + len(steps) * step,
           [(HOST, "memory"), ("#ffffff", "registers of one lane"), (DEVICE, "between lanes or threads")])
    return d


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=here / "drawings")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, drawing in (("layers", layers()), ("row", row())):
        (out / f"{name}.svg").write_text(drawing.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
