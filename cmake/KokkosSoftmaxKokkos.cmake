# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds Kokkos if the parent project has not found it, checks that it is suitable, and defines
#   kokkossoftmax_compile_with_kokkos(<target>...)
# for every target that includes Kokkos, and
#   KokkosSoftmax_CUDA13_COMPAT: a header that consumers must include first; empty in most cases,
#   KokkosSoftmax_FOR_GPU: whether this Kokkos has an execution space for GPUs.
# No target of Kokkos is changed, because a parent project may use it too. Include this file at directory scope,
# because the targets of packages are defined there.
include_guard(DIRECTORY)
include("${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxUsers.cmake")

set(_kokkossoftmax_cmake_dir "${CMAKE_CURRENT_LIST_DIR}")
set(KokkosSoftmax_KOKKOS_MINIMUM 4.7)
set(KokkosSoftmax_KOKKOS_BELOW 6)

# ---- Which Kokkos
set(_kokkossoftmax_kokkos_dir "")
set(_kokkossoftmax_kernels_dir "")
set(_kokkossoftmax_kokkos_is_there FALSE)
if(TARGET Kokkos::kokkos)
  set(_kokkossoftmax_kokkos_is_there TRUE)
elseif(KokkosSoftmax_BOOTSTRAP)
  include("${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxBootstrap.cmake")
  kokkossoftmax_bootstrap(_kokkossoftmax_kokkos_dir _kokkossoftmax_kernels_dir)
endif()
if(_kokkossoftmax_kokkos_dir)
  set(Kokkos_DIR "${_kokkossoftmax_kokkos_dir}" CACHE PATH "Where KokkosConfig.cmake is" FORCE)
  set(_KokkosSoftmax_CHOSEN_DIR "${_kokkossoftmax_kokkos_dir}" CACHE INTERNAL "Kokkos_DIR if the bootstrap set it")
elseif(NOT _kokkossoftmax_kokkos_is_there AND (Kokkos_ROOT OR DEFINED ENV{Kokkos_ROOT}) AND Kokkos_DIR STREQUAL "${_KokkosSoftmax_CHOSEN_DIR}")
  unset(Kokkos_DIR CACHE) # from an earlier configuration without Kokkos_ROOT
  unset(KokkosKernels_DIR CACHE)
endif()

if(_kokkossoftmax_kokkos_is_there)
  # The target may have been made in another directory (by find_package of a sibling, or by Kokkos itself as a
  # subproject). Then the variables are not visible here.
  foreach(_kokkossoftmax_dir IN ITEMS "${Kokkos_DIR}" "${Kokkos_BINARY_DIR}")
    if(NOT Kokkos_DEVICES AND EXISTS "${_kokkossoftmax_dir}/KokkosConfigCommon.cmake")
      include("${_kokkossoftmax_dir}/KokkosConfigCommon.cmake")
      include("${_kokkossoftmax_dir}/KokkosConfigVersion.cmake" OPTIONAL)
      set(Kokkos_VERSION "${PACKAGE_VERSION}")
    endif()
  endforeach()
  if(NOT Kokkos_DEVICES OR NOT Kokkos_VERSION)
    message(FATAL_ERROR "The target Kokkos::kokkos is there, but nothing says what Kokkos it is (neither "
      "Kokkos_DEVICES and Kokkos_VERSION nor Kokkos_DIR are set); call find_package(Kokkos) in the directory "
      "that adds KokkosSoftmax, or above.")
  endif()
else()
  # With separable_compilation, only the targets that ask for Kokkos' launch compiler (below) get it.
  find_package(Kokkos QUIET COMPONENTS separable_compilation)
endif()
if(NOT _kokkossoftmax_kokkos_is_there AND NOT Kokkos_FOUND)
  message(FATAL_ERROR "Kokkos was not found (KokkosSoftmax needs Kokkos >= "
    "${KokkosSoftmax_KOKKOS_MINIMUM}, below ${KokkosSoftmax_KOKKOS_BELOW}); give one with "
    "-DKokkos_ROOT=DIR (`spack install kokkos cxxstd=20` makes one), or have it installed into .deps/ "
    "with -DKokkosSoftmax_BOOTSTRAP=ON.")
endif()
message(STATUS "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR}: ${Kokkos_DEVICES} ${Kokkos_ARCH}")

# Forgets a Kokkos that isn't suitable, so that -DKokkos_ROOT=DIR has an effect in the same build directory.
function(_kokkossoftmax_forget_kokkos)
  if(NOT _kokkossoftmax_kokkos_is_there)
    set(Kokkos_DIR "${Kokkos_DIR}" PARENT_SCOPE) # for the message
    unset(Kokkos_DIR CACHE)
  endif()
endfunction()

# ---- Whether it is suitable
if(Kokkos_VERSION VERSION_LESS KokkosSoftmax_KOKKOS_MINIMUM
   OR Kokkos_VERSION VERSION_GREATER_EQUAL KokkosSoftmax_KOKKOS_BELOW)
  _kokkossoftmax_forget_kokkos()
  message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is not supported (KokkosSoftmax needs "
    "Kokkos >= ${KokkosSoftmax_KOKKOS_MINIMUM}, below ${KokkosSoftmax_KOKKOS_BELOW}); give another one "
    "with -DKokkos_ROOT=DIR.")
endif()
if(Kokkos_CXX_STANDARD AND Kokkos_CXX_STANDARD LESS 20)
  _kokkossoftmax_forget_kokkos()
  message(FATAL_ERROR "Kokkos in ${Kokkos_DIR} was built for C++${Kokkos_CXX_STANDARD} (KokkosSoftmax "
    "needs C++20); rebuild it with -DCMAKE_CXX_STANDARD=20 (Spack: kokkos cxxstd=20) or give another "
    "one with -DKokkos_ROOT=DIR.")
endif()

set(KokkosSoftmax_FOR_GPU FALSE)
if(Kokkos_ENABLE_CUDA OR Kokkos_ENABLE_HIP OR Kokkos_ENABLE_SYCL)
  set(KokkosSoftmax_FOR_GPU TRUE)
endif()

# ---- CUDA
set(_kokkossoftmax_launcher FALSE)
set(KokkosSoftmax_CUDA13_COMPAT "")
if(Kokkos_ENABLE_CUDA)
  if(NOT CUDAToolkit_FOUND)
    find_package(CUDAToolkit QUIET)
  endif()
  if(Kokkos_VERSION VERSION_LESS 4.7.1 AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
    if(NOT Kokkos_ENABLE_IMPL_VIEW_LEGACY)
      _kokkossoftmax_forget_kokkos()
      message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} does not work with CUDA "
        "${CUDAToolkit_VERSION} (its Views have another layout on the device than on the host, and "
        "kernels silently write nowhere); use Kokkos >= 4.7.1, or CUDA 12, or build it with "
        "-DKokkos_ENABLE_IMPL_VIEW_LEGACY=ON.")
    endif()
    set(KokkosSoftmax_CUDA13_COMPAT "${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxCuda13Compat.hpp")
  endif()
  # This is not needed with Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE, CXX=nvcc_wrapper or a Clang that compiles CUDA.
  kokkossoftmax_how_to_compile(_kokkossoftmax_launcher _kokkossoftmax_compiler_is_nvcc)
  if((_kokkossoftmax_launcher OR _kokkossoftmax_compiler_is_nvcc) AND CMAKE_CXX_STANDARD GREATER 20
     AND NOT CMAKE_CXX_STANDARD EQUAL 98
     AND CUDAToolkit_NVCC_EXECUTABLE)
    execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --help
      OUTPUT_VARIABLE _kokkossoftmax_nvcc_help ERROR_QUIET)
    if(NOT _kokkossoftmax_nvcc_help MATCHES "c\\+\\+${CMAKE_CXX_STANDARD}")
      message(FATAL_ERROR "CMAKE_CXX_STANDARD=${CMAKE_CXX_STANDARD} cannot be compiled for CUDA (nvcc "
        "${CUDAToolkit_VERSION} has no -std=c++${CMAKE_CXX_STANDARD}); set -DCMAKE_CXX_STANDARD=20 or "
        "leave it out.")
    endif()
  endif()
endif()
if(Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA")
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
  endif()
  enable_language(CUDA)
elseif(Kokkos_COMPILE_LANGUAGE STREQUAL "HIP")
  if(NOT CMAKE_HIP_ARCHITECTURES)
    set(CMAKE_HIP_ARCHITECTURES ${Kokkos_HIP_ARCHITECTURES})
  endif()
  enable_language(HIP)
endif()

# kokkossoftmax_compile_with_kokkos(<target>...): links Kokkos privately, and compiles and links the target's sources
# as this Kokkos requires: by nvcc through Kokkos' launch compiler, in the language CUDA or HIP, or as plain C++. Call
# it in the target's directory, after its sources have been given.
function(kokkossoftmax_compile_with_kokkos)
  foreach(target IN LISTS ARGN)
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_link_libraries(${target} PRIVATE Kokkos::kokkos)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    if(KokkosSoftmax_CUDA13_COMPAT)
      target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX,CUDA>:SHELL:-include \"${KokkosSoftmax_CUDA13_COMPAT}\">")
    endif()
    if(_kokkossoftmax_launcher)
      kokkossoftmax_clear_launchers(${target})
      kokkos_compilation(TARGET ${target})
      get_target_property(launch ${target} RULE_LAUNCH_COMPILE)
      set_target_properties(${target} PROPERTIES RULE_LAUNCH_COMPILE
        "\"${_kokkossoftmax_cmake_dir}/nvcc_with_dependencies.sh\" <LANGUAGE> ${launch}")
      # GCC takes a twelfth less time for these sources if it collects its garbage seldom. It then takes 0.8 GB in place of
      # 0.6 GB.
      target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=300;--param=ggc-min-heapsize=500000>")
    elseif(Kokkos_COMPILE_LANGUAGE AND NOT Kokkos_COMPILE_LANGUAGE STREQUAL "CXX")
      get_target_property(sources ${target} SOURCES)
      list(FILTER sources INCLUDE REGEX "\\.(cpp|cxx|cc)$")
      if(sources)
        set_source_files_properties(${sources} TARGET_DIRECTORY ${target}
          PROPERTIES LANGUAGE ${Kokkos_COMPILE_LANGUAGE})
      endif()
      string(TOLOWER "${Kokkos_COMPILE_LANGUAGE}" prefix)
      set(known OFF)
      if("${prefix}_std_20" IN_LIST CMAKE_${Kokkos_COMPILE_LANGUAGE}_COMPILE_FEATURES)
        set(known ON)
      else() # CMake before 3.25.2 doesn't know that nvcc has C++20, and uses nvcc's default
        target_compile_options(${target} PUBLIC
          $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:${Kokkos_COMPILE_LANGUAGE}>:-std=c++20>>)
      endif()
      set_target_properties(${target} PROPERTIES
        LINKER_LANGUAGE ${Kokkos_COMPILE_LANGUAGE}
        ${Kokkos_COMPILE_LANGUAGE}_STANDARD 20
        ${Kokkos_COMPILE_LANGUAGE}_STANDARD_REQUIRED ${known}
        ${Kokkos_COMPILE_LANGUAGE}_EXTENSIONS OFF)
    endif()
  endforeach()
endfunction()

# ---- Kokkos Kernels: optional, for the example `digits`, which is a test. The target is Kokkos::kokkoskernels
if(KokkosSoftmax_ENABLE_TESTS)
  if(_kokkossoftmax_kernels_dir)
    set(KokkosKernels_DIR "${_kokkossoftmax_kernels_dir}" CACHE PATH "Where KokkosKernelsConfig.cmake is" FORCE)
  endif()
  # Its package finds Kokkos again, without the component. This would turn the launch compiler on for every target.
  set(Kokkos_LAUNCH_COMPILER OFF)
  find_package(KokkosKernels QUIET)
  if(KokkosKernels_FOUND)
    message(STATUS "Kokkos Kernels in ${KokkosKernels_DIR}")
  endif()
endif()
