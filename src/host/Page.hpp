// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PAGE_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PAGE_HPP

/// \file
/// Places within a page of memory. AMD's processors compare addresses within a page to find out
/// whether a load needs the data of an earlier store that isn't done. If both are at the same
/// place, the load waits for the store.

#include <host/Instructions.hpp>
#include <host/Jobs.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

inline constexpr std::int64_t page_bytes = 4096;

/// The distance from b to a within a page.
inline std::int64_t distance_in_page(const void* a, const void* b) {
  return static_cast<std::int64_t>(
      (reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) % page_bytes);
}

/// A load and a store that are at least so far apart within a page don't disturb each other.
inline constexpr std::int64_t bytes_apart = 512;

/// The number of bytes of a row y that are stored before those of a row x in their place are
/// loaded, so that no load follows a store right behind it within a page. Rows y that lie up to
/// `right_behind` bytes before x need that, too (measured on AMD's Zen 4).
inline std::int64_t bytes_of_lead(const void* y, const void* x) {
  constexpr std::int64_t right_behind = 128;
  const std::int64_t distance = distance_in_page(y, x);
  const bool is_apart = distance >= bytes_apart && distance <= page_bytes - right_behind;
  return is_apart ? 0 : bytes_apart;
}

/// The same in vectors of results of type Y.
template <class L, class Y>
std::int64_t vectors_of_lead(const Y* y, const void* x) {
  return bytes_of_lead(y, x) / static_cast<std::int64_t>(L::width * sizeof(Y));
}

/// Arrays of one number per row of a panel, all of which begin in the cache line at the place of p
/// within a page.
template <class T, int count>
class PanelArrays {
 public:
  explicit PanelArrays(const void* p)
      : m_first(reinterpret_cast<T*>(m_storage + distance_in_page(p, m_storage) / line * line)) {}
  PanelArrays(const PanelArrays&) = delete;
  PanelArrays& operator=(const PanelArrays&) = delete;

  T* array(int k) { return m_first + k * host_panel_rows; }

 private:
  static constexpr std::int64_t line = 64;

  T* m_first;
  alignas(line) char m_storage[page_bytes + count * host_panel_rows * sizeof(T)];
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
