# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kokkossoftmax_set_arithmetic(<target>...): sets the compiler options that decide which arithmetic the code of src/
# has. Call it for the library, and for every target that instantiates kernels of src/ itself; otherwise such a target
# would test other results. Include this file after KokkosSoftmaxKokkos.cmake.
# With HOST_ONLY: for targets that nvcc doesn't compile even if it compiles the others.
include_guard(DIRECTORY)

function(kokkossoftmax_set_arithmetic)
  # Each product is rounded by itself. Where src/ wants a fused operation, it calls multiply_add. Elsewhere (scale *
  # x, then minus the maximum) a fused product would not be the entry that was compared.
  # The floating-point exceptions of these loops are never read. If they counted, GCC would not vectorize loops that
  # compute with the result of a selection, such as the exponentials.
  set(host -ffp-contract=off -fno-trapping-math)
  set(device_of_nvcc -fmad=false)

  cmake_parse_arguments(PARSE_ARGV 0 arg "HOST_ONLY" "" "")
  list(JOIN host "," host_of_nvcc)
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    target_compile_options(${target} PRIVATE
      "$<$<OR:$<COMPILE_LANGUAGE:HIP>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang,IntelLLVM>>:${host}>"
      $<$<COMPILE_LANG_AND_ID:CXX,IntelLLVM>:-fp-model=precise>
      "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${device_of_nvcc};-Xcompiler=${host_of_nvcc}>")
    if(NOT arg_HOST_ONLY AND (_kokkossoftmax_launcher OR _kokkossoftmax_compiler_is_nvcc))
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${device_of_nvcc}>")
    endif()
  endforeach()
endfunction()
