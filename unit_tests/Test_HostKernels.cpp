// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector kernels of hosts, called directly: for every instruction set that this processor has,
// and with jobs that a launch makes only for large arrays (streamed output) or for many threads
// (spans of a row). All other tests call the kernels of one instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <future>
#include <host/Isa.hpp>
#include <limits>
#include <random>
#include <reference/Accuracy.hpp>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

using namespace KokkosSoftmax::Impl;

template <class T>
const HostKernelTable<T>& kernels_of(const HostIsa& isa) {
  if constexpr (std::is_same_v<T, float>)
    return *isa.float_kernels;
  else
    return *isa.double_kernels;
}

/// Numbers of [-20, 20), with rows of special values among them.
template <class T>
Rows<T> random_rows(std::size_t count, std::size_t columns, unsigned seed) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> distribution(-20, 20);
  Rows<T> rows{count, columns, std::vector<T>(count * columns)};
  for (T& v : rows.values) v = distribution(random);
  const T specials[] = {infinity, -infinity, std::numeric_limits<T>::quiet_NaN(), T(9e8), T(-9e8)};
  for (std::size_t r = 3; r < count; r += 3)
    rows.values[r * columns + random() % columns] = specials[r / 3 % std::size(specials)];
  if (count > 4) std::fill_n(rows.values.begin() + 4 * columns, columns, -infinity);
  if (count > 5)  // a slow ramp, for which the reference is raised again and again
    for (std::size_t c = 0; c < columns; ++c)
      rows.values[5 * columns + c] = T(30) * static_cast<T>(c) / static_cast<T>(columns);
  return rows;
}

/// An array between guard zones, `shift` elements behind a multiple of 64 bytes.
template <class T>
class Guarded {
 public:
  Guarded(std::size_t size, std::size_t shift) : m_size(size) {
    m_all.assign(size + 2 * zone + 64, guard);
    const auto address = reinterpret_cast<std::uintptr_t>(m_all.data() + zone);
    m_begin = zone + (-address & 63) / sizeof(T) + shift;
  }
  T* data() { return m_all.data() + m_begin; }
  bool guards_are_intact() const {
    return std::all_of(m_all.begin(), m_all.begin() + m_begin, [](T v) { return v == guard; }) &&
           std::all_of(m_all.begin() + m_begin + m_size, m_all.end(),
                       [](T v) { return v == guard; });
  }

 private:
  static constexpr T guard = T(-12345);
  static constexpr std::size_t zone = 128;
  std::size_t m_size;
  std::size_t m_begin;
  std::vector<T> m_all;
};

enum class Way { whole, parts };

struct Case {
  std::size_t rows, columns, shift;
  bool streams, zero_empty_rows;
  double scale;
  Way way;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.rows << " x " << c.columns << ", shift " << c.shift << ", streams " << c.streams
             << ", zero " << c.zero_empty_rows << ", scale " << c.scale << ", parts "
             << (c.way == Way::parts);
}

template <class T>
class HostKernels : public ::testing::Test {
 protected:
  static const Impl::HostKernels<T>& of(const HostIsa& isa, Function function) {
    const HostKernelTable<T>& table = kernels_of<T>(isa);
    return function == Function::softmax       ? table.softmax
           : function == Function::log_softmax ? table.log_softmax
                                               : table.logsumexp;
  }

  template <class Job>
  static void set_common(Job& job, const Case& c, std::vector<T>& lse, std::vector<T>& max) {
    const T scale = static_cast<T>(c.scale);
    job.factors = {scale, T(1), scale == T(1)};
    if (c.scale == 0)
      job.factors = {std::numeric_limits<T>::min(), std::numeric_limits<T>::min(), false};
    job.lse = {lse.data(), 1};
    job.max = {max.data(), 1};
    job.zero_empty_rows = c.zero_empty_rows;
    job.streams = c.streams;
  }

  static void run_rows(const Impl::HostKernels<T>& kernels, const HostRowsJob<T, T, T>& job,
                       Way way) {
    if (way == Way::whole) return kernels.rows(job);
    for (std::int64_t r = 0; r < job.rows; ++r) {
      const std::int64_t middle = job.columns / 3;
      HostState<T> row = kernels.reduce(job, r, 0, middle);
      kernels.merge(row, kernels.reduce(job, r, middle, job.columns));
      kernels.finish(job, r, row);
      kernels.write(job, r, middle, job.columns, row);
      kernels.write(job, r, 0, middle, row);
    }
  }

  static void run_panels(const Impl::HostKernels<T>& kernels, const HostPanelsJob<T, T, T>& job,
                         Way way) {
    if (way == Way::whole) return kernels.panels(job);
    std::vector<HostPanelStates<T>> states(3);
    const std::int64_t middle = job.columns / 3;
    for (std::int64_t r = 0; r < job.rows; r += host_panel_rows) {
      const std::int64_t rows = std::min(host_panel_rows, job.rows - r);
      kernels.reduce_panel(job, r, rows, 0, middle, states[0]);
      kernels.reduce_panel(job, r, rows, middle, job.columns, states[1]);
      kernels.merge_panel(states[0], states[1], rows);
      kernels.finish_panel(job, r, rows, states[0]);
      states[2] = states[0];
      kernels.write_panel(job, r, rows, 0, middle, states[0]);
      kernels.write_panel(job, r, rows, middle, job.columns, states[2]);
    }
  }

  static void expect_right(const HostIsa& isa, Function function, bool side_by_side, const Case& c,
                           const Rows<T>& rows, const Expected& expected) {
    const bool entries = function != Function::logsumexp;
    const std::size_t size = c.rows * c.columns;
    Guarded<T> x(size, c.shift), y(entries ? size : c.rows, c.shift);
    std::vector<T> lse(c.rows), max(c.rows), buffer_memory(host_buffer_size + 64);
    const auto at = [&](std::size_t i) {
      return side_by_side ? i % c.columns * c.rows + i / c.columns : i;
    };
    for (std::size_t i = 0; i < size; ++i) x.data()[at(i)] = rows.values[i];
    if (side_by_side) {
      HostPanelsJob<T, T, T> job;
      set_common(job, c, lse, max);
      job.x = x.data();
      job.y = y.data();
      job.x_column_stride = job.y_column_stride = static_cast<std::int64_t>(c.rows);
      job.y_stride = 1;
      job.rows = static_cast<std::int64_t>(c.rows);
      job.columns = static_cast<std::int64_t>(c.columns);
      run_panels(of(isa, function), job, c.way);
    } else {
      HostRowsJob<T, T, T> job;
      set_common(job, c, lse, max);
      job.x = x.data();
      job.y = y.data();
      job.x_stride = static_cast<std::int64_t>(c.columns);
      job.y_stride = entries ? job.x_stride : 1;
      job.rows = static_cast<std::int64_t>(c.rows);
      job.columns = static_cast<std::int64_t>(c.columns);
      const auto address = reinterpret_cast<std::uintptr_t>(buffer_memory.data());
      job.buffer = buffer_memory.data() + (-address & 63) / sizeof(T);
      run_rows(of(isa, function), job, c.way);
    }
    std::vector<T> got(entries ? size : c.rows);
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = y.data()[entries ? at(i) : i];
    ASSERT_TRUE(is_accurate(function, rows, expected, got)) << isa.name << ": " << c;
    ASSERT_TRUE(y.guards_are_intact()) << isa.name << ": " << c;
    if (!entries) return;
    for (std::size_t r = 0; r < c.rows; ++r)
      ASSERT_TRUE(is_max_of_row(rows, r, c.scale, max[r]))
          << isa.name << ": " << c << ", row " << r << ": " << max[r];
    auto beside = expected;  // NaN for rows with +inf
    for (auto& v : beside.logsumexp)
      if (v == std::numeric_limits<long double>::infinity())
        v = std::numeric_limits<long double>::quiet_NaN();
    ASSERT_TRUE(is_accurate(Function::logsumexp, rows, beside, lse)) << isa.name << ": " << c;
  }

  /// Whether `got` is the maximum of the values of a row; NaN if there is one, and no +inf.
  static bool is_max_of_row(const Rows<T>& rows, std::size_t r, double scale, T got) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    T max = -infinity;
    bool has_nan = false;
    for (std::size_t c = 0; c < rows.columns; ++c) {
      const T x = rows.values[r * rows.columns + c];
      const T v = scale == 0 && std::isfinite(x) ? T(0)
                  : scale == 0 || std::isnan(x)  ? x
                                                 : static_cast<T>(scale) * x;
      has_nan |= std::isnan(v);
      max = std::max(max, std::isnan(v) ? -infinity : v);
    }
    if (has_nan && max != infinity) return std::isnan(got);
    return scale == 0 && std::isfinite(max)
               ? std::fabs(got) < 1e-60 || (sizeof(T) == 4 && std::fabs(got) < 1e-30)
               : got == max;
  }

  /// All instruction sets and functions, whole rows and parts of rows.
  static void expect_right(bool side_by_side, Case c) {
    const Rows<T> rows = random_rows<T>(c.rows, c.columns, static_cast<unsigned>(c.columns));
    const auto expected =
        reference(rows, c.scale, c.zero_empty_rows ? EmptyRows::zero : EmptyRows::nan);
    for (const HostIsa& isa : compiled_isas()) {
      if (!isa.runs_here()) continue;
      for (const Function function : all_functions)
        for (const Way way : {Way::whole, Way::parts})
          for (const bool streams : {false, true}) {
            if (way == Way::parts && c.columns < 3) continue;
            c.streams = streams;
            c.way = way;
            c.shift = c.columns % 2 == 0 ? 0 : 3 + (streams ? 2 : 0);
            expect_right(isa, function, side_by_side, c, rows, expected);
            if (c.columns > 20000) continue;
            c.shift = 1;
            expect_right(isa, function, side_by_side, c, rows, expected);
          }
    }
  }

  static void expect_right(bool side_by_side, const std::vector<std::size_t>& all_columns) {
    for (const std::size_t columns : all_columns) {
      const std::size_t few = columns > 20000 ? 6 : 40 + columns % 7;
      const bool several_panels = side_by_side && columns > 30 && columns < 100;
      Case c{several_panels ? 1100 + columns % 7 : few,
             columns,
             0,
             false,
             columns % 4 == 0,
             1,
             Way::whole};
      expect_right(side_by_side, c);
      c.scale = columns % 3 == 0 ? 0 : -0.75;
      expect_right(side_by_side, c);
    }
  }
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostKernels, Types);

TYPED_TEST(HostKernels, Rows) {
  std::vector<std::size_t> columns;
  for (std::size_t n = 1; n <= 131; ++n) columns.push_back(n);
  for (const std::size_t n :
       {200, 511, 512, 513, 1000, 1024, 2049, 5000, 8192, 8193, 20011, 65536, 70001, 140000})
    columns.push_back(n);
  TestFixture::expect_right(false, columns);
}

TYPED_TEST(HostKernels, RowsSideBySide) {
  TestFixture::expect_right(
      true, {1, 2, 3, 5, 8, 9, 15, 16, 17, 24, 31, 33, 64, 65, 100, 300, 1000, 5001});
}

/// The distance in units in the last place of `exact`.
template <class T, class Exact>
Exact ulps(T got, Exact exact) {
  const T rounded = std::fabs(static_cast<T>(exact));
  const Exact ulp = std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
  return std::fabs(got - exact) / ulp;
}

/// exp is tested where the result is a normal number.
TYPED_TEST(HostKernels, ExpAndLog) {
  using T = TypeParam;
  std::mt19937 random(7);
  std::uniform_real_distribution<T> below(0, std::is_same_v<T, float> ? T(86) : T(700));
  std::vector<T> v(4099), result(v.size());
  for (const HostIsa& isa : compiled_isas()) {
    if (!isa.runs_here()) continue;
    const HostFunctions<T>& functions = kernels_of<T>(isa).functions;
    const auto expect_exp = [&](auto exp, T max, long double bound) {
      for (T& e : v) e = max - below(random);
      const T reference = exp(v.data(), v.size(), max, result.data());
      for (std::size_t i = 0; i < v.size(); ++i)
        ASSERT_LE(ulps(result[i], std::exp(static_cast<long double>(v[i]) - reference)), bound)
            << isa.name << ": exp(" << v[i] << " - " << reference << ")";
    };
    for (const T max : {T(0), T(3), T(-77.25), T(5000), T(-1e6), T(3e7)})
      expect_exp(functions.exp_accurate, max, 2);
    expect_exp(functions.exp_for_sum, 0, 4);  // with another reference v - reference is rounded
    for (T& e : v) e = std::exp2(below(random) - 40);
    v[0] = 1;
    functions.log(v.data(), v.size(), result.data());
    for (std::size_t i = 0; i < v.size(); ++i)
      ASSERT_LE(ulps(result[i], std::log(static_cast<long double>(v[i]))), 2)
          << isa.name << ": log(" << v[i] << ")";
    const T infinity = std::numeric_limits<T>::infinity();
    const T specials[] = {0, infinity, std::numeric_limits<T>::quiet_NaN()};
    functions.log(specials, 3, result.data());
    EXPECT_EQ(result[0], -infinity);
    EXPECT_EQ(result[1], infinity);
    EXPECT_TRUE(std::isnan(result[2]));
  }
}

/// Every float from -86 to 0, and 10^8 doubles.
constexpr std::size_t exp_block = 1 << 16;

/// The largest error of exp_accurate in ulp: of blocks thread, thread + threads, ... of the floats
/// from -0 to -86.
double worst_float(const HostIsa& isa, std::uint32_t thread, std::uint32_t threads) {
  std::vector<float> v(exp_block), result(exp_block);
  constexpr std::uint32_t begin = std::bit_cast<std::uint32_t>(-0.0f);
  constexpr std::uint32_t end = std::bit_cast<std::uint32_t>(-86.0f);
  double worst = 0;
  for (std::uint32_t first = begin + thread * exp_block; first < end;
       first += threads * exp_block) {
    for (std::uint32_t i = 0; i < exp_block; ++i) v[i] = std::bit_cast<float>(first + i);
    const double reference =
        isa.float_kernels->functions.exp_accurate(v.data(), exp_block, 0, result.data());
    for (std::size_t i = 0; i < exp_block; ++i)
      worst = std::max(worst, ulps(result[i], std::exp(v[i] - reference)));
  }
  return worst;
}

/// The same for a part of 10^8 random doubles.
long double worst_double(const HostIsa& isa, std::uint32_t thread, std::uint32_t threads) {
  std::vector<double> v(exp_block), result(exp_block);
  std::mt19937_64 random(11 + thread);
  std::uniform_real_distribution<double> range(-700, 0);
  long double worst = 0;
  for (std::size_t count = 0; count < 100'000'000 / threads; count += exp_block) {
    for (double& x : v) x = range(random);
    const long double reference =
        isa.double_kernels->functions.exp_accurate(v.data(), exp_block, 0, result.data());
    for (std::size_t i = 0; i < exp_block; ++i)
      worst = std::max(worst, ulps(result[i], std::exp(v[i] - reference)));
  }
  return worst;
}

TEST(SlowHostKernels, Exp) {
  const std::uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
  for (const HostIsa& isa : compiled_isas()) {
    if (!isa.runs_here()) continue;
    std::vector<std::future<void>> parts;
    for (std::uint32_t t = 0; t < threads; ++t)
      parts.push_back(std::async(std::launch::async, [&isa, t, threads] {
        EXPECT_LE(worst_float(isa, t, threads), 2) << isa.name << ", float";
        EXPECT_LE(worst_double(isa, t, threads), 2) << isa.name << ", double";
      }));
    for (auto& part : parts) part.get();
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
