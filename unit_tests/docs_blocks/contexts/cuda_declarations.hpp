// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks with CUDA use of its runtime library and of Kokkos, for compilers without CUDA. A
// stream is converted to an instance of a host space, because Kokkos can't compile kernels for a
// space of ours.
using cudaError_t = int;
struct cudaStream_t {
  operator Kokkos::DefaultHostExecutionSpace() const;
};
using cudaGraph_t = struct CudaGraph*;
using cudaGraphExec_t = struct CudaGraphExec*;
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal };
enum { cudaStreamNonBlocking = 1 };
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned int);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);

namespace Kokkos {
using namespace ::Kokkos;
using Cuda = DefaultHostExecutionSpace;
}  // namespace Kokkos
