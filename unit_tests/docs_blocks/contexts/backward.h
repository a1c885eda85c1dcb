/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The derivatives of a loss by the output and by the input of a function. */
#include "default.h"
static float dy_data[3 * 5], dx_data[3 * 5];
const kokkossoftmax_tensor dy = {dy_data, KOKKOSSOFTMAX_FLOAT, 2, queries_and_keys, NULL};
const kokkossoftmax_tensor dx = {dx_data, KOKKOSSOFTMAX_FLOAT, 2, queries_and_keys, NULL};
