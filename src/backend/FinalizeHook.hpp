// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_FINALIZEHOOK_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_FINALIZEHOOK_HPP

#include <Kokkos_Core.hpp>
#include <functional>
#include <mutex>

namespace KokkosSoftmax::Impl {

/// Registers `hook`, which is called when Kokkos is finalized. The library registers all of its
/// hooks through this function because two threads must not call Kokkos::push_finalize_hook at the
/// same time.
inline void push_finalize_hook(std::function<void()> hook) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Kokkos::push_finalize_hook(std::move(hook));
}

}  // namespace KokkosSoftmax::Impl

#endif
