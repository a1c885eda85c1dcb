// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_UNITS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_UNITS_HPP

/// \file
/// What the lists of shapes are made of: their sums, and the units in which they count.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <backend/Schedule.hpp>
#include <row/Tile.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The elements of a list, and the elements of another list that are not in it.
template <class List, class More>
struct Joined {
  using type = List;
};
template <class... In, class S, class... Rest>
struct Joined<ShapeList<In...>, ShapeList<S, Rest...>> {
  using WithS =
      std::conditional_t<(std::is_same_v<In, S> || ...), ShapeList<In...>, ShapeList<In..., S>>;
  using type = typename Joined<WithS, ShapeList<Rest...>>::type;
};

template <class... A, class... B>
constexpr auto operator+(ShapeList<A...>, ShapeList<B...>) {
  return typename Joined<ShapeList<A...>, ShapeList<B...>>::type{};
}

/// Whether entries have the type that is computed with.
template <class V>
inline constexpr bool is_full_precision = std::is_same_v<typename V::X, typename V::Compute>;

/// Whether results have more bytes than entries. Such pairs of types are compiled for fewer shapes,
/// because there are many pairs and each kernel adds half a second to the build.
template <class V>
inline constexpr bool output_is_wider = sizeof(typename V::Y) > sizeof(typename V::X);

/// The units of the shapes for GPUs. A chunk is 16 bytes of the wider of x and y, whatever the
/// types are, so that the stores of a warp fill whole sectors. The items of chunks are counted in
/// units of 16 bytes of registers (see `chunks`), so that the same numbers suit all types. Register
/// arrays of up to 8 such items (32 registers) leave room for everything else in the 40 to 64
/// registers per lane that the minimum number of teams leaves. Arrays of up to 12 items do so in
/// the 80 to 128 registers per lane of teams that also use scratch memory.
template <class V>
struct ShapeUnits {
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr int wide = std::min(widest<X>, widest<typename V::Y>);

  /// The number of chunks that `items` times 16 bytes of registers hold, rounded up. If an entry
  /// takes more bytes in registers than in memory, so does a chunk.
  static constexpr int items_per_chunk = wide / widest<T>;
  static constexpr int chunks(int items) { return divide_up(items, items_per_chunk); }
};

}  // namespace KokkosSoftmax::Impl

#endif
