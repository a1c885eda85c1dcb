// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_GENERALBLOCK_HPP
#define KOKKOSSOFTMAX_SRC_ROW_GENERALBLOCK_HPP

/// \file
/// The values of GeneralSource, and the weights of WeightedSource, for blocks of rows and columns
/// on hosts.

#include <algorithm>
#include <row/GeneralSource.hpp>
#include <row/HostBlock.hpp>
#include <row/WeightedSource.hpp>

namespace KokkosSoftmax::Impl {

/// How many of a block's columns each of its rows has before its length and the causal limit.
class VisibleColumns {
 public:
  static constexpr std::int64_t most_rows = 1024;

  template <class V>
  VisibleColumns(const GeneralArgs<V>& arguments, const InputOffsets& first, const HostBlock& block)
      : m_block(block),
        m_is_limited(arguments.inputs.lengths.data != nullptr ||
                     arguments.inputs.causal_limit != RowInputs::no_limit),
        m_least(block.columns),
        m_most(block.columns) {
    if (!m_is_limited) return;
    m_most = 0;
    const RowInputs& inputs = arguments.inputs;
    const int fastest = arguments.problem.outer_rank - 1;
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const std::int64_t visible =
          arguments.visible_columns(first.lengths + r * inputs.lengths.outer_stride[fastest],
                                    first.position + (inputs.causal_axis == fastest ? r : 0));
      const std::int64_t of_block =
          std::clamp<std::int64_t>(visible - block.first_column, 0, block.columns);
      m_of_row[r] = static_cast<std::int32_t>(of_block);
      m_least = std::min(m_least, of_block);
      m_most = std::max(m_most, of_block);
    }
  }

  bool are_all() const { return m_least == m_block.columns; }
  /// Whether time is saved by leaving out the other entries. It isn't for short rows.
  bool limit_loops() const { return !are_all() && m_block.columns > most_short_columns; }

  /// The entries of a run that are visible: of a column all, or none.
  template <class T>
  auto size_of(const BlockBuffer<T>& buffer) const {
    return [this, of_columns = !buffer.runs_are_rows()](std::int64_t k) {
      if (of_columns) return k < m_most ? m_block.rows : 0;
      return static_cast<std::int64_t>(m_of_row[k]);
    };
  }

  /// Replaces the entries behind the visible ones.
  template <class T>
  void replace_others(const BlockBuffer<T>& buffer, T by) const {
    if (buffer.runs_are_rows())
      for (std::int64_t r = 0; r < m_block.rows; ++r)
        std::fill(buffer.run(r) + m_of_row[r], buffer.run(r) + m_block.columns, by);
    else
      for (std::int64_t c = m_least; c < m_block.columns; ++c)
        replace_in_column(buffer.run(c), c, by);
  }

 private:
  template <class T>
  void replace_in_column(T* column, std::int64_t c, T by) const {
    const auto number = static_cast<std::int32_t>(c);
    for (std::int64_t r = 0; r < m_block.rows; ++r)
      column[r] = number < m_of_row[r] ? column[r] : by;
  }

  HostBlock m_block;
  bool m_is_limited;
  std::int64_t m_least;  // of all rows
  std::int64_t m_most;
  std::int32_t m_of_row[most_rows];
};

/// A block of at most VisibleColumns::most_rows rows.
template <class V>
class GeneralBlock {
 public:
  using X = typename V::X;
  using T = typename V::Compute;

  GeneralBlock(const GeneralArgs<V>& arguments, const HostBlock& block)
      : m_arguments(arguments),
        m_inputs(arguments.inputs),
        m_block(block),
        m_offsets(arguments, block.first_row),
        m_visible(arguments, m_offsets, block) {}

  /// The rows of x, if each entry is a value, and they are contiguous.
  ContiguousRows<T> stored_values() const {
    if constexpr (std::is_same_v<X, T>) {
      const bool are_entries = m_arguments.scale == T(1) && !m_arguments.product_is_zero &&
                               m_inputs.bias.data == nullptr && m_inputs.row_bias.data == nullptr &&
                               m_inputs.mask.data == nullptr && m_visible.are_all();
      const auto x = entries_of(m_arguments, m_block);
      if (are_entries && x.column_stride == 1) return {x.data, x.row_stride};
    }
    return {};
  }

  /// Computes the values into a buffer of the block's extents.
  void values(const BlockBuffer<T>& to) const {
    const auto add = [](T v, auto bias) { return v + static_cast<T>(bias); };
    combine(to, entries_of(m_arguments, m_block), [](T, X entry) { return static_cast<T>(entry); });
    if (!m_inputs.scale_biases) multiply(to);
    if (m_inputs.bias.data != nullptr)
      with_type(m_inputs.bias_is_entries, [&]<class Bias>(std::type_identity<Bias>) {
        combine(to, input<Bias>(m_inputs.bias, m_offsets.bias), add);
      });
    if (m_inputs.row_bias.data != nullptr)
      combine(to, input<T>(m_inputs.row_bias, m_offsets.row_bias), add);
    if (m_inputs.scale_biases) multiply(to);
    if (m_inputs.mask.data != nullptr)
      combine(to, input<unsigned char>(m_inputs.mask, m_offsets.mask),
              [](T v, unsigned char mask) { return mask != 0 ? v : -infinity; });
    if (!m_visible.are_all()) m_visible.replace_others(to, -infinity);
  }

 protected:
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  /// Calls f with the type of an input: that of x, or of the computation.
  template <class F>
  static void with_type(bool is_entries, const F& f) {
    if constexpr (!std::is_same_v<X, T>)
      if (!is_entries) return f(std::type_identity<T>{});
    f(std::type_identity<X>{});
  }

  /// The entries of an input whose row `first_row` begins at `offset`.
  template <class Entry>
  BlockInput<Entry> input(const RowInput& input, std::int64_t offset) const {
    return {
        static_cast<const Entry*>(input.data) + offset + m_block.first_column * input.column_stride,
        input.outer_stride[fastest()], input.column_stride};
  }

  template <class Entry, class F>
  void combine(const BlockBuffer<T>& to, const BlockInput<Entry>& input, const F& f) const {
    if (m_visible.limit_loops())
      to.combine(input, m_visible.size_of(to), f);
    else
      to.combine(input, f);
  }

  const VisibleColumns& visible() const { return m_visible; }
  const HostBlock& block() const { return m_block; }

 private:
  int fastest() const { return m_arguments.problem.outer_rank - 1; }

  void multiply(const BlockBuffer<T>& to) const {
    if (m_arguments.scale == T(1) && !m_arguments.product_is_zero) return;
    const HostScale<T> scale(m_arguments.scale, m_arguments.product_is_zero);
    replace(to, [scale](T v) { return scale.value(v, 0); });
    if (m_arguments.product_is_zero)
      replace(to, [](T v) { return v < T(1) && v > T(-1) ? T(0) : v; });
  }
  template <class F>
  void replace(const BlockBuffer<T>& to, const F& f) const {
    if (m_visible.limit_loops())
      to.replace(m_visible.size_of(to), f);
    else
      to.replace(f);
  }

  const GeneralArgs<V>& m_arguments;
  const RowInputs& m_inputs;
  HostBlock m_block;
  InputOffsets m_offsets;
  VisibleColumns m_visible;
};

/// The same with weights.
template <class V>
class WeightedBlock : public GeneralBlock<V> {
 public:
  using X = typename V::X;
  using T = typename V::Compute;

  WeightedBlock(const WeightedArgs<V>& arguments, const HostBlock& block)
      : GeneralBlock<V>(arguments, block), m_arguments(arguments) {}

  /// The weights of rows, if they have the type of the computation, and are contiguous.
  ContiguousRows<T> stored_weights() const {
    const RowInput& weights = m_arguments.inputs.weights;
    const bool have_type = std::is_same_v<X, T> || !m_arguments.inputs.weights_are_entries;
    if (!have_type || weights.column_stride != 1 || !this->visible().are_all()) return {};
    const auto entries = this->template input<T>(weights, offset());
    return {entries.data, entries.row_stride};
  }

  /// Copies the weights into a buffer of the block's extents; 0 for entries that aren't visible.
  void weights(const BlockBuffer<T>& to) const {
    const RowInput& weights = m_arguments.inputs.weights;
    this->with_type(m_arguments.inputs.weights_are_entries,
                    [&]<class Weight>(std::type_identity<Weight>) {
                      this->combine(to, this->template input<Weight>(weights, offset()),
                                    [](T, Weight weight) { return static_cast<T>(weight); });
                    });
    if (!this->visible().are_all()) this->visible().replace_others(to, T(0));
  }

 private:
  /// Where the weights of the first row begin.
  std::int64_t offset() const {
    return outer_offset(m_arguments.problem, this->block().first_row,
                        m_arguments.inputs.weights.outer_stride);
  }

  const WeightedArgs<V>& m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
