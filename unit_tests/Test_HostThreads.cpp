// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several host threads that call the library at the same time, each on its own execution space
// instance. This includes their first calls, which make caches and workspaces.

#include <kokkossoftmax.h>

#include <backend/Schedule.hpp>
#include <support/Algorithms.hpp>
#include <support/Check.hpp>
#include <support/HostThreads.hpp>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// The calls of one host thread and their results. Each call has its own output, so that the next
/// call can't overwrite a wrong result with a right one.
template <class T, class Exec>
class Caller {
 public:
  struct Call {
    Case c;
    Field<T, Exec> x, y;
  };

  /// Each thread has another scale, so that the results of one thread are wrong for another.
  Caller(int thread, const std::vector<Algorithm>& algorithms, int repeats)
      : m_rows(normal_rows<T>(9, 701)),
        m_scale(0.25 * (thread + 1)),
        m_expected(reference(m_rows, m_scale)) {
    for (int k = 0; k < repeats; ++k)
      for (const Algorithm algorithm : algorithms)
        for (const Function function : {Function::softmax, Function::logsumexp})
          add(algorithm, function);
  }

  void call_all(const Exec& exec) const {
    for (const Call& call : m_calls) {
      const auto x = call.x.template view<Right, 2, const T>();
      if (call.c.function == Function::logsumexp)
        Test::call(call.c.function, exec, x, call.y.template view<Right, 1>(), call.c.options);
      else
        Test::call(call.c.function, exec, x, call.y.template view<Right, 2>(), call.c.options);
    }
    exec.fence();
  }

  void expect_right() const {
    for (const Call& call : m_calls)
      EXPECT_TRUE(check_output(call.c, m_rows, m_expected, call.y)) << "scale " << m_scale;
  }

 private:
  using Right = Kokkos::LayoutRight;

  void add(Algorithm algorithm, Function function) {
    const bool strided = KokkosSoftmax::Impl::has_row_in_each_lane(algorithm);
    Case c{.function = function,
           .extents = {m_rows.count, m_rows.columns},
           .options = {.axis = strided ? 0 : 1, .scale = m_scale, .algorithm = algorithm}};
    if (strided) std::swap(c.extents[0], c.extents[1]);
    m_calls.push_back(
        {c, Field<T, Exec>(place_right(c.extents)), Field<T, Exec>(place_right(c.y_extents()))});
    m_calls.back().x.assign(rows_to_tensor(m_rows.values, c.extents, c.options.axis));
  }

  Rows<T> m_rows;
  double m_scale;
  Expected m_expected;
  std::vector<Call> m_calls;
};

template <class C>
class HostThreads : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;

  static void expect_right(int threads, const std::vector<Algorithm>& algorithms, int repeats) {
    const auto compiled = compiled_for<Exec>(algorithms);
    if (compiled.empty()) GTEST_SKIP() << Exec::name() << " has the algorithm host alone";
    const auto instances = instances_for<Exec>(threads);
    if (instances.size() < static_cast<std::size_t>(threads))
      GTEST_SKIP() << Exec::name() << " has one instance alone";
    std::vector<Caller<T, Exec>> callers;
    for (int i = 0; i < threads; ++i) callers.emplace_back(i, compiled, repeats);
    Kokkos::fence();
    on_host_threads(threads, [&](int i) {
      const auto n = static_cast<std::size_t>(i);
      callers[n].call_all(instances[n]);
    });
    for (const auto& caller : callers) caller.expect_right();
  }

 private:
  const Watchdog m_watchdog{std::chrono::seconds(60)};
};
TYPED_TEST_SUITE(HostThreads, ValueConfigs, ConfigName);

// This must be the first test: in a process that runs only this file, no function has been called
// on the execution space before.
TYPED_TEST(HostThreads, FirstCallsAtOnce) {
  TestFixture::expect_right(
      4,
      {Algorithm::automatic, Algorithm::online, Algorithm::split_online, Algorithm::split_column},
      1);
}

TYPED_TEST(HostThreads, Automatic) {
  for (const int threads : {2, 4})
    TestFixture::expect_right(threads, {Algorithm::automatic, Algorithm::online}, 50);
}

// Rows split over teams, which exchange data through the workspace of their instance.
TYPED_TEST(HostThreads, SplitOnline) {
  for (const int threads : {2, 4})
    TestFixture::expect_right(threads, {Algorithm::split_online}, 100);
}

TYPED_TEST(HostThreads, SplitColumn) {
  for (const int threads : {2, 4})
    TestFixture::expect_right(threads, {Algorithm::split_column}, 100);
}

// Rows whose states are in memory that calls borrow.
TYPED_TEST(HostThreads, TwoPassColumn) {
  for (const int threads : {2, 4})
    TestFixture::expect_right(threads, {Algorithm::two_pass_column}, 100);
}

TYPED_TEST(HostThreads, AllAlgorithms) {
  TestFixture::expect_right(
      4,
      {Algorithm::automatic, Algorithm::split_online, Algorithm::online, Algorithm::split_column},
      40);
}

/// Whether Kokkos allows several host threads to use one instance, as all callers of the C
/// interface without a stream do.
template <class Exec>
inline constexpr bool shares_instances = true;
#ifdef KOKKOS_ENABLE_THREADS
template <>
inline constexpr bool shares_instances<Kokkos::Threads> = false;
#endif

class HostThreadsC : public ::testing::TestWithParam<int> {
 protected:
  /// Calls softmax of rows of equal entries in host memory. Between these calls it makes calls that
  /// fail: each thread must get its own error message.
  static void call_and_check(int thread, int repeats) {
    constexpr std::int64_t rows = 5, columns = 301;
    const std::int64_t extents[] = {rows, columns};
    for (int k = 0; k < repeats; ++k) {
      std::vector<float> x(rows * columns, static_cast<float>(thread)), y(rows * columns, -1.0f);
      const kokkossoftmax_tensor tx = {x.data(), KOKKOSSOFTMAX_FLOAT, 2, extents, nullptr};
      const kokkossoftmax_tensor ty = {y.data(), KOKKOSSOFTMAX_FLOAT, 2, extents, nullptr};
      kokkossoftmax_options options;
      ASSERT_EQ(kokkossoftmax_options_init(&options), KOKKOSSOFTMAX_SUCCESS);
      ASSERT_EQ(apply(tx, ty, options), KOKKOSSOFTMAX_SUCCESS) << kokkossoftmax_last_error();
      for (const float value : y) ASSERT_NEAR(value, 1.0f / columns, 1e-8f);
      options.axis = 10 + thread;
      ASSERT_EQ(apply(tx, ty, options), KOKKOSSOFTMAX_INVALID_ARGUMENT);
      ASSERT_NE(
          std::string(kokkossoftmax_last_error()).find("axis = " + std::to_string(options.axis)),
          std::string::npos)
          << kokkossoftmax_last_error();
    }
  }

 private:
  static int apply(const kokkossoftmax_tensor& x, const kokkossoftmax_tensor& y,
                   const kokkossoftmax_options& options) {
    return kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_HOST, nullptr, &x, &y,
                               &options);
  }

  const Watchdog m_watchdog{std::chrono::seconds(60)};
};

TEST_P(HostThreadsC, OnOneInstance) {
  if (!shares_instances<Kokkos::DefaultHostExecutionSpace>)
    GTEST_SKIP() << Kokkos::DefaultHostExecutionSpace::name() << " is called by one thread alone";
  on_host_threads(GetParam(), [](int thread) { call_and_check(thread, 200); });
}
INSTANTIATE_TEST_SUITE_P(HostThreads, HostThreadsC, ::testing::Values(2, 4));

}  // namespace
}  // namespace KokkosSoftmax::Test
