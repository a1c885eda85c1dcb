// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_ROWMAX_HPP
#define KOKKOSSOFTMAX_SRC_OP_ROWMAX_HPP

/// \file
/// The maximum of a row beside y. The state of log_softmax has it. The state of softmax has a
/// reference near it, and to keep the maximum as well would cost registers in every call. So if a
/// call of softmax asks for the maximum, the entries are read once more for it, before any entry of
/// y is written, because y can be x. This code runs while no entries are held in registers.

#include <backend/Unroll.hpp>
#include <op/RowOp.hpp>
#include <row/RowArgs.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// Whether a kernel of the operation must read the row again for its maximum.
template <RowOp Op>
inline constexpr bool reads_row_for_max = Op::writes_entries&& requires(typename Op::State state) {
  state.value();
}
&&!requires(const typename Op::Output output) { output.max(); };

/// Whether a launch does so: the same for all threads.
template <RowOp Op, class V>
KOKKOS_FORCEINLINE_FUNCTION bool max_is_read([[maybe_unused]] const RowArgs<V>& arguments) {
  if constexpr (reads_row_for_max<Op>)
    return arguments.problem.max != nullptr;
  else
    return false;
}

/// The maximum of a row, given the largest entry that isn't NaN and a number that is NaN if an
/// entry is NaN. It may also be NaN if an entry is +inf: the states of rows can't tell these apart.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T max_or_nan(T max, T nan_if_any) {
  const bool is_max = nan_if_any == nan_if_any || max == Kokkos::Experimental::infinity_v<T>;
  return is_max ? max : Kokkos::Experimental::quiet_NaN_v<T>;
}

/// The maximum of a row from the maxima of two of its parts: +inf, or else NaN, or else the larger.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T max_of_parts(T a, T b) {
  constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
  if (a != a) return b == infinity ? b : a;
  if (b != b) return a == infinity ? a : b;
  return larger(a, b);
}

/// A Kokkos reducer that does the same.
template <class T>
struct MaxOfParts : MaxEntry<T> {
  using reducer = MaxOfParts;
  using MaxEntry<T>::MaxEntry;
  KOKKOS_INLINE_FUNCTION void join(T& into, const T& from) const {
    into = max_of_parts(into, from);
  }
};

/// The maximum of the columns first, first + step, first + 2 step, ... below `end` of row r. Few
/// loads are in flight, and make_opaque keeps the compiler from computing addresses here that are
/// needed later: they would occupy registers of the rest of the kernel.
template <class Source, class V>
KOKKOS_FORCEINLINE_FUNCTION auto max_of_columns(const RowArgs<V>& arguments, std::int64_t r,
                                                std::int64_t first, std::int64_t end, int step) {
  using T = typename V::Compute;
  const Source source(arguments);
  make_opaque(r);
  make_opaque(first);
  make_opaque(step);
  const typename V::X* const x = arguments.row(r).x;
  const std::int64_t stride = arguments.problem.x_column_stride;
  T max = -Kokkos::Experimental::infinity_v<T>;
  bool has_nan = false;
  KOKKOSSOFTMAX_IMPL_UNROLL_TWICE
  for (std::int64_t column = first; column < end; column += step) {
    const T value = source.value(static_cast<T>(x[column * stride]), column);
    max = larger(max, value);
    has_nan = has_nan || value != value;
  }
  return max_or_nan(max, has_nan ? Kokkos::Experimental::quiet_NaN_v<T> : T(0));
}

template <int lanes, class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T max_of_parts_over_lanes(const Member& member, T part) {
  return combine_over_lanes<lanes, MaxOfParts<T>>(member, part,
                                                  [](T a, T b) { return max_of_parts(a, b); });
}

/// The maximum over all threads of a team, in the first thread. `scratch` has room for a number per
/// thread. It may hold other data before the call and can be used for other data after it.
template <int threads, int lanes, class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T max_of_parts_over_team(const Member& member, int lane, T* scratch,
                                                     T part) {
  T max = max_of_parts_over_lanes<lanes>(member, part);
  if constexpr (threads > 1) {
    member.team_barrier();
    if (lane == 0) scratch[member.team_rank()] = max;
    member.team_barrier();
    if (member.team_rank() == 0)
      for (int t = 1; t < threads; ++t) max = max_of_parts(max, scratch[t]);
    member.team_barrier();
  }
  return max;
}

/// Writes the maximum of row r. Call it in one thread per row.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void write_max(const RowArgs<V>& arguments, std::int64_t r,
                                           typename V::Compute max) {
  *arguments.max(r) = written_value(max, arguments.scale_is_zero);
}

/// Reads row r with all threads of a team and writes its maximum, if the launch asks for it. All
/// threads of the team call this together, before they allocate scratch memory; the team must have
/// scratch memory for a State per thread.
template <class Exec, RowOp Op, class Source, int threads, int lanes, class Member, class V>
KOKKOS_FORCEINLINE_FUNCTION void read_max_by_team(const Member& member, int lane,
                                                  const RowArgs<V>& arguments, std::int64_t r) {
  if constexpr (reads_row_for_max<Op>) {
    if (!max_is_read<Op>(arguments)) return;
    make_opaque(r);  // as in max_of_columns
    make_opaque(lane);
    using T = typename V::Compute;
    const auto all_scratch = member.team_scratch(0);  // a copy: what is allocated here isn't kept
    const ScratchStates<Exec, typename Op::State> states(all_scratch, threads);
    const int thread_id = member.team_rank() * lanes + lane;
    const T max = max_of_parts_over_team<threads, lanes>(
        member, lane, reinterpret_cast<T*>(states.data()),
        max_of_columns<Source>(arguments, r, thread_id, arguments.problem.columns,
                               threads * lanes));
    if (thread_id == 0) write_max(arguments, r, max);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
