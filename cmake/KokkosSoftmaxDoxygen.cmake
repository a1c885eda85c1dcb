# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The target `docs`: the reference of the public headers and the Markdown pages, as HTML in docs/html of the build
# tree. With KokkosSoftmax_WARNINGS_AS_ERRORS, the target fails if Doxygen warns.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxPython.cmake")

function(_kokkossoftmax_add_docs)
  find_package(Doxygen 1.9.4 QUIET)
  kokkossoftmax_find_python()
  if(NOT DOXYGEN_FOUND OR NOT Python3_Interpreter_FOUND)
    message(FATAL_ERROR "KokkosSoftmax_ENABLE_DOCS is ON, but there is no Doxygen 1.9.4 or later, or no Python 3, "
      "which the reference is made with: install them (Debian: doxygen, python3) or set -DKokkosSoftmax_ENABLE_DOCS=OFF.")
  endif()

  set(repository "https://github.com/kokkos-softmax/kokkos-softmax")
  set(KokkosSoftmax_DOCS_DIR "${PROJECT_BINARY_DIR}/docs")
  set(KokkosSoftmax_DOCS_FILTER
    "\\\"${Python3_EXECUTABLE}\\\" \\\"${PROJECT_SOURCE_DIR}/docs/doxygen_filter.py\\\" ${repository}")
  set(KokkosSoftmax_DOCS_WARN_AS_ERROR NO)
  if(KokkosSoftmax_WARNINGS_AS_ERRORS)
    set(KokkosSoftmax_DOCS_WARN_AS_ERROR FAIL_ON_WARNINGS)
  endif()

  # All public headers and all pages. Their order is that of the groups and pages; those that are not named here come
  # last.
  set(headers KokkosSoftmax.hpp KokkosSoftmax_Softmax.hpp KokkosSoftmax_LogSumExp.hpp KokkosSoftmax_Backward.hpp
    KokkosSoftmax_CrossEntropy.hpp KokkosSoftmax_Plan.hpp KokkosSoftmax_BackwardPlan.hpp KokkosSoftmax_Options.hpp
    KokkosSoftmax_LogSumExpState.hpp)
  set(pages README.md docs/install.md docs/semantics.md docs/backward.md docs/cross_entropy.md docs/porting.md docs/c_interface.md
    examples/README.md docs/online.md docs/algorithms.md docs/split.md docs/graphs.md docs/performance.md docs/tuning.md
    docs/tools.md)
  list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/include/")
  list(TRANSFORM pages PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB all_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.hpp" "${PROJECT_SOURCE_DIR}/include/*.h")
  file(GLOB all_pages CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/docs/*.md" "${PROJECT_SOURCE_DIR}/*/README.md" "${PROJECT_SOURCE_DIR}/*.md")
  set(input
    ${headers} ${all_headers} "${PROJECT_BINARY_DIR}/include/KokkosSoftmax_Version.hpp" ${pages} ${all_pages})
  list(REMOVE_DUPLICATES input)
  list(JOIN input "\" \\\n                         \"" KokkosSoftmax_DOCS_INPUT)
  set(KokkosSoftmax_DOCS_INPUT "\"${KokkosSoftmax_DOCS_INPUT}\"")

  configure_file("${PROJECT_SOURCE_DIR}/docs/Doxyfile.in" "${KokkosSoftmax_DOCS_DIR}/Doxyfile" @ONLY)
  add_custom_target(docs
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${KokkosSoftmax_DOCS_DIR}/html"
    COMMAND "${DOXYGEN_EXECUTABLE}" "${KokkosSoftmax_DOCS_DIR}/Doxyfile"
    COMMAND "${CMAKE_COMMAND}" -E echo "${KokkosSoftmax_DOCS_DIR}/html/index.html"
    COMMENT "Making the reference with Doxygen ${DOXYGEN_VERSION}"
    VERBATIM)
endfunction()

_kokkossoftmax_add_docs()
