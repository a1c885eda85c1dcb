// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_MEMORY_HPP
#define KOKKOSSOFTMAX_TEST_MEMORY_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>

namespace KokkosSoftmax::Test {

/// Bytes in a device's memory, and copies from and to the host's. Of no value type, and compiled in
/// Memory.cpp alone: Kokkos' copies of Views took a quarter of the time to compile a test.
template <class Device>
class Memory {
 public:
  explicit Memory(std::size_t bytes);

  unsigned char* data() const { return m_bytes.data(); }
  void assign(const void* bytes) const;  // as many as there are
  void read(void* bytes) const;

 private:
  Kokkos::View<unsigned char*, Device> m_bytes;
};

}  // namespace KokkosSoftmax::Test

#endif
