// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of every width and height that something can go wrong at, along both axes.

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

/// The same with data too large to be kept.
template <class C>
void expect_right_for_large_data(std::size_t count, std::size_t columns) {
  const auto rows = normal_rows<typename C::value>(count, columns);
  expect_right_along_both_axes<C>({rows, reference(rows)});
}

template <class C>
class Shapes : public ::testing::Test {};
TYPED_TEST_SUITE(Shapes, LayoutConfigs, ConfigName);

TYPED_TEST(Shapes, FewRowsOfEveryWidth) {
  for (const std::size_t columns : widths)
    for (const std::size_t count : {0, 1, 2, 3})
      expect_right_along_both_axes<TypeParam>(count, columns);
}

TYPED_TEST(Shapes, ManyRows) {
  for (const std::size_t columns : widths)
    if (columns <= 1025) expect_right_along_both_axes<TypeParam>(127, columns);
}

// More rows than a GPU's grid has blocks in y.
TYPED_TEST(Shapes, VeryManyNarrowRows) {
  for (const std::size_t columns : {2, 7}) expect_right_along_both_axes<TypeParam>(70000, columns);
}

template <class C>
class SlowShapes : public ::testing::Test {};
TYPED_TEST_SUITE(SlowShapes, LayoutConfigs, ConfigName);

TYPED_TEST(SlowShapes, ManyWideRows) {
  for (const std::size_t columns : widths)
    if (columns > 1025) expect_right_for_large_data<TypeParam>(columns > 16384 ? 33 : 127, columns);
}

TYPED_TEST(SlowShapes, VeryManyRows) {
  for (const std::size_t columns : {1, 3, 31, 33})
    expect_right_for_large_data<TypeParam>(70000, columns);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
