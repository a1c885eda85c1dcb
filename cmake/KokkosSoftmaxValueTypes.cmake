# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The pairs of value types of x and y: the one table of them. The option KokkosSoftmax_VALUE_TYPES says which the
# library is built for. Sets, for src/:
#   KOKKOSSOFTMAX_ALL_VALUE_TYPES   the names of all pairs
#   KOKKOSSOFTMAX_VALUE_TYPES       the names of the pairs that the library is built for
#   KOKKOSSOFTMAX_X_<name>, KOKKOSSOFTMAX_Y_<name>   the types
#   KOKKOSSOFTMAX_IF_<name>         the condition of the preprocessor that the pair differs from the others: without a GPU
#                                   Kokkos' half types are float
# and generates impl/KokkosSoftmax_CompiledTypes.hpp.

set(_kokkossoftmax_half "Kokkos::Experimental::half_t")
set(_kokkossoftmax_bhalf "Kokkos::Experimental::bhalf_t")
set(_kokkossoftmax_value_types
  # name | x | y | computed in | condition
  "float|float|float|float|1"
  "double|double|double|double|1"
  "half|${_kokkossoftmax_half}|${_kokkossoftmax_half}|float|!KOKKOS_HALF_T_IS_FLOAT"
  "half_float|${_kokkossoftmax_half}|float|float|!KOKKOS_HALF_T_IS_FLOAT"
  "bhalf|${_kokkossoftmax_bhalf}|${_kokkossoftmax_bhalf}|float|!KOKKOS_BHALF_T_IS_FLOAT"
  "bhalf_float|${_kokkossoftmax_bhalf}|float|float|!KOKKOS_BHALF_T_IS_FLOAT")

set(KOKKOSSOFTMAX_ALL_VALUE_TYPES "")
foreach(row IN LISTS _kokkossoftmax_value_types)
  string(REGEX REPLACE "\\|.*" "" name "${row}")
  list(APPEND KOKKOSSOFTMAX_ALL_VALUE_TYPES ${name})
endforeach()
set(KokkosSoftmax_VALUE_TYPES "${KOKKOSSOFTMAX_ALL_VALUE_TYPES}" CACHE STRING
  "Pairs of value types of x and y to build the library for (${KOKKOSSOFTMAX_ALL_VALUE_TYPES})")

foreach(name IN LISTS KokkosSoftmax_VALUE_TYPES)
  if(NOT name IN_LIST KOKKOSSOFTMAX_ALL_VALUE_TYPES)
    list(JOIN KOKKOSSOFTMAX_ALL_VALUE_TYPES ", " _kokkossoftmax_all_text)
    message(FATAL_ERROR "KokkosSoftmax_VALUE_TYPES has \"${name}\", which is no pair of value types (they are "
      "${_kokkossoftmax_all_text}): give some of them, separated by semicolons.")
  endif()
endforeach()
if(KokkosSoftmax_VALUE_TYPES STREQUAL "")
  message(FATAL_ERROR "KokkosSoftmax_VALUE_TYPES is empty (the library would have no kernel): give float, double or both.")
endif()
foreach(part TESTS PERF_TESTS)
  foreach(name IN LISTS KOKKOSSOFTMAX_ALL_VALUE_TYPES)
    if(KokkosSoftmax_ENABLE_${part} AND NOT name IN_LIST KokkosSoftmax_VALUE_TYPES)
      message(FATAL_ERROR "KokkosSoftmax_ENABLE_${part} is ON without the value types ${name} in KokkosSoftmax_VALUE_TYPES "
        "(these programs call all of them): switch it OFF, or build for all value types.")
    endif()
  endforeach()
endforeach()

set(KOKKOSSOFTMAX_VALUE_TYPES "")
set(PAIRS "")
set(CALLS "")
foreach(row IN LISTS _kokkossoftmax_value_types)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  if(NOT name IN_LIST KokkosSoftmax_VALUE_TYPES)
    continue()
  endif()
  list(GET row 1 KOKKOSSOFTMAX_X_${name})
  list(GET row 2 KOKKOSSOFTMAX_Y_${name})
  list(GET row 3 computed_in)
  list(GET row 4 KOKKOSSOFTMAX_IF_${name})
  list(APPEND KOKKOSSOFTMAX_VALUE_TYPES ${name})
  string(APPEND PAIRS
    "#if ${KOKKOSSOFTMAX_IF_${name}}\n"
    "#define KOKKOSSOFTMAX_IMPL_FOR_${name}(DO) \\\n"
    "  DO(${KOKKOSSOFTMAX_X_${name}}, ${KOKKOSSOFTMAX_Y_${name}}, ${computed_in}, ${name})\n"
    "#else\n"
    "#define KOKKOSSOFTMAX_IMPL_FOR_${name}(DO)\n"
    "#endif\n")
  string(APPEND CALLS " \\\n  KOKKOSSOFTMAX_IMPL_FOR_${name}(DO)")
endforeach()
list(JOIN KOKKOSSOFTMAX_VALUE_TYPES ", " VALUE_TYPES)
configure_file("${PROJECT_SOURCE_DIR}/include/impl/KokkosSoftmax_CompiledTypes.hpp.in"
  "${PROJECT_BINARY_DIR}/include/impl/KokkosSoftmax_CompiledTypes.hpp" @ONLY)
