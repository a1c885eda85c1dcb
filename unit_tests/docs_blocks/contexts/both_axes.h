/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The log-sum-exps of the rows and of the columns of a matrix. */
#include "default.h"
static float row_lse_data[3], column_lse_data[5];
const kokkossoftmax_tensor row_lse = {row_lse_data, KOKKOSSOFTMAX_FLOAT, 1, queries_and_keys, NULL};
const kokkossoftmax_tensor column_lse = {column_lse_data, KOKKOSSOFTMAX_FLOAT, 1,
                                         queries_and_keys + 1, NULL};
