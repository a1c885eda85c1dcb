// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_MEMORY_HPP
#define KOKKOSSOFTMAX_TEST_MEMORY_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>

namespace KokkosSoftmax::Test {

/// Bytes in the memory of a device, with copies from and to the memory of the host. The class has
/// no value type and is compiled only in Memory.cpp, because Kokkos' copies of Views took a quarter
/// of the compile time of a test.
template <class Device>
class Memory {
 public:
  explicit Memory(std::size_t bytes);

  unsigned char* data() const { return m_bytes.data(); }
  void assign(const void* bytes) const;  // copies as many bytes as the memory has
  void read(void* bytes) const;
  /// The bytes if they are in the memory of the host, otherwise null.
  const void* on_host() const;

 private:
  Kokkos::View<unsigned char*, Device> m_bytes;
};

}  // namespace KokkosSoftmax::Test

#endif
