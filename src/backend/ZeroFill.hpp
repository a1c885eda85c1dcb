// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_ZEROFILL_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_ZEROFILL_HPP

#include <backend/Device.hpp>
#include <backend/Queue.hpp>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace KokkosSoftmax::Impl {

/// Sets the bytes of a View of bytes to zero, in order with other work on the instance. The
/// functions of CUDA and HIP need no kernel: Kokkos::deep_copy would add six kernels to each unit
/// that calls it.
template <class Exec, class Bytes>
void zero_fill([[maybe_unused]] const Exec& exec, const Bytes& bytes) {
  [[maybe_unused]] const auto check = [](bool succeeded) {
    if (!succeeded) throw std::runtime_error("KokkosSoftmax: device memory can't be set to zero");
  };
  if constexpr (is_synchronous<Exec>) {
    std::memset(bytes.data(), 0, bytes.size());
#if defined(KOKKOS_ENABLE_CUDA)
  } else if constexpr (is_cuda<Exec>) {
    cudaSetDevice(device_number(exec));
    check(cudaMemsetAsync(bytes.data(), 0, bytes.size(), exec.cuda_stream()) == cudaSuccess);
#endif
#if defined(KOKKOS_ENABLE_HIP)
  } else if constexpr (is_hip<Exec>) {
    check(hipMemsetAsync(bytes.data(), 0, bytes.size(), exec.hip_stream()) == hipSuccess);
#endif
  } else {
    Kokkos::deep_copy(exec, bytes, static_cast<unsigned char>(0));
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
