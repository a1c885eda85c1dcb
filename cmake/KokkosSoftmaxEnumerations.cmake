# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operations and algorithms. The C++ headers have the table of each. This file checks that the table, the enumeration of C++
# and the enumeration of C have the same names with the same values, and sets, for src/:
#   KOKKOSSOFTMAX_OPERATIONS            the names of the operations
#   KOKKOSSOFTMAX_OPERATIONS_PER_ROW    those with one number per row

function(_kokkossoftmax_read result header)
  set(path "${PROJECT_SOURCE_DIR}/include/${header}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  file(READ "${path}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The enumerators as a list of name=value.
function(_kokkossoftmax_enumerators result text enumeration)
  string(REGEX MATCH "enum (class )?${enumeration} {([^}]*)}" _ "${text}")
  string(REPLACE " " "" enumerators "${CMAKE_MATCH_2}")
  string(REPLACE "," ";" enumerators "${enumerators}")
  set(list "")
  set(value 0)
  foreach(enumerator IN LISTS enumerators)
    if(NOT enumerator MATCHES "=")
      string(APPEND enumerator "=${value}")
    endif()
    list(APPEND list "${enumerator}")
    math(EXPR value "${value} + 1")
  endforeach()
  set(${result} "${list}" PARENT_SCOPE)
endfunction()

# kokkossoftmax_check_table(<names> <header> <enumeration of C++> <enumeration of C> <prefix of its enumerators>)
function(kokkossoftmax_check_table result header enumeration c_enumeration c_prefix)
  _kokkossoftmax_read(cpp "${header}")
  _kokkossoftmax_read(c kokkossoftmax.h)
  _kokkossoftmax_enumerators(in_cpp "${cpp}" ${enumeration})
  _kokkossoftmax_enumerators(in_c "${c}" ${c_enumeration})
  list(TRANSFORM in_c REPLACE "^${c_prefix}" "")
  list(TRANSFORM in_c TOLOWER)

  string(REGEX MATCHALL "{${enumeration}::[a-z0-9_]+, \"[a-z0-9_]+\"" rows "${cpp}")
  set(in_table "")
  set(names "")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "::([a-z0-9_]+), \"([a-z0-9_]+)\"" _ "${row}")
    if(NOT CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_2)
      message(FATAL_ERROR "${header} names ${enumeration}::${CMAKE_MATCH_1} \"${CMAKE_MATCH_2}\" (the name is that of the "
        "enumerator): write \"${CMAKE_MATCH_1}\".")
    endif()
    list(LENGTH names value)
    list(APPEND names ${CMAKE_MATCH_1})
    list(APPEND in_table ${CMAKE_MATCH_1}=${value})
  endforeach()

  foreach(list IN ITEMS in_cpp in_table in_c)
    list(JOIN ${list} " " ${list})
  endforeach()
  if(in_cpp STREQUAL "" OR NOT in_table STREQUAL in_cpp OR NOT in_c STREQUAL in_cpp)
    message(FATAL_ERROR "${enumeration} of ${header}, its table and ${c_enumeration} of kokkossoftmax.h differ (they have "
      "${in_cpp}; ${in_table}; and ${in_c}): give them the same names, in the same order.")
  endif()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

kokkossoftmax_check_table(KOKKOSSOFTMAX_OPERATIONS
  impl/KokkosSoftmax_Operation.hpp Operation kokkossoftmax_operation KOKKOSSOFTMAX_)
_kokkossoftmax_read(_kokkossoftmax_text impl/KokkosSoftmax_Operation.hpp)
string(REGEX MATCHALL "{Operation::[a-z_]+, \"[a-z_]+\", true}" KOKKOSSOFTMAX_OPERATIONS_PER_ROW "${_kokkossoftmax_text}")
list(TRANSFORM KOKKOSSOFTMAX_OPERATIONS_PER_ROW REPLACE ".*\"([a-z_]+)\".*" "\\1")
kokkossoftmax_check_table(_kokkossoftmax_algorithms
  KokkosSoftmax_Options.hpp Algorithm kokkossoftmax_algorithm KOKKOSSOFTMAX_ALGORITHM_)
