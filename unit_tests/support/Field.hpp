// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_FIELD_HPP
#define KOKKOSSOFTMAX_TEST_FIELD_HPP

/// \file
/// Device memory for one tensor that detects reads and writes beside the elements of the tensor.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <support/Memory.hpp>
#include <support/Placement.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosSoftmax::Test {

/// Compares all bits, including those of NaN and the sign of zero.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// The same, except that all NaNs are equal. The sign of a NaN that is computed depends on the
/// order of operands, which compilers choose for each loop.
template <class T>
bool same_bits_except_nan(const std::vector<T>& a, const std::vector<T>& b) {
  const auto is_same = [](const T& p, const T& q) {
    return (p != p && q != q) || std::memcmp(&p, &q, sizeof(T)) == 0;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

namespace Impl {

/// The data type of a View of the given rank: T, T*, T**, ...
template <class T, int rank>
struct DataType {
  using type = typename DataType<T, rank - 1>::type*;
};
template <class T>
struct DataType<T, 0> {
  using type = T;
};

template <class Layout>
Layout make_layout(const Placement& placement) {
  Layout layout;
  for (std::size_t d = 0; d < placement.extents.size(); ++d) {
    layout.dimension[d] = placement.extents[d];
    if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride>)
      layout.stride[d] = placement.strides[d];
  }
  return layout;
}

}  // namespace Impl

/// The value of all entries of an output before a call. No function gives this value in a test.
template <class T>
inline const T poison = static_cast<T>(-12345.678);

/// What a Field holds before its first assignment.
enum class FirstContents { poison, undefined };

/// A tensor with a guard zone before it and after it, and with the gaps that its strides leave. In
/// an input, guard zones and gaps hold NaN: a kernel that reads them gives NaN. In an output,
/// everything holds poison: an element that is not written is wrong, and a write to any other place
/// is detected.
template <class T, class Exec>
class Field {
 public:
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;

  explicit Field(Placement placement, FirstContents contents = FirstContents::poison)
      : m_placement(std::move(placement)),
        m_size(2 * guard + m_placement.offset + m_placement.span()),
        m_memory(m_size * sizeof(T)) {
    if (contents == FirstContents::poison) assign_poison();
  }

  /// Sets everything to poison.
  void assign_poison() { access(std::vector<T>{}, poison<T>); }

  /// Sets the elements to `values`, given with the last axis fastest.
  template <class Value>
  void assign(const std::vector<Value>& values) {
    access(values, static_cast<T>(std::numeric_limits<Value>::quiet_NaN()));
  }

  /// Returns the elements in the same order. The caller must have fenced.
  template <class Value = T>
  std::vector<Value> read() const {
    std::vector<Value> values(product(m_placement.extents));
    with_image([&](const T* image) {
      for_each(values.size(), [&](std::size_t i, std::size_t address) {
        values[i] = static_cast<Value>(image[begin() + address]);
      });
    });
    return values;
  }

  /// Whether all bits are as assigned, so that nothing was written.
  bool is_unchanged() const { return is_image(m_image); }

  /// Whether all bits beside the elements are as assigned.
  bool gaps_are_unchanged() const {
    std::vector<T> expected = m_image;
    with_image([&](const T* image) {
      for_each(product(m_placement.extents), [&](std::size_t, std::size_t address) {
        expected[begin() + address] = image[begin() + address];
      });
    });
    return is_image(expected);
  }

  template <class Layout, int rank, class Value = T>
  auto view() const {
    using Traits = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    if constexpr (rank == 0)  // Kokkos 4.7 can't make a LayoutStride of rank 0
      return Kokkos::View<Value, Device, Traits>(data());
    else
      return Kokkos::View<typename Impl::DataType<Value, rank>::type, Layout, Device, Traits>(
          data(), Impl::make_layout<Layout>(m_placement));
  }

  T* data() const { return reinterpret_cast<T*>(m_memory.data()) + begin(); }
  const Placement& placement() const { return m_placement; }

 private:
  static constexpr std::size_t guard = 64;

  std::size_t begin() const { return guard + m_placement.offset; }

  /// Calls body(i, address) for the first `count` elements.
  template <class Body>
  void for_each(std::size_t count, const Body& body) const {
    if (m_placement.is_right()) {
      for (std::size_t i = 0; i < count; ++i) body(i, i);
    } else {
      for (std::size_t i = 0; i < count; ++i) body(i, m_addresses[i]);
    }
  }

  template <class Value>
  void access(const std::vector<Value>& values, T elsewhere) {
    if (m_addresses.empty() && !m_placement.is_right()) m_addresses = m_placement.addresses();
    m_image.assign(m_size, elsewhere);
    T* const first = m_image.data() + begin();
    for_each(values.size(), [&](std::size_t i, std::size_t address) {
      first[address] = static_cast<T>(values[i]);
    });
    m_memory.assign(m_image.data());
  }

  /// Calls body(pointer to the contents of the memory). Memory of the host isn't copied.
  template <class Body>
  void with_image(const Body& body) const {
    if (m_image.size() != m_size) throw std::logic_error("a Field has no contents yet");
    if (const void* image = m_memory.on_host()) return body(static_cast<const T*>(image));
    std::vector<T> image(m_size);
    m_memory.read(image.data());
    body(image.data());
  }

  /// Whether the memory has the bits of `expected`.
  bool is_image(const std::vector<T>& expected) const {
    bool is_same = false;
    with_image([&](const T* image) {
      is_same = std::memcmp(image, expected.data(), m_size * sizeof(T)) == 0;
    });
    return is_same;
  }

  Placement m_placement;
  std::size_t m_size;                    // elements of the memory
  std::vector<std::size_t> m_addresses;  // empty if element i is at i
  std::vector<T> m_image;                // the contents of the memory after the last assignment
  Memory<Device> m_memory;
};

}  // namespace KokkosSoftmax::Test

#endif
