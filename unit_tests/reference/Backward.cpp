// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>
#include <reference/Backward.hpp>

namespace KokkosSoftmax::Test {
namespace {

constexpr long double infinity = std::numeric_limits<long double>::infinity();

/// The entries of a row: dx_j = t_j - p_j * sum_k t_k.
template <class T>
class BackwardRow {
 public:
  BackwardRow(BackwardFunction function, const T* y, const T* dy, std::size_t columns,
              long double factor, bool gives_halfs)
      : m_is_log(function == BackwardFunction::log_softmax_backward), m_gives_halfs(gives_halfs) {
    for (std::size_t c = 0; c < columns; ++c) add(y[c], dy[c], factor);
  }

  void append_to(ExpectedNumbers& expected) const {
    for (const Entry& entry : m_entries) append_to(expected, entry);
  }

 private:
  struct Entry {
    bool is_masked;
    long double p;
    long double t;
  };

  void add(long double y, long double dy, long double factor) {
    const bool is_masked = y == (m_is_log ? -infinity : 0);
    if (is_masked) return m_entries.push_back({true, 0, 0});
    const long double product = m_is_log ? dy : y * dy;
    const long double t = factor * product;
    m_lost += denormal * ((m_is_log ? 0 : std::fabs(factor)) + 1) / 2;
    m_entries.push_back({false, m_is_log ? std::exp(y) : y, t});
    m_sum += t;
    m_magnitude += std::fabs(t);
    if (std::isfinite(product)) m_finite_magnitude += std::fabs(product) + std::fabs(t);
  }

  void append_to(ExpectedNumbers& expected, const Entry& entry) const {
    const auto& [is_masked, p, t] = entry;
    if (is_masked || (p == 0 && t == 0)) return expected.add(0, 0);
    const long double dx = t - p * m_sum;
    if (may_overflow() || may_lose(p))
      expected.add(dx, infinity);
    else
      expected.add(dx, std::isfinite(dx) ? bound(entry) : 0);
  }

  /// A product is rounded by a part of itself, or, if it is denormal, by at most half the smallest
  /// denormal number. So the sum has an absolute error m_lost besides the relative one, and p,
  /// which is above 1 if y is no softmax, multiplies both.
  long double bound(const Entry& entry) const {
    const long double p = std::fabs(entry.p);
    const long double of_exp = m_is_log && m_gives_halfs && p != 0 ? std::fabs(std::log(p)) / 2 : 0;
    const long double of_sum = p == 0 ? 0 : p * (16 + of_exp) * m_magnitude;
    const long double of_small_p = m_is_log ? m_magnitude : 0;  // exp(y) may be rounded to 0
    return std::numeric_limits<T>::epsilon() * (4 * std::fabs(entry.t) + of_sum) + p * m_lost +
           std::numeric_limits<T>::min() * (1 + of_small_p);
  }
  bool may_overflow() const { return m_finite_magnitude > std::numeric_limits<T>::max() / 4; }
  /// Whether p = exp(y) may be rounded to 0, and the product of that 0 and the sum isn't 0.
  bool may_lose(long double p) const {
    return m_is_log && p < 2 * std::numeric_limits<T>::min() && !std::isfinite(m_sum);
  }

  static constexpr long double denormal = std::numeric_limits<T>::denorm_min();

  bool m_is_log;
  bool m_gives_halfs;
  std::vector<Entry> m_entries;
  long double m_sum = 0;
  long double m_magnitude = 0;  // of the terms of the sum
  long double m_lost = 0;       // of the sum, by products that are rounded to denormal numbers
  long double m_finite_magnitude = 0;  // of products, except those of infinite dy
};

}  // namespace

template <class T>
ExpectedNumbers reference_backward(BackwardFunction function, const Rows<T>& y, const Rows<T>& dy,
                                   double scale, bool gives_halfs) {
  ExpectedNumbers expected;
  for (std::size_t row = 0; row < y.count; ++row)
    BackwardRow<T>(function, y.values.data() + row * y.columns, dy.values.data() + row * y.columns,
                   y.columns, static_cast<T>(scale), gives_halfs)
        .append_to(expected);
  return expected;
}

template ExpectedNumbers reference_backward(BackwardFunction, const Rows<float>&,
                                            const Rows<float>&, double, bool);
template ExpectedNumbers reference_backward(BackwardFunction, const Rows<double>&,
                                            const Rows<double>&, double, bool);

}  // namespace KokkosSoftmax::Test
