// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special values, extreme magnitudes and sorted entries. Each row of the matrix is of another kind,
// so that the test also detects a row that changes the results of its neighbours.

#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

inline constexpr std::size_t hostile_widths[] = {1, 2, 7, 33, 1000, 1025, 5000};

template <class C>
class HostileRows : public ::testing::Test {
 protected:
  static void expect_right(const Options& options) {
    for (const std::size_t columns : hostile_widths) {
      const auto rows = hostile_rows<typename C::value>(columns);
      const auto expected = reference(rows, options.scale, options.empty_rows);
      for (const Function function : all_functions)
        EXPECT_TRUE(check_matrix<C>({.function = function, .options = options}, rows, expected));
    }
  }
};
TYPED_TEST_SUITE(HostileRows, EnabledLayoutConfigs, ConfigName);

TYPED_TEST(HostileRows, AlongTheLastAxis) { TestFixture::expect_right({.axis = 1}); }

TYPED_TEST(HostileRows, AlongTheFirstAxis) { TestFixture::expect_right({.axis = 0}); }

TYPED_TEST(HostileRows, EmptyRowsGiveZero) {
  TestFixture::expect_right({.axis = 1, .empty_rows = EmptyRows::zero});
  TestFixture::expect_right({.axis = 0, .empty_rows = EmptyRows::zero});
}

TYPED_TEST(HostileRows, InPlace) {
  using L = typename TypeParam::layout;
  for (const std::size_t columns : {33, 1025}) {
    const auto rows = hostile_rows<typename TypeParam::value>(columns);
    const auto expected = reference(rows);
    for (const Function function : {Function::softmax, Function::log_softmax})
      EXPECT_TRUE((check_in_place<L, 2>(typename TypeParam::exec{},
                                        {.function = function, .extents = {rows.count, columns}},
                                        rows, expected)));
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
