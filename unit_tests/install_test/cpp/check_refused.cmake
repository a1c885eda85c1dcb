# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DBUILD=... -DCONFIG=... -P check_refused.cmake: the target `floats` doesn't compile, and the message says why.
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --target floats --config "${CONFIG}"
  RESULT_VARIABLE failed OUTPUT_VARIABLE message ERROR_VARIABLE message)
if(NOT failed)
  message(FATAL_ERROR "A call with floats compiles, although the library has no kernels for them.")
endif()
if(NOT message MATCHES "KokkosSoftmax_VALUE_TYPES was double\\)")
  message(FATAL_ERROR "The compiler doesn't say that KokkosSoftmax_VALUE_TYPES was double:\n${message}")
endif()
