// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests of the other files for x of half_t or bhalf_t and y of the same type or of float. The
// results are those of float for the numbers in x, rounded once to the type of y.

#include <support/Algorithms.hpp>
#include <support/CInterface.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

// If Kokkos has no half types, they are aliases of float, which other files test. Here such calls
// must only compile.
TEST(HalfTypes, WhereTheyAreFloat) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  const Kokkos::View<Kokkos::Experimental::half_t**, Exec> half("half", 3, 4);
  const Kokkos::View<Kokkos::Experimental::bhalf_t**, Exec> bhalf("bhalf", 3, 4);
  softmax(half, half);
  softmax(bhalf, Kokkos::View<float**, Exec>("y", 3, 4));
  Exec{}.fence();
  EXPECT_EQ(static_cast<float>(half(2, 3)), 0.25f);
#ifndef KOKKOSSOFTMAX_TEST_HALF_TYPES
  GTEST_SKIP() << "this Kokkos has no half types of its own (it needs a GPU backend): half_t and "
                  "bhalf_t are float";
#endif
}

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES

template <class C>
class HalfTypes : public ::testing::Test {
 protected:
  static void expect_right(const Rows<typename C::value>& rows, const Expected& expected,
                           const Options& options) {
    for (const Function function : all_functions)
      for (const int axis : {0, 1}) {
        Case c{.function = function, .options = options};
        c.options.axis = axis;
        EXPECT_TRUE(check_matrix<C>(c, rows, expected));
      }
  }
};
using HalfLayoutConfigs =
    HalfConfigs<Kokkos::LayoutRight, Kokkos::LayoutLeft, Kokkos::LayoutStride>;
TYPED_TEST_SUITE(HalfTypes, HalfLayoutConfigs, ConfigName);

TYPED_TEST(HalfTypes, EveryWidth) {
  for (const std::size_t columns : widths) {
    const auto& sample = normal_sample<typename TypeParam::x_value>(3, columns);
    TestFixture::expect_right(sample.rows, sample.expected, {});
  }
}

TYPED_TEST(HalfTypes, HostileRows) {
  for (const std::size_t columns : {7, 33, 1025}) {
    const auto rows = hostile_rows<typename TypeParam::x_value>(columns);
    for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
      TestFixture::expect_right(rows, reference(rows, 1.0, empty_rows), {.empty_rows = empty_rows});
  }
}

// The scale and the product are rounded to float, so 0.1 * x is not exact.
TYPED_TEST(HalfTypes, Scale) {
  for (const std::size_t columns : {7, 1025})
    for (const double scale : {-1.0, 0.1, 1.0 / 3.0, 0.0, 1e-45, 1e30}) {
      const auto rows = hostile_rows<typename TypeParam::x_value>(columns);
      TestFixture::expect_right(rows, reference(rows, scale), {.scale = scale});
    }
}

// The rounding error of a large logarithm must not appear in a result that is small.
TYPED_TEST(HalfTypes, SmallLogarithms) {
  using X = typename TypeParam::x_value;
  RowsFor<X> rows{0, 8, {}};
  for (float largest = -44; largest <= 44; largest += 0.25f, ++rows.count)
    for (const float below : {0.f, 11.f, 12.f, 13.f, 14.f, 15.f, 16.f, 17.f})
      rows.values.push_back(static_cast<float>(static_cast<X>(largest - below)));
  TestFixture::expect_right(rows, reference(rows), {});
}

// More strided rows than a team processes at one time. Only GPUs have a split_column schedule for
// half types.
TYPED_TEST(HalfTypes, SeveralPanels) {
  const auto& sample = normal_sample<typename TypeParam::x_value>(300, 700);
  const bool on_gpu = !is_host_space<typename TypeParam::exec>;
  for (const Function function : all_functions)
    EXPECT_TRUE(check_matrix<TypeParam>(
        {.function = function,
         .options = {.axis = 0,
                     .algorithm = on_gpu ? Algorithm::split_column : Algorithm::automatic}},
        sample.rows, sample.expected));
}

TYPED_TEST(HalfTypes, Ranks) {
  using L = typename TypeParam::layout;
  for (const Function function : all_functions)
    for (int axis = 0; axis < 3; ++axis) {
      const Case c{.function = function, .extents = {5, 33, 8}, .options = {.axis = axis}};
      const auto& sample = normal_sample<typename TypeParam::x_value>(
          product(without_axis(c.extents, axis)), c.extents[static_cast<std::size_t>(axis)]);
      EXPECT_TRUE((check_as<typename TypeParam::values, L, L, 3>(typename TypeParam::exec{}, c,
                                                                 sample.rows, sample.expected)));
    }
}

/// Tests of contiguous matrices.
template <class C>
class HalfMatrices : public ::testing::Test {
 protected:
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;
  using Right = Kokkos::LayoutRight;

  /// Calls body(x, y) with a View x of the rows and a View y for the result, and returns the
  /// result.
  template <class Body>
  static std::vector<Y> result(const Case& c, const std::vector<typename C::value>& rows,
                               const Body& body) {
    Field<X, Exec> x(place<Right>(c.extents, c.x_offset));
    const Field<Y, Exec> y(place<Right>(c.y_extents(), c.y_offset));
    x.assign(rows_to_tensor(rows, c.extents, c.options.axis));
    const auto x_view = x.template view<Right, 2, const X>();
    if (c.function == Function::logsumexp)
      body(x_view, y.template view<Right, 1>());
    else
      body(x_view, y.template view<Right, 2>());
    Exec{}.fence();
    return y.read();
  }

  static std::vector<Y> result(const Case& c, const std::vector<typename C::value>& rows) {
    return result(c, rows,
                  [&](const auto& x, const auto& y) { call(c.function, Exec{}, x, y, c.options); });
  }

  /// The result of a row has the same bits alone and among other rows at any position.
  static void expect_reproducible(std::size_t columns, Case c) {
    const auto row = normal_rows<X>(1, columns);
    const std::size_t count = 37, place = 5;
    auto others = normal_rows<X>(count, columns);
    std::copy(row.values.begin(), row.values.end(), others.values.begin() + place * columns);
    c.options.reproducible = true;
    c.extents = c.options.axis == 0 ? Extents{columns, 1} : Extents{1, columns};
    const auto alone = result(c, row.values);
    c.extents = c.options.axis == 0 ? Extents{columns, count} : Extents{count, columns};
    c.x_offset = 3;
    c.y_offset = 1;
    const auto all = result(c, others.values);
    std::vector<Y> part = {all[place]};
    if (c.function != Function::logsumexp) {
      part.clear();
      for (std::size_t i = 0; i < columns; ++i)
        part.push_back(c.options.axis == 0 ? all[i * count + place] : all[place * columns + i]);
    }
    EXPECT_TRUE(same_bits(part, alone)) << ::testing::PrintToString(c);
  }
};
TYPED_TEST_SUITE(HalfMatrices, HalfConfigs<Kokkos::LayoutRight>, ConfigName);

TYPED_TEST(HalfMatrices, EveryAlgorithm) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : widths) {
    const auto& sample = normal_sample<X>(columns <= 4096 ? 3 : 1, columns);
    expect_algorithms_right<TypeParam>(sample.rows, sample.expected, {});
  }
  for (const std::size_t columns : {1, 4, 7, 12, 16, 20, 40, 100, 136}) {
    const auto& sample = normal_sample<X>(127, columns);
    expect_algorithms_right<TypeParam>(sample.rows, sample.expected, {});
  }
}

TYPED_TEST(HalfMatrices, EveryAlgorithmOnHostileRows) {
  for (const std::size_t columns : {7, 33, 1024, 1025}) {
    const auto rows = hostile_rows<typename TypeParam::x_value>(columns);
    for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
      expect_algorithms_right<TypeParam>(rows, reference(rows, 1.0, empty_rows),
                                         {.empty_rows = empty_rows});
  }
}

TYPED_TEST(HalfMatrices, EveryAlgorithmScaled) {
  for (const std::size_t columns : {7, 33, 1025})
    for (const double scale : {0.1, -3.7}) {
      const auto rows = normal_rows<typename TypeParam::x_value>(3, columns);
      expect_algorithms_right<TypeParam>(rows, reference(rows, scale), {.scale = scale});
    }
}

// Chunks of 8 entries of x, or of 4 for results of float, at addresses that allow such chunks and
// at addresses that don't.
TYPED_TEST(HalfMatrices, UnalignedPointers) {
  for (const Algorithm algorithm : all_algorithms)
    for (const std::size_t columns : {7, 32, 100, 129, 1000, 1024, 1025, 4096})
      for (const std::size_t x_offset : {0, 1, 4, 7})
        for (const std::size_t y_offset : {0, 1, 2, 4, 5, 8}) {
          const auto& sample = normal_sample<typename TypeParam::x_value>(3, columns);
          serves<TypeParam>(
              {.options = {.algorithm = algorithm}, .x_offset = x_offset, .y_offset = y_offset},
              sample.rows, sample.expected);
        }
}

// More rows than a team of `packed` has, and one team that isn't full. Lanes have rows of their own
// or share them (PackedPairsKernel).
TYPED_TEST(HalfMatrices, PackedRows) {
  using X = typename TypeParam::x_value;
  const bool is_compiled =
      std::is_same_v<X, typename TypeParam::y_value> && !is_host_space<typename TypeParam::exec>;
  for (const std::size_t columns : {3, 5, 39, 41, 53, 54, 65, 66, 97, 98, 105, 106, 129, 130, 193})
    for (const double scale : {1.0, -0.7}) {
      auto rows = hostile_rows<X>(columns);
      const auto others = normal_rows<X>(columns < 8 ? 555 : 55, columns);
      rows.count += others.count;
      rows.values.insert(rows.values.end(), others.values.begin(), others.values.end());
      const Expected expected = reference(rows, scale);
      for (const Function function : {Function::softmax, Function::log_softmax}) {
        const Case c{.function = function,
                     .options = {.axis = 1, .scale = scale, .algorithm = Algorithm::packed}};
        EXPECT_EQ((serves<TypeParam>(c, rows, expected)), is_compiled) << columns << " columns";
      }
    }
}

TYPED_TEST(HalfMatrices, InPlace) {
  if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::y_value>)
    for (const Algorithm algorithm : all_algorithms)
      for (const Function function : {Function::softmax, Function::log_softmax})
        for (const std::size_t columns : {7, 33, 512, 513, 1024, 1025, 4096, 32769}) {
          const auto& sample = normal_sample<typename TypeParam::x_value>(3, columns);
          expect_served_in_place<TypeParam>(
              {.function = function, .extents = {3, columns}, .options = {.algorithm = algorithm}},
              sample.rows, sample.expected);
        }
  else
    GTEST_SKIP() << "x and y have different types";
}

// Results near 0 of log_softmax, whose error is absolute: the sum is 1, whatever the reference is.
// The rounding of 22.5 log2(e) is among the largest.
TYPED_TEST(HalfMatrices, LogarithmsNearZero) {
  using X = typename TypeParam::x_value;
  constexpr std::size_t count = 24;
  for (const std::size_t columns : {100, 5000, 32768, 131072}) {
    Rows<float> rows{count, columns, std::vector<float>(count * columns, -20)};
    for (std::size_t r = 0; r < count; ++r)
      rows.values[r * columns + columns * 5 / 8] =
          static_cast<float>(static_cast<X>(22.5f + 0.1484375f * static_cast<float>(r)));
    const Expected expected = reference(rows);
    for (const Algorithm algorithm :
         {Algorithm::automatic, Algorithm::cluster, Algorithm::split, Algorithm::online})
      serves<TypeParam>({.function = Function::log_softmax, .options = {.algorithm = algorithm}},
                        rows, expected);
  }
}

// Scales whose product with log2(e) is infinite.
TYPED_TEST(HalfMatrices, LargestScales) {
  for (const std::size_t columns : {7, 512, 4096, 32768}) {
    Rows<float> rows{3, columns, std::vector<float>(3 * columns, -1)};
    for (std::size_t r = 0; r < 3; ++r) rows.values[r * columns + r] = 0;
    for (const double scale : {3e38, 2e38})
      expect_algorithms_right<TypeParam>(rows, reference(rows, scale), {.scale = scale});
  }
}

TYPED_TEST(HalfMatrices, Reproducible) {
  for (const std::size_t columns : {3, 33, 128, 781, 1024, 1025, 12671})
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::online}) {
          // for half types, hosts have only Algorithm::host
          if (algorithm == Algorithm::online && is_host_space<typename TypeParam::exec>) continue;
          TestFixture::expect_reproducible(
              columns, {.function = function, .options = {.axis = axis, .algorithm = algorithm}});
        }
}

TYPED_TEST(HalfMatrices, Plan) {
  using Exec = typename TypeParam::exec;
  for (const Function function : all_functions)
    for (const std::size_t columns : {7, 1024, 12671}) {
      const Case c{.function = function, .extents = {5, columns}, .options = {.scale = 0.5}};
      const auto rows = normal_rows<typename TypeParam::x_value>(5, columns).values;
      const auto planned = TestFixture::result(c, rows, [&](const auto& x, const auto& y) {
        const auto execute = [&](const auto& plan) {
          plan.execute(x, y);
          EXPECT_NE(plan.describe().find(std::string(" of ") + TypeParam::values::name + " on "),
                    std::string::npos)
              << plan.describe();
        };
        if constexpr (std::decay_t<decltype(y)>::rank() == 1)
          execute(plan_logsumexp(Exec{}, x, y, c.options));
        else if (function == Function::softmax)
          execute(plan_softmax(Exec{}, x, y, c.options));
        else
          execute(plan_log_softmax(Exec{}, x, y, c.options));
      });
      EXPECT_TRUE(same_bits(planned, TestFixture::result(c, rows))) << ::testing::PrintToString(c);
    }
}

// Overlap is decided by byte addresses: y can begin after the last byte of x, and not before.
TYPED_TEST(HalfMatrices, Overlap) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  constexpr int bytes = 35 * sizeof(X);
  const Field<X, Exec> memory(place_right({400}));
  const Kokkos::View<const X**, Kokkos::LayoutRight, Exec> x(memory.data() + 100, 5, 7);
  const auto y_at = [&](std::size_t first) {
    return Kokkos::View<Y**, Kokkos::LayoutRight, Exec>(reinterpret_cast<Y*>(memory.data() + first),
                                                        5, 7);
  };
  const auto is_refused = [&](std::size_t first) {
    return throws_with({"KokkosSoftmax::softmax:", "x", "y", "overlap"},
                       [&] { softmax(Exec{}, x, y_at(first)); });
  };
  const std::size_t before = 100 - 35 * sizeof(Y) / sizeof(X), after = 100 + bytes / sizeof(X);
  for (const std::size_t first : {before + 2, std::size_t{98}, std::size_t{102}, after - 1})
    EXPECT_TRUE(is_refused(first / 2 * 2)) << first;
  if (sizeof(X) != sizeof(Y)) EXPECT_TRUE(is_refused(100));
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
  softmax(Exec{}, x, y_at(before));
  softmax(Exec{}, x, y_at((after + 1) / 2 * 2));
  Exec{}.fence();
}

TYPED_TEST(HalfMatrices, CInterface) {
  using X = typename TypeParam::x_value;
  using Y = typename TypeParam::y_value;
  using Exec = typename TypeParam::exec;
  if (!std::is_same_v<Exec, DefaultSpace> && !std::is_same_v<Exec, DefaultHostSpace>)
    GTEST_SKIP() << "no space of the C interface";
  const auto& sample = normal_sample<X>(5, 129);
  const std::int64_t extents[] = {5, 129};
  const struct {
    Function function;
    int operation, y_rank;
  } calls[] = {{Function::softmax, KOKKOSSOFTMAX_SOFTMAX, 2},
               {Function::log_softmax, KOKKOSSOFTMAX_LOG_SOFTMAX, 2},
               {Function::logsumexp, KOKKOSSOFTMAX_LOGSUMEXP, 1}};
  for (const auto& [function, operation, y_rank] : calls) {
    const Case c{.function = function, .extents = {5, 129}};
    Field<X, Exec> x(place_right(c.extents));
    const Field<Y, Exec> y(place_right(c.y_extents()));
    x.assign(sample.rows.values);
    const kokkossoftmax_tensor tx = {x.data(), type_of<X>, 2, extents, nullptr};
    const kokkossoftmax_tensor ty = {y.data(), type_of<Y>, y_rank, extents, nullptr};
    ASSERT_EQ(kokkossoftmax_apply(operation, space_of<Exec>, nullptr, &tx, &ty, nullptr),
              KOKKOSSOFTMAX_SUCCESS)
        << kokkossoftmax_last_error();
    Exec{}.fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y));
  }
}

#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
