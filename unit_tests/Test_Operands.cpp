// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log-sum-exp and the maximum of each row beside y: right, with every algorithm, layout and
// axis, without any effect on the bits of y.

#include <kokkossoftmax.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <random>
#include <support/Algorithms.hpp>
#include <support/BesideY.hpp>
#include <support/Inputs.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
constexpr Function functions[] = {Function::softmax, Function::log_softmax};

template <class Exec, class X, class Y, class Lse, class Max>
void call_with(Function function, const Exec& exec, const X& x, const Y& y, const Options& options,
               const Operands<Lse, Max>& operands) {
  if (function == Function::softmax)
    softmax(exec, x, y, options, operands);
  else
    log_softmax(exec, x, y, options, operands);
}

template <class C>
class BesideY : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;

  /// Which operands calls have.
  struct Asked {
    bool lse;
    bool max;
  };
  static constexpr Asked lse_and_max{true, true};

  /// Calls the function without operands and with these combinations of them on the same x, and
  /// compares everything.
  template <class L, class LayoutBeside, int rank>
  static void expect_right(const Case& c, const Rows<T>& rows, const Expected& expected,
                           std::initializer_list<Asked> combinations) {
    Field<X, Exec> x(place<L>(c.extents, c.x_offset));
    Field<Y, Exec> y_alone(place<L>(c.extents, c.y_offset));
    x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
    const Exec exec;
    const auto x_view = x.template view<L, rank, const X>();
    call(c.function, exec, x_view, y_alone.template view<L, rank>(), c.options);
    for (const Asked& asked : combinations) {
      const auto beside = place<LayoutBeside>(without_axis(c.extents, c.options.axis), c.y_offset);
      Field<Y, Exec> y(place<L>(c.extents, c.y_offset));
      Field<T, Exec> lse(beside), max(beside);
      const auto y_view = y.template view<L, rank>();
      const auto lse_view = lse.template view<LayoutBeside, rank - 1>();
      const auto max_view = max.template view<LayoutBeside, rank - 1>();
      if (asked.lse && asked.max)
        call_with(c.function, exec, x_view, y_view, c.options,
                  Operands{.lse = lse_view, .max = max_view});
      else if (asked.lse)
        call_with(c.function, exec, x_view, y_view, c.options, Operands{.lse = lse_view});
      else if (asked.max)
        call_with(c.function, exec, x_view, y_view, c.options, Operands{.max = max_view});
      else
        call_with(c.function, exec, x_view, y_view, c.options, Operands{});
      exec.fence();
      EXPECT_TRUE(same_bits_except_nan(y.read(), y_alone.read())) << ::testing::PrintToString(c);
      EXPECT_TRUE(y.gaps_are_unchanged() && x.is_unchanged()) << ::testing::PrintToString(c);
      EXPECT_TRUE(asked.lse ? is_lse_beside<X>(rows, expected, lse) : is_not_written(lse))
          << ::testing::PrintToString(c);
      EXPECT_TRUE(asked.max ? is_max_beside(rows, c.options.scale, max) : is_not_written(max))
          << ::testing::PrintToString(c);
    }
  }

  /// The same with all combinations.
  template <class L, class LayoutBeside, int rank>
  static void expect_right(const Case& c, const Rows<T>& rows, const Expected& expected) {
    expect_right<L, LayoutBeside, rank>(
        c, rows, expected,
        {lse_and_max, Asked{true, false}, Asked{false, true}, Asked{false, false}});
  }

  template <class Beside>
  static ::testing::AssertionResult is_not_written(const Beside& beside) {
    return both(::testing::AssertionSuccess(), beside.is_unchanged(),
                "written without being asked");
  }
};
TYPED_TEST_SUITE(BesideY, AllValueConfigs, ConfigName);

TYPED_TEST(BesideY, EveryAlgorithm) {
  const auto algorithms = all_algorithms_and_automatic();
  for (const std::size_t columns : {1, 7, 16, 33, 300, 1025, 5001, 40003})
    for (const std::size_t count : {1, columns > 10000 ? 9 : 70}) {
      const auto& sample = normal_sample<typename TypeParam::x_value>(count, columns);
      for (const Function function : functions)
        for (const int axis : {0, 1})
          for (const Algorithm algorithm : algorithms) {
            const Case c{.function = function,
                         .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                         .options = {.axis = axis, .algorithm = algorithm}};
            const bool served = is_served(algorithm, [&] {
              TestFixture::template expect_right<Right, Right, 2>(c, sample.rows, sample.expected,
                                                                  {TestFixture::lse_and_max});
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
  const Rows<T> rows{
      .count = 7, .columns = 3, .values = {-inf, -inf, -inf, 1, inf, 2,   nan,  1,   2,    -inf, 3,
                                           -inf, 4,    4,    4, nan, inf, -inf, nan, -inf, -inf}};
  for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
    for (const Function function : functions)
      for (const double scale : {1.0, -0.5, 0.0}) {
        const Case c{.function = function,
                     .extents = {7, 3},
                     .options = {.axis = 1, .scale = scale, .empty_rows = empty_rows}};
        TestFixture::template expect_right<Right, Right, 2>(c, rows,
                                                            reference(rows, scale, empty_rows));
      }
}

// Short rows that are computed in groups, with NaN and infinities at any place.
TYPED_TEST(BesideY, SpecialEntriesInShortRows) {
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T entries[] = {inf, nan, -inf, 1, 2, 3};
  constexpr std::size_t count = 80;
  std::minstd_rand random(1);
  for (const std::size_t columns : {1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 33}) {
    Rows<T> rows{.count = count, .columns = columns, .values = std::vector<T>(count * columns)};
    for (T& value : rows.values) value = entries[random() % std::size(entries)];
    const Expected expected = reference(rows);
    for (const Function function : functions) {
      const Case c{.function = function, .extents = {count, columns}, .options = {.axis = 1}};
      TestFixture::template expect_right<Right, Right, 2>(c, rows, expected,
                                                          {TestFixture::lse_and_max});
    }
  }
}

// All finite entries count as 0, also the largest number.
TYPED_TEST(BesideY, MaxIsZeroWithScaleZero) {
  using T = typename TypeParam::value;
  const auto format = format_of<typename TypeParam::x_value>();
  const T largest = format ? static_cast<T>(format->largest) : std::numeric_limits<T>::max();
  for (const std::size_t columns : {1, 4, 7, 50, 781, 9001})
    for (const T sign : {T(1), T(-1)}) {
      Rows<T> rows = normal_rows<typename TypeParam::x_value>(19, columns);
      for (std::size_t row = 0; row < rows.count; ++row)
        rows.values[row * columns + row % columns] = sign * largest;
      for (const double scale : {0.0, -0.0}) {
        const Expected expected = reference(rows, scale);
        for (const Function function : functions)
          for (const int axis : {0, 1}) {
            const Case c{.function = function,
                         .extents = axis == 1 ? Extents{19, columns} : Extents{columns, 19},
                         .options = {.axis = axis, .scale = scale}};
            TestFixture::template expect_right<Right, Right, 2>(c, rows, expected,
                                                                {TestFixture::lse_and_max});
          }
      }
    }
}

TYPED_TEST(BesideY, RowsWithoutEntries) {
  using T = typename TypeParam::value;
  const Case c{.extents = {4, 0}, .options = {.axis = 1}};
  const Rows<T> rows{.count = 4, .columns = 0, .values = {}};
  TestFixture::template expect_right<Right, Right, 2>(c, rows, reference(rows));
}

// Special entries at some columns of rows that need several tiles, teams or lanes.
TYPED_TEST(BesideY, SpecialEntriesWithEveryAlgorithm) {
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr std::size_t count = 8;
  for (const std::size_t columns : {5, 300, 5001, 40003}) {
    Rows<T> rows = normal_sample<typename TypeParam::x_value>(count, columns).rows;
    const auto entry = [&](std::size_t row, std::size_t column) -> T& {
      return rows.values[row * columns + column];
    };
    for (std::size_t column = 0; column < columns; ++column) entry(3, column) = -inf;
    entry(0, columns / 2) = entry(1, 0) = entry(2, columns - 1) = nan;
    entry(4, columns / 3) = entry(5, columns - 1) = entry(2, columns / 2) = inf;
    const Expected expected = reference(rows);
    for (const Function function : functions)
      for (const int axis : {0, 1})
        for (const Algorithm algorithm : all_algorithms)
          is_served(algorithm, [&] {
            const Extents extents = axis == 1 ? Extents{count, columns} : Extents{columns, count};
            TestFixture::template expect_right<Right, Right, 2>(
                {.function = function,
                 .extents = extents,
                 .options = {.axis = axis, .algorithm = algorithm}},
                rows, expected, {TestFixture::lse_and_max});
          });
  }
}

TYPED_TEST(BesideY, InPlace) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  if constexpr (std::is_same_v<typename TypeParam::x_value, T>) {
    for (const std::size_t columns : {7, 300, 5001, 40003}) {
      const auto& sample = normal_sample<typename TypeParam::x_value>(9, columns);
      for (const Function function : functions)
        for (const int axis : {0, 1})
          for (const Algorithm algorithm : all_algorithms)
            is_served(algorithm, [&] {
              const Case c{.function = function,
                           .extents = axis == 1 ? Extents{9, columns} : Extents{columns, 9},
                           .options = {.axis = axis, .algorithm = algorithm}};
              const auto beside = place<Right>(Extents{9}, 0);
              Field<T, Exec> x(place<Right>(c.extents, 0)), lse(beside), max(beside);
              x.assign(rows_to_tensor(sample.rows.values, c.extents, axis));
              const auto view = x.template view<Right, 2>();
              call_with(function, Exec{}, view, view, c.options,
                        Operands{.lse = lse.template view<Right, 1>(),
                                 .max = max.template view<Right, 1>()});
              Exec{}.fence();
              EXPECT_TRUE(check_output(c, sample.rows, sample.expected, x));
              EXPECT_TRUE(
                  is_lse_beside<typename TypeParam::x_value>(sample.rows, sample.expected, lse));
              EXPECT_TRUE(is_max_beside(sample.rows, 1, max));
            });
    }
  }
}

TYPED_TEST(BesideY, OneKernelWithoutFences) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using C = TypeParam;
  const Kokkos::View<typename C::x_value**, Right, Exec> x("x", 9, 1000);
  const Kokkos::View<typename C::y_value**, Right, Exec> y("y", 9, 1000);
  const Kokkos::View<T*, Exec> lse("lse", 9), max("max", 9);
  const Exec exec;
  softmax(exec, x, y, {}, Operands{.lse = lse, .max = max});
  const Events events = record([&] { softmax(exec, x, y, {}, Operands{.lse = lse, .max = max}); });
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
  const Kokkos::View<T*, Exec> lse("lse", 9), max("max", 9), another("another", 9);
  const Exec exec;
  const auto expect_right_numbers = [&] {
    exec.fence();
    Field<T, Exec> lse_result(place<Right>(Extents{9}, 0)), max_result(place<Right>(Extents{9}, 0));
    Kokkos::deep_copy(exec, lse_result.template view<Right, 1>(), lse);
    Kokkos::deep_copy(exec, max_result.template view<Right, 1>(), max);
    exec.fence();
    EXPECT_TRUE(
        is_lse_beside<typename TypeParam::x_value>(sample.rows, sample.expected, lse_result));
    EXPECT_TRUE(is_max_beside(sample.rows, 1, max_result));
    Kokkos::deep_copy(exec, lse, T(0));
    Kokkos::deep_copy(exec, max, T(0));
  };
  const Operands planned{.lse = another, .max = lse}, executed{.lse = lse, .max = max};
  plan_log_softmax(exec, x_view, y, {.axis = 1}, planned).execute(x_view, y, executed);
  expect_right_numbers();
  const auto plan = plan_softmax(exec, x_view, y, {.axis = 1}, planned);
  plan.execute(x_view, y, executed);
  expect_right_numbers();
  const auto of_max = plan_softmax(exec, x_view, y, {.axis = 1}, Operands{.max = lse});
  plan_softmax(exec, x_view, y, {.axis = 1}, Operands{.lse = max})
      .execute(x_view, y, Operands{.lse = lse});
  of_max.execute(x_view, y, Operands{.max = max});
  expect_right_numbers();
  const Kokkos::View<T*, Exec> too_short("short", 8);
  EXPECT_TRUE(throws_with({"lse", "extent", "another plan"}, [&] {
    plan.execute(x_view, y, Operands{.lse = too_short, .max = max});
  }));
  EXPECT_TRUE(throws_with({"max", "extent", "another plan"},
                          [&] { of_max.execute(x_view, y, Operands{.max = too_short}); }));
  EXPECT_TRUE(throws_with({"lse", "max", "overlap"},
                          [&] { plan.execute(x_view, y, Operands{.lse = max, .max = max}); }));
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
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "(10)", "max", "without that axis"},
                          [&] { softmax(x, y, {.axis = 1}, Operands{.max = lse}); }));
  const auto nine = Kokkos::make_pair(0, 9), next = Kokkos::make_pair(1, 10);
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "lse", "max", "overlap"}, [&] {
    softmax(x, y, {.axis = 1},
            Operands{.lse = Kokkos::subview(lse, nine), .max = Kokkos::subview(lse, next)});
  }));
  const Kokkos::View<T* [2], Right, Exec> both("both", 9);  // neighbours don't overlap
  softmax(x, y, {.axis = 1},
          Operands{.lse = Kokkos::subview(both, Kokkos::ALL, 0),
                   .max = Kokkos::subview(both, Kokkos::ALL, 1)});
  Exec{}.fence();
  if constexpr (std::is_same_v<typename C::y_value, T>) {
    const auto column = Kokkos::subview(y, Kokkos::ALL, 3);
    EXPECT_TRUE(throws_with({"KokkosSoftmax::log_softmax:", "y", "lse", "overlap"},
                            [&] { log_softmax(x, y, {.axis = 1}, Operands{.lse = column}); }));
    EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "y", "max", "overlap"},
                            [&] { softmax(x, y, {.axis = 1}, Operands{.max = column}); }));
  }
}

kokkossoftmax_operands with_members(const kokkossoftmax_tensor* lse,
                                    const kokkossoftmax_tensor* max) {
  kokkossoftmax_operands operands{};
  operands.size = sizeof(operands);
  operands.lse = lse;
  operands.max = max;
  return operands;
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
      lse(place<Right>(Extents{9}, 0)), max(place<Right>(Extents{9}, 0));
  x.assign(sample.rows.values);
  const std::int64_t extents[] = {9, 1000};
  const kokkossoftmax_tensor tx{x.template view<Right, 2>().data(), type, 2, extents, nullptr};
  const kokkossoftmax_tensor ty{y.template view<Right, 2>().data(), type, 2, extents, nullptr};
  kokkossoftmax_tensor tl{lse.template view<Right, 1>().data(), type, 1, extents, nullptr};
  kokkossoftmax_tensor tm{max.template view<Right, 1>().data(), type, 1, extents, nullptr};
  // a caller with the header of the first version has no `max`
  kokkossoftmax_operands operands = with_members(&tl, &tl);
  operands.size = offsetof(kokkossoftmax_operands, max);
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
  for (const auto operation : {KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_LOG_SOFTMAX})
    for (kokkossoftmax_tensor* const lse_if_any : {&tl, static_cast<decltype(&tl)>(nullptr)}) {
      max.assign(std::vector<T>(9, T(0)));
      operands = with_members(lse_if_any, &tm);
      ASSERT_EQ(apply(operation), KOKKOSSOFTMAX_SUCCESS) << kokkossoftmax_last_error();
      kokkossoftmax_fence(space, nullptr);
      EXPECT_EQ(max.read(), true_max(sample.rows, 1));
    }

  operands = with_members(&tl, nullptr);
  EXPECT_EQ(apply(KOKKOSSOFTMAX_LOGSUMEXP), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("operands.lse")) << kokkossoftmax_last_error();
  operands = with_members(nullptr, &tm);
  EXPECT_EQ(apply(KOKKOSSOFTMAX_LOGSUMEXP), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("operands.max")) << kokkossoftmax_last_error();
  operands = with_members(&tl, &tl);
  EXPECT_EQ(apply(KOKKOSSOFTMAX_SOFTMAX), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("overlap")) << kokkossoftmax_last_error();
  tm.rank = 2;
  operands = with_members(&tl, &tm);
  EXPECT_EQ(apply(KOKKOSSOFTMAX_SOFTMAX), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("max")) << kokkossoftmax_last_error();
  struct {
    kokkossoftmax_operands known;
    void* unknown;
  } later{with_members(&tl, nullptr), &tl};
  later.known.size = sizeof(later);
  EXPECT_EQ(kokkossoftmax_apply_with(KOKKOSSOFTMAX_SOFTMAX, space, nullptr, &tx, &ty, nullptr,
                                     &later.known),
            KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("later than version")) << kokkossoftmax_last_error();
  operands = with_members(&tl, nullptr);
  tl.type = KOKKOSSOFTMAX_HALF;
  EXPECT_EQ(apply(KOKKOSSOFTMAX_SOFTMAX), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("lse has type")) << kokkossoftmax_last_error();
  operands.size = 3;
  EXPECT_EQ(apply(KOKKOSSOFTMAX_SOFTMAX), KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("operands.size")) << kokkossoftmax_last_error();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
