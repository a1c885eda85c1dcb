# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the programs of cpp/ and c/ with the flags that pkg-config gives, without CMake.
#   PKG_CONFIG, CC, CXX    the programs pkg-config, C compiler and C++ compiler
#   PREFIX, LIBDIR, TYPE   the location of the library, and whether it is STATIC or SHARED
#   FLAGS                  further compiler flags
#   CUDA                   true if CXX is nvcc_wrapper
#   SOURCES                the directory that contains cpp/ and c/
#   WORK, ACTION           as for run_consumer.cmake
cmake_minimum_required(VERSION 3.22)

set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")
set(static "")
set(rpath "")
if(TYPE STREQUAL "STATIC")
  set(static --static)
else()
  set(rpath "-Wl,-rpath,${PREFIX}/${LIBDIR}")
endif()

function(ask result)
  execute_process(COMMAND "${PKG_CONFIG}" ${ARGN} kokkossoftmax OUTPUT_VARIABLE words COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${words}")
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

ask(version --modversion)
ask(cflags --cflags)
ask(libs ${static} --libs)
set(c_cflags ${cflags})
set(c_linker "${CC}")
if(CUDA) # the other flags are for nvcc
  ask(c_cflags --cflags-only-I)
  set(c_linker "${CXX}")
endif()
separate_arguments(flags UNIX_COMMAND "${FLAGS}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
run("${CXX}" -std=c++20 ${flags} "${SOURCES}/cpp/main.cpp" ${cflags} ${libs} ${rpath} -o "${WORK}/cpp")
run("${CC}" ${flags} -c "${SOURCES}/c/main.c" ${c_cflags} -o "${WORK}/c.o")
run("${c_linker}" ${flags} "${WORK}/c.o" ${libs} ${rpath} -o "${WORK}/c")
if(ACTION STREQUAL "run_on_gpu")
  include("${CMAKE_CURRENT_LIST_DIR}/find_gpu.cmake")
endif()
if(ACTION STREQUAL "run" OR GPU_FOUND)
  run("${WORK}/cpp")
  run("${WORK}/c")
endif()
