// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_GRADIENTARGS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_GRADIENTARGS_HPP

/// \file
/// The derivatives of operations with one number per row. With the softmax p of a row, the scale s,
/// the label l, the label smoothing e and the number of columns n:
///
///     logsumexp_backward:      dx_j = s * dlse * p_j
///     cross_entropy_backward:  dx_j = s * dloss * (p_j - (1 - e) * [j = l] - e / n)
///
/// with p_j = exp(v_j - lse). So each entry is computed alone, from v_j and numbers of its row.

#include <Kokkos_Core.hpp>
#include <impl/device/row/KokkosSoftmax_BackwardEntry.hpp>
#include <row/GeneralSource.hpp>
#include <row/RowNumbers.hpp>

namespace KokkosSoftmax::Impl {

/// The arguments of a gradient's kernels: those of the source of v, and the numbers of rows.
template <class SourceArguments>
struct GradientArgs : SourceArguments {
  using V = typename SourceArguments::Types;
  using T = typename V::Compute;
  using Problem = GradientProblem<typename V::X>;

  RowNumbers<const T> row_lse;
  RowNumbers<const T> derivative;
  RowLabels labels;
  T factor;    // the scale, of which 0 isn't replaced as it is in RowArgs
  T of_label;  // what the label's entry has less
  T of_all;    // what all entries have less

  KOKKOS_FORCEINLINE_FUNCTION bool has_labels() const { return labels.index.data != nullptr; }

  GradientArgs(const Problem& problem, const Options& options)
      : SourceArguments(problem, options),
        row_lse(problem.row_lse),
        derivative(problem.derivative),
        labels(problem.labels),
        factor(static_cast<T>(options.scale)),
        of_label(static_cast<T>(1 - labels.smoothing)),
        of_all(static_cast<T>(labels.smoothing / static_cast<double>(problem.columns))) {}
};

/// The numbers of a row as they are in memory. A kernel can load them some time before it computes
/// with them.
template <class T>
struct NumbersOfGradientRow {
  T lse;
  T derivative;
  LoadedIndex label;  // if there are labels

  /// The problem has one outer axis.
  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION NumbersOfGradientRow(const Arguments& arguments, std::int64_t r)
      : lse(number_of_row<true>(arguments.problem, arguments.row_lse, r)),
        derivative(number_of_row<true>(arguments.problem, arguments.derivative, r)) {
    const RowLabels& labels = arguments.labels;
    if (arguments.has_labels())
      label =
          LoadedIndex(labels, offset_of_row<true>(arguments.problem, r, labels.index.outer_stride));
  }
};

/// What the entries of a row have in common. X is the type of dx.
template <class X, class T>
class GradientRow {
 public:
  /// All numbers are loaded before one is used: the first use waits for its load. `one_axis`:
  /// whether the problem is known to have one outer axis.
  template <class Arguments, bool one_axis = false>
  KOKKOS_FORCEINLINE_FUNCTION GradientRow(const Arguments& arguments, std::int64_t r,
                                          std::bool_constant<one_axis> = {})
      : lse(number_of_row<one_axis>(arguments.problem, arguments.row_lse, r)) {
    const T derivative = number_of_row<one_axis>(arguments.problem, arguments.derivative, r);
    if (arguments.has_labels())
      set_label(arguments, label_of_row<one_axis>(arguments.problem, arguments.labels, r));
    factor = arguments.factor * derivative;
  }
  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION GradientRow(const Arguments& arguments,
                                          const NumbersOfGradientRow<T>& numbers)
      : lse(numbers.lse), factor(arguments.factor * numbers.derivative) {
    if (arguments.has_labels())
      set_label(arguments, label_of_index(arguments.problem, arguments.labels,
                                          numbers.label.value(arguments.labels)));
  }

  KOKKOS_FORCEINLINE_FUNCTION bool is_ignored() const { return label == NoLabel::ignored; }

  /// dx of an entry with the value v, which is not the label, of a row that isn't ignored. An entry
  /// whose softmax is its target has 0, whatever the factor is, as a masked one.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const { return product(probability(v) - offset); }
  /// The same for an entry that may be the label.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v, bool is_label) const {
    return product((probability(v) - (is_label ? of_label : T(0))) - offset);
  }

  /// What all entries of a row with a label have less.
  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION static T offset_of(const Arguments& arguments, std::int64_t label) {
    return label == NoLabel::invalid ? Kokkos::Experimental::quiet_NaN_v<T> : arguments.of_all;
  }
  /// dx, given by how much the probability is above its target.
  KOKKOS_FORCEINLINE_FUNCTION static T product(T factor, T above) {
    return above == T(0) ? T(0) : factor * above;
  }

  T lse;
  T factor;
  T offset = T(0);
  T of_label = T(0);
  std::int64_t label = none;

 private:
  static constexpr std::int64_t none = -3;

  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION void set_label(const Arguments& arguments, std::int64_t of_row) {
    label = of_row;
    of_label = arguments.of_label;
    offset = offset_of(arguments, label);
  }

  KOKKOS_FORCEINLINE_FUNCTION T product(T above) const { return product(factor, above); }
  KOKKOS_FORCEINLINE_FUNCTION T probability(T v) const { return softmax_from_lse<X>(v, lse); }
};

}  // namespace KokkosSoftmax::Impl

#endif
