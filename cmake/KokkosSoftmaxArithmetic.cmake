# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kokkossoftmax_set_arithmetic(<target>...): the compiler options that decide which arithmetic the code of src/ has. For
# the library, and for every target that instantiates kernels of src/ itself: it would test other results otherwise.
# Include it after KokkosSoftmaxKokkos.cmake.
include_guard(DIRECTORY)

function(kokkossoftmax_set_arithmetic)
  # Products are rounded where they stand: what src/ wants fused, it writes as multiply_add. Elsewhere
  # (scale * x, then minus the maximum) a fused product would not be the entry that was compared.
  # Nobody reads the floating-point exceptions of these loops. If they counted, GCC would vectorize no loop that
  # computes with the result of a selection: the exponentials.
  set(host -ffp-contract=off -fno-trapping-math)
  set(device_of_nvcc -fmad=false)

  list(JOIN host "," host_of_nvcc)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      "$<$<OR:$<COMPILE_LANGUAGE:HIP>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang,IntelLLVM>>:${host}>"
      $<$<COMPILE_LANG_AND_ID:CXX,IntelLLVM>:-fp-model=precise>
      "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${device_of_nvcc};-Xcompiler=${host_of_nvcc}>")
    if(_kokkossoftmax_launcher OR _kokkossoftmax_compiler_is_nvcc)
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${device_of_nvcc}>")
    endif()
  endforeach()
endfunction()
