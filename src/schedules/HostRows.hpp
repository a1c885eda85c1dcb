// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTROWS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTROWS_HPP

/// \file
/// The host schedule for rows that are contiguous in x. The threads are distributed over the rows.
/// If there are fewer rows than threads and the rows are long, the threads are distributed over the
/// spans of each row. (A span is a piece of at most HostSpan::max_size entries.)

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FinishRow.hpp>
#include <op/ReduceTile.hpp>
#include <op/SecondRead.hpp>
#include <row/HostSpan.hpp>
#include <row/RowArgs.hpp>
#include <string>
#include <utility>

namespace KokkosSoftmax::Impl {

/// A row on a host. `reduce` and `write` work on its spans [first, last).
template <class Op, class Source>
class HostRow {
 public:
  using V = typename Source::Types;
  using T = typename V::Compute;
  using State = typename Op::State;
  using Y = typename V::Y;
  using Span = HostSpan<typename V::X, T, HostValues<Source>>;
  static constexpr std::int64_t span_size = Span::max_size;

  HostRow(const ArgumentsOf<Source>& arguments, std::int64_t r)
      : m_number(r),
        m_pointers(arguments.row(r)),
        m_source_row(arguments, r),
        m_arguments(arguments) {}

  static std::int64_t spans(std::int64_t columns) { return divide_up(columns, span_size); }

  State reduce(std::int64_t first, std::int64_t last) const {
    return with_output<Op>(m_arguments.function, [&]<class Output>(std::type_identity<Output>) {
      OnlineSum<typename Output::Exp, State> sum;
      for (std::int64_t s = first; s < last; ++s) {
        const Span entries = span(s);
        sum.add(entries);
      }
      return sum.state();
    });
  }

  /// Writes the spans in reverse order, because the cache holds the last ones after `sum`.
  void write(std::int64_t first, std::int64_t last, const State& row) const {
    with_output<Op>(m_arguments.function, [&]<class Output>(std::type_identity<Output>) {
      const EntryOutput<Op, Output> output(row, m_arguments.empty_rows);
      const std::int64_t stride = m_arguments.problem.y_column_stride;
      for (std::int64_t s = last - 1; s >= first; --s)
        span(s).transform_into(m_pointers.y + s * span_size * stride, stride, output);
    });
    write_masked(first * span_size, std::min(last * span_size, m_arguments.problem.columns), row);
  }

  void write_beside(const State& row) const { finish_beside<Op>(m_arguments, m_number, row); }

  void write_value(State row) const {
    second_read_of_host_row<Source>(m_arguments, m_number, row);
    finish_row<Op>(m_arguments, row, m_pointers.y);
  }

  /// The output of a row of one span, for an output that keeps exponentials. Each is computed once
  /// and kept until the sum is known: in y, which is in the cache, or in a local array if y would
  /// round it.
  template <class Output>
  void write_one_span() const {
    constexpr bool in_y = std::is_same_v<Y, T>;
    [[maybe_unused]] T beside[in_y ? 1 : span_size];
    T* exponentials;
    if constexpr (in_y)
      exponentials = m_pointers.y;
    else
      exponentials = beside;
    const Span entries = span(0);
    const T max = entries.max(-Kokkos::Experimental::infinity_v<T>);
    const T reference = StateTraits<State>::reference_of(max);
    const State row = StateTraits<State>::make(
        max, entries.sum_into(exponentials, typename Output::Exp(reference)));
    write_beside(row);
    const Output output(row, m_arguments.empty_rows);
    HostSpan<T, T, ValuesThemselves<T>>(exponentials, m_arguments.problem.columns, {})
        .transform_into(m_pointers.y, 1, output);
    write_masked(0, m_arguments.problem.columns, row);
  }

 private:
  /// As finish_masked(), for columns [first, last).
  void write_masked([[maybe_unused]] std::int64_t first, [[maybe_unused]] std::int64_t last,
                    [[maybe_unused]] const State& row) const {
    if constexpr (knows_rows<Source>)
      if (has_nan_results(row))
        finish_masked_on_host<Op, Source>(m_arguments, m_source_row, m_pointers.y, first, last);
  }

  Span span(std::int64_t s) const {
    const std::int64_t begin = s * span_size;
    return {m_pointers.x + begin, std::min(span_size, m_arguments.problem.columns - begin),
            on_host(Source(m_arguments), m_source_row), begin};
  }

  std::int64_t m_number;
  RowPointers<V> m_pointers;
  [[no_unique_address]] SourceRow<Source> m_source_row;
  const ArgumentsOf<Source>& m_arguments;
};

/// One thread works on each row.
template <class Op, class Source>
struct HostRowsKernel {
  ArgumentsOf<Source> arguments;

  void operator()(std::int64_t r) const {
    const HostRow<Op, Source> row(arguments, r);
    const std::int64_t columns = arguments.problem.columns;
    const std::int64_t spans = row.spans(columns);
    if constexpr (!Op::writes_entries) {
      row.write_value(row.reduce(0, spans));
    } else {
      with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
        if constexpr (Output::keeps_exponentials)
          if (spans == 1 && arguments.problem.y_column_stride == 1)
            return row.template write_one_span<Output>();
        const auto state = row.reduce(0, spans);
        row.write_beside(state);
        row.write(0, spans, state);
      });
    }
  }
};

/// All threads of a team work on each row, each thread on a contiguous range of spans.
template <class Exec, class Op, class Source>
struct HostSplitRowsKernel {
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  ArgumentsOf<Source> arguments;

  void operator()(const Member& member) const {
    const HostRow<Op, Source> row(arguments, member.league_rank());
    const std::int64_t spans = row.spans(arguments.problem.columns);
    const std::int64_t first = spans * member.team_rank() / member.team_size();
    const std::int64_t last = spans * (member.team_rank() + 1) / member.team_size();
    typename Op::State all = row.reduce(first, last);
    member.team_reduce(MergedStates<typename Op::State>(all));
    if constexpr (!Op::writes_entries) {
      if (member.team_rank() == 0) row.write_value(all);
    } else {
      if (member.team_rank() == 0) row.write_beside(all);
      row.write(first, last, all);
    }
  }
};

template <class Exec, class Op, class Source>
void host_rows(const Exec& exec, const std::string& label, const ArgumentsOf<Source>& arguments,
               bool reproducible) {
  // One thread reads a shorter row in less time than the threads of a team need to synchronize.
  constexpr std::int64_t min_columns_to_split = 65536;
  const std::int64_t rows = arguments.problem.rows;
  const bool split = !reproducible && rows < exec.concurrency() &&
                     arguments.problem.columns >= min_columns_to_split;
  if (!split) {
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows),
                         HostRowsKernel<Op, Source>{arguments});
    return;
  }
  const HostSplitRowsKernel<Exec, Op, Source> kernel{arguments};
  Kokkos::TeamPolicy<Exec> policy(exec, static_cast<int>(rows), 1);
  const int team_size = policy.team_size_max(kernel, Kokkos::ParallelForTag());
  policy = Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(rows), team_size);
  Kokkos::parallel_for(label, policy, kernel);
}

}  // namespace KokkosSoftmax::Impl

#endif
