// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The functions of the C interface for initialization, the version and the last error.

#include <KokkosSoftmax_Version.hpp>
#include <Kokkos_Core.hpp>
#include <c_interface/Status.hpp>
#include <cstdio>
#include <mutex>

namespace KokkosSoftmax::Impl {
namespace {

thread_local char last_error[2048] = "";

/// How often kokkossoftmax_initialize() has been called without kokkossoftmax_finalize(), and
/// whether the library has initialized Kokkos.
struct Users {
  std::mutex mutex;
  int count = 0;
  bool kokkos_is_ours = false;
};

Users& users() {
  static Users instance;
  return instance;
}

void initialize() {
  auto& [mutex, count, kokkos_is_ours] = users();
  const std::lock_guard lock(mutex);
  if (Kokkos::is_finalized())
    throw_status(
        KOKKOSSOFTMAX_NOT_INITIALIZED,
        "kokkossoftmax_initialize: Kokkos is finalized (it can be initialized only once in "
        "a process): finalize it when all work is done");
  if (!Kokkos::is_initialized()) {
    Kokkos::initialize();
    kokkos_is_ours = true;
  }
  ++count;
}

void finalize() {
  auto& [mutex, count, kokkos_is_ours] = users();
  const std::lock_guard lock(mutex);
  if (count == 0)
    throw_status(KOKKOSSOFTMAX_NOT_INITIALIZED,
                 "kokkossoftmax_finalize: there is nothing to finalize (kokkossoftmax_initialize() "
                 "was not called, or kokkossoftmax_finalize() was called for each of its calls "
                 "already): call it once for each kokkossoftmax_initialize()");
  if (--count == 0 && kokkos_is_ours && Kokkos::is_initialized()) Kokkos::finalize();
}

}  // namespace

void set_last_error(const char* message) noexcept {
  std::snprintf(last_error, sizeof(last_error), "%s", message);
}

}  // namespace KokkosSoftmax::Impl

extern "C" {

const char* kokkossoftmax_version(void) { return KOKKOSSOFTMAX_VERSION_STRING; }

const char* kokkossoftmax_last_error(void) { return KokkosSoftmax::Impl::last_error; }

int kokkossoftmax_initialize(void) {
  return KokkosSoftmax::Impl::guarded(KokkosSoftmax::Impl::initialize);
}

int kokkossoftmax_finalize(void) {
  return KokkosSoftmax::Impl::guarded(KokkosSoftmax::Impl::finalize);
}

int kokkossoftmax_is_initialized(void) { return Kokkos::is_initialized() ? 1 : 0; }

}  // extern "C"
