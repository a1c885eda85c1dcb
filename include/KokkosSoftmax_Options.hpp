// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_OPTIONS_HPP
#define KOKKOSSOFTMAX_OPTIONS_HPP

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string_view>

/// \file
/// The options of the functions.

namespace KokkosSoftmax {

/// \defgroup options Options
/// The argument `options` of softmax, log_softmax, logsumexp, their backward passes and the plans
/// of these functions, and the values of its members. Other functions have options of their own:
/// CrossEntropyOptions, SegmentOptions and RowOptions. The effect of the options on results,
/// accuracy and errors is specified in docs/semantics.md. The algorithms are described in
/// docs/algorithms.md.
/// \{

/// The result of softmax and log_softmax for a row in which every entry is -inf (its exponentials
/// sum to 0).
enum class EmptyRows {
  nan,  ///< NaN in the whole row, as in SciPy and PyTorch
  zero  ///< 0 (softmax) or -inf (log_softmax) in the whole row
};

/// The algorithm that computes the rows. `automatic` chooses one from the execution space, the
/// types, the extents and the strides. Any other value forces that algorithm, and the call throws
/// std::invalid_argument if the algorithm can't compute the shape.
///
/// A tile is the part of a row that a group of threads holds in registers at one time; scratch is
/// Kokkos' scratch memory of level 0.
enum class Algorithm {
  automatic,        ///< chosen by the library; computes every shape
  packed,           ///< short rows adjacent in memory: staged in scratch, one row per lane
  subgroup,         ///< several rows per team, each in the registers of the lanes of one vector
  fused_registers,  ///< a row in the registers of one team: one read, one write
  fused_scratch,    ///< a row in the registers and scratch of one team: one read, one write
  online,           ///< tile by tile, rescaling (max, sum); the second pass runs backwards
  split,            ///< a row in the registers and scratch of many teams, which exchange (max, sum)
  split_online,     ///< as split, but tile by tile with rescaling, for rows of any length
  cluster,  ///< a row in the registers and shared memory of a thread block cluster (CUDA, compute
            ///< capability 9.0 or later)
  column,   ///< reduction along a strided axis; accesses are coalesced over neighbouring rows
  split_column,  ///< as column, with each row split over many teams, which exchange (max, sum)
  host,          ///< host execution spaces: rows are distributed over threads, wide rows are split
  cluster_column,  ///< as column, with each row in the registers of a thread block cluster (CUDA,
                   ///< compute capability 9.0 or later)
  two_pass_column  ///< as column, in two passes: kernels that reduce parts of rows, and one that
                   ///< writes
};

/// \cond
namespace Impl {

struct AlgorithmName {
  Algorithm algorithm;
  std::string_view name;
};

/// The table of the algorithms, in the order of their values.
/// cmake/KokkosSoftmaxEnumerations.cmake checks that it and the C interface have all of them.
inline constexpr AlgorithmName algorithm_table[] = {
    {Algorithm::automatic, "automatic"},
    {Algorithm::packed, "packed"},
    {Algorithm::subgroup, "subgroup"},
    {Algorithm::fused_registers, "fused_registers"},
    {Algorithm::fused_scratch, "fused_scratch"},
    {Algorithm::online, "online"},
    {Algorithm::split, "split"},
    {Algorithm::split_online, "split_online"},
    {Algorithm::cluster, "cluster"},
    {Algorithm::column, "column"},
    {Algorithm::split_column, "split_column"},
    {Algorithm::host, "host"},
    {Algorithm::cluster_column, "cluster_column"},
    {Algorithm::two_pass_column, "two_pass_column"}};
inline constexpr Algorithm last_algorithm = std::end(algorithm_table)[-1].algorithm;

}  // namespace Impl
/// \endcond

/// Returns the name of an algorithm as it appears in kernel labels and messages.
///
/// \param algorithm  any value
/// \return the enumerator's name, for example "fused_registers"; "unknown" if the value is not an
///         enumerator
constexpr std::string_view to_string(Algorithm algorithm) {
  const auto place = static_cast<std::size_t>(algorithm);
  return place < std::size(Impl::algorithm_table) ? Impl::algorithm_table[place].name : "unknown";
}

/// A set of axes, given as a list: `{.axes = {1, 2}}`.
class Axes {
 public:
  static constexpr int capacity = 8;  ///< the largest rank of a View

  /// Makes an empty set.
  constexpr Axes() = default;

  /// Makes a set of the axes in the list.
  ///
  /// \param axes  the axes; negative values count from the end
  constexpr Axes(std::initializer_list<int> axes) {
    for (const int axis : axes) push_back(axis);
  }

  /// Adds an axis, for sets that are known only at run time. Whether the axes are valid is checked
  /// by the functions that get the set.
  ///
  /// \param axis  the axis; negative values count from the end
  constexpr void push_back(int axis) {
    if (m_size < capacity) m_axes[m_size] = axis;
    ++m_size;
  }

  /// Returns how many axes were given.
  ///
  /// \return the number, which is invalid if it exceeds `capacity`
  constexpr int size() const { return m_size; }

  /// Returns whether no axis was given.
  ///
  /// \return whether the size is 0
  constexpr bool empty() const { return m_size == 0; }

  /// Returns an axis as it was given.
  ///
  /// \param i  its position in the list, less than size() and capacity
  /// \return the axis
  constexpr int operator[](int i) const { return m_axes[i]; }

 private:
  int m_size = 0;
  int m_axes[capacity] = {};
};

/// Options of softmax, log_softmax, logsumexp, their backward passes and the plans of these
/// functions. Options is an aggregate, so a call can name the members that it changes: \code
///   KokkosSoftmax::softmax(exec, x, y, {.axis = 0, .scale = 0.5});
/// \endcode
struct Options {
  /// The axis that is reduced, 0 to rank - 1. Negative values count from the end: -1 is the last
  /// axis.
  int axis = -1;
  /// The function is applied to v = scale * x. The scale and the product are each rounded to the
  /// type of the computation: float for float and the half types, double for double. The scale must
  /// be finite in that type. A temperature T is scale = 1 / T; softmin is scale = -1. A scale of 0
  /// means the limit from above: all finite entries contribute equally, and entries of -inf still
  /// contribute nothing.
  double scale = 1.0;
  /// The result of softmax and log_softmax for a row in which every entry is -inf. logsumexp always
  /// gives -inf for such a row.
  EmptyRows empty_rows = EmptyRows::nan;
  /// The algorithm that computes the rows. It is an error to force an algorithm that can't compute
  /// the shape.
  Algorithm algorithm = Algorithm::automatic;
  /// If true, the result of a row has the same bits regardless of the number of rows, the position
  /// and the alignment of the row, and the execution space instance. This is slower for rows that
  /// would otherwise be read with wide loads.
  bool reproducible = false;
  /// The axes that are reduced together, in place of `axis`. Empty: the one that `axis` names. The
  /// order of the list and axes of extent 1 have no effect. The axes must merge to one: in each
  /// View, one stride must lead from entry to entry of a row (docs/semantics.md).
  Axes axes = {};
};

/// \}

}  // namespace KokkosSoftmax

#endif
