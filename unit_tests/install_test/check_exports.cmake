# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the symbols that a shared library exports: the functions of kokkossoftmax.h, the functions that the headers call,
# and the functions that the tests and the search program call. Instances of templates of the standard library and of
# Kokkos are allowed too, and so is a Kokkos that is linked into the library.
cmake_minimum_required(VERSION 3.22)

execute_process(COMMAND "${NM}" -DC --defined-only --format=posix "${LIBRARY}"
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "," text "${text}") # these characters have a meaning in lists of CMake
string(REPLACE "\n" ";" symbols "${text}")

# The name of a template follows its return type, or a prefix like "vtable for".
set(templates "choose|launch|launch_both_axes|launch_ragged|describe|compiled_schedules|serves")
set(functions "compiled|parse_schedule|parse_tuning_line|parse_tuning_table|read_tuning_file|shipped_tables|operator<<")
set(ours "(^| )KokkosSoftmax::Impl::((${templates})<|(${functions})\\()|^kokkossoftmax_[a-z_]+ ")
set(count 0)
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES "${ours}")
    math(EXPR count "${count} + 1")
  elseif(symbol MATCHES "KokkosSoftmax|kokkossoftmax")
    message(SEND_ERROR "The shared library shows ${symbol} (it is no part of the interface); hide it, or name it here.")
  elseif(symbol AND NOT symbol MATCHES "(Kokkos|std|desul|__gnu_cxx)::|^Kokkos_|^operator (new|delete)")
    message(SEND_ERROR "The shared library shows ${symbol} (it is of neither Kokkos nor the standard library); hide it.")
  endif()
endforeach()

execute_process(COMMAND "${NM}" -D --defined-only --format=posix "${LIBRARY}"
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
foreach(name IN ITEMS options_init_sized version last_error initialize finalize is_initialized space_name apply apply_with backward
    logsumexp_backward logsumexp_both_axes cross_entropy cross_entropy_backward cross_entropy_options_init_sized fence release_stream)
  if(NOT text MATCHES "(^|\n)kokkossoftmax_${name} T")
    message(SEND_ERROR "The shared library hides kokkossoftmax_${name} (it lacks KOKKOSSOFTMAX_EXPORT); declare it so.")
  endif()
endforeach()
message(STATUS "${count} symbols of KokkosSoftmax")
