// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_TYPES_HPP
#define KOKKOSSOFTMAX_SRC_HOST_TYPES_HPP

/// \file
/// The types of entries and results for the kernels of hosts, which don't know Kokkos' types.

#include <cstdint>

namespace KokkosSoftmax::Impl {

/// A number of Kokkos' half_t: IEEE 754 binary16.
struct HostHalf {
  std::uint16_t bits;
};

/// A number of Kokkos' bhalf_t: the upper half of a float.
struct HostBhalf {
  std::uint16_t bits;
};

/// The type in which entries of type X are computed.
template <class X>
struct HostComputeOf {
  using type = float;
};
template <>
struct HostComputeOf<double> {
  using type = double;
};
template <class X>
using HostCompute = typename HostComputeOf<X>::type;

}  // namespace KokkosSoftmax::Impl

#endif
