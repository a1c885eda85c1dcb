// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_CROSSENTROPY_HPP
#define KOKKOSSOFTMAX_SRC_OP_CROSSENTROPY_HPP

#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_LogSoftmax.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_PlainSum.hpp>
#include <op/FinishRow.hpp>
#include <row/LossSource.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// How a row is reduced: as for log_softmax, so that the maximum is kept. `value` is the
/// log-sum-exp.
template <class T>
struct CrossEntropyOutput {
  using Exp = ExpForSum<T>;
  using State = LogSumExpState<T>;
  using HeldState = State;
  static constexpr const char* name = to_string(LossOperation::cross_entropy);
  static constexpr bool keeps_exponentials = false;
  static constexpr bool computes_on_half_pairs = true;

  KOKKOS_FORCEINLINE_FUNCTION CrossEntropyOutput(const State& row, EmptyRows)
      : value(row.value()) {}

  T value;
};

template <class V>
struct CrossEntropyOp {
  using Types = V;
  using State = LogSumExpState<typename V::Compute>;
  using Outputs = OutputList<CrossEntropyOutput<typename V::Compute>>;
  static constexpr bool writes_entries = false;
  static constexpr bool needs_label = true;
};

template <class Op>
inline constexpr bool is_loss = requires {
  requires Op::needs_label;
};

/// The loss of a row with a label, given the values of the label's entry and of the mean entry.
template <class V, class T>
KOKKOS_FORCEINLINE_FUNCTION T loss_of(const LogSoftmaxOutput<V>& log_probability, T smoothing,
                                      T of_label, T mean) {
  if (smoothing == T(0)) return T(0) - log_probability(of_label);
  const T loss = T(0) - smoothing * log_probability(mean);
  return smoothing == T(1) ? loss : loss - (T(1) - smoothing) * log_probability(of_label);
}

/// The label of a row and the entry there. The load of the entry depends on that of the label.
/// Kernels that hold the row make the object before they load the row, and call load_entry() after
/// they have loaded or reduced it, so that they wait for the label and for the row at one time.
/// Loops load both before the row, because more registers are in use later. `one_axis`: whether the
/// problem is known to have one outer axis.
template <class Op, bool one_axis = false>
class LabelEntry {
 public:
  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION LabelEntry(const Arguments&, std::int64_t /*r*/) {}
  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION void load_entry(const Arguments&) {}
};
template <class Op, bool one_axis>
requires is_loss<Op>
class LabelEntry<Op, one_axis> {
  using V = typename Op::Types;
  using X = typename V::X;
  using T = typename V::Compute;

 public:
  /// Row r must exist.
  KOKKOS_FORCEINLINE_FUNCTION LabelEntry(const LossArgs<V>& arguments, std::int64_t r)
      : m_row(r),
        m_index(arguments.labels,
                offset_of_row<one_axis>(arguments.problem, r, arguments.labels.index.outer_stride)),
        m_label(NoLabel::ignored),
        m_x(arguments.padding) {}

  KOKKOS_FORCEINLINE_FUNCTION void load_entry(const LossArgs<V>& arguments) {
    m_label = label_of_index(arguments.problem, arguments.labels, m_index.value(arguments.labels));
    if (m_label >= 0)
      m_x = arguments.template row<one_axis>(m_row).x[m_label * arguments.problem.x_column_stride];
  }

  /// Writes the loss and the log-sum-exp of the row, given the sum of the shares of its entries
  /// (LossArgs). Call it in one thread per row.
  KOKKOS_FORCEINLINE_FUNCTION void finish(const LossArgs<V>& arguments,
                                          const LogSumExpState<T>& state, T total) const {
    const auto& problem = arguments.problem;
    const LogSoftmaxOutput<V> log_probability(state, EmptyRows::nan);
    if (arguments.row_lse.data != nullptr)
      number_of_row<one_axis>(problem, arguments.row_lse, m_row) =
          written_lse(log_probability.log_sum_exp(), arguments.scale_is_zero);
    T loss = m_label == NoLabel::ignored ? T(0) : Kokkos::Experimental::quiet_NaN_v<T>;
    if (m_label >= 0)
      loss = loss_of(log_probability, arguments.smoothing,
                     LossSource<V>(arguments).value(static_cast<T>(m_x), m_label),
                     arguments.mean(total));
    number_of_row<one_axis>(problem, arguments.loss, m_row) = loss;
  }

 private:
  std::int64_t m_row;
  LoadedIndex m_index;
  std::int64_t m_label;
  X m_x;
};

/// The sum of the shares of a row's entries (LossArgs), which label smoothing needs. There is none
/// for operations without labels.
template <class Op>
class RowTotal {
 public:
  template <class Tile, class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Tile&, const Arguments&, const typename Tile::Row&,
                                       std::int64_t, int) {}
};
template <class Op>
requires is_loss<Op>
class RowTotal<Op> {
  using T = typename Op::Types::Compute;

 public:
  /// Adds a tile that was loaded with the same arguments.
  template <class Tile, class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Tile& tile, const Arguments& arguments,
                                       const typename Tile::Row& row, std::int64_t first,
                                       int thread_id) {
    if (arguments.smoothing != T(0)) m_sum.add(tile.total(row, first, thread_id, arguments.share));
  }
  /// What this thread has added.
  KOKKOS_FORCEINLINE_FUNCTION PlainSum<T> state() const { return {m_sum.value()}; }

 private:
  CompensatedSum<T> m_sum;
};

/// The RowTotals of the threads of a team, merged. Only the first thread gets the result.
template <class Exec, class Op, int threads, int lanes, class Member, class T>
KOKKOS_FORCEINLINE_FUNCTION T total_of_team(const Member& member, int lane,
                                            const RowTotal<Op>& total, T smoothing) {
  if (smoothing == T(0)) return T(0);
  const ScratchStates<Exec, PlainSum<T>> sums(member.team_scratch(0), threads);
  return merge_over_team<threads, lanes, true>(member, lane, sums,
                                               merge_over_lanes<lanes>(member, total.state()))
      .sum;
}
template <class Exec, class Op>
std::size_t total_bytes([[maybe_unused]] int threads) {
  if constexpr (is_loss<Op>)
    return ScratchStates<Exec, PlainSum<typename Op::Types::Compute>>::shmem_size(threads);
  else
    return 0;
}

/// Finishes row r, which the lanes of a vector hold in a tile, if it exists.
template <RowOp Op, int lanes, class Member, class Tile, class Arguments, class Label>
KOKKOS_FORCEINLINE_FUNCTION void finish_loss_of_lanes(const Member& member, const Tile& tile,
                                                      const Arguments& arguments, std::int64_t r,
                                                      const typename Tile::Row& row,
                                                      const Label& label, int lane,
                                                      const typename Op::State& state) {
  typename Op::Types::Compute total(0);
  if (arguments.smoothing != 0) {
    RowTotal<Op> of_lane;
    of_lane.add(tile, arguments, row, 0, lane);
    total = merge_over_lanes<lanes>(member, of_lane.state()).sum;
  }
  if (lane == 0 && r < arguments.problem.rows) label.finish(arguments, state, total);
}

}  // namespace KokkosSoftmax::Impl

#endif
