// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_ZEROFILL_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_ZEROFILL_HPP

#include <backend/Device.hpp>
#include <backend/Queue.hpp>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace KokkosSoftmax::Impl {

/// Sets bytes to zero, in order with other work on the instance. The functions of CUDA and HIP need
/// no kernel: Kokkos::deep_copy would add six kernels to each unit that calls it.
template <class Exec>
void zero_fill([[maybe_unused]] const Exec& exec, void* data, std::size_t bytes) {
  [[maybe_unused]] const auto check = [](bool succeeded) {
    if (!succeeded) throw std::runtime_error("KokkosSoftmax: device memory can't be set to zero");
  };
  if constexpr (is_synchronous<Exec>) {
    std::memset(data, 0, bytes);
#if defined(KOKKOS_ENABLE_CUDA)
  } else if constexpr (is_cuda<Exec>) {
    cudaSetDevice(device_number(exec));
    check(cudaMemsetAsync(data, 0, bytes, exec.cuda_stream()) == cudaSuccess);
#endif
#if defined(KOKKOS_ENABLE_HIP)
  } else if constexpr (is_hip<Exec>) {
    check(hipMemsetAsync(data, 0, bytes, exec.hip_stream()) == hipSuccess);
#endif
  } else {
    using Bytes = Kokkos::View<unsigned char*, typename Exec::memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Kokkos::deep_copy(exec, Bytes(static_cast<unsigned char*>(data), bytes),
                      static_cast<unsigned char>(0));
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
