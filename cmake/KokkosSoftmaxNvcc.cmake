# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kokkossoftmax_set_nvcc_options(<target> <units>...): sets options of nvcc that make a library of many kernels cheaper
# to build and smaller. They change no kernel. `units` are the sources with the kernels. It does nothing for other
# compilers. Call it after kokkossoftmax_compile_with_kokkos(<target>), in the target's directory.
include_guard(DIRECTORY)

# The mode `size` compresses the kernels the most, and takes a tenth of the time of a unit. CUDA decompresses it when it loads a unit.
set(KokkosSoftmax_CUDA_COMPRESS_MODE size CACHE STRING "How nvcc compresses kernels, from CUDA 13 on (--compress-mode)")
set_property(CACHE KokkosSoftmax_CUDA_COMPRESS_MODE PROPERTY STRINGS size balance speed none)
mark_as_advanced(KokkosSoftmax_CUDA_COMPRESS_MODE)

function(kokkossoftmax_set_nvcc_options target)
  # With -O3, more than half of the time of such a unit is spent on the host code of the launches, which Kokkos
  # instantiates once per kernel. With nvcc, -O is the option of the host compiler alone; device code is always optimized.
  set(host -O1 -finline-small-functions)
  set(compress --compress-mode=${KokkosSoftmax_CUDA_COMPRESS_MODE})
  if(CUDAToolkit_VERSION VERSION_LESS 13)
    set(compress -Xfatbin=-compress-all)
  endif()

  if(_kokkossoftmax_launcher OR _kokkossoftmax_compiler_is_nvcc)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release,RelWithDebInfo>:${host}>")
    # nvcc_wrapper would pass an option that it doesn't know to the host compiler.
    get_target_property(launch ${target} RULE_LAUNCH_COMPILE)
    if(NOT launch)
      set(launch "")
    endif()
    set_target_properties(${target} PROPERTIES RULE_LAUNCH_COMPILE
      "\"${CMAKE_COMMAND}\" -E env \"NVCC_APPEND_FLAGS=$ENV{NVCC_APPEND_FLAGS} ${compress}\" ${launch}")
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${compress}>")
endfunction()
