/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Labels, and numbers of the rows of a matrix. */
#include "backward.h"
static int32_t label_data[3];
static float loss_data[3], lse_data[3], dloss_data[3];
const kokkossoftmax_tensor labels = {label_data, KOKKOSSOFTMAX_INT32, 1, queries_and_keys, NULL};
const kokkossoftmax_tensor loss = {loss_data, KOKKOSSOFTMAX_FLOAT, 1, queries_and_keys, NULL};
const kokkossoftmax_tensor lse = {lse_data, KOKKOSSOFTMAX_FLOAT, 1, queries_and_keys, NULL};
const kokkossoftmax_tensor dloss = {dloss_data, KOKKOSSOFTMAX_FLOAT, 1, queries_and_keys, NULL};
