// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_INKERNEL_HPP
#define KOKKOSSOFTMAX_INKERNEL_HPP

/// \file
/// Calls inside kernels: softmax, log-softmax, log-sum-exp and their backward passes of one row, by
/// one thread, the lanes of one thread's vector, or a team.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_InKernelCalls.hpp>
#include <impl/KokkosSoftmax_InKernelLevels.hpp>

namespace KokkosSoftmax {

/// \defgroup in_kernel_calls Calls inside kernels
/// Softmax, log-softmax, log-sum-exp and their backward passes of one row, called inside your own
/// kernel. Who works on the row is part of the name:
///
/// | name | called by | works on the row |
/// |---|---|---|
/// | `Serial...` | one thread | this thread |
/// | `ThreadVector...` | all lanes of a team's thread | these lanes |
/// | `TeamVector...` | all threads of a team and their lanes | the whole team |
/// | `Team...` | the same | the same |
///
/// \code
///   using KokkosSoftmax::TeamVectorSoftmax;
///   const int bytes = TeamVectorSoftmax::scratch_size(columns, team_size);
///   Kokkos::parallel_for(
///       Kokkos::TeamPolicy<>(exec, rows, team_size, 32).set_scratch_size(0,
///           Kokkos::PerTeam(bytes)),
///       KOKKOS_LAMBDA(const auto& member) {
///         const auto x_row = Kokkos::subview(x, member.league_rank(), Kokkos::ALL);
///         const auto y_row = Kokkos::subview(y, member.league_rank(), Kokkos::ALL);
///         TeamVectorSoftmax::invoke(member, x_row, y_row, {.scale = beta});
///       });
/// \endcode
///
/// The arguments are Views of rank 1, of any layout, in any memory that the kernel can access, also
/// in scratch memory, with extents at run time or at compile time. Value types: those of the
/// functions with an execution space instance. All arguments of a call have the same extent. An
/// output can be an input itself; otherwise it must not overlap it.
///
/// - The result has the bits of the function with the same name and Options::reproducible on the
///   same execution space, whatever the team size and the vector length are, if the kernel is
///   compiled without --use_fast_math.
/// - Nothing is allocated on a device, and nothing is launched. Calls of a team need scratch memory
///   of level 0 (`scratch_size`). Their memory is free again after the call.
/// - Calls of `Serial` and `ThreadVector` can stand in divergent code, such as a TeamThreadRange.
/// - A call of a team waits at barriers of the team, the last of which comes after all of the
///   output is written. The input must be complete before: call `member.team_barrier()` after other
///   threads of the team have written it.
/// - On hosts, one thread of the team computes the row with the vector kernels of the library.
///   Rows of some strides and types use a buffer that each thread allocates at its first such call.
///
/// docs/in_kernels.md describes which call to take, and what it costs.
/// \{

/// The options of calls inside kernels.
struct RowOptions {
  /// Multiplies every entry first, as Options::scale.
  double scale = 1.0;
  /// The result for a row in which every entry is -inf. No effect on log-sum-exps and backward
  /// passes.
  EmptyRows empty_rows = EmptyRows::nan;
};

/// Softmax of one row: y_j = exp(scale * x_j) / sum_k exp(scale * x_k).
/// \tparam Level  who works on the row
template <class Level>
struct SoftmaxOfRow {
  /// Computes the row, in one thread.
  /// \param x        View of rank 1
  /// \param y        View of rank 1 and the extent of x; can be x itself
  /// \param options  scale and empty rows
  /// \return         the log-sum-exp of the row, log(sum_k exp(scale * x_k)), of type double if x
  ///                 is of double, otherwise float; NaN if the row has +inf
  template <class X, class Y>
  requires(Level::is_serial) KOKKOS_INLINE_FUNCTION
      static auto invoke(const X& x, const Y& y, const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_ROW("Softmax", X, Y);
    if constexpr (Impl::can_call_forward<X, Y>)
      return Level::run(Impl::ForwardCall<Impl::Operation::softmax, X, Y>(x, y, options));
  }
  /// Computes the row, in all lanes that the level has. All of them get the result.
  /// \param member   the member of the TeamPolicy that the kernel got
  /// \param x        as in one thread
  /// \param y        as in one thread
  /// \param options  as in one thread
  /// \return         as in one thread
  template <class Member, class X, class Y>
  requires(!Level::is_serial) KOKKOS_INLINE_FUNCTION
      static auto invoke(const Member& member, const X& x, const Y& y,
                         const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_ROW("Softmax", X, Y);
    if constexpr (Impl::can_call_forward<X, Y>)
      return Level::run(member, Impl::ForwardCall<Impl::Operation::softmax, X, Y>(x, y, options));
  }
  /// Returns the bytes of scratch memory of level 0 that a team needs for calls, one after the
  /// other.
  /// \param columns    the extent of x
  /// \param team_size  the team size
  /// \return           a number of bytes for `set_scratch_size(0, Kokkos::PerTeam(bytes))`
  static constexpr std::size_t scratch_size(std::int64_t columns, int team_size) {
    return Level::scratch_size(columns, team_size);
  }
};

/// Log-softmax of one row: y_j = scale * x_j - log(sum_k exp(scale * x_k)).
/// \tparam Level  who works on the row
template <class Level>
struct LogSoftmaxOfRow {
  /// Computes the row, in one thread.
  /// \param x        View of rank 1
  /// \param y        View of rank 1 and the extent of x; can be x itself
  /// \param options  scale and empty rows
  /// \return         the log-sum-exp of the row, as SoftmaxOfRow::invoke
  template <class X, class Y>
  requires(Level::is_serial) KOKKOS_INLINE_FUNCTION
      static auto invoke(const X& x, const Y& y, const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_ROW("LogSoftmax", X, Y);
    if constexpr (Impl::can_call_forward<X, Y>)
      return Level::run(Impl::ForwardCall<Impl::Operation::log_softmax, X, Y>(x, y, options));
  }
  /// Computes the row, in all lanes that the level has. All of them get the result.
  /// \param member   the member of the TeamPolicy that the kernel got
  /// \param x        as in one thread
  /// \param y        as in one thread
  /// \param options  as in one thread
  /// \return         as in one thread
  template <class Member, class X, class Y>
  requires(!Level::is_serial) KOKKOS_INLINE_FUNCTION
      static auto invoke(const Member& member, const X& x, const Y& y,
                         const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_ROW("LogSoftmax", X, Y);
    if constexpr (Impl::can_call_forward<X, Y>)
      return Level::run(member,
                        Impl::ForwardCall<Impl::Operation::log_softmax, X, Y>(x, y, options));
  }
  /// Returns the bytes of scratch memory, as SoftmaxOfRow::scratch_size.
  /// \param columns    the extent of x
  /// \param team_size  the team size
  /// \return           a number of bytes
  static constexpr std::size_t scratch_size(std::int64_t columns, int team_size) {
    return Level::scratch_size(columns, team_size);
  }
};

/// Log-sum-exp of one row: log(sum_k exp(scale * x_k)).
/// \tparam Level  who works on the row
template <class Level>
struct LogSumExpOfRow {
  /// Computes the row, in one thread.
  /// \param x        View of rank 1
  /// \param options  scale
  /// \return         the log-sum-exp, of type double if x is of double, otherwise float; -inf if
  ///                 the row has no columns
  template <class X>
  requires(Level::is_serial) KOKKOS_INLINE_FUNCTION
      static auto invoke(const X& x, const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_INPUT_ROW("LogSumExp", X, "x");
    if constexpr (Impl::can_call_forward<X, X>)
      return Level::run(Impl::LogSumExpCall<X>(x, Impl::NoRow<X>(), options));
  }
  /// Computes the row, in all lanes that the level has. All of them get the result.
  /// \param member   the member of the TeamPolicy that the kernel got
  /// \param x        as in one thread
  /// \param options  as in one thread
  /// \return         as in one thread
  template <class Member, class X>
  requires(!Level::is_serial) KOKKOS_INLINE_FUNCTION
      static auto invoke(const Member& member, const X& x, const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_INPUT_ROW("LogSumExp", X, "x");
    if constexpr (Impl::can_call_forward<X, X>)
      return Level::run(member, Impl::LogSumExpCall<X>(x, Impl::NoRow<X>(), options));
  }
  /// Returns the bytes of scratch memory, as SoftmaxOfRow::scratch_size.
  /// \param columns    the extent of x
  /// \param team_size  the team size
  /// \return           a number of bytes
  static constexpr std::size_t scratch_size(std::int64_t columns, int team_size) {
    return Level::scratch_size(columns, team_size);
  }
};

/// Backward pass of softmax for one row: dx_j = scale * y_j * (dy_j - sum_k y_k * dy_k). An entry
/// with y = 0 has dx = 0, whatever dy is.
/// \tparam Level  who works on the row
template <class Level>
struct SoftmaxBackwardOfRow {
  /// Computes the row, in one thread.
  /// \param y        View of rank 1, the output of softmax
  /// \param dy       View of rank 1, and the extent and the value type of y
  /// \param dx       View as dy; can be y or dy itself
  /// \param options  scale
  template <class Y, class DY, class DX>
  requires(Level::is_serial) KOKKOS_INLINE_FUNCTION
      static void invoke(const Y& y, const DY& dy, const DX& dx, const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_ROW("SoftmaxBackward", Y, "y", DY, DX);
    if constexpr (Impl::can_call_backward<Y, DY, DX>)
      Level::run(Impl::BackwardCall<Impl::BackwardOperation::softmax_backward, Y, DY, DX>(y, dy, dx,
                                                                                          options));
  }
  /// Computes the row, in all lanes that the level has.
  /// \param member   the member of the TeamPolicy that the kernel got
  /// \param y        as in one thread
  /// \param dy       as in one thread
  /// \param dx       as in one thread
  /// \param options  as in one thread
  template <class Member, class Y, class DY, class DX>
  requires(!Level::is_serial) KOKKOS_INLINE_FUNCTION
      static void invoke(const Member& member, const Y& y, const DY& dy, const DX& dx,
                         const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_ROW("SoftmaxBackward", Y, "y", DY, DX);
    if constexpr (Impl::can_call_backward<Y, DY, DX>)
      Level::run(member, Impl::BackwardCall<Impl::BackwardOperation::softmax_backward, Y, DY, DX>(
                             y, dy, dx, options));
  }
  /// Returns the bytes of scratch memory, as SoftmaxOfRow::scratch_size.
  /// \param columns    the extent of y
  /// \param team_size  the team size
  /// \return           a number of bytes
  static constexpr std::size_t scratch_size(std::int64_t columns, int team_size) {
    return Level::scratch_size(columns, team_size);
  }
};

/// Backward pass of log-softmax for one row: dx_j = scale * (dy_j - exp(log_y_j) * sum_k dy_k). An
/// entry with log_y = -inf has dx = 0, whatever dy is.
/// \tparam Level  who works on the row
template <class Level>
struct LogSoftmaxBackwardOfRow {
  /// Computes the row, in one thread.
  /// \param log_y    View of rank 1, the output of log-softmax
  /// \param dy       View of rank 1, and the extent and the value type of log_y
  /// \param dx       View as dy; can be log_y or dy itself
  /// \param options  scale
  template <class LogY, class DY, class DX>
  requires(Level::is_serial) KOKKOS_INLINE_FUNCTION
      static void invoke(const LogY& log_y, const DY& dy, const DX& dx,
                         const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_ROW("LogSoftmaxBackward", LogY, "log_y", DY, DX);
    if constexpr (Impl::can_call_backward<LogY, DY, DX>)
      Level::run(Impl::BackwardCall<Impl::BackwardOperation::log_softmax_backward, LogY, DY, DX>(
          log_y, dy, dx, options));
  }
  /// Computes the row, in all lanes that the level has.
  /// \param member   the member of the TeamPolicy that the kernel got
  /// \param log_y    as in one thread
  /// \param dy       as in one thread
  /// \param dx       as in one thread
  /// \param options  as in one thread
  template <class Member, class LogY, class DY, class DX>
  requires(!Level::is_serial) KOKKOS_INLINE_FUNCTION
      static void invoke(const Member& member, const LogY& log_y, const DY& dy, const DX& dx,
                         const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_ROW("LogSoftmaxBackward", LogY, "log_y", DY, DX);
    if constexpr (Impl::can_call_backward<LogY, DY, DX>)
      Level::run(member,
                 Impl::BackwardCall<Impl::BackwardOperation::log_softmax_backward, LogY, DY, DX>(
                     log_y, dy, dx, options));
  }
  /// Returns the bytes of scratch memory, as SoftmaxOfRow::scratch_size.
  /// \param columns    the extent of log_y
  /// \param team_size  the team size
  /// \return           a number of bytes
  static constexpr std::size_t scratch_size(std::int64_t columns, int team_size) {
    return Level::scratch_size(columns, team_size);
  }
};

/// Backward pass of log-sum-exp for one row: dx_j = scale * dlse * exp(scale * x_j - lse). An entry
/// with scale * x = -inf has dx = 0, whatever dlse is.
/// \tparam Level  who works on the row
template <class Level>
struct LogSumExpBackwardOfRow {
  /// Computes the row, in one thread.
  /// \param x        View of rank 1
  /// \param lse      the log-sum-exp of the row
  /// \param dlse     the derivative of a loss by lse
  /// \param dx       View of rank 1, and the extent and the value type of x; can be x itself
  /// \param options  scale
  template <class X, class DX>
  requires(Level::is_serial) KOKKOS_INLINE_FUNCTION
      static void invoke(const X& x, Impl::RowCompute<X> lse, Impl::RowCompute<X> dlse,
                         const DX& dx, const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_ROW("LogSumExpBackward", X, "x", DX, DX);
    if constexpr (Impl::can_call_backward<X, DX, DX>)
      Level::run(Impl::LogSumExpBackwardCall<X, DX>(x, lse, dlse, dx, options));
  }
  /// Computes the row, in all lanes that the level has.
  /// \param member   the member of the TeamPolicy that the kernel got
  /// \param x        as in one thread
  /// \param lse      as in one thread
  /// \param dlse     as in one thread
  /// \param dx       as in one thread
  /// \param options  as in one thread
  template <class Member, class X, class DX>
  requires(!Level::is_serial) KOKKOS_INLINE_FUNCTION
      static void invoke(const Member& member, const X& x, Impl::RowCompute<X> lse,
                         Impl::RowCompute<X> dlse, const DX& dx, const RowOptions& options = {}) {
    KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_ROW("LogSumExpBackward", X, "x", DX, DX);
    if constexpr (Impl::can_call_backward<X, DX, DX>)
      Level::run(member, Impl::LogSumExpBackwardCall<X, DX>(x, lse, dlse, dx, options));
  }
  /// Returns the bytes of scratch memory, as SoftmaxOfRow::scratch_size.
  /// \param columns    the extent of x
  /// \param team_size  the team size
  /// \return           a number of bytes
  static constexpr std::size_t scratch_size(std::int64_t columns, int team_size) {
    return Level::scratch_size(columns, team_size);
  }
};

/// \name By one thread
/// \{
using SerialSoftmax = SoftmaxOfRow<Impl::SerialLevel>;        ///< softmax by one thread
using SerialLogSoftmax = LogSoftmaxOfRow<Impl::SerialLevel>;  ///< log-softmax by one thread
using SerialLogSumExp = LogSumExpOfRow<Impl::SerialLevel>;    ///< log-sum-exp by one thread
/// backward pass of softmax by one thread
using SerialSoftmaxBackward = SoftmaxBackwardOfRow<Impl::SerialLevel>;
/// backward pass of log-softmax by one thread
using SerialLogSoftmaxBackward = LogSoftmaxBackwardOfRow<Impl::SerialLevel>;
/// backward pass of log-sum-exp by one thread
using SerialLogSumExpBackward = LogSumExpBackwardOfRow<Impl::SerialLevel>;
/// \}

/// \name By the lanes of a team's thread
/// \{
using ThreadVectorSoftmax = SoftmaxOfRow<Impl::ThreadVectorLevel>;  ///< softmax by these lanes
/// log-softmax by these lanes
using ThreadVectorLogSoftmax = LogSoftmaxOfRow<Impl::ThreadVectorLevel>;
/// log-sum-exp by these lanes
using ThreadVectorLogSumExp = LogSumExpOfRow<Impl::ThreadVectorLevel>;
/// backward pass of softmax by these lanes
using ThreadVectorSoftmaxBackward = SoftmaxBackwardOfRow<Impl::ThreadVectorLevel>;
/// backward pass of log-softmax by these lanes
using ThreadVectorLogSoftmaxBackward = LogSoftmaxBackwardOfRow<Impl::ThreadVectorLevel>;
/// backward pass of log-sum-exp by these lanes
using ThreadVectorLogSumExpBackward = LogSumExpBackwardOfRow<Impl::ThreadVectorLevel>;
/// \}

/// \name By a team
/// \{
using TeamVectorSoftmax = SoftmaxOfRow<Impl::TeamLevel>;        ///< softmax by a team
using TeamVectorLogSoftmax = LogSoftmaxOfRow<Impl::TeamLevel>;  ///< log-softmax by a team
using TeamVectorLogSumExp = LogSumExpOfRow<Impl::TeamLevel>;    ///< log-sum-exp by a team
/// backward pass of softmax by a team
using TeamVectorSoftmaxBackward = SoftmaxBackwardOfRow<Impl::TeamLevel>;
/// backward pass of log-softmax by a team
using TeamVectorLogSoftmaxBackward = LogSoftmaxBackwardOfRow<Impl::TeamLevel>;
/// backward pass of log-sum-exp by a team
using TeamVectorLogSumExpBackward = LogSumExpBackwardOfRow<Impl::TeamLevel>;

using TeamSoftmax = TeamVectorSoftmax;        ///< the same as TeamVectorSoftmax
using TeamLogSoftmax = TeamVectorLogSoftmax;  ///< the same as TeamVectorLogSoftmax
using TeamLogSumExp = TeamVectorLogSumExp;    ///< the same as TeamVectorLogSumExp
/// the same as TeamVectorSoftmaxBackward
using TeamSoftmaxBackward = TeamVectorSoftmaxBackward;
/// the same as TeamVectorLogSoftmaxBackward
using TeamLogSoftmaxBackward = TeamVectorLogSoftmaxBackward;
/// the same as TeamVectorLogSumExpBackward
using TeamLogSumExpBackward = TeamVectorLogSumExpBackward;
/// \}

/// \}

}  // namespace KokkosSoftmax

#endif
