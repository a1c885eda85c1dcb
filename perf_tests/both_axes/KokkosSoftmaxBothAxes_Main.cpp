// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times logsumexp_both_axes beside two calls of logsumexp, a kernel that only reads the matrix, and
// deep_copy. README.md describes the output.

#include <KokkosSoftmax.hpp>
#include <Kokkos_Core.hpp>
#include <Kokkos_Random.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace KokkosSoftmaxBothAxes {

using Exec = Kokkos::DefaultExecutionSpace;
constexpr bool on_host = std::is_same_v<Exec::memory_space, Kokkos::HostSpace>;

template <class T, class Layout>
struct Arrays {
  Kokkos::View<T**, Layout, Exec> x;
  Kokkos::View<T*, Exec> row_lse, column_lse, expected_rows, expected_columns;

  Arrays(std::int64_t rows, std::int64_t columns)
      : x(Kokkos::view_alloc("x", Kokkos::WithoutInitializing), rows, columns),
        row_lse("row_lse", rows),
        column_lse("column_lse", columns),
        expected_rows("expected_rows", rows),
        expected_columns("expected_columns", columns) {}
};

/// 16 bytes, which a thread reads at one time.
struct alignas(16) Words {
  std::uint64_t word[2];
};

/// Reads all of the matrix, as fast as a kernel can. The result depends on all bits.
template <class T>
void read_all(const Exec& exec, const T* x, std::int64_t entries,
              const Kokkos::View<std::uint64_t, Exec>& result) {
  constexpr int at_one_time = 4;
  const auto chunks = static_cast<std::int64_t>(entries * sizeof(T) / sizeof(Words));
  const std::int64_t threads =
      on_host ? exec.concurrency()
              : std::min<std::int64_t>(chunks, std::int64_t{2} * exec.concurrency());
  const auto* const words = reinterpret_cast<const Words*>(x);
  Kokkos::parallel_for(
      "KokkosSoftmaxBothAxes::read_all", Kokkos::RangePolicy<Exec>(exec, 0, threads),
      KOKKOS_LAMBDA(std::int64_t thread) {
        // Threads of a GPU read neighbouring chunks, and those of a host have blocks.
        const std::int64_t block = (chunks + threads - 1) / threads;
        std::int64_t i = on_host ? thread * block : thread;
        const std::int64_t step = on_host ? 1 : threads;
        const std::int64_t end = on_host && i + block < chunks ? i + block : chunks;
        std::uint64_t bits = 0;
        for (; i + (at_one_time - 1) * step < end; i += at_one_time * step) {
          Words read[at_one_time];
          for (int k = 0; k < at_one_time; ++k) read[k] = words[i + k * step];
          for (int k = 0; k < at_one_time; ++k) bits |= read[k].word[0] ^ read[k].word[1];
        }
        for (; i < end; i += step) bits |= words[i].word[0] ^ words[i].word[1];
        if (bits == 1) result() = bits;
      });
}

/// The largest difference of two vectors, relative to numbers above 1.
template <class V>
double difference(const Exec& exec, const V& a, const V& b) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "KokkosSoftmaxBothAxes::difference", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i, double& max) {
        const double scale = Kokkos::fmax(1.0, Kokkos::abs(static_cast<double>(b(i))));
        const double d = Kokkos::abs(static_cast<double>(a(i)) - static_cast<double>(b(i))) / scale;
        if (!(d <= max)) max = d == d ? d : 1.0;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

struct Candidate {
  const char* name;
  std::function<void()> run;
  std::vector<double> seconds = {};

  double median() {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

/// Times the candidates in turn. Returns whether the results are right.
template <class T, class Layout>
bool measure(const char* type, const char* layout, std::int64_t rows, std::int64_t columns) {
  constexpr int runs = 11;
  const Exec exec;
  const Arrays<T, Layout> a(rows, columns);
  const Kokkos::View<T**, Layout, Exec> copy(
      Kokkos::view_alloc("copy", Kokkos::WithoutInitializing), rows, columns);
  const Kokkos::View<std::uint64_t, Exec> bits("bits");
  Kokkos::fill_random(exec, a.x, Kokkos::Random_XorShift64_Pool<Exec>(5), T(-8), T(8));
  const auto two_calls = [=] {
    KokkosSoftmax::logsumexp(exec, a.x, a.expected_rows, {.axis = 1});
    KokkosSoftmax::logsumexp(exec, a.x, a.expected_columns, {.axis = 0});
  };
  Candidate all[] = {{"read", [=] { read_all(exec, a.x.data(), rows * columns, bits); }},
                     {"copy", [=] { Kokkos::deep_copy(exec, copy, a.x); }},
                     {"two calls of logsumexp", two_calls},
                     {"logsumexp_both_axes", [=] {
                        KokkosSoftmax::logsumexp_both_axes(exec, a.x, a.row_lse, a.column_lse);
                      }}};
  for (const Candidate& candidate : all) candidate.run();  // untimed
  const double error = std::max(difference(exec, a.row_lse, a.expected_rows),
                                difference(exec, a.column_lse, a.expected_columns));
  const bool is_right = error <= (sizeof(T) == 8 ? 2e-14 : 2e-6);
  for (int run = 0; run < runs; ++run)
    for (Candidate& candidate : all) {
      exec.fence();
      const Kokkos::Timer timer;
      candidate.run();
      exec.fence();
      candidate.seconds.push_back(timer.seconds());
    }
  const double read = all[0].median();
  for (Candidate& candidate : all)
    std::printf("%-6s %-5s %8ld x %-8ld  %-22s %9.4f ms  %6.3f of read\n", type, layout,
                static_cast<long>(rows), static_cast<long>(columns), candidate.name,
                1e3 * candidate.median(), candidate.median() / read);
  if (!is_right) std::printf("wrong results (difference %.1e)\n", error);
  return is_right;
}

template <class T>
bool measure_layouts(const char* type, std::int64_t rows, std::int64_t columns) {
  const bool right = measure<T, Kokkos::LayoutRight>(type, "Right", rows, columns);
  return measure<T, Kokkos::LayoutLeft>(type, "Left", rows, columns) && right;
}

}  // namespace KokkosSoftmaxBothAxes

int main(int argc, char** argv) {
  using namespace KokkosSoftmaxBothAxes;
  const Kokkos::ScopeGuard kokkos(argc, argv);
  std::int64_t entries = on_host ? 30'900'000 : 309'000'000;
  if (argc > 1) {
    const std::string_view text = argv[1];
    if (argc > 2 ||
        std::from_chars(text.data(), text.data() + text.size(), entries).ec != std::errc{} ||
        entries < 4096) {
      std::fprintf(stderr, "The argument is the number of entries of x, 4096 or more\n");
      return 2;
    }
  }
  bool right = true;
  for (const std::int64_t rows : {32, 309, 4096})
    if (rows <= entries) right = measure_layouts<double>("double", rows, entries / rows) && right;
  for (const std::int64_t columns : {309, 4096, 32768})
    if (columns <= entries)
      right = measure_layouts<float>("float", entries / columns, columns) && right;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
