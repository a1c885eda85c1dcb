#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each folder of src/ includes only itself and folders below it; no include goes up.

    cmake/check_layers.py [ROOT]
"""

import pathlib
import re
import sys

# From the ground up. docs/algorithms.md says what each layer is for.
LAYERS = ["backend", "numerics", "host", "team", "row", "op", "schedules", "launch", "dispatch",
          "c_interface"]
INCLUDE = re.compile(r"^\s*#include <([a-z_]+)/[^>]*>", re.MULTILINE)


def layer(path):
    return LAYERS.index(path) if path in LAYERS else None


def main():
    src = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "src"
    files = sorted(f for f in src.rglob("*.[hc]pp") if f.is_file())
    wrong = []
    for file in files:
        folder = file.relative_to(src).parts[0]
        if layer(folder) is None:
            wrong.append(f"{file}: {folder} is no layer (layers are {', '.join(LAYERS)})")
            continue
        for included in INCLUDE.findall(file.read_text()):
            if layer(included) is not None and layer(included) > layer(folder):
                wrong.append(f"{file}: {folder} includes {included}, which is above it")
    print("\n".join(wrong) or f"{len(files)} files, {len(LAYERS)} layers, no include goes up")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
