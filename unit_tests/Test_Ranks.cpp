// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every axis of tensors of rank 1 to 8, given as a positive and as a negative number.

#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Ranks : public ::testing::Test {
 protected:
  template <int rank>
  static void expect_right_along_every_axis(const Extents& extents) {
    for (int axis = -rank; axis < rank; ++axis) {
      const std::size_t columns = extents[axis_index(extents, axis)];
      const std::size_t count = product(without_axis(extents, axis));
      const auto& sample = normal_sample<typename C::value>(count, columns);
      for (const Function function : all_functions)
        EXPECT_TRUE((check<typename C::layout, typename C::layout, rank>(
            typename C::exec{},
            {.function = function, .extents = extents, .options = {.axis = axis}}, sample.rows,
            sample.expected)));
    }
  }
};
TYPED_TEST_SUITE(Ranks, LayoutConfigs, ConfigName);

TYPED_TEST(Ranks, One) {
  for (const std::size_t extent : {0, 1, 33, 1025, 12671})
    TestFixture::template expect_right_along_every_axis<1>({extent});
}

TYPED_TEST(Ranks, Two) {
  TestFixture::template expect_right_along_every_axis<2>({33, 129});
  TestFixture::template expect_right_along_every_axis<2>({1, 33});
}

TYPED_TEST(Ranks, Three) {
  TestFixture::template expect_right_along_every_axis<3>({5, 33, 7});
  TestFixture::template expect_right_along_every_axis<3>({1025, 1, 3});
  TestFixture::template expect_right_along_every_axis<3>({2, 0, 3});
}

TYPED_TEST(Ranks, Four) {
  TestFixture::template expect_right_along_every_axis<4>({3, 5, 4, 37});
  TestFixture::template expect_right_along_every_axis<4>({2, 129, 1, 3});
  TestFixture::template expect_right_along_every_axis<4>({0, 3, 2, 5});
}

TYPED_TEST(Ranks, Five) {
  TestFixture::template expect_right_along_every_axis<5>({3, 2, 5, 4, 33});
  TestFixture::template expect_right_along_every_axis<5>({3, 1, 129, 2, 2});
}

// Tensors of LayoutStride have gaps after each axis, so that at most four axes of them may remain.
TYPED_TEST(Ranks, MoreThanFive) {
  TestFixture::template expect_right_along_every_axis<6>({3, 2, 1, 4, 1, 37});
  TestFixture::template expect_right_along_every_axis<7>({2, 1, 3, 1, 129, 1, 3});
  TestFixture::template expect_right_along_every_axis<8>({1, 2, 1, 3, 1, 2, 1, 33});
  if constexpr (!std::is_same_v<typename TypeParam::layout, Kokkos::LayoutStride>) {
    TestFixture::template expect_right_along_every_axis<6>({3, 2, 5, 2, 3, 7});
    TestFixture::template expect_right_along_every_axis<7>({2, 3, 2, 2, 3, 2, 5});
    TestFixture::template expect_right_along_every_axis<8>({2, 3, 2, 2, 3, 2, 2, 3});
    TestFixture::template expect_right_along_every_axis<8>({2, 3, 2, 0, 3, 2, 2, 3});
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
