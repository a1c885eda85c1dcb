#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiler for HIP, made of Debian's packages libamdhip64-dev, rocm-device-libs, clang-19, clang-tools-19 and lld-19. (hipcc of
# Debian 12 is made for clang 15, which can't compile <regex> for a device.) For the preset `hip`, which compiles for
# gfx90a on machines without a GPU.
exec clang++-19 --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode --hip-path=/usr \
  -mcode-object-version=4 "$@"
