// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_SOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_SOURCE_HPP

/// \file
/// Sources: how an entry of x becomes the value v to which an operation is applied. All arithmetic
/// of the scale and of the padding is in this file.

#include <Kokkos_Core.hpp>
#include <backend/Unroll.hpp>
#include <concepts>
#include <cstdint>

namespace KokkosSoftmax::Impl {

template <class V>
struct RowArgs;

/// A source is made from a launch's arguments and has
///
/// - Types: ValueTypes<...> of x and y
/// - value_is_scaled_raw: whether every value is factor() times the entry, whatever its column.
///   Then schedules may keep entries as they are in memory and compute with them (HalfTile,
///   AsyncSegmentHalf2). Such a source also has factor(), a T.
/// - padding(): the entry that stands in slots without an entry; its value is -inf
/// - value(x, column): the value of the entry x of a column; x is converted to T already
///
/// Optional are apply<from_scratch>(value, column_of), which does the same for a whole tile (see
/// apply_source()), and on_host(), an object with value(x, column) for loops on a host.
template <class S>
concept RowSource = requires(const S source, typename S::Types::Compute x, std::int64_t column,
                             const RowArgs<typename S::Types>& arguments) {
  S(arguments);
  { S::value_is_scaled_raw } -> std::convertible_to<bool>;
  { source.padding() } -> std::same_as<typename S::Types::X>;
  { source.value(x, column) } -> std::same_as<typename S::Types::Compute>;
};

/// The scale that kernels multiply by. 0 is treated as its limit from above: all finite entries
/// count alike, and -inf stays -inf, as slots without an entry require. The number is for GPUs,
/// which compute with denormal numbers; hosts use HostScale.
template <class T>
T kernel_scale(T scale) {
  return scale == T(0) ? Kokkos::Experimental::denorm_min_v<T> : scale;
}

/// The entry whose product with a kernel's scale is -inf.
template <class X, class T>
X scaled_padding(T scale) {
  constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
  return static_cast<X>(scale < T(0) ? infinity : -infinity);
}

/// A value as it is written to an output. With the scale 0, all finite values are 0; kernels
/// compute with the values of kernel_scale() or HostScale, which are below 1.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION typename V::Compute written_value(typename V::Compute value,
                                                              const RowArgs<V>& arguments) {
  using T = typename V::Compute;
  return arguments.scale_is_zero && Kokkos::abs(value) < T(1) ? T(0) : value;
}

/// scale * x on a host. A program may have its processor treat denormal numbers as 0 (icx and
/// -ffast-math link code that asks for this), and 0 * inf is NaN. So the scale 0 is represented by
/// two factors, both normal numbers, whose product with any finite number counts as 0.
template <class T>
class HostScale {
 public:
  KOKKOS_FORCEINLINE_FUNCTION HostScale(T scale, bool is_zero)
      : m_first(is_zero ? Kokkos::Experimental::norm_min_v<T> : scale),
        m_second(is_zero ? Kokkos::Experimental::norm_min_v<T> : T(1)) {}

  KOKKOS_FORCEINLINE_FUNCTION T value(T x, std::int64_t /*column*/) const {
    return (m_first * x) * m_second;
  }

  /// The factors, and whether all of them are 1, in a type of the vector kernels of hosts.
  template <class Factors>
  Factors factors() const {
    return {m_first, m_second, m_first == T(1) && m_second == T(1)};
  }

 private:
  T m_first;
  T m_second;
};

/// v = scale * x
template <class V>
class PlainSource {
 public:
  using Types = V;
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr bool value_is_scaled_raw = true;

  KOKKOS_FORCEINLINE_FUNCTION explicit PlainSource(const RowArgs<V>& arguments)
      : m_arguments(arguments) {}

  KOKKOS_FORCEINLINE_FUNCTION T factor() const { return m_arguments.scale; }
  KOKKOS_FORCEINLINE_FUNCTION X padding() const { return m_arguments.padding; }

  KOKKOS_FORCEINLINE_FUNCTION T value(T x, std::int64_t column) const {
    KOKKOS_IF_ON_DEVICE(((void)column; return m_arguments.scale * x;))
    KOKKOS_IF_ON_HOST((return on_host().value(x, column);))
  }

  /// The same with copies of the factors, so that a compiler knows that stores don't change them.
  KOKKOS_FORCEINLINE_FUNCTION HostScale<T> on_host() const {
    return {m_arguments.scale, m_arguments.scale_is_zero};
  }

  /// Skips the multiplication by 1 if that is faster. The branch prevents some loads from memory
  /// from overlapping. That costs less than multiplying doubles, and nothing if the entries come
  /// from scratch memory.
  template <bool from_scratch, int size, class ColumnOf>
  KOKKOS_FORCEINLINE_FUNCTION void apply(T (&value_of)[size], const ColumnOf& /*column_of*/) const {
    if ((!from_scratch && sizeof(T) < 8) || m_arguments.scale != T(1)) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j) value_of[j] = value(value_of[j], 0);
    }
  }

 private:
  const RowArgs<V>& m_arguments;  // a copy of the scale would take a register of a GPU
};

/// What loops on a host take values from: source.on_host() if it exists, or the source.
template <class Source>
auto on_host(const Source& source) {
  if constexpr (requires { source.on_host(); })
    return source.on_host();
  else
    return source;
}

/// The columns of a tile's entries for a source that doesn't ask for them.
struct AnyColumn {
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(int /*entry*/) const { return 0; }
};

/// Replaces the entries of a tile, converted to T, by their values. column_of(j) is the column of
/// entry j. `from_scratch`: they come from scratch memory, not from a device's memory.
template <bool from_scratch = false, class Source, class T, int size, class ColumnOf>
KOKKOS_FORCEINLINE_FUNCTION void apply_source(const Source& source, T (&value)[size],
                                              const ColumnOf& column_of) {
  if constexpr (requires { source.template apply<from_scratch>(value, column_of); }) {
    source.template apply<from_scratch>(value, column_of);
  } else {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) value[j] = source.value(value[j], column_of(j));
  }
}

/// The source of numbers that are values already.
template <class T>
struct ValuesThemselves {
  KOKKOS_FORCEINLINE_FUNCTION T value(T v, std::int64_t /*column*/) const { return v; }
};

}  // namespace KokkosSoftmax::Impl

#endif
