// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_ALLOCATION_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_ALLOCATION_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <utility>

namespace KokkosSoftmax::Impl {

/// Uninitialized bytes in the memory of an execution space. Kokkos' tools see them like those of a
/// View. A View of bytes would add a kernel, which never runs, to each unit that makes one.
template <class Exec>
class Allocation {
  using Space = typename Exec::memory_space;

 public:
  /// `label`: lives as long as the program.
  Allocation(const Exec& exec, const char* label, std::size_t size)
      : m_label(label),
        m_size(size),
        m_data(static_cast<unsigned char*>(Space().allocate(exec, label, size))) {}
  Allocation(Allocation&& other) noexcept
      : m_label(other.m_label),
        m_size(other.m_size),
        m_data(std::exchange(other.m_data, nullptr)) {}
  Allocation& operator=(Allocation&&) = delete;
  ~Allocation() {
    if (m_data != nullptr) Space().deallocate(m_label, m_data, m_size);
  }

  unsigned char* data() const { return m_data; }
  std::size_t size() const { return m_size; }

 private:
  const char* m_label;
  std::size_t m_size;
  unsigned char* m_data;
};

}  // namespace KokkosSoftmax::Impl

#endif
