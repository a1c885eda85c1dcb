// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmax.hpp>
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>

// softmax of rows (0, log 2, log 5) is (1/8, 2/8, 5/8), and their log-sum-exp log 8.
int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard guard(argc, argv);
  constexpr int rows = 100, columns = 3;
  const double expected[columns] = {0.125, 0.25, 0.625};

  const Kokkos::View<double**> x("x", rows, columns), y("y", rows, columns);
  const Kokkos::View<double*> lse("lse", rows);
  const auto host = Kokkos::create_mirror_view(x);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) host(i, j) = std::log(8 * expected[j]);
  Kokkos::deep_copy(x, host);

  const Kokkos::DefaultExecutionSpace exec;
  KokkosSoftmax::softmax(exec, x, y);
  KokkosSoftmax::logsumexp(exec, x, lse);
  exec.fence();

  const auto y_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  const auto lse_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), lse);
  int wrong = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) wrong += !(std::abs(y_host(i, j) - expected[j]) < 1e-12);
    wrong += !(std::abs(lse_host(i) - std::log(8.0)) < 1e-12);
  }
  if (wrong > 0)
    std::printf("smoke test: FAILED (%d wrong values)\n", wrong);
  else
    std::printf("smoke test: passed on %s\n", Kokkos::DefaultExecutionSpace::name());
  return wrong > 0;
}
