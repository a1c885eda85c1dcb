// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests kokkossoftmax.h from C99, in a process that does not use Kokkos itself: softmax, logsumexp
// (also along both axes), the cross entropy, ragged rows and backward passes on the host, and all
// functions before the initialization and after the finalization.

#include <kokkossoftmax.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  ++failures;
  printf("FAILED: %s (last error: %s)\n", what, kokkossoftmax_last_error());
}

#define ROWS 3
#define COLUMNS 40

static double x[ROWS][COLUMNS];
static double y[ROWS][COLUMNS];
static double lse[ROWS];
static double column_lse[COLUMNS];
static double dy[ROWS][COLUMNS];
static double dx[ROWS][COLUMNS];
static int32_t labels[ROWS];
static double loss[ROWS];
static double derivative[ROWS];
static const int64_t extents[2] = {ROWS, COLUMNS};

static int apply(int operation, const kokkossoftmax_options* options) {
  const kokkossoftmax_tensor tx = {x, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor ty = {y, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor tlse = {lse, KOKKOSSOFTMAX_DOUBLE, 1, extents, NULL};
  const kokkossoftmax_tensor* output = operation == KOKKOSSOFTMAX_LOGSUMEXP ? &tlse : &ty;
  int status = kokkossoftmax_apply(operation, KOKKOSSOFTMAX_HOST, NULL, &tx, output, options);
  if (status == KOKKOSSOFTMAX_SUCCESS) status = kokkossoftmax_fence(KOKKOSSOFTMAX_HOST, NULL);
  return status;
}

static int apply_both_axes(const kokkossoftmax_options* options) {
  const kokkossoftmax_tensor tx = {x, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor tlse = {lse, KOKKOSSOFTMAX_DOUBLE, 1, extents, NULL};
  const kokkossoftmax_tensor tcolumn_lse = {column_lse, KOKKOSSOFTMAX_DOUBLE, 1, extents + 1, NULL};
  int status = kokkossoftmax_logsumexp_both_axes(KOKKOSSOFTMAX_HOST, NULL, &tx, &tlse, &tcolumn_lse,
                                                 options);
  if (status == KOKKOSSOFTMAX_SUCCESS) status = kokkossoftmax_fence(KOKKOSSOFTMAX_HOST, NULL);
  return status;
}

/// From the y of the last call of softmax.
static int apply_backward(const kokkossoftmax_options* options) {
  const kokkossoftmax_tensor ty = {y, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor tdy = {dy, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor tdx = {dx, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  int status = kokkossoftmax_backward(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_HOST, NULL, &ty, &tdy,
                                      &tdx, options);
  if (status == KOKKOSSOFTMAX_SUCCESS) status = kokkossoftmax_fence(KOKKOSSOFTMAX_HOST, NULL);
  return status;
}

/// The loss and lse of x, or else dx from lse.
static int apply_cross_entropy(int is_backward,
                               const kokkossoftmax_cross_entropy_options* options) {
  const kokkossoftmax_tensor tx = {x, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor tlabels = {labels, KOKKOSSOFTMAX_INT32, 1, extents, NULL};
  const kokkossoftmax_tensor tloss = {loss, KOKKOSSOFTMAX_DOUBLE, 1, extents, NULL};
  const kokkossoftmax_tensor tlse = {lse, KOKKOSSOFTMAX_DOUBLE, 1, extents, NULL};
  const kokkossoftmax_tensor tdloss = {derivative, KOKKOSSOFTMAX_DOUBLE, 1, extents, NULL};
  const kokkossoftmax_tensor tdx = {dx, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const int space = KOKKOSSOFTMAX_HOST;
  int status =
      is_backward ? kokkossoftmax_cross_entropy_backward(space, NULL, &tx, &tlabels, &tlse, &tdloss,
                                                         &tdx, options)
                  : kokkossoftmax_cross_entropy(space, NULL, &tx, &tlabels, &tloss, &tlse, options);
  if (status == KOKKOSSOFTMAX_SUCCESS) status = kokkossoftmax_fence(space, NULL);
  return status;
}

/// From the lse of the last call of logsumexp.
static int apply_logsumexp_backward(const kokkossoftmax_options* options) {
  const kokkossoftmax_tensor tx = {x, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  const kokkossoftmax_tensor tlse = {lse, KOKKOSSOFTMAX_DOUBLE, 1, extents, NULL};
  const kokkossoftmax_tensor tdlse = {derivative, KOKKOSSOFTMAX_DOUBLE, 1, extents, NULL};
  const kokkossoftmax_tensor tdx = {dx, KOKKOSSOFTMAX_DOUBLE, 2, extents, NULL};
  int status = kokkossoftmax_logsumexp_backward(KOKKOSSOFTMAX_HOST, NULL, &tx, &tlse, &tdlse, &tdx,
                                                options, NULL);
  if (status == KOKKOSSOFTMAX_SUCCESS) status = kokkossoftmax_fence(KOKKOSSOFTMAX_HOST, NULL);
  return status;
}

/// The rows of a matrix as ragged rows: y, lse, and dx from them.
static int apply_segments(const kokkossoftmax_options* options) {
  static const int64_t entries = ROWS * COLUMNS, rows = ROWS, elements = ROWS + 1;
  static int32_t offsets[ROWS + 1];
  for (int i = 0; i <= ROWS; ++i) offsets[i] = i * COLUMNS;
  const kokkossoftmax_tensor toffsets = {offsets, KOKKOSSOFTMAX_INT32, 1, &elements, NULL};
  const kokkossoftmax_tensor tx = {x, KOKKOSSOFTMAX_DOUBLE, 1, &entries, NULL};
  const kokkossoftmax_tensor ty = {y, KOKKOSSOFTMAX_DOUBLE, 1, &entries, NULL};
  const kokkossoftmax_tensor tdy = {dy, KOKKOSSOFTMAX_DOUBLE, 1, &entries, NULL};
  const kokkossoftmax_tensor tdx = {dx, KOKKOSSOFTMAX_DOUBLE, 1, &entries, NULL};
  const kokkossoftmax_tensor tlse = {lse, KOKKOSSOFTMAX_DOUBLE, 1, &rows, NULL};
  const int space = KOKKOSSOFTMAX_HOST;
  int status = kokkossoftmax_segment_apply(KOKKOSSOFTMAX_LOGSUMEXP, space, NULL, &tx, &toffsets,
                                           &tlse, options);
  if (status == KOKKOSSOFTMAX_SUCCESS)
    status = kokkossoftmax_segment_apply(KOKKOSSOFTMAX_SOFTMAX, space, NULL, &tx, &toffsets, &ty,
                                         options);
  if (status == KOKKOSSOFTMAX_SUCCESS)
    status = kokkossoftmax_segment_backward(KOKKOSSOFTMAX_SOFTMAX, space, NULL, &ty, &tdy,
                                            &toffsets, &tdx, options);
  if (status == KOKKOSSOFTMAX_SUCCESS) status = kokkossoftmax_fence(space, NULL);
  return status;
}

/// From the lse of the last call of logsumexp.
static int apply_segment_logsumexp_backward(const kokkossoftmax_options* options) {
  static const int64_t entries = ROWS * COLUMNS, rows = ROWS, elements = ROWS + 1;
  static int64_t offsets[ROWS + 1];
  for (int i = 0; i <= ROWS; ++i) offsets[i] = i * COLUMNS;
  const kokkossoftmax_tensor toffsets = {offsets, KOKKOSSOFTMAX_INT64, 1, &elements, NULL};
  const kokkossoftmax_tensor tx = {x, KOKKOSSOFTMAX_DOUBLE, 1, &entries, NULL};
  const kokkossoftmax_tensor tlse = {lse, KOKKOSSOFTMAX_DOUBLE, 1, &rows, NULL};
  const kokkossoftmax_tensor tdlse = {derivative, KOKKOSSOFTMAX_DOUBLE, 1, &rows, NULL};
  const kokkossoftmax_tensor tdx = {dx, KOKKOSSOFTMAX_DOUBLE, 1, &entries, NULL};
  int status = kokkossoftmax_segment_logsumexp_backward(KOKKOSSOFTMAX_HOST, NULL, &tx, &tlse,
                                                        &tdlse, &toffsets, &tdx, options);
  if (status == KOKKOSSOFTMAX_SUCCESS) status = kokkossoftmax_fence(KOKKOSSOFTMAX_HOST, NULL);
  return status;
}

/// `sum` is that of the exponentials.
static void expect_right_lse(double got, long double sum, const char* what) {
  expect(fabsl(got - logl(sum)) <= 1e-14L * fmaxl(1, fabsl(logl(sum))), what);
}

/// dx, if `of_label` is subtracted from the softmax of each row's label.
static void expect_right_gradient(double scale, double of_label, const char* what) {
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) {
      const long double above = expl(scale * x[i][j] - lse[i]) - (j == labels[i] ? of_label : 0);
      expect(fabsl(dx[i][j] - scale * derivative[i] * above) <= 1e-14L, what);
    }
}

static void cross_entropy(void) {
  kokkossoftmax_cross_entropy_options options;
  expect(kokkossoftmax_cross_entropy_options_init(&options) == KOKKOSSOFTMAX_SUCCESS, "loss init");
  expect(options.size == sizeof(options) && options.axis == -1 && options.scale == 1 &&
             options.ignore_index == -100 && options.label_smoothing == 0,
         "defaults of the loss");
  options.scale = 0.5;
  for (int i = 0; i < ROWS; ++i) {
    labels[i] = 7 * i + 3;
    derivative[i] = i - 0.75;
    lse[i] = 0;
  }
  expect(apply_cross_entropy(0, &options) == KOKKOSSOFTMAX_SUCCESS, "cross_entropy's status");
  for (int i = 0; i < ROWS; ++i) {
    long double sum = 0;
    for (int j = 0; j < COLUMNS; ++j) sum += expl(options.scale * x[i][j]);
    expect_right_lse(lse[i], sum, "lse beside loss");
    expect(fabsl(loss[i] - (logl(sum) - options.scale * x[i][labels[i]])) <= 1e-13L, "loss");
  }
  expect(apply_cross_entropy(1, &options) == KOKKOSSOFTMAX_SUCCESS, "its backward's status");
  expect_right_gradient(options.scale, 1, "cross_entropy_backward");
}

static void expect_right_backward(double scale) {
  for (int i = 0; i < ROWS; ++i) {
    long double sum = 0;
    for (int j = 0; j < COLUMNS; ++j) sum += (long double)y[i][j] * dy[i][j];
    for (int j = 0; j < COLUMNS; ++j)
      expect(fabsl(dx[i][j] - scale * y[i][j] * (dy[i][j] - sum)) <= 1e-14L, "softmax_backward");
  }
}

static void both_axes(const kokkossoftmax_options* options) {
  for (int i = 0; i < ROWS; ++i) lse[i] = 0;
  expect(apply_both_axes(options) == KOKKOSSOFTMAX_SUCCESS, "logsumexp_both_axes' status");
  for (int i = 0; i < ROWS; ++i) {
    long double sum = 0;
    for (int j = 0; j < COLUMNS; ++j) sum += expl(options->scale * x[i][j]);
    expect_right_lse(lse[i], sum, "logsumexp_both_axes, rows");
  }
  for (int j = 0; j < COLUMNS; ++j) {
    long double sum = 0;
    for (int i = 0; i < ROWS; ++i) sum += expl(options->scale * x[i][j]);
    expect_right_lse(column_lse[j], sum, "logsumexp_both_axes, columns");
  }
}

static void expect_right_values(double scale) {
  for (int i = 0; i < ROWS; ++i) {
    long double sum = 0;
    for (int j = 0; j < COLUMNS; ++j) sum += expl(scale * x[i][j]);
    expect_right_lse(lse[i], sum, "logsumexp");
    for (int j = 0; j < COLUMNS; ++j) {
      const long double p = expl(scale * x[i][j]) / sum;
      expect(fabsl(y[i][j] - p) <= 1e-14L * p, "softmax");
    }
  }
}

/// All results are computed anew.
static void segments(const kokkossoftmax_options* options) {
  memset(y, 0, sizeof(y));
  memset(lse, 0, sizeof(lse));
  memset(dx, 0, sizeof(dx));
  expect(apply_segments(options) == KOKKOSSOFTMAX_SUCCESS, "status of ragged rows");
  expect_right_values(options->scale);
  expect_right_backward(options->scale);
  memset(dx, 0, sizeof(dx));
  expect(apply_segment_logsumexp_backward(options) == KOKKOSSOFTMAX_SUCCESS,
         "segment_logsumexp_backward's status");
  expect_right_gradient(options->scale, 0, "segment_logsumexp_backward");
}

static void before_initialization(void) {
  expect(strcmp(kokkossoftmax_last_error(), "") == 0, "no error yet");
  expect(kokkossoftmax_is_initialized() == 0, "not initialized yet");
  expect(apply(KOKKOSSOFTMAX_SOFTMAX, NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "status before");
  expect(strstr(kokkossoftmax_last_error(), "call kokkossoftmax_initialize()") != NULL, "message");
  expect(apply_both_axes(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "both axes before");
  expect(apply_backward(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "backward before");
  expect(apply_cross_entropy(0, NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "loss before");
  expect(apply_cross_entropy(1, NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "its backward before");
  expect(apply_logsumexp_backward(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "lse backward before");
  expect(apply_segments(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "ragged rows before");
  expect(apply_segment_logsumexp_backward(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED,
         "their lse backward before");
  expect(kokkossoftmax_finalize() == KOKKOSSOFTMAX_NOT_INITIALIZED, "finalize before");
}

static void calls(void) {
  kokkossoftmax_options options;
  expect(kokkossoftmax_options_init(&options) == KOKKOSSOFTMAX_SUCCESS, "options_init");
  expect(options.size == sizeof(options) && options.axis == -1 && options.scale == 1 &&
             options.empty_rows == 0 && options.algorithm == 0 && options.reproducible == 0,
         "defaults");
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) x[i][j] = ((7 * i + 11 * j) % 23 - 11) / 3.0;
  options.scale = 0.5;
  expect(apply(KOKKOSSOFTMAX_SOFTMAX, &options) == KOKKOSSOFTMAX_SUCCESS, "softmax's status");
  expect(apply(KOKKOSSOFTMAX_LOGSUMEXP, &options) == KOKKOSSOFTMAX_SUCCESS, "logsumexp's status");
  expect_right_values(options.scale);
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) dy[i][j] = ((5 * i + 3 * j) % 17 - 8) / 4.0;
  expect(apply_backward(&options) == KOKKOSSOFTMAX_SUCCESS, "softmax_backward's status");
  expect_right_backward(options.scale);
  cross_entropy();
  expect(apply_logsumexp_backward(&options) == KOKKOSSOFTMAX_SUCCESS,
         "logsumexp_backward's status");
  expect_right_gradient(options.scale, 0, "logsumexp_backward");
  both_axes(&options);
  segments(&options);
  kokkossoftmax_options unset;
  memset(&unset, 0, sizeof(unset));
  unset.scale = 1;
  expect(apply(KOKKOSSOFTMAX_SOFTMAX, &unset) == KOKKOSSOFTMAX_INVALID_ARGUMENT, "without init");
  expect(strstr(kokkossoftmax_last_error(), "call kokkossoftmax_options_init()") != NULL, "advice");
  options.axis = 5;
  expect(apply(KOKKOSSOFTMAX_SOFTMAX, &options) == KOKKOSSOFTMAX_INVALID_ARGUMENT, "wrong axis");
  expect_right_values(options.scale);
}

int main(void) {
  printf("kokkossoftmax %s\n", kokkossoftmax_version());
  before_initialization();
  expect(kokkossoftmax_initialize() == KOKKOSSOFTMAX_SUCCESS, "initialize");
  expect(kokkossoftmax_initialize() == KOKKOSSOFTMAX_SUCCESS, "initialize again");
  calls();
  expect(kokkossoftmax_finalize() == KOKKOSSOFTMAX_SUCCESS, "finalize");
  expect(kokkossoftmax_is_initialized() == 1, "one user is left");
  calls();
  expect(kokkossoftmax_finalize() == KOKKOSSOFTMAX_SUCCESS, "finalize again");
  expect(kokkossoftmax_is_initialized() == 0, "finalized");
  expect(apply(KOKKOSSOFTMAX_SOFTMAX, NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "status after");
  expect(apply_both_axes(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "both axes after");
  expect(apply_backward(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "backward after");
  expect(apply_cross_entropy(0, NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "loss after");
  expect(apply_segments(NULL) == KOKKOSSOFTMAX_NOT_INITIALIZED, "ragged rows after");
  expect(kokkossoftmax_initialize() == KOKKOSSOFTMAX_NOT_INITIALIZED, "only once in a process");
  if (failures == 0) printf("passed\n");
  return failures == 0 ? 0 : 1;
}
