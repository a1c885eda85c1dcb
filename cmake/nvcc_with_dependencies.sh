#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# nvcc_with_dependencies.sh LANGUAGE COMMAND...: runs a compile command of nvcc_wrapper. For the options -MD, -MT and -MF,
# nvcc_wrapper would call nvcc a second time, which reads all headers again. nvcc can write the dependencies while it
# compiles. It therefore gets these options in NVCC_APPEND_FLAGS, and nvcc_wrapper doesn't get them.
language=$1
shift
# Kokkos' launch compiler leaves other commands to the C++ compiler.
[[ $language = CXX && " $* " = *"KOKKOS_DEPENDENCE "* ]] || exec "$@"

command=()
while [ $# -gt 0 ]; do
  case $1 in
    -MD) NVCC_APPEND_FLAGS+=" $1" ;;
    -MT | -MF)
      NVCC_APPEND_FLAGS+=" $1 $2"
      shift
      ;;
    *) command+=("$1") ;;
  esac
  shift
done
export NVCC_APPEND_FLAGS
exec "${command[@]}"
