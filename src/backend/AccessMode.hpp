// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_ACCESSMODE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_ACCESSMODE_HPP

namespace KokkosSoftmax::Impl {

/// How the chunks of a tile meet the row.
enum class Fill {
  exact,       ///< aligned rows that fill the tile to the last entry: no guards
  guarded,     ///< aligned rows whose length is a multiple of the width
  edges,       ///< any contiguous x: the entries before the first aligned chunk and after the last
               ///< whole one are held one a thread; y in any layout
  packed,      ///< rows one behind the other: chunks run across rows, see PackedKernel
  neighbours,  ///< chunks across rows: `width` rows that lie side by side, aligned in each column
  scalar       ///< any strides, chunks of one entry, the same assignment whatever the alignment
};

constexpr const char* to_string(Fill fill) {
  switch (fill) {
    case Fill::exact:
      return "exact";
    case Fill::guarded:
      return "guarded";
    case Fill::edges:
      return "edges";
    case Fill::packed:
      return "packed";
    case Fill::neighbours:
      return "neighbours";
    case Fill::scalar:
      return "scalar";
  }
  return "unknown";
}

}  // namespace KokkosSoftmax::Impl

#endif
