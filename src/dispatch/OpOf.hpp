// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_OPOF_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_OPOF_HPP

#include <algorithm>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/device/op/KokkosSoftmax_Backward.hpp>
#include <impl/device/op/KokkosSoftmax_LogSumExp.hpp>
#include <impl/device/op/KokkosSoftmax_Softmax.hpp>
#include <op/CrossEntropy.hpp>
#include <op/WeightedLogSumExp.hpp>
#include <row/WeightedSource.hpp>
#include <string_view>

namespace KokkosSoftmax::Impl {

/// The type that computes an operation: the table of them. The type of the operation is an argument
/// because Clang 14 takes operations of two types for the same one if their numbers are equal.
template <class Operations, Operations operation, class V>
struct OpTable;
template <class V>
struct OpTable<Operation, Operation::softmax, V> {
  using type = SoftmaxOp<V>;
};
template <class V>
struct OpTable<Operation, Operation::log_softmax, V> {
  using type = SoftmaxOp<V>;
};
template <class V>
struct OpTable<Operation, Operation::logsumexp, V> {
  using type = LogSumExpOp<V>;
};

template <class V>
struct OpTable<BackwardOperation, BackwardOperation::softmax_backward, V> {
  using type = BackwardOp<V>;
};
template <class V>
struct OpTable<BackwardOperation, BackwardOperation::log_softmax_backward, V> {
  using type = BackwardOp<V>;
};

template <class V>
struct OpTable<LossOperation, LossOperation::cross_entropy, V> {
  using type = CrossEntropyOp<V>;
};

template <auto operation, class V>
using OpOf = typename OpTable<decltype(operation), operation, V>::type;

/// The type that computes an operation on what a source gives.
template <auto operation, class Source>
struct OpOnSourceTable {
  using type = OpOf<operation, typename Source::Types>;
};
template <class V>
struct OpOnSourceTable<Operation::logsumexp, WeightedSource<V>> {
  using type = WeightedLogSumExpOp<V>;
};
template <auto operation, class Source>
using OpOnSource = typename OpOnSourceTable<operation, Source>::type;

/// The number of an operation among the functions of its type, RowArgs::function.
template <auto operation, class V>
inline constexpr int function_number = [] {
  constexpr auto names = function_names<OpOf<operation, V>>();
  const auto* found = std::ranges::find(names, std::string_view(to_string(operation)));
  return static_cast<int>(found - std::begin(names));
}();

}  // namespace KokkosSoftmax::Impl

#endif
