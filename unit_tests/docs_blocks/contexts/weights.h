/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The weights of a log-sum-exp, its results and their signs. */
#include "default.h"
static float weight_data[3 * 5], lse_data[3], sign_data[3];
const kokkossoftmax_tensor weights = {weight_data, KOKKOSSOFTMAX_FLOAT, 2, queries_and_keys, NULL};
const kokkossoftmax_tensor lse = {lse_data, KOKKOSSOFTMAX_FLOAT, 1, queries_and_keys, NULL};
const kokkossoftmax_tensor sign = {sign_data, KOKKOSSOFTMAX_FLOAT, 1, queries_and_keys, NULL};
