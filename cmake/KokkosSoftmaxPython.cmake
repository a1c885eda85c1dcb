# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The parts of the set-up that need Python: a pip for the bootstrap of Kokkos, and an interpreter with matplotlib for
# the plots.
include_guard(GLOBAL)

set(KokkosSoftmax_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH
    "Where KokkosSoftmax_BOOTSTRAP installs what it installs")
mark_as_advanced(KokkosSoftmax_DEPS_DIR)

# kokkossoftmax_find_python(): sets Python3_EXECUTABLE and Python3_Interpreter_FOUND in the caller. It takes the first
# python3 in PATH (CMP0094), as a shell does.
macro(kokkossoftmax_find_python)
  if(NOT Python3_Interpreter_FOUND)
    cmake_policy(PUSH)
    cmake_policy(SET CMP0094 NEW)
    find_package(Python3 3.8 QUIET COMPONENTS Interpreter)
    cmake_policy(POP)
  endif()
endmacro()

# kokkossoftmax_make_venv(<dir> <log> <result> <pip arguments>...): makes a virtual environment in <dir> and runs `pip
# install <pip arguments>` in it. On failure nothing is left at <dir>. <result> is TRUE on success.
function(kokkossoftmax_make_venv dir log result)
  kokkossoftmax_find_python()
  set(${result} FALSE PARENT_SCOPE)
  file(REMOVE_RECURSE "${dir}")
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -m venv "${dir}"
    RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  file(APPEND "${log}" "$ ${Python3_EXECUTABLE} -m venv ${dir}\n${out}\n")
  if(rc EQUAL 0 AND ARGN)
    execute_process(
      COMMAND "${dir}/bin/python" -m pip install --disable-pip-version-check ${ARGN}
      RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
    list(JOIN ARGN " " arguments)
    file(APPEND "${log}" "$ ${dir}/bin/python -m pip install ${arguments}\n${out}\n")
  endif()
  if(rc EQUAL 0)
    set(${result} TRUE PARENT_SCOPE)
  else()
    file(REMOVE_RECURSE "${dir}")
  endif()
endfunction()

# kokkossoftmax_lock(<what>): until the calling function returns, no other configure run with the same
# KokkosSoftmax_DEPS_DIR installs anything there.
macro(kokkossoftmax_lock what)
  file(MAKE_DIRECTORY "${KokkosSoftmax_DEPS_DIR}")
  file(LOCK "${KokkosSoftmax_DEPS_DIR}/.lock" GUARD FUNCTION RESULT_VARIABLE _lock TIMEOUT 0)
  if(NOT _lock STREQUAL "0")
    message(STATUS "${what}: waiting for another configure that installs into ${KokkosSoftmax_DEPS_DIR}")
    file(LOCK "${KokkosSoftmax_DEPS_DIR}/.lock" GUARD FUNCTION RESULT_VARIABLE _lock TIMEOUT 3600)
  endif()
  if(NOT _lock STREQUAL "0")
    message(FATAL_ERROR "${KokkosSoftmax_DEPS_DIR}/.lock cannot be locked (${_lock}); "
      "end the other configure or set -DKokkosSoftmax_DEPS_DIR=DIR to a directory that can be written.")
  endif()
endmacro()

# kokkossoftmax_log_tail(<log>): prints the last lines of the log to the terminal.
function(kokkossoftmax_log_tail log)
  file(READ "${log}" text)
  string(LENGTH "${text}" length)
  if(length GREATER 2500)
    math(EXPR begin "${length} - 2500")
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(REGEX REPLACE "^[^\n]*\n" "" text "${text}")
  endif()
  message(NOTICE "---- the end of ${log}\n${text}\n----")
endfunction()
