# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# KokkosSoftmax_BOOTSTRAP=ON: if no suitable Kokkos is found, installs Kokkos 4.7.0 and Kokkos Kernels 4.4.0 into
# .deps/<configuration>/{kokkos,kokkos-kernels}. Both come from one source distribution on PyPI that bundles them. It
# is pinned by hash in requirements-kokkos.txt, and the packages that build it are pinned in
# requirements-kokkos-build.txt. Afterwards Kokkos_ROOT and KokkosKernels_ROOT name these directories.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxPython.cmake")

option(KokkosSoftmax_BOOTSTRAP_CUDA "Bootstrap a Kokkos with CUDA" OFF)
option(KokkosSoftmax_BOOTSTRAP_HIP "Bootstrap a Kokkos with HIP" OFF)
option(KokkosSoftmax_BOOTSTRAP_DEBUG_BOUNDS_CHECK "Bootstrap a Kokkos that checks View bounds" OFF)
option(KokkosSoftmax_BOOTSTRAP_SANITIZE_THREAD
  "Bootstrap a Kokkos for ThreadSanitizer: compiled with it, and with Threads in place of OpenMP, whose runtime it doesn't know" OFF)
set(KokkosSoftmax_BOOTSTRAP_HOST_ARCH "NATIVE" CACHE STRING
    "Host architecture of the bootstrapped Kokkos: Kokkos_ARCH_<value>=ON (empty: the compiler's default)")
set(KokkosSoftmax_BOOTSTRAP_GPU_ARCH "HOPPER90" CACHE STRING
    "GPU architecture of the bootstrapped Kokkos: Kokkos_ARCH_<value>=ON")

set(_kokkossoftmax_bootstrap_version 4.7.0)
set(_kokkossoftmax_cuda13_header "${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxCuda13Compat.hpp")
set(_kokkossoftmax_requirements "${CMAKE_CURRENT_LIST_DIR}/requirements-kokkos.txt")
set(_kokkossoftmax_build_requirements "${CMAKE_CURRENT_LIST_DIR}/requirements-kokkos-build.txt")

# _kokkossoftmax_probe(<result>): the directory of a suitable KokkosConfig.cmake in the usual places. It reads the
# package's files and doesn't call find_package, because the targets of a package can't be removed again.
function(_kokkossoftmax_probe result)
  set(${result} "" PARENT_SCOPE)
  set(suffixes lib/cmake/Kokkos lib64/cmake/Kokkos share/cmake/Kokkos)
  if(CMAKE_LIBRARY_ARCHITECTURE)
    list(APPEND suffixes lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Kokkos)
  endif()
  find_path(found KokkosConfigCommon.cmake PATH_SUFFIXES ${suffixes} NO_CACHE)
  if(NOT found)
    return()
  endif()
  set(PACKAGE_VERSION "")
  include("${found}/KokkosConfigVersion.cmake" OPTIONAL)
  file(READ "${found}/KokkosConfigCommon.cmake" common)
  string(REGEX MATCH "set *\\(Kokkos_DEVICES ([^)]*)\\)" _ "${common}")
  string(TOUPPER "${CMAKE_MATCH_1}" devices)
  string(REGEX MATCH "set *\\(Kokkos_OPTIONS ([^)]*)\\)" _ "${common}")
  string(TOUPPER "${CMAKE_MATCH_1}" options)
  string(REGEX MATCH "set *\\(Kokkos_CXX_STANDARD ([^)]*)\\)" _ "${common}")
  set(standard "${CMAKE_MATCH_1}")
  set(why "")
  if(PACKAGE_VERSION VERSION_LESS 4.7 OR PACKAGE_VERSION VERSION_GREATER_EQUAL 6)
    set(why "its version is '${PACKAGE_VERSION}'")
  elseif(standard AND standard LESS 20)
    set(why "it is built for C++${standard}")
  elseif(KokkosSoftmax_BOOTSTRAP_CUDA AND NOT "CUDA" IN_LIST devices)
    set(why "it lacks CUDA")
  elseif(KokkosSoftmax_BOOTSTRAP_HIP AND NOT "HIP" IN_LIST devices)
    set(why "it lacks HIP")
  elseif(KokkosSoftmax_BOOTSTRAP_DEBUG_BOUNDS_CHECK AND NOT "DEBUG_BOUNDS_CHECK" IN_LIST options)
    set(why "it doesn't check bounds")
  elseif(KokkosSoftmax_BOOTSTRAP_SANITIZE_THREAD)
    set(why "it may not be compiled with ThreadSanitizer")
  endif()
  if(why)
    message(STATUS "Not using the Kokkos in ${found}: ${why} (force it with -DKokkos_ROOT=DIR)")
  else()
    set(${result} "${found}" PARENT_SCOPE)
  endif()
endfunction()

# A pip that supports config settings (22.1), if necessary in a virtual environment of its own.
function(_kokkossoftmax_find_pip result work log)
  kokkossoftmax_find_python()
  if(NOT Python3_Interpreter_FOUND)
    message(FATAL_ERROR "Kokkos cannot be installed (no python3 >= 3.8 was found); install Python 3 "
      "with pip, or give a Kokkos with -DKokkos_ROOT=DIR (`spack install kokkos` makes one).")
  endif()
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -m pip --version
    RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_QUIET)
  if(rc EQUAL 0 AND out MATCHES "^pip ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 22.1)
    set(${result} "${Python3_EXECUTABLE}" PARENT_SCOPE)
    return()
  endif()
  kokkossoftmax_make_venv("${work}/pip" "${log}" made --upgrade "pip>=22.1")
  if(NOT made)
    kokkossoftmax_log_tail("${log}")
    file(REMOVE_RECURSE "${work}")
    message(FATAL_ERROR "Kokkos cannot be installed (${Python3_EXECUTABLE} has no pip >= 22.1 and no "
      "virtual environment with one could be made); install python3-pip or python3-venv, or give a "
      "Kokkos with -DKokkos_ROOT=DIR (`spack install kokkos` makes one).")
  endif()
  set(${result} "${work}/pip/bin/python" PARENT_SCOPE)
endfunction()

# Runs one pip command and writes its output to the log. On failure nothing of <work> remains. The build requirements
# are taken from <work>/build-requirements (with --no-build-isolation). CMake and Ninja are those in PATH, else those
# of this build.
function(_kokkossoftmax_pip what work log)
  string(TIMESTAMP begin "%s")
  list(JOIN ARGN " " command)
  file(APPEND "${log}" "$ ${command}\n")
  set(path "$ENV{PATH}")
  foreach(program IN ITEMS ${CMAKE_COMMAND} ${CMAKE_MAKE_PROGRAM})
    get_filename_component(program "${program}" DIRECTORY)
    string(APPEND path ":${program}")
  endforeach()
  set(modules "${work}/build-requirements")
  if(NOT "$ENV{PYTHONPATH}" STREQUAL "")
    string(APPEND modules ":$ENV{PYTHONPATH}")
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "CXX=${CMAKE_CXX_COMPILER}" "PATH=${path}" "PYTHONPATH=${modules}" PIP_USER=0
            PIP_DISABLE_PIP_VERSION_CHECK=1 ${ARGN}
    RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  file(APPEND "${log}" "${out}\n")
  if(NOT rc EQUAL 0)
    kokkossoftmax_log_tail("${log}")
    file(REMOVE_RECURSE "${work}")
    message(FATAL_ERROR "${what} failed (pip returned '${rc}'; the whole log is ${log}); make the "
      "network or pip work (PIP_INDEX_URL, https_proxy) and configure again, or give a Kokkos >= 4.7 "
      "with -DKokkos_ROOT=DIR: `spack install kokkos cxxstd=20`, a system package, or your own build.")
  endif()
  string(TIMESTAMP end "%s")
  math(EXPR seconds "${end} - ${begin}")
  message(STATUS "${what}: done in ${seconds} s")
endfunction()

# kokkossoftmax_bootstrap(<kokkos dir> <kernels dir>): the directories with the packages' CMake files, for
# find_package. They are empty if find_package must search by itself.
function(kokkossoftmax_bootstrap kokkos_dir kernels_dir)
  set(${kokkos_dir} "" PARENT_SCOPE)
  set(${kernels_dir} "" PARENT_SCOPE)

  # A Kokkos that the user names is used in any case.
  if(Kokkos_ROOT OR DEFINED ENV{Kokkos_ROOT})
    return()
  endif()
  if(Kokkos_DIR AND NOT Kokkos_DIR STREQUAL "${_KokkosSoftmax_CHOSEN_DIR}")
    return()
  endif()
  _kokkossoftmax_probe(found)
  if(found)
    set(${kokkos_dir} "${found}" PARENT_SCOPE)
    return()
  endif()

  # What to build
  set(name host)
  set(common "cmake.build-type=Release"
    "cmake.define.CMAKE_CXX_STANDARD=20"
    "cmake.define.CMAKE_POSITION_INDEPENDENT_CODE=ON")
  if(KokkosSoftmax_BOOTSTRAP_SANITIZE_THREAD)
    if(KokkosSoftmax_BOOTSTRAP_CUDA)
      message(FATAL_ERROR "KokkosSoftmax_BOOTSTRAP_SANITIZE_THREAD and KokkosSoftmax_BOOTSTRAP_CUDA are both ON "
        "(ThreadSanitizer can't follow CUDA); turn one OFF.")
    endif()
    set(name tsan)
    list(APPEND common "cmake.define.CMAKE_CXX_FLAGS=-fsanitize=thread -g")
    set(settings "cmake.define.Kokkos_ENABLE_THREADS=ON")
  elseif(KokkosSoftmax_BOOTSTRAP_HIP) # its compiler may have no OpenMP
    set(settings "")
  else()
    set(settings "cmake.define.Kokkos_ENABLE_OPENMP=ON")
  endif()
  if(CMAKE_CROSSCOMPILING)
    set(name ${CMAKE_SYSTEM_PROCESSOR})
    list(APPEND common "cmake.define.CMAKE_SYSTEM_NAME=${CMAKE_SYSTEM_NAME}"
      "cmake.define.CMAKE_SYSTEM_PROCESSOR=${CMAKE_SYSTEM_PROCESSOR}")
    list(APPEND settings "cmake.define.Kokkos_ENABLE_LIBDL=OFF") # it isn't found outside of the system's folders
  endif()
  if(KokkosSoftmax_BOOTSTRAP_HOST_ARCH)
    list(APPEND settings "cmake.define.Kokkos_ARCH_${KokkosSoftmax_BOOTSTRAP_HOST_ARCH}=ON")
  endif()
  set(takes "half a minute")
  set(cuda_version "")
  if(KokkosSoftmax_BOOTSTRAP_HIP)
    string(TOLOWER "hip-${KokkosSoftmax_BOOTSTRAP_GPU_ARCH}" name)
    set(takes "two minutes")
    list(APPEND settings "cmake.define.Kokkos_ENABLE_HIP=ON" "cmake.define.Kokkos_ENABLE_ROCTHRUST=OFF"
      "cmake.define.Kokkos_ARCH_${KokkosSoftmax_BOOTSTRAP_GPU_ARCH}=ON")
  endif()
  if(NOT KokkosSoftmax_BOOTSTRAP_CUDA) # nvcc would take minutes for a second host backend
    list(APPEND settings "cmake.define.Kokkos_ENABLE_SERIAL=ON")
  endif()
  if(KokkosSoftmax_BOOTSTRAP_CUDA)
    find_package(CUDAToolkit QUIET)
    if(NOT CUDAToolkit_FOUND)
      message(FATAL_ERROR "Kokkos with CUDA cannot be installed (no CUDA toolkit was found); put nvcc "
        "into PATH or set CUDAToolkit_ROOT, or choose the preset `host`.")
    endif()
    set(cuda_version "${CUDAToolkit_VERSION}")
    set(name cuda)
    if(NOT KokkosSoftmax_BOOTSTRAP_GPU_ARCH STREQUAL "HOPPER90")
      string(TOLOWER "cuda-${KokkosSoftmax_BOOTSTRAP_GPU_ARCH}" name)
    endif()
    set(takes "two minutes")
    list(APPEND settings "cmake.define.Kokkos_ENABLE_CUDA=ON"
      "cmake.define.Kokkos_ARCH_${KokkosSoftmax_BOOTSTRAP_GPU_ARCH}=ON")
    if(cuda_version VERSION_GREATER_EQUAL 13)
      list(APPEND settings "cmake.define.Kokkos_ENABLE_IMPL_VIEW_LEGACY=ON")
      list(APPEND common "cmake.define.CMAKE_CXX_FLAGS=-include ${_kokkossoftmax_cuda13_header}")
    endif()
  endif()
  if(KokkosSoftmax_BOOTSTRAP_DEBUG_BOUNDS_CHECK)
    string(APPEND name "-debug")
    list(APPEND settings "cmake.define.Kokkos_ENABLE_DEBUG=ON"
      "cmake.define.Kokkos_ENABLE_DEBUG_BOUNDS_CHECK=ON")
  endif()
  set(kernels_settings "cmake.define.KokkosKernels_ADD_DEFAULT_ETI=OFF"
    "cmake.define.KokkosKernels_ENABLE_ALL_COMPONENTS=OFF"
    "cmake.define.KokkosKernels_ENABLE_COMPONENT_BLAS=ON")

  # Is it already installed, built with these options?
  set(dir "${KokkosSoftmax_DEPS_DIR}/${name}")
  file(READ "${_kokkossoftmax_requirements}" pin)
  set(header_hash "")
  if(KokkosSoftmax_BOOTSTRAP_CUDA)
    file(SHA256 "${_kokkossoftmax_cuda13_header}" header_hash)
  endif()
  string(CONCAT stamp "${pin}${common}\n${settings}\n${kernels_settings}\n"
    "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\n"
    "CUDA ${cuda_version} ${header_hash}\n")
  string(REPLACE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/" "" stamp "${stamp}") # the checkout may be moved
  kokkossoftmax_lock("Bootstrap of Kokkos")
  set(installed "")
  if(EXISTS "${dir}/options.txt")
    file(READ "${dir}/options.txt" installed)
  endif()

  if(NOT installed STREQUAL stamp)
    set(log "${CMAKE_BINARY_DIR}/kokkossoftmax-bootstrap.log")
    set(work "${KokkosSoftmax_DEPS_DIR}/.incomplete-${name}")
    file(REMOVE_RECURSE "${work}")
    file(MAKE_DIRECTORY "${work}")
    file(WRITE "${log}" "${stamp}\n")
    _kokkossoftmax_find_pip(python "${work}" "${log}")

    message(STATUS "Downloading Kokkos ${_kokkossoftmax_bootstrap_version} and Kokkos Kernels (17 MB, some seconds)")
    _kokkossoftmax_pip("The download of what builds Kokkos" "${work}" "${log}"
      "${python}" -m pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes
      -r "${_kokkossoftmax_build_requirements}" --target "${work}/build-requirements")
    _kokkossoftmax_pip("The download of Kokkos" "${work}" "${log}"
      "${python}" -m pip download --no-cache-dir --no-deps --no-build-isolation --no-binary pygenten --require-hashes
      -r "${_kokkossoftmax_requirements}" -d "${work}")
    file(GLOB archive "${work}/pygenten-*.tar.gz")

    message(STATUS "Installing Kokkos ${_kokkossoftmax_bootstrap_version} into ${dir} (about ${takes}; log in ${log})")
    set(arguments "")
    foreach(setting IN LISTS common settings)
      list(APPEND arguments "--config-settings=${setting}")
    endforeach()
    _kokkossoftmax_pip("The installation of Kokkos" "${work}" "${log}"
      "${python}" -m pip install --no-cache-dir --no-deps --no-build-isolation "${archive}" --target "${work}/a"
      --config-settings=cmake.source-dir=tpls/kokkos --config-settings=wheel.install-dir=kokkos
      --config-settings=ninja.make-fallback=true ${arguments})

    message(STATUS "Installing Kokkos Kernels into ${dir} (some seconds)")
    set(arguments "")
    foreach(setting IN LISTS common kernels_settings)
      list(APPEND arguments "--config-settings=${setting}")
    endforeach()
    _kokkossoftmax_pip("The installation of Kokkos Kernels" "${work}" "${log}"
      "${python}" -m pip install --no-cache-dir --no-deps --no-build-isolation "${archive}" --target "${work}/b"
      --config-settings=cmake.source-dir=tpls/kokkos-kernels
      --config-settings=wheel.install-dir=kokkos-kernels --config-settings=ninja.make-fallback=true
      "--config-settings=cmake.define.Kokkos_ROOT=${work}/a/kokkos" ${arguments})

    file(MAKE_DIRECTORY "${work}/final")
    file(RENAME "${work}/a/kokkos" "${work}/final/kokkos")
    file(RENAME "${work}/b/kokkos-kernels" "${work}/final/kokkos-kernels")
    # The only absolute path in the packages is that of the previous directory.
    file(GLOB_RECURSE scripts "${work}/final/*.cmake")
    foreach(script IN LISTS scripts)
      file(READ "${script}" text)
      string(REPLACE "${work}/a/kokkos" "${dir}/kokkos" new "${text}")
      if(NOT new STREQUAL text)
        file(WRITE "${script}" "${new}")
      endif()
    endforeach()
    file(WRITE "${work}/final/options.txt" "${stamp}")
    file(REMOVE_RECURSE "${dir}")
    file(RENAME "${work}/final" "${dir}")
    file(REMOVE_RECURSE "${work}")
  endif()

  file(GLOB_RECURSE kokkos_config "${dir}/kokkos/KokkosConfig.cmake")
  file(GLOB_RECURSE kernels_config "${dir}/kokkos-kernels/KokkosKernelsConfig.cmake")
  get_filename_component(kokkos_config "${kokkos_config}" DIRECTORY)
  get_filename_component(kernels_config "${kernels_config}" DIRECTORY)
  set(${kokkos_dir} "${kokkos_config}" PARENT_SCOPE)
  set(${kernels_dir} "${kernels_config}" PARENT_SCOPE)
endfunction()
