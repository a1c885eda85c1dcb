// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <support/Memory.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {
namespace {

/// Kokkos copies memory of the host with threads of OpenMP, even if the test is one of Serial. They
/// would wait for one another in each of many small copies.
template <class Device>
constexpr bool is_on_host = std::is_same_v<typename Device::memory_space, Kokkos::HostSpace>;

template <class Byte>
auto host_view(Byte* bytes, std::size_t size) {
  return Kokkos::View<Byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(bytes,
                                                                                         size);
}

}  // namespace

template <class Device>
Memory<Device>::Memory(std::size_t bytes)
    : m_bytes(Kokkos::view_alloc("KokkosSoftmaxTest::Memory", Kokkos::WithoutInitializing), bytes) {
}

template <class Device>
void Memory<Device>::assign(const void* bytes) const {
  if constexpr (is_on_host<Device>) {
    if (m_bytes.extent(0) > 0) std::memcpy(m_bytes.data(), bytes, m_bytes.extent(0));
  } else {
    Kokkos::deep_copy(m_bytes,
                      host_view(static_cast<const unsigned char*>(bytes), m_bytes.extent(0)));
  }
}

template <class Device>
void Memory<Device>::read(void* bytes) const {
  if constexpr (is_on_host<Device>) {
    if (m_bytes.extent(0) > 0) std::memcpy(bytes, m_bytes.data(), m_bytes.extent(0));
  } else {
    Kokkos::deep_copy(host_view(static_cast<unsigned char*>(bytes), m_bytes.extent(0)), m_bytes);
  }
}

template <class Device>
const void* Memory<Device>::on_host() const {
  return is_on_host<Device> ? m_bytes.data() : nullptr;
}

#ifdef KOKKOS_ENABLE_SERIAL
template class Memory<Kokkos::Device<Kokkos::Serial, Kokkos::HostSpace>>;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template class Memory<Kokkos::Device<Kokkos::OpenMP, Kokkos::HostSpace>>;
#endif
#ifdef KOKKOS_ENABLE_THREADS
template class Memory<Kokkos::Device<Kokkos::Threads, Kokkos::HostSpace>>;
#endif
#ifdef KOKKOS_ENABLE_HPX
template class Memory<Kokkos::Device<Kokkos::Experimental::HPX, Kokkos::HostSpace>>;
#endif
#ifdef KOKKOS_ENABLE_CUDA
template class Memory<Kokkos::Device<Kokkos::Cuda, Kokkos::CudaSpace>>;
#endif
#ifdef KOKKOS_ENABLE_HIP
template class Memory<Kokkos::Device<Kokkos::HIP, Kokkos::HIPSpace>>;
#endif
#ifdef KOKKOS_ENABLE_SYCL
template class Memory<Kokkos::Device<Kokkos::SYCL, Kokkos::SYCL::memory_space>>;
#endif

}  // namespace KokkosSoftmax::Test
