// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward passes of ragged rows: right for rows of all lengths, special values, in place, and
// with their errors.

#include <KokkosSoftmax_Segments.hpp>
#include <support/Backward.hpp>
#include <support/Loss.hpp>
#include <support/OnDevice.hpp>
#include <support/RaggedRows.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;

/// Lengths at which rows are computed in different ways.
constexpr std::size_t lengths_of_ragged_rows[] = {
    1,   2,   3,    7,    12,   31,   33,   128,   300,   507,   509,
    512, 513, 1020, 1025, 2049, 4097, 8193, 16385, 65536, 65537, 100003};

template <class C>
class SegmentsBackward : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  /// Rows y and dy of these lengths, some of each.
  struct Sample {
    RaggedRows<T> y;
    RaggedRows<T> dy;
  };
  static Sample sample_of(BackwardFunction function) {
    Sample sample;
    for (const std::size_t columns : lengths_of_ragged_rows) {
      const auto some = backward_sample<X>(function, 3, columns);
      sample.y.add(some.y);
      sample.dy.add(some.dy);
      sample.y.add({.count = 1, .columns = 0, .values = {}});
      sample.dy.add({.count = 1, .columns = 0, .values = {}});
    }
    const auto of_length = [&](std::size_t columns) {
      return backward_sample<X>(function, short_rows_of_length, columns);
    };
    add_short_rows(sample.y, [&](std::size_t columns) { return of_length(columns).y; });
    add_short_rows(sample.dy, [&](std::size_t columns) { return of_length(columns).dy; });
    return sample;
  }

  template <class Offsets, class YView, class DYView, class DXView>
  static void call(BackwardFunction function, const Exec& exec, const YView& y, const DYView& dy,
                   const Offsets& offsets, const DXView& dx, double scale) {
    if (function == BackwardFunction::softmax_backward)
      segment_softmax_backward(exec, y, dy, offsets, dx, {.scale = scale});
    else
      segment_log_softmax_backward(exec, y, dy, offsets, dx, {.scale = scale});
  }

  /// Calls the function and checks its result.
  static void check(BackwardFunction function, const Sample& sample, std::size_t offset) {
    const auto offsets = on_device<Exec>(sample.y.template offsets<std::int32_t>());
    const auto y_entries = sample.y.entries(T(-1)), dy_entries = sample.dy.entries(T(1));
    const Extents extents{y_entries.size()};
    Field<X, Exec> y(place<Right>(extents, offset)), dy(place<Right>(extents, 2 * offset)),
        dx(place<Right>(extents, offset));
    y.assign(y_entries);
    dy.assign(dy_entries);
    dx.assign(std::vector<T>(y_entries.size(), T(5)));
    const Exec exec;
    call(function, exec, y.template view<Right, 1, const X>(),
         dy.template view<Right, 1, const X>(), offsets, dx.template view<Right, 1>(), -0.75);
    exec.fence();
    EXPECT_TRUE(is_right(function, sample, dx.template read<T>(), -0.75, T(5)))
        << to_string(function) << ", offset " << offset;
    EXPECT_TRUE(y.is_unchanged() && dy.is_unchanged() && dx.gaps_are_unchanged());
  }

  static ::testing::AssertionResult is_right(BackwardFunction function, const Sample& sample,
                                             const std::vector<T>& got, double scale, T other) {
    ::testing::AssertionResult result = ::testing::AssertionSuccess();
    for_each_row(sample.y, got, [&](std::size_t r, const std::vector<T>& values) {
      if (!result) return;
      const auto expected =
          reference_backward(function, sample.y.rows[r], sample.dy.rows[r], scale);
      result = are_near<X>(values, expected);
      if (!result) result << "\n  in row " << r << " of " << values.size() << " entries";
    });
    return both(result, others_are(sample.y, got, other),
                "an entry that belongs to no row was written");
  }
};

TYPED_TEST_SUITE(SegmentsBackward, SameTypeConfigs, ConfigName);

TYPED_TEST(SegmentsBackward, RowsOfAllLengths) {
  for (const auto function : backward_functions)
    for (const std::size_t offset : {0, 1, 3})
      TestFixture::check(function, TestFixture::sample_of(function), offset);
}

// On a GPU, rows of such mean lengths have a team each, except those that are too long for it.
TYPED_TEST(SegmentsBackward, OneRowPerTeam) {
  std::vector<std::size_t> around_200;
  for (std::size_t k = 0; k < 100; ++k) around_200.push_back(k * 37 % 400);
  for (const auto function : backward_functions)
    for (const auto& lengths :
         {around_200, lengths_around_a_mean(1200), lengths_around_a_mean(5500)}) {
      typename TestFixture::Sample sample;
      for (const std::size_t columns : lengths) {
        if (columns == 0) continue;
        const auto some = backward_sample<typename TypeParam::x_value>(function, 1, columns);
        sample.y.add(some.y);
        sample.dy.add(some.dy);
      }
      for (const std::size_t offset : {0, 1, 3}) TestFixture::check(function, sample, offset);
    }
}

TYPED_TEST(SegmentsBackward, InPlace) {
  using T = typename TestFixture::T;
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  for (const auto function : backward_functions)
    for (const bool is_y : {true, false}) {
      const auto sample = TestFixture::sample_of(function);
      const auto offsets = on_device<Exec>(sample.y.template offsets<std::int64_t>());
      const Extents extents{sample.y.entries(T(0)).size()};
      Field<X, Exec> y(place<Right>(extents, 0)), dy(place<Right>(extents, 0));
      y.assign(sample.y.entries(T(-1)));
      dy.assign(sample.dy.entries(T(-1)));
      const auto y_view = y.template view<Right, 1>();
      const auto dy_view = dy.template view<Right, 1>();
      const Exec exec;
      TestFixture::call(function, exec, y_view, dy_view, offsets, is_y ? y_view : dy_view, 1);
      exec.fence();
      const auto got = is_y ? y.template read<T>() : dy.template read<T>();
      EXPECT_TRUE(TestFixture::is_right(function, sample, got, 1, T(-1))) << to_string(function);
    }
}

TYPED_TEST(SegmentsBackward, OfLogSumExp) {
  using T = typename TestFixture::T;
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  RaggedRows<T> x;
  for (const std::size_t columns : lengths_of_ragged_rows) {
    x.add(normal_rows<X>(2, columns));
    x.add({.count = 1, .columns = 0, .values = {}});
  }
  x.add(hostile_rows<X>(20));
  add_short_rows(x,
                 [](std::size_t columns) { return normal_rows<X>(short_rows_of_length, columns); });
  std::vector<T> lse, derivative;
  for (const auto& row : x.rows) {
    lse.push_back(static_cast<T>(reference(row).logsumexp[0]));
    derivative.push_back(static_cast<T>(1.5 - 0.01 * static_cast<double>(lse.size() % 300)));
  }
  const auto offsets = on_device<Exec>(x.template offsets<std::int32_t>());
  const auto entries = x.entries(T(1));
  for (const bool in_place : {false, true}) {
    Field<X, Exec> from(place<Right>(Extents{entries.size()}, 1)),
        to(place<Right>(Extents{entries.size()}, 0));
    from.assign(entries);
    to.assign(entries);
    const auto dx = in_place ? from.template view<Right, 1>() : to.template view<Right, 1>();
    const Exec exec;
    segment_logsumexp_backward(exec, from.template view<Right, 1>(), on_device<Exec>(lse),
                               on_device<Exec>(derivative), offsets, dx, {.scale = 1});
    exec.fence();
    const auto got = in_place ? from.template read<T>() : to.template read<T>();
    for_each_row(x, got, [&](std::size_t r, const std::vector<T>& values) {
      const auto expected = reference_gradient<T>(x.rows[r], 1, {lse[r]}, {derivative[r]}, nullptr);
      EXPECT_TRUE(are_near<X>(values, expected)) << "row " << r;
    });
    EXPECT_TRUE(others_are(x, got, T(1)));
  }
}

TYPED_TEST(SegmentsBackward, Errors) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X*, Exec> y("y", 10), dy("dy", 10), dx("dx", 10), shorter("shorter", 9);
  const auto offsets = on_device<Exec>(std::vector<std::int32_t>{0, 4, 10});
  EXPECT_TRUE(throws_with({"segment_softmax_backward: the extent 9 of dy isn't that of y, 10"},
                          [&] { segment_softmax_backward(y, shorter, offsets, dx); }));
  EXPECT_TRUE(
      throws_with({"segment_log_softmax_backward: the extent 9 of dx isn't that of log_y, 10"},
                  [&] { segment_log_softmax_backward(y, dy, offsets, shorter); }));
  const auto lse = on_device<Exec>(std::vector<typename TestFixture::T>{0, 0, 0});
  EXPECT_TRUE(
      throws_with({"segment_logsumexp_backward: the extent 3 of lse isn't the number of rows, 2"},
                  [&] { segment_logsumexp_backward(y, lse, lse, offsets, dx); }));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
