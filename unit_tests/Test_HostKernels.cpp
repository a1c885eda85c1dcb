// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector kernels of hosts, called directly: for every instruction set that this processor has,
// and with jobs that a launch makes only for large arrays (streamed output) or for many threads
// (spans of a row). All other tests call the kernels of one instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <future>
#include <host/Isa.hpp>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <support/Guarded.hpp>
#include <support/HostNumbers.hpp>
#include <support/Inputs.hpp>
#include <thread>
#include <type_traits>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

using namespace KokkosSoftmax::Impl;

/// The types of x and y.
template <class X_, class Y_ = X_>
struct Pair {
  using X = X_;
  using Y = Y_;
  using T = HostCompute<X>;
};

/// Rows that stay in a cache until the next one has been read, other rows, and parts of rows. The
/// number of threads and the processor decide between the first two.
enum class Way { cached, whole, parts };

struct Case {
  std::size_t rows, columns, shift;
  bool streams, zero_empty_rows;
  double scale;
  Way way;
  bool y_holds_row_values = false;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.rows << " x " << c.columns << ", shift " << c.shift << ", streams " << c.streams
             << ", zero " << c.zero_empty_rows << ", scale " << c.scale << ", way "
             << static_cast<int>(c.way) << ", row values " << c.y_holds_row_values;
}

template <class P>
class HostKernels : public ::testing::Test {
 protected:
  using X = typename P::X;
  using Y = typename P::Y;
  using T = typename P::T;
  using Kernels = KokkosSoftmax::Impl::HostKernels<X, Y>;
  using RowsJob = HostRowsJob<X, Y, T>;
  using PanelsJob = HostPanelsJob<X, Y, T>;
  static constexpr bool has_half_results = !std::is_same_v<Y, T>;

  static const Kernels& of(const HostIsa& isa, Function function) {
    const HostKernelTable<X, Y>& table = isa.kernels<X, Y>();
    return function == Function::softmax       ? table.softmax
           : function == Function::log_softmax ? table.log_softmax
                                               : table.logsumexp;
  }

  template <class Job>
  static void set_common(Job& job, const Case& c, std::vector<T>& lse, std::vector<T>& max) {
    const T scale = static_cast<T>(c.scale);
    job.factors = {scale, T(1), scale == T(1), false};
    if (c.scale == 0)
      job.factors = {std::numeric_limits<T>::min(), std::numeric_limits<T>::min(), false, true};
    job.lse = {lse.data(), 1};
    job.max = {max.data(), 1};
    job.zero_empty_rows = c.zero_empty_rows;
    job.streams = c.streams;
    job.y_holds_row_values = c.y_holds_row_values;
  }

  /// A buffer of `size` elements. It stays until another size is asked for.
  static Guarded<T>& buffer_of(std::int64_t size) {
    static std::int64_t last_size = 0;
    static std::unique_ptr<Guarded<T>> buffer;
    if (size != last_size) buffer = std::make_unique<Guarded<T>>(static_cast<std::size_t>(size), 0);
    last_size = size;
    return *buffer;
  }

  static void run_rows(const Kernels& kernels, RowsJob& job, Way way) {
    if (way == Way::parts) return run_parts(kernels, job, job.columns / 3);
    if (way == Way::cached) job.cached_columns = job.columns;
    Guarded<T>& buffer = buffer_of(kernels.buffer_size(job));
    job.buffer = buffer.data();
    kernels.rows(job);
    EXPECT_TRUE(buffer.guards_are_intact());
  }

  /// Computes rows in two or more parts, all of which have `part` columns, except the last one.
  static void run_parts(const Kernels& kernels, const RowsJob& job, std::int64_t part) {
    const auto end = [&](std::int64_t c) { return std::min(c + part, job.columns); };
    for (std::int64_t r = 0; r < job.rows; ++r) {
      HostState<T> row = kernels.reduce(job, r, 0, end(0));
      for (std::int64_t c = part; c < job.columns; c += part)
        kernels.merge(row, kernels.reduce(job, r, c, end(c)));
      kernels.finish(job, r, row);
      for (std::int64_t c = (job.columns - 1) / part * part; c >= 0; c -= part)
        kernels.write(job, r, c, end(c), row);
    }
  }

  static void run_panels(const Kernels& kernels, PanelsJob& job, Way way) {
    if (way != Way::parts) {
      Guarded<T>& buffer = buffer_of(host_panel_buffer_size<T>);
      job.buffer = buffer.data();
      kernels.panels(job);
      EXPECT_TRUE(buffer.guards_are_intact());
      return;
    }
    std::vector<HostPanelStates<T>> states(2);
    const std::int64_t middle = job.columns / 3;
    for (std::int64_t r = 0; r < job.rows; r += host_panel_rows) {
      const std::int64_t rows = std::min(host_panel_rows, job.rows - r);
      kernels.reduce_panel(job, r, rows, 0, middle, states[0]);
      kernels.reduce_panel(job, r, rows, middle, job.columns, states[1]);
      kernels.merge_panel(states[0], states[1], rows);
      kernels.finish_panel(job, r, rows, states[0]);
      kernels.write_panel(job, r, rows, 0, middle, states[0]);
      kernels.write_panel(job, r, rows, middle, job.columns, states[0]);
    }
  }

  /// The rows of a test and what is expected of them. It is the same for all kernels, ways and
  /// alignments.
  struct Data {
    Rows<T> rows;
    std::vector<X> numbers;  // in the order of x in memory
    Expected expected;
    Expected beside;     // for lse beside y
    std::vector<T> max;  // of the values of each row

    Data(bool side_by_side, const Case& c)
        : Data(side_by_side, c,
               random_rows<X>(c.rows, c.columns, static_cast<unsigned>(c.columns))) {}
    Data(bool side_by_side, const Case& c, const Rows<T>& rows_of_case)
        : rows(rows_of_case),
          numbers(rows.values.size()),
          expected(reference(rows, c.scale, c.zero_empty_rows ? EmptyRows::zero : EmptyRows::nan)),
          beside(beside_y(expected)),
          max(true_max(rows, c.scale)) {
      for (std::size_t r = 0, i = 0; r < c.rows; ++r)
        for (std::size_t column = 0; column < c.columns; ++column, ++i)
          numbers[side_by_side ? column * c.rows + r : i] = to_number<X>(rows.values[i]);
    }
  };

  /// The numbers of y in the order of the rows.
  ///
  /// \param stride  from one row to the next one in y of logsumexp
  static std::vector<T> values_of_y(const Y* y, Function function, bool side_by_side,
                                    std::size_t stride, const Case& c) {
    const bool entries = function != Function::logsumexp;
    std::vector<T> got(entries ? c.rows * c.columns : c.rows);
    if (c.y_holds_row_values) {
      std::memcpy(got.data(), y, c.rows * sizeof(T));
    } else if (entries && side_by_side) {
      for (std::size_t r = 0, i = 0; r < c.rows; ++r)
        for (std::size_t column = 0; column < c.columns; ++column, ++i)
          got[i] = value_of(y[column * c.rows + r]);
    } else if (entries) {
      std::transform(y, y + got.size(), got.begin(), value_of<Y>);
    } else {
      for (std::size_t r = 0; r < c.rows; ++r) got[r] = value_of(y[r * stride]);
    }
    return got;
  }

  /// `accepted` has the last results that were found right, or nothing. Most kernels give the same
  /// bits whatever the alignment and the stores, and comparing bits takes far less time than
  /// comparing numbers with the reference.
  static void expect_right(const HostIsa& isa, Function function, bool side_by_side, const Case& c,
                           const Data& data, std::vector<T>& accepted) {
    const bool entries = function != Function::logsumexp;
    const std::size_t size = c.rows * c.columns;
    // the numbers of type Y from one row to the next one in y of logsumexp
    const std::size_t y_stride = c.y_holds_row_values ? sizeof(T) / sizeof(Y) : c.streams ? 1 : 3;
    Guarded<X> x(size, c.shift);
    Guarded<Y> y(entries ? size : c.rows * y_stride, c.shift / y_stride * y_stride);
    std::vector<T> lse(c.rows), max(c.rows);
    std::copy(data.numbers.begin(), data.numbers.end(), x.data());
    if (side_by_side) {
      PanelsJob job;
      set_common(job, c, lse, max);
      job.x = x.data();
      job.y = y.data();
      job.x_column_stride = job.y_column_stride = static_cast<std::int64_t>(c.rows);
      job.y_stride = static_cast<std::int64_t>(y_stride);
      job.rows = static_cast<std::int64_t>(c.rows);
      job.columns = static_cast<std::int64_t>(c.columns);
      run_panels(of(isa, function), job, c.way);
    } else {
      RowsJob job;
      set_common(job, c, lse, max);
      job.x = x.data();
      job.y = y.data();
      job.x_stride = static_cast<std::int64_t>(c.columns);
      job.y_stride = static_cast<std::int64_t>(entries ? c.columns : y_stride);
      job.rows = static_cast<std::int64_t>(c.rows);
      job.columns = static_cast<std::int64_t>(c.columns);
      run_rows(of(isa, function), job, c.way);
    }
    std::vector<T> got = values_of_y(y.data(), function, side_by_side, y_stride, c);
    if (got.size() != accepted.size() ||
        std::memcmp(got.data(), accepted.data(), got.size() * sizeof(T)) != 0) {
      const auto format = c.y_holds_row_values ? std::nullopt : format_of_number<Y>();
      ASSERT_TRUE(is_accurate(function, data.rows, data.expected, got, 0, format))
          << isa.name << ": " << c;
      accepted = std::move(got);
    }
    ASSERT_TRUE(y.guards_are_intact()) << isa.name << ": " << c;
    if (!entries) return;
    for (std::size_t r = 0; r < c.rows; ++r)
      ASSERT_TRUE(is_max(max[r], data.max[r], c.scale))
          << isa.name << ": " << c << ", row " << r << ": " << max[r];
    ASSERT_TRUE(is_accurate(Function::logsumexp, data.rows, data.beside, lse))
        << isa.name << ": " << c;
  }

  /// Whether `got` is the maximum of a row. The kernels take the scale 0 as a tiny number.
  static bool is_max(T got, T expected, double scale) {
    if (std::isnan(expected)) return std::isnan(got);
    return scale == 0 && std::isfinite(expected)
               ? std::fabs(got) < 1e-60 || (sizeof(T) == 4 && std::fabs(got) < 1e-30)
               : got == expected;
  }

  /// All instruction sets and functions, whole rows and parts of rows.
  static void expect_right(bool side_by_side, Case c) {
    const Data data(side_by_side, c);
    for (const HostIsa& isa : compiled_isas()) {
      if (!isa.runs_here()) continue;
      for (const Function function : all_functions) {
        std::vector<T> accepted, accepted_row_values;
        for (const Way way : {Way::cached, Way::whole, Way::parts})
          for (const bool streams : {false, true}) {
            if (way == Way::parts && c.columns < 3) continue;
            if (way == Way::cached && c.columns <= span_columns) continue;  // as Way::whole
            c.streams = streams;
            c.way = way;
            c.shift = c.columns % 2 == 0 ? 0 : 3 + (streams ? 2 : 0);
            expect_right(isa, function, side_by_side, c, data, accepted);
            if (has_half_results && function == Function::logsumexp) {
              c.y_holds_row_values = true;
              expect_right(isa, function, side_by_side, c, data, accepted_row_values);
              c.y_holds_row_values = false;
            }
            if (c.columns > 20000) continue;
            c.shift = 1;
            expect_right(isa, function, side_by_side, c, data, accepted);
          }
      }
    }
  }

  /// A number of rows that is no multiple of any group of rows. Of short rows, several groups are
  /// under way at a time.
  static std::size_t some_rows(std::size_t columns) {
    if (columns > 20000) return 17;  // one of each kind
    return (columns <= 16 ? 120 : 40) + columns % 7;
  }

  /// A row must have the same bits alone, among other rows and in place, except the sign of NaN.
  /// There are `between` numbers between two rows of x.
  static void expect_bits_of_rows_alone(const HostIsa& isa, Function function, std::size_t columns,
                                        std::size_t between) {
    const std::size_t count = some_rows(columns) - 3;
    const std::size_t x_columns = columns + between;
    const Rows<T> rows = random_rows<X>(count, x_columns, static_cast<unsigned>(columns));
    std::vector<X> x(rows.values.size());
    std::transform(rows.values.begin(), rows.values.end(), x.begin(), to_number<X, T>);
    const std::size_t y_columns = function == Function::logsumexp ? 1 : columns;
    std::vector<Y> together(count * y_columns), alone(count * y_columns);
    std::vector<T> none;
    RowsJob job;
    set_common(job, {count, columns, 0, false, false, 1, Way::whole}, none, none);
    job.lse.data = job.max.data = nullptr;
    job.x = x.data();
    job.y = together.data();
    job.x_stride = static_cast<std::int64_t>(x_columns);
    job.y_stride = static_cast<std::int64_t>(y_columns);
    job.rows = static_cast<std::int64_t>(count);
    job.columns = static_cast<std::int64_t>(columns);
    run_rows(of(isa, function), job, Way::whole);
    job.rows = 1;
    job.y = alone.data();
    for (std::size_t r = 0; r < count; ++r) {
      run_rows(of(isa, function), job, Way::whole);
      job.x += job.x_stride;
      job.y += job.y_stride;
    }
    const auto expect_bits = [&](const Y* got, std::size_t stride) {
      for (std::size_t r = 0, i = 0; r < count; ++r)
        for (std::size_t c = 0; c < y_columns; ++c, ++i)
          if (const Y& other = got[r * stride + c];
              !std::isnan(value_of(together[i])) || !std::isnan(value_of(other))) {
            ASSERT_EQ(std::memcmp(&together[i], &other, sizeof(Y)), 0)
                << isa.name << ": row " << r << " of " << columns << " columns";
          }
    };
    expect_bits(alone.data(), y_columns);
    if constexpr (std::is_same_v<X, Y>) {
      if (function == Function::logsumexp) return;
      job.rows = static_cast<std::int64_t>(count);
      job.x = job.y = x.data();
      job.y_stride = job.x_stride;
      run_rows(of(isa, function), job, Way::whole);
      expect_bits(x.data(), x_columns);
    }
  }

  /// Rows of several spans for the following tests, and y.
  struct WideRows {
    static constexpr std::size_t count = 3, columns = 140001;
    std::size_t y_columns;
    std::vector<X> x;

    explicit WideRows(Function function)
        : y_columns(function == Function::logsumexp ? 1 : columns), x(count * columns) {
      Rows<T> rows = normal_rows<T>(count, columns);
      const T far = std::is_same_v<T, float> ? T(20000) : T(1e12);
      for (std::size_t c = 0; c < columns; ++c) rows.values[columns + c] += far;
      for (std::size_t c = 70000; c < 75000; ++c) rows.values[2 * columns + c] -= far;
      std::transform(rows.values.begin(), rows.values.end(), x.begin(), to_number<X, T>);
    }
    std::vector<Y> make_y() const { return std::vector<Y>(count * y_columns); }
    RowsJob job(Y* y) const {
      std::vector<T> none;
      RowsJob job;
      set_common(job, {count, columns, 0, false, false, 1, Way::cached}, none, none);
      job.lse.data = job.max.data = nullptr;
      job.x = x.data();
      job.y = y;
      job.x_stride = columns;
      job.y_stride = static_cast<std::int64_t>(y_columns);
      job.rows = count;
      job.columns = columns;
      return job;
    }
  };
  static bool have_same_bits(const std::vector<Y>& a, const std::vector<Y>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(Y)) == 0;
  }

  /// Rows of several spans that stay in a cache must have the bits of their spans if the job is
  /// reproducible.
  static void expect_bits_of_spans(const HostIsa& isa, Function function) {
    const WideRows rows(function);
    std::vector<Y> whole = rows.make_y(), spans = rows.make_y();
    RowsJob job = rows.job(whole.data());
    job.reproducible = true;
    run_rows(of(isa, function), job, Way::cached);
    job.y = spans.data();
    run_parts(of(isa, function), job, span_columns);
    EXPECT_TRUE(have_same_bits(whole, spans)) << isa.name << ": " << to_string(function);
  }

  /// Such rows must have the same bits in place, and one by one.
  static void expect_bits_in_place(const HostIsa& isa, Function function) {
    WideRows rows(function);
    std::vector<Y> whole = rows.make_y(), alone = rows.make_y();
    RowsJob job = rows.job(whole.data());
    run_rows(of(isa, function), job, Way::cached);
    job.rows = 1;
    for (std::size_t r = 0; r < rows.count; ++r) {
      job.y = alone.data() + r * rows.y_columns;
      job.x = rows.x.data() + r * rows.columns;
      run_rows(of(isa, function), job, Way::cached);
    }
    EXPECT_TRUE(have_same_bits(whole, alone)) << isa.name << ": " << to_string(function);
    if constexpr (std::is_same_v<X, Y>) {
      if (function == Function::logsumexp) return;
      job = rows.job(rows.x.data());
      run_rows(of(isa, function), job, Way::cached);
      EXPECT_TRUE(have_same_bits(whole, rows.x)) << isa.name << ": " << to_string(function);
    }
  }

  /// Several panels of each kind; whole cache lines if the number of columns is even.
  static std::size_t neighbours(std::size_t columns, std::size_t few) {
    const std::size_t rest = columns % 2 == 0 ? 0 : columns % 7;
    if (columns > 30 && columns < 100) return 1104 + rest;
    if (columns <= 300) return 272 + rest;
    return columns <= 4096 ? 144 + rest : few;
  }

  /// Rows of which one in `distance` exceeds its first columns by 15 to 3000 from some column on.
  static Rows<T> rising_rows(std::size_t count, std::size_t columns, std::size_t distance) {
    Rows<T> rows = normal_rows<T>(count, columns);
    const T rises[] = {15, 17, 59, 62, 590, 610, 3000, std::numeric_limits<T>::infinity()};
    for (std::size_t r = 0, i = 0; r < count; r += distance, ++i) {
      T* const row = rows.values.data() + r * columns;
      const std::size_t first = i % 3 == 0 ? 4 : i % 3 == 1 ? 35 : columns - 1;
      for (std::size_t c = std::min(first, columns - 1); c < columns; ++c) row[c] += rises[i % 8];
      if (i % 5 == 0) std::fill_n(row, std::min(first, columns), -rises[7]);
    }
    return rows;
  }

  /// Panels are computed anew if a row exceeds its first columns too much.
  static void expect_right_where_rows_rise(const HostIsa& isa, Function function, const Case& c) {
    for (const std::size_t distance : {std::size_t(5), std::size_t(100), c.rows}) {
      std::vector<T> accepted;
      const Data data(true, c, rising_rows(c.rows, c.columns, distance));
      expect_right(isa, function, true, c, data, accepted);
    }
  }

  /// A row that rises changes no bit of the other rows. A call in place gives the same bits.
  static void expect_bits_beside_rising_rows(const HostIsa& isa, Function function, const Case& c) {
    if (function == Function::logsumexp) return;
    constexpr std::size_t distance = 5;
    const auto computed = [&](const Rows<T>& rows) {
      Guarded<X> x(rows.values.size(), 0);
      Guarded<Y> y(rows.values.size(), 0);
      for (std::size_t r = 0, i = 0; r < c.rows; ++r)
        for (std::size_t column = 0; column < c.columns; ++column, ++i)
          x.data()[column * c.rows + r] = to_number<X>(rows.values[i]);
      std::vector<T> lse(c.rows), max(c.rows);
      PanelsJob job;
      set_common(job, c, lse, max);
      job.x = x.data();
      job.y = y.data();
      job.x_column_stride = job.y_column_stride = static_cast<std::int64_t>(c.rows);
      job.y_stride = 1;
      job.rows = static_cast<std::int64_t>(c.rows);
      job.columns = static_cast<std::int64_t>(c.columns);
      run_panels(of(isa, function), job, c.way);
      const std::vector<T> values = values_of_y(y.data(), function, true, 1, c);
      if constexpr (std::is_same_v<X, Y>) {
        job.y = x.data();
        run_panels(of(isa, function), job, c.way);
        EXPECT_TRUE(have_same_bits(std::vector<Y>(y.data(), y.data() + rows.values.size()),
                                   std::vector<Y>(x.data(), x.data() + rows.values.size())))
            << isa.name << ": " << c << ", in place";
      }
      return values;
    };
    const std::vector<T> rising = computed(rising_rows(c.rows, c.columns, distance));
    const std::vector<T> others = computed(normal_rows<T>(c.rows, c.columns));
    for (std::size_t r = 0; r < c.rows; ++r) {
      if (r % distance == 0) continue;
      const std::size_t i = r * c.columns;
      ASSERT_EQ(std::memcmp(&rising[i], &others[i], c.columns * sizeof(T)), 0)
          << isa.name << ": " << c << ", row " << r;
    }
  }

  static void expect_right(bool side_by_side, const std::vector<std::size_t>& all_columns) {
    for (const std::size_t columns : all_columns) {
      const std::size_t few = columns > 20000 && columns != 70001 ? 6 : some_rows(columns);
      Case c{side_by_side ? neighbours(columns, few) : few,
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

using Types = ::testing::Types<Pair<float>, Pair<double>, Pair<HostHalf>, Pair<HostHalf, float>,
                               Pair<HostBhalf>, Pair<HostBhalf, float>>;
TYPED_TEST_SUITE(HostKernels, Types);

TYPED_TEST(HostKernels, Rows) {
  std::vector<std::size_t> columns;
  for (std::size_t n = 1; n <= 131; ++n) columns.push_back(n);
  if (TestFixture::has_half_results) {  // whose checks take longer
    for (std::size_t n = 133; n <= 300; n += 11) columns.push_back(n);
    for (const std::size_t n : {511, 512, 1025, 5000, 65536, 70001}) columns.push_back(n);
  } else {
    for (const std::size_t n :
         {200, 511, 512, 513, 1000, 1024, 2049, 5000, 8192, 8193, 20011, 65536, 70001, 140000})
      columns.push_back(n);
  }
  TestFixture::expect_right(false, columns);
}

TYPED_TEST(HostKernels, BitsOfRowsAlone) {
  for (const HostIsa& isa : compiled_isas())
    for (const Function function : all_functions)
      for (const std::size_t columns :
           {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,   14,
            15, 16, 24, 30, 32, 40, 48, 56, 64, 100, 150, 300, 1000, 1025})
        for (const std::size_t between : {0, 3})
          if (isa.runs_here())
            TestFixture::expect_bits_of_rows_alone(isa, function, columns, between);
}

TYPED_TEST(HostKernels, WideRowsInCache) {
  for (const HostIsa& isa : compiled_isas())
    for (const Function function : all_functions)
      if (isa.runs_here()) {
        TestFixture::expect_bits_of_spans(isa, function);
        TestFixture::expect_bits_in_place(isa, function);
      }
}

TYPED_TEST(HostKernels, RowsSideBySide) {
  TestFixture::expect_right(
      true, {1, 2, 3, 5, 8, 9, 15, 16, 17, 24, 31, 33, 64, 65, 100, 300, 1000, 4096, 5001});
}

// The columns of these rows begin at the same place of a page, for which some processors have other
// panels (has_high_panels).
TYPED_TEST(HostKernels, WholePagesOfRowsSideBySide) {
  if constexpr (sizeof(typename TestFixture::X) >= 4)
    for (const std::size_t columns : {127, 128, 300, 1000, 1026})
      TestFixture::expect_right(true, {1024, columns, 0, false, columns == 300, 1, Way::whole});
}

// The references of panels follow from the first columns on AMD's processors, and on others with
// AVX-512 (PipelinedPanels).
TYPED_TEST(HostKernels, RisingRowsSideBySide) {
  if constexpr (sizeof(typename TestFixture::X) >= 4)
    for (const HostIsa& isa : compiled_isas())
      for (const Function function : all_functions)
        for (const std::size_t columns : {1, 6, 40, 64, 150, 500})
          for (const std::size_t rows : {272, 275, 1024})
            for (const bool streams : {false, true}) {
              if (!isa.runs_here() || (rows == 1024 && columns < 150)) continue;
              const Case c{rows, columns, 0, streams, false, 1, Way::whole};
              TestFixture::expect_right_where_rows_rise(isa, function, c);
              TestFixture::expect_bits_beside_rising_rows(isa, function, c);
            }
}

/// The distance between the numbers of type T around `exact`.
template <class T, class Exact>
Exact ulp_at(Exact exact) {
  const T rounded = std::fabs(static_cast<T>(exact));
  return std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
}

/// The distance in units in the last place of `exact`.
template <class T, class Exact>
Exact ulps(T got, Exact exact) {
  return std::fabs(got - exact) / ulp_at<T>(exact);
}

/// exp is tested where the result is a normal number.
TYPED_TEST(HostKernels, ExpAndLog) {
  using T = typename TypeParam::T;
  using X = typename TypeParam::X;
  using Y = typename TypeParam::Y;
  std::mt19937 random(7);
  std::uniform_real_distribution<T> below(0, std::is_same_v<T, float> ? T(86) : T(700));
  std::vector<T> v(4099), result(v.size());
  for (const HostIsa& isa : compiled_isas()) {
    if (!isa.runs_here()) continue;
    const HostFunctions<X, Y>& functions = isa.kernels<X, Y>().functions;
    const auto expect_exp = [&](auto exp, T max, long double bound, long double per_unit) {
      for (T& e : v) e = max - below(random);
      const T reference = exp(v.data(), v.size(), max, result.data());
      ASSERT_LE(reference, max) << isa.name;
      ASSERT_LT(max - reference, 1) << isa.name << ": " << max;
      for (std::size_t i = 0; i < v.size(); ++i) {
        const long double d = static_cast<long double>(v[i]) - reference;
        ASSERT_LE(ulps(result[i], std::exp(d)), bound + per_unit * std::fabs(d))
            << isa.name << ": exp(" << v[i] << " - " << reference << ")";
      }
    };
    for (const T max : {T(0), T(3), T(-77.25), T(5000), T(-1e6), T(3e7)})
      expect_exp(functions.exp_accurate, max, 2, 0);
    for (const T limit : {T(2048), T(8192), T(4294967296.0), T(68719476736.0)})  // see fine_limit
      for (const T max : {std::nextafter(limit, T(0)), limit, limit - T(0.1)})
        for (const T sign : {T(1), T(-1)}) expect_exp(functions.exp_accurate, sign * max, 2, 0);
    // In a sum, a term exp(d) may have an error that grows as |d|. Without a fused multiplication
    // and addition, d log2(e) is rounded, too, which costs up to |d| units.
    expect_exp(functions.exp_for_sum, 0, 4, 1.25L);  // else v - reference is rounded
    expect_exp(functions.exp_for_sum, 3, 4, 2);
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

/// A result below the smallest normal number is 0 or right.
TYPED_TEST(HostKernels, ExpBelowNormalNumbers) {
  using T = typename TypeParam::T;
  using X = typename TypeParam::X;
  using Y = typename TypeParam::Y;
  const T smallest = std::numeric_limits<T>::min();
  const T end = std::log(smallest) - T(3), step = T(1) / 512;
  std::vector<T> v;
  for (T e = std::log(smallest) + T(1); e > end; e -= step) v.push_back(e);
  std::vector<T> result(v.size());
  for (const HostIsa& isa : compiled_isas()) {
    if (!isa.runs_here()) continue;
    const T reference =
        isa.kernels<X, Y>().functions.exp_accurate(v.data(), v.size(), 0, result.data());
    for (std::size_t i = 0; i < v.size(); ++i) {
      const long double exact = std::exp(static_cast<long double>(v[i]) - reference);
      if (result[i] == 0 && exact < smallest) continue;
      ASSERT_NEAR(result[i] / static_cast<long double>(smallest), exact / smallest, 1e-6)
          << isa.name << ": exp(" << v[i] << " - " << reference << ")";
    }
  }
}

template <class X>
class HostConversions : public ::testing::Test {
 protected:
  static constexpr Format format = *format_of_number<X>();

  static const HostFunctions<X, X>& functions(const HostIsa& isa) {
    return isa.kernels<X, X>().functions;
  }

  /// Floats become the nearest numbers of X, on all instruction sets.
  static void expect_rounded(const std::vector<float>& v) {
    std::vector<std::uint16_t> expected(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) expected[i] = encoded(v[i], format);
    std::vector<X> got(v.size());
    for (const HostIsa& isa : compiled_isas()) {
      if (!isa.runs_here()) continue;
      functions(isa).write(v.data(), static_cast<std::int64_t>(v.size()), got.data());
      for (std::size_t i = 0; i < v.size(); ++i)
        if (std::isnan(v[i]))
          ASSERT_TRUE(std::isnan(value_of(got[i]))) << isa.name;
        else
          ASSERT_EQ(got[i].bits, expected[i]) << isa.name << ": " << v[i];
    }
  }
};
using HalfNumbers = ::testing::Types<HostHalf, HostBhalf>;
TYPED_TEST_SUITE(HostConversions, HalfNumbers);

TYPED_TEST(HostConversions, EveryNumberToFloatAndBack) {
  using X = TypeParam;
  std::vector<X> x(1 << 16);
  std::vector<float> v(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i].bits = static_cast<std::uint16_t>(i);
  for (const HostIsa& isa : compiled_isas()) {
    if (!isa.runs_here()) continue;
    TestFixture::functions(isa).read(x.data(), static_cast<std::int64_t>(x.size()), v.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float expected = value_of(x[i]);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(v[i])) << isa.name << ": " << i;
      else
        ASSERT_EQ(std::bit_cast<std::uint32_t>(v[i]), std::bit_cast<std::uint32_t>(expected))
            << isa.name << ": " << i;
    }
    TestFixture::expect_rounded(v);
  }
}

// The numbers halfway between neighbours, and the floats next to them. Those behind the largest
// number become infinite.
TYPED_TEST(HostConversions, FloatsBetweenNeighbours) {
  constexpr Format format = TestFixture::format;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> v;
  for (std::uint16_t bits = 0; decoded(bits, format) < infinity; ++bits) {
    const double low = decoded(bits, format);
    const double half_ulp = static_cast<double>(format.half_ulp(low));
    const float middle = static_cast<float>(low + half_ulp);
    for (const float number :
         {std::nextafter(middle, 0.f), middle, std::nextafter(middle, infinity)}) {
      v.push_back(number);
      v.push_back(-number);
    }
  }
  TestFixture::expect_rounded(v);
}

// Floats of all exponents, NaN and denormal numbers among them. NaN are quiet, as arithmetic
// returns them.
TYPED_TEST(HostConversions, EveryThousandthFloat) {
  std::vector<float> v;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1021) {
    const float number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    v.push_back(std::isnan(number)
                    ? std::bit_cast<float>(static_cast<std::uint32_t>(bits) | 0x400000)
                    : number);
  }
  for (const std::uint32_t bits : {0x7fc00000u, 0x7fffffffu, 0xffc00000u, 0xffffffffu})
    v.push_back(std::bit_cast<float>(bits));
  TestFixture::expect_rounded(v);
}

constexpr std::size_t exp_block = 1 << 16;

/// The errors of exp_accurate of all instruction sets. They share the exact exponentials, which
/// take most of the time.
template <class T, class Exact>
class ExpErrors {
 public:
  void add(const std::vector<T>& v) {
    bool is_exact_known = false;
    for (std::size_t i = 0; i < compiled_isas().size(); ++i) {
      const HostIsa& isa = compiled_isas()[i];
      if (!isa.runs_here()) continue;
      const HostFunctions<T, T>& functions = isa.kernels<T, T>().functions;
      const Exact reference = functions.exp_accurate(v.data(), exp_block, 0, m_result.data());
      if (!is_exact_known || reference != m_reference) set_exact(v, reference);
      is_exact_known = true;
      Exact worst = m_worst[i];
      for (std::size_t k = 0; k < exp_block; ++k)
        worst = std::max(worst, std::fabs(m_result[k] - m_exact[k]) * m_per_ulp[k]);
      m_worst[i] = worst;
    }
  }

  void expect_small() const {
    for (std::size_t i = 0; i < m_worst.size(); ++i)
      EXPECT_LE(m_worst[i], 2) << compiled_isas()[i].name << ", " << sizeof(T) << " bytes";
  }

 private:
  void set_exact(const std::vector<T>& v, Exact reference) {
    m_reference = reference;
    for (std::size_t k = 0; k < exp_block; ++k) {
      m_exact[k] = std::exp(v[k] - reference);
      m_per_ulp[k] = 1 / ulp_at<T>(m_exact[k]);
    }
  }

  std::vector<Exact> m_worst = std::vector<Exact>(compiled_isas().size());  // in ulp
  std::vector<T> m_result = std::vector<T>(exp_block);
  std::vector<Exact> m_exact = std::vector<Exact>(exp_block);
  std::vector<Exact> m_per_ulp = std::vector<Exact>(exp_block);  // an ulp is a power of two
  Exact m_reference = 0;
};

/// Blocks thread, thread + threads, ... of the floats from -0 to -86.
void expect_floats_right(std::uint32_t thread, std::uint32_t threads) {
  std::vector<float> v(exp_block);
  ExpErrors<float, double> errors;
  constexpr std::uint32_t begin = std::bit_cast<std::uint32_t>(-0.0f);
  constexpr std::uint32_t end = std::bit_cast<std::uint32_t>(-86.0f);
  for (std::uint32_t first = begin + thread * exp_block; first < end;
       first += threads * exp_block) {
    for (std::uint32_t i = 0; i < exp_block; ++i) v[i] = std::bit_cast<float>(first + i);
    errors.add(v);
  }
  errors.expect_small();
}

/// A part of 10^8 random doubles.
void expect_doubles_right(std::uint32_t thread, std::uint32_t threads) {
  std::vector<double> v(exp_block);
  ExpErrors<double, long double> errors;
  std::mt19937_64 random(11 + thread);
  std::uniform_real_distribution<double> range(-700, 0);
  for (std::size_t count = 0; count < 100'000'000 / threads; count += exp_block) {
    for (double& x : v) x = range(random);
    errors.add(v);
  }
  errors.expect_small();
}

TEST(SlowHostKernels, Exp) {
  const std::uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::future<void>> parts;
  for (std::uint32_t t = 0; t < threads; ++t)
    parts.push_back(std::async(std::launch::async, [t, threads] {
      expect_floats_right(t, threads);
      expect_doubles_right(t, threads);
    }));
  for (auto& part : parts) part.get();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
