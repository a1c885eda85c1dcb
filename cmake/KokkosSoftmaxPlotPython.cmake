# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# KokkosSoftmax_PLOT_PYTHON: a Python interpreter that can `import matplotlib`. It is the one in PATH or, with
# KokkosSoftmax_BOOTSTRAP, that of a virtual environment in .deps/python. Empty if there is none: then everything
# except the plots works.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxPython.cmake")

function(_kokkossoftmax_find_plot_python)
  set(venv "${KokkosSoftmax_DEPS_DIR}/python")
  set(requirements "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/requirements-plot.txt")
  file(READ "${requirements}" pin)
  set(installed "")
  if(EXISTS "${venv}/requirements.txt" AND EXISTS "${venv}/bin/python")
    file(READ "${venv}/requirements.txt" installed)
  endif()

  set(chosen "${KokkosSoftmax_PLOT_PYTHON}")
  if(chosen STREQUAL "${venv}/bin/python" AND NOT installed STREQUAL pin)
    set(chosen "")
  endif()
  if(chosen AND EXISTS "${chosen}")
    return()
  endif()

  kokkossoftmax_find_python()
  set(chosen "")
  if(Python3_Interpreter_FOUND)
    execute_process(COMMAND "${Python3_EXECUTABLE}" -c "import matplotlib"
      RESULT_VARIABLE rc OUTPUT_QUIET ERROR_QUIET)
    if(rc EQUAL 0)
      set(chosen "${Python3_EXECUTABLE}")
    elseif(installed STREQUAL pin)
      set(chosen "${venv}/bin/python")
    elseif(KokkosSoftmax_BOOTSTRAP)
      kokkossoftmax_lock("Python for the plots")
      set(log "${CMAKE_BINARY_DIR}/kokkossoftmax-plot-python.log")
      file(WRITE "${log}" "")
      message(STATUS "Installing matplotlib into ${venv} (about 20 seconds; log in ${log})")
      kokkossoftmax_make_venv("${venv}" "${log}" made --only-binary :all: -r "${requirements}")
      if(made)
        file(WRITE "${venv}/requirements.txt" "${pin}")
        set(chosen "${venv}/bin/python")
      else()
        kokkossoftmax_log_tail("${log}")
      endif()
    endif()
  endif()
  if(NOT chosen)
    message(WARNING "No Python with matplotlib (only the plots need it): install it (Debian: "
      "python3-matplotlib) and configure again, or set -DKokkosSoftmax_PLOT_PYTHON=FILE.")
  endif()
  set(KokkosSoftmax_PLOT_PYTHON "${chosen}" CACHE FILEPATH "Python interpreter with matplotlib" FORCE)
endfunction()

_kokkossoftmax_find_plot_python()
