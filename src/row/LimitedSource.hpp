// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_LIMITEDSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_LIMITEDSOURCE_HPP

/// \file
/// The source of calls whose only operands are lengths and a causal limit. Of such a row, the first
/// columns are visible, and the others are masked. So a kernel computes a shorter row without
/// operands, and fills the rest of y.

#include <row/GeneralSource.hpp>
#include <row/Source.hpp>

namespace KokkosSoftmax::Impl {

/// v = scale * x for the visible columns, see GeneralArgs::visible_columns(). The arguments are
/// those of GeneralSource, so that both sources serve the same problems.
template <class V>
class LimitedSource : public ScaledSource<GeneralArgs<V>> {
 public:
  using Arguments = GeneralArgs<V>;
  static constexpr bool limits_rows = true;

  using ScaledSource<Arguments>::ScaledSource;

  /// Whether the source gives the values of a problem.
  static bool serves(const Arguments& arguments) {
    return arguments.inputs.limits_alone && !arguments.product_is_zero;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
