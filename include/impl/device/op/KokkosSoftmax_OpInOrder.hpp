// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_OP_OPINORDER_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_OP_OPINORDER_HPP

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The operation of the kernels that add up rows in ReductionOrder. Of float, the outputs share the
/// kernel and its state.
template <RowOp Op, int function>
using OpInOrder =
    std::conditional_t<Op::Outputs::size == 1 || sizeof(typename Op::Types::Compute) == 4, Op,
                       OneOutput<Op, function>>;

}  // namespace KokkosSoftmax::Impl

#endif
