// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// logsumexp_both_axes: right for every layout, extent and scale, for special and huge entries and
// for slow ramps, with the same bits each time, on the caller's instance alone, and with its
// errors.

#include <cmath>
#include <launch/BothAxesLaunch.hpp>
#include <limits>
#include <support/Check.hpp>
#include <support/Instances.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
using Strided = Kokkos::LayoutStride;

template <class T>
Rows<T> transposed(const Rows<T>& x) {
  Rows<T> result{.count = x.columns, .columns = x.count, .values = std::vector<T>(x.values.size())};
  for (std::size_t i = 0; i < x.count; ++i)
    for (std::size_t j = 0; j < x.columns; ++j)
      result.values[j * x.count + i] = x.values[i * x.columns + j];
  return result;
}

/// A matrix and its results.
template <class X, class Exec>
struct BothAxesCall {
  using T = typename KokkosSoftmax::Impl::ValueTypes<X>::Compute;

  Field<X, Exec> x;
  Field<T, Exec> row_lse, column_lse;

  template <class LX, class LRows>
  static BothAxesCall make(const Rows<T>& rows, std::size_t offset) {
    BothAxesCall call{Field<X, Exec>(place<LX>({rows.count, rows.columns}, offset)),
                      Field<T, Exec>(place<LRows>({rows.count}, offset)),
                      Field<T, Exec>(place<LRows>({rows.columns}, offset))};
    call.x.assign(rows.values);
    return call;
  }
  template <class LX, class LRows>
  void run(const Exec& exec, double scale) const {
    logsumexp_both_axes(exec, x.template view<LX, 2, const X>(), row_lse.template view<LRows, 1>(),
                        column_lse.template view<LRows, 1>(), scale);
  }
  /// The same with the kernels for GPUs, with `width` columns per chunk.
  template <class LX, class LRows, int width>
  void run_panels(const Exec& exec, double scale) const {
    using namespace KokkosSoftmax::Impl;
    using OneLane = Shape<1, 1, 8 / width, width, AccessMode::guarded_vectors, 2, 2>;
    launch_both_axes_as<Exec, ValueTypes<X>, OneLane>(
        exec,
        checked_both_axes(input_array<X>(x.template view<LX, 2, const X>()),
                          strided_array(row_lse.template view<LRows, 1>()),
                          strided_array(column_lse.template view<LRows, 1>()), scale),
        scale);
  }
};

template <class C>
class BothAxes : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  using Call = BothAxesCall<X, Exec>;

  /// A matrix, and what the results are for a scale. The reference takes longer than the calls.
  struct Sample {
    Rows<T> rows, columns;
    double scale;
    Expected of_rows, of_columns;

    Sample(const Rows<T>& rows_, double scale_)
        : rows(rows_),
          columns(transposed(rows_)),
          scale(scale_),
          of_rows(reference(rows, scale)),
          of_columns(reference(columns, scale)) {}
  };

  /// Makes the call twice by run(call), and checks the results and all memory beside them.
  template <class LX, class LRows, class Run>
  static ::testing::AssertionResult check_run(const Sample& sample, std::size_t offset,
                                              const Run& run) {
    const auto call = Call::template make<LX, LRows>(sample.rows, offset);
    run(call);
    const auto of_rows = call.row_lse.read(), of_columns = call.column_lse.read();
    auto result = is_accurate(Function::logsumexp, sample.rows, sample.of_rows, of_rows);
    if (!result) result << "\n  along the rows";
    if (result) {
      result = is_accurate(Function::logsumexp, sample.columns, sample.of_columns, of_columns);
      if (!result) result << "\n  along the columns";
    }
    result = both(result, call.row_lse.gaps_are_unchanged() && call.column_lse.gaps_are_unchanged(),
                  "something beside the results was written");
    result = both(result, call.x.is_unchanged(), "x was written");
    run(call);
    result = both(result, same_bits(call.row_lse.read(), of_rows), "other bits along the rows");
    result =
        both(result, same_bits(call.column_lse.read(), of_columns), "other bits along the columns");
    if (!result)
      result << "\n  in " << sample.rows.count << " rows of " << sample.rows.columns
             << " columns, scale " << sample.scale << ", offset " << offset;
    return result;
  }

  template <class LX, class LRows>
  static ::testing::AssertionResult check(const Sample& sample, std::size_t offset = 0) {
    return check_run<LX, LRows>(sample, offset, [&](const Call& call) {
      const Exec exec;
      call.template run<LX, LRows>(exec, sample.scale);
      exec.fence();
    });
  }

  /// The same with the kernels for GPUs on a host, which run there with one lane.
  template <class LX, int width>
  static ::testing::AssertionResult check_panels(const Sample& sample) {
    return check_run<LX, Right>(sample, 0, [&](const Call& call) {
      call.template run_panels<LX, Right, width>(Exec{}, sample.scale);
    });
  }
  static ::testing::AssertionResult check_panels_on_hosts([[maybe_unused]] const Sample& sample) {
    auto result = ::testing::AssertionSuccess();
    if constexpr (is_host_space<Exec>) {
      result = check_panels<Left, 1>(sample);
      constexpr int width = KokkosSoftmax::Impl::widest<X>;
      if (result && sample.rows.columns % width == 0) result = check_panels<Right, width>(sample);
    }
    return result;
  }

  /// All layouts.
  static ::testing::AssertionResult check_matrix(const Rows<T>& rows, double scale = 1.0) {
    const Sample sample(rows, scale);
    for (const std::size_t offset : {0, 1}) {
      auto result = check<Right, Right>(sample, offset);
      if (result) result = check<Left, Strided>(sample, offset);
      if (result) result = check<Strided, Left>(sample, offset);
      if (!result) return result;
    }
    return check_panels_on_hosts(sample);
  }
};
TYPED_TEST_SUITE(BothAxes, SameTypeConfigs, ConfigName);

struct Size2 {
  std::size_t rows, columns;
};

TYPED_TEST(BothAxes, Extents) {
  using X = typename TypeParam::x_value;
  for (const std::size_t rows : {1, 2, 3, 31, 32, 33, 129})
    for (const std::size_t columns : {1, 2, 7, 16, 130, 256, 264, 1025})
      EXPECT_TRUE(TestFixture::check_matrix(normal_rows<X>(rows, columns)));
}

// Columns in several parts, and more panels than a team has threads.
TYPED_TEST(BothAxes, LargeMatrices) {
  using X = typename TypeParam::x_value;
  for (const auto& [rows, columns] :
       {Size2{3, 200001}, Size2{70, 20008}, Size2{1000, 1500}, Size2{20011, 24}})
    EXPECT_TRUE(TestFixture::check_matrix(normal_rows<X>(rows, columns)));
}

TYPED_TEST(BothAxes, Scale) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity();
  auto rows = normal_rows<X>(67, 300);
  rows.values[400] = -inf;
  rows.values[1000] = inf;
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

// Rows and columns whose levels are so different that no reference serves all of them.
TYPED_TEST(BothAxes, Levels) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity();
  for (const T step : {T(7), T(90), T(350), T(-500)})
    for (const bool along_rows : {false, true}) {
      auto rows = normal_rows<X>(77, 280);
      for (std::size_t i = 0; i < rows.values.size(); ++i) {
        const std::size_t level = along_rows ? i / rows.columns : i % rows.columns;
        T& value = rows.values[i];
        value = static_cast<T>(static_cast<X>(value + step * static_cast<T>(level % 64)));
        if (i % 5 == 0) value = -inf;
        if (i / rows.columns == 40 || i % rows.columns == 200) value = -inf;
      }
      EXPECT_TRUE(TestFixture::check_matrix(rows)) << step;
    }
}

// Rows and columns that differ by more than the exponential of their type can span.
TYPED_TEST(BothAxes, FarApart) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  for (const double step : {3.0, 40.0, 700.0})
    for (const int direction : {0, 1, 2}) {
      Rows<T> x{.count = 300, .columns = 520, .values = {}};
      for (std::size_t r = 0; r < x.count; ++r)
        for (std::size_t c = 0; c < x.columns; ++c) {
          const double distance =
              direction == 0   ? static_cast<double>(r)
              : direction == 1 ? static_cast<double>(c)
                               : std::abs(static_cast<double>(r) - 0.5 * static_cast<double>(c));
          const double noise = static_cast<double>((r * 7 + c * 3) % 11) / 11;
          x.values.push_back(static_cast<T>(static_cast<X>(noise - step * distance)));
        }
      EXPECT_TRUE(TestFixture::check_matrix(x)) << step << ", " << direction;
    }
}

// Numbers that callers put in place of -inf, and special values at a few entries.
TYPED_TEST(BothAxes, LowAndSpecialEntries) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T low = sizeof(X) == 2 ? T(-30000) : T(-1e30);
  auto rows = normal_rows<X>(150, 600);
  for (std::size_t i = 0; i < rows.values.size(); i += 3)
    rows.values[i] = static_cast<T>(static_cast<X>(low));
  for (std::size_t i = 0; i < 150; ++i) rows.values[i * 600 + 17] = static_cast<T>(X(low));
  for (std::size_t j = 0; j < 600; ++j) rows.values[60 * 600 + j] = static_cast<T>(X(low));
  EXPECT_TRUE(TestFixture::check_matrix(rows));
  rows.values[70 * 600 + 300] = nan;
  rows.values[80 * 600 + 400] = inf;
  rows.values[90 * 600 + 17] = static_cast<T>(X(-low));
  EXPECT_TRUE(TestFixture::check_matrix(rows));
}

// A sum that is multiplied at each step would lose digits.
TYPED_TEST(BothAxes, SlowRamps) {
  using X = typename TypeParam::x_value;
  const auto rows = ramp_rows<X>(30011);
  EXPECT_TRUE(TestFixture::check_matrix(rows));
  EXPECT_TRUE(TestFixture::check_matrix(transposed(rows)));
}

TYPED_TEST(BothAxes, NoRowsAndNoColumns) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Exec> no_columns("x", 2, 0), no_rows("x", 0, 2), nothing("x", 0, 0);
  const Kokkos::View<T*, Exec> two("two", 2), other_two("two", 2), none("none", 0);
  const Exec exec;
  logsumexp_both_axes(exec, no_columns, two, none);
  logsumexp_both_axes(exec, no_rows, none, other_two);
  logsumexp_both_axes(exec, nothing, none, none);
  exec.fence();
  for (const auto& view : {two, other_two}) {
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(on_host(i), -std::numeric_limits<T>::infinity());
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

TYPED_TEST(BothAxes, OnTheCallersInstanceAlone) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  using Call = BothAxesCall<X, Exec>;
  for (const Extents& extents : {Extents{100, 300}, Extents{1, 5000}, Extents{3000, 1}}) {
    const auto call = Call::template make<Right, Right>(normal_rows<X>(extents[0], extents[1]), 0);
    for (const Exec& exec : other_instances(Exec{})) {
      call.template run<Right, Right>(exec, 1.0);
      exec.fence();
      const Events events = record([&] { call.template run<Right, Right>(exec, 1.0); });
      exec.fence();
      EXPECT_EQ(events.kernels.size(), 2u);
      for (const auto& kernel : events.kernels) {
        EXPECT_EQ(kernel.device, Kokkos::Tools::Experimental::device_id(exec)) << kernel.label;
        EXPECT_EQ(kernel.label.rfind("KokkosSoftmax::logsumexp_both_axes[", 0), 0u) << kernel.label;
      }
      EXPECT_EQ(events.fences, std::vector<std::string>{});
      EXPECT_EQ(events.allocations, std::vector<std::string>{});
      EXPECT_EQ(events.copies, std::vector<std::string>{});
    }
  }
}

// The parts of a matrix depend on its extents alone.
TYPED_TEST(BothAxes, SameBitsWithAnyNumberOfThreads) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  if constexpr (is_host_space<Exec>) {
    const auto rows = normal_rows<X>(700, 3000);
    const auto call = BothAxesCall<X, Exec>::template make<Right, Right>(rows, 0);
    call.template run<Right, Right>(Exec{}, 1.0);
    const auto of_rows = call.row_lse.read(), of_columns = call.column_lse.read();
    call.template run<Right, Right>(instance_of_many_threads<Exec>(), 1.0);
    EXPECT_TRUE(same_bits(call.row_lse.read(), of_rows));
    EXPECT_TRUE(same_bits(call.column_lse.read(), of_columns));
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
