// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_HostThreads.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <vector>
#if defined(__linux__)
#include <unistd.h>
#endif

namespace KokkosSoftmaxSweep {
namespace {

using Names = std::vector<const char*>;

// GOMP_ variables are for the OpenMP of GCC, KMP_ variables for that of LLVM.
const Names of_waiting = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
const Names of_places = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};

#if defined(KOKKOS_ENABLE_OPENMP)
constexpr bool has_openmp = std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::OpenMP>;
#else
constexpr bool has_openmp = false;
#endif

[[maybe_unused]] bool none_is_set(const Names& names) {
  return std::none_of(names.begin(), names.end(), [](const char* name) { return getenv(name); });
}

}  // namespace

void set_up_host_threads([[maybe_unused]] char** arguments) {
#if defined(__linux__)
  if constexpr (has_openmp) {
    const bool sets_waiting = none_is_set(of_waiting), sets_places = none_is_set(of_places);
    if (!sets_waiting && !sets_places) return;
    if (sets_waiting) setenv("GOMP_SPINCOUNT", "1000", 1);
    if (sets_places) setenv("OMP_PROC_BIND", "spread", 1);
    if (sets_places) setenv("OMP_PLACES", "threads", 1);
    execv("/proc/self/exe", arguments);
    // This runs only if that failed. The settings come too late and must not be reported.
    if (sets_waiting) unsetenv("GOMP_SPINCOUNT");
    if (sets_places) unsetenv("OMP_PROC_BIND");
    if (sets_places) unsetenv("OMP_PLACES");
  }
#endif
}

std::string host_thread_settings() {
  std::string text;
  if constexpr (has_openmp) {
    for (const Names& names : {of_places, of_waiting})
      for (const char* name : names) {
        const char* const value = getenv(name);
        if (!value) continue;
        if (!text.empty()) text += " ";
        text.append(name).append("=").append(value);
      }
  }
  return text;
}

}  // namespace KokkosSoftmaxSweep
