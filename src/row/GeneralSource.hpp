// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_GENERALSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_GENERALSOURCE_HPP

/// \file
/// The source of calls that read more than x: biases, mask, lengths and a causal limit. Which of
/// these a call has is known at run time, so that one kernel serves all of them. All threads of a
/// launch take the same branches.

#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <row/InputChunks.hpp>
#include <row/RowArgs.hpp>
#include <row/RowsInChunks.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The arguments of the kernels of GeneralSource.
template <class V>
struct GeneralArgs : RowArgs<V> {
  using Problem = GeneralRowProblem<typename V::X, typename V::Y>;

  RowInputs inputs;
  /// The source multiplies by 0 itself: a bias is added to the product, so that a small value isn't
  /// always 0 (see written_value()).
  bool product_is_zero;

  GeneralArgs(const Problem& problem, const Options& options)
      : RowArgs<V>(problem, options), inputs(problem.inputs), product_is_zero(this->scale_is_zero) {
    this->scale_is_zero = false;
  }

  /// Whether neighbouring rows share the bias and the mask, or have them side by side in chunks of
  /// `width` rows that are aligned in each column. Plans are made with addresses that can be null;
  /// the strides are those of the calls.
  bool inputs_in_chunks(int width) const {
    const int bias_bytes = inputs.bias_is_entries ? sizeof(typename V::X) : sizeof(Compute);
    return is_in_chunks(inputs.bias, bias_bytes, width) && is_in_chunks(inputs.mask, 1, width);
  }

  /// Whether the only operands are a bias and a mask that all rows share.
  bool rows_share_inputs() const {
    const bool reads_columns = inputs.bias.data != nullptr || inputs.mask.data != nullptr;
    const bool reads_rows = inputs.lengths.data != nullptr || inputs.row_bias.data != nullptr ||
                            inputs.causal_limit != RowInputs::no_limit;
    return reads_columns && !reads_rows && is_shared(inputs.bias) && is_shared(inputs.mask);
  }

  /// The number of columns of row r that lengths and the causal limit leave.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t visible_columns(std::int64_t r) const {
    std::int64_t lengths_offset = 0, position = 0;
    const auto add_axis = [&](int d, std::int64_t index) {
      lengths_offset += index * inputs.lengths.outer_stride[d];
      if (d == inputs.causal_axis) position = index;
    };
    add_axis(0, this->first_index(r, add_axis));
    return visible_columns(lengths_offset, position);
  }

  /// The same for the row that has its length at `lengths_offset` and the index `position` along
  /// the causal axis.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t visible_columns(std::int64_t lengths_offset,
                                                           std::int64_t position) const {
    std::int64_t visible = this->problem.columns;
    const auto limit_to = [&](std::int64_t columns) {
      if (columns < visible) visible = columns < 0 ? 0 : columns;
    };
    limit_to(inputs.causal_limit < RowInputs::no_limit - position ? inputs.causal_limit + position
                                                                  : RowInputs::no_limit);
    if (inputs.lengths.data != nullptr)
      limit_to(inputs.lengths_have_64_bits
                   ? static_cast<const std::int64_t*>(inputs.lengths.data)[lengths_offset]
                   : static_cast<const std::int32_t*>(inputs.lengths.data)[lengths_offset]);
    return visible;
  }

 private:
  using Compute = typename V::Compute;

  bool is_shared(const RowInput& input) const {
    for (int d = 0; d < this->problem.outer_rank; ++d)
      if (input.outer_stride[d] != 0) return false;
    return true;
  }

  /// inputs_in_chunks() for one input.
  bool is_in_chunks(const RowInput& input, int entry_bytes, int width) const {
    const int rank = this->problem.outer_rank;
    return input.outer_stride[rank - 1] == 0 ||  // also without the input
           are_rows_in_chunks(
               input.data, entry_bytes, input.column_stride, rank,
               [&](int d) { return input.outer_stride[d]; }, width);
  }
};

/// Where the inputs of a row begin, in entries, and the index of the row along the causal axis.
struct InputOffsets {
  std::int64_t bias = 0;
  std::int64_t mask = 0;
  std::int64_t lengths = 0;
  std::int64_t row_bias = 0;
  std::int64_t position = 0;

  /// Those of row r.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION InputOffsets(const GeneralArgs<V>& arguments, std::int64_t r) {
    const auto add_axis = [&](int d, std::int64_t index) { add(arguments.inputs, d, index); };
    add_axis(0, arguments.first_index(r, add_axis));
  }

  /// Moves `distance` rows along outer axis d.
  KOKKOS_FORCEINLINE_FUNCTION void add(const RowInputs& inputs, int d, std::int64_t distance) {
    bias += distance * inputs.bias.outer_stride[d];
    mask += distance * inputs.mask.outer_stride[d];
    lengths += distance * inputs.lengths.outer_stride[d];
    row_bias += distance * inputs.row_bias.outer_stride[d];
    if (d == inputs.causal_axis) position += distance;
  }
};

/// v = scale * x + bias + row_bias or v = scale * (x + bias + row_bias), or -inf where an entry is
/// masked
template <class V>
class GeneralSource {
 public:
  using Types = V;
  using X = typename V::X;
  using T = typename V::Compute;
  using Arguments = GeneralArgs<V>;
  static constexpr bool value_is_scaled_raw = false;
  static constexpr bool stages_biases = true;

  /// The addresses at which a row starts in the inputs, and how many columns are visible.
  class Row {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Row(const Arguments& arguments, std::int64_t r)
        : Row(arguments, InputOffsets(arguments, r)) {}
    KOKKOS_FORCEINLINE_FUNCTION Row(const Arguments& arguments, const InputOffsets& offsets) {
      const RowInputs& inputs = arguments.inputs;
      const std::int64_t bias_bytes =
          is_entries(inputs) ? static_cast<std::int64_t>(sizeof(X)) : sizeof(T);
      bias = static_cast<const char*>(inputs.bias.data) + offsets.bias * bias_bytes;
      mask = static_cast<const unsigned char*>(inputs.mask.data) + offsets.mask;
      visible = arguments.visible_columns(offsets.lengths, offsets.position);
      if (inputs.row_bias.data != nullptr)
        row_bias = static_cast<const T*>(inputs.row_bias.data)[offsets.row_bias];
    }

    const char* bias;
    const unsigned char* mask;
    std::int64_t visible;
    T row_bias = T(0);
  };

  KOKKOS_FORCEINLINE_FUNCTION explicit GeneralSource(const Arguments& arguments)
      : m_arguments(arguments) {}

  KOKKOS_FORCEINLINE_FUNCTION X padding() const { return m_arguments.padding; }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t visible_columns(const Row& row) const {
    return row.visible;
  }

  KOKKOS_FORCEINLINE_FUNCTION bool is_masked(const Row& row, std::int64_t column) const {
    return column >= row.visible ||
           (has_mask() && row.mask[column * m_arguments.inputs.mask.column_stride] == 0);
  }

  /// What is read of one entry.
  struct Entry {
    X x;
    T bias = T(0);
    unsigned char mask = 1;
  };
  /// Loads it, if its column is visible.
  KOKKOS_FORCEINLINE_FUNCTION Entry load(const Row& row, const X& x, std::int64_t column) const {
    Entry entry{x};
    if (has_bias()) entry.bias = bias_at(row, column);
    entry.mask = mask(row, column);
    return entry;
  }
  KOKKOS_FORCEINLINE_FUNCTION T value(const Row& row, const Entry& entry) const {
    const bool scales_biases = m_arguments.inputs.scale_biases;
    T v = static_cast<T>(entry.x);
    if (!scales_biases) v = product(v);
    if (has_bias()) v += entry.bias;
    v += row.row_bias;
    if (scales_biases) v = product(v);
    return entry.mask == 0 ? -infinity : v;
  }
  KOKKOS_FORCEINLINE_FUNCTION T value(const Row& row, T x, std::int64_t column) const {
    if (is_masked(row, column)) return -infinity;
    return value(row, load(row, static_cast<X>(x), column));
  }

  /// The mask of an entry whose column is visible; 1 if there is none.
  KOKKOS_FORCEINLINE_FUNCTION unsigned char mask(const Row& row, std::int64_t column) const {
    return has_mask() ? row.mask[column * m_arguments.inputs.mask.column_stride] : 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_bias() const {
    return m_arguments.inputs.bias.data != nullptr;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool bias_is_entries() const {
    return is_entries(m_arguments.inputs);
  }
  /// Where the bias of a column is, if its type is that of x.
  KOKKOS_FORCEINLINE_FUNCTION const X* bias_of(const Row& row, std::int64_t column) const {
    return reinterpret_cast<const X*>(row.bias) + column * m_arguments.inputs.bias.column_stride;
  }
  /// The biases of a tile's chunks. `Bias` is their type, X or T.
  template <class Bias, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto biases(const Columns& columns) const {
    return InputChunks<Bias, Columns>(columns,
                                      reinterpret_cast<const Bias*>(columns.source_row().bias),
                                      m_arguments.inputs.bias.column_stride);
  }
  /// Whether a bias has the type of x. If the computation has it too, a kernel needs no code for
  /// another type.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_entries(const RowInputs& inputs) {
    return std::is_same_v<X, T> || inputs.bias_is_entries;
  }

  /// The values of a tile's entries, given its chunks of x. All loads that there are registers for
  /// come before the arithmetic, so that they overlap with one another and with the loads of x.
  template <class Columns, class Raw, int items, int size>
  KOKKOS_FORCEINLINE_FUNCTION void apply(const Columns& columns, const Raw (&chunk)[items],
                                         T (&value)[size]) const {
    apply(columns, chunk, value, [&]<class Bias, int count>(int i, auto* raw) {
      biases<Bias>(columns).template load<count>(i, raw);
    });
  }

  /// The same with biases from another place: load_biases.operator()<Bias, count>(i, raw) loads
  /// those of the chunks i to i + count - 1.
  template <class Columns, class Raw, int items, int size, class LoadBiases>
  KOKKOS_FORCEINLINE_FUNCTION void apply(const Columns& columns, const Raw (&chunk)[items],
                                         T (&value)[size], const LoadBiases& load_biases) const {
    constexpr int width = Columns::width;
    // a mask takes a register, whatever the width is, beside those of the entries
    constexpr int masks_at_once = size * sizeof(T) > 128 ? 8 : 16;
    constexpr int count = items < masks_at_once ? items : masks_at_once;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i + count <= items; i += count)
      apply_to<count>(columns, i, chunk + i, value + i * width, load_biases);
    constexpr int rest = items % count;
    if constexpr (rest > 0)
      apply_to<rest>(columns, items - rest, chunk + items - rest, value + size - rest * width,
                     load_biases);
  }

  /// Loads what is read of columns besides x; column(j) is the column of entry j, or -1. The loads
  /// overlap.
  template <int count, class ColumnOf>
  KOKKOS_FORCEINLINE_FUNCTION void load_columns(const Row& row, const ColumnOf& column,
                                                Entry (&entry)[count]) const {
    const auto load_biases = [&]<class Bias>(const Bias* biases) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j)
        if (column(j) >= 0)
          entry[j].bias = static_cast<T>(biases[column(j) * m_arguments.inputs.bias.column_stride]);
    };
    if (has_bias() && is_entries(m_arguments.inputs))
      load_biases(reinterpret_cast<const X*>(row.bias));
    else if (has_bias())
      load_biases(reinterpret_cast<const T*>(row.bias));
    if (!has_mask()) return;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count; ++j)
      if (column(j) >= 0) entry[j].mask = mask(row, column(j));
  }
  /// What the values of a column depend on: its bias, or masked_bias() if it is masked.
  KOKKOS_FORCEINLINE_FUNCTION static T column_bias(const Entry& entry) {
    if (entry.mask == 0) return masked_bias();
    return entry.bias == entry.bias ? entry.bias : Kokkos::Experimental::quiet_NaN_v<T>;
  }
  /// apply() for rows that share biases and mask: column_bias(i, k) is that of entry k of chunk i.
  template <int items, int width, class Raw, class ColumnBias>
  KOKKOS_FORCEINLINE_FUNCTION void apply_columns(const Raw* chunk, T* value,
                                                 const ColumnBias& column_bias) const {
    constexpr int size = items * width;
    scale<items, width>(chunk, value);
    if (has_bias()) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j) value[j] += column_bias(j / width, j % width);
    }
    if (m_arguments.inputs.scale_biases) multiply_by_scale<size>(value);
    if (has_mask()) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j)
        value[j] = is_masked_bias(column_bias(j / width, j % width)) ? -infinity : value[j];
    }
  }
  /// The same for one entry.
  KOKKOS_FORCEINLINE_FUNCTION T value_of_column(T x, T column_bias) const {
    T v = x;
    if (!m_arguments.inputs.scale_biases) v = product(v);
    if (has_bias()) v += column_bias;
    if (m_arguments.inputs.scale_biases) v = product(v);
    return is_masked_bias(column_bias) ? -infinity : v;
  }

  /// value() for loops on a host.
  class HostValues {
   public:
    KOKKOS_FORCEINLINE_FUNCTION HostValues(const GeneralSource& source, const Row& row)
        : m_source(source), m_row(row) {}
    KOKKOS_FORCEINLINE_FUNCTION T value(T x, std::int64_t column) const {
      return m_source.value(m_row, x, column);
    }

   private:
    GeneralSource m_source;
    Row m_row;
  };
  HostValues on_host(const Row& row) const { return {*this, row}; }

 protected:
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  KOKKOS_FORCEINLINE_FUNCTION const Arguments& arguments() const { return m_arguments; }
  KOKKOS_FORCEINLINE_FUNCTION bool has_mask() const {
    return m_arguments.inputs.mask.data != nullptr;
  }

  /// x[j] = scale * x[j]; 0 for a finite x if the scale is 0, see kernel_scale().
  template <int size>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_by_scale(T* x) const {
    KOKKOS_IF_ON_HOST((const HostScale<T> scale(m_arguments.scale, m_arguments.product_is_zero);
                       for (int j = 0; j < size; ++j) x[j] = scale.value(x[j], 0);))
    KOKKOS_IF_ON_DEVICE((multiply_on_device<size>(x);))
    if (!m_arguments.product_is_zero) return;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) x[j] = Kokkos::abs(x[j]) < T(1) ? T(0) : x[j];
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T product(T x) const {
    T p[1] = {x};
    multiply_by_scale<1>(p);
    return p[0];
  }

  template <int size>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_on_device(T* x) const {
    if (m_arguments.scale == T(1)) return;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) x[j] *= m_arguments.scale;
  }

  /// apply() for chunks i to i + items - 1.
  template <int items, class Columns, class Raw, class LoadBiases>
  KOKKOS_FORCEINLINE_FUNCTION void apply_to(const Columns& columns, int i, const Raw* chunk,
                                            T* value, const LoadBiases& load_biases) const {
    constexpr int width = Columns::width;
    constexpr int size = items * width;
    const Row& row = columns.source_row();
    const RowInputs& inputs = m_arguments.inputs;
    const InputChunks<unsigned char, Columns> masks(columns, row.mask, inputs.mask.column_stride);
    ByteChunk<width> mask[items] = {};
    if (has_mask()) masks.template load<items>(i, mask);
    // Kernels of strided rows are slower if nvcc knows the type (docs/trials.md).
    const bool bias_is_entries = width > 1 ? is_entries(inputs) : inputs.bias_is_entries;
    if (has_bias() && bias_is_entries)
      add_bias<X, items, width>(i, chunk, value, load_biases);
    else if (has_bias())
      add_bias<T, items, width>(i, chunk, value, load_biases);
    else
      scale<items, width>(chunk, value);
    if (inputs.row_bias.data != nullptr) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j) value[j] += row.row_bias;
    }
    if (inputs.scale_biases) multiply_by_scale<size>(value);
    if (has_mask()) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j)
        value[j] = mask[j / width].is_zero(j % width) ? -infinity : value[j];
    }
    // also for slots without an entry, whose padding is infinite, because -inf + inf would be NaN
    if (row.visible < m_arguments.problem.columns || Kokkos::abs(row.row_bias) == infinity) {
      const int left = columns.left(row.visible);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j)
        value[j] = Columns::offset(i * width + j) < left ? value[j] : -infinity;
    }
  }

  /// value = scale * x + bias, or x + bias if the scale follows
  template <class Bias, int items, int width, class Raw, class LoadBiases>
  KOKKOS_FORCEINLINE_FUNCTION void add_bias(int i, const Raw* chunk, T* value,
                                            const LoadBiases& load_biases) const {
    constexpr int entries_at_once = 16;
    constexpr int count = items % (entries_at_once / width) == 0 ? entries_at_once / width : items;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < items; j += count) {
      RawChunk<Bias, width> raw[count];
      load_biases.template operator()<Bias, count>(i + j, raw);
      scale<count, width>(chunk + j, value + j * width);
      add<Bias, width, count>(raw, value + j * width);
    }
  }

  /// value = scale * x, or x if the scale follows
  template <int items, int width, class Raw>
  KOKKOS_FORCEINLINE_FUNCTION void scale(const Raw* chunk, T* value) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) widen<X, width>(chunk[i], value + i * width);
    if (!m_arguments.inputs.scale_biases) multiply_by_scale<items * width>(value);
  }

  template <class Bias, int width, int count>
  KOKKOS_FORCEINLINE_FUNCTION static void add(const RawChunk<Bias, width> (&bias)[count],
                                              T* value) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count; ++j) {
      T b[width];
      widen<Bias, width>(bias[j], b);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) value[j * width + k] += b[k];
    }
  }

  /// A NaN that column_bias() doesn't return for a bias.
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  KOKKOS_FORCEINLINE_FUNCTION static constexpr Bits masked_bits() {
    return sizeof(T) == 8 ? static_cast<Bits>(0x7ff8'0000'0000'abcd) : Bits(0x7fc0'abcd);
  }
  KOKKOS_FORCEINLINE_FUNCTION static T masked_bias() { return Kokkos::bit_cast<T>(masked_bits()); }
  KOKKOS_FORCEINLINE_FUNCTION static bool is_masked_bias(T bias) {
    return Kokkos::bit_cast<Bits>(bias) == masked_bits();
  }

  KOKKOS_FORCEINLINE_FUNCTION T bias_at(const Row& row, std::int64_t column) const {
    const std::int64_t i = column * m_arguments.inputs.bias.column_stride;
    return is_entries(m_arguments.inputs) ? static_cast<T>(reinterpret_cast<const X*>(row.bias)[i])
                                          : reinterpret_cast<const T*>(row.bias)[i];
  }

  const Arguments& m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
