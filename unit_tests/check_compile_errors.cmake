# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DCOMPILER=... -DFLAGS=... -DSOURCE=... -P check_compile_errors.cmake
# The source must compile. With KOKKOSSOFTMAX_TEST_WRONG_CALLS it must not compile, with these errors:
string(CONCAT pairs
  "must be float and float, double and double, half_t and half_t, half_t and float, "
  "bhalf_t and bhalf_t, or bhalf_t and float")
set(number " must be double if that of x is double, otherwise float (without const if it is written)")
set(sentences
  "KokkosSoftmax::softmax: the value types of x and y ${pairs}, that of y without const"
  "KokkosSoftmax::log_softmax: the value types of x and y ${pairs}, that of y without const"
  "KokkosSoftmax::plan_log_softmax: the value types of x and y ${pairs}, that of y without const"
  "KokkosSoftmax::log_softmax: y must have the rank of x"
  "KokkosSoftmax::logsumexp: lse must have the rank of x (less one for logsumexp)"
  "KokkosSoftmax::logsumexp: x must have rank 1 to 4"
  "KokkosSoftmax::softmax: exec must be an instance of an execution space"
  "KokkosSoftmax::logsumexp_both_axes: x must have rank 2"
  "KokkosSoftmax::logsumexp_both_axes: the value type of x must be float, double, half_t or bhalf_t"
  "KokkosSoftmax::logsumexp_both_axes: row_lse and column_lse must have rank 1"
  "KokkosSoftmax::logsumexp_both_axes: the value type of row_lse and column_lse must be double if that of x is double, otherwise float, without const"
  "KokkosSoftmax::logsumexp_both_axes: the memory of x, row_lse or column_lse is not accessible from exec"
  "KokkosSoftmax::plan_softmax: y must have the rank of x"
  "KokkosSoftmax::plan_logsumexp: the value types of x and lse ${pairs}, that of lse without const"
  "KokkosSoftmax::softmax: x must be a Kokkos::View (the arguments are x and y, or exec, x and y)"
  "KokkosSoftmax::log_softmax: y must be a Kokkos::View (the arguments are x and y, or exec, x and y)"
  "KokkosSoftmax::logsumexp: x must be a Kokkos::View (the arguments are x and lse, or exec, x and lse)"
  "KokkosSoftmax::plan_softmax: x must be a Kokkos::View (the arguments are x and y, or exec, x and y)"
  "KokkosSoftmax::plan_logsumexp: lse must be a Kokkos::View (the arguments are x and lse, or exec, x and lse)"
  "KokkosSoftmax::softmax: the value type of operands.lse must be double if that of x is double, otherwise float"
  "KokkosSoftmax::log_softmax: operands.lse must have the rank of x less one"
  "KokkosSoftmax::softmax: the value type of operands.max must be double if that of x is double, otherwise float"
  "KokkosSoftmax::log_softmax: operands.max must be a Kokkos::View"
  "KokkosSoftmax::log_softmax: operands.bias must be a Kokkos::View"
  "KokkosSoftmax::softmax: the value type of operands.bias must be that of x, or float if x has a half type"
  "KokkosSoftmax::logsumexp: operands.bias must have at most the rank of x"
  "KokkosSoftmax::softmax: the memory of operands.bias is not accessible from exec"
  "KokkosSoftmax::log_softmax: operands.mask must be a Kokkos::View"
  "KokkosSoftmax::softmax: the value type of operands.mask must be bool or unsigned char"
  "KokkosSoftmax::log_softmax: operands.mask must have at most the rank of x"
  "KokkosSoftmax::logsumexp: the memory of operands.mask is not accessible from exec"
  "KokkosSoftmax::logsumexp: operands.lengths must be a Kokkos::View"
  "KokkosSoftmax::softmax: the value type of operands.lengths must be std::int32_t or std::int64_t"
  "KokkosSoftmax::log_softmax: operands.lengths must have at most the rank of x (lengths and row_bias: less one)"
  "KokkosSoftmax::softmax: the memory of operands.lengths is not accessible from exec"
  "KokkosSoftmax::softmax: operands.causal must be a KokkosSoftmax::Causal"
  "KokkosSoftmax::log_softmax: operands.causal needs an x of rank 2 or more"
  "KokkosSoftmax::logsumexp: operands.lse and operands.max are for softmax and log_softmax"
  "KokkosSoftmax::plan_logsumexp: operands.lse and operands.max are for softmax and log_softmax"
  "KokkosSoftmax::plan_softmax: the value type of operands.mask must be bool or unsigned char"
  "KokkosSoftmax::softmax: operands.row_bias must have at most the rank of x (lengths and row_bias: less one)"
  "KokkosSoftmax::logsumexp: the value type of operands.row_bias must be double if that of x is double, otherwise float"
  "KokkosSoftmax::log_softmax: operands.weights and operands.sign are for logsumexp: leave them out"
  "KokkosSoftmax::logsumexp: operands.weights must be a Kokkos::View"
  "KokkosSoftmax::logsumexp: the value type of operands.weights must be that of x, or float if x has a half type"
  "KokkosSoftmax::logsumexp: operands.sign needs operands.weights"
  "KokkosSoftmax::logsumexp: operands.sign must have the rank of lse"
  "KokkosSoftmax::plan_logsumexp: the value type of operands.sign must be that of lse, without const"
  "KokkosSoftmax::logsumexp_backward: operands.weights and operands.sign are for logsumexp: leave them out"
  "KokkosSoftmax::softmax_backward: exec must be an instance of an execution space"
  "KokkosSoftmax::softmax_backward: y must have rank 1 to 4"
  "KokkosSoftmax::log_softmax_backward: the value type of log_y must be float, double, half_t or bhalf_t"
  "KokkosSoftmax::log_softmax_backward: the memory of log_y is not accessible from exec"
  "KokkosSoftmax::softmax_backward: dy must have the rank of y"
  "KokkosSoftmax::softmax_backward: the value type of dy must be that of y"
  "KokkosSoftmax::log_softmax_backward: the memory of dy is not accessible from exec"
  "KokkosSoftmax::log_softmax_backward: the value type of dx must be that of log_y (of dx without const)"
  "KokkosSoftmax::softmax_backward: the memory of dx is not accessible from exec"
  "KokkosSoftmax::softmax_backward: dy must be a Kokkos::View"
  "KokkosSoftmax::softmax_backward: y must be a Kokkos::View (the arguments are y, dy and dx, or exec, y, dy and dx)"
  "KokkosSoftmax::log_softmax_backward: log_y must be a Kokkos::View (the arguments are log_y, dy and dx, or exec, log_y, dy and dx)"
  "KokkosSoftmax::log_softmax_backward: dy must be a Kokkos::View (the arguments are log_y, dy and dx, or exec, log_y, dy and dx)"
  "KokkosSoftmax::softmax_backward: dx must be a Kokkos::View (the arguments are y, dy and dx, or exec, y, dy and dx)"
  "KokkosSoftmax::plan_softmax_backward: dx must have the rank of y"
  "KokkosSoftmax::plan_softmax_backward: y must be a Kokkos::View (the arguments are y, dy and dx, or exec, y, dy and dx)"
  "KokkosSoftmax::plan_log_softmax_backward: the value type of dx must be that of log_y (of dx without const)"
  "KokkosSoftmax::plan_log_softmax_backward: dx must be a Kokkos::View (the arguments are log_y, dy and dx, or exec, log_y, dy and dx)"
  "KokkosSoftmax::cross_entropy: exec must be an instance of an execution space"
  "KokkosSoftmax::cross_entropy: x must have rank 1 to 4"
  "KokkosSoftmax::cross_entropy: the value type of x must be float, double, half_t or bhalf_t"
  "KokkosSoftmax::cross_entropy: the memory of x is not accessible from exec"
  "KokkosSoftmax::cross_entropy: labels must be a Kokkos::View"
  "KokkosSoftmax::cross_entropy: labels must have the rank of x less one"
  "KokkosSoftmax::cross_entropy: the value type of labels must be std::int32_t or std::int64_t"
  "KokkosSoftmax::cross_entropy: the memory of labels is not accessible from exec"
  "KokkosSoftmax::cross_entropy: loss must be a Kokkos::View"
  "KokkosSoftmax::cross_entropy: loss must have the rank of x less one"
  "KokkosSoftmax::cross_entropy: the value type of loss${number}"
  "KokkosSoftmax::cross_entropy: the memory of loss is not accessible from exec"
  "KokkosSoftmax::cross_entropy: lse must be a Kokkos::View"
  "KokkosSoftmax::cross_entropy: lse must have the rank of x less one"
  "KokkosSoftmax::cross_entropy: the value type of lse${number}"
  "KokkosSoftmax::cross_entropy: the memory of lse is not accessible from exec"
  "KokkosSoftmax::cross_entropy: x must be a Kokkos::View (the arguments are x, labels and loss, or exec, x, labels and loss)"
  "KokkosSoftmax::cross_entropy: labels must be a Kokkos::View (the arguments are x, labels and loss, or exec, x, labels and loss)"
  "KokkosSoftmax::cross_entropy: loss must be a Kokkos::View (the arguments are x, labels and loss, or exec, x, labels and loss)"
  "KokkosSoftmax::cross_entropy: lse must be a Kokkos::View (the arguments are x, labels, loss and lse, or exec, x, labels, loss and lse)"
  "KokkosSoftmax::cross_entropy: loss must be a Kokkos::View (the arguments are x, labels, loss and lse, or exec, x, labels, loss and lse)"
  "KokkosSoftmax::cross_entropy_backward: exec must be an instance of an execution space"
  "KokkosSoftmax::cross_entropy_backward: the value type of labels must be std::int32_t or std::int64_t"
  "KokkosSoftmax::cross_entropy_backward: lse must have the rank of x less one"
  "KokkosSoftmax::cross_entropy_backward: the value type of dloss${number}"
  "KokkosSoftmax::cross_entropy_backward: dx must have the rank of x"
  "KokkosSoftmax::cross_entropy_backward: the value type of dx must be that of x, without const"
  "KokkosSoftmax::cross_entropy_backward: the memory of dx is not accessible from exec"
  "KokkosSoftmax::cross_entropy_backward: x must be a Kokkos::View (the arguments are x, labels, lse, dloss and dx, or exec, x, labels, lse, dloss and dx)"
  "KokkosSoftmax::cross_entropy_backward: labels must be a Kokkos::View (the arguments are x, labels, lse, dloss and dx, or exec, x, labels, lse, dloss and dx)"
  "KokkosSoftmax::cross_entropy_backward: dx must be a Kokkos::View (the arguments are x, labels, lse, dloss and dx, or exec, x, labels, lse, dloss and dx)"
  "KokkosSoftmax::logsumexp_backward: exec must be an instance of an execution space"
  "KokkosSoftmax::logsumexp_backward: the value type of x must be float, double, half_t or bhalf_t"
  "KokkosSoftmax::logsumexp_backward: the value type of lse${number}"
  "KokkosSoftmax::logsumexp_backward: the memory of dlse is not accessible from exec"
  "KokkosSoftmax::logsumexp_backward: the value type of dx must be that of x, without const"
  "KokkosSoftmax::logsumexp_backward: operands.lse and operands.max are for softmax and log_softmax"
  "KokkosSoftmax::logsumexp_backward: the value type of operands.mask must be bool or unsigned char"
  "KokkosSoftmax::logsumexp_backward: x must be a Kokkos::View (the arguments are x, lse, dlse and dx, or exec, x, lse, dlse and dx)"
  "KokkosSoftmax::logsumexp_backward: lse must be a Kokkos::View (the arguments are x, lse, dlse and dx, or exec, x, lse, dlse and dx)"
  "KokkosSoftmax::logsumexp_backward: dlse must be a Kokkos::View (the arguments are x, lse, dlse and dx, or exec, x, lse, dlse and dx)"
  "KokkosSoftmax::...Softmax::invoke: x must be a Kokkos::View of rank 1"
  "KokkosSoftmax::...Softmax::invoke: the value types of x and y ${pairs}, that of y without const"
  "KokkosSoftmax::...LogSoftmax::invoke: y must be a Kokkos::View of rank 1"
  "KokkosSoftmax::...LogSumExp::invoke: the value type of x must be float, double, half_t or bhalf_t"
  "KokkosSoftmax::...SoftmaxBackward::invoke: all Views must have the value type of y, that of dx without const"
  "KokkosSoftmax::...LogSoftmaxBackward::invoke: log_y must be a Kokkos::View of rank 1"
  "KokkosSoftmax::...LogSumExpBackward::invoke: all Views must have the value type of x, that of dx without const")

execute_process(COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${SOURCE}
  RESULT_VARIABLE failed ERROR_VARIABLE message)
if(failed)
  message(FATAL_ERROR "${SOURCE} doesn't compile without the wrong calls:\n${message}")
endif()
execute_process(COMMAND ${COMPILER} ${FLAGS} -DKOKKOSSOFTMAX_TEST_WRONG_CALLS -fsyntax-only ${SOURCE}
  RESULT_VARIABLE failed ERROR_VARIABLE message)
if(NOT failed)
  message(FATAL_ERROR "${SOURCE} compiles with the wrong calls")
endif()
if(message MATCHES "no matching function")
  message(FATAL_ERROR "the compiler finds no function instead of saying what is wrong:\n${message}")
endif()
foreach(sentence IN LISTS sentences)
  string(FIND "${message}" "${sentence}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "the compiler doesn't say \"${sentence}\" but:\n${message}")
  endif()
endforeach()
