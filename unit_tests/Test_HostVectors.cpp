// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of the vector kernels of hosts for half types. Without a GPU, Kokkos has no half types
// of its own, and the library has no such launches; with a GPU, Test_HalfTypes tests them on hosts.

#include <algorithm>
#include <cstring>
#include <schedules/HostVectors.hpp>
#include <support/Check.hpp>
#include <support/HostNumbers.hpp>
#include <type_traits>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

/// A half type as launches know it: a number that can be made of a float.
template <class Half>
struct LaunchedNumber : Half {
  LaunchedNumber() = default;
  explicit LaunchedNumber(float value) : Half(to_number<Half>(value)) {}
};
template <class T>
using Launched = std::conditional_t<std::is_same_v<T, HostCompute<T>>, T, LaunchedNumber<T>>;

}  // namespace
}  // namespace KokkosSoftmax::Test

template <class Half>
struct KokkosSoftmax::Impl::HostNumberOf<KokkosSoftmax::Test::LaunchedNumber<Half>> {
  using type = Half;
};

namespace KokkosSoftmax::Test {
namespace {

template <class X_, class Y_>
struct HalfPair {
  using X = X_;
  using Y = Y_;
};

template <class P>
class HostVectors : public ::testing::Test {
 protected:
  using X = typename P::X;
  using Y = typename P::Y;
  using V = KokkosSoftmax::Impl::ValueTypesOf<Launched<X>, Launched<Y>, float>;
  using Exec = Kokkos::DefaultHostExecutionSpace;

  struct Result {
    std::vector<float> y, lse, max;
  };

  /// \param side_by_side  whether x and y are transposed, with an element between columns
  /// \param row_values  whether y of logsumexp has floats, see RowProblem::y_holds_row_values
  static Result run(Function function, const Rows<float>& rows, bool side_by_side,
                    const Options& options, bool row_values = false) {
    const bool entries = function != Function::logsumexp;
    const std::size_t size = rows.values.size();
    const auto count = static_cast<std::int64_t>(rows.count);
    const auto columns = static_cast<std::int64_t>(rows.columns);
    const std::int64_t per_row = row_values ? sizeof(float) / sizeof(Y) : 1;
    const std::size_t from_column_to_column = side_by_side ? rows.count + 1 : 1;
    const std::size_t elements = side_by_side ? rows.columns * from_column_to_column : size;
    std::vector<Launched<X>> x(elements);
    std::vector<Launched<Y>> y(entries ? elements : rows.count * per_row);
    Result result{std::vector<float>(entries ? size : rows.count), std::vector<float>(rows.count),
                  std::vector<float>(rows.count)};
    const auto at = [&](std::size_t i) {
      return side_by_side ? i % rows.columns * from_column_to_column + i / rows.columns : i;
    };
    for (std::size_t i = 0; i < size; ++i) x[at(i)] = Launched<X>(rows.values[i]);
    typename KokkosSoftmax::Impl::RowArgs<V>::Problem problem;
    problem.x = x.data();
    problem.y = y.data();
    problem.rows = count;
    problem.columns = columns;
    problem.x_column_stride = static_cast<std::int64_t>(from_column_to_column);
    problem.y_column_stride = entries ? problem.x_column_stride : 0;
    problem.outer[0] = {count, side_by_side ? 1 : columns,
                        !entries ? per_row : (side_by_side ? 1 : columns)};
    problem.y_holds_row_values = row_values;
    problem.function = function == Function::log_softmax ? 1 : 0;
    if (entries) {
      problem.lse = result.lse.data();
      problem.max = result.max.data();
      problem.lse_stride = problem.max_stride = 1;
    }
    if (entries)
      launch<KokkosSoftmax::Impl::SoftmaxOp<V>>(problem, options);
    else
      launch<KokkosSoftmax::Impl::LogSumExpOp<V>>(problem, options);
    for (std::size_t i = 0; i < result.y.size(); ++i)
      if (row_values)
        std::memcpy(&result.y[i], y.data() + i * per_row, sizeof(float));
      else
        result.y[i] = value_of<Y>(y[entries ? at(i) : i]);
    return result;
  }

  static void expect_right(std::size_t count, std::size_t columns, bool side_by_side,
                           const Options& options = {}) {
    const Rows<float> rows = random_rows<X>(count, columns, static_cast<unsigned>(columns));
    const Expected expected = reference(rows, options.scale);
    for (const Function function : all_functions) {
      const Result got = run(function, rows, side_by_side, options);
      EXPECT_TRUE(is_accurate(function, rows, expected, got.y, 0, format_of_number<Y>()));
      if (function == Function::logsumexp && sizeof(Y) < sizeof(float)) {
        EXPECT_TRUE(is_accurate(function, rows, expected,
                                run(function, rows, side_by_side, options, true).y));
      }
      if (side_by_side && options.reproducible) {
        EXPECT_TRUE(same_bits(got.y, run(function, rows, false, options).y));
      }
      if (function == Function::logsumexp) continue;
      for (std::size_t r = 0; r < std::min<std::size_t>(count, 3); ++r) {  // finite entries
        const float* const row = rows.values.data() + r * columns;
        EXPECT_EQ(got.max[r], *std::max_element(row, row + columns));
      }
    }
  }

 private:
  template <class Op>
  static void launch(const typename KokkosSoftmax::Impl::RowArgs<V>::Problem& problem,
                     const Options& options) {
    const Exec exec;
    const KokkosSoftmax::Impl::RowArgs<V> arguments(problem, options);
    ASSERT_TRUE((KokkosSoftmax::Impl::host_vectors<Exec, Op>(exec, "test", arguments,
                                                             options.reproducible)));
    exec.fence();
  }
};

using HalfPairs = ::testing::Types<HalfPair<HostHalf, HostHalf>, HalfPair<HostHalf, float>,
                                   HalfPair<HostBhalf, HostBhalf>, HalfPair<HostBhalf, float>>;
TYPED_TEST_SUITE(HostVectors, HalfPairs);

TYPED_TEST(HostVectors, Rows) {
  for (const std::size_t columns : {1, 20, 100, 781, 9001})
    TestFixture::expect_right(37, columns, false);
  TestFixture::expect_right(1, 200'001, false);  // threads share the row
}

TYPED_TEST(HostVectors, RowsSideBySide) {
  for (const std::size_t columns : {2, 20, 781}) TestFixture::expect_right(1067, columns, true);
  TestFixture::expect_right(21, 9001, true);    // threads share the columns
  TestFixture::expect_right(1040, 4101, true);  // and those of two panels
}

TYPED_TEST(HostVectors, Reproducible) {
  const Options options{.reproducible = true};
  for (const std::size_t columns : {2, 20, 781})
    TestFixture::expect_right(67, columns, true, options);
  TestFixture::expect_right(2, 70'001, true, options);   // more than one span
  TestFixture::expect_right(1, 200'001, true, options);  // threads share the row
}

}  // namespace
}  // namespace KokkosSoftmax::Test
