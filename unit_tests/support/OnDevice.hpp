// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_ONDEVICE_HPP
#define KOKKOSSOFTMAX_TEST_ONDEVICE_HPP

#include <Kokkos_Core.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// A vector of the host as a View in the memory of Exec.
template <class Exec, class T>
Kokkos::View<T*, Exec> on_device(const std::vector<T>& values) {
  const Kokkos::View<T*, Exec> view(Kokkos::view_alloc("values", Kokkos::WithoutInitializing),
                                    values.size());
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), values.size());
  Kokkos::deep_copy(view, host);
  return view;
}

}  // namespace KokkosSoftmax::Test

#endif
