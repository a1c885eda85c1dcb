# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures a project in a new directory, builds it and runs its programs, up to the step that ACTION names:
#   PROJECT      the directory of the project
#   ACTION       configure, build, run, or run_on_gpu (run only if there is a GPU)
#   WORK         the build directory, which is removed first
#   PREFIX       the prefix in which KokkosSoftmax is installed; empty if it isn't installed
#   CACHE        a script that sets cache variables, passed with -C
#   GENERATOR, CONFIG
#   WAY              see cpp/CMakeLists.txt
#   LAUNCH_COMPILER  whether the consumer requests Kokkos' launch compiler
#   CXX          a C++ compiler other than that of CACHE
#   BUILD_TYPE   a CMAKE_BUILD_TYPE other than that of CACHE
#   PROGRAM      the names of the programs, separated by |; otherwise `consumer`
#   DEFINITIONS  further arguments for cmake, separated by |
cmake_minimum_required(VERSION 3.22)

set(arguments -G "${GENERATOR}" -C "${CACHE}" -S "${PROJECT}" -B "${WORK}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${WORK}/bin$<0:>")
foreach(variable IN ITEMS WAY LAUNCH_COMPILER)
  if(${variable})
    list(APPEND arguments "-D${variable}=${${variable}}")
  endif()
endforeach()
if(CXX)
  list(APPEND arguments "-DCMAKE_CXX_COMPILER=${CXX}")
endif()
if(BUILD_TYPE)
  list(APPEND arguments "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
  set(CONFIG ${BUILD_TYPE})
endif()
string(REPLACE "|" ";" definitions "${DEFINITIONS}")

file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${CMAKE_COMMAND}" ${arguments} ${definitions} COMMAND_ERROR_IS_FATAL ANY)
if(ACTION STREQUAL "configure")
  return()
endif()

set(parallel "")
if(NOT DEFINED ENV{CMAKE_BUILD_PARALLEL_LEVEL})
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  set(parallel --parallel ${cores})
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" --config "${CONFIG}" ${parallel}
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT PROGRAM)
  set(PROGRAM consumer)
endif()
if(ACTION STREQUAL "run_on_gpu")
  include("${CMAKE_CURRENT_LIST_DIR}/find_gpu.cmake")
endif()
if(ACTION STREQUAL "run" OR GPU_FOUND)
  string(REPLACE "|" ";" programs "${PROGRAM}")
  foreach(program IN LISTS programs)
    execute_process(COMMAND "${WORK}/bin/${program}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
