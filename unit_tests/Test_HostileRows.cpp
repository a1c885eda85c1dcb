// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special values, extreme magnitudes and sorted entries. Each row of the matrix is of another kind,
// so that the test also detects a row that changes the results of its neighbours.

#include <limits>
#include <support/Check.hpp>
#include <type_traits>

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

// A row with one finite entry has the probability 1 there, whose logarithm is exactly 0, although
// the exponentials are rounded.
TYPED_TEST(HostileRows, TheLogarithmOfOneIsZero) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using L = std::conditional_t<std::is_same_v<typename TypeParam::layout, Kokkos::LayoutStride>,
                               Kokkos::LayoutRight, typename TypeParam::layout>;
  constexpr std::size_t rows = 40;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (const std::size_t columns : hostile_widths) {
    const Kokkos::View<T**, L, Exec> x("x", rows, columns);
    const auto entry = Kokkos::create_mirror_view(x);
    Kokkos::deep_copy(entry, -infinity);
    const auto column = [&](std::size_t r) { return 7 * r % columns; };
    for (std::size_t r = 0; r < rows; ++r) entry(r, column(r)) = T(0.37) * static_cast<T>(r) - T(5);
    Kokkos::deep_copy(x, entry);
    log_softmax(Exec{}, x, x);
    Kokkos::deep_copy(entry, x);
    for (std::size_t r = 0; r < rows; ++r) {
      EXPECT_EQ(entry(r, column(r)), T(0)) << r << " of " << columns;
      if (columns > 1) {
        EXPECT_EQ(entry(r, (column(r) + 1) % columns), -infinity) << r << " of " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
