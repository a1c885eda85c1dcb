// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_CUDASTREAMS_HPP
#define KOKKOSSOFTMAX_TEST_CUDASTREAMS_HPP

/// \file
/// CUDA streams and graphs, for tests of where calls run.

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <stdexcept>
#include <string>

namespace KokkosSoftmax::Test {

inline void expect_cuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// A stream that belongs to the test, and an execution space instance on it.
class StreamInstance {
 public:
  explicit StreamInstance(unsigned flags = cudaStreamNonBlocking)
      : m_stream(make_stream(flags)), m_exec(m_stream) {}
  ~StreamInstance() {
    m_exec.fence();
    m_exec = Kokkos::Cuda{};  // the instance must be released before its stream is destroyed
    cudaStreamDestroy(m_stream);
  }
  StreamInstance(const StreamInstance&) = delete;
  StreamInstance& operator=(const StreamInstance&) = delete;

  const Kokkos::Cuda& exec() const { return m_exec; }
  cudaStream_t stream() const { return m_stream; }

 private:
  static cudaStream_t make_stream(unsigned flags) {
    cudaStream_t stream = nullptr;
    expect_cuda(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
  }

  cudaStream_t m_stream;
  Kokkos::Cuda m_exec;
};

/// The work that `body` enqueues on a stream, as a graph that can be launched.
class CapturedGraph {
 public:
  template <class Body>
  CapturedGraph(cudaStream_t stream, const Body& body) {
    expect_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    body();
    expect_cuda(cudaStreamEndCapture(stream, &m_graph));
    expect_cuda(cudaGraphInstantiate(&m_executable, m_graph, 0));
  }
  ~CapturedGraph() {
    cudaGraphExecDestroy(m_executable);
    cudaGraphDestroy(m_graph);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch(cudaStream_t stream) const { expect_cuda(cudaGraphLaunch(m_executable, stream)); }

 private:
  cudaGraph_t m_graph = nullptr;
  cudaGraphExec_t m_executable = nullptr;
};

}  // namespace KokkosSoftmax::Test

#endif
#endif
