// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_VIEWSHAPE_HPP
#define KOKKOSSOFTMAX_IMPL_VIEWSHAPE_HPP

#include <array>
#include <cstdint>
#include <impl/KokkosSoftmax_Arguments.hpp>

namespace KokkosSoftmax::Impl {

/// The properties of a View that the choice of a schedule depends on: extents, strides and
/// alignment.
template <class V>
class ViewShape {
 public:
  explicit ViewShape(const V& view) : m_misalignment(misalignment(view)) {
    for (int d = 0; d < rank; ++d) {
      m_extents[d] = static_cast<std::int64_t>(view.extent(d));
      m_strides[d] = stride(view, d);
    }
  }

  /// Throws std::invalid_argument if another View differs.
  void check(const Callee& callee, const char* name, const V& view) const {
    for (int d = 0; d < rank; ++d)
      if (static_cast<std::int64_t>(view.extent(d)) != m_extents[d])
        throw_differs(callee, name, "extent", d, view.extent(d), m_extents[d]);
    for (int d = 0; d < rank; ++d)
      if (m_extents[d] > 1 && stride(view, d) != m_strides[d])
        throw_differs(callee, name, "stride", d, stride(view, d), m_strides[d]);
    if (view.size() > 0 && misalignment(view) != m_misalignment)
      throw_invalid(callee, "the address of ", name, " modulo ", widest_access, " is ",
                    misalignment(view), " and not ", m_misalignment, remedy);
  }

 private:
  static constexpr int rank = static_cast<int>(V::rank());
  static constexpr int widest_access = 16;  // bytes
  static constexpr const char* remedy =
      " (as for the View that the plan was made for): make another plan for this View";

  static std::int64_t stride(const V& view, int d) {
    if constexpr (rank == 0)
      return 0;
    else
      return static_cast<std::int64_t>(view.stride(d));
  }

  static int misalignment(const V& view) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(view.data()) % widest_access);
  }

  template <class Given>
  [[noreturn]] static void throw_differs(const Callee& callee, const char* name, const char* what,
                                         int d, Given given, std::int64_t planned) {
    throw_invalid(callee, what, " ", d, " of ", name, " is ", given, " and not ", planned, remedy);
  }

  std::array<std::int64_t, rank == 0 ? 1 : rank> m_extents{};
  std::array<std::int64_t, rank == 0 ? 1 : rank> m_strides{};
  int m_misalignment;
};

}  // namespace KokkosSoftmax::Impl

#endif
