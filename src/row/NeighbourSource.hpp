// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_NEIGHBOURSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_NEIGHBOURSOURCE_HPP

/// \file
/// GeneralSource for neighbouring rows whose entries a lane moves together
/// (AccessMode::vectors_across_rows): one load of a bias or a mask is for all of them. Fewer
/// instructions per entry are executed than for lanes with one row each.

#include <row/GeneralSource.hpp>

namespace KokkosSoftmax::Impl {

/// An array that is read besides x, for the chunks across rows of a thread. The rows share its
/// entries, or have them side by side in aligned chunks (see inputs_in_chunks()).
template <class Input, class Columns, int rows>
class InputAcrossRows {
 public:
  /// `first_row` is the address of column 0 of the first row.
  KOKKOS_FORCEINLINE_FUNCTION InputAcrossRows(const Columns& columns, const Input* first_row,
                                              std::int64_t column_stride, bool is_shared)
      : m_first(first_row + columns(0) * column_stride),
        m_distance(columns.step() * column_stride),
        m_left(columns.chunks_left()),
        m_is_shared(is_shared) {}

  /// Loads chunks i to i + count - 1. `from(p)` makes a chunk from p, the address of the entry that
  /// the rows share, and `whole(p)` loads the chunk at p. Chunks that needn't be read, because no
  /// chunk of x is read there, become 0.
  template <int count, class Raw, class From, class Whole>
  KOKKOS_FORCEINLINE_FUNCTION void load(int i, Raw (&chunk)[count], const From& from,
                                        const Whole& whole) const {
    if (Columns::holds(i + count - 1, m_left))
      load_guarded<false>(i, chunk, from, whole);  // guards would cost as much as the loads
    else
      load_guarded<true>(i, chunk, from, whole);
  }

 private:
  template <bool guarded, int count, class Raw, class From, class Whole>
  KOKKOS_FORCEINLINE_FUNCTION void load_guarded(int i, Raw (&chunk)[count], const From& from,
                                                const Whole& whole) const {
    if (m_is_shared)
      load_by<guarded>(i, chunk, from);
    else
      load_by<guarded>(i, chunk, whole);
  }
  template <bool guarded, int count, class Raw, class Load>
  KOKKOS_FORCEINLINE_FUNCTION void load_by(int i, Raw (&chunk)[count], const Load& load) const {
    const Input* p = m_first + Columns::offset(i) * m_distance;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count; ++j, p += Columns::offset(1) * m_distance) {
      chunk[j] = Raw{};
      if (!guarded || Columns::holds(i + j, m_left)) chunk[j] = load(p);
    }
  }

  const Input* m_first;
  std::int64_t m_distance;
  int m_left;
  bool m_is_shared;
};

/// The source of chunks that have one entry of each of `rows` rows. Its values are those of
/// GeneralSource.
template <class V, int rows>
class NeighbourSource : public GeneralSource<V> {
  using Base = GeneralSource<V>;
  using Base::infinity;

 public:
  using X = typename V::X;
  using T = typename V::Compute;
  using typename Base::Arguments;

  /// What GeneralSource keeps of the first row, and what the rows don't share. `visible` is that of
  /// the longest row.
  class Row : public Base::Row {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Row(const Arguments& arguments, std::int64_t r)
        : Row(arguments, InputOffsets(arguments, r)) {}

    std::int64_t visible_of[rows];
    T row_bias_of[rows];

   private:
    KOKKOS_FORCEINLINE_FUNCTION Row(const Arguments& arguments, InputOffsets offsets)
        : Base::Row(arguments, offsets) {
      visible_of[0] = this->visible;
      row_bias_of[0] = this->row_bias;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 1; k < rows; ++k) {
        offsets.add(arguments.inputs, arguments.problem.outer_rank - 1, 1);
        const typename Base::Row row(arguments, offsets);
        visible_of[k] = row.visible;
        row_bias_of[k] = row.row_bias;
        if (row.visible > this->visible) this->visible = row.visible;
      }
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION explicit NeighbourSource(const Arguments& arguments)
      : Base(arguments) {}

  /// value[k][i] = the value of the entry of row k in chunk i.
  template <class Columns, int items>
  KOKKOS_FORCEINLINE_FUNCTION void apply(const Columns& columns,
                                         const RawChunk<X, rows> (&chunk)[items],
                                         T (&value)[rows][items]) const {
    constexpr int entries_at_once = 32;  // what is read besides x takes registers until it is used
    constexpr int most = entries_at_once / rows;
    constexpr int count = items < most ? items : most;
    static_assert(items % count == 0);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; i += count) apply_to<count>(columns, i, chunk, value);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION bool is_shared(const RowInput& input) const {
    return input.outer_stride[this->arguments().problem.outer_rank - 1] == 0;
  }

  /// apply() for chunks i to i + count - 1.
  template <int count, class Columns, int items>
  KOKKOS_FORCEINLINE_FUNCTION void apply_to(const Columns& columns, int i,
                                            const RawChunk<X, rows> (&chunk)[items],
                                            T (&value)[rows][items]) const {
    const Row& row = columns.source_row();
    const RowInputs& inputs = this->arguments().inputs;
    ByteChunk<rows> mask[count] = {};
    if (this->has_mask()) load_masks(columns, i, mask);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = i; j < i + count; ++j) {
      T entry[rows];
      widen<X, rows>(chunk[j], entry);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k) value[k][j] = entry[k];
    }
    if (!inputs.scale_biases) multiply<count>(i, value);
    if (this->has_bias()) {
      if (this->bias_is_entries())
        add_bias<X, count>(columns, i, value);
      else if constexpr (!std::is_same_v<X, T>)
        add_bias<T, count>(columns, i, value);
    }
    if (inputs.row_bias.data != nullptr) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k)
        for (int j = i; j < i + count; ++j) value[k][j] += row.row_bias_of[k];
    }
    if (inputs.scale_biases) multiply<count>(i, value);
    if (this->has_mask()) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j) {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < rows; ++k)
          value[k][i + j] = mask[j].is_zero(k) ? -infinity : value[k][i + j];
      }
    }
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k) hide<count>(columns, i, row, k, value[k]);
  }

  template <int count, int items>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(int i, T (&value)[rows][items]) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k) this->template multiply_by_scale<count>(value[k] + i);
  }

  template <class Columns, int count>
  KOKKOS_FORCEINLINE_FUNCTION void load_masks(const Columns& columns, int i,
                                              ByteChunk<rows> (&mask)[count]) const {
    static_assert(rows == 2, "the masks of the rows have 16 bits");
    const RowInput& input = this->arguments().inputs.mask;
    const InputAcrossRows<unsigned char, Columns, rows> masks(
        columns, columns.source_row().mask, input.column_stride, is_shared(input));
    masks.load(
        i, mask, [](const unsigned char* p) { return ByteChunk<rows>{*p * 0x0101u}; },
        [](const unsigned char* p) {
          return ByteChunk<rows>{*reinterpret_cast<const std::uint16_t*>(p)};
        });
  }

  template <class Bias, int count, class Columns, int items>
  KOKKOS_FORCEINLINE_FUNCTION void add_bias(const Columns& columns, int i,
                                            T (&value)[rows][items]) const {
    using Raw = RawChunk<Bias, rows>;
    const RowInput& input = this->arguments().inputs.bias;
    const InputAcrossRows<Bias, Columns, rows> biases(
        columns, reinterpret_cast<const Bias*>(columns.source_row().bias), input.column_stride,
        is_shared(input));
    Raw raw[count];
    biases.load(
        i, raw, [](const Bias* p) { return raw_chunk_of<Bias, rows>(*p); },
        [](const Bias* p) { return *reinterpret_cast<const Raw*>(p); });
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count; ++j) {
      T bias[rows];
      widen<Bias, rows>(raw[j], bias);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k) value[k][i + j] += bias[k];
    }
  }

  /// Masks what comes after the last visible column of row k. Slots without an entry are masked
  /// too if the bias of the row is infinite: -inf + inf would be NaN.
  template <int count, class Columns, int items>
  KOKKOS_FORCEINLINE_FUNCTION void hide(const Columns& columns, int i, const Row& row, int k,
                                        T (&value)[items]) const {
    if (row.visible_of[k] >= this->arguments().problem.columns &&
        Kokkos::abs(row.row_bias_of[k]) != infinity)
      return;
    const int left = columns.left(row.visible_of[k]);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = i; j < i + count; ++j) value[j] = Columns::offset(j) < left ? value[j] : -infinity;
  }
};

/// The source from which a lane loads chunks across `rows` rows.
template <class Source, int rows>
struct SourceOfChunks {
  using type = Source;
};
template <class V, int rows>
struct SourceOfChunks<GeneralSource<V>, rows> {
  using type = NeighbourSource<V, rows>;
};

}  // namespace KokkosSoftmax::Impl

#endif
