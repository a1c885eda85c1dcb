// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// logsumexp with weights: right with every algorithm, axis and layout, with signs and without, and
// together with other operands.

#include <algorithm>
#include <backend/Device.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <reference/Weighted.hpp>
#include <support/Algorithms.hpp>
#include <support/Inputs.hpp>
#include <support/Instances.hpp>
#include <support/OnDevice.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;

/// Random weights: most of both signs, some 0.
template <class X>
RowsFor<X> random_weights(std::size_t count, std::size_t columns) {
  std::mt19937_64 random(columns * 10007 + count);
  std::uniform_real_distribution<double> uniform(-0.5, 2);
  RowsFor<X> weights{.count = count, .columns = columns, .values = {}};
  for (std::size_t i = 0; i < count * columns; ++i) {
    const X w = random() % 8 == 0 ? X(0) : static_cast<X>(uniform(random));
    weights.values.push_back(static_cast<typename decltype(weights.values)::value_type>(w));
  }
  return weights;
}

/// Rows with their weights.
template <class T>
struct WeightedRows {
  Rows<T> x, weights;

  explicit WeightedRows(std::size_t columns)
      : x{.count = 0, .columns = columns, .values = {}, .names = {}}, weights(x) {}

  /// Adds a row. of_column(c) has the value and the weight of column c.
  template <class OfColumn>
  void add(const char* name, const OfColumn& of_column) {
    for (std::size_t c = 0; c < x.columns; ++c) {
      const auto [value, weight] = of_column(c);
      x.values.push_back(static_cast<T>(value));
      weights.values.push_back(static_cast<T>(weight));
    }
    x.names.emplace_back(name);
    x.count = weights.count = x.count + 1;
  }
};

struct WeightedEntry {
  double value, weight;
};

/// Columns for more than 80 spans of a host, and the value of entries whose exponentials add up to
/// less than half an ulp of a float near 1/32 per span.
constexpr std::size_t columns_of_many_parts = 5300001;
constexpr double log_of_little = -31.28;

/// Rows whose sums are near 1 or -1: one term is, and the others are small.
template <class T>
WeightedRows<T> weighted_rows_near_zero(std::size_t columns) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(columns);
  const auto uniform = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  const auto far = [&] { return WeightedEntry{uniform(-46, -20), uniform(-2, 2)}; };
  // in all, their terms add up to at most 0.03
  const double log_of_columns = std::log(static_cast<double>(columns));
  const auto middle = [&] { return WeightedEntry{-3.5 - log_of_columns, uniform(-1, 1)}; };
  WeightedRows<T> rows(columns);
  const auto add = [&](const char* name, const WeightedEntry& special, const auto& others) {
    const std::size_t column = random() % columns;
    rows.add(name, [&](std::size_t c) { return c == column ? special : others(); });
  };
  add("0, the others far below", {0, 1}, far);
  add("0 with the weight -1, the others far below", {0, -1}, far);
  add("a tiny value, the others far below", {uniform(-1e-9, 1e-9), 1}, far);
  add("a weight near 1, the others far below", {0, 1 + 1e-6}, far);
  add("a weight near -1, the others far below", {1e-8, -1 + 1e-6}, far);
  add("value and weight cancel each other", {-0.02, std::exp(0.02)}, far);
  add("0.03, the others at some -4", {0.03, 1}, middle);
  add("-0.03 with the weight -1.03, the others at some -4", {-0.03, -1.03}, middle);
  add("1/32 with the weight 33/32, the others at some -3", {1.0 / 32, 33.0 / 32}, [&] {
    return WeightedEntry{-2.8 - log_of_columns, 1};
  });
  add("-1/32 with the weight -31/32, the others at some -3", {-1.0 / 32, -31.0 / 32}, [&] {
    return WeightedEntry{-2.8 - log_of_columns, 1};
  });
  add("0, the others masked by weights", {0, 1}, [] { return WeightedEntry{-5, 0}; });
  add("0, the others -inf", {1e-12, 1}, [=] { return WeightedEntry{-inf, 3}; });
  add("0, the others large with small weights", {0, 1}, [&] {
    return WeightedEntry{uniform(5, 60), uniform(-1e-37, 1e-37)};
  });
  return rows;
}

template <class C>
class Weights : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;
  /// Whether results near 0 keep their digits.
  static constexpr bool keeps_digits = std::is_same_v<X, T>;

  /// Calls logsumexp on a matrix whose rows along options.axis are x, with weights, with signs and
  /// without, and checks all results. `v`: the values of the entries.
  template <class L>
  static ::testing::AssertionResult check(const Options& options, std::size_t offset,
                                          const Rows<T>& x, const Rows<T>& weights,
                                          const Rows<T>& v) {
    return check<L>(options, offset, x, weights,
                    reference_weighted(v, weights.values, keeps_digits));
  }
  template <class L>
  static ::testing::AssertionResult check(const Options& options, std::size_t offset,
                                          const Rows<T>& x, const Rows<T>& weights,
                                          const ExpectedWeighted& expected) {
    const Extents extents = axis_index({0, 0}, options.axis) == 1 ? Extents{x.count, x.columns}
                                                                  : Extents{x.columns, x.count};
    Field<X, Exec> x_field(place<L>(extents, offset)), w_field(place<L>(extents, offset));
    Field<Y, Exec> lse(place<L>(Extents{x.count}, offset)), sign(place<L>(Extents{x.count}, 0));
    x_field.assign(rows_to_tensor(x.values, extents, options.axis));
    w_field.assign(rows_to_tensor(weights.values, extents, options.axis));
    const auto x_view = x_field.template view<L, 2, const X>();
    const auto w_view = w_field.template view<L, 2, const X>();
    const auto lse_view = lse.template view<L, 1>();
    const Exec exec;
    logsumexp(exec, x_view, lse_view, options,
              Operands{.weights = w_view, .sign = sign.template view<L, 1>()});
    exec.fence();
    auto result = are_near<Y>(lse.template read<T>(), expected.lse);
    result = both(result, lse.gaps_are_unchanged() && sign.gaps_are_unchanged(),
                  "something beside the results was written");
    result = both(result, bool(are_signs(sign.template read<T>(), expected)), "a sign is wrong");
    logsumexp(exec, x_view, lse_view, options, Operands{.weights = w_view});
    exec.fence();
    result = both(result, bool(are_near<Y>(lse.template read<T>(), without_signs(expected))),
                  "without signs, a result differs");
    return both(result, x_field.is_unchanged() && w_field.is_unchanged(), "an input was written");
  }
};
TYPED_TEST_SUITE(Weights, AllValueConfigs, ConfigName);

TYPED_TEST(Weights, EveryAlgorithm) {
  using X = typename TypeParam::x_value;
  struct Matrix {
    std::size_t count, columns;
  };
  for (const auto& [count, columns] :
       {Matrix{1, 1}, Matrix{70, 1}, Matrix{70, 7}, Matrix{70, 16}, Matrix{70, 30}, Matrix{70, 33},
        Matrix{33, 128}, Matrix{33, 300}, Matrix{9, 1025}, Matrix{1, 5001}, Matrix{5, 5001},
        Matrix{2, 40003}}) {
    const auto x = normal_rows<X>(count, columns);
    const auto weights = random_weights<X>(count, columns);
    const auto expected = reference_weighted(values_of(x, Inputs<X>{}, 0.5), weights.values,
                                             TestFixture::keeps_digits);
    for (const int axis : {0, 1})
      for (const Algorithm algorithm : all_algorithms)
        is_served(algorithm, [&] {
          const Options options{.axis = axis, .scale = 0.5, .algorithm = algorithm};
          EXPECT_TRUE((TestFixture::template check<Right>(options, 0, x, weights, expected)))
              << count << " x " << columns << ", axis " << axis << ", " << to_string(algorithm);
        });
  }
}

TYPED_TEST(Weights, LayoutsAndAlignment) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {5, 128, 781, 5001}) {
    const auto x = normal_rows<X>(33, columns);
    const auto weights = random_weights<X>(33, columns);
    const auto expected = reference_weighted(x, weights.values, TestFixture::keeps_digits);
    for (const int axis : {0, 1})
      for (const std::size_t offset : {0, 1}) {
        const Options options{.axis = axis};
        EXPECT_TRUE((TestFixture::template check<Right>(options, offset, x, weights, expected)));
        EXPECT_TRUE((TestFixture::template check<Left>(options, offset, x, weights, expected)));
      }
  }
}

// Short rows, and rows side by side, so many that a host computes them in several blocks.
TYPED_TEST(Weights, ManyShortRows) {
  using X = typename TypeParam::x_value;
  for (const auto& [count, columns] :
       {std::pair<std::size_t, std::size_t>{5000, 3}, {2100, 64}, {900, 70}, {300, 781}}) {
    const auto x = normal_rows<X>(count, columns);
    const auto weights = random_weights<X>(count, columns);
    const auto expected = reference_weighted(x, weights.values, TestFixture::keeps_digits);
    for (const int axis : {0, 1})
      EXPECT_TRUE((TestFixture::template check<Right>({.axis = axis}, 1, x, weights, expected)));
  }
}

// Rows that several threads, or teams of a device, share.
TYPED_TEST(Weights, FewWideRows) {
  using X = typename TypeParam::x_value;
  for (const std::size_t count : {1, 3}) {
    const auto x = normal_rows<X>(count, 140001);
    const auto weights = random_weights<X>(count, 140001);
    const auto expected = reference_weighted(x, weights.values, TestFixture::keeps_digits);
    for (const int axis : {0, 1})
      EXPECT_TRUE((TestFixture::template check<Right>({.axis = axis}, 0, x, weights, expected)));
  }
}

// So many rows that they pass through teams of one warp on a GPU, because they share the weights.
TYPED_TEST(Weights, ManyRowsWithTheSameWeights) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::value;
  constexpr std::size_t count = is_host_space<Exec> ? 40 : 9000;
  constexpr std::size_t columns = 1027;
  const auto x = normal_rows<X>(count, columns);
  const auto of_columns = random_weights<X>(1, columns);
  std::vector<T> weights;
  for (std::size_t row = 0; row < count; ++row)
    weights.insert(weights.end(), of_columns.values.begin(), of_columns.values.end());
  Field<X, Exec> x_field(place<Right>(Extents{count, columns}, 1)),
      w_field(place<Right>({columns}));
  Field<Y, Exec> lse(place<Right>(Extents{count}));
  x_field.assign(x.values);
  w_field.assign(of_columns.values);
  const auto x_view = x_field.template view<Right, 2, const X>();
  const auto lse_view = lse.template view<Right, 1>();
  const Operands operands{.weights = w_field.template view<Right, 1, const X>()};
  const Exec exec;
  const auto plan = plan_logsumexp(exec, x_view, lse_view, {}, operands);
  plan.execute(x_view, lse_view, operands);
  exec.fence();
  const auto expected = reference_weighted(x, weights, TestFixture::keeps_digits);
  EXPECT_TRUE(are_near<Y>(lse.template read<T>(), without_signs(expected)));
  if (KokkosSoftmax::Impl::is_cuda<Exec>) {
    EXPECT_NE(plan.describe().find("online{team_size=1,"), std::string::npos) << plan.describe();
  }
}

// The sum is near 1 or -1. The rounding of the sum would cost its logarithm the digits.
TYPED_TEST(Weights, NearZero) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  if (!std::is_same_v<X, T>) return;  // half types have too few digits to keep
  for (const std::size_t columns :
       {1, 2, 3, 7, 8, 16, 33, 64, 129, 500, 1025, 4100, 12671, 70001}) {
    const auto [x, weights] = weighted_rows_near_zero<T>(columns);
    const auto expected = reference_weighted(x, weights.values);
    for (const int axis : {0, 1})
      for (const Algorithm algorithm : all_algorithms)
        is_served(algorithm, [&] {
          EXPECT_TRUE((TestFixture::template check<Right>({.axis = axis, .algorithm = algorithm}, 1,
                                                          x, weights, expected)))
              << columns << " columns, axis " << axis << ", " << to_string(algorithm);
        });
  }
}

// The second read of rows near 0 leaves out masked entries and those beyond the length of a row.
TYPED_TEST(Weights, NearZeroBesideMaskedEntries) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  if (!std::is_same_v<X, T>) return;  // as above
  constexpr T hidden[] = {std::numeric_limits<T>::infinity(), T(3),
                          std::numeric_limits<T>::quiet_NaN()};
  constexpr std::size_t beyond = 5;  // columns
  for (const std::size_t columns : {2, 33, 500, 4100, 70001}) {
    const auto [x, weights] = weighted_rows_near_zero<T>(columns);
    const auto expected = reference_weighted(x, weights.values);
    // every second column is masked
    Rows<T> all_x{.count = x.count, .columns = 2 * columns + beyond, .values = {}};
    Rows<T> all_weights = all_x;
    for (std::size_t row = 0; row < x.count; ++row)
      for (std::size_t c = 0; c < all_x.columns; ++c) {
        const bool counts = c % 2 == 0 && c < 2 * columns;
        const std::size_t i = row * columns + c / 2;
        all_x.values.push_back(counts ? x.values[i] : hidden[c % 3]);
        all_weights.values.push_back(counts ? weights.values[i] : T(1));
      }
    std::vector<unsigned char> mask(all_x.columns, 0);
    for (std::size_t c = 0; c < all_x.columns; c += 2) mask[c] = 1;
    const auto check = [&]<class L>(L) {
      const Extents extents{x.count, all_x.columns};
      Field<X, Exec> x_field(place<L>(extents, 0)), w_field(place<L>(extents, 0));
      Field<Y, Exec> lse(place<L>(Extents{x.count}, 0));
      x_field.assign(all_x.values);
      w_field.assign(all_weights.values);
      const Kokkos::View<Y*, Exec> sign("sign", x.count);
      const Operands operands{.mask = on_device<Exec>(mask),
                              .lengths = on_device<Exec>(std::vector<std::int64_t>(
                                  x.count, static_cast<std::int64_t>(2 * columns))),
                              .weights = w_field.template view<L, 2, const X>(),
                              .sign = sign};
      for (const Algorithm algorithm : all_algorithms)
        is_served(algorithm, [&] {
          logsumexp(Exec{}, x_field.template view<L, 2, const X>(), lse.template view<L, 1>(),
                    Options{.algorithm = algorithm}, operands);
          Exec{}.fence();
          EXPECT_TRUE(are_near<Y>(lse.template read<T>(), expected.lse))
              << columns << " columns, " << to_string(algorithm);
        });
    };
    check(Right{});
    check(Left{});
  }
}

// A row of many parts. A float that rounded the log-sum-exp at each merge would lose each part.
TYPED_TEST(Weights, NearZeroInManyParts) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  if (!std::is_same_v<X, T>) return;  // as above
  WeightedRows<T> rows(columns_of_many_parts);
  rows.add("1/32, the others add little", [](std::size_t c) {
    return WeightedEntry{c == 77 ? 1.0 / 32 : log_of_little, 1};
  });
  const auto expected = reference_weighted(rows.x, rows.weights.values);
  for (const int axis : {0, 1})
    EXPECT_TRUE(
        (TestFixture::template check<Right>({.axis = axis}, 0, rows.x, rows.weights, expected)))
        << "axis " << axis;
}

// Exponentials that are far below the largest one matter if their weights are large.
TYPED_TEST(Weights, LargeWeightsOfFarEntries) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  if (sizeof(X) == 2) return;  // half types have no such weights
  constexpr bool is_float = sizeof(T) == 4;
  const double large = is_float ? 1e35 : 1e300, tiny = is_float ? 1e-37 : 1e-305;
  const double far = is_float ? 90 : 720;
  for (const std::size_t columns : {2, 16, 33, 300, 5001}) {
    WeightedRows<T> rows(columns);
    const auto add = [&](const WeightedEntry& first, const WeightedEntry& last) {
      rows.add("two entries", [&](std::size_t c) {
        return c == 0 ? first : c == columns - 1 ? last : WeightedEntry{1, 0};
      });
    };
    add({5, 1}, {-1000, -100 * large});
    add({5, 1}, {-1000, large});
    add({1000, tiny}, {0, 1});
    add({5000, tiny}, {0, 1});
    add({0, 1}, {-far / 2, large});
    add({0, 1}, {-far * 0.9, large});
    add({0, 1}, {-far * 0.9, -large});
    // The second term is 1. Its distance from the maximum has more bits than a float.
    if (is_float) add({0.448627472, 1e-30}, {-76.221756, 1.26674157e33});
    for (const int axis : {0, 1})
      for (const Algorithm algorithm : all_algorithms)
        is_served(algorithm, [&] {
          EXPECT_TRUE((TestFixture::template check<Right>({.axis = axis, .algorithm = algorithm}, 0,
                                                          rows.x, rows.weights, rows.x)))
              << columns << " columns, axis " << axis << ", " << to_string(algorithm);
        });
  }
}

// Of finite weights whose sum exceeds the largest number.
TYPED_TEST(Weights, InfiniteSums) {
  using Exec = typename TypeParam::exec;
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  if (sizeof(X) == 2) return;  // sums of half types are floats, which they don't reach
  constexpr T large = std::numeric_limits<T>::max() / 64;
  const Exec exec;
  const Kokkos::View<T*, Exec> lse("lse", 2), sign("sign", 2);
  for (const std::size_t columns : {100, 768, 5001, 140000})
    for (const int axis : {0, 1}) {
      const std::size_t across = axis == 0 ? 2 : columns;
      const Kokkos::View<X**, Right, Exec> x("x", 2 * columns / across, across),
          weights("weights", x.extent(0), across);
      for (const int row : {0, 1})
        if (axis == 0)
          Kokkos::deep_copy(Kokkos::subview(weights, Kokkos::ALL, row),
                            X(row == 0 ? large : -large));
        else
          Kokkos::deep_copy(Kokkos::subview(weights, row, Kokkos::ALL),
                            X(row == 0 ? large : -large));
      for (const Algorithm algorithm : all_algorithms)
        is_served(algorithm, [&] {
          logsumexp(exec, x, lse, {.axis = axis, .algorithm = algorithm},
                    Operands{.weights = weights, .sign = sign});
          const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), lse),
                     signs = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sign);
          for (const int row : {0, 1}) {
            EXPECT_EQ(got(row), std::numeric_limits<T>::infinity())
                << columns << " columns, axis " << axis << ", " << to_string(algorithm);
            EXPECT_EQ(signs(row), T(row == 0 ? 1 : -1));
          }
        });
    }
}

// An entry with the weight 0 counts for nothing, even if it is NaN or +inf. The sign of an infinite
// sum is that of the weights of the entries that are +inf.
TYPED_TEST(Weights, SpecialValues) {
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const Rows<T> x{.count = 13,
                  .columns = 4,
                  .values = {nan, 1,    2,    inf,  inf,  1,    2, nan, inf,  1,   2,  3,  1,
                             inf, 0,    inf,  inf,  inf,  1,    2, nan, 1,    2,   3,  1,  2,
                             3,   4,    -inf, -inf, -inf, -inf, 1, 1,   -inf, 0,   -1, -2, -3,
                             -4,  -inf, 2,    1,    0,    1,    2, 3,   4,    inf, 1,  2,  3}};
  const Rows<T> weights{
      .count = 13, .columns = 4, .values = {0,  1,   2,  0,  0, -1,  -2, 0,  2, -1, 1,   1,  1,
                                            -1, 0,   -2, -1, 1, 1,   1,  1,  1, 1,  1,   0,  0,
                                            0,  0,   1,  1,  1, 1,   1,  -1, 1, 0,  1,   -1, 1,
                                            -1, inf, 1,  1,  1, nan, 1,  1,  1, 1,  nan, 1,  1}};
  for (const int axis : {0, 1})
    for (const Algorithm algorithm : all_algorithms)
      is_served(algorithm, [&] {
        EXPECT_TRUE((TestFixture::template check<Right>({.axis = axis, .algorithm = algorithm}, 0,
                                                        x, weights, x)))
            << to_string(algorithm);
      });
  // in rows of several tiles
  for (const std::size_t columns : {301, 10001}) {
    Rows<T> long_x{.count = x.count, .columns = columns, .values = {}}, long_weights = long_x;
    for (std::size_t row = 0; row < x.count; ++row)
      for (std::size_t c = 0; c < columns; ++c) {
        const bool is_taken = c % (columns / 4) == columns / 4 - 1 && c / (columns / 4) < 4;
        const std::size_t i = row * 4 + c / (columns / 4);
        long_x.values.push_back(is_taken ? x.values[i] : T(-5));
        long_weights.values.push_back(is_taken ? weights.values[i] : T(c % 3 == 0));
      }
    for (const int axis : {0, 1})
      for (const Algorithm algorithm : all_algorithms)
        is_served(algorithm, [&] {
          EXPECT_TRUE((TestFixture::template check<Right>({.axis = axis, .algorithm = algorithm}, 0,
                                                          long_x, long_weights, long_x)))
              << to_string(algorithm) << ", " << columns << " columns";
        });
  }
}

// Entries of any size have the right sum: nothing overflows, and no digits are lost to a reference
// that follows the entries.
TYPED_TEST(Weights, RampsAndLargeValues) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {100, 5001, 70001}) {
    Rows<T> x{.count = 4, .columns = columns, .values = {}};
    for (std::size_t row = 0; row < x.count; ++row)
      for (std::size_t c = 0; c < columns; ++c) {
        const double along = static_cast<double>(c) / static_cast<double>(columns);
        const double value = row == 0   ? 30 * along
                             : row == 1 ? -30 * along
                             : row == 2 ? 3e4 - along
                                        : -3e4 * along;
        x.values.push_back(static_cast<T>(static_cast<X>(value)));
      }
    const auto weights = random_weights<X>(x.count, columns);
    for (const int axis : {0, 1})
      EXPECT_TRUE((TestFixture::template check<Right>({.axis = axis}, 0, x, weights, x)))
          << columns;
  }
}

// Rows side by side, so many that a host computes their columns in parts, whose states it merges.
// The references of the parts rise, fall, or are there in the last part alone; parts have nothing
// to add; and the rows among them that are near 0, infinite or NaN are computed one by one.
TYPED_TEST(Weights, SideBySideInParts) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto threads = static_cast<std::size_t>(std::max(1, Exec().concurrency()));
  const std::size_t count = is_host_space<Exec> ? 257 * std::min<std::size_t>(threads, 8) : 257;
  for (const std::size_t columns : {1000, 3001}) {
    WeightedRows<T> rows(columns);
    std::mt19937_64 random(columns);
    std::normal_distribution<double> normal;
    const auto last = columns - 1;
    const auto add = [&](const char* name, const auto& value, const auto& weight) {
      rows.add(name, [&](std::size_t c) {
        return WeightedEntry{static_cast<double>(static_cast<X>(value(c))),
                             static_cast<double>(static_cast<X>(weight(c)))};
      });
    };
    const auto along = [&](std::size_t c) {
      return static_cast<double>(c) / static_cast<double>(columns);
    };
    const auto values = [&](std::size_t) { return normal(random); };
    const auto weights = [&](std::size_t) { return 1.5 + 0.25 * normal(random); };
    const auto ones = [](std::size_t) { return 1.0; };
    while (rows.x.count < count) {
      add("random", values, weights);
      add(
          "rising", [&](std::size_t c) { return 60 * along(c); }, weights);
      add(
          "falling", [&](std::size_t c) { return -60 * along(c); }, weights);
      add("nothing but the last entry", values,
          [&](std::size_t c) { return c == last ? -2.0 : 0.0; });
      add(
          "-inf but the first", [&](std::size_t c) { return c == 0 ? 3.0 : -inf; }, weights);
      add(
          "-inf but the last", [&](std::size_t c) { return c == last ? 3.0 : -inf; }, weights);
      add(
          "all -inf", [&](std::size_t) { return -inf; }, weights);
      add(
          "no weights, NaN and inf", [&](std::size_t c) { return c % 2 == 0 ? nan : inf; },
          [](std::size_t) { return 0.0; });
      add(
          "inf in the middle", [&](std::size_t c) { return c == columns / 2 ? inf : 1.0; }, ones);
      add(
          "inf without weight", [&](std::size_t c) { return c == columns / 2 ? inf : 1.0; },
          [&](std::size_t c) { return c == columns / 2 ? 0.0 : 1.0; });
      add(
          "NaN at the end", [&](std::size_t c) { return c == last ? nan : 1.0; }, ones);
      add(
          "NaN before -inf", [&](std::size_t c) { return c == 0 ? nan : -inf; }, ones);
      add(
          "near 0", [&](std::size_t c) { return c == 700 ? 1e-6 : -40.0; }, ones);
      add(
          "large", [&](std::size_t c) { return 3e4 - 8 * along(c); }, weights);
      add("negative", values, [&](std::size_t c) { return -weights(c); });
    }
    const auto expected =
        reference_weighted(rows.x, rows.weights.values, TestFixture::keeps_digits);
    EXPECT_TRUE(
        (TestFixture::template check<Right>({.axis = 0}, 0, rows.x, rows.weights, expected)))
        << columns << " columns";
  }
}

// Weights of one row for all rows, with biases, a mask and lengths: the step of MBAR and Sinkhorn.
// Weights of masked entries don't count, whatever they are.
TYPED_TEST(Weights, WithOtherOperands) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = 40;
  for (const std::size_t columns : {9, 300, 5001, 20001})
    for (const bool scale_biases : {false, true}) {
      const Rows<T> x = normal_rows<X>(count, columns);
      Inputs<T> inputs;
      inputs.scale_biases = scale_biases;
      const auto bias = normal_rows<T>(1, columns).values,
                 row_bias = normal_rows<T>(1, count).values;
      std::vector<T> weights = random_weights<T>(1, columns).values, all_weights;
      std::vector<unsigned char> mask(columns, 1);
      for (std::size_t c = 2; c < columns; c += 5) {
        mask[c] = 0;
        weights[c] = std::numeric_limits<T>::quiet_NaN();
      }
      inputs.row_bias = row_bias;
      for (std::size_t row = 0; row < count; ++row) {
        inputs.bias.insert(inputs.bias.end(), bias.begin(), bias.end());
        inputs.mask.insert(inputs.mask.end(), mask.begin(), mask.end());
        all_weights.insert(all_weights.end(), weights.begin(), weights.end());
        inputs.lengths.push_back(static_cast<std::int64_t>((row * 37) % (columns + 1)));
      }
      const Options options{.scale = -0.75};
      const auto expected = reference_weighted(values_of(x, inputs, options.scale), all_weights,
                                               TestFixture::keeps_digits);
      Field<X, Exec> x_field(place<Right>(Extents{count, columns}, 0));
      Field<Y, Exec> lse(place<Right>(Extents{count}, 0));
      x_field.assign(x.values);
      const auto x_view = x_field.template view<Right, 2, const X>();
      const auto lse_view = lse.template view<Right, 1>();
      const Operands operands{.bias = on_device<Exec>(bias),
                              .mask = on_device<Exec>(mask),
                              .lengths = on_device<Exec>(inputs.lengths),
                              .row_bias = on_device<Exec>(row_bias),
                              .weights = on_device<Exec>(weights),
                              .sign = Kokkos::View<Y*, Exec>("sign", count),
                              .scale_biases = scale_biases};
      logsumexp(Exec{}, x_view, lse_view, options, operands);
      Exec{}.fence();
      EXPECT_TRUE(are_near<Y>(lse.template read<T>(), expected.lse)) << columns << " columns";
      lse.assign(std::vector<T>(count, T(7)));
      const auto plan = plan_logsumexp(Exec{}, x_view, lse_view, options, operands);
      plan.execute(x_view, lse_view, operands);
      Exec{}.fence();
      EXPECT_TRUE(are_near<Y>(lse.template read<T>(), expected.lse)) << plan.describe();
    }
}

// A row without columns, and no rows.
TYPED_TEST(Weights, NothingToAdd) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Right, Exec> x("x", 3, 0), none("none", 0, 5);
  const Kokkos::View<Y*, Exec> no_lse("no_lse", 0);
  Field<Y, Exec> lse(place<Right>(Extents{3}, 0)), sign(place<Right>(Extents{3}, 0));
  const auto sign_view = sign.template view<Right, 1>();
  logsumexp(Exec{}, x, lse.template view<Right, 1>(), {},
            Operands{.weights = x, .sign = sign_view});
  logsumexp(Exec{}, none, no_lse, {}, Operands{.weights = none, .sign = no_lse});
  Exec{}.fence();
  for (const T value : lse.template read<T>())
    EXPECT_EQ(value, -std::numeric_limits<T>::infinity());
  for (const T value : sign.template read<T>()) EXPECT_EQ(value, T(0));
}

TEST(WeightsErrors, NameTheOperand) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  const Kokkos::View<double**, Right, Exec> x("x", 4, 6), weights("w", 4, 6), wrong("w", 5, 6);
  const Kokkos::View<double*, Exec> lse("lse", 4), sign("sign", 4), short_sign("sign", 3);
  const Exec exec;
  const auto call = [&](const auto& operands) { logsumexp(exec, x, lse, {}, operands); };
  EXPECT_TRUE(throws_with({"weights"}, [&] { call(Operands{.weights = wrong}); }));
  EXPECT_TRUE(
      throws_with({"sign"}, [&] { call(Operands{.weights = weights, .sign = short_sign}); }));
  EXPECT_TRUE(throws_with({"extents (0) of sign"}, [&] {
    call(Operands{.weights = weights, .sign = Kokkos::View<double*, Exec>()});
  }));
  EXPECT_TRUE(throws_with({"overlap"}, [&] { call(Operands{.weights = weights, .sign = lse}); }));
  const auto row = Kokkos::subview(x, 1, std::pair(0, 4));
  EXPECT_TRUE(throws_with({"overlap"}, [&] { call(Operands{.weights = weights, .sign = row}); }));
  const auto column = Kokkos::subview(weights, Kokkos::ALL, 0);
  EXPECT_TRUE(
      throws_with({"strides"}, [&] { call(Operands{.weights = weights, .sign = column}); }));
  EXPECT_TRUE(throws_with(
      {"row_bias"}, [&] { call(Operands{.row_bias = Kokkos::View<double*, Exec>("u", 6)}); }));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
