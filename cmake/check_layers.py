#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each layer includes only itself and layers below it; no include goes up.

The layers are the folders of src/ and, for what calls inside kernels need, the folders of the same
names in include/impl/device/, which include nothing of src/.

    cmake/check_layers.py [ROOT]
"""

import pathlib
import re
import sys

# From the ground up. docs/algorithms.md says what each layer is for.
LAYERS = ["backend", "numerics", "host", "team", "row", "op", "schedules", "launch", "dispatch",
          "c_interface"]
INCLUDE = re.compile(r"^\s*#include <(impl/device/)?([a-z_]+)/[^>]*>", re.MULTILINE)


def layer(path):
    return LAYERS.index(path) if path in LAYERS else None


def errors(file, folder, is_installed):
    if layer(folder) is None:
        return [f"{file}: {folder} is no layer (layers are {', '.join(LAYERS)})"]
    found = []
    for device, included in INCLUDE.findall(file.read_text()):
        if layer(included) is None:
            continue
        if layer(included) > layer(folder):
            found.append(f"{file}: {folder} includes {included}, which is above it")
        if is_installed and not device:
            found.append(f"{file}: an installed header includes {included}/ of src/")
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files, wrong = [], []
    for folders, is_installed in (root / "src", False), (root / "include/impl/device", True):
        for file in sorted(f for f in folders.rglob("*.[hc]pp") if f.is_file()):
            files.append(file)
            wrong += errors(file, file.relative_to(folders).parts[0], is_installed)
    print("\n".join(wrong) or f"{len(files)} files, {len(LAYERS)} layers, no include goes up")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
