/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program in C that does not use Kokkos itself. */
#include <kokkossoftmax.h>
#include <stdio.h>
#include <string.h>

#include <KokkosSoftmax_Version.hpp>

int main(void) {
  const double x[4] = {0, 0, 0, 0};
  double y[4] = {0, 0, 0, 0};
  const int64_t extents[2] = {1, 4};
  const kokkossoftmax_tensor tx = {(void*)x, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor ty = {y, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  int failed = strcmp(kokkossoftmax_version(), KOKKOSSOFTMAX_VERSION_STRING) != 0;
  if (kokkossoftmax_initialize() ||
      kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_HOST, NULL, &tx, &ty, NULL) ||
      kokkossoftmax_fence(KOKKOSSOFTMAX_HOST, NULL) || kokkossoftmax_finalize()) {
    printf("FAILED: %s\n", kokkossoftmax_last_error());
    return 1;
  }
  /* the results of some instruction sets are rounded differently */
  for (int j = 0; j < 4; ++j) failed = failed || !(y[j] > 0.25 - 1e-15 && y[j] < 0.25 + 1e-15);
  printf("kokkossoftmax %s: %s\n", kokkossoftmax_version(), failed ? "FAILED" : "right");
  return failed;
}
