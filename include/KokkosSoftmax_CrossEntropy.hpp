// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_CROSSENTROPY_HPP
#define KOKKOSSOFTMAX_CROSSENTROPY_HPP

#include <KokkosSoftmax_Options.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_LossArguments.hpp>

/// \file
/// The cross entropy of a softmax and labels, and its backward pass.

namespace KokkosSoftmax {

/// \defgroup cross_entropy Cross entropy
/// The loss of classification: the negative logarithm of the probability that softmax gives to the
/// label of a row. The probabilities are not stored.
/// \code
///   Kokkos::View<float**> x("x", m, n), dx("dx", m, n);
///   Kokkos::View<int*> labels("labels", m);  // from 0 to n - 1
///   Kokkos::View<float*> loss("loss", m), lse("lse", m), dloss("dloss", m);
///   KokkosSoftmax::cross_entropy(exec, x, labels, loss, lse);
///   // ... dloss = the derivative of the whole by each loss: 1.0f / m for their mean ...
///   KokkosSoftmax::cross_entropy_backward(exec, x, labels, lse, dloss, dx);
/// \endcode
/// \{

/// The options of cross_entropy and cross_entropy_backward.
struct CrossEntropyOptions {
  /// The axis of the classes; negative values count from the end.
  int axis = -1;
  /// The function is applied to v = scale * x, see Options::scale.
  double scale = 1.0;
  /// Rows with this label count for nothing: their loss is 0, and so is their dx, even if x is NaN
  /// there. The default is that of PyTorch.
  std::int64_t ignore_index = -100;
  /// The part of the probability that is spread evenly over all classes, from 0 to 1: the loss is
  /// computed for the target (1 - label_smoothing) * [j = label] + label_smoothing / n (Szegedy et
  /// al., https://arxiv.org/abs/1512.00567, section 7).
  double label_smoothing = 0;
  /// The algorithm of cross_entropy, see Options::algorithm.
  Algorithm algorithm = Algorithm::automatic;
  /// See Options::reproducible.
  bool reproducible = false;
};

/// \cond
namespace Impl {
inline Options options_of(const CrossEntropyOptions& options) {
  return {.axis = options.axis,
          .scale = options.scale,
          .algorithm = options.algorithm,
          .reproducible = options.reproducible};
}
}  // namespace Impl
/// \endcond

/// Computes loss_i = log(sum_k exp(v_ik)) - v_il along `options.axis`, with v = scale * x and the
/// label l of row i. With label smoothing e and n classes, it is log(sum_k exp(v_ik)) - (1 - e) *
/// v_il - e / n * sum_k v_ik.
///
/// The loss of a row is 0 if its label is `options.ignore_index`, and NaN if its label is neither
/// that nor from 0 to n - 1, or if the row has a NaN or +inf. It is +inf if the entry of the label
/// is -inf. The maximum is subtracted before the logarithm of the sum is added, so that a small
/// loss has no error of the size of v. The error bounds are in docs/cross_entropy.md.
///
/// The call only enqueues one kernel on exec. It does not fence and uses no other instance. Nothing
/// is allocated, except a buffer per thread on hosts.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Labels   a Kokkos::View
/// \tparam Loss     a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 8, any layout
/// \param labels   View of std::int32_t or std::int64_t, any layout, with the extents of x without
///                 the axis
/// \param loss     View of double if x is of double, otherwise of float, any layout, with the
///                 extents of labels; must not overlap x or labels
/// \param options  axis, scale, ignored label, label smoothing, forced algorithm, reproducibility
/// \throws std::invalid_argument  if the extents don't match, the axis is out of range, the scale
///                 is not finite, the label smoothing is not in [0, 1], loss overlaps an input, or
///                 the forced algorithm can't compute this shape. Nothing has been written then
template <class Exec, class X, class Labels, class Loss>
requires(!Kokkos::is_view_v<Exec>) void cross_entropy(const Exec& exec, const X& x,
                                                      const Labels& labels, const Loss& loss,
                                                      const CrossEntropyOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_X("cross_entropy", Exec, X);
  KOKKOSSOFTMAX_IMPL_CHECK_LABELS("cross_entropy", Exec, X, Labels);
  KOKKOSSOFTMAX_IMPL_CHECK_ONE_AXIS_NUMBERS("cross_entropy", Exec, X, "loss", Loss, value_type);
  Impl::check_and_launch_loss<Impl::LossOperation::cross_entropy>(
      exec, Impl::input_array<typename X::non_const_value_type>(x),
      Impl::label_arrays(labels, options), Impl::output_array<Impl::RowValueOf<X>>(loss), {},
      Impl::options_of(options));
}

/// Computes the same on the default instance of the execution space of loss.
///
/// \param x        as for cross_entropy with an instance
/// \param labels   as for cross_entropy with an instance
/// \param loss     as for cross_entropy with an instance
/// \param options  as for cross_entropy with an instance
/// \throws std::invalid_argument  as cross_entropy with an instance
template <class X, class Labels, class Loss>
void cross_entropy(const X& x, const Labels& labels, const Loss& loss,
                   const CrossEntropyOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_CROSS_ENTROPY_VIEWS("x, labels and loss", X, Labels, Loss);
  if constexpr (Impl::are_views<X, Labels, Loss>)
    cross_entropy(typename Loss::execution_space{}, x, labels, loss, options);
}

/// Computes the same, and writes the log-sum-exp of each row in the same kernel:
/// cross_entropy_backward() needs it.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Labels   a Kokkos::View
/// \tparam Loss     a Kokkos::View
/// \tparam Lse      a Kokkos::View
/// \param exec     as for cross_entropy without lse
/// \param x        as for cross_entropy without lse
/// \param labels   as for cross_entropy without lse
/// \param loss     as for cross_entropy without lse
/// \param lse      View of the value type and the extents of loss, any layout; gets log(sum_k
///                 exp(v_ik)) of each row, also of ignored ones; must not overlap x, labels or loss
/// \param options  as for cross_entropy without lse
/// \throws std::invalid_argument  as cross_entropy without lse
template <class Exec, class X, class Labels, class Loss, class Lse>
requires(!Kokkos::is_view_v<Exec>) void cross_entropy(const Exec& exec, const X& x,
                                                      const Labels& labels, const Loss& loss,
                                                      const Lse& lse,
                                                      const CrossEntropyOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_X("cross_entropy", Exec, X);
  KOKKOSSOFTMAX_IMPL_CHECK_LABELS("cross_entropy", Exec, X, Labels);
  KOKKOSSOFTMAX_IMPL_CHECK_ONE_AXIS_NUMBERS("cross_entropy", Exec, X, "loss", Loss, value_type);
  KOKKOSSOFTMAX_IMPL_CHECK_ONE_AXIS_NUMBERS("cross_entropy", Exec, X, "lse", Lse, value_type);
  using RowValue = Impl::RowValueOf<X>;
  Impl::check_and_launch_loss<Impl::LossOperation::cross_entropy>(
      exec, Impl::input_array<typename X::non_const_value_type>(x),
      Impl::label_arrays(labels, options), Impl::output_array<RowValue>(loss),
      std::optional(Impl::output_array<RowValue>(lse)), Impl::options_of(options));
}

/// Computes the same on the default instance of the execution space of loss. The first argument
/// must be a View: otherwise a call with an instance and without lse could be this one.
///
/// \param x        as for cross_entropy with an instance
/// \param labels   as for cross_entropy with an instance
/// \param loss     as for cross_entropy with an instance
/// \param lse      as for cross_entropy with an instance
/// \param options  as for cross_entropy with an instance
/// \throws std::invalid_argument  as cross_entropy with an instance
template <class X, class Labels, class Loss, class Lse>
requires(Kokkos::is_view_v<X>) void cross_entropy(const X& x, const Labels& labels,
                                                  const Loss& loss, const Lse& lse,
                                                  const CrossEntropyOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_CROSS_ENTROPY_VIEWS("x, labels, loss and lse", X, Labels, Loss);
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("cross_entropy", "x, labels, loss and lse", "lse", Lse);
  if constexpr (Impl::are_views<X, Labels, Loss, Lse>)
    cross_entropy(typename Loss::execution_space{}, x, labels, loss, lse, options);
}

/// Computes dx_ij = scale * dloss_i * (exp(v_ij - lse_i) - (1 - e) * [j = l] - e / n): the
/// derivative by x of a function with the derivatives dloss by the losses of cross_entropy(), with
/// the same labels and options.
///
/// dx is 0 in a row whose label is `options.ignore_index`, and NaN in a row whose label is neither
/// that nor from 0 to n - 1. The softmax is computed from x and lse, so it has no memory of its
/// own.
///
/// The call only enqueues one kernel on exec. It does not fence and uses no other instance. Nothing
/// is allocated, except a buffer per thread on hosts.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Labels   a Kokkos::View
/// \tparam Lse      a Kokkos::View
/// \tparam DLoss    a Kokkos::View
/// \tparam DX       a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 8, any layout
/// \param labels   as for cross_entropy
/// \param lse      the log-sum-exp of each row, as cross_entropy writes it
/// \param dloss    View of the value type and the extents of lse, any layout
/// \param dx       View of the extents and the value type of x, any layout; can be x itself, and
///                 must not overlap x in any other way, nor labels, lse or dloss
/// \param options  axis, scale, ignored label, label smoothing. Results are always reproducible
/// \throws std::invalid_argument  as cross_entropy, and if an algorithm is forced: there is one
template <class Exec, class X, class Labels, class Lse, class DLoss, class DX>
requires(!Kokkos::is_view_v<Exec>) void cross_entropy_backward(
    const Exec& exec, const X& x, const Labels& labels, const Lse& lse, const DLoss& dloss,
    const DX& dx, const CrossEntropyOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_X("cross_entropy_backward", Exec, X);
  KOKKOSSOFTMAX_IMPL_CHECK_LABELS("cross_entropy_backward", Exec, X, Labels);
  KOKKOSSOFTMAX_IMPL_CHECK_ONE_AXIS_NUMBERS("cross_entropy_backward", Exec, X, "lse", Lse,
                                            non_const_value_type);
  KOKKOSSOFTMAX_IMPL_CHECK_ONE_AXIS_NUMBERS("cross_entropy_backward", Exec, X, "dloss", DLoss,
                                            non_const_value_type);
  KOKKOSSOFTMAX_IMPL_CHECK_DX("cross_entropy_backward", Exec, X, DX);
  using T = typename X::non_const_value_type;
  using RowValue = Impl::RowValueOf<X>;
  const Impl::LabelArrays arrays = Impl::label_arrays(labels, options);
  Impl::check_and_launch_gradient<Impl::GradientOperation::cross_entropy_backward>(
      exec, Impl::input_array<T>(x), Impl::input_array<RowValue>(lse), "dloss",
      Impl::input_array<RowValue>(dloss), &arrays, Impl::InputArrays<const T, RowValue>{},
      Impl::output_array<T>(dx), Impl::options_of(options));
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param x        as for cross_entropy_backward with an instance
/// \param labels   as for cross_entropy_backward with an instance
/// \param lse      as for cross_entropy_backward with an instance
/// \param dloss    as for cross_entropy_backward with an instance
/// \param dx       as for cross_entropy_backward with an instance
/// \param options  as for cross_entropy_backward with an instance
/// \throws std::invalid_argument  as cross_entropy_backward with an instance
template <class X, class Labels, class Lse, class DLoss, class DX>
void cross_entropy_backward(const X& x, const Labels& labels, const Lse& lse, const DLoss& dloss,
                            const DX& dx, const CrossEntropyOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_CROSS_ENTROPY_BACKWARD_VIEWS(X, Labels, Lse, DLoss, DX);
  if constexpr (Impl::are_views<X, Labels, Lse, DLoss, DX>)
    cross_entropy_backward(typename DX::execution_space{}, x, labels, lse, dloss, dx, options);
}

/// \}

}  // namespace KokkosSoftmax

#endif
