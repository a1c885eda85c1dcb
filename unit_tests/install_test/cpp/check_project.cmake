# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Included by CMakeLists.txt. Checks that KokkosSoftmax has changed nothing of this project.
get_property(launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
if(launcher)
  message(FATAL_ERROR "The whole project is compiled by ${launcher} (a find_package(Kokkos) without the component "
    "separable_compilation does that); find it with the component.")
endif()
if(NOT CMAKE_CXX_STANDARD EQUAL 17 OR DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
  message(FATAL_ERROR "A variable of the project was changed (CMAKE_CXX_STANDARD or "
    "CMAKE_POSITION_INDEPENDENT_CODE); set it in the directory of KokkosSoftmax only.")
endif()
if(kokkos_options)
  get_target_property(options Kokkos::kokkoscore INTERFACE_COMPILE_OPTIONS)
  if(NOT options STREQUAL kokkos_options)
    message(FATAL_ERROR "Kokkos' target was changed (its options were ${kokkos_options} and are ${options}); give "
      "options to KokkosSoftmax::kokkossoftmax instead.")
  endif()
endif()
get_cmake_property(cache CACHE_VARIABLES)
list(REMOVE_ITEM cache ${cache_before})
# These entries are not from KokkosSoftmax: Kokkos' package searches for OpenMP, CUDA, threads and its own scripts, and
# sets two variables with CUDA; each project() sets its version.
list(FILTER cache EXCLUDE REGEX
  "^_?(Kokkos|KOKKOS|OpenMP|CUDA|FETCHCONTENT|FIND_PACKAGE_MESSAGE|THREADS|CMAKE_HAVE_LIBC_PTHREAD|CMAKE_PROJECT_VERSION)")
list(FILTER cache EXCLUDE REGEX "^CMAKE_CXX_(STANDARD_DEFAULT|EXTENSIONS)$")
if(cache)
  message(FATAL_ERROR "The cache of the project got ${cache} (only KokkosSoftmax_* are KokkosSoftmax's); make them "
    "variables of its directory.")
endif()
