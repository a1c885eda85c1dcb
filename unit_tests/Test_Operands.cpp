// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log-sum-exp of each row beside y: right, with every algorithm, layout and axis, without any
// effect on the bits of y.

#include <kokkossoftmax.h>

#include <cmath>
#include <limits>
#include <support/Algorithms.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
constexpr Function functions[] = {Function::softmax, Function::log_softmax};

template <class Exec, class X, class Y, class Lse>
void call_with(Function function, const Exec& exec, const X& x, const Y& y, const Options& options,
               const Lse& lse) {
  if (function == Function::softmax)
    softmax(exec, x, y, options, Operands{.lse = lse});
  else
    log_softmax(exec, x, y, options, Operands{.lse = lse});
}

/// What lse is in place of the logsumexp of a row: NaN in place of +inf.
Expected beside_y(Expected expected) {
  for (long double& lse : expected.logsumexp)
    if (lse == std::numeric_limits<long double>::infinity())
      lse = std::numeric_limits<long double>::quiet_NaN();
  return expected;
}

template <class C>
class BesideY : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;

  /// Calls the function with and without lse on the same x, and compares everything.
  template <class L, class LseLayout, int rank>
  static void expect_right(const Case& c, const Rows<T>& rows, const Expected& expected) {
    Field<X, Exec> x(place<L>(c.extents, c.x_offset));
    Field<Y, Exec> y(place<L>(c.extents, c.y_offset)), y_alone(place<L>(c.extents, c.y_offset));
    Field<T, Exec> lse(place<LseLayout>(without_axis(c.extents, c.options.axis), c.y_offset));
    x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
    const Exec exec;
    const auto x_view = x.template view<L, rank, const X>();
    call(c.function, exec, x_view, y_alone.template view<L, rank>(), c.options);
    call_with(c.function, exec, x_view, y.template view<L, rank>(), c.options,
              lse.template view<LseLayout, rank - 1>());
    exec.fence();
    EXPECT_TRUE(same_bits(y.read(), y_alone.read())) << ::testing::PrintToString(c);
    EXPECT_TRUE(y.gaps_are_unchanged() && x.is_unchanged()) << ::testing::PrintToString(c);
    EXPECT_TRUE(is_lse(rows, expected, lse)) << ::testing::PrintToString(c);
  }

  template <class Lse>
  static ::testing::AssertionResult is_lse(const Rows<T>& rows, const Expected& expected,
                                           const Lse& lse) {
    // the terms of softmax for results of half types are rounded to 1e-5
    const long double at_least = sizeof(X) == 2 ? tolerance_before_rounding : 0;
    return both(is_accurate(Function::logsumexp, rows, beside_y(expected), lse.read(), at_least),
                lse.gaps_are_unchanged(), "something beside lse's elements was written");
  }
};
TYPED_TEST_SUITE(BesideY, AllValueConfigs, ConfigName);

TYPED_TEST(BesideY, EveryAlgorithm) {
  std::vector<Algorithm> algorithms(std::begin(all_algorithms), std::end(all_algorithms));
  algorithms.push_back(Algorithm::automatic);
  for (const std::size_t columns : {1, 7, 16, 33, 300, 1025, 5001, 40003})
    for (const std::size_t count : {1, 70}) {
      const auto& sample = normal_sample<typename TypeParam::x_value>(count, columns);
      for (const Function function : functions)
        for (const int axis : {0, 1})
          for (const Algorithm algorithm : algorithms) {
            const Case c{.function = function,
                         .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                         .options = {.axis = axis, .algorithm = algorithm}};
            const bool served = is_served(algorithm, [&] {
              TestFixture::template expect_right<Right, Right, 2>(c, sample.rows, sample.expected);
            });
            if (count > 1 && must_serve<TypeParam>(algorithm, function, columns, axis == 0)) {
              EXPECT_TRUE(served) << ::testing::PrintToString(c);
            }
          }
    }
}

TYPED_TEST(BesideY, LayoutsAndAxes) {
  const Extents extents{6, 10, 36};
  for (int axis = 0; axis < 3; ++axis) {
    const auto& sample = normal_sample<typename TypeParam::x_value>(
        product(without_axis(extents, axis)), extents[axis]);
    for (const Function function : functions)
      for (const std::size_t offset : {0, 1}) {
        const Case c{.function = function,
                     .extents = extents,
                     .options = {.axis = axis},
                     .x_offset = offset,
                     .y_offset = offset};
        const auto& [rows, expected] = sample;
        TestFixture::template expect_right<Right, Right, 3>(c, rows, expected);
        TestFixture::template expect_right<Left, Left, 3>(c, rows, expected);
        EXPECT_TRUE(throws_with({"lse", "strides", "layout of x"}, [&] {
          TestFixture::template expect_right<Right, Left, 3>(c, rows, expected);
        })) << ::testing::PrintToString(c);
      }
  }
}

TYPED_TEST(BesideY, SpecialRows) {
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const Rows<T> rows{.count = 5,
                     .columns = 3,
                     .values = {-inf, -inf, -inf, 1, inf, 2, nan, 1, 2, -inf, 3, -inf, 4, 4, 4}};
  for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
    for (const Function function : functions)
      for (const double scale : {1.0, -0.5, 0.0}) {
        const Case c{.function = function,
                     .extents = {5, 3},
                     .options = {.axis = 1, .scale = scale, .empty_rows = empty_rows}};
        TestFixture::template expect_right<Right, Right, 2>(c, rows,
                                                            reference(rows, scale, empty_rows));
      }
}

TYPED_TEST(BesideY, RowsWithoutEntries) {
  using T = typename TypeParam::value;
  const Case c{.extents = {4, 0}, .options = {.axis = 1}};
  const Rows<T> rows{.count = 4, .columns = 0, .values = {}};
  TestFixture::template expect_right<Right, Right, 2>(c, rows, reference(rows));
}

TYPED_TEST(BesideY, InPlace) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  if constexpr (std::is_same_v<typename TypeParam::x_value, T>) {
    const auto& sample = normal_sample<typename TypeParam::x_value>(9, 1000);
    const Case c{.extents = {9, 1000}, .options = {.axis = 1}};
    Field<T, Exec> x(place<Right>(c.extents, 0)), lse(place<Right>(Extents{9}, 0));
    x.assign(sample.rows.values);
    const auto view = x.template view<Right, 2>();
    call_with(c.function, Exec{}, view, view, c.options, lse.template view<Right, 1>());
    Exec{}.fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, x));
    EXPECT_TRUE(this->is_lse(sample.rows, sample.expected, lse));
  }
}

TYPED_TEST(BesideY, OneKernelWithoutFences) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using C = TypeParam;
  const Kokkos::View<typename C::x_value**, Right, Exec> x("x", 9, 1000);
  const Kokkos::View<typename C::y_value**, Right, Exec> y("y", 9, 1000);
  const Kokkos::View<T*, Exec> lse("lse", 9);
  const Exec exec;
  softmax(exec, x, y, {}, Operands{.lse = lse});
  const Events events = record([&] { softmax(exec, x, y, {}, Operands{.lse = lse}); });
  EXPECT_EQ(events.kernels.size(), 1u);
  EXPECT_EQ(events.fences, std::vector<std::string>{});
  EXPECT_EQ(events.allocations, std::vector<std::string>{});
  exec.fence();
}

TYPED_TEST(BesideY, Plan) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using C = TypeParam;
  const auto& sample = normal_sample<typename TypeParam::x_value>(9, 1000);
  Field<typename C::x_value, Exec> x(place<Right>(Extents{9, 1000}, 0));
  x.assign(sample.rows.values);
  const auto x_view = x.template view<Right, 2, const typename C::x_value>();
  const Kokkos::View<typename C::y_value**, Right, Exec> y("y", 9, 1000);
  const Kokkos::View<T*, Exec> lse("lse", 9);
  const Exec exec;
  const auto plan = plan_log_softmax(exec, x_view, y, {.axis = 1}, Operands{.lse = lse});
  Field<T, Exec> other(place<Right>(Extents{9}, 0));
  const Kokkos::View<T*, Exec> other_view("other", 9);
  plan.execute(x_view, y, Operands{.lse = other_view});
  exec.fence();
  Field<T, Exec> result(place<Right>(Extents{9}, 0));
  Kokkos::deep_copy(exec, result.template view<Right, 1>(), other_view);
  exec.fence();
  EXPECT_TRUE(this->is_lse(sample.rows, sample.expected, result));
  EXPECT_TRUE(throws_with({"lse", "extent", "another plan"}, [&] {
    plan.execute(x_view, y, Operands{.lse = Kokkos::View<T*, Exec>("short", 8)});
  }));
}

TYPED_TEST(BesideY, WrongOperandsThrow) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using C = TypeParam;
  const Kokkos::View<typename C::x_value**, Right, Exec> x("x", 9, 10);
  const Kokkos::View<typename C::y_value**, Right, Exec> y("y", 9, 10);
  const Kokkos::View<T*, Exec> lse("lse", 10);
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "(10)", "lse", "without that axis"},
                          [&] { softmax(x, y, {.axis = 1}, Operands{.lse = lse}); }));
  if constexpr (std::is_same_v<typename C::y_value, T>) {
    const auto column = Kokkos::subview(y, Kokkos::ALL, 3);
    EXPECT_TRUE(throws_with({"KokkosSoftmax::log_softmax:", "y", "lse", "overlap"},
                            [&] { log_softmax(x, y, {.axis = 1}, Operands{.lse = column}); }));
  }
}

template <class C>
class BesideYInC : public ::testing::Test {};
TYPED_TEST_SUITE(BesideYInC, ValueConfigs, ConfigName);

TYPED_TEST(BesideYInC, LseAndErrors) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr bool is_device = std::is_same_v<Exec, Kokkos::DefaultExecutionSpace>;
  if (!is_device && !std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>)
    GTEST_SKIP() << "the C interface has no name for this space";
  const int space = is_device ? KOKKOSSOFTMAX_DEVICE : KOKKOSSOFTMAX_HOST;
  const int type = std::is_same_v<T, float> ? KOKKOSSOFTMAX_FLOAT : KOKKOSSOFTMAX_DOUBLE;
  const auto& sample = normal_sample<T>(9, 1000);
  const Case c{.extents = {9, 1000}};
  Field<T, Exec> x(place<Right>(c.extents, 0)), y(place<Right>(c.extents, 0)),
      lse(place<Right>(Extents{9}, 0));
  x.assign(sample.rows.values);
  const std::int64_t extents[] = {9, 1000};
  const kokkossoftmax_tensor tx{x.template view<Right, 2>().data(), type, 2, extents, nullptr};
  const kokkossoftmax_tensor ty{y.template view<Right, 2>().data(), type, 2, extents, nullptr};
  kokkossoftmax_tensor tl{lse.template view<Right, 1>().data(), type, 1, extents, nullptr};
  kokkossoftmax_operands operands{sizeof(kokkossoftmax_operands), &tl};
  const auto apply = [&](int operation) {
    return kokkossoftmax_apply_with(operation, space, nullptr, &tx, &ty, nullptr, &operands);
  };
  const auto last_error_has = [](const char* part) {
    return std::string(kokkossoftmax_last_error()).find(part) != std::string::npos;
  };
  ASSERT_EQ(apply(KOKKOSSOFTMAX_SOFTMAX), KOKKOSSOFTMAX_SUCCESS) << kokkossoftmax_last_error();
  kokkossoftmax_fence(space, nullptr);
  EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y));
  EXPECT_TRUE(is_accurate(Function::logsumexp, sample.rows, sample.expected, lse.read()));

  EXPECT_EQ(apply(KOKKOSSOFTMAX_LOGSUMEXP), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("operands.lse")) << kokkossoftmax_last_error();
  tl.type = KOKKOSSOFTMAX_HALF;
  EXPECT_EQ(apply(KOKKOSSOFTMAX_SOFTMAX), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("lse has type")) << kokkossoftmax_last_error();
  operands.size = 3;
  EXPECT_EQ(apply(KOKKOSSOFTMAX_SOFTMAX), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("operands.size")) << kokkossoftmax_last_error();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
