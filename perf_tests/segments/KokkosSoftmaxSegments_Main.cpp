// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times the functions for ragged rows beside a copy and, if all rows have the same length, beside
// the functions for matrices. README.md describes the output.

#include <KokkosSoftmax.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <Kokkos_Core.hpp>
#include <Kokkos_Random.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "KokkosSoftmaxSegments_Reference.hpp"
#include "KokkosSoftmaxSegments_Rows.hpp"

namespace KokkosSoftmaxSegments {

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<float*, Exec>;
using Offsets = Kokkos::View<std::int32_t*, Exec>;
using Matrix =
    Kokkos::View<float**, Kokkos::LayoutRight, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

Vector vector_of(const std::string& name, long extent) {
  return Vector(Kokkos::view_alloc(name, Kokkos::WithoutInitializing), extent);
}

Vector random_vector(const Exec& exec, const std::string& name, long extent, float limit,
                     std::uint64_t seed) {
  const Vector v = vector_of(name, extent);
  Kokkos::fill_random(exec, v, Kokkos::Random_XorShift64_Pool<Exec>(seed), -limit, limit);
  return v;
}

/// The arguments of all calls. Copies and matrices have outputs of their own, so that the results
/// of the calls for ragged rows stay.
struct Data {
  Offsets offsets;
  Vector x, dy;
  Vector y, dx, lse;
  Vector other, other_lse;

  Data(const Exec& exec, const Rows& rows)
      : offsets(Kokkos::view_alloc("offsets", Kokkos::WithoutInitializing), rows.offsets.size()),
        x(random_vector(exec, "x", rows.entries(), 8, 5)),
        dy(random_vector(exec, "dy", rows.entries(), 1, 6)),
        y(vector_of("y", rows.entries())),
        dx(vector_of("dx", rows.entries())),
        lse(vector_of("lse", rows.count())),
        other(vector_of("other", rows.entries())),
        other_lse(vector_of("other_lse", rows.count())) {
    Kokkos::deep_copy(offsets, Kokkos::View<const std::int32_t*, Kokkos::HostSpace,
                                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                                   rows.offsets.data(), rows.offsets.size()));
    for (const Vector& result : {y, dx, lse})
      Kokkos::deep_copy(exec, result, std::numeric_limits<float>::quiet_NaN());
  }
};

/// The times of calls in seconds. The dense ones are 0 if rows have different lengths.
struct Times {
  struct Call {
    double seconds;
    double dense;
  };
  double copy;
  Call softmax, logsumexp, backward;
};

Times measure(const Exec& exec, const Rows& rows, const Data& d) {
  std::vector<std::function<void()>> calls = {
      [=] { Kokkos::deep_copy(exec, d.other, d.x); },
      [=] { KokkosSoftmax::segment_softmax(exec, d.x, d.offsets, d.y); },
      [=] { KokkosSoftmax::segment_logsumexp(exec, d.x, d.offsets, d.lse); },
      [=] { KokkosSoftmax::segment_softmax_backward(exec, d.y, d.dy, d.offsets, d.dx); }};
  if (rows.columns > 0) {
    const auto matrix = [&](const Vector& v) {
      return Matrix(v.data(), rows.count(), rows.columns);
    };
    const Matrix x = matrix(d.x), y = matrix(d.y), dy = matrix(d.dy), other = matrix(d.other);
    calls.push_back([=] { KokkosSoftmax::softmax(exec, x, other); });
    calls.push_back([=] { KokkosSoftmax::logsumexp(exec, x, d.other_lse); });
    calls.push_back([=] { KokkosSoftmax::softmax_backward(exec, y, dy, other); });
  }
  auto seconds = KokkosSoftmaxSweep::median_seconds_in_turn(exec, calls);
  seconds.resize(7, 0);
  return {seconds[0], {seconds[1], seconds[4]}, {seconds[2], seconds[5]}, {seconds[3], seconds[6]}};
}

/// The number of elements that aren't NaN.
long numbers_in(const Exec& exec, const Vector& v) {
  long count = 0;
  Kokkos::parallel_reduce(
      "KokkosSoftmaxSegments::numbers_in", Kokkos::RangePolicy<Exec>(exec, 0, v.extent(0)),
      KOKKOS_LAMBDA(long i, long& sum) { sum += Kokkos::isnan(v(i)) ? 0 : 1; }, count);
  return count;
}

/// Compares some rows with the reference: about a thousand, the last one, and the longest ones.
Errors check(const Rows& rows, const Data& d) {
  const auto on_host = [](const Vector& v) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  };
  const auto x = on_host(d.x), y = on_host(d.y), dy = on_host(d.dy), dx = on_host(d.dx);
  const auto lse = on_host(d.lse);
  const long step = std::max(1L, rows.count() / 1000);
  int longest_left = 2;
  Errors errors;
  for (long r = 0; r < rows.count(); ++r) {
    const bool is_longest = rows.length(r) == rows.longest && longest_left > 0;
    if (r % step != 0 && r + 1 != rows.count() && !is_longest) continue;
    if (is_longest) --longest_left;
    const long first = rows.offsets[r];
    const RowOnHost row{rows.length(r),    x.data() + first,  y.data() + first,
                        dy.data() + first, dx.data() + first, lse(r)};
    check_forward(row, errors);
    check_backward(row, errors);
  }
  return errors;
}

/// Prints a time, the rate of the bytes that must be moved divided by that of the copy, and the
/// rate divided by that of the matrix.
void print(const Times::Call& call, double bytes, double copy_rate) {
  std::printf("  | %9.4f %7.2f ", 1e3 * call.seconds, bytes / call.seconds / copy_rate);
  if (call.dense > 0)
    std::printf("%8.2f", call.dense / call.seconds);
  else
    std::printf("%8s", "-");
}

void print_heads() {
  std::printf("%-12s %9s %10s %9s %9s", "rows of", "rows", "entries", "longest", "copy");
  for (const char* name : {"softmax", "logsumexp", "backward"})
    std::printf("  | %9s %7s %8s", name, "of copy", "of dense");
  std::printf("\n");
}

/// Returns whether the results are right.
bool measure_and_check(const Rows& rows) {
  const Exec exec;
  const Data data(exec, rows);
  const Times times = measure(exec, rows, data);

  const double of_entries = 4.0 * rows.entries(), of_rows = 4.0 * rows.count();
  const double copy_rate = 2 * of_entries / times.copy;
  std::printf("%-12s %9ld %10ld %9ld %9.4f", rows.name.c_str(), rows.count(), rows.entries(),
              rows.longest, 1e3 * times.copy);
  print(times.softmax, 2 * of_entries + of_rows, copy_rate);
  print(times.logsumexp, of_entries + 2 * of_rows, copy_rate);
  print(times.backward, 3 * of_entries + of_rows, copy_rate);

  const long all = 2 * rows.entries() + rows.count();
  const long numbers =
      numbers_in(exec, data.y) + numbers_in(exec, data.dx) + numbers_in(exec, data.lse);
  const Errors errors = check(rows, data);
  const bool right = numbers == all && errors.largest() <= 1;
  if (!right)
    std::printf(
        "  WRONG: %ld of %ld results are NaN, errors of %g, %g and %g times the allowed ones",
        all - numbers, all, errors.softmax, errors.logsumexp, errors.backward);
  std::printf("\n");
  std::fflush(stdout);
  return right;
}

/// The arguments are divided by `divisor`, except the lengths of most rows.
bool measure_all(long divisor) {
  const long entries = (1L << 27) / divisor;
  print_heads();
  bool right = true;
  for (const long columns : {12, 128, 1000, 4096})
    right = measure_and_check(uniform_rows(entries, columns)) && right;
  const double longest = std::max(1e6 / static_cast<double>(divisor), 1e3);
  right = measure_and_check(power_law_rows(entries, 32, longest)) && right;
  return measure_and_check(one_long_row(1000000 / divisor, 12, 10000000 / divisor)) && right;
}

}  // namespace KokkosSoftmaxSegments

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  long divisor = 1;
  if (argc > 1) {
    const std::string_view text = argv[1];
    if (argc > 2 ||
        std::from_chars(text.data(), text.data() + text.size(), divisor).ec != std::errc{} ||
        divisor < 1) {
      std::fprintf(stderr, "The argument is what the numbers of entries are divided by\n");
      return 2;
    }
  }
  const bool right = KokkosSoftmaxSegments::measure_all(divisor);
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
