// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/Memory.hpp>

namespace KokkosSoftmax::Test {
namespace {

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
  Kokkos::deep_copy(m_bytes,
                    host_view(static_cast<const unsigned char*>(bytes), m_bytes.extent(0)));
}

template <class Device>
void Memory<Device>::read(void* bytes) const {
  Kokkos::deep_copy(host_view(static_cast<unsigned char*>(bytes), m_bytes.extent(0)), m_bytes);
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
