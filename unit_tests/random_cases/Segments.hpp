// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_SEGMENTS_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_SEGMENTS_HPP

/// \file
/// Random ragged rows: their lengths, their places in memory and their offsets.

#include <KokkosSoftmax_Segments.hpp>
#include <array>
#include <optional>
#include <ostream>
#include <random_cases/Arrays.hpp>
#include <support/OneLane.hpp>
#include <support/RaggedRows.hpp>

namespace KokkosSoftmax::Test {

/// A length at which rows are computed in another way, or a number near it.
inline std::size_t length_on_border(Random& random) {
  const std::size_t border =
      random.element_of(std::array{1, 4, 8, 32, 128, 512, 1024, 2048, 4096, 8192, 16384, 65536});
  return border + random.below(5) - std::min<std::size_t>(border, 2);
}

/// Lengths of few thousand entries in all, or up to some 10^5.
inline std::vector<std::size_t> random_lengths(Random& random) {
  std::size_t entries = random.one_in(150) ? 300000 : random.one_in(10) ? 20000 : 2000;
  const std::size_t longest =
      random.element_of(std::array<std::size_t, 6>{1, 4, 40, 300, 3000, entries});
  const std::size_t empty = random.element_of(std::array{2, 10, 1000});
  const std::size_t border = random.element_of(std::array{5, 100});
  std::size_t rows = random.one_in(100) ? 0 : random.up_to(random.one_in(20) ? 5000 : 100);
  std::vector<std::size_t> lengths;
  for (; rows > 0; --rows) {
    std::size_t length = random.one_in(border) ? length_on_border(random) : random.up_to(longest);
    length = random.one_in(empty) ? 0 : std::min(length, entries);
    entries -= length;
    lengths.push_back(length);
  }
  return lengths;
}

/// The offsets of random ragged rows, of 32 or 64 bits. Some entries may belong to no row.
template <class Exec>
class RandomSegments {
 public:
  explicit RandomSegments(Random& random)
      : lengths(random_lengths(random)),
        before(random.one_in(2) ? 0 : random.below(20)),
        after(random.one_in(2) ? 0 : random.below(20)) {
    const Placement placement{{lengths.size() + 1}, {1}, random.below(8)};
    std::vector<std::int64_t> offsets{static_cast<std::int64_t>(before)};
    for (const std::size_t length : lengths)
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(length));
    if (random.one_in(2))
      m_of_32_bits.emplace(placement).assign(offsets);
    else
      m_of_64_bits.emplace(placement).assign(offsets);
  }

  std::vector<std::size_t> lengths;
  std::size_t before;  // entries before the first row
  std::size_t after;   // and after the last one

  /// Rows that make(length) makes.
  template <class T, class Make>
  RaggedRows<T> rows(const Make& make) const {
    RaggedRows<T> all{.rows = {}, .before = before, .after = after};
    for (const std::size_t length : lengths) all.rows.push_back(make(length));
    return all;
  }

  /// A place for one number per entry, or per row.
  Placement random_entries(Random& random) const {
    const std::size_t inside = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    return {{before + inside + after}, {1}, random.one_in(2) ? 0 : random.below(17)};
  }
  Placement random_numbers(Random& random) const {
    return {{lengths.size()}, {1}, random.below(8)};
  }

  /// Whether the call may be replaced by one of the kernels for GPUs on a host.
  template <class X, class Y>
  bool may_use_one_lane() const {
    constexpr bool have_same_types = std::is_same_v<X, Y> && sizeof(X) > 2;
    return is_host_space<Exec> && have_same_types && !lengths.empty();
  }
  /// The problem of such a call, without the arrays of an operation.
  template <class T>
  RaggedProblem<T, T> problem(const Placement& entries) const {
    RaggedProblem<T, T> problem;
    problem.rows = static_cast<std::int64_t>(lengths.size());
    problem.entries = static_cast<std::int64_t>(entries.extents[0]);
    with_offsets([&](const auto& offsets) {
      problem.offset = {offsets.data(), m_of_64_bits.has_value()};
    });
    return problem;
  }

  /// Calls f(View of the offsets).
  template <class F>
  void with_offsets(const F& f) const {
    if (m_of_32_bits)
      f(m_of_32_bits->template view<Kokkos::LayoutRight, 1, const std::int32_t>());
    else
      f(m_of_64_bits->template view<Kokkos::LayoutRight, 1, const std::int64_t>());
  }
  bool are_unchanged() const {
    return m_of_32_bits ? m_of_32_bits->is_unchanged() : m_of_64_bits->is_unchanged();
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomSegments& segments) {
    out << segments.lengths.size() << " rows with offsets of " << (segments.m_of_32_bits ? 32 : 64)
        << " bits, lengths";
    for (std::size_t r = 0; r < std::min<std::size_t>(segments.lengths.size(), 20); ++r)
      out << ' ' << segments.lengths[r];
    if (segments.lengths.size() > 20) out << " ...";
    return out << ", before " << segments.before << ", after " << segments.after;
  }

 private:
  std::optional<Field<std::int32_t, Exec>> m_of_32_bits;
  std::optional<Field<std::int64_t, Exec>> m_of_64_bits;
};

/// What entries of inputs hold that belong to no row.
template <class T>
inline constexpr T entry_of_no_row = T(8192);  // in all types

/// Rows as an array holds them: rounded to X.
template <class X, class T>
Rows<T> rounded(Rows<T> rows) {
  for (T& value : rows.values) value = static_cast<T>(static_cast<X>(value));
  return rows;
}

/// Whether the rows in an array are right, by is_right(r, entries of row r), and its other entries
/// are `other`.
template <class T, class IsRight>
::testing::AssertionResult are_rows_right(const RaggedRows<T>& ragged, const std::vector<T>& got,
                                          T other, const IsRight& is_right) {
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  for_each_row(ragged, got, [&](std::size_t r, const std::vector<T>& values) {
    if (!result) return;
    result = is_right(r, values);
    if (!result) result << "\n  in row " << r << " of " << values.size() << " entries";
  });
  if (result && !others_are(ragged, got, other))
    return ::testing::AssertionFailure() << "an entry that belongs to no row was written";
  return result;
}

}  // namespace KokkosSoftmax::Test

#endif
