// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes that are reduced together: right for every function, plan, backward pass and operand if they
// merge to one axis in each array; otherwise an error, and nothing is written.

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <reference/Backward.hpp>
#include <reference/Loss.hpp>
#include <reference/Weighted.hpp>
#include <support/AxisSets.hpp>
#include <support/Backward.hpp>
#include <support/CInterface.hpp>
#include <support/Inputs.hpp>
#include <support/Loss.hpp>
#include <support/OnDevice.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
using Strided = Kokkos::LayoutStride;

/// The cases of a rank: sets of one to three axes, neighbours or beside axes of extent 1, in
/// different orders in memory.
const std::vector<SetCase> cases_of_rank_3 = {
    {{5, 6, 7}, {1, 2}},
    {{5, 6, 7}, {0, 1}},
    {{5, 6, 7}, {-1, 0, 1}},
    {{5, 6, 7}, {-2}},
    {{5, 1, 7}, {2, 0}},
    {{5, 6, 7}, {0, 1}, {2, 1, 0}},
    {{5, 6, 7}, {1, 2}, {2, 1, 0}},
    {{5, 6, 7}, {2, 0, 1}, {2, 1, 0}},
    {{5, 6, 7}, {0, 2}, {1, 2, 0}},
    {{5, 6, 7}, {0, 2}, {0, 2, 1}, 2},
    {{5, 6, 7}, {0, 1}, {2, 0, 1}, 3},
    {{1, 9, 1}, {0, 2}},
    {{40, 3, 50}, {1, 2}},
    {{70, 1, 30}, {0, 2}},
};
const std::vector<SetCase> cases_of_rank_5 = {
    {{3, 2, 4, 3, 5}, {3, 4}},
    {{3, 2, 4, 3, 5}, {1, 2, 3}},
    {{3, 2, 4, 3, 5}, {0, 1}},
    {{3, 2, 4, 3, 5}, {4, 2, 3, 0, 1}},
    {{3, 1, 4, 1, 5}, {0, 3, 2}},
    {{3, 2, 4, 3, 5}, {1, 2, 3}, {4, 3, 2, 1, 0}},
    {{3, 2, 4, 3, 5}, {0, 4}, {2, 4, 0, 3, 1}},
    {{3, 2, 4, 3, 5}, {3, 1}, {0, 2, 4, 1, 3}, 2},
};
const std::vector<SetCase> cases_of_rank_8 = {
    {{2, 3, 2, 2, 3, 2, 2, 3}, {6, 7}},
    {{2, 3, 2, 2, 3, 2, 2, 3}, {3, 4, 5}},
    {{2, 3, 2, 2, 3, 2, 2, 3}, {0, 1, 2}},
    {{2, 3, 1, 2, 1, 2, 1, 3}, {1, 3, 4}},
    {{2, 3, 2, 2, 3, 2, 2, 3}, {2, 3}, {7, 6, 5, 4, 3, 2, 1, 0}},
};

template <class Exec, class X, class Y, class... Rest>
void call_set(Function function, const Exec& exec, const X& x, const Y& y, const Rest&... rest) {
  if constexpr (Y::rank() < X::rank())
    logsumexp(exec, x, y, rest...);
  else if (function == Function::softmax)
    softmax(exec, x, y, rest...);
  else
    log_softmax(exec, x, y, rest...);
}

/// Calls body(integral_constant) with a rank from 0 to `largest`.
template <int largest, class Body>
void with_rank(std::size_t rank, const Body& body) {
  if (rank == largest) return body(std::integral_constant<int, largest>());
  if constexpr (largest > 0) with_rank<largest - 1>(rank, body);
}

template <class C>
class AxisSets : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Memory = Field<T, Exec>;

  /// Checks what a call has written.
  static ::testing::AssertionResult is_right(Function function, const SetCase& c,
                                             const Rows<T>& rows, const Expected& expected,
                                             const Memory& x, const Memory& y) {
    const auto got = function == Function::logsumexp ? y.read() : c.rows_of(y.read());
    auto result = is_accurate(function, rows, expected, got);
    result = both(result, y.gaps_are_unchanged(), "something beside y's elements was written");
    result = both(result, x.is_unchanged(), "x was written");
    if (!result) result << "\n  in " << to_string(function) << ", " << c;
    return result;
  }

  /// Calls body(x_view, y_view) with strided Views of memory for the function.
  template <int rank, class Body>
  static void with_views(Function function, const SetCase& c, const Memory& x, const Memory& y,
                         const Body& body) {
    const auto x_view = x.template view<Strided, rank, const T>();
    if (function != Function::logsumexp) return body(x_view, y.template view<Strided, rank>());
    with_rank<rank - 1>(c.without_axes().size(), [&](auto y_rank) {
      body(x_view, y.template view<Strided, y_rank.value>());
    });
  }

  static Memory memory_of(Function function, const SetCase& c, std::size_t gap) {
    return Memory(function == Function::logsumexp ? c.row_placement() : c.placement(gap));
  }

  /// Checks a call and the execution of a plan.
  template <int rank>
  static void expect_right(const SetCase& c, const Rows<T>& rows, const Expected& expected,
                           Options given = {}) {
    const Options options = c.options(given);
    for (const Function function : all_functions)
      // kernels take four axes apart, so that tensors of more axes have no gaps
      for (const std::size_t gap : {0, rank <= 5 ? 3 : 0}) {
        Memory x(c.placement(gap)), y(memory_of(function, c, 2 * gap)),
            of_plan(memory_of(function, c, 2 * gap));
        x.assign(c.tensor_of(rows.values));
        const Exec exec;
        with_views<rank>(function, c, x, y, [&](const auto& x_view, const auto& y_view) {
          call_set(function, exec, x_view, y_view, options);
        });
        with_views<rank>(function, c, x, of_plan, [&](const auto& x_view, const auto& y_view) {
          execute_plan(function, exec, x_view, y_view, options);
        });
        exec.fence();
        EXPECT_TRUE(is_right(function, c, rows, expected, x, y));
        EXPECT_TRUE(same_bits(y.read(), of_plan.read())) << to_string(function) << ", " << c;
      }
  }

  template <class X, class Y, class... Rest>
  static void execute_plan(Function function, const Exec& exec, const X& x, const Y& y,
                           const Options& options, const Rest&... operands) {
    if constexpr (Y::rank() < X::rank())
      plan_logsumexp(exec, x, y, options, operands...).execute(x, y, operands...);
    else if (function == Function::softmax)
      plan_softmax(exec, x, y, options, operands...).execute(x, y, operands...);
    else
      plan_log_softmax(exec, x, y, options, operands...).execute(x, y, operands...);
  }

  template <int rank>
  static void expect_all_right(const std::vector<SetCase>& cases) {
    for (const SetCase& c : cases) {
      const auto& sample = normal_sample<T>(c.count(), c.columns());
      expect_right<rank>(c, sample.rows, sample.expected);
    }
  }

  /// Checks that a call of each function throws, and that nothing is written.
  template <int rank, class... Rest>
  static void expect_throws(const SetCase& c, const Options& options,
                            std::initializer_list<std::string> parts,
                            const Placement* y_placement = nullptr) {
    for (const Function function : all_functions) {
      if (function == Function::logsumexp && y_placement != nullptr) continue;
      const Memory x(c.placement()),
          y(y_placement != nullptr ? *y_placement : memory_of(function, c, 0).placement());
      with_views<rank>(function, c, x, y, [&](const auto& x_view, const auto& y_view) {
        EXPECT_TRUE(
            throws_with(parts, [&] { call_set(function, Exec{}, x_view, y_view, options); }))
            << to_string(function) << ", " << c;
        EXPECT_TRUE(
            throws_with(parts, [&] { execute_plan(function, Exec{}, x_view, y_view, options); }));
      });
      Exec{}.fence();
      EXPECT_TRUE(x.is_unchanged() && y.is_unchanged());
    }
  }
};
TYPED_TEST_SUITE(AxisSets, ValueConfigs, ConfigName);

TYPED_TEST(AxisSets, RankThree) { TestFixture::template expect_all_right<3>(cases_of_rank_3); }
TYPED_TEST(AxisSets, RankFive) { TestFixture::template expect_all_right<5>(cases_of_rank_5); }
TYPED_TEST(AxisSets, RankEight) { TestFixture::template expect_all_right<8>(cases_of_rank_8); }

TYPED_TEST(AxisSets, HostileRows) {
  using T = typename TypeParam::value;
  const auto rows = hostile_rows<T>(12);
  const auto expected = reference(rows, -0.5, EmptyRows::zero);
  const Options options{.scale = -0.5, .empty_rows = EmptyRows::zero};
  TestFixture::template expect_right<3>({{rows.count, 3, 4}, {1, 2}}, rows, expected, options);
  TestFixture::template expect_right<3>({{3, rows.count, 4}, {0, 2}, {1, 2, 0}}, rows, expected,
                                        options);
  TestFixture::template expect_right<5>({{3, 1, rows.count, 2, 2}, {0, 3, 4}, {2, 0, 1, 3, 4}},
                                        rows, expected, options);
}

// With one axis, a set is the same as `axis`.
TYPED_TEST(AxisSets, OneAxisHasTheSameBits) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Extents extents{7, 5, 33};
  Field<T, Exec> x(place_right(extents));
  x.assign(normal_rows<T>(35, 33).values);
  const auto x_view = x.template view<Right, 3, const T>();
  for (const int axis : {0, 1, 2, -1, -3}) {
    Field<T, Exec> of_axis(place_right(extents)), of_set(place_right(extents));
    softmax(Exec{}, x_view, of_axis.template view<Right, 3>(), {.axis = axis});
    softmax(Exec{}, x_view, of_set.template view<Right, 3>(), {.axes = {axis}});
    Exec{}.fence();
    EXPECT_TRUE(same_bits(of_axis.read(), of_set.read())) << axis;
  }
}

// y can be x, and lse and max are written beside it.
TYPED_TEST(AxisSets, InPlaceWithNumbersOfRows) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  for (const SetCase& c :
       {SetCase{{5, 6, 3, 4}, {2, 3}}, SetCase{{3, 5, 4, 6}, {0, 2}, {1, 3, 2, 0}},
        SetCase{{5, 3, 4, 6}, {1, 2}, {3, 2, 1, 0}}}) {
    const auto& sample = normal_sample<T>(30, 12);
    Field<T, Exec> x(c.placement()), lse(c.row_placement()), max(c.row_placement());
    x.assign(c.tensor_of(sample.rows.values));
    const auto view = x.template view<Strided, 4>();
    softmax(
        Exec{}, view, view, c.options(),
        Operands{.lse = lse.template view<Strided, 2>(), .max = max.template view<Strided, 2>()});
    Exec{}.fence();
    EXPECT_TRUE(is_accurate(Function::softmax, sample.rows, sample.expected, c.rows_of(x.read())));
    EXPECT_TRUE(is_accurate(Function::logsumexp, sample.rows, sample.expected, lse.read()));
    EXPECT_TRUE(same_bits(max.read(), true_max(sample.rows, 1)));
  }
}

// A row without entries has the log-sum-exp -inf.
TYPED_TEST(AxisSets, NoEntries) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr T minus_infinity = -std::numeric_limits<T>::infinity();
  const SetCase c{{2, 3, 0, 2, 4, 3, 5}, {2, 5}};
  const Placement rows = place_strided(c.without_axes());
  Field<T, Exec> x(c.placement()), lse(place_right(c.without_axes())), beside(rows);
  const auto view = x.template view<Strided, 7>();
  logsumexp(Exec{}, view, lse.template view<Right, 5>(), c.options());
  softmax(Exec{}, view, view, c.options(), Operands{.lse = beside.template view<Strided, 5>()});
  Exec{}.fence();
  for (const auto* field : {&lse, &beside}) {
    const auto values = field->read();
    EXPECT_EQ(values, std::vector<T>(values.size(), minus_infinity));
    EXPECT_TRUE(field->gaps_are_unchanged());
  }
}

/// The operands of 20 rows of 12 columns.
template <class T>
Inputs<T> operands_of_rows() {
  Inputs<T> inputs;
  std::minstd_rand random(7);
  for (std::size_t i = 0; i < 20 * 12; ++i) {
    inputs.bias.push_back(static_cast<T>(random() % 64) / T(16) - T(2));
    inputs.mask.push_back(random() % 4 != 0);
  }
  for (std::size_t r = 0; r < 20; ++r) {
    inputs.lengths.push_back(static_cast<std::int64_t>(random() % 14) - 1);
    inputs.row_bias.push_back(static_cast<T>(random() % 64) / T(16));
  }
  return inputs;
}

TYPED_TEST(AxisSets, OperandsOfEntriesAndRows) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const auto x = normal_rows<T>(20, 12);
  auto inputs = operands_of_rows<T>();
  for (const SetCase& c :
       {SetCase{{4, 5, 3, 4}, {2, 3}}, SetCase{{3, 4, 4, 5}, {0, 2}, {1, 3, 2, 0}},
        SetCase{{4, 3, 4, 5}, {1, 2}}}) {
    const bool counts_columns = c.order.empty();
    Inputs<T> given = inputs;
    if (!counts_columns) given.lengths.clear();
    const Rows<T> v = values_of(x, given, 0.5);
    const Expected expected = expected_of(v, given, EmptyRows::zero);
    const Extents rows = c.without_axes();
    Field<T, Exec> x_field(c.placement()), bias(c.placement(2)), row_bias(place_right(rows));
    Field<unsigned char, Exec> mask(c.placement(1));
    Field<std::int64_t, Exec> lengths(place_right(rows));
    x_field.assign(c.tensor_of(x.values));
    bias.assign(c.tensor_of(inputs.bias));
    row_bias.assign(inputs.row_bias);
    mask.assign(c.tensor_of(inputs.mask));
    lengths.assign(inputs.lengths);
    const auto bias_view = bias.template view<Strided, 4, const T>();
    const auto row_bias_view = row_bias.template view<Right, 2, const T>();
    const auto mask_view = mask.template view<Strided, 4, const unsigned char>();
    const auto lengths_view = lengths.template view<Right, 2, const std::int64_t>();
    const Options options = c.options({.scale = 0.5, .empty_rows = EmptyRows::zero});
    for (const Function function : all_functions) {
      Field<T, Exec> y(TestFixture::memory_of(function, c, 1)),
          of_plan(TestFixture::memory_of(function, c, 1));
      const auto with_operands = [&](auto call) {
        if (counts_columns)
          call(Operands{.bias = bias_view,
                        .mask = mask_view,
                        .lengths = lengths_view,
                        .row_bias = row_bias_view});
        else
          call(Operands{.bias = bias_view, .mask = mask_view, .row_bias = row_bias_view});
      };
      with_operands([&](const auto& operands) {
        TestFixture::template with_views<4>(
            function, c, x_field, y, [&](const auto& x_view, const auto& y_view) {
              call_set(function, Exec{}, x_view, y_view, options, operands);
            });
        TestFixture::template with_views<4>(
            function, c, x_field, of_plan, [&](const auto& x_view, const auto& y_view) {
              TestFixture::execute_plan(function, Exec{}, x_view, y_view, options, operands);
            });
      });
      Exec{}.fence();
      EXPECT_TRUE(TestFixture::is_right(function, c, v, expected, x_field, y));
      EXPECT_TRUE(same_bits(y.read(), of_plan.read())) << to_string(function) << ", " << c;
    }
  }
}

// A bias of the reduced axes, a mask per row, and a causal limit along an axis behind those that
// are reduced, and before them.
TYPED_TEST(AxisSets, BroadcastAndCausal) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const auto x = normal_rows<T>(20, 12);
  const auto bias = on_device<Exec>(normal_rows<T>(1, 12).values);
  const std::vector<unsigned char> mask_values{1, 0, 1, 1};
  const auto mask = on_device<Exec>(mask_values);
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const SetCase c{{4, 3, 4, 5}, {1, 2}};
  for (const int axis : {0, -1}) {
    Inputs<T> inputs;
    const auto bias_values = normal_rows<T>(1, 12).values;
    for (std::size_t row = 0; row < 20; ++row)
      for (std::size_t column = 0; column < 12; ++column) {
        inputs.bias.push_back(bias_values[column]);
        const std::size_t position = axis == 0 ? row / 5 : row % 5;
        inputs.mask.push_back(mask_values[row / 5] != 0 && column <= position + 2);
      }
    const Rows<T> v = values_of(x, inputs, 1);
    Field<T, Exec> x_field(c.placement()), y(c.placement());
    x_field.assign(c.tensor_of(x.values));
    const Kokkos::View<const T***, Right, Exec, Unmanaged> bias_view(bias.data(), 3, 4, 1);
    const Kokkos::View<const unsigned char****, Right, Exec, Unmanaged> mask_view(mask.data(), 4, 1,
                                                                                  1, 1);
    softmax(Exec{}, x_field.template view<Right, 4, const T>(), y.template view<Right, 4>(),
            c.options(),
            Operands{
                .bias = bias_view, .mask = mask_view, .causal = Causal{.offset = 2, .axis = axis}});
    Exec{}.fence();
    EXPECT_TRUE(TestFixture::is_right(Function::softmax, c, v,
                                      expected_of(v, inputs, EmptyRows::nan), x_field, y));
  }
}

TYPED_TEST(AxisSets, WeightsAndSigns) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const SetCase c{{3, 20, 4}, {0, 2}, {1, 0, 2}};
  const auto x = normal_rows<T>(20, 12), weights = normal_rows<T>(20, 12);
  Field<T, Exec> x_field(c.placement()), weight_field(c.placement(1)), lse(place_right({20})),
      sign(place_right({20}));
  x_field.assign(c.tensor_of(x.values));
  weight_field.assign(c.tensor_of(weights.values));
  const auto x_view = x_field.template view<Strided, 3, const T>();
  const auto lse_view = lse.template view<Right, 1>();
  const Operands operands{.weights = weight_field.template view<Strided, 3, const T>(),
                          .sign = sign.template view<Right, 1>()};
  const auto expected = reference_weighted(x, weights.values);
  const auto expect_weighted = [&] {
    Exec{}.fence();
    EXPECT_TRUE(are_near<T>(lse.read(), expected.lse));
    EXPECT_TRUE(are_signs(sign.read(), expected));
  };
  logsumexp(Exec{}, x_view, lse_view, c.options(), operands);
  expect_weighted();
  lse.assign(std::vector<T>(20));
  plan_logsumexp(Exec{}, x_view, lse_view, c.options(), operands)
      .execute(x_view, lse_view, operands);
  expect_weighted();
}

TYPED_TEST(AxisSets, BackwardPasses) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  for (const SetCase& c :
       {SetCase{{4, 5, 3, 4}, {2, 3}}, SetCase{{3, 4, 4, 5}, {0, 2}, {1, 3, 2, 0}}})
    for (const auto function : backward_functions) {
      const auto sample = backward_sample<T>(function, 20, 12);
      const auto expected = reference_backward(function, sample.y, sample.dy, 0.5);
      Field<T, Exec> y(c.placement()), dy(c.placement(2)), dx(c.placement(1)),
          again(c.placement(1));
      y.assign(c.tensor_of(sample.y.values));
      dy.assign(c.tensor_of(sample.dy.values));
      const auto y_view = y.template view<Strided, 4, const T>();
      const auto dy_view = dy.template view<Strided, 4, const T>();
      const auto dx_view = dx.template view<Strided, 4>();
      const auto again_view = again.template view<Strided, 4>();
      const Options options = c.options({.scale = 0.5});
      call_backward(function, Exec{}, y_view, dy_view, dx_view, options);
      if (function == BackwardFunction::softmax_backward)
        plan_softmax_backward(Exec{}, y_view, dy_view, again_view, options)
            .execute(y_view, dy_view, again_view);
      else
        plan_log_softmax_backward(Exec{}, y_view, dy_view, again_view, options)
            .execute(y_view, dy_view, again_view);
      Exec{}.fence();
      EXPECT_TRUE(are_near<T>(c.rows_of(dx.read()), expected)) << c;
      EXPECT_TRUE(dx.gaps_are_unchanged());
      EXPECT_TRUE(same_bits(dx.read(), again.read()));
    }
}

TYPED_TEST(AxisSets, LogSumExpBackward) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const SetCase c{{3, 4, 4, 5}, {0, 2}, {1, 3, 2, 0}};
  const auto x = normal_rows<T>(20, 12);
  auto inputs = operands_of_rows<T>();
  inputs.lengths.clear();
  inputs.row_bias.clear();
  const Rows<T> v = values_of(x, inputs, 0.5);
  const auto numbers = row_numbers(v);
  Field<T, Exec> x_field(c.placement()), bias(c.placement()), lse(place_right({4, 5})),
      dlse(place_right({4, 5})), dx(c.placement(1));
  Field<unsigned char, Exec> mask(c.placement());
  x_field.assign(c.tensor_of(x.values));
  bias.assign(c.tensor_of(inputs.bias));
  mask.assign(c.tensor_of(inputs.mask));
  lse.assign(numbers.lse);
  dlse.assign(numbers.derivative);
  logsumexp_backward(Exec{}, x_field.template view<Strided, 4, const T>(),
                     lse.template view<Right, 2, const T>(),
                     dlse.template view<Right, 2, const T>(), dx.template view<Strided, 4>(),
                     c.options({.scale = 0.5}),
                     Operands{.bias = bias.template view<Strided, 4, const T>(),
                              .mask = mask.template view<Strided, 4, const unsigned char>()});
  Exec{}.fence();
  EXPECT_TRUE(are_near<T>(c.rows_of(dx.read()),
                          reference_gradient(v, 0.5, numbers.lse, numbers.derivative, nullptr)));
  EXPECT_TRUE(dx.gaps_are_unchanged());
}

TYPED_TEST(AxisSets, InvalidSets) {
  const SetCase c{{5, 6, 7}, {1, 2}};
  const auto throws = [&](const Options& options, std::initializer_list<std::string> parts) {
    TestFixture::template expect_throws<3>(c, options, parts);
  };
  throws({.axes = {1, 3}}, {"axes[1] = 3 is out of range (x has rank 3)", "from -3 to 2"});
  throws({.axes = {-4, 1}}, {"axes[0] = -4 is out of range (x has rank 3)"});
  throws({.axes = {2, 1, -1}}, {"axes[0] = 2 and axes[2] = -1 are the same axis"});
  throws({.axes = {0, 1, 2, 0}}, {"axes has 4 elements (x has rank 3)"});
  throws({.axes = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0}}, {"axes has 10 elements"});
  throws({.axis = 0, .axes = {1, 2}}, {"axis = 0 and axes are both given"});
}

TYPED_TEST(AxisSets, ThatDoNotMerge) {
  const auto throws = [](const SetCase& c, std::initializer_list<std::string> parts,
                         const Placement* y = nullptr) {
    TestFixture::template expect_throws<3>(c, c.options(), parts, y);
  };
  throws({{5, 6, 7}, {0, 2}},
         {"axes = {0, 2} don't merge to one axis in x with the extents (5, 6, 7) and the strides "
          "(42, 7, 1)",
          "one stride must lead from entry to entry", "copy of x"});
  throws({{5, 6, 7}, {0, 1}, {0, 2, 1}}, {"axes = {0, 1} don't merge to one axis in x"});
  const Placement left = place_left({5, 6, 7}), strided = place_strided({5, 6, 7});
  for (const Placement& y : {left, strided})
    throws({{5, 6, 7}, {1, 2}}, {"axes = {1, 2} don't merge to one axis in y", "copy of y"}, &y);
}

TYPED_TEST(AxisSets, OperandsThatDoNotMerge) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const SetCase c{{4, 3, 5}, {1, 2}};
  const Field<T, Exec> x(c.placement()), y(c.placement()), bias(place_right({4, 3, 5}));
  const Field<int, Exec> lengths(place_right({5}));
  const auto x_view = x.template view<Strided, 3, const T>();
  const auto y_view = y.template view<Strided, 3>();
  const auto throws = [&](std::initializer_list<std::string> parts, const Options& options,
                          const auto& operands, const auto& input) {
    EXPECT_TRUE(throws_with(parts, [&] { softmax(Exec{}, input, y_view, options, operands); }));
    Exec{}.fence();
    EXPECT_TRUE(y.is_unchanged());
  };
  throws(
      {"axes = {1, 2} don't merge to one axis in bias"}, c.options(),
      Operands{.bias = Kokkos::subview(bias.template view<Right, 3, const T>(), 0, 0, Kokkos::ALL)},
      x_view);
  throws({"(5) of lengths can't be broadcast to (4), those of x without the axes"}, c.options(),
         Operands{.lengths = lengths.template view<Right, 1, const int>()}, x_view);
  throws({"causal.axis = -2 is one of the axes of the call"}, c.options(),
         Operands{.causal = Causal{.axis = -2}}, x_view);
  throws({"causal is given with an x of rank 3 and axes = {0, 1, 2}"}, {.axes = {0, 1, 2}},
         Operands{.causal = Causal{}}, x_view);
  const auto left = x.template view<Left, 3, const T>();
  throws({"lengths can't be given with axes = {0, 1}", "last of these axes fastest", "mask"},
         {.axes = {0, 1}}, Operands{.lengths = lengths.template view<Right, 1, const int>()},
         Kokkos::View<const T***, Left, typename Field<T, Exec>::Device,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(left));
  throws({"causal can't be given with axes = {0, 1}"}, {.axes = {0, 1}},
         Operands{.causal = Causal{}}, left);
}

TYPED_TEST(AxisSets, ExtentsOfResults) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Field<T, Exec> x(place_right({4, 3, 5})), lse(place_right({4, 3}));
  const auto x_view = x.template view<Right, 3, const T>();
  const auto throws = [&](const auto& view, std::initializer_list<std::string> parts,
                          const Options& options) {
    EXPECT_TRUE(throws_with(parts, [&] { logsumexp(Exec{}, x_view, view, options); }));
    EXPECT_TRUE(throws_with(parts, [&] { plan_logsumexp(Exec{}, x_view, view, options); }));
  };
  throws(lse.template view<Right, 2>(),
         {"the extents (4, 3) of lse don't fit x (4, 3, 5) with axes = {1, 2}",
          "the extents of x without those axes"},
         {.axes = {1, 2}});
  const Field<T, Exec> of_first(place_right({4}));
  throws(of_first.template view<Right, 1>(),
         {"the extents (4) of lse don't fit x (4, 3, 5) with axis = 2", "without that axis"}, {});
  throws(of_first.template view<Right, 1>(), {"(4) of lse", "axes = {0, 1}"}, {.axes = {0, 1}});
  Exec{}.fence();
  EXPECT_TRUE(lse.is_unchanged() && of_first.is_unchanged());
}

TYPED_TEST(AxisSets, Overlap) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Field<T, Exec> memory(place_right({200}));
  const auto tensor = [&](std::size_t first) {
    return Kokkos::View<T***, Right, typename Field<T, Exec>::Device,
                        Kokkos::MemoryTraits<Kokkos::Unmanaged>>(memory.data() + first, 4, 3, 5);
  };
  const Options options{.axes = {1, 2}};
  EXPECT_TRUE(throws_with({"softmax: x at", "and y at", "overlap"},
                          [&] { softmax(Exec{}, tensor(0), tensor(59), options); }));
  EXPECT_TRUE(throws_with({"softmax: x at", "and lse at", "overlap"}, [&] {
    softmax(Exec{}, tensor(0), tensor(60), options,
            Operands{.lse = Kokkos::subview(tensor(0), Kokkos::ALL, 0, 0)});
  }));
  EXPECT_TRUE(throws_with({"softmax: bias at", "and y at", "overlap"}, [&] {
    softmax(Exec{}, tensor(0), tensor(60), options, Operands{.bias = tensor(119)});
  }));
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

// More axes than kernels take.
TYPED_TEST(AxisSets, OuterAxesThatDoNotMerge) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Placement right = place_right({2, 3, 2, 3, 2, 5}), strided = place_strided(right.extents);
  const Placement rows = place_right({2, 3, 2, 3, 2});
  const std::string left_over =
      "the strides leave 5 axes that aren't reduced (kernels take at most 4";
  Field<T, Exec> x(right), y(strided), lse(rows), dx(strided);
  Field<int, Exec> labels(rows);
  const auto x_view = x.template view<Right, 6, const T>();
  const auto y_view = y.template view<Strided, 6>();
  const auto lse_view = lse.template view<Right, 5>();
  const auto bias_view = y.template view<Strided, 6, const T>();
  const auto throws = [&](const std::string& function, const auto& call) {
    EXPECT_TRUE(
        throws_with({"KokkosSoftmax::" + function + ": " + left_over, "call per slice"}, call));
  };
  throws("softmax", [&] { softmax(Exec{}, x_view, y_view); });
  throws("log_softmax", [&] { plan_log_softmax(Exec{}, x_view, y_view); });
  throws("logsumexp", [&] { logsumexp(Exec{}, bias_view, lse_view); });
  throws("logsumexp",
         [&] { logsumexp(Exec{}, x_view, lse_view, {}, Operands{.bias = bias_view}); });
  throws("softmax_backward",
         [&] { softmax_backward(Exec{}, x_view, bias_view, dx.template view<Strided, 6>()); });
  throws("logsumexp_backward",
         [&] { logsumexp_backward(Exec{}, x_view, lse_view, lse_view, y_view); });
  throws("cross_entropy", [&] {
    cross_entropy(Exec{}, bias_view, labels.template view<Right, 5, const int>(), lse_view);
  });
  throws("cross_entropy_backward", [&] {
    cross_entropy_backward(Exec{}, x_view, labels.template view<Right, 5, const int>(), lse_view,
                           lse_view, y_view);
  });
  Exec{}.fence();
  EXPECT_TRUE(y.is_unchanged() && lse.is_unchanged() && dx.is_unchanged());
  // with the axis of extent 2 reduced together with the last one, four axes remain
  const SetCase c{right.extents, {4, 5}};
  const SetCase apart{right.extents, {4, 5}, {0, 1, 2, 3, 4, 5}};
  Field<T, Exec> x_apart(apart.placement(3)), y_right(right);
  const auto& sample = normal_sample<T>(36, 10);
  x_apart.assign(c.tensor_of(sample.rows.values));
  softmax(Exec{}, x_apart.template view<Strided, 6, const T>(), y_right.template view<Right, 6>(),
          c.options());
  Exec{}.fence();
  EXPECT_TRUE(
      TestFixture::is_right(Function::softmax, c, sample.rows, sample.expected, x_apart, y_right));
}

template <class Exec>
class AxisSetsInC : public ::testing::Test {
 protected:
  using T = double;
  static int apply(int operation, const kokkossoftmax_tensor& x, const kokkossoftmax_tensor& y,
                   const kokkossoftmax_options& options) {
    return kokkossoftmax_apply(operation, space_of<Exec>, nullptr, &x, &y, &options);
  }
};
struct SpaceName {
  template <class Exec>
  static std::string GetName(int) {
    return std::string(Exec::name()) + "_c";
  }
};
TYPED_TEST_SUITE(AxisSetsInC, DefaultSpaces::types, SpaceName);

TYPED_TEST(AxisSetsInC, SameResults) {
  const SetCase c{{3, 2, 1, 4, 1, 5, 1, 2}, {-1, 5, 3}};
  const auto& sample = normal_sample<double>(c.count(), c.columns());
  Field<double, TypeParam> x(c.placement()), y(c.placement()), lse(place_right(c.without_axes()));
  x.assign(c.tensor_of(sample.rows.values));
  const Tensor<double> tx(x.data(), x.placement()), ty(y.data(), y.placement()),
      tlse(lse.data(), lse.placement());
  const int axes[] = {-1, 5, 3};
  auto options = c_options({});
  options.axes = axes;
  options.axis_count = 3;
  EXPECT_TRUE(succeeds(TestFixture::apply(KOKKOSSOFTMAX_SOFTMAX, tx.c, ty.c, options)));
  EXPECT_TRUE(succeeds(TestFixture::apply(KOKKOSSOFTMAX_LOGSUMEXP, tx.c, tlse.c, options)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(space_of<TypeParam>, nullptr)));
  EXPECT_TRUE(is_accurate(Function::softmax, sample.rows, sample.expected, c.rows_of(y.read())));
  EXPECT_TRUE(is_accurate(Function::logsumexp, sample.rows, sample.expected, lse.read()));
}

TYPED_TEST(AxisSetsInC, Errors) {
  Field<double, TypeParam> x(place_right({5, 6, 7}));
  const Tensor<double> tx(x.data(), x.placement());
  const int axes[] = {0, 2};
  const auto is_invalid = [&](const int* list, int count, int reserved,
                              std::initializer_list<std::string> parts) {
    auto options = c_options({});
    options.axes = list;
    options.axis_count = count;
    options.reserved = reserved;
    return fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT, parts,
                      TestFixture::apply(KOKKOSSOFTMAX_SOFTMAX, tx.c, tx.c, options));
  };
  EXPECT_TRUE(is_invalid(axes, 2, 0, {"softmax: axes = {0, 2} don't merge to one axis in x"}));
  EXPECT_TRUE(is_invalid(nullptr, 2, 0, {"options.axes is NULL", "options.axis_count = 2"}));
  for (const int count : {0, -1, 9})
    EXPECT_TRUE(is_invalid(axes, count, 0,
                           {"options.axis_count = " + std::to_string(count), "from 1 to 8"}));
  EXPECT_TRUE(is_invalid(nullptr, 0, 1, {"options.reserved = 1"}));
}

// The struct of programs that were compiled before it had axes.
TYPED_TEST(AxisSetsInC, OptionsWithoutAxes) {
  const auto& sample = normal_sample<double>(5, 7);
  Field<double, TypeParam> x(place_right({5, 7})), y(place_right({5, 7}));
  x.assign(sample.rows.values);
  const Tensor<double> tx(x.data(), x.placement()), ty(y.data(), y.placement());
  kokkossoftmax_options options;
  std::memset(static_cast<void*>(&options), 0xab, sizeof(options));
  EXPECT_TRUE(
      succeeds(kokkossoftmax_options_init_sized(&options, offsetof(kokkossoftmax_options, axes))));
  EXPECT_NE(options.axis_count, 0);
  EXPECT_TRUE(succeeds(TestFixture::apply(KOKKOSSOFTMAX_SOFTMAX, tx.c, ty.c, options)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(space_of<TypeParam>, nullptr)));
  EXPECT_TRUE(is_accurate(Function::softmax, sample.rows, sample.expected, y.read()));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
