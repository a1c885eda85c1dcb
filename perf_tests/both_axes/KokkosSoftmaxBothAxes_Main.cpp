// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times logsumexp_both_axes beside logsumexp along each axis, and beside a kernel that only reads
// the matrix. README.md describes the output.

#include <KokkosSoftmax.hpp>
#include <KokkosSoftmaxBothAxes_Read.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <Kokkos_Core.hpp>
#include <Kokkos_Random.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

namespace KokkosSoftmaxBothAxes {

using Exec = Kokkos::DefaultExecutionSpace;
template <class T>
using Vector = Kokkos::View<T*, Exec>;

/// The largest difference of the elements, relative to that of numbers of at least 1.
template <class T>
double difference(const Exec& exec, const Vector<T>& a, const Vector<T>& b) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "KokkosSoftmaxBothAxes::difference", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0)),
      KOKKOS_LAMBDA(long i, double& max) {
        const double error = Kokkos::fabs(static_cast<double>(a(i)) - static_cast<double>(b(i))) /
                             Kokkos::fmax(1.0, Kokkos::fabs(static_cast<double>(b(i))));
        if (!(error <= max)) max = error;  // also NaN
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// The median of the times of some runs in turn.
std::vector<double> median_seconds(const Exec& exec,
                                   const std::vector<std::function<void()>>& calls) {
  constexpr int runs = 11;
  std::vector<std::vector<double>> seconds(calls.size());
  for (int run = -1; run < runs; ++run)
    for (std::size_t c = 0; c < calls.size(); ++c) {
      const double one = KokkosSoftmaxSweep::seconds_of(exec, calls[c], 1);
      if (run >= 0) seconds[c].push_back(one);
    }
  std::vector<double> medians;
  for (const auto& times : seconds) medians.push_back(KokkosSoftmaxSweep::median(times));
  return medians;
}

/// Returns whether the results are those of logsumexp.
template <class T>
bool measure(const char* type, long rows, long columns, double spread, double tolerance) {
  const Exec exec;
  const Kokkos::View<T**, Kokkos::LayoutRight, Exec> x(
      Kokkos::view_alloc("x", Kokkos::WithoutInitializing), rows, columns);
  Kokkos::fill_random(exec, x, Kokkos::Random_XorShift64_Pool<Exec>(5), T(-spread), T(spread));
  const Vector<T> of_rows("of_rows", rows), of_columns("of_columns", columns);
  const Vector<T> row_lse("row_lse", rows), column_lse("column_lse", columns);
  const Kokkos::View<std::uint64_t, Exec> bits("bits");
  const auto seconds = median_seconds(
      exec, {[=] { read_all(exec, x.data(), rows * columns, bits); },
             [=] { KokkosSoftmax::logsumexp(exec, x, row_lse, {.axis = 1}); },
             [=] { KokkosSoftmax::logsumexp(exec, x, column_lse, {.axis = 0}); },
             [=] { KokkosSoftmax::logsumexp_both_axes(exec, x, of_rows, of_columns); }});
  const double error =
      std::max(difference(exec, of_rows, row_lse), difference(exec, of_columns, column_lse));
  std::printf(
      "%-6s %8ld x %-8ld +-%-4g read %8.3f ms  rows %8.3f ms  columns %8.3f ms  both %8.3f ms: "
      "%.2f of the read, %.2f of rows and columns%s\n",
      type, rows, columns, spread, 1e3 * seconds[0], 1e3 * seconds[1], 1e3 * seconds[2],
      1e3 * seconds[3], seconds[3] / seconds[0], seconds[3] / (seconds[1] + seconds[2]),
      error <= tolerance ? "" : "  WRONG");
  return error <= tolerance;
}

}  // namespace KokkosSoftmaxBothAxes

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  long divisor = 1;
  if (argc > 1) {
    const std::string_view text = argv[1];
    if (argc > 2 ||
        std::from_chars(text.data(), text.data() + text.size(), divisor).ec != std::errc{} ||
        divisor < 1) {
      std::fprintf(stderr, "The argument is what the numbers of rows or columns are divided by\n");
      return 2;
    }
  }
  using namespace KokkosSoftmaxBothAxes;
  bool right = true;
  for (const double spread : {8.0, 300.0}) {
    right = measure<double>("double", 309, 1000000 / divisor, spread, 1e-12) && right;
    right = measure<double>("double", 16384 / divisor, 4096, spread, 1e-12) && right;
    right = measure<double>("double", 30000 / divisor, 3001, spread, 1e-12) && right;
  }
  for (const double spread : {8.0, 30.0}) {
    right = measure<float>("float", 32768 / divisor, 4096, spread, 2e-6) && right;
    right = measure<float>("float", 32767 / divisor, 4093, spread, 2e-6) && right;
    right = measure<float>("float", 128, 1000000 / divisor, spread, 2e-6) && right;
  }
  // Few columns, and few rows: on a GPU, 8 rows are too few for one read.
  right = measure<double>("double", 1000000 / divisor, 128, 8, 1e-12) && right;
  right = measure<double>("double", 8, 16000000 / divisor, 8, 1e-12) && right;
  right = measure<float>("float", 1000000 / divisor, 128, 8, 2e-6) && right;
  right = measure<float>("float", 8, 16000000 / divisor, 8, 2e-6) && right;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
