// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_FINALIZEHOOK_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_FINALIZEHOOK_HPP

#include <Kokkos_Core.hpp>
#include <functional>
#include <mutex>

namespace KokkosSoftmax::Impl {

/// Has `hook` called when Kokkos is finalized. The library pushes all of its hooks through here:
/// Kokkos::push_finalize_hook isn't safe to be called by two threads at one time.
inline void push_finalize_hook(std::function<void()> hook) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Kokkos::push_finalize_hook(std::move(hook));
}

}  // namespace KokkosSoftmax::Impl

#endif
