// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SEGMENTS_HPP
#define KOKKOSSOFTMAX_SEGMENTS_HPP

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RaggedArguments.hpp>

/// \file
/// Ragged rows: rows of different lengths, one after the other in one vector.

namespace KokkosSoftmax {

/// \defgroup segments Ragged rows
/// The functions for rows of different lengths, such as the neighbours of each vertex of a graph.
/// The entries of all rows lie in one View of rank 1, and `offsets` says where rows begin, as in
/// the CSR format of sparse matrices: row r has the entries offsets(r) to offsets(r + 1) - 1. \code
///   KokkosSoftmax::segment_softmax(exec, scores, offsets, weights);
/// \endcode
/// The offsets are read on the device. They are not checked there: each must be at least as large
/// as the one before, the first one at least 0, and the last one at most the extent of x. Entries
/// outside of all rows are neither read nor written. docs/segments.md describes the functions.
/// \{

/// Options of the functions for ragged rows.
struct SegmentOptions {
  /// The function is applied to v = scale * x, as Options::scale describes it.
  double scale = 1.0;
  /// The result of softmax and log_softmax for a row with entries that are all -inf.
  EmptyRows empty_rows = EmptyRows::nan;
};

/// Computes y_j = exp(v_j - max v) / sum_k exp(v_k - max v) in each row, with v = scale * x.
///
/// Special values are those of softmax. Nothing is written for a row without entries. The same call
/// gives the same bits each time on one device. The bits of a row depend on its place among others.
///
/// The call only enqueues work on exec. It does not fence and uses no other instance. It allocates
/// memory if it needs more than earlier calls on the stream (docs/segments.md).
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Offsets  a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \param exec      execution space instance on which the work is enqueued
/// \param x         View of float, double, half_t or bhalf_t of rank 1, contiguous
/// \param offsets   View of int32_t or int64_t of rank 1, contiguous, with one element per row and
///                  one more
/// \param y         View of the value type of x, or of float if x has a half type, with the extent
///                  of x, contiguous; can be x itself, and must not overlap x in any other way
/// \param options   scale, and what rows of -inf give
/// \throws std::invalid_argument  if the extents of x and y differ, a View isn't contiguous, the
///                  scale is not finite, or y overlaps x without being the same. Nothing has been
///                  written then
template <class Exec, class X, class Offsets, class Y>
requires(!Kokkos::is_view_v<Exec>) void segment_softmax(const Exec& exec, const X& x,
                                                        const Offsets& offsets, const Y& y,
                                                        const SegmentOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENTS("segment_softmax", Exec, X, Offsets, Y);
  Impl::check_and_launch_ragged(exec, Impl::RaggedOperation::softmax, Impl::ragged_input(x),
                                Impl::ragged_input(offsets), Impl::strided_array(y), options.scale,
                                options.empty_rows);
}

/// Computes the same on the default instance of the execution space of y.
///
/// \param x         as with an instance
/// \param offsets   as with an instance
/// \param y         as with an instance
/// \param options   as with an instance
/// \throws std::invalid_argument  as with an instance
template <class X, class Offsets, class Y>
requires(Kokkos::is_view_v<X>) void segment_softmax(const X& x, const Offsets& offsets, const Y& y,
                                                    const SegmentOptions& options = {}) {
  segment_softmax(typename Y::execution_space{}, x, offsets, y, options);
}

/// Computes y_j = v_j - log(sum_k exp(v_k)) in each row, with v = scale * x.
///
/// Special values are those of log_softmax. The rest is as for segment_softmax.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Offsets  a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \param exec      as for segment_softmax
/// \param x         as for segment_softmax
/// \param offsets   as for segment_softmax
/// \param y         as for segment_softmax
/// \param options   as for segment_softmax
/// \throws std::invalid_argument  as segment_softmax
template <class Exec, class X, class Offsets, class Y>
requires(!Kokkos::is_view_v<Exec>) void segment_log_softmax(const Exec& exec, const X& x,
                                                            const Offsets& offsets, const Y& y,
                                                            const SegmentOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENTS("segment_log_softmax", Exec, X, Offsets, Y);
  Impl::check_and_launch_ragged(exec, Impl::RaggedOperation::log_softmax, Impl::ragged_input(x),
                                Impl::ragged_input(offsets), Impl::strided_array(y), options.scale,
                                options.empty_rows);
}

/// Computes the same on the default instance of the execution space of y.
///
/// \param x         as with an instance
/// \param offsets   as with an instance
/// \param y         as with an instance
/// \param options   as with an instance
/// \throws std::invalid_argument  as with an instance
template <class X, class Offsets, class Y>
requires(Kokkos::is_view_v<X>) void segment_log_softmax(const X& x, const Offsets& offsets,
                                                        const Y& y,
                                                        const SegmentOptions& options = {}) {
  segment_log_softmax(typename Y::execution_space{}, x, offsets, y, options);
}

/// Computes lse_r = log(sum_j exp(v_j)) of each row, with v = scale * x.
///
/// Special values are those of logsumexp. A row without entries has -inf. Results near 0 keep their
/// digits, as those of logsumexp. `empty_rows` has no effect. The rest is as for segment_softmax.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Offsets  a Kokkos::View
/// \tparam Lse      a Kokkos::View
/// \param exec      as for segment_softmax
/// \param x         as for segment_softmax
/// \param offsets   as for segment_softmax
/// \param lse       View of double if x is of double, otherwise of float, of rank 1, contiguous,
///                  with one element per row; must not overlap x
/// \param options   the scale
/// \throws std::invalid_argument  if lse hasn't one element per row, a View isn't contiguous, the
///                  scale is not finite, or lse overlaps x. Nothing has been written then
template <class Exec, class X, class Offsets, class Lse>
requires(!Kokkos::is_view_v<Exec>) void segment_logsumexp(const Exec& exec, const X& x,
                                                          const Offsets& offsets, const Lse& lse,
                                                          const SegmentOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_NUMBERS("segment_logsumexp", Exec, X, Offsets, "lse", Lse,
                                           value_type);
  Impl::check_and_launch_ragged_numbers(exec, Impl::ragged_input(x), Impl::ragged_input(offsets),
                                        Impl::strided_array(lse), options.scale);
}

/// Computes the same on the default instance of the execution space of lse.
///
/// \param x         as with an instance
/// \param offsets   as with an instance
/// \param lse       as with an instance
/// \param options   as with an instance
/// \throws std::invalid_argument  as with an instance
template <class X, class Offsets, class Lse>
requires(Kokkos::is_view_v<X>) void segment_logsumexp(const X& x, const Offsets& offsets,
                                                      const Lse& lse,
                                                      const SegmentOptions& options = {}) {
  segment_logsumexp(typename Lse::execution_space{}, x, offsets, lse, options);
}

/// Computes dx_j = scale * y_j * (dy_j - sum_k y_k * dy_k) in each row: the derivative of a loss by
/// the input x of segment_softmax(x, offsets, y) with the same scale. Special values are those of
/// softmax_backward. The rest is as for segment_softmax.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam Y        a Kokkos::View
/// \tparam DY       a Kokkos::View
/// \tparam Offsets  a Kokkos::View
/// \tparam DX       a Kokkos::View
/// \param exec      as for segment_softmax
/// \param y         View of float, double, half_t or bhalf_t of rank 1, contiguous: the output of
///                  segment_softmax
/// \param dy        View of the value type and the extent of y, contiguous: the derivative of the
///                  loss by y
/// \param offsets   as for segment_softmax
/// \param dx        View of the value type and the extent of y, contiguous; can be y or dy itself,
///                  and must not overlap them in any other way
/// \param options   the scale; `empty_rows` has no effect
/// \throws std::invalid_argument  as segment_softmax
template <class Exec, class Y, class DY, class Offsets, class DX>
requires(!Kokkos::is_view_v<Exec>) void segment_softmax_backward(
    const Exec& exec, const Y& y, const DY& dy, const Offsets& offsets, const DX& dx,
    const SegmentOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENTS_BACKWARD("segment_softmax_backward", Exec, Y, "y", DY, Offsets,
                                             DX);
  Impl::check_and_launch_ragged_backward(
      exec, Impl::RaggedOperation::softmax_backward, "y", Impl::ragged_input(y),
      Impl::ragged_input(dy), Impl::ragged_input(offsets), Impl::strided_array(dx), options.scale);
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param y         as with an instance
/// \param dy        as with an instance
/// \param offsets   as with an instance
/// \param dx        as with an instance
/// \param options   as with an instance
/// \throws std::invalid_argument  as with an instance
template <class Y, class DY, class Offsets, class DX>
requires(Kokkos::is_view_v<Y>) void segment_softmax_backward(const Y& y, const DY& dy,
                                                             const Offsets& offsets, const DX& dx,
                                                             const SegmentOptions& options = {}) {
  segment_softmax_backward(typename DX::execution_space{}, y, dy, offsets, dx, options);
}

/// Computes dx_j = scale * (dy_j - exp(log_y_j) * sum_k dy_k) in each row: the derivative of a loss
/// by the input x of segment_log_softmax(x, offsets, log_y) with the same scale. Special values are
/// those of log_softmax_backward. The rest is as for segment_softmax.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam LogY     a Kokkos::View
/// \tparam DY       a Kokkos::View
/// \tparam Offsets  a Kokkos::View
/// \tparam DX       a Kokkos::View
/// \param exec      as for segment_softmax
/// \param log_y     View of float, double, half_t or bhalf_t of rank 1, contiguous: the output of
///                  segment_log_softmax
/// \param dy        as for segment_softmax_backward
/// \param offsets   as for segment_softmax
/// \param dx        as for segment_softmax_backward
/// \param options   the scale; `empty_rows` has no effect
/// \throws std::invalid_argument  as segment_softmax
template <class Exec, class LogY, class DY, class Offsets, class DX>
requires(!Kokkos::is_view_v<Exec>) void segment_log_softmax_backward(
    const Exec& exec, const LogY& log_y, const DY& dy, const Offsets& offsets, const DX& dx,
    const SegmentOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENTS_BACKWARD("segment_log_softmax_backward", Exec, LogY, "log_y",
                                             DY, Offsets, DX);
  Impl::check_and_launch_ragged_backward(
      exec, Impl::RaggedOperation::log_softmax_backward, "log_y", Impl::ragged_input(log_y),
      Impl::ragged_input(dy), Impl::ragged_input(offsets), Impl::strided_array(dx), options.scale);
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param log_y     as with an instance
/// \param dy        as with an instance
/// \param offsets   as with an instance
/// \param dx        as with an instance
/// \param options   as with an instance
/// \throws std::invalid_argument  as with an instance
template <class LogY, class DY, class Offsets, class DX>
requires(Kokkos::is_view_v<LogY>) void segment_log_softmax_backward(
    const LogY& log_y, const DY& dy, const Offsets& offsets, const DX& dx,
    const SegmentOptions& options = {}) {
  segment_log_softmax_backward(typename DX::execution_space{}, log_y, dy, offsets, dx, options);
}

/// Computes dx_j = scale * dlse_r * exp(v_j - lse_r) in each row r, with v = scale * x: the
/// derivative of a loss by the input x of segment_logsumexp(x, offsets, lse) with the same scale.
/// Special values are those of logsumexp_backward. The rest is as for segment_softmax.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Lse      a Kokkos::View
/// \tparam DLse     a Kokkos::View
/// \tparam Offsets  a Kokkos::View
/// \tparam DX       a Kokkos::View
/// \param exec      as for segment_softmax
/// \param x         View of float, double, half_t or bhalf_t of rank 1, contiguous
/// \param lse       View of double if x is of double, otherwise of float, of rank 1, contiguous,
///                  with one element per row: the output of segment_logsumexp
/// \param dlse      View of the value type of lse, of rank 1, contiguous, with one element per row:
///                  the derivative of the loss by lse
/// \param offsets   as for segment_softmax
/// \param dx        View of the value type and the extent of x, contiguous; can be x itself, and
///                  must not overlap x in any other way, nor lse or dlse
/// \param options   the scale; `empty_rows` has no effect
/// \throws std::invalid_argument  as segment_softmax, and if lse or dlse hasn't one element per row
template <class Exec, class X, class Lse, class DLse, class Offsets, class DX>
requires(!Kokkos::is_view_v<Exec>) void segment_logsumexp_backward(
    const Exec& exec, const X& x, const Lse& lse, const DLse& dlse, const Offsets& offsets,
    const DX& dx, const SegmentOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_NUMBERS("segment_logsumexp_backward", Exec, X, Offsets, "lse",
                                           Lse, non_const_value_type);
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_NUMBERS("segment_logsumexp_backward", Exec, X, Offsets, "dlse",
                                           DLse, non_const_value_type);
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENTS_BACKWARD("segment_logsumexp_backward", Exec, X, "x", X, Offsets,
                                             DX);
  Impl::check_and_launch_ragged_gradient(exec, Impl::ragged_input(x), Impl::ragged_input(lse),
                                         Impl::ragged_input(dlse), Impl::ragged_input(offsets),
                                         Impl::strided_array(dx), options.scale);
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param x         as with an instance
/// \param lse       as with an instance
/// \param dlse      as with an instance
/// \param offsets   as with an instance
/// \param dx        as with an instance
/// \param options   as with an instance
/// \throws std::invalid_argument  as with an instance
template <class X, class Lse, class DLse, class Offsets, class DX>
requires(Kokkos::is_view_v<X>) void segment_logsumexp_backward(const X& x, const Lse& lse,
                                                               const DLse& dlse,
                                                               const Offsets& offsets, const DX& dx,
                                                               const SegmentOptions& options = {}) {
  segment_logsumexp_backward(typename DX::execution_space{}, x, lse, dlse, offsets, dx, options);
}

/// \}

}  // namespace KokkosSoftmax

#endif
