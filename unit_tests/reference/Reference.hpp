// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_REFERENCE_HPP
#define KOKKOSSOFTMAX_TEST_REFERENCE_HPP

/// \file
/// The definition of the operations, computed in long double with simple loops. It takes rows x
/// columns only; the caller converts tensors to that form.

#include <KokkosSoftmax_Options.hpp>
#include <array>
#include <cmath>
#include <cstddef>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <iterator>
#include <string>
#include <vector>

namespace KokkosSoftmax::Test {

using Function = KokkosSoftmax::Impl::Operation;

inline constexpr auto all_functions = [] {
  std::array<Function, std::size(KokkosSoftmax::Impl::operation_table)> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = KokkosSoftmax::Impl::operation_table[i].operation;
  return all;
}();

/// `count` independent rows of `columns` entries, one after the other.
template <class T>
struct Rows {
  std::size_t count = 0;
  std::size_t columns = 0;
  std::vector<T> values;
  std::vector<std::string> names = {};  // a name per row for messages; can be empty
};

/// Returns v = scale * x with scale and product rounded to T. A scale of 0 means the limit from
/// above.
template <class T>
T scaled(T entry, T scale) {
  if (scale != T(0)) return scale * entry;
  return std::isfinite(entry) ? T(0) : entry;
}

/// Log-sum-exps whose terms are so small have a tighter bound.
inline constexpr long double near_zero = 1.0L / 16;

/// The expected results of the functions for all rows.
struct Expected {
  std::vector<long double> softmax;      // one value per entry of x
  std::vector<long double> log_softmax;  // one value per entry of x
  std::vector<long double> logsumexp;    // one value per row
  std::vector<char> moderate;            // per row: whether the tighter accuracy bound holds
  /// Per row: |max| + log1p(rest), if both terms are at most near_zero; otherwise +inf. `rest` is
  /// the sum of exp(v - max) without one of the largest entries.
  std::vector<long double> terms_near_zero;

  const std::vector<long double>& of(Function function) const;
};

/// Computes the functions of v = scale * x with scale and product rounded to T. A scale of 0 means
/// the limit from above.
template <class T>
Expected reference(const Rows<T>& x, double scale = 1.0, EmptyRows empty_rows = EmptyRows::nan);

}  // namespace KokkosSoftmax::Test

#endif
