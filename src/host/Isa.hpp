// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_ISA_HPP
#define KOKKOSSOFTMAX_SRC_HOST_ISA_HPP

/// \file
/// The instruction sets for which the kernels of hosts are compiled, and which one is used.

#include <host/Kernels.hpp>
#include <span>
#include <string_view>

namespace KokkosSoftmax::Impl {

/// An instruction set.
struct HostIsa {
  std::string_view name;  ///< as in KOKKOSSOFTMAX_ISA
  bool (*runs_here)();
  const HostKernelTable<float>* float_kernels;
  const HostKernelTable<double>* double_kernels;
};

/// All that are compiled, the fastest first. The last one runs on every processor for which the
/// library is compiled.
std::span<const HostIsa> compiled_isas();

/// The first one that runs on this processor, or the one that the environment variable
/// KOKKOSSOFTMAX_ISA names when this is called first.
/// \throws std::invalid_argument  if that one isn't compiled or doesn't run here
const HostIsa& host_isa();

template <class T>
const HostKernelTable<T>& host_kernels();
template <>
inline const HostKernelTable<float>& host_kernels<float>() {
  return *host_isa().float_kernels;
}
template <>
inline const HostKernelTable<double>& host_kernels<double>() {
  return *host_isa().double_kernels;
}

/// The size of the processor's last-level cache in bytes.
std::int64_t last_level_cache_bytes();

}  // namespace KokkosSoftmax::Impl

#endif
