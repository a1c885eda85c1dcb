// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_HELDVALUES_HPP
#define KOKKOSSOFTMAX_SRC_OP_HELDVALUES_HPP

/// \file
/// Rows whose values are in registers, in any order.

#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <row/RowArgs.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// The state of a row whose values the lanes of a vector hold together. All lanes get the same
/// result. The values become the results if these are entries.
///
/// \param for_each  calls a function for the numbers of all values of the lane
template <RowOp Op, int lanes, class Member, class T, class ForEach>
KOKKOS_FORCEINLINE_FUNCTION typename Op::State compute_held(
    const Member& member, const RowArgs<typename Op::Types>& arguments, T* value,
    const ForEach& for_each) {
  using Traits = StateTraits<typename Op::State>;
  T max = -Kokkos::Experimental::infinity_v<T>;
  for_each([&](int j) { max = larger(max, value[j]); });
  max = max_over_lanes<lanes>(member, max);
  const T reference = Traits::reference_of(max);
  const T sum = with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
    return sum_by(typename Output::Exp(reference), [&](const auto& exp) {
      T terms = T(0);
      for_each(
          [&](int j) { add_term<Output::keeps_exponentials>(terms, exp, value[j], value[j]); });
      return terms;
    });
  });
  const auto state = Traits::make(max, sum_over_lanes<lanes>(member, sum));
  if constexpr (Op::writes_entries)
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      const Output output(state, arguments.empty_rows);
      for_each([&](int j) { value[j] = output(value[j]); });
    });
  return state;
}

}  // namespace KokkosSoftmax::Impl

#endif
