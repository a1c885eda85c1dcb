// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_BOTHAXES_HPP
#define KOKKOSSOFTMAX_TEST_BOTHAXES_HPP

/// \file
/// A call of logsumexp_both_axes with its memory and its expected results.

#include <launch/BothAxesLaunch.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {

/// The columns of a matrix as rows.
template <class T>
Rows<T> transposed(const Rows<T>& x) {
  Rows<T> result{.count = x.columns, .columns = x.count, .values = std::vector<T>(x.values.size())};
  for (std::size_t i = 0; i < x.count; ++i)
    for (std::size_t j = 0; j < x.columns; ++j)
      result.values[j * x.count + i] = x.values[i * x.columns + j];
  return result;
}

/// A matrix, and what the results are for a scale. The reference takes longer than the calls.
template <class T>
struct BothAxesSample {
  Rows<T> rows, columns;
  double scale;
  Expected of_rows, of_columns;

  explicit BothAxesSample(const Rows<T>& rows_, double scale_ = 1)
      : rows(rows_),
        columns(transposed(rows_)),
        scale(scale_),
        of_rows(reference(rows, scale)),
        of_columns(reference(columns, scale)) {}
};

/// Whether the results of a call are those of the sample.
template <class T>
::testing::AssertionResult are_right(const BothAxesSample<T>& sample, const std::vector<T>& row_lse,
                                     const std::vector<T>& column_lse) {
  auto result = is_accurate(Function::logsumexp, sample.rows, sample.of_rows, row_lse);
  if (!result) return result << "\n  along the rows";
  result = is_accurate(Function::logsumexp, sample.columns, sample.of_columns, column_lse);
  if (!result) result << "\n  along the columns";
  return result;
}

/// The memory of a call: a matrix of layout L, and results of layout LR.
template <class Exec, class X, class L = Kokkos::LayoutRight, class LR = Kokkos::LayoutRight>
class BothAxesCall {
 public:
  using T = typename KokkosSoftmax::Impl::ValueTypes<X>::Compute;

  explicit BothAxesCall(const Rows<T>& rows, std::size_t offset = 0)
      : m_x(place<L>({rows.count, rows.columns}, offset)),
        m_row_lse(place<LR>({rows.count}, offset)),
        m_column_lse(place<LR>({rows.columns}, offset)) {
    m_x.assign(rows.values);
  }

  void run(const Exec& exec, double scale = 1) const {
    logsumexp_both_axes(exec, x(), row_lse(), column_lse(), scale);
  }

  /// The same on a host with the kernels for GPUs: a team has one lane, with 8 columns in chunks of
  /// `width`.
  template <int width>
  void run_panels(const Exec& exec, double scale = 1) const {
    using namespace KokkosSoftmax::Impl;
    using OneLane = Shape<1, 1, 8 / width, width, AccessMode::guarded_vectors, 2, 2>;
    launch_both_axes_in_panels<Exec, ValueTypes<X>, OneLane>(
        exec,
        checked_both_axes(input_array<X>(x()), strided_array(row_lse()),
                          strided_array(column_lse()), scale),
        scale);
  }

  /// The results of all rows, and then those of all columns. The caller must have fenced.
  std::vector<T> results() const {
    std::vector<T> all = m_row_lse.read();
    const std::vector<T> of_columns = m_column_lse.read();
    all.insert(all.end(), of_columns.begin(), of_columns.end());
    return all;
  }

  /// Whether the results are right, and nothing else has been written.
  ::testing::AssertionResult is_right(const BothAxesSample<T>& sample) const {
    auto result = are_right(sample, m_row_lse.read(), m_column_lse.read());
    result = both(result, m_row_lse.gaps_are_unchanged() && m_column_lse.gaps_are_unchanged(),
                  "something beside the results was written");
    return both(result, m_x.is_unchanged(), "x was written");
  }

 private:
  auto x() const { return m_x.template view<L, 2, const X>(); }
  auto row_lse() const { return m_row_lse.template view<LR, 1>(); }
  auto column_lse() const { return m_column_lse.template view<LR, 1>(); }

  Field<X, Exec> m_x;
  Field<T, Exec> m_row_lse, m_column_lse;
};

}  // namespace KokkosSoftmax::Test

#endif
