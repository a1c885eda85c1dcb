# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that the installation is complete, and that no installed file contains the path of the source directory, of the
# build directory or of the directory of the installation.
cmake_minimum_required(VERSION 3.22)

set(package "${LIBDIR}/cmake/KokkosSoftmax")
file(GLOB_RECURSE headers RELATIVE "${SOURCE}/include" "${SOURCE}/include/*.hpp" "${SOURCE}/include/*.h")
list(TRANSFORM headers PREPEND "${INCLUDEDIR}/")
foreach(file IN LISTS headers ITEMS "${INCLUDEDIR}/KokkosSoftmax_Version.hpp" "${INCLUDEDIR}/impl/KokkosSoftmax_CompiledTypes.hpp"
    "${package}/KokkosSoftmaxConfig.cmake" "${package}/KokkosSoftmaxConfigVersion.cmake"
    "${package}/KokkosSoftmaxTargets.cmake" "${package}/KokkosSoftmaxUsers.cmake" "${LIBDIR}/pkgconfig/kokkossoftmax.pc")
  if(NOT EXISTS "${PREFIX}/${file}")
    message(SEND_ERROR "${file} is not in ${PREFIX} (nothing installs it); install it in KokkosSoftmaxInstall.cmake.")
  endif()
endforeach()
if(NOT EXISTS "${LIBRARY}")
  message(SEND_ERROR "${LIBRARY} is not there (nothing installs it); install it in KokkosSoftmaxInstall.cmake.")
endif()

get_filename_component(installation "${PREFIX}" DIRECTORY)
function(refuse file text)
  foreach(path IN LISTS ARGN)
    string(FIND "${text}" "${path}" at)
    if(NOT at EQUAL -1)
      message(SEND_ERROR "${file} names ${path} (nobody else has that directory); give a path relative to the prefix.")
    endif()
  endforeach()
endfunction()

file(GLOB_RECURSE files "${PREFIX}/*.hpp" "${PREFIX}/*.h" "${PREFIX}/*.cmake" "${PREFIX}/*.pc")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  string(REGEX REPLACE "(^|\n)kokkos_[^\n]*" "" text "${text}") # Kokkos can be installed in .deps of the source
  refuse("${file}" "${text}" "${SOURCE}" "${BUILD}" "${installation}")
endforeach()

# The library can contain paths in its search path for other libraries and from __FILE__. Debug information contains the
# paths of source files, so only the Release build is checked.
if(CONFIG STREQUAL "Release")
  file(STRINGS "${LIBRARY}" strings)
  refuse("${LIBRARY}" "${strings}" "${BUILD}" "${installation}")
endif()
