// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_COLUMNIMAGE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_COLUMNIMAGE_HPP

#include <backend/DivideUp.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <row/Row.hpp>
#include <row/SharedInputsSource.hpp>

namespace KokkosSoftmax::Impl {

/// What the values of a team's columns depend on besides x, in its scratch memory, for rows that
/// share it (SharedInputsSource). It is loaded once, and serves all rows that the team works on.
///
/// The chunks of a row begin at an aligned address, and rows differ in the number of entries before
/// it. So the image is divided into `width` planes: plane p has each width-th column from p on.
/// Entry k of neighbouring chunks then stands in neighbouring words, wherever a row begins, and the
/// lanes of a warp load from different banks.
template <class Source, class Tile>
class ColumnImage {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr int width = Tile::width;
  static constexpr int threads = Tile::threads;
  static constexpr int longest_head =
      Tile::access == AccessMode::peeled_vectors ? aligned_entries<X, width>(threads) - 1 : 0;
  static constexpr int plane_size = Tile::chunks + divide_up(longest_head + width - 1, width);

 public:
  /// `scratch` is the team's memory for it, from a multiple of 16 bytes on.
  KOKKOS_FORCEINLINE_FUNCTION explicit ColumnImage(char* scratch)
      : m_planes(reinterpret_cast<T*>(scratch)) {}

  static constexpr std::size_t scratch_bytes() { return (width * plane_size + width) * sizeof(T); }

  /// Fills the image of the segment that begins at chunk `begin`. A barrier of the team must
  /// follow.
  KOKKOS_FORCEINLINE_FUNCTION void fill(const ArgumentsOf<Source>& arguments, std::int64_t begin,
                                        int thread_id) const {
    constexpr int batch = 8;  // loads that overlap
    constexpr int size = width * plane_size;
    const Source source(arguments);
    const auto row = source.any_row();
    for (int first = thread_id; first < size + width; first += batch * threads) {
      typename Source::Entry entry[batch]{};
      source.load_columns(
          row, [&](int j) { return column_of(arguments, begin, first + j * threads); }, entry);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < batch; ++j) {
        const int i = first + j * threads;
        if (i >= size + width) continue;
        m_planes[i < size ? i % width * plane_size + i / width : i] = source.column_bias(entry[j]);
      }
    }
  }

  /// The values of a tile, given its chunks of x and the peeled entry, whose column is
  /// `edge_column`
  /// (-1: none). Returns the value of the peeled entry. Slots without an entry get the biases of
  /// other columns. If such a bias is infinite, the slot may become NaN, and the row, which has
  /// that column, is NaN or has a +inf anyway.
  template <class Row, class Raw, int items, int size>
  KOKKOS_FORCEINLINE_FUNCTION T apply(const Source& source, const Row& row, int thread_id,
                                      std::int64_t edge_column, const X& edge,
                                      const Raw (&chunk)[items], T (&value)[size]) const {
    const T* plane[width];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) {
      const auto first = static_cast<unsigned>(row.head + k);
      plane[k] = m_planes + (first % width * plane_size + first / width + thread_id);
    }
    source.template apply<items, width>(chunk, value,
                                        [&](int i, int k) { return plane[k][i * threads]; });
    if (edge_column < 0) return -infinity;
    // the head is part of the first segment, and the tail ends the row
    const T bias = edge_column < row.head
                       ? m_planes[edge_column % width * plane_size + edge_column / width]
                       : tail()[edge_column - (row.columns - width)];
    return source.value_of_column(static_cast<T>(edge), bias);
  }

 private:
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  /// The column of number i of the image, where the segment begins at chunk `begin`: those of the
  /// planes, then the last `width` columns of the row. -1: there is none.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t column_of(const ArgumentsOf<Source>& arguments,
                                                            std::int64_t begin, int i) {
    constexpr int size = width * plane_size;
    const std::int64_t columns = arguments.problem.columns;
    const std::int64_t column = i < size ? begin * width + i : columns - width + (i - size);
    return column < columns && i < size + width ? column : -1;
  }

  /// The last `width` columns of the row.
  KOKKOS_FORCEINLINE_FUNCTION T* tail() const { return m_planes + width * plane_size; }

  T* m_planes;
};

}  // namespace KokkosSoftmax::Impl

#endif
