// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RAGGEDROWS_HPP
#define KOKKOSSOFTMAX_TEST_RAGGEDROWS_HPP

/// \file
/// Ragged rows as the tests make them: their entries, with others before the first row and after
/// the last one, which belong to no row.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
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

/// Random lengths below `most`, some lengths on borders, and two long rows among them.
inline std::vector<std::size_t> lengths_around_a_mean(unsigned most) {
  std::mt19937 generator(most);
  std::vector<std::size_t> lengths = {0, 1, 1024, 1025, 4096, 4097, 0, 9000, 20000};
  while (lengths.size() < 100) lengths.push_back(generator() % most);
  std::shuffle(lengths.begin(), lengths.end(), generator);
  return lengths;
}

/// Lengths of up to `most` entries, and a few that are on the borders of what a part of a vector, a
/// vector or a team holds, and beyond.
inline std::vector<std::size_t> lengths_for_parts_of_vectors(unsigned most) {
  std::mt19937 generator(most);
  std::vector<std::size_t> lengths = {0,   1,    31,   32,   33,   63,   64,   65,
                                      127, 128,  129,  255,  256,  257,  511,  512,
                                      513, 1023, 1024, 1025, 4097, 9000, 20000};
  while (lengths.size() < 1000) lengths.push_back(generator() % (most + 1));
  std::shuffle(lengths.begin(), lengths.end(), generator);
  return lengths;
}

/// The lengths of rows that a host computes together with others of similar lengths, and a few
/// more.
inline constexpr std::size_t longest_of_short_rows = 66;
/// The number of rows of each of these lengths, so that lists of rows are full.
inline constexpr std::size_t short_rows_of_length = 12;

/// Adds short rows whose neighbours have other lengths. rows_of(columns) returns
/// short_rows_of_length rows.
template <class T, class RowsOf>
void add_short_rows(RaggedRows<T>& ragged, const RowsOf& rows_of) {
  std::vector<RaggedRows<T>> of_length(longest_of_short_rows);
  for (std::size_t i = 0; i < of_length.size(); ++i) of_length[i].add(rows_of(i + 1));
  for (std::size_t k = 0; k < short_rows_of_length; ++k)
    for (std::size_t i = 0; i < of_length.size(); ++i)  // 37 has no divisor in common with 66
      ragged.rows.push_back(of_length[i * 37 % of_length.size()].rows[k]);
}

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
