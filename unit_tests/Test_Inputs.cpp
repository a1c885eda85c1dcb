// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bias, mask, lengths and causal limits: right with every algorithm, layout and axis, alone and
// together, whatever the masked entries hold.

#include <algorithm>
#include <backend/Hardware.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <support/Algorithms.hpp>
#include <support/BesideY.hpp>
#include <support/Devices.hpp>
#include <support/Inputs.hpp>
#include <support/Instances.hpp>
#include <support/OnDevice.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>
#include <utility>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
using Strided = Kokkos::LayoutStride;

/// Which operands a call has.
struct Given {
  bool bias = false;
  bool mask = false;
  bool lengths = false;
  bool causal = false;
  bool row_bias = false;
  bool scale_biases = false;
};
constexpr Given all_of_them{true, true, true, true};

/// How an operand of the extents of a matrix is broadcast, or how it is stored if it isn't: in
/// `side_by_side` the rows are neighbours in memory, otherwise the columns are.
enum class Broadcast { full, side_by_side, per_column, per_row };

/// Random operands. Some rows are masked as a whole.
template <class B>
Inputs<B> random_inputs(const Given& given, Broadcast broadcast, std::size_t count,
                        std::size_t columns) {
  std::mt19937_64 random(count * 1000003 + columns);
  std::normal_distribution<double> normal(0, 2);
  Inputs<B> inputs;
  const auto index = [&](std::size_t i) {
    return broadcast == Broadcast::per_column ? i % columns
           : broadcast == Broadcast::per_row  ? i / columns * columns
                                              : i;
  };
  const auto fill = [&](auto& values, const auto& make) {
    values.resize(count * columns);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = index(i) == i ? make(i) : values[index(i)];
  };
  if (given.bias) fill(inputs.bias, [&](std::size_t) { return static_cast<B>(normal(random)); });
  if (given.mask)
    fill(inputs.mask, [&](std::size_t i) {
      const bool is_whole_row = broadcast != Broadcast::per_column && i / columns % 8 == 5;
      return static_cast<unsigned char>(!is_whole_row && random() % 3 != 0 ? 1 + random() % 255
                                                                           : 0);
    });
  if (given.lengths)
    for (std::size_t row = 0; row < count; ++row)
      inputs.lengths.push_back(static_cast<std::int64_t>(random() % (columns + columns / 4 + 3)) -
                               1);
  if (given.row_bias)
    for (std::size_t row = 0; row < count; ++row)
      inputs.row_bias.push_back(static_cast<B>(normal(random)));
  inputs.scale_biases = given.scale_biases;
  if (given.causal)
    inputs.offset = static_cast<std::int64_t>(columns / 2) - static_cast<std::int64_t>(count / 2);
  return inputs;
}

template <class Exec, class X, class Y, class... G>
void call_with(Function function, const Exec& exec, const X& x, const Y& y, const Options& options,
               const Operands<G...>& operands) {
  if constexpr (Y::rank() + 1 == X::rank())
    logsumexp(exec, x, y, options, operands);
  else if (function == Function::softmax)
    softmax(exec, x, y, options, operands);
  else
    log_softmax(exec, x, y, options, operands);
}

template <class C>
class InputsOf : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;

  /// Calls the function on a matrix of layout L, and checks the results. `stride` of the operands'
  /// elements: 1 or more.
  template <class L, class B = X>
  static ::testing::AssertionResult check(const Case& c, const Rows<T>& x, const Inputs<B>& inputs,
                                          const Given& given, Broadcast broadcast) {
    const Rows<T> v = values_of(x, inputs, c.options.scale);
    return check<L, B>(c, x, inputs, given, broadcast, v,
                       expected_of(v, inputs, c.options.empty_rows));
  }
  template <class L, class B = X>
  static ::testing::AssertionResult check(const Case& c, const Rows<T>& x, const Inputs<B>& inputs,
                                          const Given& given, Broadcast broadcast, const Rows<T>& v,
                                          const Expected& expected) {
    const int axis = c.options.axis;
    Field<X, Exec> x_field(place<L>(c.extents, c.x_offset));
    Field<Y, Exec> y_field(place<L>(c.y_extents(), c.y_offset));
    x_field.assign(rows_to_tensor(x.values, c.extents, axis));
    const auto x_view = x_field.template view<L, 2, const X>();
    const auto bias = on_device<Exec>(stored(inputs.bias, c, broadcast));
    const auto mask = on_device<Exec>(stored(inputs.mask, c, broadcast));
    const auto lengths = on_device<Exec>(inputs.lengths);
    const auto layout = layout_of(c, broadcast);
    const Kokkos::View<const B**, Strided, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>> bias_view(
        bias.data(), layout);
    const Kokkos::View<const unsigned char**, Strided, Exec,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        mask_view(mask.data(), layout);
    const Causal causal{.offset = inputs.offset.value_or(0)};
    const auto call_all = [&](const auto& y_view) {
      const Exec exec;
      const auto call_on = [&](const auto& operands) {
        call_with(c.function, exec, x_view, y_view, c.options, operands);
      };
      if (given.bias && given.row_bias)
        call_on(Operands{.bias = bias_view,
                         .row_bias = on_device<Exec>(
                             std::vector<T>(inputs.row_bias.begin(), inputs.row_bias.end())),
                         .scale_biases = given.scale_biases});
      else if (given.row_bias)
        call_on(Operands{.row_bias = on_device<Exec>(
                             std::vector<T>(inputs.row_bias.begin(), inputs.row_bias.end()))});
      else if (given.bias && given.scale_biases)
        call_on(Operands{.bias = bias_view, .scale_biases = true});
      else if (given.bias && given.mask && given.lengths && given.causal)
        call_on(
            Operands{.bias = bias_view, .mask = mask_view, .lengths = lengths, .causal = causal});
      else if (given.bias && given.mask)
        call_on(Operands{.bias = bias_view, .mask = mask_view});
      else if (given.bias)
        call_on(Operands{.bias = bias_view});
      else if (given.mask)
        call_on(Operands{.mask = mask_view});
      else if (given.lengths)
        call_on(Operands{.lengths = lengths});
      else
        call_on(Operands{.causal = causal});
      exec.fence();
    };
    if (c.function == Function::logsumexp)
      call_all(y_field.template view<L, 1>());
    else
      call_all(y_field.template view<L, 2>());
    return both(check_output(c, v, expected, y_field), x_field.is_unchanged(), "x was written");
  }

 private:
  static Strided layout_of(const Case& c, Broadcast broadcast) {
    const std::size_t axis = axis_index(c.extents, c.options.axis);
    const std::size_t columns = c.extents[axis], count = c.extents[1 - axis];
    const auto [row_stride, column_stride] =
        broadcast == Broadcast::full           ? std::pair<std::size_t, std::size_t>{columns, 1}
        : broadcast == Broadcast::side_by_side ? std::pair<std::size_t, std::size_t>{1, count}
        : broadcast == Broadcast::per_row      ? std::pair<std::size_t, std::size_t>{1, 0}
                                               : std::pair<std::size_t, std::size_t>{0, 1};
    return axis == 1 ? Strided(count, row_stride, columns, column_stride)
                     : Strided(columns, column_stride, count, row_stride);
  }

  /// What layout_of() describes: all entries, those of one row, or one of each row.
  template <class Value>
  static std::vector<Value> stored(const std::vector<Value>& values, const Case& c,
                                   Broadcast broadcast) {
    const std::size_t columns = c.extents[axis_index(c.extents, c.options.axis)];
    if (broadcast == Broadcast::full || values.empty()) return values;
    if (broadcast == Broadcast::per_column) return {values.begin(), values.begin() + columns};
    std::vector<Value> result;
    if (broadcast == Broadcast::side_by_side) {
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t i = c; i < values.size(); i += columns) result.push_back(values[i]);
      return result;
    }
    for (std::size_t i = 0; i < values.size(); i += columns) result.push_back(values[i]);
    return result;
  }
};
TYPED_TEST_SUITE(InputsOf, AllValueConfigs, ConfigName);

/// x with NaN and +inf at some of the masked entries, where they count for nothing.
template <class T, class B>
Rows<T> with_hidden_values(Rows<T> x, const Inputs<B>& inputs) {
  constexpr T hidden[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()};
  for (std::size_t i = 0; i < x.values.size(); ++i)
    if (i % 3 != 0 && inputs.is_masked(i / x.columns, i % x.columns, x.columns))
      x.values[i] = hidden[i % 2];
  return x;
}

TYPED_TEST(InputsOf, EveryAlgorithm) {
  using X = typename TypeParam::x_value;
  const auto algorithms = all_algorithms_and_automatic();
  struct Matrix {
    std::size_t count, columns;
  };
  for (const auto& [count, columns] :
       {Matrix{1, 1}, Matrix{70, 1}, Matrix{70, 7}, Matrix{70, 16}, Matrix{70, 30}, Matrix{70, 33},
        Matrix{70, 64}, Matrix{33, 128}, Matrix{33, 250}, Matrix{33, 300}, Matrix{9, 1000},
        Matrix{9, 1025}, Matrix{3, 3001}, Matrix{3, 4096}, Matrix{1, 5001}, Matrix{5, 5001},
        Matrix{2, 40003}, Matrix{64, 1500}})
    for (const Given& given : {Given{.bias = true}, Given{.mask = true}, Given{.lengths = true},
                               Given{.causal = true}, all_of_them}) {
      const auto inputs = random_inputs<X>(given, Broadcast::full, count, columns);
      const auto x = with_hidden_values(normal_rows<X>(count, columns), inputs);
      const auto v = values_of(x, inputs, 0.5);
      const Expected expected = expected_of(v, inputs, EmptyRows::zero);
      for (const Function function : all_functions)
        for (const int axis : {0, 1}) {
          Case c{.function = function,
                 .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                 .options = {.axis = axis, .scale = 0.5, .empty_rows = EmptyRows::zero}};
          for (const Algorithm algorithm : algorithms) {
            c.options.algorithm = algorithm;
            is_served(algorithm, [&] {
              EXPECT_TRUE((TestFixture::template check<Right>(c, x, inputs, given, Broadcast::full,
                                                              v, expected)));
            });
          }
        }
    }
}

// Neighbouring rows, of which a lane can load entries of two at one time (NeighbourSource). Some
// rows are NaN, except at masked entries.
TYPED_TEST(InputsOf, NeighbouringRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr Given with_row_bias{.bias = true, .row_bias = true, .scale_biases = true};
  struct Matrix {
    std::size_t count, columns;
  };
  for (const auto& [count, columns] :
       {Matrix{70, 3}, Matrix{70, 12}, Matrix{70, 30}, Matrix{71, 30}, Matrix{34, 50},
        Matrix{34, 100}, Matrix{34, 250}, Matrix{34, 600}})
    for (const Given& given : {Given{.bias = true}, Given{.mask = true}, Given{.lengths = true},
                               Given{.causal = true}, all_of_them, with_row_bias})
      for (const Broadcast broadcast :
           {Broadcast::full, Broadcast::side_by_side, Broadcast::per_column, Broadcast::per_row}) {
        const auto expect_right = [&]<class B>(std::type_identity<B>) {
          const auto inputs = random_inputs<B>(given, broadcast, count, columns);
          Rows<T> x = with_hidden_values(normal_rows<X>(count, columns), inputs);
          x.values[2 * columns] = std::numeric_limits<T>::infinity();
          x.values[5 * columns] = std::numeric_limits<T>::quiet_NaN();
          const auto v = values_of(x, inputs, 0.5);
          const Expected expected = expected_of(v, inputs, EmptyRows::zero);
          for (const Function function : all_functions) {
            const Case c{.function = function,
                         .extents = {columns, count},
                         .options = {.axis = 0,
                                     .scale = 0.5,
                                     .empty_rows = EmptyRows::zero,
                                     .algorithm = Algorithm::column}};
            is_served(Algorithm::column, [&] {
              EXPECT_TRUE((TestFixture::template check<Right, B>(c, x, inputs, given, broadcast, v,
                                                                 expected)))
                  << "broadcast " << static_cast<int>(broadcast);
            });
          }
        };
        if (!given.row_bias) expect_right(std::type_identity<X>{});
        if (!std::is_same_v<X, T> || given.row_bias) expect_right(std::type_identity<T>{});
      }
}

// Neighbouring rows of which a host holds all columns at once, or computes them in parts. Some rows
// are NaN, except at masked entries.
TYPED_TEST(InputsOf, LongNeighbouringRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  struct Matrix {
    std::size_t count, columns;
  };
  for (const auto& [count, columns] :
       {Matrix{300, 700}, Matrix{33, 2500}, Matrix{100, 5001}, Matrix{17, 9000}})
    for (const Given& given :
         {Given{.bias = true}, Given{.mask = true}, Given{.lengths = true}, all_of_them})
      for (const Broadcast broadcast : {Broadcast::side_by_side, Broadcast::per_column}) {
        const auto inputs = random_inputs<X>(given, broadcast, count, columns);
        Rows<T> x = with_hidden_values(normal_rows<X>(count, columns), inputs);
        x.values[2 * columns + columns / 3] = std::numeric_limits<T>::infinity();
        x.values[5 * columns] = std::numeric_limits<T>::quiet_NaN();
        const auto v = values_of(x, inputs, 0.5);
        const Expected expected = expected_of(v, inputs, EmptyRows::nan);
        for (const Function function : all_functions)
          EXPECT_TRUE(
              (TestFixture::template check<Right>({.function = function,
                                                   .extents = {columns, count},
                                                   .options = {.axis = 0, .scale = 0.5}},
                                                  x, inputs, given, broadcast, v, expected)))
              << count << " rows of " << columns << " columns";
      }
}

TYPED_TEST(InputsOf, BroadcastAndAlignment) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {5, 128, 781, 5001})
    for (const Broadcast broadcast : {Broadcast::per_column, Broadcast::per_row})
      for (const Given& given : {Given{.bias = true, .mask = true}, all_of_them}) {
        const auto inputs = random_inputs<X>(given, broadcast, 33, columns);
        const auto x = with_hidden_values(normal_rows<X>(33, columns), inputs);
        const auto v = values_of(x, inputs, 1);
        const Expected expected = expected_of(v, inputs, EmptyRows::nan);
        for (const Function function : all_functions)
          for (const int axis : {0, 1})
            for (const std::size_t offset : {0, 1}) {
              const Case c{.function = function,
                           .extents = axis == 1 ? Extents{33, columns} : Extents{columns, 33},
                           .options = {.axis = axis},
                           .x_offset = offset,
                           .y_offset = offset};
              EXPECT_TRUE((
                  TestFixture::template check<Right>(c, x, inputs, given, broadcast, v, expected)));
              EXPECT_TRUE(
                  (TestFixture::template check<Left>(c, x, inputs, given, broadcast, v, expected)));
            }
      }
}

// An infinite bias of a row whose value has the other sign, with tiles that aren't full.
TYPED_TEST(InputsOf, InfiniteRowBiasTimesNegativeScale) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const auto algorithms = all_algorithms_and_automatic();
  const Given given{.bias = true, .row_bias = true, .scale_biases = true};
  for (const std::size_t columns : {13, 301, 5001}) {
    constexpr std::size_t count = 10;
    auto inputs = random_inputs<T>(given, Broadcast::side_by_side, count, columns);
    inputs.row_bias[3] = infinity;
    inputs.row_bias[5] = -infinity;
    const auto x = normal_rows<X>(count, columns);
    const auto v = values_of(x, inputs, -0.75);
    const Expected expected = expected_of(v, inputs, EmptyRows::nan);
    for (const Algorithm algorithm : algorithms)
      for (const Function function : all_functions)
        for (const int axis : {0, 1}) {
          const Case c{.function = function,
                       .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                       .options = {.axis = axis, .scale = -0.75, .algorithm = algorithm}};
          is_served(algorithm, [&] {
            EXPECT_TRUE((TestFixture::template check<Right, T>(
                c, x, inputs, given, Broadcast::side_by_side, v, expected)));
          });
        }
  }
}

// v = scale * x + bias_ij + row_bias_i, or the scale times all of them.
TYPED_TEST(InputsOf, RowBias) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  for (const std::size_t columns : {7, 300, 5001, 20001})
    for (const Given& given : {Given{.row_bias = true}, Given{.bias = true, .row_bias = true},
                               Given{.bias = true, .row_bias = true, .scale_biases = true},
                               Given{.bias = true, .scale_biases = true}}) {
      auto inputs = random_inputs<T>(given, Broadcast::full, 33, columns);
      if (given.row_bias && !given.scale_biases) {
        inputs.row_bias[3] = std::numeric_limits<T>::infinity();
        inputs.row_bias[5] = -std::numeric_limits<T>::infinity();
      }
      const auto x = normal_rows<X>(33, columns);
      for (const double scale : {0.5, 0.0}) {
        const auto v = values_of(x, inputs, scale);
        const Expected expected = expected_of(v, inputs, EmptyRows::nan);
        for (const Function function : all_functions)
          for (const int axis : {0, 1}) {
            const Case c{.function = function,
                         .extents = axis == 1 ? Extents{33, columns} : Extents{columns, 33},
                         .options = {.axis = axis, .scale = scale}};
            EXPECT_TRUE((TestFixture::template check<Right, T>(c, x, inputs, given, Broadcast::full,
                                                               v, expected)));
          }
      }
    }
}

TYPED_TEST(InputsOf, BiasOfTheTypeOfTheComputation) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr Given given{.bias = true};
  for (const std::size_t columns : {7, 1000, 5001}) {
    const auto inputs = random_inputs<T>(given, Broadcast::full, 9, columns);
    const auto x = normal_rows<X>(9, columns);
    for (const Function function : all_functions)
      for (const int axis : {0, 1}) {
        const Case c{.function = function,
                     .extents = axis == 1 ? Extents{9, columns} : Extents{columns, 9},
                     .options = {.axis = axis}};
        EXPECT_TRUE((TestFixture::template check<Right, T>(c, x, inputs, given, Broadcast::full)));
      }
  }
}

TYPED_TEST(InputsOf, SpecialValues) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const Rows<T> x{
      .count = 8, .columns = 4, .values = {1,    2,   3,   4,    nan, inf, -inf, 2,    nan,  1,   2,
                                           3,    inf, 1,   -inf, 0,   1,   2,    3,    4,    1,   2,
                                           -inf, 3,   nan, nan,  inf, inf, -inf, -inf, -inf, -inf}};
  Inputs<X> inputs;
  inputs.mask = {1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1,
                 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1};
  for (const T bias : {T(0.5), T(-1), T(0), T(2), T(-3), -inf, T(1), nan})
    for (int i = 0; i < 4; ++i) inputs.bias.push_back(static_cast<X>(bias));
  constexpr Given given{.bias = true, .mask = true};
  for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        for (const double scale : {1.0, -0.5, 0.0}) {
          const Case c{.function = function,
                       .extents = axis == 1 ? Extents{8, 4} : Extents{4, 8},
                       .options = {.axis = axis, .scale = scale, .empty_rows = empty_rows}};
          EXPECT_TRUE((TestFixture::template check<Right>(c, x, inputs, given, Broadcast::full)));
        }
}

// A NaN or +inf that isn't masked, at some columns of rows that need several tiles, teams or lanes:
// all results are NaN except those of masked entries.
TYPED_TEST(InputsOf, NaNInRowsWithMaskedEntries) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {5, 300, 10001})
    for (const Given& given :
         {Given{.mask = true}, Given{.lengths = true}, Given{.causal = true}}) {
      const auto inputs = random_inputs<X>(given, Broadcast::full, 8, columns);
      Rows<T> x = normal_rows<X>(8, columns);
      for (std::size_t row = 0; row < 8; row += 2)
        x.values[row * columns + columns / (row + 2)] =
            row % 4 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
      const Rows<T> v = values_of(x, inputs, 1);
      const Expected expected = expected_of(v, inputs, EmptyRows::nan);
      for (const Function function : all_functions)
        for (const int axis : {0, 1})
          for (const Algorithm algorithm : all_algorithms)
            is_served(algorithm, [&] {
              const Case c{.function = function,
                           .extents = axis == 1 ? Extents{8, columns} : Extents{columns, 8},
                           .options = {.axis = axis, .algorithm = algorithm}};
              EXPECT_TRUE((TestFixture::template check<Right>(c, x, inputs, given, Broadcast::full,
                                                              v, expected)));
            });
    }
}

// Rows that several threads, or teams of a device, share. Only clusters of large teams hold rows of
// 100001 floats.
TYPED_TEST(InputsOf, FewWideRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  struct Matrix {
    std::size_t count, columns;
  };
  for (const auto& [count, columns] : {Matrix{1, 140001}, Matrix{3, 140001}, Matrix{3, 100001}})
    for (const Given& given : {Given{.bias = true, .mask = true}, Given{.lengths = true}})
      for (const bool has_nan : {false, true}) {
        const auto inputs = random_inputs<X>(given, Broadcast::full, count, columns);
        Rows<T> x = with_hidden_values(normal_rows<X>(count, columns), inputs);
        for (std::size_t c = 0; has_nan && c < columns; c += columns / 7)
          x.values[c] = std::numeric_limits<T>::quiet_NaN();
        const Rows<T> v = values_of(x, inputs, 0.5);
        const Expected expected = expected_of(v, inputs, EmptyRows::nan);
        for (const Function function : all_functions)
          for (const int axis : {0, 1}) {
            const Case c{.function = function,
                         .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                         .options = {.axis = axis, .scale = 0.5}};
            EXPECT_TRUE((TestFixture::template check<Right>(c, x, inputs, given, Broadcast::full, v,
                                                            expected)));
          }
      }
}

/// `values`, `times` times in a row.
template <class Value>
std::vector<Value> repeated(const std::vector<Value>& values, std::size_t times) {
  std::vector<Value> result;
  result.reserve(times * values.size());
  for (std::size_t i = 0; i < times; ++i) result.insert(result.end(), values.begin(), values.end());
  return result;
}

/// So many rows share the bias and the mask that the teams of clusters keep them in scratch memory
/// (KeptColumns). Rows begin at any address.
template <class C>
class InputsOfManyRows : public InputsOf<C> {
 protected:
  using typename InputsOf<C>::T;
  using typename InputsOf<C>::X;

  void SetUp() override {
    if (!has_clusters(typename C::exec{})) GTEST_SKIP() << "no clusters of thread blocks";
  }

  /// There are `times` times as many rows as here, which are the same.
  static constexpr std::size_t distinct = 37;

  /// `infinite_bias` is that of the first column, the last ones and one between them, if it isn't
  /// 0.
  static void expect_right(Function function, const Given& given, std::size_t times,
                           std::size_t columns, T infinite_bias = T(0)) {
    auto inputs = random_inputs<X>(given, Broadcast::per_column, distinct, columns);
    for (std::size_t i = 0; infinite_bias != T(0) && i < inputs.bias.size(); ++i) {
      const std::size_t column = i % columns;
      if (column == 0 || column == columns / 3 || column + 2 >= columns)
        inputs.bias[i] = static_cast<X>(infinite_bias);
    }
    Rows<T> x = with_hidden_values(normal_rows<X>(distinct, columns), inputs);
    x.values[5 * columns + columns / 2] = std::numeric_limits<T>::quiet_NaN();
    x.values[7 * columns] = std::numeric_limits<T>::infinity();
    Rows<T> v = values_of(x, inputs, -0.5);
    Expected expected = expected_of(v, inputs, EmptyRows::zero);
    const auto repeat = [times](auto& values) {
      std::remove_reference_t<decltype(values)> all;
      all.reserve(times * values.size());
      for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
      values = std::move(all);
    };
    x.count = v.count = times * distinct;
    repeat(x.values);
    repeat(v.values);
    repeat(expected.softmax);
    repeat(expected.log_softmax);
    repeat(expected.logsumexp);
    repeat(expected.moderate);
    repeat(expected.terms_near_zero);
    const Case c{.function = function,
                 .extents = {x.count, columns},
                 .options = {.axis = 1, .scale = -0.5, .empty_rows = EmptyRows::zero},
                 .x_offset = 3,
                 .y_offset = 3};
    EXPECT_TRUE((InputsOf<C>::template check<Right>(c, x, inputs, given, Broadcast::per_column, v,
                                                    expected)))
        << "infinite bias " << infinite_bias;
  }
};
TYPED_TEST_SUITE(InputsOfManyRows, AllValueConfigs, ConfigName);

constexpr Given bias_and_mask{.bias = true, .mask = true};

TYPED_TEST(InputsOfManyRows, Operands) {
  for (const Given& given : {Given{.bias = true}, Given{.mask = true}})
    TestFixture::expect_right(Function::softmax, given, 24, 12671);
  TestFixture::expect_right(Function::log_softmax, bias_and_mask, 24, 12671);
}

TYPED_TEST(InputsOfManyRows, InfiniteBiases) {
  constexpr auto infinity = std::numeric_limits<typename TypeParam::value>::infinity();
  for (const auto infinite_bias : {-infinity, infinity})
    TestFixture::expect_right(Function::softmax, bias_and_mask, 24, 12671, infinite_bias);
}

TYPED_TEST(InputsOfManyRows, LargeClusters) {
  TestFixture::expect_right(Function::softmax, bias_and_mask, 4, 131001);
}

// The teams of half types are small here, and a cluster has one of them.
TYPED_TEST(InputsOfManyRows, ClustersOfOneTeam) {
  if (sizeof(typename TypeParam::x_value) != 2) GTEST_SKIP() << "such clusters have one row";
  TestFixture::expect_right(Function::log_softmax, bias_and_mask, 230, 1501);
}

// Rows of which lengths leave a few entries, whole chunks or all, in teams and clusters of every
// size. Some have NaN or +inf, or nothing but -inf.
TYPED_TEST(InputsOf, LengthsAtEdges) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr Given given{.lengths = true};
  for (const std::size_t columns : {50, 700, 1501, 3001, 5001, 40003}) {
    const auto n = static_cast<std::int64_t>(columns);
    Inputs<X> inputs;
    inputs.lengths = {-1, 0, 1, 2, 3, 8, 9, 31, 33, 40, 127, n / 2, n - 1, n, n + 5, 40, 300};
    const std::size_t count = inputs.lengths.size();
    Rows<T> x = with_hidden_values(normal_rows<X>(count, columns), inputs);
    x.values[8 * columns + 5] = nan;
    x.values[11 * columns + columns / 3] = inf;
    for (const std::size_t row : {3, 15, 16})
      std::fill_n(x.values.begin() + static_cast<std::ptrdiff_t>(row * columns),
                  std::min(inputs.lengths[row], n), -inf);
    struct Settings {
      double scale;
      EmptyRows empty_rows;
    };
    for (const auto& [scale, empty_rows] :
         {Settings{1, EmptyRows::nan}, Settings{1, EmptyRows::zero}, Settings{-0.5, EmptyRows::nan},
          Settings{0, EmptyRows::nan}}) {
      if (columns > 10000 && scale != 1) continue;  // takes long
      const Rows<T> v = values_of(x, inputs, scale);
      const Expected expected = expected_of(v, inputs, empty_rows);
      for (const Function function : all_functions)
        for (const std::size_t offset : {0, 1, 3}) {
          const Case c{.function = function,
                       .extents = {count, columns},
                       .options = {.scale = scale, .empty_rows = empty_rows},
                       .x_offset = offset,
                       .y_offset = offset == 3 ? 1 : offset};
          EXPECT_TRUE((TestFixture::template check<Right>(c, x, inputs, given, Broadcast::full, v,
                                                          expected)));
        }
    }
  }
}

// The same with rows that are neighbours, so that the rows of a vector's lanes end at different
// columns. Some numbers of rows fill sectors, and others don't.
TYPED_TEST(InputsOf, LengthsOfNeighbours) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr Given given{.lengths = true};
  struct Size {
    std::size_t columns;
    std::size_t count;
  };
  for (const auto& [columns, count] : {Size{12, 64}, Size{40, 64}, Size{100, 128}, Size{200, 99},
                                       Size{300, 256}, Size{300, 1031}, Size{1501, 65}}) {
    const auto n = static_cast<std::int64_t>(columns);
    Inputs<X> inputs;
    for (std::size_t row = 0; row < count; ++row)
      inputs.lengths.push_back(row % 5 == 1 ? n
                                            : static_cast<std::int64_t>(row * 7919) % (n + 2) - 1);
    Rows<T> x = with_hidden_values(normal_rows<X>(count, columns), inputs);
    for (std::size_t row = 0; row < count; row += 5) {
      const std::int64_t length = std::min(inputs.lengths[row], n);
      if (length < 1) continue;
      T* const entries = x.values.data() + row * columns;
      if (row % 15 == 0) entries[length / 3] = inf;
      if (row % 15 == 5) entries[length - 1] = nan;
      if (row % 15 == 10) std::fill_n(entries, length, -inf);
    }
    for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero}) {
      const Rows<T> v = values_of(x, inputs, 0.5);
      const Expected expected = expected_of(v, inputs, empty_rows);
      for (const Function function : all_functions)
        for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::column,
                                          Algorithm::two_pass_column, Algorithm::cluster_column}) {
          const Case c{
              .function = function,
              .extents = {columns, count},
              .options = {
                  .axis = 0, .scale = 0.5, .empty_rows = empty_rows, .algorithm = algorithm}};
          is_served(algorithm, [&] {
            EXPECT_TRUE((TestFixture::template check<Right>(c, x, inputs, given, Broadcast::full, v,
                                                            expected)));
          });
        }
    }
  }
}

// GPUs have kernels that don't read what lengths and causal limits mask.
TYPED_TEST(InputsOf, ChoiceForLimitsOfNeighbours) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  if (KokkosSoftmax::Impl::is_host_space<Exec>) GTEST_SKIP() << "for GPUs";
  const Exec exec;
  struct Size {
    std::size_t columns;
    std::size_t count;
  };
  const auto expect_limited = [](const std::string& text) {
    EXPECT_NE(text.find(" for rows that end early"), std::string::npos) << text;
  };
  for (const auto& [columns, count] : {Size{12, 5000}, Size{100, 5000}, Size{200, 5000},
                                       Size{1000, 10000}, Size{1000, 10001}, Size{2000, 10000}}) {
    const Kokkos::View<X**, Right, Exec> x("x", columns, count);
    const Kokkos::View<T*, Exec> lse("lse", count);
    const Kokkos::View<int*, Exec> lengths("lengths", count);
    const Operands operands{.lengths = lengths};
    const auto enough_rows =
        48 * static_cast<std::size_t>(KokkosSoftmax::Impl::multiprocessors(exec));
    if (columns <= 512 || count >= enough_rows)  // for `column`, in place of two passes
      expect_limited(plan_logsumexp(exec, x, lse, {.axis = 0}, operands).describe());
    if (columns <= 64 || (columns > 128 && !has_clusters(exec))) continue;
    // Half types with results of float would take two passes, if x weren't in the cache.
    if (count % 2 == 1 && !std::is_same_v<X, Y>) continue;
    const Kokkos::View<Y**, Right, Exec> y("y", columns, count);
    expect_limited(plan_softmax(exec, x, y, {.axis = 0}, operands).describe());
  }
}

// A lane has two of many neighbouring rows, if their operands are neighbours too or are shared.
TYPED_TEST(InputsOf, ChoiceForPairsOfNeighbours) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  if (KokkosSoftmax::Impl::is_host_space<Exec>) GTEST_SKIP() << "for GPUs";
  const Exec exec;
  const std::size_t many =
      1024 * static_cast<std::size_t>(KokkosSoftmax::Impl::multiprocessors(exec));
  constexpr bool computes_in_float = sizeof(T) == 4;
  constexpr bool is_widened = !std::is_same_v<X, Y>;
  for (const std::size_t columns : {3, 12, 30, 50})
    for (const std::size_t count : {many, many + 1, std::size_t(1000)}) {
      const bool in_pairs = computes_in_float && count == many;
      const Kokkos::View<X**, Right, Exec> x("x", columns, count);
      const Kokkos::View<Y**, Right, Exec> y("y", columns, count);
      const Kokkos::View<T*, Exec> lse("lse", count);
      const Kokkos::View<X**, Right, Exec> of_columns("bias", columns, 1);
      const Kokkos::View<X**, Left, Exec> apart("bias", columns, count);
      const auto is_in_pairs = [](const std::string& text) {
        return text.find("access=vectors_across_rows") != std::string::npos;
      };
      for (const auto& bias : {Kokkos::View<const X**, Strided, Exec>(of_columns),
                               Kokkos::View<const X**, Strided, Exec>(x),
                               Kokkos::View<const X**, Strided, Exec>(apart)}) {
        const bool fits = bias.extent(1) == 1 || bias.stride(1) == 1;
        const Operands operands{.bias = bias};
        EXPECT_EQ(is_in_pairs(plan_softmax(exec, x, y, {.axis = 0}, operands).describe()),
                  in_pairs && fits && !is_widened)
            << columns << " columns, " << count << " rows";
        EXPECT_EQ(is_in_pairs(plan_logsumexp(exec, x, lse, {.axis = 0}, operands).describe()),
                  in_pairs && fits && columns > 8)
            << columns << " columns, " << count << " rows";
      }
    }
}

// Short rows with operands have few lanes, because each lane computes what a row takes beside its
// entries. These rows aren't aligned, except some of double.
TYPED_TEST(InputsOf, ChoiceForShortRows) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  if (KokkosSoftmax::Impl::is_host_space<Exec>) GTEST_SKIP() << "for GPUs";
  const Exec exec;
  constexpr std::size_t count = 1000;
  struct Choice {
    std::size_t columns;
    std::string of_rows, of_neighbours;
  };
  for (const auto& [columns, of_rows, of_neighbours] :
       {Choice{13, "subgroup{team_size=64, vector_length=2,", "column{team_size=1,"},
        Choice{30, "subgroup{team_size=32, vector_length=4,", "column{team_size=1,"},
        Choice{58, "subgroup{team_size=32, vector_length=4,", "column{team_size=1,"}}) {
    const Kokkos::View<unsigned char*, Exec> mask("mask", columns);
    const auto expect_choice = [](const std::string& text, const std::string& choice) {
      EXPECT_NE(text.find(choice), std::string::npos) << text;
    };
    const Kokkos::View<T*, Exec> lse("lse", count);
    const Kokkos::View<X**, Right, Exec> x("x", count, columns);
    const Kokkos::View<Y**, Right, Exec> y("y", count, columns);
    const Operands operands{.mask = mask};
    expect_choice(plan_softmax(exec, x, y, {}, operands).describe(), of_rows);
    expect_choice(plan_logsumexp(exec, x, lse, {}, operands).describe(), of_rows);
    const Kokkos::View<X**, Right, Exec> of_neighbours_x("x", columns, count);
    const Kokkos::View<unsigned char**, Right, Exec> mask_of_neighbours("mask", columns, 1);
    expect_choice(plan_logsumexp(exec, of_neighbours_x, lse, {.axis = 0},
                                 Operands{.mask = mask_of_neighbours})
                      .describe(),
                  of_neighbours);
  }
}

// Wide rows take the teams that leave few slots without an entry.
TYPED_TEST(InputsOf, ChoiceForWideRows) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  constexpr bool is_double = sizeof(X) == 8;
  const Exec exec;
  if (!has_clusters(exec)) GTEST_SKIP() << "for GPUs with clusters";
  if (!is_double && (sizeof(X) != 2 || sizeof(Y) != 2)) GTEST_SKIP() << "for double and half types";
  struct Choice {
    std::size_t columns;
    std::string schedule;
  };
  const std::string four_warps = "cluster{team_size=4, vector_length=32, items=";
  const std::vector<Choice> of_double{{1200, four_warps + "5,"},      {2600, four_warps + "13,"},
                                      {3600, "fused_registers{"},     {6000, four_warps + "13,"},
                                      {8000, "cluster{team_size=8,"}, {13000, four_warps + "13,"},
                                      {60000, "cluster{team_size=8,"}};
  const std::vector<Choice> of_halfs{
      {8704, "cluster{team_size=2,"},  {9001, "cluster{team_size=2,"},
      {13001, "cluster{team_size=8,"}, {16384, "cluster{team_size=4,"},
      {18432, "cluster{team_size=2,"}, {19001, "cluster{team_size=2,"},
      {30001, "cluster{team_size=4,"}};
  for (const auto& [columns, schedule] : is_double ? of_double : of_halfs) {
    const Kokkos::View<X**, Right, Exec> x("x", 1000, columns);
    const Kokkos::View<Y**, Right, Exec> y("y", 1000, columns);
    const Kokkos::View<unsigned char*, Exec> mask("mask", columns);
    const std::string text = plan_softmax(exec, x, y, {}, Operands{.mask = mask}).describe();
    EXPECT_NE(text.find(schedule), std::string::npos) << columns << ": " << text;
  }
}

// Aligned short rows have so few lanes that a lane has 8 to 32 entries.
TYPED_TEST(InputsOf, ChoiceForAlignedShortRows) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  if (KokkosSoftmax::Impl::is_host_space<Exec>) GTEST_SKIP() << "for GPUs";
  if (!std::is_same_v<X, T> || !std::is_same_v<Y, T>) GTEST_SKIP() << "for float and double";
  const Exec exec;
  constexpr bool is_float = sizeof(T) == 4;
  struct Choice {
    std::size_t columns;
    std::string softmax, logsumexp;
  };
  const std::vector<Choice> of_float{
      {4, "vector_length=1, items=2, width=4,", "vector_length=1, items=8, width=1,"},
      {8, "vector_length=1, items=2, width=4,", "vector_length=1, items=8, width=1,"},
      {16, "vector_length=2, items=2, width=4,", "vector_length=1, items=4, width=4,"},
      {32, "vector_length=2, items=4, width=4,", "vector_length=2, items=4, width=4,"},
      {64, "vector_length=4, items=4, width=4,", "vector_length=4, items=4, width=4,"},
      {128, "vector_length=8,", "vector_length=4, items=8, width=4,"}};
  const std::vector<Choice> of_double{
      {4, "vector_length=1, items=8, width=1,", "vector_length=1, items=8, width=1,"},
      {16, "vector_length=2, items=8, width=1,", "vector_length=2, items=8, width=1,"},
      {32, "vector_length=4, items=8, width=1,", "vector_length=4, items=8, width=1,"},
      {64, "vector_length=4,", "vector_length=4, items=8, width=2,"},
      {128, "vector_length=8,", "vector_length=8, items=8, width=2,"},
      {256, "vector_length=16,", "vector_length=16, items=8, width=2,"}};
  for (const auto& [columns, of_softmax, of_logsumexp] : is_float ? of_float : of_double) {
    const std::size_t count = (std::size_t(1) << 20) / columns;
    const Kokkos::View<X**, Right, Exec> x("x", count, columns);
    const Kokkos::View<Y**, Right, Exec> y("y", count, columns);
    const Kokkos::View<T*, Exec> lse("lse", count);
    const Kokkos::View<X*, Exec> bias("bias", columns);
    const auto expect_choice = [](const std::string& text, const std::string& choice) {
      EXPECT_NE(text.find("subgroup{"), std::string::npos) << text;
      EXPECT_NE(text.find(choice), std::string::npos) << text << ", expected " << choice;
    };
    const Operands operands{.bias = bias};
    expect_choice(plan_softmax(exec, x, y, {}, operands).describe(), of_softmax);
    expect_choice(plan_logsumexp(exec, x, lse, {}, operands).describe(), of_logsumexp);
  }
}

// Lengths and a causal limit alone with y strided, in a plan, and with the numbers beside y; and in
// place. GPUs with clusters compute wide rows in these.
TYPED_TEST(InputsOf, LimitsAloneInEveryCall) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = 9;
  const Exec exec;
  struct Kind {
    int axis;
    std::size_t columns;
    Algorithm algorithm = Algorithm::automatic;
  };
  for (const auto& [axis, columns, algorithm] :
       {Kind{1, 300}, Kind{1, 1501}, Kind{1, 5001}, Kind{0, 40, Algorithm::column},
        Kind{0, 100, Algorithm::column}, Kind{0, 200, Algorithm::column},
        Kind{0, 1501, Algorithm::column}, Kind{0, 700, Algorithm::cluster_column}}) {
    const auto inputs =
        random_inputs<X>({.lengths = true, .causal = true}, Broadcast::full, count, columns);
    const Rows<T> x = with_hidden_values(normal_rows<X>(count, columns), inputs);
    const Rows<T> v = values_of(x, inputs, 1);
    const Expected expected = expected_of(v, inputs, EmptyRows::nan);
    const Case c{.extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                 .options = {.axis = axis, .algorithm = algorithm}};
    const Causal causal{.offset = inputs.offset.value_or(0)};
    Field<X, Exec> x_field(place<Right>(c.extents, 1));
    Field<Y, Exec> y_field(place<Strided>(c.extents, 1));
    Field<T, Exec> lse(place<Right>(Extents{count}, 0)), max(place<Right>(Extents{count}, 0));
    x_field.assign(rows_to_tensor(x.values, c.extents, axis));
    const auto x_view = x_field.template view<Right, 2, const X>();
    const auto y_view = y_field.template view<Strided, 2>();
    const auto lengths = on_device<Exec>(inputs.lengths);
    const Operands operands{.lse = lse.template view<Right, 1>(),
                            .max = max.template view<Right, 1>(),
                            .lengths = lengths,
                            .causal = causal};
    const bool wide_row = axis == 1 && columns > 1024;
    is_served(algorithm, [&] {
      const auto plan = plan_softmax(exec, x_view, y_view, c.options, operands);
      if (has_clusters(exec) && wide_row) {
        EXPECT_NE(plan.describe().find("cluster"), std::string::npos) << plan.describe();
      }
      plan.execute(x_view, y_view, operands);
      exec.fence();
      EXPECT_TRUE(check_output(c, v, expected, y_field)) << plan.describe();
      EXPECT_TRUE(is_lse_beside<X>(v, expected, lse));
      EXPECT_TRUE(is_max_beside(v, 1, max));
      if constexpr (std::is_same_v<X, Y>) {
        softmax(exec, x_field.template view<Right, 2>(), x_field.template view<Right, 2>(),
                c.options, Operands{.lengths = lengths, .causal = causal});
        exec.fence();
        EXPECT_TRUE(check_output(c, v, expected, x_field));
      }
    });
  }
}

// A plan is made from the types of operands, whose addresses may be null until it is executed.
TYPED_TEST(InputsOf, PlanOfNullOperands) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  using BiasView = Kokkos::View<const X**, Right, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  constexpr std::size_t count = 5, columns = 2000;
  const auto inputs = random_inputs<X>({.bias = true}, Broadcast::full, count, columns);
  const Rows<T> x = normal_rows<X>(count, columns), v = values_of(x, inputs, 1);
  const Case c{.extents = {count, columns}};
  Field<X, Exec> x_field(place<Right>(c.extents, 0));
  Field<Y, Exec> y_field(place<Right>(c.extents, 0));
  x_field.assign(x.values);
  const auto bias = on_device<Exec>(inputs.bias);
  const auto x_view = x_field.template view<Right, 2, const X>();
  const auto y_view = y_field.template view<Right, 2>();
  const auto plan = plan_softmax(Exec{}, x_view, y_view, c.options,
                                 Operands{.bias = BiasView(nullptr, count, columns)});
  plan.execute(x_view, y_view, Operands{.bias = BiasView(bias.data(), count, columns)});
  Exec{}.fence();
  EXPECT_TRUE(check_output(c, v, reference(v), y_field));
}

// The same along axis 0, with a bias that isn't side by side for neighbouring rows.
TYPED_TEST(InputsOf, PlanOfNullOperandsOfNeighbours) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  using BiasView = Kokkos::View<const X**, Left, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  constexpr std::size_t count = 10, columns = 13;
  const auto inputs = random_inputs<X>({.bias = true}, Broadcast::full, count, columns);
  const auto x = normal_rows<X>(count, columns);
  const auto v = values_of(x, inputs, 1);
  const Case c{.extents = {columns, count}, .options = {.axis = 0, .algorithm = Algorithm::column}};
  Field<X, Exec> x_field(place<Right>(c.extents, 0));
  Field<Y, Exec> y_field(place<Right>(c.extents, 0));
  x_field.assign(rows_to_tensor(x.values, c.extents, 0));
  const auto bias = on_device<Exec>(inputs.bias);
  const auto x_view = x_field.template view<Right, 2, const X>();
  const auto y_view = y_field.template view<Right, 2>();
  is_served(Algorithm::column, [&] {
    const auto plan = plan_softmax(Exec{}, x_view, y_view, c.options,
                                   Operands{.bias = BiasView(nullptr, columns, count)});
    plan.execute(x_view, y_view, Operands{.bias = BiasView(bias.data(), columns, count)});
    Exec{}.fence();
    EXPECT_TRUE(check_output(c, v, reference(v), y_field));
  });
}

// So many rows that they pass through teams of one warp on a GPU if they are only read.
TYPED_TEST(InputsOf, ManyRowsThatAreOnlyRead) {
  using X = typename TypeParam::x_value;
  constexpr std::size_t count = is_host_space<typename TypeParam::exec> ? 40 : 9000;
  constexpr std::size_t columns = 1027;
  for (const Given& given : {Given{.bias = true, .mask = true}, Given{.lengths = true}}) {
    const auto inputs = random_inputs<X>(given, Broadcast::full, count, columns);
    const auto x = with_hidden_values(normal_rows<X>(count, columns), inputs);
    const Case c{.function = Function::logsumexp,
                 .extents = {count, columns},
                 .options = {.scale = 0.5},
                 .x_offset = 1};
    EXPECT_TRUE((TestFixture::template check<Right>(c, x, inputs, given, Broadcast::full)));
  }
}

// A tensor of rank 4 as in attention: bias per head, mask per batch and key, lengths per batch, and
// causal limits along the second-last axis.
TYPED_TEST(InputsOf, RankFour) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t batches = 2, heads = 3, queries = 5, keys = 9;
  const Extents extents{batches, heads, queries, keys};
  const auto x = normal_rows<X>(batches * heads * queries, keys);
  const auto of_heads = normal_rows<X>(heads, queries * keys).values;
  std::vector<X> bias;
  for (const T b : of_heads) bias.push_back(static_cast<X>(b));
  const std::vector<unsigned char> mask{1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<int> lengths{7, 9};
  Inputs<X> inputs;
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t q = 0; q < queries; ++q)
        for (std::size_t k = 0; k < keys; ++k) {
          inputs.bias.push_back(bias[(h * queries + q) * keys + k]);
          inputs.mask.push_back(mask[b * keys + k] != 0 && static_cast<int>(k) < lengths[b] &&
                                k <= q + 3);
        }
  const Rows<T> v = values_of(x, inputs, 1);
  const auto bias_memory = on_device<Exec>(bias);
  const auto mask_memory = on_device<Exec>(mask);
  const auto lengths_memory = on_device<Exec>(lengths);
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<const X***, Right, Exec, Unmanaged> bias_view(bias_memory.data(), heads,
                                                                   queries, keys);
  const Kokkos::View<const unsigned char****, Right, Exec, Unmanaged> mask_view(
      mask_memory.data(), batches, 1, 1, keys);
  const Kokkos::View<const int***, Right, Exec, Unmanaged> lengths_view(lengths_memory.data(),
                                                                        batches, 1, 1);
  for (const Function function : {Function::softmax, Function::log_softmax}) {
    const Case c{.function = function, .extents = extents, .options = {.axis = -1}};
    Field<X, Exec> x_field(place<Right>(extents, 0));
    Field<Y, Exec> y_field(place<Right>(extents, 0));
    x_field.assign(x.values);
    const auto x_view = x_field.template view<Right, 4, const X>();
    const auto y_view = y_field.template view<Right, 4>();
    const Operands operands{.bias = bias_view,
                            .mask = mask_view,
                            .lengths = lengths_view,
                            .causal = Causal{.offset = 3}};
    call_with(function, Exec{}, x_view, y_view, c.options, operands);
    Exec{}.fence();
    EXPECT_TRUE(check_output(c, v, reference(v), y_field));
    y_field.assign(std::vector<T>(x.values.size(), T(7)));
    const auto plan = function == Function::softmax
                          ? plan_softmax(Exec{}, x_view, y_view, c.options, operands)
                          : plan_log_softmax(Exec{}, x_view, y_view, c.options, operands);
    plan.execute(x_view, y_view, operands);
    Exec{}.fence();
    EXPECT_TRUE(check_output(c, v, reference(v), y_field)) << plan.describe();
  }
}

// The log-sum-exp and the maximum beside y are those of the values.
TYPED_TEST(InputsOf, BesideY) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  constexpr Given given{.bias = true, .lengths = true};
  for (const std::size_t columns : {7, 300, 5001, 20001})
    for (const int axis : {0, 1}) {
      const std::size_t count = 9;
      const auto inputs = random_inputs<X>(given, Broadcast::per_column, count, columns);
      const Rows<T> x = normal_rows<X>(count, columns), v = values_of(x, inputs, 1);
      const Expected expected = reference(v);
      const Case c{.extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                   .options = {.axis = axis}};
      Field<X, Exec> x_field(place<Right>(c.extents, 0));
      Field<Y, Exec> y_field(place<Right>(c.extents, 0));
      Field<T, Exec> lse(place<Right>(Extents{count}, 0)), max(place<Right>(Extents{count}, 0));
      x_field.assign(rows_to_tensor(x.values, c.extents, axis));
      const auto bias = on_device<Exec>(
          std::vector<X>(inputs.bias.begin(), inputs.bias.begin() + static_cast<int>(columns)));
      const auto lengths = on_device<Exec>(inputs.lengths);
      const Kokkos::View<const X**, Right, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>> bias_view(
          bias.data(), axis == 1 ? 1 : columns, axis == 1 ? columns : 1);
      softmax(Exec{}, x_field.template view<Right, 2, const X>(), y_field.template view<Right, 2>(),
              c.options,
              Operands{.lse = lse.template view<Right, 1>(),
                       .max = max.template view<Right, 1>(),
                       .bias = bias_view,
                       .lengths = lengths});
      Exec{}.fence();
      EXPECT_TRUE(check_output(c, v, expected, y_field));
      const long double at_least = sizeof(X) == 2 ? tolerance_before_rounding : 0;
      EXPECT_TRUE(is_accurate(Function::logsumexp, v, expected, lse.read(), at_least));
      const std::vector<T> maxima = max.read();
      for (std::size_t row = 0; row < count; ++row) {
        const auto begin = v.values.begin() + static_cast<std::ptrdiff_t>(row * columns);
        EXPECT_EQ(maxima[row], *std::max_element(begin, begin + static_cast<int>(columns)));
      }
    }
}

// With Options::reproducible, the bits of a row depend neither on the rows beside it nor on the
// number of threads.
TYPED_TEST(InputsOf, Reproducible) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  struct Matrix {
    std::size_t count, columns;
  };
  for (const auto& [count, columns] : {Matrix{33, 5}, Matrix{33, 33}, Matrix{33, 300},
                                       Matrix{33, 5001}, Matrix{33, 20001}, Matrix{3, 140001}}) {
    const auto values = normal_rows<X>(count, columns).values;
    const auto inputs =
        random_inputs<X>({.bias = true, .mask = true}, Broadcast::full, count, columns);
    std::vector<X> entries;
    for (const auto value : values) entries.push_back(static_cast<X>(value));
    const auto x = on_device<Exec>(entries), bias = on_device<Exec>(inputs.bias);
    const auto mask = on_device<Exec>(inputs.mask);
    const auto results_of = [&](const Exec& exec, std::size_t first, std::size_t rows) {
      using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
      const auto at = first * columns;
      const Kokkos::View<const X**, Right, Exec, Unmanaged> x_view(x.data() + at, rows, columns),
          bias_view(bias.data() + at, rows, columns);
      const Kokkos::View<const unsigned char**, Right, Exec, Unmanaged> mask_view(mask.data() + at,
                                                                                  rows, columns);
      Field<Y, Exec> y(place<Right>(Extents{rows, columns}, 0));
      softmax(exec, x_view, y.template view<Right, 2>(), {.reproducible = true},
              Operands{.bias = bias_view, .mask = mask_view});
      exec.fence();
      return y.read();
    };
    const std::vector<Y> all = results_of(Exec{}, 0, count);
    EXPECT_TRUE(same_bits(all, results_of(instance_of_many_threads<Exec>(), 0, count)))
        << columns << " columns";
    for (const std::size_t row : {std::size_t(0), count / 2, count - 1}) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * columns);
      EXPECT_TRUE(same_bits(std::vector<Y>(begin, begin + static_cast<int>(columns)),
                            results_of(Exec{}, row, 1)))
          << columns << " columns, row " << row;
    }
  }
}

// Without columns, an operand has no elements, and strides that would be too many axes for kernels.
TYPED_TEST(InputsOf, NoColumns) {
  using Exec = typename TypeParam::exec;
  using X = typename TypeParam::x_value;
  using Tensor = Kokkos::View<const X******, Kokkos::LayoutStride, Exec,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const Exec exec;
  const Tensor x(nullptr, Kokkos::LayoutStride(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 0, 1)),
      bias(nullptr, Kokkos::LayoutStride(2, 1, 2, 7, 2, std::size_t(1) << 62, 2, 9, 2, 2, 0, 1));
  const Kokkos::View<typename TypeParam::y_value*****, Right, Exec> lse("lse", 2, 2, 2, 2, 2);
  logsumexp(exec, x, lse, {}, Operands{.bias = bias});
  const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), lse);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(static_cast<double>(got.data()[i]), -std::numeric_limits<double>::infinity());
}

TYPED_TEST(InputsOf, OneKernelWithoutFences) {
  using C = TypeParam;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<typename C::x_value**, Right, Exec> x("x", 9, 1000), bias("bias", 9, 1000);
  const Kokkos::View<typename C::y_value**, Right, Exec> y("y", 9, 1000);
  const Kokkos::View<bool*, Exec> mask("mask", 1000);
  const Exec exec;
  const Operands operands{.bias = bias, .mask = mask, .causal = Causal{}};
  softmax(exec, x, y, {}, operands);
  const Events events = record([&] { softmax(exec, x, y, {}, operands); });
  EXPECT_EQ(events.kernels.size(), 1u);
  EXPECT_EQ(events.fences, std::vector<std::string>{});
  EXPECT_EQ(events.allocations, std::vector<std::string>{});
  exec.fence();
}

TYPED_TEST(InputsOf, WrongOperandsThrow) {
  using C = TypeParam;
  using Exec = typename TypeParam::exec;
  using X = typename C::x_value;
  const Kokkos::View<X**, Right, Exec> x("x", 9, 10);
  const Kokkos::View<typename C::y_value**, Right, Exec> y("y", 9, 10);
  const Kokkos::View<X*, Exec> nine("nine", 9);
  const Kokkos::View<bool**, Right, Exec> mask("mask", 3, 10);
  const Kokkos::View<std::int32_t*, Exec> lengths("lengths", 10);
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "(9)", "bias", "broadcast"},
                          [&] { softmax(x, y, {}, Operands{.bias = nine}); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::log_softmax:", "(3, 10)", "mask", "broadcast"},
                          [&] { log_softmax(x, y, {}, Operands{.mask = mask}); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "(10)", "lengths", "without the axis"},
                          [&] { softmax(x, y, {}, Operands{.lengths = lengths}); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "causal.axis = 2", "out of range"},
                          [&] { softmax(x, y, {}, Operands{.causal = Causal{.axis = 2}}); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "causal.axis = 1", "another axis"},
                          [&] { softmax(x, y, {}, Operands{.causal = Causal{.axis = 1}}); }));
  if constexpr (std::is_same_v<typename C::y_value, X>) {
    EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "bias", "y", "overlap"},
                            [&] { softmax(x, y, {}, Operands{.bias = y}); }));
  }
  const auto plan = plan_softmax(Exec{}, x, y, {}, Operands{.causal = Causal{.offset = 3}});
  plan.execute(x, y, Operands{.causal = Causal{.offset = 4}});
  EXPECT_TRUE(throws_with({"causal.axis", "another plan"},
                          [&] { plan.execute(x, y, Operands{.causal = Causal{.axis = 0}}); }));
  Exec{}.fence();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
