#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiler for HIP, made of Debian's packages libamdhip64-dev, rocm-device-libs, clang-19, clang-tools-19 and lld-19.
# The preset `hip` uses it to compile for gfx90a on machines without a GPU. Debian 12 has a hipcc of its own, which calls
# clang 15, and clang 15 can't compile <regex> for a device.
exec clang++-19 --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode --hip-path=/usr \
  -mcode-object-version=4 "$@"
