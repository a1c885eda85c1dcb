// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of softmax, log_softmax and logsumexp that follow from their definition: a constant
// that is added to a row changes only its log-sum-exp, and by this constant; columns in another
// order give results in that order; the log-sum-exp of a row follows from those of its parts; and a
// transposed matrix gives the transposed result along the other axis. No reference of a result is
// needed, only its bound.

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <support/BothAxes.hpp>
#include <support/Permutation.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;

/// Results of moderate rows, for a tolerance that is wide enough for two of them.
template <class X, class T>
::testing::AssertionResult are_alike(Function function, const std::vector<T>& a,
                                     const std::vector<T>& b) {
  if (a.size() != b.size())
    return ::testing::AssertionFailure() << a.size() << " and " << b.size() << " results";
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto format = format_of<X>();
    if (format) format->digits -= 2;  // half an ulp of each result, and an ulp may be twice another
    if (!is_accurate<T>(function, a[i], b[i], 2 * tolerance<T>(true), format))
      return ::testing::AssertionFailure() << "result " << i << ": " << a[i] << " and " << b[i];
  }
  return ::testing::AssertionSuccess();
}

template <class C>
class FunctionProperties : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  static constexpr std::size_t count = 9;
  static constexpr std::array<std::size_t, 7> all_columns = {2, 7, 33, 300, 1024, 5001, 70001};
  static constexpr double scale = 0.5;

  /// What the function gives for a matrix of layout L whose rows along an axis are x.
  template <class L = Right>
  static std::vector<T> results_of(Function function, const Rows<T>& x, int axis = 1,
                                   bool reproducible = false) {
    const Case c{.function = function,
                 .extents = axis == 1 ? Extents{x.count, x.columns} : Extents{x.columns, x.count},
                 .options = {.axis = axis, .scale = scale, .reproducible = reproducible}};
    Field<X, Exec> x_field(place<L>(c.extents)), y(place<L>(c.y_extents()));
    x_field.assign(rows_to_tensor(x.values, c.extents, axis));
    const auto x_view = x_field.template view<L, 2, const X>();
    if (function == Function::logsumexp)
      call(function, Exec{}, x_view, y.template view<L, 1>(), c.options);
    else
      call(function, Exec{}, x_view, y.template view<L, 2>(), c.options);
    Exec{}.fence();
    const auto got = y.template read<T>();
    return function == Function::logsumexp ? got : tensor_to_rows(got, c.extents, axis);
  }

  /// Rows whose entries, with a shift by 8 or without it, are numbers of every X.
  static Rows<T> rows_with_shift(std::size_t columns, T shift) {
    std::minstd_rand random(static_cast<unsigned>(columns));
    Rows<T> x{.count = count, .columns = columns, .values = std::vector<T>(count * columns)};
    for (T& value : x.values) value = static_cast<T>(random() % 64) / T(8) + shift;
    return x;
  }

  /// Columns [first, last) of each row.
  static Rows<T> part(const Rows<T>& x, std::size_t first, std::size_t last) {
    Rows<T> result{.count = x.count, .columns = last - first, .values = {}};
    for (std::size_t r = 0; r < x.count; ++r) {
      const auto row = x.values.begin() + static_cast<std::ptrdiff_t>(r * x.columns);
      result.values.insert(result.values.end(), row + static_cast<std::ptrdiff_t>(first),
                           row + static_cast<std::ptrdiff_t>(last));
    }
    return result;
  }

  /// What a call of softmax writes: y, and the state of each row, from what is beside y.
  struct SoftmaxWithState {
    std::vector<T> y;
    std::vector<LogSumExpState<T>> state;
  };
  static SoftmaxWithState softmax_with_state(const Rows<T>& x) {
    const Extents extents{x.count, x.columns}, rows{x.count};
    Field<X, Exec> x_field(place<Right>(extents));
    Field<X, Exec> y(place<Right>(extents));
    Field<T, Exec> lse(place<Right>(rows)), max(place<Right>(rows));
    x_field.assign(x.values);
    softmax(Exec{}, x_field.template view<Right, 2, const X>(), y.template view<Right, 2>(),
            {.scale = scale},
            Operands{.lse = lse.template view<Right, 1>(), .max = max.template view<Right, 1>()});
    Exec{}.fence();
    SoftmaxWithState result{y.template read<T>(), {}};
    const auto of_lse = lse.read(), of_max = max.read();
    for (std::size_t r = 0; r < x.count; ++r)
      result.state.push_back({of_max[r], std::exp(of_lse[r] - of_max[r])});
    return result;
  }
};
TYPED_TEST_SUITE(FunctionProperties, SameTypeConfigs, ConfigName);

TYPED_TEST(FunctionProperties, ShiftedRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  for (const std::size_t columns : TestFixture::all_columns)
    for (const Function function : all_functions) {
      auto expected = TestFixture::results_of(function, TestFixture::rows_with_shift(columns, 0));
      if (function == Function::logsumexp)
        for (T& lse : expected) lse += T(8 * TestFixture::scale);
      EXPECT_TRUE(are_alike<X>(
          function, TestFixture::results_of(function, TestFixture::rows_with_shift(columns, 8)),
          expected))
          << to_string(function) << ", " << columns << " columns";
    }
}

TYPED_TEST(FunctionProperties, PermutedColumns) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : TestFixture::all_columns) {
    const auto order = any_order(columns);
    const auto x = normal_rows<X>(TestFixture::count, columns);
    auto other = x;
    other.values = permuted(x.values, order);
    for (const Function function : all_functions) {
      auto expected = TestFixture::results_of(function, x);
      if (function != Function::logsumexp) expected = permuted(expected, order);
      EXPECT_TRUE(are_alike<X>(function, TestFixture::results_of(function, other), expected))
          << to_string(function) << ", " << columns << " columns";
    }
  }
}

// The states of the parts of a row, merged, give the log-sum-exp of the row, and the softmax of the
// row is that of a part times the part's share of the sum.
TYPED_TEST(FunctionProperties, ConcatenatedRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr std::size_t count = TestFixture::count;
  for (const std::size_t columns : TestFixture::all_columns)
    for (const std::size_t cut : {std::size_t(1), columns / 2, columns - 1}) {
      const auto x = normal_rows<X>(count, columns);
      const auto all = TestFixture::softmax_with_state(x);
      const auto head = TestFixture::softmax_with_state(TestFixture::part(x, 0, cut));
      const auto tail = TestFixture::softmax_with_state(TestFixture::part(x, cut, columns));
      std::vector<T> lse, merged, expected;
      for (std::size_t r = 0; r < count; ++r) {
        LogSumExpState<T> state = head.state[r];
        state.merge(tail.state[r]);
        lse.push_back(all.state[r].value());
        merged.push_back(state.value());
        const T of_head = std::exp(head.state[r].value() - state.value());
        for (std::size_t c = 0; c < cut; ++c) expected.push_back(head.y[r * cut + c] * of_head);
      }
      const Rows<T> y{.count = count, .columns = columns, .values = all.y};
      EXPECT_TRUE(are_alike<T>(Function::logsumexp, merged, lse)) << columns << ", cut at " << cut;
      EXPECT_TRUE(are_alike<X>(Function::softmax, TestFixture::part(y, 0, cut).values, expected))
          << columns << ", cut at " << cut;
    }
}

// logsumexp of the log-sum-exps of the parts.
TYPED_TEST(FunctionProperties, LogSumExpOfParts) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = TestFixture::count;
  for (const std::size_t columns : TestFixture::all_columns) {
    const auto x = normal_rows<X>(count, columns);
    Field<X, Exec> x_field(place<Right>(Extents{count, columns}));
    Field<T, Exec> parts(place<Right>(Extents{2, count})), all(place<Right>(Extents{count})),
        whole(place<Right>(Extents{count}));
    x_field.assign(x.values);
    const auto x_view = x_field.template view<Right, 2, const X>();
    const auto parts_view = parts.template view<Right, 2>();
    const auto columns_of = [&](std::size_t first, std::size_t last) {
      return Kokkos::subview(x_view, Kokkos::ALL, std::make_pair(first, last));
    };
    const Exec exec;
    logsumexp(exec, columns_of(0, columns / 3), Kokkos::subview(parts_view, 0, Kokkos::ALL));
    logsumexp(exec, columns_of(columns / 3, columns), Kokkos::subview(parts_view, 1, Kokkos::ALL));
    logsumexp(exec, parts_view, all.template view<Right, 1>(), {.axis = 0});
    logsumexp(exec, x_view, whole.template view<Right, 1>());
    exec.fence();
    EXPECT_TRUE(are_alike<T>(Function::logsumexp, all.read(), whole.read())) << columns;
  }
}

// The transpose of a matrix has the other layout on the same memory, and then a call is the same
// one. A transpose of the same layout has other strides along the axis.
TYPED_TEST(FunctionProperties, TransposedMatrix) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : TestFixture::all_columns) {
    const auto x = normal_rows<X>(TestFixture::count, columns);
    for (const Function function : all_functions) {
      const auto bits = TestFixture::template results_of<Right>(function, x, 1, true);
      EXPECT_TRUE(same_bits(bits, TestFixture::template results_of<Left>(function, x, 0, true)))
          << to_string(function) << ", " << columns << " columns";
      EXPECT_TRUE(are_alike<X>(function, TestFixture::template results_of<Right>(function, x, 1),
                               TestFixture::template results_of<Right>(function, x, 0)))
          << to_string(function) << ", " << columns << " columns";
    }
  }
}

// Along both axes, rows and columns change places.
TYPED_TEST(FunctionProperties, BothAxesOfTransposedMatrix) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  for (const std::size_t columns : TestFixture::all_columns) {
    const auto x = normal_rows<X>(TestFixture::count, columns);
    const BothAxesCall<Exec, X> call(x), of_transposed(transposed(x));
    const Exec exec;
    call.run(exec);
    of_transposed.run(exec);
    exec.fence();
    std::vector<T> results = of_transposed.results();  // of columns, and then of rows
    std::rotate(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(columns),
                results.end());
    EXPECT_TRUE(are_alike<T>(Function::logsumexp, call.results(), results)) << columns;
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
