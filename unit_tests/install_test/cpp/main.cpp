// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that uses each part of the interface and checks the results: functions and plans on the
// default execution space, the reducer in a kernel of the program, and the version.

#include <kokkossoftmax.h>

#include <KokkosSoftmax.hpp>
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

static_assert(KOKKOSSOFTMAX_VERSION == KOKKOSSOFTMAX_VERSION_MAJOR * 10000 +
                                           KOKKOSSOFTMAX_VERSION_MINOR * 100 +
                                           KOKKOSSOFTMAX_VERSION_PATCH);

using Matrix = Kokkos::View<double**>;
using Column = Kokkos::View<double*>;

int failures = 0;

void expect(bool condition, const char* what) {
  if (condition) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-14; }

/// Returns x_ij = log(j + 1), whose softmax is (j + 1) / 55 for 10 columns.
Matrix logarithms(int rows, int columns) {
  Matrix x("x", rows, columns);
  const auto host = Kokkos::create_mirror_view(x);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) host(i, j) = std::log(j + 1.0);
  Kokkos::deep_copy(x, host);
  return x;
}

double log_of_all(const Column& lse) {
  using State = KokkosSoftmax::LogSumExpState<double>;
  State all;
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<>(0, lse.extent_int(0)),
      KOKKOS_LAMBDA(int i, State& state) { state.update(lse(i)); }, KokkosSoftmax::LogSumExp(all));
  return all.value();
}

void check() {
  const int rows = 7, columns = 10;
  const Matrix x = logarithms(rows, columns), y("y", rows, columns);
  const Column lse("lse", rows);
  const Kokkos::DefaultExecutionSpace exec;
  KokkosSoftmax::softmax(exec, x, y);
  KokkosSoftmax::logsumexp(exec, x, lse);
  const double all = log_of_all(lse);

  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) expect(near(host(i, j), (j + 1) / 55.0), "softmax");
  expect(near(all, std::log(55.0 * rows)), "the reducer");

  const auto plan = KokkosSoftmax::plan_log_softmax(exec, x, y);
  plan.execute(x, y);
  Kokkos::deep_copy(host, y);
  expect(near(host(0, 9), std::log(10 / 55.0)), "a plan");
  expect(plan.describe().find("log_softmax of 7 rows") != std::string::npos, "describe()");
  expect(std::strcmp(kokkossoftmax_version(), KOKKOSSOFTMAX_VERSION_STRING) == 0, "the version");
  expect(kokkossoftmax_is_initialized() == 1, "one Kokkos in the process");
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  check();
  std::printf("kokkossoftmax %s: %d failures\n", kokkossoftmax_version(), failures);
  return failures == 0 ? 0 : 1;
}
