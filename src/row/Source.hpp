// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_SOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_SOURCE_HPP

/// \file
/// Sources: how an entry of x becomes the value v to which an operation is applied. All arithmetic
/// of the scale and of the padding is in this file.

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <impl/device/row/KokkosSoftmax_BackwardEntry.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <utility>

namespace KokkosSoftmax::Impl {

template <class V>
struct RowArgs;

/// The arguments of the kernels of a source.
template <class Source>
struct ArgumentsOfSource {
  using type = RowArgs<typename Source::Types>;
};
template <class Source>
requires requires { typename Source::Arguments; }
struct ArgumentsOfSource<Source> {
  using type = typename Source::Arguments;
};
template <class Source>
using ArgumentsOf = typename ArgumentsOfSource<Source>::type;

/// A source is made from a launch's arguments and has
///
/// - Types: ValueTypes<...> of x and y
/// - Arguments: the arguments of its kernels, if they are more than a RowArgs
/// - value_is_scaled_raw: whether every value is factor() times the entry, whatever its column.
///   Then schedules may keep entries as they are in memory and compute with them (HalfTile,
///   AsyncSegmentHalf2). Such a source also has factor(), a T.
/// - padding(): the entry that stands in slots without an entry; its value is -inf
/// - value(x, column): the value of the entry x of a column; x is converted to T already
///
/// Optional are apply<from_scratch>(value, column_of), which does the same for a whole tile (see
/// apply_source()), and on_host(), an object with value(x, column) for loops on a host.
///
/// A source whose values depend on the row, too, has in place of value(x, column)
///
/// - Arguments: the arguments of its kernels, derived from RowArgs
/// - Row: what it keeps of a row, made from the arguments and the number of the row
/// - value(row, x, column)
/// - visible_columns(row): the number of columns of which x may be read; the others are masked
/// - is_masked(row, column): whether the entry counts for nothing, whatever x is
/// - apply(columns, chunk, value): the values of a tile's entries. `chunk` has its chunks of x, and
///   `columns` is its EntryColumns
/// - Entry: what it reads of one entry; load(row, x, column) loads it, and value(row, entry) is its
///   value, see EdgeEntry
/// - on_host(row), as on_host()
///
/// A source with two inputs per entry has inputs = 2, and in place of value()
///
/// - Arguments and Row, as above, where Row has the address and the stride of the second input
/// - pair(x, second): the EntryPair of an entry. Tiles of such a source are PairTiles or
///   RawPairTiles.
/// - Pairs: what the pairs of all entries have in common; pairs() returns it, and its
///   with_pair(use) calls use(pair_of), where pair_of(x, second) is pair(x, second)
template <class S>
inline constexpr bool has_two_inputs = requires {
  requires S::inputs == 2;
};
template <class S>
inline constexpr bool has_row = requires {
  typename S::Row;
};
template <class S>
inline constexpr bool knows_rows = has_row<S> && !has_two_inputs<S>;
/// Whether a source that knows rows has a weight per entry, see WeightedSource.
template <class S>
inline constexpr bool has_weights = requires {
  requires S::has_weights;
};

/// Whether a source of values by column masks some of them. Such a source has is_masked(row,
/// column), as those that know rows.
template <class S>
inline constexpr bool masks_columns = requires {
  requires S::masks_columns;
};

/// Whether biases of a source pass through scratch memory in clusters, see StagedInputs. Such a
/// source has what that class asks for.
template <class S>
inline constexpr bool stages_biases = requires {
  requires S::stages_biases;
};

/// Whether rows of a source have arguments.visible_columns(r) columns, see LimitedSource. A kernel
/// that writes entries also writes the others, see FillMasked.hpp.
template <class S>
inline constexpr bool limits_rows = requires {
  requires S::limits_rows;
};

template <class S>
concept ValuesByColumn = requires(const S source, typename S::Types::Compute x,
                                  std::int64_t column) {
  { source.value(x, column) } -> std::same_as<typename S::Types::Compute>;
};
template <class S>
concept ValuesByRow = knows_rows<S> && requires(const S source, typename S::Types::Compute x,
                                                std::int64_t column, const typename S::Row& row) {
  { source.value(row, x, column) } -> std::same_as<typename S::Types::Compute>;
  { source.visible_columns(row) } -> std::same_as<std::int64_t>;
  { source.is_masked(row, column) } -> std::same_as<bool>;
};
template <class S>
concept PairsOfEntries = has_two_inputs<S> && has_row<S> &&
    requires(const S source, typename S::Types::Compute x) {
  source.pair(x, x);
  { source.pairs() } -> std::same_as<typename S::Pairs>;
};
template <class S>
concept RowSource = requires(const S source, const ArgumentsOf<S>& arguments) {
  S(arguments);
  { S::value_is_scaled_raw } -> std::convertible_to<bool>;
  { source.padding() } -> std::same_as<typename S::Types::X>;
  requires ValuesByColumn<S> || ValuesByRow<S> || PairsOfEntries<S>;
};

/// What a source keeps of a row; nothing for most sources.
struct NoSourceRow {
  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION NoSourceRow(const Arguments&, std::int64_t /*r*/) {}
};
template <class Source>
struct SourceRowOf {
  using type = NoSourceRow;
};
template <class Source>
requires has_row<Source>
struct SourceRowOf<Source> {
  using type = typename Source::Row;
};
template <class Source>
using SourceRow = typename SourceRowOf<Source>::type;

/// The value of the entry x of a column.
template <class Source, class T>
KOKKOS_FORCEINLINE_FUNCTION T value_of(const Source& source,
                                       [[maybe_unused]] const SourceRow<Source>& row, T x,
                                       std::int64_t column) {
  if constexpr (knows_rows<Source>)
    return source.value(row, x, column);
  else
    return source.value(x, column);
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
/// two factors, both normal numbers, whose product with any finite number is below 1 and counts as
/// 0 (see written_value()).
template <class T>
class HostScale {
 public:
  KOKKOS_FORCEINLINE_FUNCTION HostScale(T scale, bool is_zero)
      : m_first(is_zero ? Kokkos::Experimental::norm_min_v<T> : scale),
        m_second(is_zero ? Kokkos::Experimental::norm_min_v<T> : T(1)) {}

  KOKKOS_FORCEINLINE_FUNCTION T value(T x, std::int64_t /*column*/) const {
    return (m_first * x) * m_second;
  }

  /// The factors in a type of the vector kernels of hosts.
  template <class Factors>
  Factors factors() const {
    const bool is_zero = m_second != T(1);
    return {m_first, m_second, !is_zero && m_first == T(1), is_zero};
  }

 private:
  T m_first;
  T m_second;
};

/// v = scale * x, for kernels with the arguments Args: a RowArgs, or others that have the scale.
template <class Args>
class ScaledSource {
 public:
  using Types = typename Args::Types;
  using X = typename Types::X;
  using T = typename Types::Compute;
  static constexpr bool value_is_scaled_raw = true;

  KOKKOS_FORCEINLINE_FUNCTION explicit ScaledSource(const Args& arguments)
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
  const Args& m_arguments;  // a copy of the scale would take a register of a GPU
};

/// The source of matrices.
template <class V>
class PlainSource : public ScaledSource<RowArgs<V>> {
 public:
  using ScaledSource<RowArgs<V>>::ScaledSource;
};

/// What loops on a host take values of a row from: source.on_host() if it exists, or the source.
template <class Source>
auto on_host(const Source& source, [[maybe_unused]] const SourceRow<Source>& row) {
  if constexpr (knows_rows<Source>)
    return source.on_host(row);
  else if constexpr (requires { source.on_host(); })
    return source.on_host();
  else
    return source;
}
template <class Source>
using HostValues = decltype(on_host(std::declval<Source>(), std::declval<SourceRow<Source>>()));

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
