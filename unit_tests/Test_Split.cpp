// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows split over teams that wait for one another: on many instances at once, concurrently with a
// kernel that keeps the device busy, with more rows than teams, and with launches of changing
// shapes, each of which finds the workspace as the previous launch has left it.

#include <support/Instances.hpp>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Split : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;

  /// The lanes of a host can't hold a wide row in registers.
  static constexpr Algorithm split =
      is_host_space<Exec> ? Algorithm::split_online : Algorithm::split;

  /// The algorithms that split contiguous rows, each of them once.
  static std::vector<Algorithm> along_rows() {
    if constexpr (is_host_space<Exec>) return {Algorithm::split_online};
    return {Algorithm::split, Algorithm::split_online};
  }

  /// split_column reduces along axis 0 of a matrix, the other algorithms along axis 1.
  static void expect_right(const std::vector<Exec>& instances, int calls, std::size_t count,
                           std::size_t columns, Algorithm algorithm) {
    const int axis = algorithm == Algorithm::split_column ? 0 : 1;
    expect_right_on<T>(instances, calls, count, columns, {.axis = axis, .algorithm = algorithm});
  }

 private:
  const Watchdog m_watchdog{std::chrono::seconds(300)};  // if teams wait for ever
};
TYPED_TEST_SUITE(Split, ScheduleConfigs, ConfigName);

// Launches on a host return when they are done. Test_HostThreads tests concurrent launches there.
TYPED_TEST(Split, ManyInstancesAtOnceOnGpus) {
  if (is_host_space<typename TypeParam::exec>) GTEST_SKIP() << "not a GPU";
  const auto instances = many_instances<typename TypeParam::exec>();
  for (const Algorithm algorithm : {TestFixture::split, Algorithm::split_online}) {
    TestFixture::expect_right(instances, 4, 1, 100003, algorithm);
    TestFixture::expect_right(instances, 2, 5, 65536, algorithm);
  }
  TestFixture::expect_right(instances, 4, 1, 100003, Algorithm::split_column);
  TestFixture::expect_right(instances, 2, 67, 4099, Algorithm::split_column);
}

// On hosts, where there are fewer teams, fewer rows are enough.
TYPED_TEST(Split, MoreRowsThanTeams) {
  constexpr bool on_host = is_host_space<typename TypeParam::exec>;
  struct Matrix {
    std::size_t rows, columns;
  };
  for (const Algorithm algorithm : TestFixture::along_rows())
    for (const auto& [rows, columns] : {Matrix{700, 4099}, Matrix{on_host ? 150 : 700, 16384}})
      TestFixture::expect_right({typename TypeParam::exec{}}, 1, rows, columns, algorithm);
  for (const std::size_t rows : {700, on_host ? 4000 : 20000})
    TestFixture::expect_right({typename TypeParam::exec{}}, 1, rows, 401, Algorithm::split_column);
  if (!on_host)  // so many rows that groups claim panels
    TestFixture::expect_right({typename TypeParam::exec{}}, 1, 180001, 37, Algorithm::split_column);
}

// Each member of a group finds a slightly larger maximum than the member before it. The rounding
// errors of many similar exponentials must not accumulate.
TYPED_TEST(Split, SlowlyAscendingPanel) {
  using T = typename TypeParam::value;
  // A team on a host rescales its sum after each tile of few entries, and these rounding errors do
  // accumulate. The rows on a host are therefore shorter.
  const std::size_t columns = is_host_space<typename TypeParam::exec> ? 640 : 6400;
  auto rows = normal_rows<T>(255, columns);
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    rows.values[i] = static_cast<T>(0.78) * static_cast<T>(i % columns) / T(6400);
  EXPECT_TRUE(
      check_matrix<TypeParam>({.options = {.axis = 0, .algorithm = Algorithm::split_column}}, rows,
                              reference(rows), typename TypeParam::exec{}));
}

// Fewer neighbouring rows than lanes, as many, one more, and numbers with a smaller last panel.
TYPED_TEST(Split, PanelsOfAnyNumberOfRows) {
  for (const std::size_t rows : {2, 3, 5, 31, 32, 33, 100, 128, 129, 200, 256, 257, 600, 1001})
    for (const std::size_t columns : {1, 77, 3001})
      TestFixture::expect_right({typename TypeParam::exec{}}, 1, rows, columns,
                                Algorithm::split_column);
}

// The rows of several matrices that follow one another in memory are divided into panels.
TYPED_TEST(Split, PanelsOfSeveralMatrices) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t matrices = 7, columns = 2050;
  for (const std::size_t neighbours : {3, 130, 300}) {
    const auto& sample = normal_sample<T>(matrices * neighbours, columns);
    const Case c{.extents = {matrices, columns, neighbours},
                 .options = {.axis = 1, .algorithm = Algorithm::split_column}};
    Field<T, Exec> x(place_right(c.extents)), y(place_right(c.extents));
    x.assign(rows_to_tensor(sample.rows.values, c.extents, c.options.axis));
    softmax(Exec{}, x.template view<Kokkos::LayoutRight, 3, const T>(),
            y.template view<Kokkos::LayoutRight, 3>(), c.options);
    Kokkos::fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y)) << neighbours << " neighbours";
  }
}

// On GPUs the rule chooses split_column for a few rows of many columns.
TYPED_TEST(Split, TakenForFewStridedRows) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  for (const std::size_t rows : {4, 20000}) {
    const Extents extents{is_host_space<Exec> ? 600u : 20000u, rows};
    const Field<T, Exec> x(place_right(extents)), y(place_right(extents));
    const auto plan = plan_softmax(Exec{}, x.template view<Kokkos::LayoutRight, 2, const T>(),
                                   y.template view<Kokkos::LayoutRight, 2>(), Options{.axis = 0});
    const bool taken = plan.describe().find("split_column{") != std::string::npos;
    EXPECT_EQ(taken, !is_host_space<Exec> && rows == 4) << plan.describe();
  }
}

// More rows than a panel has.
TYPED_TEST(Split, ManyStridedRows) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const auto& sample = normal_sample<T>(is_host_space<Exec> ? 33 : 8193, 600);
  EXPECT_TRUE(
      check_matrix<TypeParam>({.options = {.axis = 0, .algorithm = Algorithm::split_column}},
                              sample.rows, sample.expected, Exec{}));
}

// The launches differ in the numbers of groups, members and rounds.
TYPED_TEST(Split, ChangingShapesOnOneInstance) {
  using T = typename TypeParam::value;
  const typename TypeParam::exec exec;
  for (int pass = 0; pass < 3; ++pass)
    for (const std::size_t count : {1, 2, 7, 40})
      for (const std::size_t columns : {7, 1000, 20001, 32768, 50000}) {
        if (is_host_space<typename TypeParam::exec> && count * columns > 200000) continue;
        const auto& sample = normal_sample<T>(count, columns);
        for (const Algorithm algorithm : TestFixture::along_rows())
          EXPECT_TRUE(check_matrix<TypeParam>({.options = {.algorithm = algorithm}}, sample.rows,
                                              sample.expected, exec));
        EXPECT_TRUE(
            check_matrix<TypeParam>({.options = {.axis = 0, .algorithm = Algorithm::split_column}},
                                    sample.rows, sample.expected, exec));
      }
}

template <class Exec>
void keep_busy(const Exec& exec, const Kokkos::View<double*, typename Exec::memory_space>& result) {
  Kokkos::parallel_for(
      "Test::keep_busy", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(result.extent(0))),
      KOKKOS_LAMBDA(int i) {
        double value = i;
        for (int k = 0; k < 20000; ++k) value = Kokkos::sqrt(value + k);
        result(i) = value;
      });
}

TYPED_TEST(Split, BesideABusyKernelOnGpus) {
  using Exec = typename TypeParam::exec;
  if (is_host_space<Exec>) GTEST_SKIP() << "not a GPU";
  const auto instances = other_instances(Exec{});
  const int threads = 2 * Exec{}.concurrency();
  const Kokkos::View<double*, typename Exec::memory_space> result("result", threads);
  for (const Algorithm algorithm :
       {TestFixture::split, Algorithm::split_online, Algorithm::split_column}) {
    keep_busy(instances.back(), result);
    TestFixture::expect_right({instances.front()}, 3, 3, 100003, algorithm);
    Kokkos::fence();
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
