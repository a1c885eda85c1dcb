#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a command without randomized addresses if the system permits that. The ThreadSanitizer runtimes of GCC before
# 14 and of LLVM before 18 end with "unexpected memory mapping" if addresses have more than 28 random bits
# (vm.mmap_rnd_bits).
if setarch "$(uname -m)" -R true 2>/dev/null; then
  exec setarch "$(uname -m)" -R "$@"
fi
exec "$@"
