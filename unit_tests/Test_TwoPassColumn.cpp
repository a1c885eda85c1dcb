// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strided rows that one kernel after another reads: numbers of parts and phases, rows at any
// address, and when the rule takes them. Test_Columns has batches of rows, special values and the
// numbers beside y, and Test_NearZero sums near 0.

#include <backend/Hardware.hpp>
#include <support/Algorithms.hpp>
#include <support/Instances.hpp>
#include <support/StridedPlan.hpp>
#include <tuple>

namespace KokkosSoftmax::Test {
namespace {

constexpr auto two_passes = Algorithm::two_pass_column;

template <class C>
class TwoPassColumn : public ::testing::Test {
 protected:
  using Exec = typename C::exec;
  using X = typename C::x_value;

  void SetUp() override {
    if (is_host_space<Exec> && sizeof(X) == 2) GTEST_SKIP() << "hosts have no such kernels";
  }

  static void expect_right(std::size_t rows, std::size_t columns, std::size_t x_offset = 0,
                           std::size_t y_offset = 0) {
    const auto& sample = normal_sample<X>(rows, columns);
    for (const Function function : all_functions)
      EXPECT_TRUE(check_matrix<C>({.function = function,
                                   .options = {.axis = 0, .algorithm = two_passes},
                                   .x_offset = x_offset,
                                   .y_offset = y_offset},
                                  sample.rows, sample.expected, Exec{}))
          << rows << " rows of " << columns << " columns at " << x_offset << " and " << y_offset;
  }

  static bool is_taken(const std::string& description) {
    return description.find("two_pass_column{") != std::string::npos;
  }
};
TYPED_TEST_SUITE(TwoPassColumn, AllScheduleConfigs, ConfigName);

// Fewer columns than phases, parts of one tile, many parts.
TYPED_TEST(TwoPassColumn, AnyNumberOfColumns) {
  for (const std::size_t columns : {1, 2, 7, 33, 255, 257, 1000, 4099, 20001})
    for (const std::size_t rows : {2, 67}) TestFixture::expect_right(rows, columns);
}

// Fewer rows than a chunk, panels that are full, and runs that begin before a panel.
TYPED_TEST(TwoPassColumn, AnyNumberOfRows) {
  for (const std::size_t rows : {2, 3, 5, 31, 32, 64, 65, 127, 129, 1000, 4097})
    TestFixture::expect_right(rows, 301);
}

// x and y that are aligned in the same way, or not.
TYPED_TEST(TwoPassColumn, AnyAddress) {
  for (const std::size_t x_offset : {0, 1, 2, 3, 7, 31})
    for (const std::size_t y_offset : {0, 1, 4})
      for (const std::size_t rows : {66, 129})
        TestFixture::expect_right(rows, 515, x_offset, y_offset);
}

TYPED_TEST(TwoPassColumn, HostileRows) {
  for (const std::size_t columns : {300, 5000}) {
    auto rows = hostile_rows<typename TypeParam::x_value>(columns);
    for (const double scale : {1.0, -0.7}) {
      const Expected expected = reference(rows, scale);
      for (const Function function : all_functions) {
        const Case c{.function = function,
                     .options = {.axis = 0, .scale = scale, .algorithm = two_passes}};
        EXPECT_TRUE(check_matrix<TypeParam>(c, rows, expected, typename TypeParam::exec{}));
      }
    }
  }
}

TYPED_TEST(TwoPassColumn, RefusesReproducible) {
  EXPECT_THROW(
      plan_along_columns<TypeParam>(1000, 8, {.algorithm = two_passes, .reproducible = true}),
      std::invalid_argument);
}

// The sums of hundreds of equal parts: the errors of a plain sum would add up.
TYPED_TEST(TwoPassColumn, EqualEntries) {
  using T = typename TypeParam::value;
  Rows<T> rows{6, is_host_space<typename TypeParam::exec> ? 20000u : 262144u, {}};
  for (const double value : {0.0, 0.05, -0.1, 3.0, 0.7, -20.0})
    rows.values.insert(rows.values.end(), rows.columns,
                       static_cast<T>(static_cast<typename TypeParam::x_value>(value)));
  const Expected expected = reference(rows);
  for (const Function function : all_functions)
    EXPECT_TRUE(check_matrix<TypeParam>(
        {.function = function, .options = {.axis = 0, .algorithm = two_passes}}, rows, expected,
        typename TypeParam::exec{}));
}

// Taken for long columns that no cluster holds, if there are enough rows, and for logsumexp for
// columns that would have too few teams.
TYPED_TEST(TwoPassColumn, TakenByTheRule) {
  if constexpr (is_host_space<typename TypeParam::exec>) {
    GTEST_SKIP() << "a host has a rule of its own";
  } else {
    const auto cached =
        static_cast<std::size_t>(KokkosSoftmax::Impl::last_cache_bytes(typename TypeParam::exec{}));
    const std::size_t entries = 2 * cached / sizeof(typename TypeParam::x_value);
    for (const std::size_t columns : {20011, 65537})
      EXPECT_TRUE(TestFixture::is_taken(plan_along_columns<TypeParam>(columns, entries / columns)));
    EXPECT_TRUE(TestFixture::is_taken(plan_along_columns<TypeParam>(20011, 64)));
    EXPECT_FALSE(TestFixture::is_taken(plan_along_columns<TypeParam>(20011, 8)));
    EXPECT_FALSE(TestFixture::is_taken(plan_along_columns<TypeParam>(256, entries / 256)));
    EXPECT_FALSE(
        TestFixture::is_taken(plan_along_columns<TypeParam>(20011, 64, {.reproducible = true})));
    for (const auto& [columns, rows, taken] : {std::tuple{20011, 64, true},
                                               {20011, 1000, true},
                                               {1000000, 64, true},
                                               {20011, 8, false},
                                               {256, 100003, false}})
      EXPECT_EQ(TestFixture::is_taken(
                    plan_along_columns<TypeParam>(columns, rows, {}, Function::logsumexp)),
                taken)
          << columns << " x " << rows;
    constexpr bool is_float = std::is_same_v<typename TypeParam::x_value, float>;
    EXPECT_EQ(
        TestFixture::is_taken(plan_along_columns<TypeParam>(3000, 32768, {}, Function::logsumexp)),
        !is_float);
  }
}

// Results of logsumexp that don't lie side by side.
TYPED_TEST(TwoPassColumn, StridedNumbers) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const auto& sample = normal_sample<X>(67, 1000);
  const Exec exec;
  Field<X, Exec> x(place_right({1000, 67}));
  Field<typename TypeParam::y_value, Exec> lse(Placement{{67}, {3}});
  x.assign(rows_to_tensor(sample.rows.values, {1000, 67}, 0));
  logsumexp(exec, x.template view<Kokkos::LayoutRight, 2, const X>(),
            lse.template view<Kokkos::LayoutStride, 1>(), {.axis = 0, .algorithm = two_passes});
  exec.fence();
  const Case c{.function = Function::logsumexp, .extents = {1000, 67}, .options = {.axis = 0}};
  EXPECT_TRUE(check_output(c, sample.rows, sample.expected, lse));
}

// The states of the rows belong to the queue of an instance. Test_HostThreads tests concurrent
// launches on hosts.
TYPED_TEST(TwoPassColumn, ManyInstancesAtOnceOnGpus) {
  if (is_host_space<typename TypeParam::exec>) GTEST_SKIP() << "not a GPU";
  if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::y_value>)
    expect_right_on<typename TypeParam::x_value>(
        many_instances<typename TypeParam::exec>(), 4, 67, 2000,
        {.axis = 0, .algorithm = Algorithm::two_pass_column});
}

}  // namespace
}  // namespace KokkosSoftmax::Test
