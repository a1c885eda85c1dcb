// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_ISA_HPP
#define KOKKOSSOFTMAX_SRC_HOST_ISA_HPP

/// \file
/// The instruction sets for which the kernels of hosts are compiled, and which one is used.

#include <host/Kernels.hpp>
#include <span>
#include <string_view>
#include <tuple>

namespace KokkosSoftmax::Impl {

/// The kernels for all pairs of types of x and y, in the order of KokkosSoftmax_VALUE_TYPES. Null
/// for a pair that isn't compiled.
using HostKernelTables =
    std::tuple<const HostKernelTable<float, float>*, const HostKernelTable<double, double>*,
               const HostKernelTable<HostHalf, HostHalf>*, const HostKernelTable<HostHalf, float>*,
               const HostKernelTable<HostBhalf, HostBhalf>*,
               const HostKernelTable<HostBhalf, float>*>;

/// An instruction set.
struct HostIsa {
  std::string_view name;  ///< as in KOKKOSSOFTMAX_ISA
  bool (*runs_here)();
  HostKernelTables tables;

  template <class X, class Y>
  const HostKernelTable<X, Y>& kernels() const {
    return *std::get<const HostKernelTable<X, Y>*>(tables);
  }
};

/// All that are compiled, the fastest first. The last one runs on every processor for which the
/// library is compiled.
std::span<const HostIsa> compiled_isas();

/// The first one that runs on this processor, or the one that the environment variable
/// KOKKOSSOFTMAX_ISA names when this is called first.
/// \throws std::invalid_argument  if that one isn't compiled or doesn't run here
const HostIsa& host_isa();

/// Throws what host_isa() throws. An exception in a kernel can end the process. So launches call
/// this first.
inline void check_host_isa() { host_isa(); }

/// The bytes of the last-level caches that so many threads have, one per core. A processor can have
/// several, each for some of its cores.
std::int64_t last_level_cache_bytes(std::int64_t threads);

}  // namespace KokkosSoftmax::Impl

#endif
