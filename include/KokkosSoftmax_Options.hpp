// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_OPTIONS_HPP
#define KOKKOSSOFTMAX_OPTIONS_HPP

#include <string_view>

/// \file
/// What the functions take beside their arrays.

namespace KokkosSoftmax {

/// \defgroup options Options
/// The last argument of every function, and the values that its members can have. What they mean
/// for values, accuracy and errors is in docs/semantics.md; docs/algorithms.md has the algorithms.
/// \{

/// What a row without any probability (every entry -inf) gives.
enum class EmptyRows {
  nan,  ///< NaN, as SciPy and PyTorch
  zero  ///< softmax 0 and log_softmax -inf in the whole row
};

/// How the rows are computed. `automatic` chooses by execution space, types, extents and strides;
/// any other value forces one algorithm, and a shape that it can't serve throws.
enum class Algorithm {
  automatic,        ///< the library's choice; serves every shape
  packed,           ///< short rows one behind the other: through scratch, a row in each lane
  subgroup,         ///< several rows a team, a row in the registers of a vector's lanes
  fused_registers,  ///< a row in the registers of one team: one read, one write
  fused_scratch,    ///< the same and the team's level-0 scratch memory: one read, one write
  online,           ///< chunks with rescaling of (max, sum); the second pass runs backwards
  split,            ///< registers and scratch of many teams, which exchange (max, sum)
  split_online,     ///< the same with chunks and rescaling, for rows of any length
  cluster,          ///< registers and shared memory of a cluster of thread blocks; CUDA from 9.0 on
  column,           ///< reduction along a strided axis, coalesced over the rows beside it
  split_column,     ///< the same by many teams, which exchange (max, sum)
  host              ///< host execution spaces: threads over rows, wide rows split over threads
};

/// The name as it stands in kernel labels and messages.
///
/// \param algorithm  any value
/// \return the enumerator's name, for example "fused_registers"; "unknown" for a value that is none
constexpr std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "automatic";
    case Algorithm::packed:
      return "packed";
    case Algorithm::subgroup:
      return "subgroup";
    case Algorithm::fused_registers:
      return "fused_registers";
    case Algorithm::fused_scratch:
      return "fused_scratch";
    case Algorithm::online:
      return "online";
    case Algorithm::split:
      return "split";
    case Algorithm::split_online:
      return "split_online";
    case Algorithm::cluster:
      return "cluster";
    case Algorithm::column:
      return "column";
    case Algorithm::split_column:
      return "split_column";
    case Algorithm::host:
      return "host";
  }
  return "unknown";
}

/// Options of every function of the library. An aggregate, so that a call names what it changes:
/// \code
///   KokkosSoftmax::softmax(exec, x, y, {.axis = 0, .scale = 0.5});
/// \endcode
struct Options {
  /// The axis that is reduced, 0 to rank - 1; a negative one counts from the last.
  int axis = -1;
  /// The function is applied to v = scale * x, where scale and the product are rounded to the type
  /// that is computed in (float for float and the half types, double for double). A temperature T
  /// is scale = 1 / T; softmin is scale = -1; 0 is taken as its limit from above: finite entries
  /// count alike, and -inf still counts for nothing. Must be finite in that type.
  double scale = 1.0;
  /// What softmax and log_softmax write for a row of -inf alone; logsumexp gives -inf there.
  EmptyRows empty_rows = EmptyRows::nan;
  /// How the rows are computed. A forced one that can't serve the shape is an error.
  Algorithm algorithm = Algorithm::automatic;
  /// The same bits for a row whatever stands beside it: number of rows, position, alignment,
  /// execution space instance. Costs speed on rows that would otherwise be read in wide loads.
  bool reproducible = false;
};

/// \}

}  // namespace KokkosSoftmax

#endif
