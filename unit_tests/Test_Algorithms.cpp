// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forces every algorithm on every execution space, on all shapes that it can serve.

#include <support/Algorithms.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Algorithms : public ::testing::Test {
 protected:
  using T = typename C::value;

  static void expect_right(std::size_t count, std::size_t columns) {
    const auto& sample = normal_sample<T>(count, columns);
    expect_algorithms_right<C>(sample.rows, sample.expected, {});
  }
};
TYPED_TEST_SUITE(Algorithms, ValueConfigs, ConfigName);

TYPED_TEST(Algorithms, EveryWidth) {
  for (const std::size_t columns : widths)
    if (columns <= 4096) TestFixture::expect_right(3, columns);
}

TYPED_TEST(Algorithms, OneRow) {
  for (const std::size_t columns : widths) TestFixture::expect_right(1, columns);
}

TYPED_TEST(Algorithms, ManyRows) {
  for (const std::size_t columns : {1, 2, 3, 7, 32, 33, 129})
    TestFixture::expect_right(127, columns);
}

TYPED_TEST(Algorithms, HostileRows) {
  for (const std::size_t columns : {7, 33, 1025}) {
    const auto rows = hostile_rows<typename TypeParam::value>(columns);
    for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
      expect_algorithms_right<TypeParam>(rows, reference(rows, 1.0, empty_rows),
                                         {.empty_rows = empty_rows});
  }
}

TYPED_TEST(Algorithms, UnalignedPointers) {
  for (const Algorithm algorithm : all_algorithms)
    for (const std::size_t columns : {7, 32, 33, 128, 1000, 1024, 1025, 4096})
      for (const std::size_t x_offset : {0, 1, 2, 3})
        for (const std::size_t y_offset : {0, 1, 2, 3}) {
          const auto& sample = normal_sample<typename TypeParam::value>(3, columns);
          serves<TypeParam>(
              {.options = {.algorithm = algorithm}, .x_offset = x_offset, .y_offset = y_offset},
              sample.rows, sample.expected);
        }
}

TYPED_TEST(Algorithms, InPlace) {
  for (const Algorithm algorithm : all_algorithms)
    for (const Function function : {Function::softmax, Function::log_softmax})
      for (const std::size_t columns : {7, 33, 1024, 1025, 4096, 32769}) {
        const auto& sample = normal_sample<typename TypeParam::value>(3, columns);
        expect_served_in_place<TypeParam>(
            {.function = function, .extents = {3, columns}, .options = {.algorithm = algorithm}},
            sample.rows, sample.expected);
      }
}

/// Every algorithm, function, type and axis on a few small shapes, for tools under which a test
/// takes a hundred times as long.
template <class C>
class Reduced : public Algorithms<C> {};
TYPED_TEST_SUITE(Reduced, ValueConfigs, ConfigName);

TYPED_TEST(Reduced, EveryAlgorithm) {
  for (const std::size_t columns : {1, 33, 128, 781, 1024, 1025, 4099})
    TestFixture::expect_right(3, columns);
  TestFixture::expect_right(37, 7);
}

TYPED_TEST(Reduced, Unaligned) {
  for (const Algorithm algorithm : all_algorithms)
    for (const std::size_t columns : {33, 1025}) {
      const auto& sample = normal_sample<typename TypeParam::value>(3, columns);
      serves<TypeParam>({.options = {.algorithm = algorithm}, .x_offset = 1, .y_offset = 3},
                        sample.rows, sample.expected);
    }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
