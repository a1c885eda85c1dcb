// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times kernels that only call the library for each row of a matrix, beside the function with an
// execution space instance and a copy of the same bytes. README.md describes the output.

#include <KokkosSoftmax.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <Kokkos_Core.hpp>
#include <Kokkos_Random.hpp>
#include <charconv>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace KokkosSoftmaxInKernel {

using Exec = Kokkos::DefaultExecutionSpace;
// A team of 512 threads must not take more registers per thread than there are.
using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<512>>;
// So few registers per thread (on NVIDIA's GPUs 80) that three teams of 256 threads are resident.
using BoundedPolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 3>>;
constexpr int most_threads_of_bounded = 256;
constexpr bool on_host = std::is_same_v<Exec::memory_space, Kokkos::HostSpace>;

template <class T>
struct Matrices {
  Kokkos::View<T**, Kokkos::LayoutRight, Exec> x, y, expected;
};

/// What is timed: a name, and a function that writes y.
struct Candidate {
  std::string name;
  bool has_bits;  // those of the reproducible call
  std::function<void()> run;
  std::vector<double> seconds = {};
};

template <class Policy, class T>
void by_team(const Exec& exec, const Matrices<T>& m, int team_size, int vector_length) {
  using Call = KokkosSoftmax::TeamVectorSoftmax;
  const auto columns = static_cast<std::int64_t>(m.x.extent(1));
  const auto bytes = static_cast<int>(Call::scratch_size(columns, team_size));
  const auto x = m.x, y = m.y;
  Kokkos::parallel_for(
      "KokkosSoftmaxInKernel::by_team",
      Policy(exec, static_cast<int>(x.extent(0)), team_size, vector_length)
          .set_scratch_size(0, Kokkos::PerTeam(bytes)),
      KOKKOS_LAMBDA(const typename Policy::member_type& member) {
        Call::invoke(member, Kokkos::subview(x, member.league_rank(), Kokkos::ALL),
                     Kokkos::subview(y, member.league_rank(), Kokkos::ALL));
      });
}

template <class T>
void by_thread(const Exec& exec, const Matrices<T>& m, int team_size, int vector_length) {
  const auto x = m.x, y = m.y;
  const int rows = static_cast<int>(x.extent(0));
  Kokkos::parallel_for(
      "KokkosSoftmaxInKernel::by_thread",
      Policy(exec, (rows + team_size - 1) / team_size, team_size, vector_length),
      KOKKOS_LAMBDA(const Policy::member_type& member) {
        const int row = member.league_rank() * member.team_size() + member.team_rank();
        if (row < rows)
          KokkosSoftmax::ThreadVectorSoftmax::invoke(member, Kokkos::subview(x, row, Kokkos::ALL),
                                                     Kokkos::subview(y, row, Kokkos::ALL));
      });
}

template <class T>
void in_serial(const Exec& exec, const Matrices<T>& m) {
  const auto x = m.x, y = m.y;
  Kokkos::parallel_for(
      "KokkosSoftmaxInKernel::in_serial", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)),
      KOKKOS_LAMBDA(int row) {
        KokkosSoftmax::SerialSoftmax::invoke(Kokkos::subview(x, row, Kokkos::ALL),
                                             Kokkos::subview(y, row, Kokkos::ALL));
      });
}

/// The number of entries of y that have other bits than `expected`.
template <class T>
long differences(const Exec& exec, const Matrices<T>& m) {
  const auto y = m.y, expected = m.expected;
  long count = 0;
  Kokkos::parallel_reduce(
      "KokkosSoftmaxInKernel::differences",
      Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>(exec, {0, 0}, {y.extent(0), y.extent(1)}),
      KOKKOS_LAMBDA(int r, int c, long& sum) { sum += y(r, c) == expected(r, c) ? 0 : 1; }, count);
  return count;
}

template <class T>
std::vector<Candidate> candidates(const Exec& exec, const Matrices<T>& m) {
  const auto columns = static_cast<int>(m.x.extent(1));
  std::vector<Candidate> all = {{"copy", false, [=] { Kokkos::deep_copy(exec, m.y, m.x); }},
                                {"softmax", false, [=] { KokkosSoftmax::softmax(exec, m.x, m.y); }},
                                {"softmax, reproducible", true, [=] {
                                   KokkosSoftmax::softmax(exec, m.x, m.y, {.reproducible = true});
                                 }}};
  const auto add = [&](const std::string& name, const auto& run) {
    all.push_back({name, true, run});
  };
  const auto shape = [](int team_size, int vector_length) {
    return " " + std::to_string(team_size) + " x " + std::to_string(vector_length);
  };
  if (columns <= 64) add("Serial", [=] { in_serial(exec, m); });
  if (on_host) {
    add("TeamVector" + shape(1, 1), [=] { by_team<Policy>(exec, m, 1, 1); });
    return all;
  }
  for (const int lanes : {4, 8, 16, 32})
    if (columns <= 1024 && columns <= 16 * lanes && columns > 2 * lanes)
      add("ThreadVector" + shape(128 / lanes, lanes),
          [=] { by_thread(exec, m, 128 / lanes, lanes); });
  for (const int team_size : {2, 4, 8, 16}) {
    if (columns < 512) continue;
    const std::string name = "TeamVector" + shape(team_size, 32);
    add(name, [=] { by_team<Policy>(exec, m, team_size, 32); });
    if (team_size * 32 <= most_threads_of_bounded)
      add(name + ", bounded", [=] { by_team<BoundedPolicy>(exec, m, team_size, 32); });
  }
  return all;
}

/// Times the candidates in turn. Returns whether all results are right.
template <class T>
bool measure(const char* type, std::int64_t entries, int columns, int runs) {
  const Exec exec;
  const auto rows = entries / columns;
  const auto matrix = [=](const std::string& name) {
    return Kokkos::View<T**, Kokkos::LayoutRight, Exec>(
        Kokkos::view_alloc(name, Kokkos::WithoutInitializing), rows, columns);
  };
  const Matrices<T> m{matrix("x"), matrix("y"), matrix("expected")};
  Kokkos::fill_random(exec, m.x, Kokkos::Random_XorShift64_Pool<Exec>(5), T(-8), T(8));
  KokkosSoftmax::softmax(exec, m.x, m.expected, {.reproducible = true});
  auto all = candidates(exec, m);
  bool right = true;
  for (const Candidate& candidate : all) {  // also the first, untimed, run
    Kokkos::deep_copy(exec, m.y, T(-1));
    candidate.run();
    if (!candidate.has_bits) continue;
    const long wrong = differences(exec, m);
    if (wrong > 0)
      std::printf("%s, %d columns: %ld wrong entries\n", candidate.name.c_str(), columns, wrong);
    right = right && wrong == 0;
  }
  for (int run = 0; run < runs; ++run)
    for (Candidate& candidate : all)
      candidate.seconds.push_back(KokkosSoftmaxSweep::seconds_of(exec, candidate.run, 1));
  using KokkosSoftmaxSweep::median;
  const double copy = median(all[0].seconds), call = median(all[1].seconds);
  for (const Candidate& candidate : all) {
    const double seconds = median(candidate.seconds);
    std::printf("%-6s %8d  %-28s %9.3f ms  %.2f of copy  %.2f of softmax\n", type, columns,
                candidate.name.c_str(), 1e3 * seconds, copy / seconds, call / seconds);
  }
  return right;
}

}  // namespace KokkosSoftmaxInKernel

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  std::int64_t entries = std::int64_t{1} << (KokkosSoftmaxInKernel::on_host ? 24 : 27);
  if (argc > 1) {
    const std::string_view text = argv[1];
    if (argc > 2 ||
        std::from_chars(text.data(), text.data() + text.size(), entries).ec != std::errc{} ||
        entries < 1) {
      std::fprintf(stderr, "The argument is the number of entries of x\n");
      return 2;
    }
  }
  constexpr int runs = 11;
  bool right = true;
  for (const int columns : {4, 8, 16, 32, 64, 128, 256, 512, 781, 1024, 2048, 4096, 8192, 16384})
    if (columns <= entries)
      right = KokkosSoftmaxInKernel::measure<float>("float", entries, columns, runs) && right;
  for (const int columns : {8, 64, 512, 1024, 4096, 8192})
    if (columns <= entries)
      right = KokkosSoftmaxInKernel::measure<double>("double", entries / 2, columns, runs) && right;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
