// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of the backward passes and of the cross entropy that follow from their definition: a
// row of dx sums to 0, a constant that is added to a row of x changes nothing, and columns in
// another order give dx in that order. No reference of a result is needed, only its bound.

#include <array>
#include <cmath>
#include <random>
#include <support/Backward.hpp>
#include <support/Loss.hpp>
#include <support/Permutation.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;

/// How far a result, rounded to X, may be from the exact one.
template <class X>
long double bound_of(const ExpectedNumbers& expected, std::size_t i) {
  const auto format = format_of<X>();
  return expected.bounds[i] + (format ? format->half_ulp(expected.values[i]) : 0);
}

/// Whether results for the same exact ones are as near to each other as the bounds say.
template <class X, class T>
::testing::AssertionResult are_alike(const std::vector<T>& a, const std::vector<T>& b,
                                     const ExpectedNumbers& expected) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;  // the label is none
    const long double difference = static_cast<long double>(a[i]) - b[i];
    if (!(std::fabs(difference) <= 2 * bound_of<X>(expected, i)))
      return ::testing::AssertionFailure() << "number " << i << ": " << a[i] << " and " << b[i];
  }
  return ::testing::AssertionSuccess();
}

template <class C>
class GradientProperties : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  static constexpr std::size_t count = 9;
  static constexpr std::array<std::size_t, 6> all_columns = {2, 7, 33, 300, 1024, 5001};
  static constexpr double scale = 0.5;

  /// The dx of a backward pass.
  static std::vector<T> dx_of(BackwardFunction function, const Rows<T>& y, const Rows<T>& dy) {
    const Extents extents{y.count, y.columns};
    Field<X, Exec> y_field(place<Right>(extents)), dy_field(place<Right>(extents)),
        dx(place<Right>(extents));
    y_field.assign(y.values);
    dy_field.assign(dy.values);
    call_backward(function, Exec{}, y_field.template view<Right, 2, const X>(),
                  dy_field.template view<Right, 2, const X>(), dx.template view<Right, 2>(),
                  {.scale = scale});
    Exec{}.fence();
    return dx.template read<T>();
  }

  /// What cross_entropy and its backward pass give.
  struct LossAndGradient {
    std::vector<T> loss, lse, dx;
  };
  static LossAndGradient loss_and_gradient(const Rows<T>& x, const Labels& labels,
                                           const std::vector<T>& dloss) {
    const Extents extents{x.count, x.columns}, rows{x.count};
    Field<X, Exec> x_field(place<Right>(extents)), dx(place<Right>(extents));
    Field<std::int64_t, Exec> label_field(place<Right>(rows));
    Field<T, Exec> loss(place<Right>(rows)), lse(place<Right>(rows)),
        dloss_field(place<Right>(rows));
    x_field.assign(x.values);
    label_field.assign(labels.of_row);
    dloss_field.assign(dloss);
    const auto x_view = x_field.template view<Right, 2, const X>();
    const auto label_view = label_field.template view<Right, 1, const std::int64_t>();
    const CrossEntropyOptions options{
        .scale = scale, .ignore_index = labels.ignored, .label_smoothing = labels.smoothing};
    cross_entropy(Exec{}, x_view, label_view, loss.template view<Right, 1>(),
                  lse.template view<Right, 1>(), options);
    cross_entropy_backward(Exec{}, x_view, label_view, lse.template view<Right, 1, const T>(),
                           dloss_field.template view<Right, 1, const T>(),
                           dx.template view<Right, 2>(), options);
    Exec{}.fence();
    return {loss.read(), lse.read(), dx.template read<T>()};
  }

  /// The exact loss and gradient, with bounds for a gradient from the rounded log-sum-exps.
  struct Bounds {
    ExpectedNumbers loss, dx;
  };
  static Bounds bounds_of(const Rows<T>& x, const Labels& labels, const std::vector<T>& dloss) {
    const Rows<T> v = scaled_rows(x, scale);
    const auto numbers = row_numbers(v);
    Bounds bounds{reference_loss(v, labels),
                  reference_gradient(v, scale, numbers.lse, dloss, &labels)};
    for (std::size_t i = 0; i < v.values.size(); ++i) {
      const std::size_t r = i / x.columns;
      const long double p = std::exp(static_cast<long double>(v.values[i]) - numbers.lse[r]);
      bounds.dx.bounds[i] += std::numeric_limits<T>::epsilon() * std::fabs(numbers.lse[r]) * p *
                             std::fabs(scale * dloss[r]);
    }
    return bounds;
  }

  /// Rows whose entries, with a shift by 8 or without it, are numbers of every X.
  static Rows<T> rows_with_shift(std::size_t columns, T shift) {
    std::minstd_rand random(static_cast<unsigned>(columns));
    Rows<T> x{.count = count, .columns = columns, .values = std::vector<T>(count * columns)};
    for (T& value : x.values) value = static_cast<T>(random() % 64) / T(8) + shift;
    return x;
  }

  /// What the library's function gives.
  static Rows<T> outputs_of(BackwardFunction function, const Rows<T>& x) {
    const Extents extents{x.count, x.columns};
    Field<X, Exec> x_field(place<Right>(extents)), y(place<Right>(extents));
    x_field.assign(x.values);
    call(function == BackwardFunction::softmax_backward ? Function::softmax : Function::log_softmax,
         Exec{}, x_field.template view<Right, 2, const X>(), y.template view<Right, 2>(),
         {.scale = scale});
    Exec{}.fence();
    return {.count = x.count, .columns = x.columns, .values = y.template read<T>()};
  }
};
TYPED_TEST_SUITE(GradientProperties, SameTypeConfigs, ConfigName);

// The sum of a row of dx is (1 - sum_k p_k) * sum_k t_k, and y is rounded.
TYPED_TEST(GradientProperties, RowsSumToZero) {
  using X = typename TypeParam::x_value;
  constexpr std::size_t count = TestFixture::count;
  for (const std::size_t columns : TestFixture::all_columns)
    for (const auto function : backward_functions) {
      const bool is_log = function == BackwardFunction::log_softmax_backward;
      const auto dy = backward_sample<X>(function, count, columns).dy;
      const auto y = TestFixture::outputs_of(function, normal_sample<X>(count, columns).rows);
      const auto dx = TestFixture::dx_of(function, y, dy);
      const auto expected = reference_backward(function, y, dy, TestFixture::scale);
      for (std::size_t r = 0; r < count; ++r) {
        long double sum = 0, of_p = 0, of_t = 0, bound = 0;
        for (std::size_t i = r * columns; i < (r + 1) * columns; ++i) {
          const long double output = y.values[i], p = is_log ? std::exp(output) : output;
          sum += dx[i];
          of_p += p;
          of_t += TestFixture::scale * (is_log ? 1 : p) * dy.values[i];
          bound += bound_of<X>(expected, i);
        }
        EXPECT_LE(std::fabs(sum), bound + std::fabs((1 - of_p) * of_t))
            << to_string(function) << ", row " << r << " of " << columns << " columns";
      }
    }
}

TYPED_TEST(GradientProperties, PermutedColumns) {
  using X = typename TypeParam::x_value;
  constexpr std::size_t count = TestFixture::count;
  for (const std::size_t columns : TestFixture::all_columns) {
    const auto order = any_order(columns);
    for (const auto function : backward_functions) {
      const auto sample = backward_sample<X>(function, count, columns);
      auto other = sample;
      other.y.values = permuted(sample.y.values, order);
      other.dy.values = permuted(sample.dy.values, order);
      EXPECT_TRUE(are_alike<X>(permuted(TestFixture::dx_of(function, sample.y, sample.dy), order),
                               TestFixture::dx_of(function, other.y, other.dy),
                               reference_backward(function, other.y, other.dy, TestFixture::scale)))
          << to_string(function) << ", " << columns << " columns";
    }
  }
}

TYPED_TEST(GradientProperties, PermutedClasses) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr std::size_t count = TestFixture::count;
  for (const std::size_t columns : TestFixture::all_columns) {
    const auto order = any_order(columns);
    const Rows<T> x = normal_sample<X>(count, columns).rows;
    const Labels labels = random_labels(count, columns, 0.125, -100);
    const auto dloss = row_numbers(x).derivative;
    Rows<T> other = x;
    other.values = permuted(x.values, order);
    Labels other_labels = labels;
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t r = 0; r < count; ++r)
        if (labels.of_row[r] == static_cast<std::int64_t>(order[column]))
          other_labels.of_row[r] = static_cast<std::int64_t>(column);
    const auto a = TestFixture::loss_and_gradient(x, labels, dloss);
    const auto b = TestFixture::loss_and_gradient(other, other_labels, dloss);
    const auto bounds = TestFixture::bounds_of(other, other_labels, dloss);
    EXPECT_TRUE(are_alike<T>(a.loss, b.loss, bounds.loss)) << columns << " columns";
    EXPECT_TRUE(are_alike<X>(permuted(a.dx, order), b.dx, bounds.dx)) << columns << " columns";
  }
}

TYPED_TEST(GradientProperties, ShiftedRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  for (const std::size_t columns : TestFixture::all_columns) {
    const Rows<T> x = TestFixture::rows_with_shift(columns, 0);
    const Rows<T> shifted = TestFixture::rows_with_shift(columns, 8);
    const Labels labels = random_labels(x.count, columns, 0.125, -100);
    const auto dloss = row_numbers(x).derivative;
    const auto a = TestFixture::loss_and_gradient(x, labels, dloss);
    const auto b = TestFixture::loss_and_gradient(shifted, labels, dloss);
    const auto bounds = TestFixture::bounds_of(shifted, labels, dloss);
    EXPECT_TRUE(are_alike<T>(a.loss, b.loss, bounds.loss)) << columns << " columns";
    EXPECT_TRUE(are_alike<X>(a.dx, b.dx, bounds.dx)) << columns << " columns";
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
