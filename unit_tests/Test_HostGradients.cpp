// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector kernels of hosts for backward passes and gradients, called directly: for every
// instruction set that this processor has, with streamed output (which a launch takes only for
// large arrays), for contiguous rows and for rows of any strides.

#include <gtest/gtest.h>

#include <cmath>
#include <host/Isa.hpp>
#include <limits>
#include <memory>
#include <random>
#include <reference/Backward.hpp>
#include <reference/Loss.hpp>
#include <support/Guarded.hpp>
#include <support/HostNumbers.hpp>

namespace KokkosSoftmax::Test {
namespace {

using namespace KokkosSoftmax::Impl;

constexpr std::size_t all_columns[] = {1, 3, 7, 16, 33, 64, 100, 781, 4099};

enum class Layout {
  rows,          // contiguous
  side_by_side,  // the rows of a column
  apart          // the same with one number between two of them
};

/// Where the entries of a job's arrays are.
struct Places {
  Layout layout;
  std::size_t rows;
  std::size_t columns;

  bool has_rows() const { return layout == Layout::rows; }
  std::int64_t row_stride() const {
    return static_cast<std::int64_t>(has_rows() ? columns : neighbour());
  }
  std::int64_t column_stride() const {
    return static_cast<std::int64_t>(has_rows() ? 1 : neighbour() * rows);
  }
  std::size_t size() const { return columns * rows * neighbour(); }
  std::size_t of(std::size_t row, std::size_t column) const {
    return has_rows() ? row * columns + column : (column * rows + row) * neighbour();
  }
  friend std::ostream& operator<<(std::ostream& out, const Places& p) {
    constexpr const char* names[] = {"rows", "side by side", "apart"};
    return out << p.rows << " x " << p.columns << ", " << names[static_cast<int>(p.layout)];
  }

 private:
  std::size_t neighbour() const { return layout == Layout::apart ? 2 : 1; }
};

template <class X_>
class HostGradients : public ::testing::Test {
 protected:
  using X = X_;
  using T = HostCompute<X>;

  /// Numbers of [low, high) that X can hold.
  static Rows<T> random(const Places& places, double low, double high, unsigned seed) {
    Rows<T> rows{.count = places.rows, .columns = places.columns, .values = {}};
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> number(low, high);
    for (std::size_t i = 0; i < places.rows * places.columns; ++i)
      rows.values.push_back(value_of(to_number<X>(static_cast<T>(number(engine)))));
    return rows;
  }

  static void put(const Rows<T>& rows, const Places& places, X* array) {
    for (std::size_t row = 0, i = 0; row < places.rows; ++row)
      for (std::size_t c = 0; c < rows.columns; ++c, ++i)
        array[places.of(row, c)] = to_number<X>(rows.values[i]);
  }
  static std::vector<T> taken(const Places& places, const X* array) {
    std::vector<T> values;
    for (std::size_t row = 0; row < places.rows; ++row)
      for (std::size_t c = 0; c < places.columns; ++c)
        values.push_back(value_of(array[places.of(row, c)]));
    return values;
  }

  /// Calls body(isa, places, streams, shift) for all of them.
  template <class Body>
  static void for_each(const Body& body) {
    for (const HostIsa& isa : compiled_isas()) {
      if (!isa.runs_here()) continue;
      for (const std::size_t columns : all_columns)
        for (const std::size_t shift : {0, 1, 5})
          for (const bool streams : {false, true}) {
            body(isa, Places{Layout::rows, 19, columns}, streams, shift);
            body(isa, Places{Layout::apart, 19, columns}, streams, shift);
            body(isa, Places{Layout::side_by_side, 19, columns}, streams, shift);
            // Panels of several groups of vectors, without and with columns of whole cache lines.
            if (columns > 100) continue;
            body(isa, Places{Layout::side_by_side, 143, columns}, streams, shift);
            body(isa, Places{Layout::side_by_side, 160, columns}, streams, shift);
          }
    }
  }
};
using Numbers = ::testing::Types<float, double, HostHalf, HostBhalf>;
TYPED_TEST_SUITE(HostGradients, Numbers);

template <class Job, class Kernels>
void run_backward(const Kernels& kernels, const Job& job, bool has_rows) {
  const std::int64_t middle = job.columns / 3;
  if (has_rows) return kernels.rows(job);
  const auto sums = std::make_unique<HostBackwardSums[]>(2);
  kernels.sum_panel(job, 0, middle, sums[0]);
  kernels.sum_panel(job, middle, job.columns, sums[1]);
  kernels.merge_panels(sums[0], sums[1], job.rows);
  kernels.write_panel(job, middle, job.columns, sums[0]);
  kernels.write_panel(job, 0, middle, sums[0]);
}

TYPED_TEST(HostGradients, BackwardPasses) {
  using X = TypeParam;
  using T = HostCompute<X>;
  for (const auto function :
       {BackwardFunction::softmax_backward, BackwardFunction::log_softmax_backward}) {
    const bool is_log = function == BackwardFunction::log_softmax_backward;
    TestFixture::for_each([&](const HostIsa& isa, const Places& places, bool streams,
                              std::size_t shift) {
      const auto columns = static_cast<double>(places.columns);
      const Rows<T> y = is_log ? TestFixture::random(places, -6, -1, 1)
                               : TestFixture::random(places, 0, 2 / columns, 1);
      const Rows<T> dy = TestFixture::random(places, -3, 4, 2);
      Guarded<X> y_array(places.size(), 1), dy_array(places.size(), 2), dx(places.size(), shift);
      TestFixture::put(y, places, y_array.data());
      TestFixture::put(dy, places, dy_array.data());
      const HostBackwardJob<X, T> job{.y = y_array.data(),
                                      .dy = dy_array.data(),
                                      .dx = dx.data(),
                                      .y_stride = places.row_stride(),
                                      .dy_stride = places.row_stride(),
                                      .dx_stride = places.row_stride(),
                                      .y_column_stride = places.column_stride(),
                                      .dy_column_stride = places.column_stride(),
                                      .dx_column_stride = places.column_stride(),
                                      .rows = static_cast<std::int64_t>(places.rows),
                                      .columns = static_cast<std::int64_t>(places.columns),
                                      .scale = T(-0.75),
                                      .is_log = is_log,
                                      .streams = streams};
      run_backward(isa.kernels<X, X>().backward, job, places.has_rows());
      ASSERT_TRUE(are_near(TestFixture::taken(places, dx.data()),
                           reference_backward(function, y, dy, -0.75), format_of_number<X>()))
          << isa.name << ", " << places << ", streams " << streams << ", shift " << shift;
      ASSERT_TRUE(dx.guards_are_intact()) << isa.name << ", " << places;
    });
  }
}

TYPED_TEST(HostGradients, Gradients) {
  using X = TypeParam;
  using T = HostCompute<X>;
  TestFixture::for_each([&](const HostIsa& isa, const Places& places, bool streams,
                            std::size_t shift) {
    const Rows<T> x = TestFixture::random(places, -4, 4, 3);
    constexpr double scale = 1.5;
    std::vector<T> lse, factor, derivative, offset, label, of_label;
    const bool has_labels = shift % 2 == 0;
    for (std::size_t row = 0; row < places.rows; ++row) {
      label.push_back(row % 5 == 4 ? T(-1) : static_cast<T>(row * 7 % places.columns));
      of_label.push_back(T(0.5) + static_cast<T>(row % 8));
      derivative.push_back(static_cast<T>(row % 19) - T(9));
      lse.push_back(T(5) + static_cast<T>(row % 19) / T(4));
      factor.push_back(static_cast<T>(scale) * derivative.back());
      offset.push_back(row % 3 == 0 ? T(0) : T(0.125));
    }
    auto expected = reference_gradient(scaled_rows(x, scale), scale, lse, derivative, nullptr);
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      const std::size_t row = i / places.columns;
      const auto less = static_cast<long double>(factor[row]) * offset[row];
      expected.values[i] -= less;
      expected.bounds[i] += 4 * std::numeric_limits<T>::epsilon() * std::fabs(less);
      if (has_labels && label[row] == static_cast<T>(i % places.columns)) {
        expected.values[i] = of_label[row];
        expected.bounds[i] = 0;
      }
    }
    Guarded<X> x_array(places.size(), 1), dx(places.size(), shift);
    TestFixture::put(x, places, x_array.data());
    const HostGradientJob<X, T> job{.x = x_array.data(),
                                    .dx = dx.data(),
                                    .x_stride = places.row_stride(),
                                    .dx_stride = places.row_stride(),
                                    .x_column_stride = places.column_stride(),
                                    .dx_column_stride = places.column_stride(),
                                    .rows = static_cast<std::int64_t>(places.rows),
                                    .columns = static_cast<std::int64_t>(places.columns),
                                    .factors = {T(scale), T(1), false, false},
                                    .lse = lse.data(),
                                    .factor = factor.data(),
                                    .offset = offset.data(),
                                    .label = has_labels ? label.data() : nullptr,
                                    .of_label = of_label.data(),
                                    .streams = streams};
    const auto& kernels = isa.kernels<X, X>().gradient;
    (places.has_rows() ? kernels.rows : kernels.panels)(job);
    ASSERT_TRUE(are_near(TestFixture::taken(places, dx.data()), expected, format_of_number<X>()))
        << isa.name << ", " << places << ", streams " << streams << ", shift " << shift;
    ASSERT_TRUE(dx.guards_are_intact()) << isa.name << ", " << places;
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Test
