// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cross_entropy, cross_entropy_backward and logsumexp_backward: right with every algorithm, layout
// and axis, with ignored and invalid labels, label smoothing and special values, in place, and as
// the derivatives of each other.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <support/Algorithms.hpp>
#include <support/Inputs.hpp>
#include <support/Loss.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
using Strided = Kokkos::LayoutStride;

template <class C>
class CrossEntropy : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  template <class Label>
  using LabelField = Field<Label, Exec>;

  static Extents extents_of(std::size_t count, std::size_t columns, int axis) {
    return axis == 0 ? Extents{columns, count} : Extents{count, columns};
  }

  /// Calls cross_entropy and checks loss and lse.
  template <class LX, class LRows, class Label, int rank = 2>
  static ::testing::AssertionResult check_loss(const Extents& extents, const Rows<T>& x,
                                               const Labels& labels, CrossEntropyOptions options,
                                               std::size_t offset = 0) {
    options.ignore_index = labels.ignored;
    options.label_smoothing = labels.smoothing;
    const Extents of_rows = without_axis(extents, options.axis);
    Field<X, Exec> x_field(place<LX>(extents, offset));
    LabelField<Label> label_field(place<LRows>(of_rows, offset));
    Field<T, Exec> loss(place<LRows>(of_rows, offset)), lse(place<Right>(of_rows));
    x_field.assign(rows_to_tensor(x.values, extents, options.axis));
    label_field.assign(std::vector<Label>(labels.of_row.begin(), labels.of_row.end()));
    const Exec exec;
    const auto x_view = x_field.template view<LX, rank, const X>();
    const auto label_view = label_field.template view<LRows, rank - 1, const Label>();
    cross_entropy(exec, x_view, label_view, loss.template view<LRows, rank - 1>(),
                  lse.template view<Right, rank - 1>(), options);
    exec.fence();
    const auto v = scaled_rows(x, options.scale);
    const auto with_lse = loss.template read<T>();
    auto result = are_near<T>(with_lse, reference_loss(v, labels));
    if (result) result = is_accurate(Function::logsumexp, v, beside_y(reference(v)), lse.read());
    cross_entropy(exec, x_view, label_view, loss.template view<LRows, rank - 1>(), options);
    exec.fence();
    result = both(result, same_bits(loss.template read<T>(), with_lse), "lse changes the loss");
    result = both(result, loss.gaps_are_unchanged() && lse.gaps_are_unchanged(),
                  "something beside the results was written");
    result =
        both(result, x_field.is_unchanged() && label_field.is_unchanged(), "an input was written");
    if (!result)
      result << "\n  in " << x.count << " rows of " << x.columns << " columns, axis "
             << options.axis << ", smoothing " << labels.smoothing << ", "
             << to_string(options.algorithm);
    return result;
  }

  /// Calls cross_entropy_backward, or logsumexp_backward if there are no labels, and checks dx.
  template <class LX, class LRows, class LDX, int rank = 2>
  static ::testing::AssertionResult check_gradient(const Extents& extents, const Rows<T>& x,
                                                   const Labels* labels, int axis, double scale,
                                                   bool in_place = false, std::size_t offset = 0) {
    const Rows<T> v = scaled_rows(x, scale);
    const auto numbers = row_numbers(v);
    const Extents of_rows = without_axis(extents, axis);
    Field<X, Exec> x_field(place<LX>(extents, offset)), dx_field(place<LDX>(extents, offset));
    Field<T, Exec> lse(place<LRows>(of_rows, offset)), derivative(place<LRows>(of_rows));
    Field<std::int64_t, Exec> label_field(place<LRows>(of_rows));
    x_field.assign(rows_to_tensor(x.values, extents, axis));
    lse.assign(numbers.lse);
    derivative.assign(numbers.derivative);
    const Exec exec;
    const auto call = [&](const auto& dx) {
      const auto x_view = x_field.template view<LX, rank, const X>();
      const auto lse_view = lse.template view<LRows, rank - 1, const T>();
      const auto derivative_view = derivative.template view<LRows, rank - 1, const T>();
      if (labels == nullptr)
        return logsumexp_backward(exec, x_view, lse_view, derivative_view, dx,
                                  {.axis = axis, .scale = scale});
      label_field.assign(labels->of_row);
      cross_entropy_backward(exec, x_view,
                             label_field.template view<LRows, rank - 1, const std::int64_t>(),
                             lse_view, derivative_view, dx,
                             {.axis = axis,
                              .scale = scale,
                              .ignore_index = labels->ignored,
                              .label_smoothing = labels->smoothing});
    };
    if (in_place)
      call(x_field.template view<LX, rank>());
    else
      call(dx_field.template view<LDX, rank>());
    exec.fence();
    auto& dx = in_place ? x_field : dx_field;
    auto result =
        are_near<X>(tensor_to_rows(dx.template read<T>(), extents, axis),
                    reference_gradient(v, scale, numbers.lse, numbers.derivative, labels));
    result = both(result, dx.gaps_are_unchanged(), "something beside dx's elements was written");
    result = both(result, (in_place || x_field.is_unchanged()) && lse.is_unchanged(),
                  "an input was written");
    if (!result)
      result << "\n  in " << x.count << " rows of " << x.columns << " columns, axis " << axis
             << (labels == nullptr ? ", without labels" : ", with labels") << ", offset " << offset
             << (in_place ? ", in place" : "");
    return result;
  }
};
TYPED_TEST_SUITE(CrossEntropy, SameTypeConfigs, ConfigName);

struct Size {
  std::size_t count, columns;
};

TYPED_TEST(CrossEntropy, EveryAlgorithm) {
  using X = typename TypeParam::x_value;
  const auto algorithms = all_algorithms_and_automatic();
  for (const auto& [count, columns] :
       {Size{1, 1}, Size{70, 1}, Size{70, 4}, Size{700, 7}, Size{70, 16}, Size{70, 33},
        Size{70, 56}, Size{33, 99}, Size{33, 128}, Size{33, 130}, Size{33, 256}, Size{33, 300},
        Size{33, 512}, Size{9, 1024}, Size{9, 1025}, Size{5, 5001}, Size{3, 20001}, Size{2, 70001}})
    for (const double smoothing : {0.0, 0.125, 1.0}) {
      const Labels labels = random_labels(count, columns, smoothing, -100);
      const auto& x = normal_sample<X>(count, columns).rows;
      for (const int axis : {0, 1})
        for (const Algorithm algorithm : algorithms) {
          const bool served = is_served(algorithm, [&] {
            EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
                TestFixture::extents_of(count, columns, axis), x, labels,
                {.axis = axis, .scale = -0.75, .algorithm = algorithm})));
          });
          EXPECT_TRUE(served || algorithm != Algorithm::automatic);
        }
    }
}

// So many rows that they pass through teams of one warp on a GPU.
TYPED_TEST(CrossEntropy, ManyRows) {
  using X = typename TypeParam::x_value;
  constexpr std::size_t count = is_host_space<typename TypeParam::exec> ? 40 : 9000;
  constexpr std::size_t columns = 1027;
  const auto& x = normal_sample<X>(count, columns).rows;
  for (const double smoothing : {0.0, 0.125})
    EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int32_t>(
        {count, columns}, x, random_labels(count, columns, smoothing, -100), {.scale = 0.5}, 1)));
}

// Rows side by side, of which a host holds all columns at once, or computes them in parts.
TYPED_TEST(CrossEntropy, NeighbouringRows) {
  using X = typename TypeParam::x_value;
  for (const auto& [count, columns] :
       {Size{300, 10}, Size{130, 700}, Size{33, 2500}, Size{100, 5001}, Size{17, 9000}})
    for (const double smoothing : {0.0, 0.125}) {
      const Labels labels = random_labels(count, columns, smoothing, 1);
      const auto& x = normal_sample<X>(count, columns).rows;
      const Extents extents{columns, count};
      for (const std::size_t offset : {0, 1}) {
        EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
            extents, x, labels, {.axis = 0, .scale = 0.5}, offset)));
        EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(
            extents, x, &labels, 0, 1.25, offset == 1, offset)));
      }
    }
}

// Fewer rows than threads, so that these share the columns on a host.
TYPED_TEST(CrossEntropy, OneLongRow) {
  using X = typename TypeParam::x_value;
  constexpr std::size_t columns = 140001;
  const auto& x = normal_sample<X>(1, columns).rows;
  for (const double smoothing : {0.0, 0.125, 1.0}) {
    const Labels labels = random_labels(1, columns, smoothing, -100);
    for (const int axis : {0, 1})
      EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
          TestFixture::extents_of(1, columns, axis), x, labels, {.axis = axis, .scale = -0.75})));
  }
}

// Rows in which the label has nearly all of the probability, so that each addition to the sum of
// the exponentials is rounded as much as it can be.
TYPED_TEST(CrossEntropy, LossesNearZero) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr std::size_t count = 300;
  for (const std::size_t columns : {32, 128, 500}) {
    Rows<T> x = normal_sample<X>(count, columns).rows;
    for (T& value : x.values) value = static_cast<T>(static_cast<X>(value - T(12)));
    Labels labels;
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t label = r % columns;
      labels.of_row.push_back(static_cast<std::int64_t>(label));
      x.values[r * columns + label] = T(1);
    }
    for (const int axis : {0, 1})
      EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
          TestFixture::extents_of(count, columns, axis), x, labels, {.axis = axis})));
  }
}

/// About the smallest finite number of type X, as T.
template <class X, class T>
T lowest() {
  for (const double number : {-1.7e308, -3.3e38, -65504.0}) {
    const auto value = static_cast<T>(static_cast<X>(static_cast<T>(number)));
    if (std::isfinite(value)) return value;
  }
  return T(0);
}

// Of an entry that is finite, although its value is -inf.
TYPED_TEST(CrossEntropy, SmoothedLossOfValuesThatOverflow) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {20, 70001}) {
    Rows<T> x = normal_sample<X>(2, columns).rows;
    x.values[7] = lowest<X, T>();
    const Labels labels{.of_row = {1, 2}, .smoothing = 1};
    for (const int axis : {0, 1})
      for (const double scale : {250.0, -250.0}) {
        EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
            TestFixture::extents_of(2, columns, axis), x, labels, {.axis = axis, .scale = scale})));
      }
  }
}

// Of entries whose sum overflows, although that of their values doesn't.
TYPED_TEST(CrossEntropy, SmoothedLossOfEntriesWhoseSumOverflows) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  const double scale = -16 / static_cast<double>(lowest<X, T>());
  for (const std::size_t columns : {20, 300, 1027}) {
    Rows<T> x = normal_sample<X>(2, columns).rows;
    std::fill(x.values.begin(), x.values.end(), lowest<X, T>() / 2);
    const Labels labels{.of_row = {1, 2}, .smoothing = 0.125};
    for (const int axis : {0, 1})
      EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
          TestFixture::extents_of(2, columns, axis), x, labels, {.axis = axis, .scale = scale})));
  }
}

// Of values whose sum overflows.
TYPED_TEST(CrossEntropy, SmoothedLossOfValuesWhoseSumOverflows) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  const auto algorithms = all_algorithms_and_automatic();
  for (const std::size_t columns : {5, 20, 300, 1027, 70001}) {
    Rows<T> x{2, columns, std::vector<T>(2 * columns, lowest<X, T>() / 2)};
    for (std::size_t c = 0; c < columns; c += 2) x.values[c] = 0;
    const Labels labels{.of_row = {1, 2}, .smoothing = 0.125};
    for (const Algorithm algorithm : algorithms)
      for (const int axis : {0, 1})
        for (const double scale : {1.0, -1.0, 0.0})
          is_served(algorithm, [&] {
            EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
                TestFixture::extents_of(2, columns, axis), x, labels,
                {.axis = axis, .scale = scale, .algorithm = algorithm})));
          });
  }
}

// An axis of extent 1 can have the stride 0. The probability of the only entry of a row is 1.
TYPED_TEST(CrossEntropy, GradientOfOneColumnOfStrideZero) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = 700;
  const auto& sample = normal_sample<X>(count, 1);
  std::vector<T> derivative(count);
  for (std::size_t r = 0; r < count; ++r) derivative[r] = static_cast<T>(r % 5);
  Field<X, Exec> x(place_right({count, 1})), dx(Placement{{count, 1}, {2, 0}});
  Field<T, Exec> lse(place_right({count})), dlse(place_right({count}));
  x.assign(sample.rows.values);
  lse.assign(sample.rows.values);
  dlse.assign(derivative);
  logsumexp_backward(Exec{}, x.template view<Right, 2>(), lse.template view<Right, 1>(),
                     dlse.template view<Right, 1>(), dx.template view<Strided, 2>(), {.axis = 1});
  Exec{}.fence();
  EXPECT_EQ(dx.template read<T>(), derivative);
  EXPECT_TRUE(dx.gaps_are_unchanged());
}

TYPED_TEST(CrossEntropy, LayoutsAndLabels) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {3, 130, 5001})
    for (const int axis : {0, 1}) {
      const Labels labels = random_labels(33, columns, 0.1, 2);  // a column as the ignored label
      const auto& x = normal_sample<X>(33, columns).rows;
      const Extents extents = TestFixture::extents_of(33, columns, axis);
      const CrossEntropyOptions options{.axis = axis};
      EXPECT_TRUE((TestFixture::template check_loss<Left, Left, std::int32_t>(extents, x, labels,
                                                                              options, 1)));
      EXPECT_TRUE((TestFixture::template check_loss<Strided, Strided, std::int64_t>(
          extents, x, labels, options, 3)));
      CrossEntropyOptions reproducible = options;
      reproducible.reproducible = true;
      EXPECT_TRUE((TestFixture::template check_loss<Right, Strided, std::int32_t>(
          extents, x, labels, reproducible)));
    }
  const Extents extents{3, 5, 7, 9};
  for (const int axis : {0, 1, 2, 3}) {
    const std::size_t columns = extents[static_cast<std::size_t>(axis)];
    const std::size_t count = product(extents) / columns;
    const auto& x = normal_sample<X>(count, columns).rows;
    const Labels labels = random_labels(count, columns, 0, -1);
    EXPECT_TRUE((TestFixture::template check_loss<Right, Left, std::int32_t, 4>(extents, x, labels,
                                                                                {.axis = axis})));
    EXPECT_TRUE((TestFixture::template check_gradient<Strided, Left, Right, 4>(extents, x, &labels,
                                                                               axis, 1.5)));
  }
  const Extents of_rank_8{1, 3, 2, 1, 5, 1, 1, 4};
  for (const int axis : {1, 4, -1}) {
    const std::size_t columns = of_rank_8[axis_index(of_rank_8, axis)];
    const std::size_t count = product(of_rank_8) / columns;
    const auto& x = normal_sample<X>(count, columns).rows;
    const Labels labels = random_labels(count, columns, 0, -1);
    EXPECT_TRUE((TestFixture::template check_loss<Right, Left, std::int32_t, 8>(
        of_rank_8, x, labels, {.axis = axis})));
    EXPECT_TRUE((TestFixture::template check_gradient<Strided, Left, Right, 8>(of_rank_8, x,
                                                                               &labels, axis, 1)));
  }
  const Labels one = random_labels(1, 100, 0.5, -1);
  EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int32_t, 1>(
      {100}, normal_sample<X>(1, 100).rows, one, {})));
}

TYPED_TEST(CrossEntropy, SpecialEntries) {
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  // The label's entry is -inf, other entries are -inf, NaN and +inf, all entries are -inf, an
  // ignored row has NaN, the label has nearly all of the probability, all entries are large.
  const Rows<T> x{.count = 8,
                  .columns = 3,
                  .values = {-inf, 1,    2,    1,   -inf, 2, nan, 1,  2, inf,    1,      2,
                             -inf, -inf, -inf, nan, 1,    2, 0,   30, 0, -32768, -32768, -32768}};
  const std::vector<std::int64_t> of_row = {0, 0, 1, 1, 1, -100, 1, 2};
  for (const int axis : {0, 1}) {
    const Extents extents = TestFixture::extents_of(8, 3, axis);
    for (const double smoothing : {0.0, 0.25}) {
      const Labels labels{.of_row = of_row, .smoothing = smoothing};
      EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int32_t>(extents, x, labels,
                                                                                {.axis = axis})));
      EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(extents, x, &labels,
                                                                             axis, 1.0)));
    }
    EXPECT_TRUE((
        TestFixture::template check_gradient<Right, Right, Right>(extents, x, nullptr, axis, 1.0)));
  }
}

// The scale 0 is a limit from above, so that infinite entries stay infinite.
TYPED_TEST(CrossEntropy, SpecialEntriesWithScaleZero) {
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const Rows<T> x{.count = 5,
                  .columns = 3,
                  .values = {-inf, 1, 2, 1, -inf, 2, inf, 1, 2, nan, 1, 2, -inf, -inf, -inf}};
  const Labels labels{.of_row = {0, 0, 1, 1, 1}};
  for (const int axis : {0, 1}) {
    const Extents extents = TestFixture::extents_of(x.count, x.columns, axis);
    EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int32_t>(
        extents, x, labels, {.axis = axis, .scale = 0})));
    EXPECT_TRUE((
        TestFixture::template check_gradient<Right, Right, Right>(extents, x, &labels, axis, 0.0)));
  }
}

// Many equal numbers, whose additions are all rounded in the same direction.
TYPED_TEST(CrossEntropy, MeanOfEqualEntries) {
  using T = typename TypeParam::value;
  for (const std::size_t columns : {130, 511, 2039, 5001, 70001}) {
    const Rows<T> x{.count = 2, .columns = columns, .values = std::vector<T>(2 * columns)};
    for (const double smoothing : {0.5, 1.0})
      for (const int axis : {0, 1})
        EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
            TestFixture::extents_of(2, columns, axis), x,
            {.of_row = {0, 1}, .smoothing = smoothing}, {.axis = axis})));
  }
}

/// The largest finite number. Kokkos' finite_max_v of half types has a type of its own.
template <class X>
constexpr double largest_number() {
  if constexpr (sizeof(X) > 2)
    return std::numeric_limits<X>::max();
  else
    return std::is_same_v<X, Kokkos::Experimental::bhalf_t> ? 0x1.fep127 : 65504;
}

// The mean of the largest numbers is finite, though their sum is rounded.
TYPED_TEST(CrossEntropy, MeanOfLargestEntries) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  const auto most = static_cast<T>(largest_number<X>());
  for (const std::size_t columns : {1, 7, 100, 137, 511, 700, 5001})
    for (const T value : {most, -most}) {
      const Rows<T> x{.count = 2, .columns = columns, .values = std::vector<T>(2 * columns, value)};
      for (const double smoothing : {0.5, 1.0})
        for (const int axis : {0, 1})
          for (const Algorithm algorithm : all_algorithms_and_automatic())
            is_served(algorithm, [&] {
              EXPECT_TRUE((TestFixture::template check_loss<Right, Right, std::int64_t>(
                  TestFixture::extents_of(2, columns, axis), x,
                  {.of_row = {0, 0}, .smoothing = smoothing},
                  {.axis = axis, .algorithm = algorithm})));
            });
    }
}

TYPED_TEST(CrossEntropy, NoColumnsAndNoRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Exec> no_columns("x", 2, 0), no_rows("x", 0, 2);
  const Kokkos::View<int*, Exec> labels("labels", 2), none("labels", 0);
  const Kokkos::View<T*, Exec> loss("loss", 2), lse("lse", 2), nothing("loss", 0);
  const Exec exec;
  cross_entropy(exec, no_columns, labels, loss, lse);
  cross_entropy(exec, no_rows, none, nothing);
  cross_entropy_backward(exec, no_columns, labels, loss, loss, no_columns);
  cross_entropy_backward(exec, no_rows, none, nothing, nothing, no_rows);
  logsumexp_backward(exec, no_columns, loss, loss, no_columns);
  exec.fence();
  const auto loss_on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), loss);
  const auto lse_on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), lse);
  for (int r = 0; r < 2; ++r) {
    EXPECT_TRUE(std::isnan(loss_on_host(r)));  // 0 is not the number of a column
    EXPECT_EQ(lse_on_host(r), -std::numeric_limits<T>::infinity());
  }
}

// x has no strides by which its axes could be sorted, so that they merge.
TYPED_TEST(CrossEntropy, NoColumnsAndManyAxes) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Extents rows{2, 3, 2, 3, 2};
  const Kokkos::View<X******, Left, Exec> x("x", 2, 3, 2, 3, 2, 0);
  const Kokkos::View<int*****, Left, Exec> labels("labels", 2, 3, 2, 3, 2);
  Field<T, Exec> loss(place<Left>(rows)), lse(place<Left>(rows));
  const Exec exec;
  cross_entropy(exec, x, labels, loss.template view<Left, 5>(), lse.template view<Left, 5>());
  exec.fence();
  for (const T value : loss.read()) EXPECT_TRUE(std::isnan(value));
  for (const T value : lse.read()) EXPECT_EQ(value, -std::numeric_limits<T>::infinity());
  EXPECT_TRUE(loss.gaps_are_unchanged() && lse.gaps_are_unchanged());
}

TYPED_TEST(CrossEntropy, Gradients) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {1, 2, 3, 8, 33, 130, 781, 1024, 5001, 70001}) {
    const std::size_t count = columns > 10000 ? 2 : columns > 1024 ? 5 : 70;
    const auto& x = normal_sample<X>(count, columns).rows;
    for (const double smoothing : {0.0, 0.125}) {
      const Labels labels = random_labels(count, columns, smoothing, 1);
      for (const Labels* given : {&labels, static_cast<const Labels*>(nullptr)})
        for (const int axis : {0, 1}) {
          const Extents extents = TestFixture::extents_of(count, columns, axis);
          for (const std::size_t offset : {0, 1}) {
            EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(
                extents, x, given, axis, 1.25, offset == 0, offset)));
            EXPECT_TRUE((TestFixture::template check_gradient<Left, Strided, Right>(
                extents, x, given, axis, -1.0, false, offset)));
          }
          EXPECT_TRUE((TestFixture::template check_gradient<Strided, Left, Strided>(
              extents, x, given, axis, 1.0, true)));
          EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(extents, x, given,
                                                                                 axis, 0.0)));
        }
    }
  }
}

// A GPU divides rows into parts of chunks, and computes the entries before the first chunk and
// after the last one by themselves. Several short rows share a warp. So there are rows of one part
// and of several, which begin anywhere in a chunk, numbers of rows that do and don't fill the last
// warp, and labels at the ends of rows, chunks and parts. Other short rows have whole or half
// chunks.
TYPED_TEST(CrossEntropy, GradientsInParts) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns :
       {5,   8,   9,   10,  12,  13,   16,   17,   24,   27,   30,  33,  50,
        61,  64,  65,  80,  100, 101,  128,  129,  136,  200,  250, 255, 256,
        257, 333, 384, 500, 513, 1000, 1002, 1027, 1032, 4099, 8200})
    for (const std::size_t count : {1, 3, 6, 37, 150}) {
      if (count > 37 && columns > 100) continue;
      const auto& x = normal_sample<X>(count, columns).rows;
      Labels labels = random_labels(count, columns, 0.125, 1);
      const std::size_t ends[] = {0,   1,   7,   8,           15,          63,         64,
                                  127, 128, 255, columns - 8, columns - 2, columns - 1};
      for (std::size_t row = 0; row < count; row += 2)
        labels.of_row[row] =
            static_cast<std::int64_t>(std::min(ends[row / 2 % std::size(ends)], columns - 1));
      const Extents extents{count, columns};
      EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(extents, x, &labels, 1,
                                                                             0.75, true)));
      for (const std::size_t offset : {0, 1, 2, 4, 7})
        EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(
            extents, x, &labels, 1, 1.0, false, offset)));
      EXPECT_TRUE(
          (TestFixture::template check_gradient<Right, Right, Right>(extents, x, nullptr, 1, 1.0)));
    }
}

// A GPU moves runs of short rows to scratch memory and back (PackedGradientKernel), where 1, 2 or 4
// lanes have a row. So there are fewer rows than a team has, and several teams of which the last
// one isn't full.
TYPED_TEST(CrossEntropy, GradientsOfShortRows) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {1,  2,  3,  4,  5,  6,  7,  9,  12, 15,  20,  21,  23,  39,
                                    40, 41, 42, 50, 65, 79, 80, 81, 82, 101, 150, 159, 160, 161}) {
    const std::size_t in_several_teams = columns <= 2 ? 5300 : columns <= 41 ? 700 : 70;
    for (const std::size_t count : {std::size_t(1), std::size_t(13), in_several_teams}) {
      const auto& x = normal_sample<X>(count, columns).rows;
      Labels labels = random_labels(count, columns, 0.125, 1);
      labels.of_row[count / 2] = static_cast<std::int64_t>(columns) - 1;
      const Extents extents{count, columns};
      for (const bool in_place : {false, true})
        EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(extents, x, &labels,
                                                                               1, 0.75, in_place)));
      EXPECT_TRUE(
          (TestFixture::template check_gradient<Right, Right, Right>(extents, x, nullptr, 1, 1.0)));
    }
  }
}

constexpr std::int64_t ignored_label = -100;

/// A matrix and its transposed copy, which cross_entropy_backward processes along axes 0 and 1.
template <class X, class T, class Exec>
struct TransposedGradients {
  using Matrix = Kokkos::View<X**, Right, Exec>;
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

  TransposedGradients(std::int64_t columns, std::int64_t rows)
      : along_0("x", columns, rows),
        dx_along_0("dx", columns, rows),
        along_1("x", rows, columns),
        dx_along_1("dx", rows, columns),
        lse("lse", rows),
        derivative("derivative", rows),
        label("label", rows) {}

  void fill(const Exec& exec) const {
    const TransposedGradients self = *this;
    Kokkos::parallel_for(
        Range(exec, 0, along_0.extent(1)), KOKKOS_LAMBDA(std::int64_t r) {
          const auto columns = static_cast<std::int64_t>(self.along_0.extent(0));
          self.lse(r) = T(3) + static_cast<T>(r % 17) / 8;
          self.derivative(r) = static_cast<T>(r % 29 - 14);
          self.label(r) = r % 11 == 0 ? ignored_label : r * 31 % columns;
          for (std::int64_t j = 0; j < columns; ++j)
            self.along_0(j, r) = self.along_1(r, j) =
                static_cast<X>(static_cast<T>((r * 7 + j * 13) % 61) / 16);
        });
  }

  void compute(const Exec& exec) const {
    CrossEntropyOptions options{.ignore_index = ignored_label, .label_smoothing = 0.125};
    options.axis = 0;
    cross_entropy_backward(exec, along_0, label, lse, derivative, dx_along_0, options);
    options.axis = 1;
    cross_entropy_backward(exec, along_1, label, lse, derivative, dx_along_1, options);
  }

  /// The number of entries of dx that differ. Waits for the execution space instance.
  std::int64_t differences(const Exec& exec) const {
    const TransposedGradients self = *this;
    std::int64_t different = 0;
    Kokkos::parallel_reduce(
        Range(exec, 0, along_0.extent(1)),
        KOKKOS_LAMBDA(std::int64_t r, std::int64_t & sum) {
          for (std::size_t j = 0; j < self.dx_along_0.extent(0); ++j)
            if (!(self.dx_along_0(j, r) == self.dx_along_1(r, j))) ++sum;
        },
        different);
    return different;
  }

  Matrix along_0, dx_along_0, along_1, dx_along_1;
  Kokkos::View<T*, Exec> lse, derivative;
  Kokkos::View<std::int64_t*, Exec> label;
};

// Along axis 0, a lane of a GPU has more columns the more rows there are. The results have the same
// bits as those along axis 1.
TYPED_TEST(CrossEntropy, GradientsOfManyNeighbouringRows) {
  using X = typename TypeParam::x_value;
  if (is_host_space<typename TypeParam::exec>) GTEST_SKIP() << "lanes of hosts have all columns";
  constexpr std::int64_t chunk = 16 / sizeof(X);
  for (const std::int64_t rows : {131074 * chunk, 131074 * chunk + 1}) {
    const typename TypeParam::exec exec;
    const TransposedGradients<X, typename TypeParam::value, typename TypeParam::exec> gradients(
        77, rows);
    gradients.fill(exec);
    gradients.compute(exec);
    EXPECT_EQ(gradients.differences(exec), 0) << "in " << rows << " rows";
  }
}

TYPED_TEST(CrossEntropy, LogsumexpBackwardWithOperands) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = 20;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  std::minstd_rand random(5);
  for (const std::size_t columns : {5, 64, 131, 5000})
    for (const int axis : {0, 1}) {
      Rows<T> x = normal_sample<X>(count, columns).rows;
      Inputs<T> inputs;  // the bias has values of X
      inputs.offset = static_cast<std::int64_t>(columns / 2);
      for (std::size_t i = 0; i < x.values.size(); ++i) {
        inputs.bias.push_back(static_cast<T>(random() % 64) / T(16));
        inputs.mask.push_back(random() % 4 != 0);
      }
      for (std::size_t r = 0; r < count; ++r)
        inputs.lengths.push_back(static_cast<std::int64_t>(r == 3 ? 0 : columns - random() % 3));
      const Rows<T> v = values_of(x, inputs, 0.5);
      const auto numbers = row_numbers(v);
      for (std::size_t i = 0; i < x.values.size(); ++i)
        if (inputs.is_masked(i / columns, i % columns, columns)) x.values[i] = nan;

      const Extents extents = TestFixture::extents_of(count, columns, axis);
      Field<X, Exec> x_field(place<Right>(extents)), dx(place<Right>(extents)),
          bias(place<Right>(extents));
      Field<std::int64_t, Exec> lengths(place<Right>({count}));
      Field<T, Exec> lse(place<Right>({count})), derivative(place<Right>({count}));
      x_field.assign(rows_to_tensor(x.values, extents, axis));
      bias.assign(rows_to_tensor(inputs.bias, extents, axis));
      const std::vector<T> mask_numbers(inputs.mask.begin(), inputs.mask.end());
      const std::vector<T> mask_tensor = rows_to_tensor(mask_numbers, extents, axis);
      const std::vector<unsigned char> mask_bytes(mask_tensor.begin(), mask_tensor.end());
      const Memory<Kokkos::Device<Exec, typename Exec::memory_space>> mask(mask_bytes.size());
      mask.assign(mask_bytes.data());
      lengths.assign(inputs.lengths);
      lse.assign(numbers.lse);
      derivative.assign(numbers.derivative);
      const Exec exec;
      const auto bias_view = bias.template view<Right, 2, const X>();
      const Kokkos::View<const unsigned char**, Right, Exec,
                         Kokkos::MemoryTraits<Kokkos::Unmanaged>>
          mask_view(mask.data(), extents[0], extents[1]);
      const auto lengths_view = lengths.template view<Right, 1, const std::int64_t>();
      logsumexp_backward(exec, x_field.template view<Right, 2, const X>(),
                         lse.template view<Right, 1, const T>(),
                         derivative.template view<Right, 1, const T>(),
                         dx.template view<Right, 2>(), {.axis = axis, .scale = 0.5},
                         Operands{.bias = bias_view,
                                  .mask = mask_view,
                                  .lengths = lengths_view,
                                  .causal = Causal{.offset = *inputs.offset}});
      exec.fence();
      EXPECT_TRUE(are_near<X>(tensor_to_rows(dx.template read<T>(), extents, axis),
                              reference_gradient(v, 0.5, numbers.lse, numbers.derivative, nullptr)))
          << columns << " columns, axis " << axis;
      EXPECT_TRUE(dx.gaps_are_unchanged());
    }
}

// Values far from 0 with small differences to lse: the error depends on the differences alone.
TYPED_TEST(CrossEntropy, GradientsOfLargeValues) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  for (const T shift : {T(-1000), T(-300), T(300), T(1000)})
    for (const std::size_t columns : {7, 64}) {
      Rows<T> x = normal_sample<X>(33, columns).rows;
      for (T& value : x.values) value = static_cast<T>(static_cast<X>(value + shift));
      for (const int axis : {0, 1})
        EXPECT_TRUE((TestFixture::template check_gradient<Right, Right, Right>(
            TestFixture::extents_of(33, columns, axis), x, nullptr, axis, 1.0)));
    }
}

// The gradient is the derivative of the loss, from the reference of the loss.
TYPED_TEST(CrossEntropy, CentralDifferences) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  if constexpr (std::is_same_v<X, double>) {
    constexpr std::size_t count = 4, columns = 15;
    constexpr double scale = 1.5, step = 1e-5;
    const Rows<X> x = normal_sample<X>(count, columns).rows;
    const Labels labels{.of_row = {0, 14, -100, 7}, .smoothing = 0.2};
    const std::vector<X> weights = {1, -2, 3, 0.5};
    const auto loss = [&](const Rows<X>& rows) {
      const auto losses = reference_loss(scaled_rows(rows, scale), labels).values;
      long double sum = 0;
      for (std::size_t r = 0; r < count; ++r) sum += weights[r] * losses[r];
      return sum;
    };
    Field<X, Exec> x_field(place<Right>({count, columns})), dx(place<Right>({count, columns}));
    Field<X, Exec> dloss(place<Right>({count})), losses(place<Right>({count})),
        lse(place<Right>({count}));
    Field<std::int64_t, Exec> label_field(place<Right>({count}));
    x_field.assign(x.values);
    dloss.assign(weights);
    label_field.assign(labels.of_row);
    const Exec exec;
    const CrossEntropyOptions options{.scale = scale, .label_smoothing = 0.2};
    const auto x_view = x_field.template view<Right, 2>();
    const auto label_view = label_field.template view<Right, 1>();
    cross_entropy(exec, x_view, label_view, losses.template view<Right, 1>(),
                  lse.template view<Right, 1>(), options);
    cross_entropy_backward(exec, x_view, label_view, lse.template view<Right, 1>(),
                           dloss.template view<Right, 1>(), dx.template view<Right, 2>(), options);
    exec.fence();
    const auto got = dx.read();
    for (std::size_t row = 0; row < count; ++row) {
      double sum = 0;
      for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
        auto above = x, below = x;
        above.values[i] += step;
        below.values[i] -= step;
        EXPECT_NEAR(
            got[i],
            static_cast<double>((loss(above) - loss(below)) / (above.values[i] - below.values[i])),
            1e-8);
        sum += got[i];
      }
      EXPECT_NEAR(sum, 0, 1e-14 * columns);  // a constant added to a row changes nothing
    }
  }
}

TYPED_TEST(CrossEntropy, OneKernelWithoutFences) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Right, Exec> x("x", 9, 1000), dx("dx", 9, 1000);
  const Kokkos::View<int*, Exec> labels("labels", 9);
  const Kokkos::View<T*, Exec> loss("loss", 9), lse("lse", 9);
  const Exec exec;
  const auto expect_one = [&](const char* label, const auto& call) {
    call();
    const Events events = record(call);
    ASSERT_EQ(events.kernels.size(), 1u);
    EXPECT_EQ(events.kernels[0].label.find(std::string("KokkosSoftmax::") + label + "["), 0u)
        << events.kernels[0].label;
    EXPECT_EQ(events.fences, std::vector<std::string>{});
    EXPECT_EQ(events.allocations, std::vector<std::string>{});
  };
  expect_one("cross_entropy", [&] { cross_entropy(exec, x, labels, loss, lse); });
  expect_one("cross_entropy_backward",
             [&] { cross_entropy_backward(exec, x, labels, lse, loss, dx); });
  expect_one("logsumexp_backward", [&] { logsumexp_backward(exec, x, lse, loss, dx); });
  exec.fence();
}

// The calls run on the default instance of the space of the View that is written.
TYPED_TEST(CrossEntropy, WithoutInstance) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const std::size_t count = 9, columns = 100;
  const Labels labels = random_labels(count, columns, 0.125, -100);
  const Rows<T> x = normal_sample<X>(count, columns).rows;
  const auto numbers = row_numbers(x);
  Field<X, Exec> x_field(place<Right>({count, columns}));
  Field<std::int64_t, Exec> label_field(place<Right>({count}));
  Field<T, Exec> lse(place<Right>({count})), derivative(place<Right>({count}));
  x_field.assign(x.values);
  label_field.assign(labels.of_row);
  lse.assign(numbers.lse);
  derivative.assign(numbers.derivative);
  const auto x_view = x_field.template view<Right, 2, const X>();
  const auto label_view = label_field.template view<Right, 1, const std::int64_t>();
  const auto lse_view = lse.template view<Right, 1, const T>();
  const auto derivative_view = derivative.template view<Right, 1, const T>();
  const CrossEntropyOptions options{.label_smoothing = 0.125};
  const Operands operands{.bias = x_view};

  /// Makes a call with an instance and without it, and returns what they write.
  const auto expect_same = [&]<class Value, int rank>(const Extents& extents, const auto& call) {
    std::vector<std::vector<Value>> results;
    Field<Value, Exec> result(place<Right>(extents));
    const auto view = result.template view<Right, rank>();
    const auto read = [&] {
      Exec{}.fence();
      results.push_back(result.read());
      result.assign(std::vector<Value>(results.back().size(), Value(0)));
    };
    call(view, Exec{});
    read();
    const Events events = record([&] { call(view); });
    read();
    EXPECT_TRUE(same_bits(results[0], results[1]));
    ASSERT_EQ(events.kernels.size(), 1u);
    EXPECT_EQ(events.kernels[0].device, Kokkos::Tools::Experimental::device_id(Exec{}));
  };
  const Extents rows{count}, entries{count, columns};
  expect_same.template operator()<T, 1>(rows, [&](const auto& loss, const auto&... exec) {
    cross_entropy(exec..., x_view, label_view, loss, options);
  });
  expect_same.template operator()<T, 1>(rows, [&](const auto& loss, const auto&... exec) {
    cross_entropy(exec..., x_view, label_view, loss);
  });
  Field<T, Exec> beside(place<Right>(rows));
  const auto beside_view = beside.template view<Right, 1>();
  expect_same.template operator()<T, 1>(rows, [&](const auto& loss, const auto&... exec) {
    cross_entropy(exec..., x_view, label_view, loss, beside_view, options);
  });
  expect_same.template operator()<T, 1>(rows, [&](const auto& lse_beside, const auto&... exec) {
    cross_entropy(exec..., x_view, label_view, beside_view, lse_beside);
  });
  expect_same.template operator()<X, 2>(entries, [&](const auto& dx, const auto&... exec) {
    cross_entropy_backward(exec..., x_view, label_view, lse_view, derivative_view, dx, options);
  });
  expect_same.template operator()<X, 2>(entries, [&](const auto& dx, const auto&... exec) {
    logsumexp_backward(exec..., x_view, lse_view, derivative_view, dx);
  });
  expect_same.template operator()<X, 2>(entries, [&](const auto& dx, const auto&... exec) {
    logsumexp_backward(exec..., x_view, lse_view, derivative_view, dx, {}, operands);
  });
}

TYPED_TEST(CrossEntropy, WrongArgumentsThrow) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Right, Exec> x("x", 9, 10), dx("dx", 9, 10), wide("wide", 9, 11);
  const Kokkos::View<int*, Exec> labels("labels", 9), more_labels("labels", 10);
  const Kokkos::View<T*, Exec> loss("loss", 9), lse("lse", 9), more("more", 10);
  const Exec exec;
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy:", "(10) of labels", "x (9, 10)"},
                          [&] { cross_entropy(exec, x, more_labels, loss); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy:", "(10) of loss", "x (9, 10)"},
                          [&] { cross_entropy(exec, x, labels, more); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy:", "loss at", "lse at", "overlap"},
                          [&] { cross_entropy(exec, x, labels, loss, loss); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy:", "label_smoothing = 1.5", "[0, 1]"},
                          [&] { cross_entropy(exec, x, labels, loss, {.label_smoothing = 1.5}); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy:", "axis = 2", "x has rank 2"},
                          [&] { cross_entropy(exec, x, labels, loss, {.axis = 2}); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy:", "split"}, [&] {
    cross_entropy(exec, x, labels, loss, {.algorithm = Algorithm::split});
  }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy_backward:", "(9, 11) of dx", "x (9, 10)"},
                          [&] { cross_entropy_backward(exec, x, labels, lse, loss, wide); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::cross_entropy_backward:", "(10) of dloss"},
                          [&] { cross_entropy_backward(exec, x, labels, lse, more, dx); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::logsumexp_backward:", "(10) of lse"},
                          [&] { logsumexp_backward(exec, x, more, loss, dx); }));
  EXPECT_TRUE(throws_with(
      {"KokkosSoftmax::logsumexp_backward:", "algorithm = online", "automatic"},
      [&] { logsumexp_backward(exec, x, lse, loss, dx, {.algorithm = Algorithm::online}); }));
  const auto shifted =
      Kokkos::subview(wide, Kokkos::ALL(), std::make_pair(std::size_t(1), std::size_t(11)));
  const auto first =
      Kokkos::subview(wide, Kokkos::ALL(), std::make_pair(std::size_t(0), std::size_t(10)));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::logsumexp_backward:", "x at", "dx at", "overlap"},
                          [&] { logsumexp_backward(exec, first, lse, loss, shifted); }));
  exec.fence();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
