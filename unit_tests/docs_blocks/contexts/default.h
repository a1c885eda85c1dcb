/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What blocks of C use without a declaration: a matrix, and a mask of its columns. */
static float x_data[3 * 5], y_data[3 * 5];
static unsigned char is_key[5];
static const int64_t queries_and_keys[2] = {3, 5};
const int64_t keys = queries_and_keys[1];
const kokkossoftmax_tensor x = {x_data, KOKKOSSOFTMAX_FLOAT, 2, queries_and_keys, NULL};
const kokkossoftmax_tensor y = {y_data, KOKKOSSOFTMAX_FLOAT, 2, queries_and_keys, NULL};
