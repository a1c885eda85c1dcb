// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_DEVICES_HPP
#define KOKKOSSOFTMAX_TEST_DEVICES_HPP

#include <backend/Hardware.hpp>

namespace KokkosSoftmax::Test {

/// Whether Algorithm::cluster is available: on CUDA with compute capability 9.0 or later.
template <class Exec>
bool has_clusters([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (KokkosSoftmax::Impl::is_cuda<Exec>)
    return KokkosSoftmax::Impl::device_properties(exec).major >= 9;
#endif
  return false;
}

}  // namespace KokkosSoftmax::Test

#endif
