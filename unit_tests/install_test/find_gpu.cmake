# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Included before a program that was built for CUDA is run. Sets GPU_FOUND to ON if there is a GPU.
find_program(NVIDIA_SMI nvidia-smi HINTS /usr/lib/wsl/lib)
set(gpus "")
if(NVIDIA_SMI)
  execute_process(COMMAND "${NVIDIA_SMI}" --list-gpus OUTPUT_VARIABLE gpus ERROR_QUIET)
endif()
set(GPU_FOUND OFF)
if(gpus MATCHES "GPU [0-9]+:")
  set(GPU_FOUND ON)
else()
  message("skipped: built, but not run (nvidia-smi lists no GPU)")
endif()
