# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DBUILD=<build directory> -DCONFIG=<configuration> -DDIR=<directory> -P install_prefix.cmake
# Installs a build and moves the installed files to <directory>/prefix, where they must work as well.
file(REMOVE_RECURSE "${DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${DIR}/first-prefix"
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(RENAME "${DIR}/first-prefix" "${DIR}/prefix")
