// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax, log_softmax and logsumexp of ragged rows: right for rows of all lengths and values, at
// any alignment, in place, with the same bits each time, on the caller's instance alone, and with
// their errors.

#include <KokkosSoftmax_Segments.hpp>
#include <algorithm>
#include <random>
#include <support/Check.hpp>
#include <support/Instances.hpp>
#include <support/OnDevice.hpp>
#include <support/RaggedRows.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;

struct SegmentCase {
  double scale = 1;
  EmptyRows empty_rows = EmptyRows::nan;
  std::size_t offset = 0;  // elements between an aligned address and the first element
};

template <class C>
class Segments : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;
  static constexpr T other = T(-7);

  /// Calls all functions and checks their results.
  template <class Offset = std::int32_t>
  static ::testing::AssertionResult check(const RaggedRows<T>& ragged, const SegmentCase& c = {}) {
    const auto offsets = on_device<Exec>(ragged.template offsets<Offset>());
    const auto entries = ragged.entries(T(1));
    Field<X, Exec> x(place<Right>(Extents{entries.size()}, c.offset));
    x.assign(entries);
    const auto x_view = x.template view<Right, 1, const X>();
    const SegmentOptions options{.scale = c.scale, .empty_rows = c.empty_rows};
    const Exec exec;
    for (const auto function : {Function::softmax, Function::log_softmax}) {
      Field<Y, Exec> y(place<Right>(Extents{entries.size()}, 2 * c.offset));
      y.assign(std::vector<T>(entries.size(), other));
      call(function, exec, x_view, offsets, y.template view<Right, 1>(), options);
      exec.fence();
      auto result = is_right(function, ragged, y.template read<T>(), c);
      result = both(result, y.gaps_are_unchanged() && x.is_unchanged(),
                    "something beside the results was written");
      if (!result) return result << "\n  in " << to_string(function);
    }
    return check_numbers(ragged, exec, x_view, offsets, options);
  }

  template <class XView, class Offsets>
  static ::testing::AssertionResult check_numbers(const RaggedRows<T>& ragged, const Exec& exec,
                                                  const XView& x, const Offsets& offsets,
                                                  const SegmentOptions& options) {
    Field<T, Exec> lse(place<Right>(Extents{ragged.rows.size()}, 1));
    segment_logsumexp(exec, x, offsets, lse.template view<Right, 1>(), options);
    exec.fence();
    const auto got = lse.read();
    ::testing::AssertionResult result = ::testing::AssertionSuccess();
    for (std::size_t r = 0; r < ragged.rows.size() && result; ++r) {
      const auto& row = ragged.rows[r];
      const auto expected = reference(row, options.scale);
      result = is_accurate(Function::logsumexp, row, expected, std::vector<T>{got[r]});
      if constexpr (std::is_same_v<X, T>)
        if (result) result = is_accurate_near_zero(row, expected, std::vector<T>{got[r]});
      if (!result) result << "\n  in row " << r << " of logsumexp";
    }
    return both(result, lse.gaps_are_unchanged(), "something beside lse was written");
  }

  static ::testing::AssertionResult is_right(Function function, const RaggedRows<T>& ragged,
                                             const std::vector<T>& got, const SegmentCase& c,
                                             T unwritten = other) {
    ::testing::AssertionResult result = ::testing::AssertionSuccess();
    for_each_row(ragged, got, [&](std::size_t r, const std::vector<T>& values) {
      if (!result) return;
      const auto& row = ragged.rows[r];
      result = is_accurate(function, row, reference(row, c.scale, c.empty_rows), values, 0,
                           format_of<Y>());
      if (!result) result << "\n  in row " << r << " of " << row.columns << " entries";
    });
    return both(result, others_are(ragged, got, unwritten),
                "an entry that belongs to no row was written");
  }

  template <class XView, class Offsets, class YView>
  static void call(Function function, const Exec& exec, const XView& x, const Offsets& offsets,
                   const YView& y, const SegmentOptions& options) {
    if (function == Function::softmax)
      segment_softmax(exec, x, offsets, y, options);
    else
      segment_log_softmax(exec, x, offsets, y, options);
  }

  /// Normally distributed rows of these lengths.
  static RaggedRows<T> rows_of(const std::vector<std::size_t>& lengths) {
    RaggedRows<T> ragged;
    std::mt19937_64 generator(lengths.size());
    std::normal_distribution<double> normal(0, 3);
    for (const std::size_t length : lengths) {
      Rows<T> row{.count = 1, .columns = length, .values = std::vector<T>(length)};
      for (T& v : row.values) v = static_cast<T>(static_cast<X>(normal(generator)));
      ragged.rows.push_back(row);
    }
    return ragged;
  }

  /// Adds rows of up to 40 entries that are near `level`.
  static void add_rows_near(RaggedRows<T>& ragged, double level, std::size_t count) {
    std::mt19937_64 generator(ragged.rows.size());
    std::normal_distribution<double> normal(0, 0.1);
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t columns = 1 + generator() % 40;
      Rows<T> row{.count = 1, .columns = columns, .values = std::vector<T>(columns)};
      for (T& v : row.values) v = static_cast<T>(static_cast<X>(level + normal(generator)));
      ragged.rows.push_back(row);
    }
  }

  static std::vector<std::size_t> random_lengths(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<std::size_t> lengths(count);
    for (auto& length : lengths) {
      const unsigned kind = generator() % 100;
      const unsigned most = kind < 40   ? 4
                            : kind < 70 ? 40
                            : kind < 95 ? 300
                            : kind < 99 ? 3000
                                        : 30000;
      length = generator() % most;
    }
    return lengths;
  }
};

TYPED_TEST_SUITE(Segments, AllValueConfigs, ConfigName);

TYPED_TEST(Segments, NoRowsAndNoEntries) {
  EXPECT_TRUE(TestFixture::check(TestFixture::rows_of({})));
  EXPECT_TRUE(TestFixture::check(TestFixture::rows_of({0})));
  EXPECT_TRUE(TestFixture::check(TestFixture::rows_of(std::vector<std::size_t>(5000, 0))));
  EXPECT_TRUE(TestFixture::check(TestFixture::rows_of({0, 0, 5, 0, 1, 0, 0})));
}

TYPED_TEST(Segments, ShortRowsOfEachLength) {
  std::vector<std::size_t> lengths;
  for (std::size_t length = 0; length <= 70; ++length) lengths.push_back(length);
  for (const std::size_t offset : {0, 1, 3, 7})
    EXPECT_TRUE(TestFixture::check(TestFixture::rows_of(lengths), {.offset = offset})) << offset;
  for (const std::size_t length : {1, 2, 3, 4, 5, 8, 12, 31, 32, 33, 128, 129, 256, 257, 1000})
    EXPECT_TRUE(TestFixture::check(
        TestFixture::rows_of(std::vector<std::size_t>(6000 / length + 1, length)), {.offset = 1}))
        << length;
}

// Lengths at which a row is computed in another way, alone and beside others.
TYPED_TEST(Segments, LengthsOnBorders) {
  for (const std::size_t length :
       {505,  508,  509,  510,   511,   512,   513,   1015,  1017,  1018,
        1020, 1021, 1022, 1024,  1025,  2047,  2049,  4095,  4096,  4097,
        8191, 8192, 8193, 12288, 16384, 16385, 65535, 65536, 65537, 70001}) {
    EXPECT_TRUE(TestFixture::check(TestFixture::rows_of({length}), {.offset = 1})) << length;
    EXPECT_TRUE(TestFixture::check(TestFixture::rows_of({5, 0, length, length, 1, 300, length, 7})))
        << length;
  }
}

// The first row fills the window of a vector, so that the next one begins at its last position. The
// entries of the first row begin anywhere in a chunk.
TYPED_TEST(Segments, RowsThatFillAWindow) {
  for (const std::size_t window : {256, 512, 1024})
    for (std::size_t length = window - 9; length <= window; ++length)
      for (const std::size_t offset : {0, 1, 4})
        for (const std::size_t next : {1, 3000})  // which a vector computes, or a team
          EXPECT_TRUE(TestFixture::check(TestFixture::rows_of({length, next}), {.offset = offset}))
              << length << " and " << next << ", offset " << offset;
}

TYPED_TEST(Segments, RandomLengths) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const auto ragged = TestFixture::rows_of(TestFixture::random_lengths(700, seed));
    EXPECT_TRUE(TestFixture::check(ragged, {.scale = -0.5, .offset = seed})) << "seed " << seed;
    EXPECT_TRUE(TestFixture::template check<std::int64_t>(ragged, {.scale = 2})) << "seed " << seed;
  }
}

// On a GPU, rows of such mean lengths have a team each, except those that are too long for it.
TYPED_TEST(Segments, OneRowPerTeam) {
  for (const unsigned most : {1200u, 5000u}) {
    const auto ragged = TestFixture::rows_of(lengths_around_a_mean(most));
    for (const std::size_t offset : {0, 1, 3})
      EXPECT_TRUE(TestFixture::check(ragged, {.scale = -0.5, .offset = offset}))
          << most << ", offset " << offset;
    EXPECT_TRUE(TestFixture::template check<std::int64_t>(ragged)) << most;
  }
}

// On a GPU, rows of such mean lengths have a part of a vector each, except those that are too long
// for it.
TYPED_TEST(Segments, PartOfAVectorPerRow) {
  for (const unsigned most : {120u, 300u, 1300u}) {
    const auto ragged = TestFixture::rows_of(lengths_for_parts_of_vectors(most));
    for (const std::size_t offset : {0, 1, 3})
      EXPECT_TRUE(TestFixture::check(ragged, {.scale = -0.5, .offset = offset}))
          << most << ", offset " << offset;
    EXPECT_TRUE(TestFixture::template check<std::int64_t>(ragged)) << most;
  }
}

// A host computes short rows together with others of similar lengths, whatever their neighbours
// are.
TYPED_TEST(Segments, ShortRowsAmongOthers) {
  using X = typename TypeParam::x_value;
  RaggedRows<typename TestFixture::T> ragged;
  add_short_rows(ragged,
                 [](std::size_t columns) { return normal_rows<X>(short_rows_of_length, columns); });
  for (const double scale : {1., -0.5, 0.})
    for (const std::size_t offset : {0, 1, 3})
      EXPECT_TRUE(TestFixture::check(ragged, {.scale = scale, .offset = offset}))
          << scale << ", offset " << offset;
  EXPECT_TRUE(TestFixture::template check<std::int64_t>(ragged));
}

// Rows with special values, each among others of similar lengths.
TYPED_TEST(Segments, ShortSpecialRowsAmongOthers) {
  using X = typename TypeParam::x_value;
  RaggedRows<typename TestFixture::T> ragged;
  for (const std::size_t columns : {1, 2, 3, 5, 11, 20, 31, 47, 64}) {
    RaggedRows<typename TestFixture::T> special;
    special.add(hostile_rows<X>(columns));
    for (const auto& row : special.rows) {
      ragged.rows.push_back(row);
      ragged.add(normal_rows<X>(1, 1 + columns % 7));
    }
  }
  for (const auto empty_rows : {EmptyRows::nan, EmptyRows::zero})
    for (const double scale : {1., -2., 0.})
      EXPECT_TRUE(TestFixture::check(ragged, {.scale = scale, .empty_rows = empty_rows})) << scale;
}

// Long rows are divided, and their neighbours are computed in between.
TYPED_TEST(Segments, LongRows) {
  std::vector<std::size_t> lengths = {200000, 0, 12, 12, 300001};
  lengths.insert(lengths.end(), 3000, 12);
  lengths.push_back(100003);
  EXPECT_TRUE(TestFixture::check(TestFixture::rows_of(lengths)));
  EXPECT_TRUE(TestFixture::template check<std::int64_t>(TestFixture::rows_of(lengths),
                                                        {.scale = 0.25, .offset = 1}));
}

TYPED_TEST(Segments, SpecialValues) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {1, 2, 3, 7, 33, 128, 1025, 5001, 20001, 70001}) {
    RaggedRows<typename TestFixture::T> ragged;
    ragged.add(hostile_rows<X>(columns));
    for (const auto empty_rows : {EmptyRows::nan, EmptyRows::zero})
      EXPECT_TRUE(TestFixture::check(ragged, {.empty_rows = empty_rows})) << columns;
    EXPECT_TRUE(TestFixture::check(ragged, {.scale = 0})) << columns;
  }
}

TYPED_TEST(Segments, NearZero) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {2, 5, 100, 1000, 5001, 70001}) {
    RaggedRows<typename TestFixture::T> ragged;
    ragged.add(near_zero_rows<X>(columns));
    EXPECT_TRUE(TestFixture::check(ragged)) << columns;
  }
}

// Short rows that lie side by side share a reference if their values are at most 64 apart.
TYPED_TEST(Segments, RowsAtDifferentLevels) {
  for (const double base : {0., -3000., 8000., 40000.})
    for (const double distance : {20., 60., 63.5, 64., 64.5, 90., 800.}) {
      RaggedRows<typename TestFixture::T> ragged;
      for (int group = 0; group < 30; ++group)
        TestFixture::add_rows_near(ragged, base + (group % 3) * distance / 2, 1 + group % 7);
      for (const double scale : {1., -1.})
        EXPECT_TRUE(TestFixture::check(ragged, {.scale = scale}))
            << base << " and " << base + distance;
    }
}

// The log-sum-exps of equal entries are far from the maximum, and from a power of two.
TYPED_TEST(Segments, EqualEntries) {
  using T = typename TestFixture::T;
  for (const T level : {T(0), T(-3.625), T(4e4), T(-4e4), T(1e5), T(1e8), T(1e30)}) {
    if (static_cast<T>(static_cast<typename TypeParam::x_value>(level)) != level) continue;
    RaggedRows<T> ragged;
    for (const std::size_t columns : {1, 2, 3, 11, 40, 100, 311, 700})
      ragged.rows.push_back(
          {.count = 1, .columns = columns, .values = std::vector<T>(columns, level)});
    EXPECT_TRUE(TestFixture::check(ragged)) << level;
  }
}

TYPED_TEST(Segments, NearZeroAmongRowsAtOtherLevels) {
  using X = typename TypeParam::x_value;
  for (const double level : {-20., 20., 40.}) {
    RaggedRows<typename TestFixture::T> ragged;
    for (const std::size_t columns : {2, 5, 100}) {
      ragged.add(near_zero_rows<X>(columns));
      TestFixture::add_rows_near(ragged, level, 3);
    }
    EXPECT_TRUE(TestFixture::check(ragged)) << level;
  }
}

// A row with special values changes no other row.
TYPED_TEST(Segments, SpecialValuesAmongOrdinaryRows) {
  using X = typename TypeParam::x_value;
  RaggedRows<typename TestFixture::T> ragged;
  for (const std::size_t columns : {1, 2, 20}) {
    RaggedRows<typename TestFixture::T> special;
    special.add(hostile_rows<X>(columns));
    for (const auto& row : special.rows) {
      TestFixture::add_rows_near(ragged, 1, 40);
      ragged.rows.push_back(row);
    }
  }
  for (const auto empty_rows : {EmptyRows::nan, EmptyRows::zero})
    EXPECT_TRUE(TestFixture::check(ragged, {.empty_rows = empty_rows}));
}

TYPED_TEST(Segments, Ramps) {
  using X = typename TypeParam::x_value;
  RaggedRows<typename TestFixture::T> ragged;
  ragged.add(ramp_rows<X>(1000));
  ragged.add(two_ramp_rows<X>(200000));
  EXPECT_TRUE(TestFixture::check(ragged));
}

TYPED_TEST(Segments, InPlaceAndRepeated) {
  using T = typename TestFixture::T;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  if constexpr (!std::is_same_v<Y, typename TypeParam::x_value>)
    GTEST_SKIP() << "x and y have different types";
  auto lengths = TestFixture::random_lengths(300, 5);
  lengths.push_back(90001);
  const auto ragged = TestFixture::rows_of(lengths);
  const auto offsets = on_device<Exec>(ragged.template offsets<std::int32_t>());
  const Exec exec;
  std::vector<T> first;
  for (int repetition = 0; repetition < 3; ++repetition) {
    Field<Y, Exec> x(place<Right>(Extents{ragged.entries(T(1)).size()}, 1));
    x.assign(ragged.entries(T(1)));
    const auto view = x.template view<Right, 1>();
    segment_softmax(exec, view, offsets, view);
    exec.fence();
    const auto got = x.template read<T>();
    EXPECT_TRUE(TestFixture::is_right(Function::softmax, ragged, got, {}, T(1)));
    if (repetition == 0) first = got;
    EXPECT_EQ(got, first);
  }
}

// A call uses the caller's instance alone, with the function's name, and doesn't fence.
TYPED_TEST(Segments, UseTheInstanceOfTheCaller) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  const auto ragged = TestFixture::rows_of({5, 3000, 100000, 7});
  const auto offsets = on_device<Exec>(ragged.template offsets<std::int32_t>());
  const std::size_t size = ragged.entries(1).size();
  const Kokkos::View<X*, Exec> x("x", size);
  const Kokkos::View<Y*, Exec> y("y", size);
  const Exec instance = other_instances(Exec()).back();
  segment_softmax(instance, x, offsets, y);  // allocates memory
  const Events events = record([&] { segment_softmax(instance, x, offsets, y); });
  EXPECT_TRUE(events.fences.empty());
  EXPECT_TRUE(events.allocations.empty());
  EXPECT_FALSE(events.kernels.empty());
  for (const auto& kernel : events.kernels) {
    EXPECT_EQ(kernel.label.rfind("KokkosSoftmax::segment_softmax[", 0), 0u) << kernel.label;
    EXPECT_EQ(kernel.device, Kokkos::Tools::Experimental::device_id(instance));
  }
  instance.fence();
}

TYPED_TEST(Segments, Errors) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using T = typename TestFixture::T;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X*, Exec> x("x", 10);
  const Kokkos::View<Y*, Exec> y("y", 10), shorter("shorter", 9);
  const Kokkos::View<T*, Exec> lse("lse", 3), numbers("numbers", 2);
  const auto offsets = on_device<Exec>(std::vector<std::int32_t>{0, 4, 10});
  const Kokkos::View<std::int32_t*, Exec> none("none", 0);
  const Kokkos::View<X**, Right, Exec> matrix("matrix", 10, 2);
  const auto strided = Kokkos::subview(matrix, Kokkos::ALL, 0);
  const std::string name = "KokkosSoftmax::segment_softmax: ";
  EXPECT_TRUE(throws_with({name, "the extent 9 of y isn't that of x, 10"},
                          [&] { segment_softmax(x, offsets, shorter); }));
  EXPECT_TRUE(throws_with({name, "offsets has no elements"}, [&] { segment_softmax(x, none, y); }));
  EXPECT_TRUE(
      throws_with({name, "the stride of x is 2"}, [&] { segment_softmax(strided, offsets, y); }));
  EXPECT_TRUE(throws_with({name, "scale = inf is not finite"}, [&] {
    segment_softmax(x, offsets, y, {.scale = std::numeric_limits<double>::infinity()});
  }));
  EXPECT_TRUE(throws_with({"segment_logsumexp: the extent 3 of lse isn't the number of rows, 2"},
                          [&] { segment_logsumexp(x, offsets, lse); }));
  const auto part = Kokkos::subview(x, std::make_pair(0, 5));
  const Kokkos::View<X*, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>> beside(x.data() + 1, 5);
  if constexpr (std::is_same_v<X, Y>) {
    EXPECT_TRUE(throws_with({name, "x at", "and y at", "overlap"},
                            [&] { segment_softmax(part, offsets, beside); }));
  }
  segment_logsumexp(x, offsets, numbers);
  Exec().fence();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
