// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_QUEUE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_QUEUE_HPP

/// \file
/// Queues: an id for each ordered queue of launches (a stream), which tells which launches run one
/// after another.

#include <Kokkos_Core.hpp>
#include <backend/Device.hpp>
#include <compare>
#include <cstdint>
#include <functional>
#include <thread>

namespace KokkosSoftmax::Impl {

/// Whether a kernel has finished when parallel_for returns. Such a space has no queues.
template <class Exec>
inline constexpr bool is_synchronous = false;
#if defined(KOKKOS_ENABLE_SERIAL)
template <>
inline constexpr bool is_synchronous<Kokkos::Serial> = true;
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
template <>
inline constexpr bool is_synchronous<Kokkos::OpenMP> = true;
#endif
#if defined(KOKKOS_ENABLE_THREADS)
template <>
inline constexpr bool is_synchronous<Kokkos::Threads> = true;
#endif

/// The type of the stream handle from which an instance of Exec can be made; void if there is none.
template <class Exec>
struct StreamOf {
  using type = void;
};
#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct StreamOf<Kokkos::Cuda> {
  using type = cudaStream_t;
};
#endif
#if defined(KOKKOS_ENABLE_HIP)
template <>
struct StreamOf<Kokkos::HIP> {
  using type = hipStream_t;
};
#endif

/// Equal for launches that run one after another; different for all other launches.
struct QueueId {
  int device = 0;
  std::uint64_t queue = 0;

  auto operator<=>(const QueueId&) const = default;
};

#if defined(KOKKOS_ENABLE_CUDA)
/// Whether the handle denotes a stream of the calling thread's current device, whichever device
/// that is.
inline bool is_of_current_device(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamPerThread || stream == cudaStreamLegacy;
}

/// A number that no other stream of the process has had. The handle isn't used because
/// cudaStreamPerThread is one handle for one stream per thread, cudaStreamLegacy is one handle for
/// one stream per device, and a new stream can get the handle of a destroyed one. Must not be
/// called for a stream that is being captured: the capture would end with an error.
inline std::uint64_t stream_number(cudaStream_t stream) {
#if CUDART_VERSION >= 12000
  unsigned long long number = 0;
  if (cudaStreamGetId(stream, &number) == cudaSuccess) return number;
  cudaGetLastError();
#endif
  if (stream == cudaStreamPerThread)
    return ~std::hash<std::thread::id>{}(std::this_thread::get_id());
  return reinterpret_cast<std::uint64_t>(stream);
}

/// The calling thread's queue for a stream that has no instance yet. Also makes the thread's
/// current device ready for use, which it isn't yet in a new thread.
inline QueueId queue_of_stream(cudaStream_t stream) {
  int device = 0;
  if (is_of_current_device(stream)) {
    cudaGetDevice(&device);
    cudaSetDevice(device);
  }
  return {device, stream_number(stream)};
}

/// Whether the handle denotes a different stream in each thread.
inline bool is_of_thread(cudaStream_t stream) { return stream == cudaStreamPerThread; }
#endif

#if defined(KOKKOS_ENABLE_HIP)
/// HIP has no stream numbers, so this number is made from the handle: the library's data for a
/// stream must be released before the stream is destroyed.
inline std::uint64_t stream_number(hipStream_t stream) {
  if (stream == hipStreamPerThread)
    return ~std::hash<std::thread::id>{}(std::this_thread::get_id());
  return reinterpret_cast<std::uint64_t>(stream);
}

inline QueueId queue_of_stream(hipStream_t stream) { return {0, stream_number(stream)}; }

inline bool is_of_thread(hipStream_t stream) { return stream == hipStreamPerThread; }
#endif

/// The queue of a launch on the instance by the calling thread.
template <class Exec>
QueueId queue_id(const Exec& exec) {
  const int device = device_number(exec);
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<Exec>) {
    if (is_of_current_device(exec.cuda_stream())) cudaSetDevice(device);
    return {device, stream_number(exec.cuda_stream())};
  }
#endif
#if defined(KOKKOS_ENABLE_HIP)
  if constexpr (is_hip<Exec>) return {device, stream_number(exec.hip_stream())};
#endif
  return {device, exec.impl_instance_id()};
}

}  // namespace KokkosSoftmax::Impl

#endif
