// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PANELS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PANELS_HPP

/// \file
/// Rows that lie side by side. A panel is a group of neighbouring rows; each lane of a vector
/// belongs to one row, so that nothing is transposed or reduced over lanes.

#include <host/NearZero.hpp>
#include <host/PanelReduction.hpp>
#include <host/PanelWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Makes `lse` the log-sum-exp of row j of a panel.
template <class T>
void set_log_sum_exp(HostPanelStates<T>& states, std::int64_t j, double lse) {
  const SettledState<T> settled(lse);
  states.reference[j] = settled.reference;
  states.sum[j] = settled.sum;
  states.dropped[j] = settled.dropped;
}

/// Makes the log-sum-exps that are near 0 the references of their rows. The states are those of
/// columns [first, last).
template <class Values, class L, class Job>
void keep_digits_of_panel(const Job& job, std::int64_t first_row, std::int64_t rows,
                          std::int64_t first, std::int64_t last,
                          HostPanelStates<typename L::T>& states) {
  const Values values(job.factors);
  const auto* const x = job.x + first_row;
  for_each_vector_of<L>(rows, [&](std::int64_t j, const auto& access) {
    const LaneStates<L> row = panel_states<L>(states, j);
    const auto near_zero = are_near_zero<L>(row.reference, row.log_sum_exp());
    if (!any(near_zero)) return;
    SumsBesideMax<L> sums;
    for (std::int64_t c = first; c < last; ++c)
      sums.add(written_value<L>(job.factors, values(access.load(x + c * job.x_column_stride + j))));
    const int count = static_cast<int>(smaller(L::width, rows - j));
    for (int i = 0; i < count; ++i)
      if (near_zero[i]) set_log_sum_exp(states, j + i, sums.log_sum_exp(i));
  });
}

/// Writes what there is one number of per row.
template <class Op, class L, class Job>
void finish_panel(const Job& job, std::int64_t first_row, std::int64_t rows,
                  const HostPanelStates<typename L::T>& states) {
  for_each_vector_of<L>(rows, [&](std::int64_t j, const auto&) {
    const int count = static_cast<int>(smaller(L::width, rows - j));
    const LaneStates<L> row = panel_states<L>(states, j);
    if constexpr (Op::writes_entries)
      write_beside(job, first_row + j, row, count);
    else
      write_row_values<L>(job, first_row + j, row.log_sum_exp(), count);
  });
}

/// The states of columns [first, last) of a panel.
template <class Op, class Values, class L, class Job>
void reduce_panel(const Job& job, std::int64_t first_row, std::int64_t rows, std::int64_t first,
                  std::int64_t last, HostPanelStates<typename L::T>& states) {
  PanelReduction<Op, Values, L, typename Job::X>(Values(job.factors),
                                                 job.x + first_row + first * job.x_column_stride,
                                                 job.x_column_stride, rows, states)
      .run(last - first);
  if constexpr (keeps_digits<Op, Job>)
    keep_digits_of_panel<Values, L>(job, first_row, rows, first, last, states);
}

/// Adds the entries of `from` to `into`, for the first `rows` rows. See merge() of rows.
template <class Op, class L>
void merge_panel(HostPanelStates<typename L::T>& into, const HostPanelStates<typename L::T>& from,
                 std::int64_t rows) {
  using T = typename L::T;
  using V = typename L::V;
  const auto rescaled = [](V sum, V old, V reference) {
    const V factor = ExpForSum<L>::of_at_most_one(old - reference);
    return sum * (old == reference ? L::splat(1) : factor);
  };
  for_each_vector_of<L>(rows, [&](std::int64_t j, const auto&) {
    const V old = L::load(into.reference + j);
    const V from_reference = L::load(from.reference + j);
    const V from_max = L::load(from.max + j);
    const V reference = from_max > old + T(1) ? from_reference : old;
    const V old_sum = L::load(into.sum + j), old_dropped = L::load(into.dropped + j);
    const V from_sum = L::load(from.sum + j), from_dropped = L::load(from.dropped + j);
    const V added = from_sum - from_dropped;
    VectorSum<L> sum(rescaled(old_sum, old, reference), rescaled(old_dropped, old, reference));
    // all entries -inf: the sum is 0, and the factor can be infinite
    sum.add(added == T(0) ? V{} : rescaled(added, from_reference, reference));
    L::store(into.max + j, larger(from_max, L::load(into.max + j)));
    L::store(into.reference + j, reference);
    L::store(into.sum + j, sum.value());
    L::store(into.dropped + j, sum.dropped());
    if constexpr (!Op::writes_entries) {
      const auto near_zero =
          are_near_zero<L>(reference, reference + log_of<L>(sum.value() - sum.dropped()));
      if (!any(near_zero)) return;
      const auto lse = [](V reference, V sum, V dropped, int i) {
        return log_sum_exp_of_state(reference[i], static_cast<double>(sum[i]),
                                    static_cast<double>(dropped[i]));
      };
      for (int i = 0; i < L::width; ++i)
        if (near_zero[i])
          set_log_sum_exp(into, j + i,
                          merged_near_zero(lse(old, old_sum, old_dropped, i),
                                           lse(from_reference, from_sum, from_dropped, i)));
    }
  });
}

template <class Op, class Values, class L, bool streams, class Job>
void write_panel_of(const Job& job, std::int64_t first_row, std::int64_t rows, std::int64_t first,
                    std::int64_t last, const HostPanelStates<typename L::T>& states) {
  PanelWriter<Op, Values, L, streams, Job> writer(job, first_row, rows, states);
  with_far_prefetches([&]<PrefetchTo level>() {
    for (std::int64_t c = last - 1; c >= first; --c) writer.template write_column<level>(c);
  });
}

/// Writes columns [first, last) of a panel, last ones first.
template <class Op, class Values, class L, class Job>
void write_panel(const Job& job, std::int64_t first_row, std::int64_t rows, std::int64_t first,
                 std::int64_t last, const HostPanelStates<typename L::T>& states) {
  if constexpr (Op::writes_entries) {
    if (job.streams)
      write_panel_of<Op, Values, L, true>(job, first_row, rows, first, last, states);
    else
      write_panel_of<Op, Values, L, false>(job, first_row, rows, first, last, states);
  }
}

template <class Op, class Values, class L, class Job>
void wide_panels(const Job& job) {
  HostPanelStates<typename L::T> states;
  for (std::int64_t r = 0; r < job.rows; r += host_panel_rows) {
    const std::int64_t rows = smaller(host_panel_rows, job.rows - r);
    reduce_panel<Op, Values, L>(job, r, rows, 0, job.columns, states);
    finish_panel<Op, L>(job, r, rows, states);
    write_panel<Op, Values, L>(job, r, rows, 0, job.columns, states);
  }
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
