// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_OPERATION_HPP
#define KOKKOSSOFTMAX_IMPL_OPERATION_HPP

/// \file
/// The operations on a row. This header does not include Kokkos, for sources that name operations
/// but launch nothing.

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace KokkosSoftmax::Impl {

enum class Operation { softmax, log_softmax, logsumexp };

struct OperationInfo {
  Operation operation;
  const char* name;        ///< of the public function
  bool one_value_per_row;  ///< whether the output is one value per row, not one per entry
};

/// The table of the operations, in the order of their values.
/// cmake/KokkosSoftmaxEnumerations.cmake checks that it and the C interface have all of them, and
/// src/CMakeLists.txt instantiates each of them.
inline constexpr OperationInfo operation_table[] = {{Operation::softmax, "softmax", false},
                                                    {Operation::log_softmax, "log_softmax", false},
                                                    {Operation::logsumexp, "logsumexp", true}};
inline constexpr Operation last_operation = std::end(operation_table)[-1].operation;

constexpr const char* to_string(Operation operation) {
  const auto place = static_cast<std::size_t>(operation);
  return place < std::size(operation_table) ? operation_table[place].name : "unknown";
}

constexpr bool one_value_per_row(Operation operation) {
  return operation_table[static_cast<std::size_t>(operation)].one_value_per_row;
}

/// Calls function with an operation of the table as an integral constant.
template <std::size_t place = 0, class Function>
auto with_operation(Operation operation, const Function& function) {
  constexpr Operation candidate = operation_table[place].operation;
  if constexpr (candidate != last_operation)
    if (operation != candidate) return with_operation<place + 1>(operation, function);
  return function(std::integral_constant<Operation, candidate>());
}

/// The operations with two inputs per entry: the output y of a function, and the derivative dy of a
/// loss by it. They give the derivative dx by the function's input. Their results are entries.
enum class BackwardOperation { softmax_backward, log_softmax_backward };

constexpr const char* to_string(BackwardOperation operation) {
  return operation == BackwardOperation::softmax_backward ? "softmax_backward"
                                                          : "log_softmax_backward";
}

/// The name of the first input of the public function.
constexpr const char* first_input_name(BackwardOperation operation) {
  return operation == BackwardOperation::softmax_backward ? "y" : "log_y";
}

constexpr bool one_value_per_row(BackwardOperation) { return false; }

/// Calls function with the operation as an integral constant.
template <class Function>
auto with_operation(BackwardOperation operation, const Function& function) {
  using enum BackwardOperation;
  if (operation == softmax_backward)
    return function(std::integral_constant<BackwardOperation, softmax_backward>());
  return function(std::integral_constant<BackwardOperation, log_softmax_backward>());
}

/// The operations that compare each row with a label. They give one number per row.
enum class LossOperation { cross_entropy };

constexpr const char* to_string(LossOperation) { return "cross_entropy"; }

constexpr bool one_value_per_row(LossOperation) { return true; }

/// The derivatives by x of operations with one number per row, given the log-sum-exp of each row.
/// Their results are entries, each computed from one entry of x.
enum class GradientOperation { logsumexp_backward, cross_entropy_backward };

constexpr const char* to_string(GradientOperation operation) {
  return operation == GradientOperation::logsumexp_backward ? "logsumexp_backward"
                                                            : "cross_entropy_backward";
}

/// The public function whose arguments are checked.
class Callee {
 public:
  constexpr Callee(Operation operation)  // NOLINT: an operation is its function
      : m_name(to_string(operation)), m_one_value_per_row(Impl::one_value_per_row(operation)) {}
  constexpr Callee(BackwardOperation operation)  // NOLINT
      : m_name(to_string(operation)), m_one_value_per_row(false) {}
  constexpr Callee(LossOperation operation)  // NOLINT
      : m_name(to_string(operation)), m_one_value_per_row(true) {}
  constexpr Callee(GradientOperation operation)  // NOLINT
      : m_name(to_string(operation)), m_one_value_per_row(false) {}

  constexpr Callee(const char* name, bool one_value_per_row)
      : m_name(name), m_one_value_per_row(one_value_per_row) {}

  constexpr const char* name() const { return m_name; }
  /// Whether the output is one value per row.
  constexpr bool one_value_per_row() const { return m_one_value_per_row; }

 private:
  const char* m_name;
  bool m_one_value_per_row;
};

}  // namespace KokkosSoftmax::Impl

#endif
