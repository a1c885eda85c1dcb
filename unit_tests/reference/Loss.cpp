// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <reference/Loss.hpp>

namespace KokkosSoftmax::Test {

namespace {

constexpr long double infinity = std::numeric_limits<long double>::infinity();
constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();

/// log(sum_k exp(v_k)) - max v, and max v, of columns that aren't NaN or +inf.
struct LogSum {
  long double max = -infinity;
  long double log_sum = 0;
};
template <class T>
LogSum log_sum_of(const T* v, std::size_t columns) {
  LogSum result;
  for (std::size_t c = 0; c < columns; ++c) result.max = std::max<long double>(result.max, v[c]);
  long double sum = 0;
  for (std::size_t c = 0; c < columns; ++c)
    sum += std::exp(static_cast<long double>(v[c]) - result.max);
  result.log_sum = std::log(sum);
  return result;
}

bool is_label(std::int64_t label, std::size_t columns) {
  return label >= 0 && label < static_cast<std::int64_t>(columns);
}

/// The part of the label's entry and that of the mean entry of a loss, and what its bound depends
/// on.
template <class T>
class LossRow {
 public:
  LossRow(const T* v, std::size_t columns, std::int64_t label, long double smoothing)
      : m_log_sum(log_sum_of(v, columns)),
        m_of_label(v[label]),
        m_smoothing(smoothing),
        m_columns(static_cast<long double>(columns)) {
    for (std::size_t c = 0; c < columns; ++c) {
      m_total += v[c];
      m_magnitude += std::fabs(v[c]) + std::fabs(v[c] - m_log_sum.max);
      if (std::isfinite(v[c])) m_farthest = std::max(m_farthest, m_log_sum.max - v[c]);
    }
  }

  void append_to(ExpectedNumbers& expected) const {
    const long double below = m_log_sum.max - m_of_label;
    const long double target = (1 - m_smoothing) * (below + m_log_sum.log_sum);
    const long double spread = (m_log_sum.max - m_total / m_columns) + m_log_sum.log_sum;
    const long double loss =
        (m_smoothing == 1 ? 0 : target) + (m_smoothing == 0 ? 0 : m_smoothing * spread);
    if (m_smoothing != 0 && m_farthest > std::numeric_limits<T>::max() / 2)
      expected.add(loss, infinity);  // the logarithm of a probability may overflow
    else
      expected.add(loss, std::isfinite(loss) ? bound(below) : 0);
  }

 private:
  /// A relative error of the sum of exponentials is an absolute error of its logarithm. The sum is
  /// at least 1, and kernels add a term to it in up to 24 additions that aren't compensated: 16 of
  /// one lane, and then those of partial sums and lanes. Each of them is rounded by at most half an
  /// epsilon of the sum, so by some 1.4 epsilon together if the roundings are independent. 8
  /// epsilon are more than five times as much; log_softmax of float has the same bound. The terms
  /// of the logarithm are for the errors of exponentials.
  long double bound(long double below) const {
    const long double of_mean = m_smoothing == 0 ? 0 : m_smoothing * 4 * m_magnitude / m_columns;
    return std::numeric_limits<T>::epsilon() *
           (2 * std::fabs(below) + 4 * m_log_sum.log_sum + 8 + of_mean);
  }

  LogSum m_log_sum;
  long double m_of_label;
  long double m_smoothing;
  long double m_columns;
  long double m_total = 0;
  long double m_magnitude = 0;
  long double m_farthest = 0;  // of a finite entry from the maximum
};

/// Whether a row has a NaN or +inf, or is -inf alone.
template <class T>
bool has_no_softmax(const T* v, std::size_t columns) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  return std::any_of(v, v + columns, [](T x) { return std::isnan(x) || x == inf; }) ||
         *std::max_element(v, v + columns) == -inf;
}

/// The entries of a row of a gradient: dx_j = factor * (p_j - target_j).
template <class T>
class GradientRow {
 public:
  GradientRow(const T* v, std::size_t columns, long double lse, long double factor,
              const Labels* labels, std::size_t row)
      : m_v(v), m_columns(columns), m_lse(lse), m_factor(factor) {
    if (labels == nullptr) return;
    m_label = labels->of_row[row];
    m_is_ignored = m_label == labels->ignored;
    m_is_invalid = !is_label(m_label, columns);
    m_smoothing = static_cast<T>(labels->smoothing);
  }

  void append_to(ExpectedNumbers& expected) const {
    for (std::size_t c = 0; c < m_columns; ++c)
      if (m_is_ignored)
        expected.add(0, 0);
      else if (m_is_invalid)
        expected.add(nan, 0);
      else
        append_entry(expected, m_v[c], m_label == static_cast<std::int64_t>(c));
  }

 private:
  static constexpr long double epsilon = std::numeric_limits<T>::epsilon();
  static constexpr long double least = std::numeric_limits<T>::min();

  void append_entry(ExpectedNumbers& expected, long double v, bool is_target) const {
    const long double p = v == -infinity ? 0 : std::exp(v - m_lse);
    const long double spread = m_smoothing / static_cast<long double>(m_columns);
    const long double above = p - (is_target ? 1 - m_smoothing : 0) - spread;
    const long double of_p = p == 0 ? 0 : p * (6 + std::fabs(v - m_lse));
    const long double relative = of_p + 4 * spread + (is_target ? 4 : 0);
    const long double error = relative == 0 ? 0 : epsilon * relative + least;
    if (std::isnan(above) || error == 0) return expected.add(error == 0 ? 0 : nan, 0);
    const long double dx = m_factor * above;
    if (std::isfinite(m_factor))
      expected.add(dx, may_overflow() ? infinity : std::fabs(m_factor) * error + least);
    else  // the sign of the infinity is that of p - target, if this isn't rounded to 0
      expected.add(dx, std::fabs(above) > error ? 0 : infinity);
  }
  bool may_overflow() const { return std::fabs(m_factor) > std::numeric_limits<T>::max() / 4; }

  const T* m_v;
  std::size_t m_columns;
  long double m_lse;
  long double m_factor;
  std::int64_t m_label = -1;  // of no column
  bool m_is_ignored = false;
  bool m_is_invalid = false;
  long double m_smoothing = 0;
};

}  // namespace

template <class T>
Rows<T> scaled_rows(const Rows<T>& x, double scale) {
  Rows<T> v = x;
  for (T& value : v.values) value = scaled(value, static_cast<T>(scale));
  return v;
}

template <class T>
ExpectedNumbers reference_loss(const Rows<T>& v, const Labels& labels) {
  ExpectedNumbers expected;
  for (std::size_t r = 0; r < v.count; ++r) {
    const T* const row = v.values.data() + r * v.columns;
    const std::int64_t label = labels.of_row[r];
    if (label == labels.ignored)
      expected.add(0, 0);
    else if (!is_label(label, v.columns) || has_no_softmax(row, v.columns))
      expected.add(nan, 0);
    else
      LossRow<T>(row, v.columns, label, static_cast<T>(labels.smoothing)).append_to(expected);
  }
  return expected;
}

template <class T>
ExpectedNumbers reference_gradient(const Rows<T>& v, double scale, const std::vector<T>& lse,
                                   const std::vector<T>& derivative, const Labels* labels) {
  ExpectedNumbers expected;
  for (std::size_t r = 0; r < v.count; ++r)
    GradientRow<T>(v.values.data() + r * v.columns, v.columns, lse[r],
                   static_cast<long double>(static_cast<T>(scale)) * derivative[r], labels, r)
        .append_to(expected);
  return expected;
}

#define KOKKOSSOFTMAX_TEST_INSTANTIATE(T)                                                    \
  template Rows<T> scaled_rows(const Rows<T>&, double);                                      \
  template ExpectedNumbers reference_loss(const Rows<T>&, const Labels&);                    \
  template ExpectedNumbers reference_gradient(const Rows<T>&, double, const std::vector<T>&, \
                                              const std::vector<T>&, const Labels*);
KOKKOSSOFTMAX_TEST_INSTANTIATE(float)
KOKKOSSOFTMAX_TEST_INSTANTIATE(double)

}  // namespace KokkosSoftmax::Test
