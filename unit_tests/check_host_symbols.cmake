# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the objects of the kernels of hosts, one per instruction set: all that a linker may merge with other objects
# (weak and unique symbols) must be in the namespace of the instruction set. Otherwise the program could contain the
# version of a function that this processor lacks the instructions for.
#
#   cmake -DNM=nm "-DOBJECTS=a.o|b.o" -P check_host_symbols.cmake
string(REPLACE "|" ";" objects "${OBJECTS}")
set(checked 0)
foreach(object IN LISTS objects)
  if(NOT object MATCHES "/host_([a-z0-9-]+)_[a-z_]+\\.cpp\\.")
    continue()
  endif()
  string(MAKE_C_IDENTIFIER "isa_${CMAKE_MATCH_1}" namespace)
  execute_process(COMMAND "${NM}" --defined-only "${object}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ [WVu] [^\n]+" weak "${symbols}")
  list(FILTER weak EXCLUDE REGEX "${namespace}")
  if(weak)
    list(JOIN weak "\n" weak)
    message(FATAL_ERROR "${object} has symbols that other objects can share:\n${weak}")
  endif()
  if(NOT symbols MATCHES "${namespace}")
    message(FATAL_ERROR "${object} has no symbol with ${namespace}: it isn't what this script is for")
  endif()
  math(EXPR checked "${checked} + 1")
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "no object of kernels of hosts among ${OBJECTS}")
endif()
message(STATUS "${checked} objects: no symbol can be shared")
