# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# benchmark::benchmark: the installed Google Benchmark, else a pinned release.
include_guard(DIRECTORY)
find_package(benchmark QUIET)
if(NOT TARGET benchmark::benchmark)
  message(STATUS "Google Benchmark was not found: downloading release 1.9.1 (some seconds; without a "
    "network install libbenchmark-dev or set benchmark_ROOT)")
  include(FetchContent)
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)
  endif()
  FetchContent_Declare(googlebenchmark
    URL https://github.com/google/benchmark/archive/refs/tags/v1.9.1.tar.gz
    URL_HASH SHA256=32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  FetchContent_MakeAvailable(googlebenchmark)
endif()

# Executables for a GPU are copied to another machine. A shared library is put next to them, so that it is copied with
# them.
get_target_property(_kokkossoftmax_type benchmark::benchmark TYPE)
get_target_property(_kokkossoftmax_imported benchmark::benchmark IMPORTED)
if(Kokkos_ENABLE_CUDA AND _kokkossoftmax_imported AND _kokkossoftmax_type STREQUAL "SHARED_LIBRARY")
  get_target_property(_kokkossoftmax_configuration benchmark::benchmark IMPORTED_CONFIGURATIONS)
  list(GET _kokkossoftmax_configuration 0 _kokkossoftmax_configuration)
  get_target_property(_kokkossoftmax_file benchmark::benchmark
    IMPORTED_LOCATION_${_kokkossoftmax_configuration})
  get_target_property(_kokkossoftmax_soname benchmark::benchmark
    IMPORTED_SONAME_${_kokkossoftmax_configuration})
  if(_kokkossoftmax_file AND _kokkossoftmax_soname)
    configure_file("${_kokkossoftmax_file}" "${PROJECT_BINARY_DIR}/perf_tests/${_kokkossoftmax_soname}" COPYONLY)
    list(APPEND CMAKE_BUILD_RPATH "$ORIGIN")
  endif()
endif()
