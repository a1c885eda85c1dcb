# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DBUILD=<build directory> -DCONFIG=<configuration> -DLIBDIR=... -DDIR=<directory> -P check_kokkos_in_prefix.cmake
# Installs into the prefix in which Kokkos is installed, below <directory> (DESTDIR). kokkossoftmax.pc must then give the
# path of Kokkos relative to the prefix.
cmake_minimum_required(VERSION 3.22)

function(read_line result file name)
  file(STRINGS "${file}" line REGEX "^${name}=")
  string(REGEX REPLACE "^${name}=" "" line "${line}")
  set(${result} "${line}" PARENT_SCOPE)
endfunction()

read_line(kokkos_libdir "${BUILD}/package/kokkossoftmax.pc" kokkos_libdir)
get_filename_component(prefix "${kokkos_libdir}" DIRECTORY)
get_filename_component(name "${kokkos_libdir}" NAME)
file(REMOVE_RECURSE "${DIR}")
set(ENV{DESTDIR} "${DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${prefix}"
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
set(pc "${DIR}${prefix}/${LIBDIR}/pkgconfig/kokkossoftmax.pc")
read_line(installed "${pc}" kokkos_libdir)
if(NOT installed STREQUAL "\${prefix}/${name}")
  message(FATAL_ERROR "${pc} says kokkos_libdir=${installed} (${kokkos_libdir} is in the prefix ${prefix}); write it "
    "as \${prefix}/${name}.")
endif()
