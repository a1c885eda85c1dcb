// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RAGGEDROWS_HPP
#define KOKKOSSOFTMAX_TEST_RAGGEDROWS_HPP

/// \file
/// Ragged rows as the tests make them: their entries, with others before the first row and after
/// the last one, which belong to no row.

#include <cstddef>
#include <cstdint>
#include <reference/Reference.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

template <class T>
struct RaggedRows {
  std::vector<Rows<T>> rows;  // each with one row
  std::size_t before = 3;     // entries before the first row
  std::size_t after = 2;      // and after the last one

  std::size_t begin(std::size_t r) const {
    std::size_t begin = before;
    for (std::size_t i = 0; i < r; ++i) begin += rows[i].columns;
    return begin;
  }

  template <class Offset>
  std::vector<Offset> offsets() const {
    std::vector<Offset> all{static_cast<Offset>(before)};
    for (const auto& row : rows) all.push_back(all.back() + static_cast<Offset>(row.columns));
    return all;
  }

  /// The entries of all rows, and `other` in the entries that belong to no row.
  std::vector<T> entries(T other) const {
    std::vector<T> all(before, other);
    for (const auto& row : rows) all.insert(all.end(), row.values.begin(), row.values.end());
    all.resize(all.size() + after, other);
    return all;
  }

  void add(const Rows<T>& some) {
    for (std::size_t r = 0; r < some.count; ++r) {
      const auto first = some.values.begin() + static_cast<std::ptrdiff_t>(r * some.columns);
      rows.push_back(
          {.count = 1,
           .columns = some.columns,
           .values = std::vector<T>(first, first + static_cast<std::ptrdiff_t>(some.columns))});
    }
  }
};

/// Calls f(r, values of row r) with the entries of each row in an array of all entries.
template <class T, class F>
void for_each_row(const RaggedRows<T>& ragged, const std::vector<T>& all, const F& f) {
  auto first = all.begin() + static_cast<std::ptrdiff_t>(ragged.before);
  for (std::size_t r = 0; r < ragged.rows.size(); ++r) {
    const auto last = first + static_cast<std::ptrdiff_t>(ragged.rows[r].columns);
    f(r, std::vector<T>(first, last));
    first = last;
  }
}

/// Whether the entries that belong to no row are all `other`.
template <class T>
bool others_are(const RaggedRows<T>& ragged, const std::vector<T>& all, T other) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((i < ragged.before || i + ragged.after >= all.size()) && all[i] != other) return false;
  return true;
}

}  // namespace KokkosSoftmax::Test

#endif
