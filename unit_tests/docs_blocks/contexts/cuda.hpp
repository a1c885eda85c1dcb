// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For blocks with CUDA.
#include "default.hpp"
