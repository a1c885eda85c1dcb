# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DCUOBJDUMP=... "-DOBJECTS=<file>|..." -DKNOWN=<file> [-DWRITE=ON] -P check_spills.cmake
# Checks the kernels in each object file of the library: their number, which costs build time, and those that spill
# registers. Neither the number of kernels, nor the number of those that spill, nor their bytes per thread in sum may be
# larger than in the file KNOWN. A change that looks harmless can make a kernel spill and a tenth slower. WRITE writes
# KNOWN anew.
cmake_minimum_required(VERSION 3.20)
string(REPLACE "|" ";" objects "${OBJECTS}")
set(text "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n# object  kernels  kernels that spill  bytes per thread, of all of them\n")
set(worse "")
set(checked 0)
set(all_kernels 0)
file(STRINGS "${KNOWN}" known)

foreach(object IN LISTS objects)
  get_filename_component(unit "${object}" NAME_WE)
  if(NOT unit MATCHES "^Cuda_")
    continue()
  endif()
  execute_process(COMMAND "${CUOBJDUMP}" -res-usage "${object}" OUTPUT_VARIABLE usage RESULT_VARIABLE status)
  string(REGEX MATCHALL " STACK:[0-9]+" stacks "${usage}")
  if(NOT status EQUAL 0 OR stacks STREQUAL "")
    message(FATAL_ERROR "${CUOBJDUMP} tells nothing of ${object} (exit status ${status})")
  endif()
  math(EXPR checked "${checked} + 1")
  list(LENGTH stacks kernels)
  math(EXPR all_kernels "${all_kernels} + ${kernels}")
  list(TRANSFORM stacks REPLACE " STACK:" "")
  list(FILTER stacks EXCLUDE REGEX "^0$")
  list(LENGTH stacks spilling)
  string(REPLACE ";" " + " sum "0;${stacks};0")
  math(EXPR bytes "${sum}")
  string(APPEND text "${unit} ${kernels} ${spilling} ${bytes}\n")

  set(before ${known})
  list(FILTER before INCLUDE REGEX "^${unit} ")
  if(NOT before MATCHES "^${unit} ([0-9]+) ([0-9]+) ([0-9]+)$")
    string(APPEND worse "${unit}: not in ${KNOWN}\n")
  elseif(kernels GREATER CMAKE_MATCH_1)
    string(APPEND worse "${unit}: ${kernels} kernels (known: ${CMAKE_MATCH_1}). Each takes most of a second to build: see "
      "docs/tuning.md on what can be left out\n")
  elseif(spilling GREATER CMAKE_MATCH_2 OR bytes GREATER CMAKE_MATCH_3)
    string(APPEND worse "${unit}: ${spilling} kernels spill ${bytes} bytes per thread in all (known: "
      "${CMAKE_MATCH_2} kernels, ${CMAKE_MATCH_3} bytes)\n")
  endif()
endforeach()

if(checked EQUAL 0)
  message(FATAL_ERROR "no object file of CUDA kernels among: ${objects}")
endif()
message(STATUS "${all_kernels} kernels")
if(WRITE)
  file(WRITE "${KNOWN}" "${text}")
elseif(NOT worse STREQUAL "")
  message(FATAL_ERROR "${worse}See which: cuobjdump -res-usage <object> | grep -B1 'STACK:[1-9]'. Measure "
    "them before the file is written anew (-DWRITE=ON).")
endif()
