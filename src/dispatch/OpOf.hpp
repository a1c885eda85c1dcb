// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_OPOF_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_OPOF_HPP

#include <impl/KokkosSoftmax_Operation.hpp>
#include <op/LogSoftmax.hpp>
#include <op/LogSumExp.hpp>
#include <op/Softmax.hpp>

namespace KokkosSoftmax::Impl {

/// The type that computes an operation, the table of them.
template <Operation operation, class V>
struct OpTable;
template <class V>
struct OpTable<Operation::softmax, V> {
  using type = SoftmaxOp<V>;
};
template <class V>
struct OpTable<Operation::log_softmax, V> {
  using type = LogSoftmaxOp<V>;
};
template <class V>
struct OpTable<Operation::logsumexp, V> {
  using type = LogSumExpOp<V>;
};

template <Operation operation, class V>
using OpOf = typename OpTable<operation, V>::type;

}  // namespace KokkosSoftmax::Impl

#endif
