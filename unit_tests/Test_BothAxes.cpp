// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Log-sum-exps along both axes of a matrix: right for all layouts, strides, shapes and values, with
// the same bits each time, on the caller's instance alone, and with its errors. On hosts, the
// kernels for GPUs are run, too.

#include <cmath>
#include <limits>
#include <support/BothAxes.hpp>
#include <support/Instances.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
using Strided = Kokkos::LayoutStride;

template <class C>
class BothAxes : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  using Sample = BothAxesSample<T>;

  /// Makes a call twice by run(call), and checks it.
  template <class Call, class Run>
  static ::testing::AssertionResult check_run(const Sample& sample, std::size_t offset,
                                              const Run& run) {
    const Exec exec;
    const Call call(sample.rows, offset);
    run(exec, call);
    exec.fence();
    auto result = call.is_right(sample);
    const auto first = call.results();
    run(exec, call);
    exec.fence();
    result = both(result, same_bits(call.results(), first), "the second call has other bits");
    if (!result)
      result << "\n  in " << sample.rows.count << " rows of " << sample.rows.columns
             << " columns, scale " << sample.scale << ", offset " << offset;
    return result;
  }

  /// A matrix of layout L and results of layout LR.
  template <class L, class LR>
  static ::testing::AssertionResult check(const Sample& sample, std::size_t offset) {
    using Call = BothAxesCall<Exec, X, L, LR>;
    return check_run<Call>(
        sample, offset, [&](const Exec& exec, const Call& call) { call.run(exec, sample.scale); });
  }

  /// The same on hosts with the kernels for GPUs, for chunks of `width` columns.
  template <class L, class LR, int width>
  static ::testing::AssertionResult check_panels(const Sample& sample) {
    using Call = BothAxesCall<Exec, X, L, LR>;
    return check_run<Call>(sample, 0, [&](const Exec& exec, const Call& call) {
      call.template run_panels<width>(exec, sample.scale);
    });
  }
  static ::testing::AssertionResult check_panels_on_hosts([[maybe_unused]] const Sample& sample) {
    auto result = ::testing::AssertionSuccess();
    if constexpr (is_host_space<Exec>) {
      result = check_panels<Left, Right, 1>(sample);
      if (result) result = check_panels<Strided, Strided, 1>(sample);
      constexpr int width = KokkosSoftmax::Impl::widest<X>;
      if (result && sample.rows.columns % width == 0)
        result = check_panels<Right, Right, width>(sample);
    }
    return result;
  }

  static ::testing::AssertionResult check_matrix(const Rows<T>& rows, double scale = 1) {
    const Sample sample(rows, scale);
    for (const std::size_t offset : {0, 1}) {
      auto result = check<Right, Right>(sample, offset);
      if (result) result = check<Left, Strided>(sample, offset);
      if (result) result = check<Strided, Left>(sample, offset);
      if (!result) return result;
    }
    return check_panels_on_hosts(sample);
  }

  /// A matrix whose entry in row r and column c is value(r, c), rounded to X.
  template <class Value>
  static Rows<T> matrix(std::size_t rows, std::size_t columns, const Value& value) {
    Rows<T> x{.count = rows, .columns = columns, .values = {}};
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        x.values.push_back(
            static_cast<T>(static_cast<X>(value(static_cast<double>(r), static_cast<double>(c)))));
    return x;
  }

  static constexpr T inf = std::numeric_limits<T>::infinity();
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();
};
TYPED_TEST_SUITE(BothAxes, SameTypeConfigs, ConfigName);

struct Size2 {
  std::size_t rows, columns;
};

TYPED_TEST(BothAxes, Extents) {
  using X = typename TypeParam::x_value;
  for (const std::size_t rows : {1, 3, 7, 8, 9, 33, 129})
    for (const std::size_t columns : {1, 2, 7, 16, 127, 128, 257, 264, 1025})
      EXPECT_TRUE(TestFixture::check_matrix(normal_rows<X>(rows, columns)));
}

// Columns in several parts, more panels than a team has threads, and rows and columns whose states
// are merged by one lane, by a lane of each thread, and by all lanes of a team.
TYPED_TEST(BothAxes, LargeMatrices) {
  using X = typename TypeParam::x_value;
  for (const auto& [rows, columns] :
       {Size2{3, 200001}, Size2{70, 20008}, Size2{1000, 1500}, Size2{20011, 24}, Size2{2050, 300},
        Size2{1024, 512}, Size2{309, 1000}, Size2{9, 160000}, Size2{6000, 130}})
    EXPECT_TRUE(TestFixture::check_matrix(normal_rows<X>(rows, columns)));
}

TYPED_TEST(BothAxes, Scale) {
  using X = typename TypeParam::x_value;
  auto rows = normal_rows<X>(67, 300);
  rows.values[400] = -TestFixture::inf;
  rows.values[1000] = TestFixture::inf;
  for (const double scale : {-0.75, 2.5, 1e-3, 0.0, -0.0})
    EXPECT_TRUE(TestFixture::check_matrix(rows, scale)) << scale;
}

TYPED_TEST(BothAxes, HostileRowsAndColumns) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {1, 5, 64, 300, 1025}) {
    const auto rows = hostile_rows<X>(columns);
    EXPECT_TRUE(TestFixture::check_matrix(rows));
    EXPECT_TRUE(TestFixture::check_matrix(transposed(rows)));
  }
}

// NaN and infinities in some rows and columns, alone and together; rows and columns of -inf.
TYPED_TEST(BothAxes, SpecialValues) {
  using X = typename TypeParam::x_value;
  constexpr auto inf = TestFixture::inf, nan = TestFixture::nan;
  for (const auto& [rows, columns] : {Size2{20, 30}, Size2{70, 520}}) {
    auto x = normal_rows<X>(rows, columns);
    const auto at = [&, width = columns ](std::size_t r, std::size_t c) -> auto& {
      return x.values[r * width + c];
    };
    for (std::size_t c = 0; c < columns; ++c) at(7, c) = -inf;
    for (std::size_t r = 0; r < rows; ++r) at(r, 9) = at(r, columns - 1) = -inf;
    EXPECT_TRUE(TestFixture::check_matrix(x));
    at(3, 5) = nan;
    at(4, columns - 2) = inf;
    at(rows - 1, 5) = inf;
    for (const double scale : {1.0, -2.0, 0.0})
      EXPECT_TRUE(TestFixture::check_matrix(x, scale)) << scale;
  }
}

// Numbers that callers put in place of -inf: at a third of the entries, and in a whole row and a
// whole column. Then special values beside them.
TYPED_TEST(BothAxes, LowEntries) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  const T low = static_cast<T>(static_cast<X>(sizeof(X) == 2 ? -30000.0f : -1e30f));
  auto x = normal_rows<X>(150, 600);
  const auto at = [&](std::size_t r, std::size_t c) -> T& { return x.values[r * 600 + c]; };
  for (std::size_t i = 0; i < x.values.size(); i += 3) x.values[i] = low;
  for (std::size_t r = 0; r < 150; ++r) at(r, 17) = low;
  for (std::size_t c = 0; c < 600; ++c) at(60, c) = low;
  EXPECT_TRUE(TestFixture::check_matrix(x));
  at(70, 300) = TestFixture::nan;
  at(80, 400) = TestFixture::inf;
  at(90, 17) = -low;
  EXPECT_TRUE(TestFixture::check_matrix(x));
}

// Rows and columns whose levels are so different that no reference serves all of them.
// Rows and columns whose maximum is a bit above what stands for all lower entries
// (ExpParts::lowest).
TYPED_TEST(BothAxes, MaximaJustAboveLowestOnes) {
  using T = typename TypeParam::value;
  const double low = sizeof(T) == 8 ? -1399999488.0 : -2.8e6;
  const double inf = TestFixture::inf;
  EXPECT_TRUE(TestFixture::check_matrix(TestFixture::matrix(
      33, 256, [&](double r, double c) { return c == 0 ? low + 1 + r : -inf; })));
  EXPECT_TRUE(TestFixture::check_matrix(TestFixture::matrix(
      200, 64, [&](double r, double c) { return r == 3 ? low + 1 + c : -inf; })));
}

// The largest exponents that aren't exceptions.
TYPED_TEST(BothAxes, HugeEntries) {
  const double large = 1488522232;
  for (const double entry : {large, large + 1, large + 2, large + 3})
    for (const int row : {3, 32})
      EXPECT_TRUE(TestFixture::check_matrix(TestFixture::matrix(
          33, 64, [&](double r, double c) { return r == row && c == 7 ? entry : r - c; })));
}

TYPED_TEST(BothAxes, Levels) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  for (const T step : {T(7), T(90), T(350), T(-500)})
    for (const bool along_rows : {false, true}) {
      auto rows = normal_rows<X>(77, 280);
      for (std::size_t i = 0; i < rows.values.size(); ++i) {
        const std::size_t level = along_rows ? i / rows.columns : i % rows.columns;
        T& value = rows.values[i];
        value = static_cast<T>(static_cast<X>(value + step * static_cast<T>(level % 64)));
        if (i % 5 == 0) value = -TestFixture::inf;
        if (i / rows.columns == 40 || i % rows.columns == 200) value = -TestFixture::inf;
      }
      EXPECT_TRUE(TestFixture::check_matrix(rows)) << step;
    }
}

// Rows and columns that differ by more than the exponential of their type can span.
TYPED_TEST(BothAxes, FarApart) {
  for (const double step : {3.0, 40.0, 700.0})
    for (const int direction : {0, 1, 2})
      EXPECT_TRUE(TestFixture::check_matrix(TestFixture::matrix(
          300, 520,
          [&](double r, double c) {
            const double distance = direction == 0 ? r : direction == 1 ? c : std::abs(r - 0.5 * c);
            return std::fmod(7 * r + 3 * c, 11) / 11 - step * distance;
          })))
          << step << ", " << direction;
}

// Sums of many terms, and maxima that rise or fall from row to row: a sum that is multiplied by a
// rounded factor at each step would lose digits.
TYPED_TEST(BothAxes, Ramps) {
  for (const double rise : {1e-3, 0.01, 1.0})
    EXPECT_TRUE(TestFixture::check_matrix(TestFixture::matrix(6000, 300, [&](double r, double c) {
      return rise * r - 0.01 * c;
    }))) << rise;
}

TYPED_TEST(BothAxes, LongRamps) {
  using X = typename TypeParam::x_value;
  const auto rows = ramp_rows<X>(30011);
  EXPECT_TRUE(TestFixture::check_matrix(rows));
  EXPECT_TRUE(TestFixture::check_matrix(transposed(rows)));
}

TYPED_TEST(BothAxes, WithoutEntries) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<T*, Exec> none("none", 0);
  const Exec exec;
  logsumexp_both_axes(exec, Kokkos::View<X**, Right, Exec>("x", 0, 0), none, none);
  for (const std::size_t count : {5, 1000})
    for (const bool has_rows : {true, false}) {
      Field<T, Exec> lse(place<Right>({count}));
      const auto view = lse.template view<Right, 1>();
      if (has_rows)
        logsumexp_both_axes(exec, Kokkos::View<X**, Right, Exec>("x", count, 0), view, none);
      else
        logsumexp_both_axes(exec, Kokkos::View<X**, Right, Exec>("x", 0, count), none, view);
      exec.fence();
      EXPECT_EQ(lse.read(), std::vector<T>(count, -TestFixture::inf));
      EXPECT_TRUE(lse.gaps_are_unchanged());
    }
}

TYPED_TEST(BothAxes, CallWithoutAnInstance) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Exec> x("x", 3, 4);  // zeros
  const Kokkos::View<T*, Exec> row_lse("row_lse", 3), column_lse("column_lse", 4);
  logsumexp_both_axes(x, row_lse, column_lse);
  logsumexp_both_axes(x, row_lse, column_lse, 2.0);
  Kokkos::fence();
  const auto rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), row_lse);
  const auto columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), column_lse);
  EXPECT_NEAR(rows(2), std::log(4.0), 1e-6);
  EXPECT_NEAR(columns(3), std::log(3.0), 1e-6);
}

TYPED_TEST(BothAxes, Errors) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using Vector = Kokkos::View<T*, Strided, Exec>;
  using Matrix = Kokkos::View<X**, Exec>;
  const Matrix x("x", 5, 7);
  const Vector rows = Kokkos::View<T*, Exec>("rows", 5),
               columns = Kokkos::View<T*, Exec>("columns", 7);
  const std::string name = "KokkosSoftmax::logsumexp_both_axes:";
  const Exec exec;
  EXPECT_TRUE(throws_with({name, "(7) of row_lse", "(5, 7)"},
                          [&] { logsumexp_both_axes(exec, x, columns, columns); }));
  EXPECT_TRUE(throws_with({name, "(5) of column_lse", "(5, 7)"},
                          [&] { logsumexp_both_axes(exec, x, rows, rows); }));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(throws_with({name, "scale = inf"},
                          [&] { logsumexp_both_axes(exec, x, rows, columns, infinity); }));
  const Kokkos::View<T*, Exec> memory("memory", 60);
  const auto part = [&](std::size_t first, std::size_t extent, std::size_t stride) {
    return Vector(memory.data() + first, Kokkos::LayoutStride(extent, stride));
  };
  EXPECT_TRUE(throws_with({name, "row_lse", "column_lse", "overlap"},
                          [&] { logsumexp_both_axes(exec, x, part(0, 5, 1), part(4, 7, 1)); }));
  EXPECT_TRUE(throws_with({name, "row_lse", "column_lse", "overlap"},
                          [&] { logsumexp_both_axes(exec, x, part(0, 5, 2), part(1, 7, 3)); }));
  logsumexp_both_axes(exec, x, part(0, 5, 2), part(1, 7, 2));  // interleaved
  if constexpr (std::is_same_v<X, T>) {
    const Matrix inside(memory.data(), 5, 7);
    EXPECT_TRUE(throws_with({name, "x at", "row_lse", "overlap"},
                            [&] { logsumexp_both_axes(exec, inside, part(34, 5, 1), columns); }));
    EXPECT_TRUE(throws_with({name, "x at", "column_lse", "overlap"},
                            [&] { logsumexp_both_axes(exec, inside, rows, part(0, 7, 1)); }));
    logsumexp_both_axes(exec, inside, part(35, 5, 1), part(40, 7, 1));
  }
  exec.fence();
}

/// Checks that a call is two kernels with this label on the instance, and nothing else.
void expect_two_kernels(const Events& events, std::uint32_t device, const std::string& label) {
  EXPECT_EQ(events.kernels.size(), 2u);
  for (const auto& kernel : events.kernels) {
    EXPECT_EQ(kernel.device, device) << kernel.label;
    EXPECT_EQ(kernel.label.rfind("KokkosSoftmax::" + label + "[", 0), 0u) << kernel.label;
  }
  EXPECT_EQ(events.fences, std::vector<std::string>{});
  EXPECT_EQ(events.allocations, std::vector<std::string>{});
  EXPECT_EQ(events.copies, std::vector<std::string>{});
}

// After the first call. Matrices of few rows or columns are left to logsumexp.
TYPED_TEST(BothAxes, OnTheCallersInstanceAlone) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  for (const Size2& size : {Size2{100, 300}, Size2{1, 5000}, Size2{3000, 1}}) {
    const BothAxesCall<Exec, X> call(normal_rows<X>(size.rows, size.columns));
    const bool is_small = size.rows < 8 || size.columns < 8;
    for (const Exec& exec : other_instances(Exec{})) {
      const std::uint32_t device = Kokkos::Tools::Experimental::device_id(exec);
      call.run(exec);
      exec.fence();
      const Events events = record([&] { call.run(exec); });
      exec.fence();
      expect_two_kernels(events, device,
                         is_host_space<Exec> || is_small ? "logsumexp" : "logsumexp_both_axes");
      if constexpr (is_host_space<Exec>) {
        call.template run_panels<1>(exec);
        expect_two_kernels(record([&] { call.template run_panels<1>(exec); }), device,
                           "logsumexp_both_axes");
      }
    }
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
