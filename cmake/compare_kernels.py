#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says which CUDA kernels of two builds differ in their machine code, whatever they are called.

    cmake/compare_kernels.py BEFORE AFTER

BEFORE and AFTER: a shared library, an object file, or a directory that is searched for object files.
The script needs cuobjdump and c++filt in PATH, but no GPU. Two kernels have the same code if all of
their instructions have the same text and encoding. Kernels of the same code are paired, whatever
their names are. The remaining kernels are paired by name. The script exits with 1 if a kernel has
no partner of the same code.

A rename can change the order in which a compiler treats functions, and so the code. The script
therefore lists the registers, the stack and the number of instructions of each kernel that differs.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import pathlib
import re
import subprocess
import sys

# /*0a10*/  IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;  /* 0x00000a00ff017624 */
INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s")
RESOURCES = re.compile(r"^\s*Function\s+(\S+?):?$")
USAGE = re.compile(r"REG:(\d+)\s+STACK:(\d+)\s+SHARED:(\d+)\s+LOCAL:(\d+)")

Kernel = collections.namedtuple("Kernel", "name code instructions registers stack")


def files_of(path):
    """The files that may hold device code."""
    path = pathlib.Path(path)
    if not path.is_dir():
        return [path]
    return sorted(f for f in path.rglob("*.o") if f.is_file())


def lines_of(option, path):
    """What cuobjdump prints; nothing for a file without device code."""
    process = subprocess.Popen(["cuobjdump", option, str(path)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    yield from process.stdout
    process.wait()


def codes_in(path):
    """Name -> (digest of the code, number of instructions)."""
    codes, name, digest, count = {}, None, None, 0
    for line in lines_of("-sass", path):
        if "Function : " in line:
            if name:
                codes[name] = (digest.hexdigest(), count)
            name, digest, count = line.split("Function : ")[1].strip(), hashlib.sha256(), 0
        elif name and "/*" in line:
            digest.update(line.strip().encode())
            count += bool(INSTRUCTION.match(line))
    if name:
        codes[name] = (digest.hexdigest(), count)
    return codes


def resources_in(path):
    """Name -> (registers, stack in bytes)."""
    resources, name = {}, None
    for line in lines_of("-res-usage", path):
        if match := RESOURCES.match(line):
            name = match[1]
        elif name and (match := USAGE.search(line)):
            resources[name] = (int(match[1]), int(match[2]))
            name = None
    return resources


def kernels_in_file(path):
    codes = codes_in(path)
    resources = resources_in(path) if codes else {}
    return [Kernel(name, code, count, *resources.get(name, (None, None)))
            for name, (code, count) in codes.items()]


def kernels_in(path):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = [k for kernels in pool.map(kernels_in_file, files_of(path)) for k in kernels]
    if not found:
        sys.exit(f"{path} has no device code")
    return found


def without_same_code(before, after):
    """What is left of both when each kernel is struck out with one of the same code."""
    left_after = collections.defaultdict(list)
    for kernel in after:
        left_after[kernel.code].append(kernel)
    left_before = []
    for kernel in before:
        partners = left_after[kernel.code]
        if partners:
            same_name = [k for k in partners if k.name == kernel.name]
            partners.remove(same_name[0] if same_name else partners[0])
        else:
            left_before.append(kernel)
    return left_before, [k for partners in left_after.values() for k in partners]


def demangled(names):
    result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                            check=True)
    return dict(zip(names, result.stdout.splitlines()))


def short(name):
    """The functor of a Kokkos kernel without the frame around it."""
    name = re.sub(r"KokkosSoftmax::(Impl::)?|Kokkos::(Impl::|Experimental::)?", "", name)
    found = re.search(r"ParallelFor<(.*), (Range|Team|MDRange)Policy", name)
    return found[1] if found else name


def describe(kernel):
    return f"{kernel.registers} registers, {kernel.stack} bytes of stack, {kernel.instructions} instructions"


def report(before, after, verbose):
    left_before, left_after = without_same_code(before, after)
    print(f"{len(before)} kernels before, {len(after)} after, "
          f"{len(before) - len(left_before)} of them with the same code")
    after_by_name = {k.name: k for k in left_after}
    pairs = [(k, after_by_name[k.name]) for k in left_before if k.name in after_by_name]
    paired = {k.name for k, _ in pairs}
    same = [p for p in pairs if (p[0].registers, p[0].stack) == (p[1].registers, p[1].stack)]
    print(f"of the same name with other code: {len(pairs)}, {len(same)} of them with the same "
          "registers and stack")
    only_before = [k for k in left_before if k.name not in paired]
    only_after = [k for k in left_after if k.name not in paired]
    print(f"only before: {len(only_before)}, only after: {len(only_after)}")
    if verbose:
        names = demangled([k.name for k in left_before + only_after])
        for old, new in pairs:
            print(f"other code: {short(names[old.name])}\n  {describe(old)}\n  {describe(new)}")
        for word, kernels in (("only before", only_before), ("only after", only_after)):
            for kernel in sorted(kernels, key=lambda k: names[k.name]):
                print(f"{word}: {short(names[kernel.name])}\n  {describe(kernel)}")
    return not left_before and not left_after


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--summary", action="store_true", help="no line for each kernel")
    arguments = parser.parse_args()
    same = report(kernels_in(arguments.before), kernels_in(arguments.after),
                  not arguments.summary)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
