// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_GUARDED_HPP
#define KOKKOSSOFTMAX_TEST_GUARDED_HPP

/// \file
/// Arrays for tests that call the kernels of hosts directly.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <support/HostNumbers.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// An array between guard zones, `shift` elements behind a multiple of 64 bytes.
template <class T>
class Guarded {
 public:
  Guarded(std::size_t size, std::size_t shift) : m_size(size) {
    m_all.assign(size + 2 * zone + 64, to_number<T>(guard));
    const auto address = reinterpret_cast<std::uintptr_t>(m_all.data() + zone);
    m_begin = zone + (-address & 63) / sizeof(T) + shift;
  }
  T* data() { return m_all.data() + m_begin; }
  bool guards_are_intact() const {
    const auto is_guard = [](T v) { return value_of(v) == guard; };
    return std::all_of(m_all.begin(), m_all.begin() + m_begin, is_guard) &&
           std::all_of(m_all.begin() + m_begin + m_size, m_all.end(), is_guard);
  }

 private:
  static constexpr HostCompute<T> guard = -12288;  // which all types can hold
  static constexpr std::size_t zone = 128;
  std::size_t m_size;
  std::size_t m_begin;
  std::vector<T> m_all;
};

}  // namespace KokkosSoftmax::Test

#endif
