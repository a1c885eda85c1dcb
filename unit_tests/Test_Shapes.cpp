// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of all widths and heights at which something can go wrong, along both axes.

#include <backend/Schedule.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
void expect_right_along_both_axes(const Sample<typename C::value>& sample) {
  for (const Function function : all_functions)
    for (const int axis : {0, 1})
      EXPECT_TRUE(check_matrix<C>({.function = function, .options = {.axis = axis}}, sample.rows,
                                  sample.expected));
}

template <class C>
void expect_right_along_both_axes(std::size_t count, std::size_t columns) {
  expect_right_along_both_axes<C>(normal_sample<typename C::value>(count, columns));
}

/// The same with data that are too large to be kept for later tests.
template <class C>
void expect_right_for_large_data(std::size_t count, std::size_t columns) {
  const auto rows = normal_rows<typename C::value>(count, columns);
  expect_right_along_both_axes<C>({rows, reference(rows)});
}

template <class C>
class Shapes : public ::testing::Test {};
TYPED_TEST_SUITE(Shapes, EnabledLayoutConfigs, ConfigName);

TYPED_TEST(Shapes, FewRowsOfEveryWidth) {
  for (const std::size_t columns : widths)
    for (const std::size_t count : {0, 1, 2, 3})
      expect_right_along_both_axes<TypeParam>(count, columns);
}

TYPED_TEST(Shapes, ManyRows) {
  for (const std::size_t columns : widths)
    if (columns <= 1025) expect_right_along_both_axes<TypeParam>(127, columns);
}

// More rows than the y dimension of a GPU's grid can have blocks.
TYPED_TEST(Shapes, VeryManyNarrowRows) {
  for (const std::size_t columns : {2, 7}) expect_right_along_both_axes<TypeParam>(70000, columns);
}

template <class C>
class SlowShapes : public ::testing::Test {};
TYPED_TEST_SUITE(SlowShapes, EnabledLayoutConfigs, ConfigName);

TYPED_TEST(SlowShapes, ManyWideRows) {
  for (const std::size_t columns : widths)
    if (columns > 1025) expect_right_for_large_data<TypeParam>(columns > 16384 ? 33 : 127, columns);
}

TYPED_TEST(SlowShapes, VeryManyRows) {
  for (const std::size_t columns : {1, 3, 31, 33})
    expect_right_for_large_data<TypeParam>(70000, columns);
}

/// Checks rows whose sums have more terms than those of `widths`. Forced algorithms for strided
/// rows run along axis 0, the other forced algorithms along axis 1.
template <class C>
void expect_right_for_long_rows(std::size_t count, std::size_t columns,
                                const std::vector<Algorithm>& algorithms) {
  const auto rows = normal_rows<typename C::value>(count, columns);
  const Expected expected = reference(rows);
  for (const Algorithm algorithm : algorithms)
    for (const Function function : all_functions)
      for (const int axis : {0, 1}) {
        const bool along_columns = KokkosSoftmax::Impl::has_row_in_each_lane(algorithm);
        if (algorithm != Algorithm::automatic && along_columns != (axis == 0)) continue;
        EXPECT_TRUE(check_matrix<C>(
            {.function = function, .options = {.axis = axis, .algorithm = algorithm}}, rows,
            expected));
      }
}

template <class C>
class LongRows : public ::testing::Test {};
TYPED_TEST_SUITE(LongRows, ValueConfigs, ConfigName);

TYPED_TEST(LongRows, OfAMillionColumns) {
  expect_right_for_long_rows<TypeParam>(1, 1000003, {Algorithm::automatic});
}

// More columns than a host reduces at a time.
TYPED_TEST(LongRows, OfSeveralSpans) {
  expect_right_for_long_rows<TypeParam>(5, 140003, {Algorithm::automatic});
}

template <class C>
class SlowLongRows : public ::testing::Test {};
TYPED_TEST_SUITE(SlowLongRows, ScheduleConfigs, ConfigName);

TYPED_TEST(SlowLongRows, OfAMillionColumns) {
  expect_right_for_long_rows<TypeParam>(
      2, 1000003,
      {Algorithm::automatic, Algorithm::online, Algorithm::split_online, Algorithm::column,
       Algorithm::split_column});
}

// Needs several gigabytes of host memory.
TYPED_TEST(SlowLongRows, OfTenMillionColumns) {
  expect_right_for_long_rows<TypeParam>(1, 10000019, {Algorithm::automatic, Algorithm::online});
}

}  // namespace
}  // namespace KokkosSoftmax::Test
