// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets Kokkos 4.7.0 compile with CUDA 13, which changed the signatures of two functions that Kokkos
// calls: overloads of the old signatures that forward to the new ones. Force-included (-include)
// into Kokkos itself and into whatever includes it; empty for any other compiler or CUDA.
#ifndef KOKKOSSOFTMAX_CUDA13_COMPAT_HPP
#define KOKKOSSOFTMAX_CUDA13_COMPAT_HPP

#if defined(__CUDACC__) && defined(__cplusplus)
#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                        cudaStream_t stream) {
  cudaMemLocation location{};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return cudaMemPrefetchAsync(pointer, bytes, location, 0u, stream);
}
#endif
#endif

#endif
