// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSSOUTPUT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSSOUTPUT_HPP

/// \file
/// What the host schedules of cross_entropy have in common: the numbers of rows, and the sums over
/// rows for label smoothing.

#include <algorithm>
#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <op/CrossEntropy.hpp>
#include <row/HostBlock.hpp>
#include <row/LossSource.hpp>
#include <schedules/HostJobs.hpp>

namespace KokkosSoftmax::Impl {

template <class V>
class HostLossOutput {
 public:
  using T = typename V::Compute;
  using X = typename V::X;

  explicit HostLossOutput(const LossArgs<V>& arguments) : m_arguments(arguments) {}

  bool smooths() const { return m_arguments.smoothing != T(0); }
  std::int64_t label(std::int64_t r) const {
    return label_of_row(m_arguments.problem, m_arguments.labels, r);
  }
  HostFactors<T> factors() const {
    return LossSource<V>(m_arguments).on_host().template factors<HostFactors<T>>();
  }

  void load(const HostBlock& block, const BlockBuffer<T>& to) const {
    to.combine(entries_of(m_arguments, block), [](T, X entry) { return static_cast<T>(entry); });
  }

  /// Writes the numbers of rows from row `first` on, of one group of neighbours: their
  /// log-sum-exps, and the losses. log_p(r, column) is the logarithm of a probability in the r-th
  /// of them, and mean_log_p(r) is the mean of all, which is needed if the loss is smoothed.
  template <class LogP, class MeanLogP>
  void write_rows(std::int64_t first, std::int64_t count, const T* lse, const LogP& log_p,
                  const MeanLogP& mean_log_p) const {
    const NumbersOfRows<T> row_lse(m_arguments.problem, m_arguments.row_lse, first);
    const NumbersOfRows<T> loss(m_arguments.problem, m_arguments.loss, first);
    const auto& index = m_arguments.labels.index;
    const std::int64_t label_of_first =
        outer_offset(m_arguments.problem, first, index.outer_stride);
    const std::int64_t label_stride = index.outer_stride[m_arguments.problem.outer_rank - 1];
    for (std::int64_t r = 0; r < count; ++r) {
      if (row_lse.data != nullptr) row_lse[r] = lse[r];
      const std::int64_t label =
          label_at(m_arguments.problem, m_arguments.labels, label_of_first + r * label_stride);
      loss[r] =
          loss_of(label, label < 0 ? T(0) : log_p(r, label), smooths() ? mean_log_p(r) : T(0));
    }
  }
  /// Writes those of a row without columns.
  void write_empty(std::int64_t r) const {
    LabelEntry<CrossEntropyOp<V>> label(m_arguments, r);
    label.load_entry(m_arguments);
    label.finish(m_arguments, LogSumExpState<T>{}, T(0));
  }

  T mean(double total) const { return static_cast<T>(m_arguments.mean(total)); }

  /// Makes entries infinite whose values exceed the numbers of T, because those values are.
  void make_infinite(const BlockBuffer<T>& entries) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    const T scale = m_arguments.scale;
    entries.replace([scale](T entry) {
      const T value = scale * entry;
      return value == infinity || value == -infinity ? entry * infinity : entry;
    });
  }

  /// The sum of the shares (LossArgs) of a row's numbers. So few are added to each partial sum that
  /// doubles lose no digits, even if each addition is rounded in the same direction.
  double sum_of_row(const T* numbers, std::int64_t count) const {
    constexpr std::int64_t lanes = 8, block = most_terms * lanes;
    const auto share = static_cast<double>(m_arguments.share);
    CompensatedSum<double> sum;
    for (std::int64_t first = 0; first < count; first += block) {
      double partial[lanes] = {};
      const std::int64_t end = std::min(count, first + block);
      std::int64_t c = first;
      for (; c + lanes <= end; c += lanes)
        for (std::int64_t i = 0; i < lanes; ++i)
          partial[i] += share * static_cast<double>(numbers[c + i]);
      for (; c < end; ++c) partial[0] += share * static_cast<double>(numbers[c]);
      for (std::int64_t i = 0; i < lanes; ++i) sum.add(partial[i]);
    }
    return sum.value();
  }
  /// The same for all rows of a buffer in which they lie side by side.
  template <std::int64_t most_rows>
  void sum_rows(const BlockBuffer<T>& numbers, double (&total)[most_rows]) const {
    const auto share = static_cast<double>(m_arguments.share);
    const std::int64_t rows = numbers.run_size(), columns = numbers.runs();
    CompensatedSum<double> sum[most_rows];
    double partial[most_rows];
    for (std::int64_t first = 0; first < columns; first += most_terms) {
      std::fill_n(partial, rows, 0.0);
      for (std::int64_t c = first; c < std::min(columns, first + most_terms); ++c)
        for (std::int64_t r = 0; r < rows; ++r)
          partial[r] += share * static_cast<double>(numbers.run(c)[r]);
      for (std::int64_t r = 0; r < rows; ++r) sum[r].add(partial[r]);
    }
    for (std::int64_t r = 0; r < rows; ++r) total[r] = sum[r].value();
  }

 private:
  static constexpr std::int64_t most_terms = 8;  // of a partial sum

  T loss_of(std::int64_t label, T log_p, T mean_log_p) const {
    const T smoothing = m_arguments.smoothing;
    if (label == NoLabel::ignored) return T(0);
    if (label == NoLabel::invalid) return Kokkos::Experimental::quiet_NaN_v<T>;
    return (smoothing == T(1) ? T(0) : T(0) - (T(1) - smoothing) * log_p) -
           (smooths() ? smoothing * mean_log_p : T(0));
  }

  const LossArgs<V>& m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
