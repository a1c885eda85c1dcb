# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include_guard(GLOBAL)

option(KokkosSoftmax_WARNINGS_AS_ERRORS "Compiler warnings in KokkosSoftmax's own code are errors" OFF)

# kokkossoftmax_enable_warnings(<target>...): without -Wpedantic if nvcc compiles, because -Wpedantic warns about code
# that nvcc generates.
function(kokkossoftmax_enable_warnings)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
    return()
  endif()
  set(warnings -Wall -Wextra)
  if(NOT Kokkos_ENABLE_CUDA)
    list(APPEND warnings -Wpedantic)
  endif()
  if(KokkosSoftmax_WARNINGS_AS_ERRORS)
    list(APPEND warnings -Werror)
  endif()
  list(JOIN warnings "," for_nvcc)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX,HIP>:${warnings}>"
      "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${for_nvcc}>")
  endforeach()
endfunction()
