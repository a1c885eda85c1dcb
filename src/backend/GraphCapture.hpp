// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_GRAPHCAPTURE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_GRAPHCAPTURE_HPP

/// \file
/// Support for calls that are captured into a graph, which can be executed any number of times on
/// any stream, and for memory that belongs to a graph. docs/graphs.md describes the guarantees to
/// users.

#include <Kokkos_Core.hpp>
#include <backend/Device.hpp>
#include <backend/FinalizeHook.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace KokkosSoftmax::Impl {

/// Whether the library can attach memory to a graph that is being captured.
template <class Exec>
inline constexpr bool graphs_own_memory = is_cuda<Exec>;

#if defined(KOKKOS_ENABLE_CUDA)
/// Whether work that is enqueued on the stream is captured into a graph instead of being run.
inline bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  // An error means that `stream` is the legacy stream and that another stream's capture forbids its
  // use: `stream` itself is not being captured.
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) cudaGetLastError();
  return status == cudaStreamCaptureStatusActive;
}
#endif
#if defined(KOKKOS_ENABLE_HIP)
inline bool is_captured(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (hipStreamIsCapturing(stream, &status) != hipSuccess) (void)hipGetLastError();
  return status == hipStreamCaptureStatusActive;
}
#endif

/// Whether work that is enqueued on the instance is captured into a graph.
template <class Exec>
bool is_capturing([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<Exec>) return is_captured(exec.cuda_stream());
#endif
#if defined(KOKKOS_ENABLE_HIP)
  if constexpr (is_hip<Exec>) return is_captured(exec.hip_stream());
#endif
  return false;
}

/// While an object of this class exists, the calling thread may allocate memory, even if this
/// thread or another one is capturing a stream.
class AllocationsDuringCapture {
 public:
#if defined(KOKKOS_ENABLE_CUDA)
  AllocationsDuringCapture() { cudaThreadExchangeStreamCaptureMode(&m_mode); }
  ~AllocationsDuringCapture() { cudaThreadExchangeStreamCaptureMode(&m_mode); }

 private:
  cudaStreamCaptureMode m_mode = cudaStreamCaptureModeRelaxed;
#else
  AllocationsDuringCapture() {}  // so that an object isn't an unused variable
#endif
 public:
  AllocationsDuringCapture(const AllocationsDuringCapture&) = delete;
  AllocationsDuringCapture& operator=(const AllocationsDuringCapture&) = delete;
};

#if defined(KOKKOS_ENABLE_CUDA)

inline void throw_if_capture_failed(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(
      std::string("KokkosSoftmax: a captured call can't be given its memory (") + what + ": " +
      cudaGetErrorString(error) + "): end the capture, and see docs/graphs.md");
}

/// The memory of captured calls. A block belongs to a graph and to everything made from the graph
/// until the last of these is destroyed. Then the block is kept for another captured call.
class GraphMemory {
 public:
  /// The object is never destroyed, because graphs may be destroyed after static objects.
  static GraphMemory& singleton() {
    static GraphMemory& memory = *new GraphMemory;
    return memory;
  }

  /// The number of blocks that were allocated so far, for tests.
  std::size_t allocations() {
    const std::lock_guard lock(m_mutex);
    return m_allocations;
  }

  /// Returns a block of zeros that belongs to the graph being captured on the instance's stream.
  void* block_for(const Kokkos::Cuda& exec, std::size_t bytes) {
    const AllocationsDuringCapture allowed;
    cudaSetDevice(exec.cuda_device());
    Block* const block = take(exec.cuda_device(), bytes);
    give_to_graph(block, exec.cuda_stream());  // before the fill: from here on the block can't leak
    fill_with_zeros(*block);
    return block->data;
  }

 private:
  struct Block {
    int device;
    std::size_t bytes;
    void* data = nullptr;
  };

  GraphMemory() {
    push_finalize_hook([this] { free_unused(); });
  }

  Block* take(int device, std::size_t bytes) {
    {
      const std::lock_guard lock(m_mutex);
      for (auto& block : m_unused) {
        if (block->device != device || block->bytes != bytes) continue;
        std::swap(block, m_unused.back());
        Block* const found = m_unused.back().release();
        m_unused.pop_back();
        return found;
      }
      ++m_allocations;
    }
    auto block = std::make_unique<Block>(Block{device, bytes});
    throw_if_capture_failed(cudaMalloc(&block->data, bytes), "cudaMalloc");
    return block.release();
  }

  /// CUDA calls this function when the block's last owner is destroyed. It must not call functions
  /// of CUDA.
  static void CUDART_CB take_back(void* block) {
    GraphMemory& memory = singleton();
    const std::lock_guard lock(memory.m_mutex);
    memory.m_unused.emplace_back(static_cast<Block*>(block));
  }

  static void give_to_graph(Block* block, cudaStream_t stream) {
    cudaUserObject_t owned = nullptr;
    cudaError_t error =
        cudaUserObjectCreate(&owned, block, take_back, 1, cudaUserObjectNoDestructorSync);
    if (error != cudaSuccess) take_back(block);
    throw_if_capture_failed(error, "cudaUserObjectCreate");
    error = cudaGraphRetainUserObject(captured_graph(stream), owned, 1, cudaGraphUserObjectMove);
    if (error != cudaSuccess) cudaUserObjectRelease(owned, 1);
    throw_if_capture_failed(error, "cudaGraphRetainUserObject");
  }

  /// The graph that is being captured on the stream, or null if nothing is captured. The caller
  /// passes it to a function of CUDA that returns an error for null.
  static cudaGraph_t captured_graph(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
    cudaStreamGetCaptureInfo(stream, &status, &id, &graph);
#else
    cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph);
#endif
    return graph;
  }

  /// Fills the block at once, not when the graph is executed: the fill runs on a stream of its own,
  /// which is not part of any capture.
  static void fill_with_zeros(const Block& block) {
    cudaStream_t stream = nullptr;
    throw_if_capture_failed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                            "cudaStreamCreateWithFlags");
    cudaError_t error = cudaMemsetAsync(block.data, 0, block.bytes, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    throw_if_capture_failed(error, "cudaMemsetAsync");
  }

  void free_unused() {
    const std::lock_guard lock(m_mutex);
    for (const auto& block : m_unused) cudaFree(block->data);
    m_unused.clear();
  }

  std::mutex m_mutex;
  std::size_t m_allocations = 0;
  std::vector<std::unique_ptr<Block>> m_unused;
};

#endif  // KOKKOS_ENABLE_CUDA

/// Returns zeroed memory that exists as long as the graph being captured on the instance's stream
/// and all executable graphs made from that graph.
template <class Exec>
void* memory_of_captured_graph([[maybe_unused]] const Exec& exec,
                               [[maybe_unused]] std::size_t bytes) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<Exec>) return GraphMemory::singleton().block_for(exec, bytes);
#endif
  throw std::runtime_error(std::string("KokkosSoftmax: a plan that splits rows over teams can't be "
                                       "captured into a graph (the library can't give memory to "
                                       "graphs of ") +
                           Exec::name() + "): make the plan while the stream is being captured");
}

}  // namespace KokkosSoftmax::Impl

#endif
