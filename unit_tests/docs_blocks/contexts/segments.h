/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Three ragged rows with 2, 0 and 3 entries. */
static float x_data[5], y_data[5], dy_data[5], dx_data[5];
static int32_t offset_data[4] = {0, 2, 2, 5};
static const int64_t entries = 5, rows_and_one = 4;
const kokkossoftmax_tensor x = {x_data, KOKKOSSOFTMAX_FLOAT, 1, &entries, NULL};
const kokkossoftmax_tensor y = {y_data, KOKKOSSOFTMAX_FLOAT, 1, &entries, NULL};
const kokkossoftmax_tensor dy = {dy_data, KOKKOSSOFTMAX_FLOAT, 1, &entries, NULL};
const kokkossoftmax_tensor dx = {dx_data, KOKKOSSOFTMAX_FLOAT, 1, &entries, NULL};
const kokkossoftmax_tensor offsets = {offset_data, KOKKOSSOFTMAX_INT32, 1, &rows_and_one, NULL};
