// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Log-sum-exps along both axes of a matrix: right for all layouts, strides, shapes and values.

#include <KokkosSoftmax_BothAxes.hpp>
#include <cmath>
#include <limits>
#include <reference/Reference.hpp>
#include <support/Check.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;

/// The columns of a matrix as rows.
template <class T>
Rows<T> transposed(const Rows<T>& x) {
  Rows<T> result{.count = x.columns, .columns = x.count, .values = {}};
  for (std::size_t c = 0; c < x.columns; ++c)
    for (std::size_t r = 0; r < x.count; ++r) result.values.push_back(x.values[r * x.columns + c]);
  return result;
}

template <class C>
class BothAxes : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  /// Calls the function on a matrix of a layout and an offset of its first element, and checks all
  /// results.
  template <class L>
  static ::testing::AssertionResult check(const Rows<T>& x, double scale = 1,
                                          std::size_t offset = 0) {
    const Extents extents{x.count, x.columns};
    Field<X, Exec> field(place<L>(extents, offset));
    Field<T, Exec> of_rows(place<Right>(Extents{x.count}, 1)),
        of_columns(place<Right>(Extents{x.columns}, offset));
    field.assign(x.values);
    const Exec exec;
    logsumexp_both_axes(exec, field.template view<L, 2, const X>(),
                        of_rows.template view<Right, 1>(), of_columns.template view<Right, 1>(),
                        scale);
    exec.fence();
    const auto columns = transposed(x);
    auto result = is_accurate(Function::logsumexp, x, reference(x, scale), of_rows.read());
    result = both(result,
                  bool(is_accurate(Function::logsumexp, columns, reference(columns, scale),
                                   of_columns.read())),
                  "the results of columns are wrong");
    result = both(result, of_rows.gaps_are_unchanged() && of_columns.gaps_are_unchanged(),
                  "something beside the results was written");
    return both(result, field.is_unchanged(), "x was written");
  }
};
TYPED_TEST_SUITE(BothAxes, AllValueConfigs, ConfigName);

TYPED_TEST(BothAxes, ShapesAndLayouts) {
  using X = typename TypeParam::x_value;
  struct Matrix {
    std::size_t rows, columns;
  };
  for (const auto& [rows, columns] :
       {Matrix{1, 1}, Matrix{1, 700}, Matrix{700, 1}, Matrix{3, 4}, Matrix{40, 255},
        Matrix{31, 256}, Matrix{33, 257}, Matrix{309, 1000}, Matrix{1000, 309}, Matrix{5, 5001},
        Matrix{2050, 300}, Matrix{1024, 512}}) {
    const auto x = normal_rows<X>(rows, columns);
    for (const std::size_t offset : {0, 1}) {
      EXPECT_TRUE((TestFixture::template check<Right>(x, 1, offset))) << rows << " x " << columns;
      EXPECT_TRUE((TestFixture::template check<Left>(x, 0.5, offset))) << rows << " x " << columns;
      EXPECT_TRUE((TestFixture::template check<Kokkos::LayoutStride>(x, -1, offset)))
          << rows << " x " << columns;
    }
  }
}

// Rows and columns that differ by more than the exponential of their type can span, so that no
// reference serves all of them.
TYPED_TEST(BothAxes, FarApart) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  for (const double step : {3.0, 40.0, 700.0})
    for (const int direction : {0, 1, 2}) {
      Rows<T> x{.count = 300, .columns = 520, .values = {}};
      for (std::size_t r = 0; r < x.count; ++r)
        for (std::size_t c = 0; c < x.columns; ++c) {
          const double distance =
              direction == 0   ? static_cast<double>(r)
              : direction == 1 ? static_cast<double>(c)
                               : std::abs(static_cast<double>(r) - 0.5 * static_cast<double>(c));
          const double noise = static_cast<double>((r * 7 + c * 3) % 11) / 11;
          x.values.push_back(static_cast<T>(static_cast<X>(noise - step * distance)));
        }
      EXPECT_TRUE((TestFixture::template check<Right>(x))) << step << ", " << direction;
      EXPECT_TRUE((TestFixture::template check<Left>(x))) << step << ", " << direction;
    }
}

// Sums of many terms, and maxima that rise from row to row.
TYPED_TEST(BothAxes, Ramps) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  for (const double rise : {1e-3, 0.01, 1.0}) {
    Rows<T> x{.count = 6000, .columns = 300, .values = {}};
    for (std::size_t r = 0; r < x.count; ++r)
      for (std::size_t c = 0; c < x.columns; ++c)
        x.values.push_back(static_cast<T>(
            static_cast<X>(rise * static_cast<double>(r) - 0.01 * static_cast<double>(c))));
    EXPECT_TRUE((TestFixture::template check<Right>(x))) << rise;
    EXPECT_TRUE((TestFixture::template check<Left>(x))) << rise;
  }
}

// NaN and infinities in some rows and columns, alone and together; rows and columns of -inf.
TYPED_TEST(BothAxes, SpecialValues) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{20, 30}, {70, 520}}) {
    auto x = normal_rows<X>(rows, columns);
    const auto at = [&](std::size_t r, std::size_t c) -> T& { return x.values[r * columns + c]; };
    for (std::size_t c = 0; c < columns; ++c) at(7, c) = -inf;
    for (std::size_t r = 0; r < rows; ++r) at(r, 9) = at(r, columns - 1) = -inf;
    EXPECT_TRUE((TestFixture::template check<Right>(x)));
    at(3, 5) = nan;
    at(4, columns - 2) = inf;
    at(rows - 1, 5) = inf;
    for (const double scale : {1.0, -2.0, 0.0}) {
      EXPECT_TRUE((TestFixture::template check<Right>(x, scale))) << scale;
      EXPECT_TRUE((TestFixture::template check<Left>(x, scale))) << scale;
    }
  }
}

TYPED_TEST(BothAxes, WithoutEntries) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<T*, Exec> none("none", 0);
  Field<T, Exec> lse(place<Right>(Extents{5}, 0));
  const auto view = lse.template view<Right, 1>();
  const Exec exec;
  logsumexp_both_axes(exec, Kokkos::View<X**, Right, Exec>("x", 0, 0), none, none);
  for (const bool has_rows : {true, false}) {
    lse.assign(std::vector<T>(5, T(7)));
    if (has_rows)
      logsumexp_both_axes(exec, Kokkos::View<X**, Right, Exec>("x", 5, 0), view, none);
    else
      logsumexp_both_axes(exec, Kokkos::View<X**, Right, Exec>("x", 0, 5), none, view);
    exec.fence();
    for (const T value : lse.read()) EXPECT_EQ(value, -std::numeric_limits<T>::infinity());
  }
}

// The same call has the same bits each time.
TYPED_TEST(BothAxes, SameBits) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  Field<X, Exec> x(place<Right>(Extents{700, 1100}, 0));
  x.assign(normal_rows<X>(700, 1100).values);
  const auto view = x.template view<Right, 2, const X>();
  std::vector<T> first;
  for (int run = 0; run < 5; ++run) {
    Field<T, Exec> of_rows(place<Right>(Extents{700}, 0)),
        of_columns(place<Right>(Extents{1100}, 0));
    logsumexp_both_axes(Exec{}, view, of_rows.template view<Right, 1>(),
                        of_columns.template view<Right, 1>());
    Exec{}.fence();
    std::vector<T> all = of_rows.read();
    const std::vector<T> columns = of_columns.read();
    all.insert(all.end(), columns.begin(), columns.end());
    if (run == 0) first = all;
    EXPECT_TRUE(same_bits(all, first));
  }
}

TEST(BothAxesErrors, NameTheArgument) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  const Kokkos::View<double**, Right, Exec> x("x", 4, 6);
  const Kokkos::View<double*, Exec> rows("rows", 4), columns("columns", 6);
  EXPECT_TRUE(throws_with({"logsumexp_both_axes", "row_lse"},
                          [&] { logsumexp_both_axes(x, columns, columns); }));
  EXPECT_TRUE(throws_with({"logsumexp_both_axes", "column_lse"},
                          [&] { logsumexp_both_axes(x, rows, rows); }));
  EXPECT_TRUE(throws_with({"scale"}, [&] {
    logsumexp_both_axes(x, rows, columns, std::numeric_limits<double>::infinity());
  }));
  const Kokkos::View<double*, Exec> memory("memory", 8);
  const auto first = Kokkos::subview(memory, std::pair(0, 4)),
             last = Kokkos::subview(memory, std::pair(2, 8));
  EXPECT_TRUE(throws_with({"row_lse", "column_lse", "overlap"},
                          [&] { logsumexp_both_axes(x, first, last); }));
  const auto row = Kokkos::subview(x, 1, Kokkos::ALL);
  EXPECT_TRUE(
      throws_with({"x", "column_lse", "overlap"}, [&] { logsumexp_both_axes(x, rows, row); }));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
