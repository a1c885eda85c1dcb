// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests LogSumExpState alone on the host: single entries, merges of parts, and special values.

#include <gtest/gtest.h>

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <reference/Accuracy.hpp>
#include <support/Samples.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class T>
class State : public ::testing::Test {
 protected:
  using Part = LogSumExpState<T>;
  static constexpr T inf = std::numeric_limits<T>::infinity();
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

  template <class Iterator>
  static Part state_of(Iterator begin, Iterator end) {
    Part state;
    for (; begin != end; ++begin) state.update(*begin);
    return state;
  }
  static Part state_of(std::initializer_list<T> entries) {
    return state_of(entries.begin(), entries.end());
  }

  static Part merged(Part a, const Part& b) {
    a.merge(b);
    return a;
  }

  static ::testing::AssertionResult is_value(const Part& state, const Rows<T>& rows,
                                             std::size_t row, const Expected& expected) {
    const long double tolerance = sequential_tolerance<T>(rows.columns);
    if (is_accurate(Function::logsumexp, state.value(), expected.logsumexp[row], tolerance))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << state.value() << " instead of " << expected.logsumexp[row] << " for "
           << (rows.names.empty() ? "normal entries" : rows.names[row]);
  }

  /// Divides a row at random places into parts (some of them empty) and merges them in random
  /// order.
  static Part merged_in_parts(const T* row, std::size_t columns, std::mt19937& random) {
    std::vector<std::size_t> cuts = {0, columns};
    for (int i = 0; i < 5; ++i) cuts.push_back(random() % (columns + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<Part> parts;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      parts.push_back(state_of(row + cuts[i], row + cuts[i + 1]));
    std::shuffle(parts.begin(), parts.end(), random);
    Part all;
    for (const Part& part : parts) all.merge(part);
    return all;
  }

  static void expect_right(const Rows<T>& rows) {
    std::mt19937 random(20);
    const Expected expected = reference(rows);
    for (std::size_t row = 0; row < rows.count; ++row) {
      const T* begin = rows.values.data() + row * rows.columns;
      EXPECT_TRUE(is_value(state_of(begin, begin + rows.columns), rows, row, expected));
      for (int split = 0; split < 10; ++split)
        EXPECT_TRUE(is_value(merged_in_parts(begin, rows.columns, random), rows, row, expected));
    }
  }
};
using Values = ::testing::Types<double, float>;
TYPED_TEST_SUITE(State, Values);

TYPED_TEST(State, Empty) {
  const LogSumExpState<TypeParam> empty;
  EXPECT_EQ(empty.max, -this->inf);
  EXPECT_EQ(empty.sum, TypeParam(0));
  EXPECT_EQ(empty.value(), -this->inf);
  EXPECT_EQ(this->merged(empty, empty).value(), -this->inf);
}

TYPED_TEST(State, MergingEmptyChangesNothing) {
  const auto state = this->state_of({TypeParam(1.5), TypeParam(-3), TypeParam(2)});
  for (const auto& merged : {this->merged(state, {}), this->merged({}, state)}) {
    EXPECT_EQ(merged.max, state.max);
    EXPECT_EQ(merged.sum, state.sum);
  }
}

TYPED_TEST(State, OneEntryIsExact) {
  for (const TypeParam entry : {TypeParam(0), TypeParam(-12.25), TypeParam(1e30), -this->inf})
    EXPECT_EQ(this->state_of({entry}).value(), entry);
}

TYPED_TEST(State, SpecialEntries) {
  const auto inf = this->inf;
  EXPECT_EQ(this->state_of({-inf, -inf}).value(), -inf);
  EXPECT_EQ(this->state_of({inf, TypeParam(1)}).value(), inf);
  EXPECT_EQ(this->state_of({TypeParam(1), inf, inf}).value(), inf);
  EXPECT_EQ(this->state_of({-inf, inf}).value(), inf);
  EXPECT_EQ(this->state_of({-inf, TypeParam(3), -inf}).value(), TypeParam(3));
}

// A NaN makes the result NaN, regardless of the entries before and after it and of the side of the
// merge that has it.
TYPED_TEST(State, NaNStays) {
  const TypeParam others[] = {TypeParam(1), this->inf, -this->inf, this->nan};
  EXPECT_TRUE(std::isnan(this->state_of({this->nan}).value()));
  for (const TypeParam other : others) {
    EXPECT_TRUE(std::isnan(this->state_of({this->nan, other}).value())) << other;
    EXPECT_TRUE(std::isnan(this->state_of({other, this->nan}).value())) << other;
    const auto with_nan = this->state_of({this->nan}), without = this->state_of({other});
    EXPECT_TRUE(std::isnan(this->merged(with_nan, without).value())) << other;
    EXPECT_TRUE(std::isnan(this->merged(without, with_nan).value())) << other;
  }
  EXPECT_TRUE(std::isnan(this->merged({}, this->state_of({this->nan})).value()));
}

TYPED_TEST(State, NormalEntries) {
  for (const std::size_t columns : {0, 1, 2, 33, 1025})
    this->expect_right(normal_rows<TypeParam>(5, columns));
}

TYPED_TEST(State, HostileEntries) {
  for (const std::size_t columns : {1, 2, 33, 1025})
    this->expect_right(hostile_rows<TypeParam>(columns));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
