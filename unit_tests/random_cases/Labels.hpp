// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_LABELS_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_LABELS_HPP

/// \file
/// Random labels of rows, and what they mean.

#include <array>
#include <optional>
#include <random_cases/Operands.hpp>
#include <reference/Loss.hpp>

namespace KokkosSoftmax::Test {

/// The ignored label: one of the labels of a row with `columns` columns, or none of them.
inline std::int64_t random_ignored_label(Random& random, std::size_t columns) {
  const auto column = static_cast<std::int64_t>(random.below(columns + 1));
  return random.element_of(std::array<std::int64_t, 6>{-100, -100, -1, column,
                                                       column + (std::int64_t{1} << 32),
                                                       std::numeric_limits<std::int64_t>::min()});
}

/// A label of a row with `columns` columns. If `any`, it may be none.
inline std::int64_t random_label(Random& random, std::size_t columns, bool any) {
  const auto n = static_cast<std::int64_t>(columns);
  const auto column = static_cast<std::int64_t>(random.below(std::max<std::size_t>(columns, 1)));
  if (any && random.one_in(6))
    return random.element_of(std::array<std::int64_t, 5>{
        n, n + 1, -1, column + (std::int64_t{1} << 32), std::numeric_limits<std::int32_t>::min()});
  return random.one_in(6) ? n - 1 : column;
}

/// A label per row, of 32 or 64 bits.
template <class Exec>
class RandomLabels {
 public:
  RandomLabels(Random& random, const Extents& rows, std::size_t columns)
      : m_extents(rows),
        m_ignored(random_ignored_label(random, columns)),
        m_smoothing(random.element_of(std::array{0.0, 0.0, 0.1, 0.9, 1.0})) {
    const bool any = random.one_in(2);
    const auto label = [&] {
      return any && random.one_in(6) ? m_ignored : random_label(random, columns, any);
    };
    if (random.one_in(2))
      m_of_32_bits.emplace(random_input_placement(random, rows), label);
    else
      m_of_64_bits.emplace(random_input_placement(random, rows), label);
  }

  bool are_unchanged() const {
    return m_of_32_bits ? m_of_32_bits->is_unchanged() : m_of_64_bits->is_unchanged();
  }

  KokkosSoftmax::Impl::LabelArrays arrays(const RandomShape& shape) const {
    KokkosSoftmax::Impl::LabelArrays arrays;
    if (m_of_32_bits)
      arrays.index = shape.given_rows(m_of_32_bits->array());
    else
      arrays.index = shape.given_rows(m_of_64_bits->array());
    arrays.ignored = m_ignored;
    arrays.smoothing = m_smoothing;
    return arrays;
  }

  Labels of_rows() const {
    return {.of_row = m_of_32_bits ? m_of_32_bits->template broadcast<std::int64_t>(m_extents)
                                   : m_of_64_bits->template broadcast<std::int64_t>(m_extents),
            .ignored = m_ignored,
            .smoothing = m_smoothing};
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomLabels& labels) {
    return out << ", labels of " << (labels.m_of_32_bits ? 32 : 64) << " bits, ignored "
               << labels.m_ignored << ", smoothing " << labels.m_smoothing;
  }

 private:
  Extents m_extents;
  std::int64_t m_ignored;
  double m_smoothing;
  std::optional<RandomOperand<std::int32_t, Exec>> m_of_32_bits;
  std::optional<RandomOperand<std::int64_t, Exec>> m_of_64_bits;
};

}  // namespace KokkosSoftmax::Test

#endif
