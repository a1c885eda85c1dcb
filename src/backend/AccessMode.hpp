// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_ACCESSMODE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_ACCESSMODE_HPP

namespace KokkosSoftmax::Impl {

/// How the entries of a row are divided into the chunks of a tile, and so which loads and stores
/// move them. A chunk is a number (`width`) of neighbouring entries that are moved in one load or
/// store.
enum class AccessMode {
  full_tile,        ///< aligned rows that fill the tile to the last entry: no guards
  guarded_vectors,  ///< aligned rows whose length is a multiple of the width: a guard per chunk
  peeled_vectors,  ///< contiguous x at any address, y in any layout: the peeled entries (before the
                   ///< first aligned chunk and after the last whole chunk) are held one per
                   ///< thread
  dense_rows,      ///< rows stored back to back: chunks cross row boundaries, see PackedKernel
  dense_pairs,     ///< as `dense_rows`, and the lanes of a vector share a row in chunks of two
                   ///< entries, see PackedPairsKernel
  vectors_across_rows,  ///< a chunk holds one entry of each of `width` neighbouring rows, and is
                        ///< aligned in each column
  phase_vectors,  ///< as `vectors_across_rows`, at any address and distance of columns: a team has
                  ///< every n-th column, and these are aligned in the same way, see AlignedTiles
  whole_sectors,  ///< as `scalar`, and y is written in whole sectors of memory by teams whose rows
                  ///< overlap, see SectorPanel
  scalar          ///< any strides, chunks of one entry; entries are assigned to threads in the
                  ///< same way at any alignment
};

constexpr const char* to_string(AccessMode access) {
  switch (access) {
    case AccessMode::full_tile:
      return "full_tile";
    case AccessMode::guarded_vectors:
      return "guarded_vectors";
    case AccessMode::peeled_vectors:
      return "peeled_vectors";
    case AccessMode::dense_rows:
      return "dense_rows";
    case AccessMode::dense_pairs:
      return "dense_pairs";
    case AccessMode::vectors_across_rows:
      return "vectors_across_rows";
    case AccessMode::phase_vectors:
      return "phase_vectors";
    case AccessMode::whole_sectors:
      return "whole_sectors";
    case AccessMode::scalar:
      return "scalar";
  }
  return "unknown";
}

}  // namespace KokkosSoftmax::Impl

#endif
