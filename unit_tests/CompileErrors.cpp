// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that must not compile, each for a different reason. check_compile_errors.cmake looks for
// the sentences of the static_asserts in the output of the compiler. Without
// KOKKOSSOFTMAX_TEST_WRONG_CALLS the file must compile, which shows that the errors come from these
// calls.

#include <KokkosSoftmax.hpp>

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
template <class Data>
using View = Kokkos::View<Data, Kokkos::LayoutRight, Exec>;

/// A memory that no host can access.
struct FarSpace {
  using memory_space = FarSpace;
  using execution_space = Exec;
  using device_type = Kokkos::Device<Exec, FarSpace>;
  using size_type = std::size_t;
  static constexpr const char* name() { return "Far"; }
};
template <class Data>
using FarView = Kokkos::View<Data, FarSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

void calls(const View<double**>& x, const View<double**>& y, const View<double*>& lse,
           const View<Kokkos::Experimental::half_t**>& half) {
  KokkosSoftmax::softmax(Exec{}, x, y);
  KokkosSoftmax::logsumexp(Exec{}, x, lse);
  KokkosSoftmax::logsumexp_both_axes(Exec{}, x, lse, lse);
  KokkosSoftmax::logsumexp_both_axes(View<const double**>(x), lse, lse, 2.0);
  const View<int*> offsets("offsets", 2);
  KokkosSoftmax::segment_softmax(Exec{}, lse, offsets, lse);
  KokkosSoftmax::segment_log_softmax(View<const double*>(lse), View<const std::int64_t*>(), lse,
                                     {.scale = 2.0});
  KokkosSoftmax::segment_logsumexp(lse, offsets, lse);
  KokkosSoftmax::segment_softmax_backward(lse, lse, offsets, lse);
  KokkosSoftmax::segment_log_softmax_backward(Exec{}, lse, lse, offsets, lse);
  KokkosSoftmax::segment_logsumexp_backward(lse, lse, lse, offsets, lse);
  KokkosSoftmax::plan_logsumexp(Exec{}, x, lse).execute(x, lse);
  const KokkosSoftmax::Options options{.axis = 0};
  KokkosSoftmax::softmax(x, y, {.axes = {0, -1}});
  KokkosSoftmax::logsumexp(Exec{}, x, View<double>("lse"), {.scale = 2.0, .axes = {0, 1}});
  KokkosSoftmax::log_softmax(x, y, options);
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands{.lse = lse});
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands{.max = lse});
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands{.lse = lse, .max = lse});
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands<View<double*>>{.lse = lse});
  KokkosSoftmax::plan_logsumexp(x, lse, {.scale = 2.0}).execute(x, lse);
  KokkosSoftmax::softmax(Exec{}, half, half);
  KokkosSoftmax::log_softmax(Exec{}, half, View<float**>("y", 1, 1));
  const View<bool*> mask("mask", 1);
  const View<int*> lengths("lengths", 1);
  using KokkosSoftmax::Operands;
  KokkosSoftmax::softmax(x, y, options, Operands{.bias = lse});
  KokkosSoftmax::softmax(x, y, options, Operands{.lse = lse, .bias = View<const double**>(x)});
  KokkosSoftmax::log_softmax(x, y, options, Operands{.mask = View<unsigned char>("mask")});
  KokkosSoftmax::logsumexp(x, lse, options, Operands{.mask = mask, .lengths = lengths});
  KokkosSoftmax::logsumexp(
      Exec{}, lse, View<double>("lse"), {},
      Operands{.lengths = View<const std::int64_t>(View<std::int64_t>("length"))});
  KokkosSoftmax::plan_logsumexp(Exec{}, x, lse, {}, Operands{.causal = KokkosSoftmax::Causal{}})
      .execute(x, lse, Operands{.causal = KokkosSoftmax::Causal{.offset = 1}});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.row_bias = lse, .weights = x});
  KokkosSoftmax::logsumexp(x, lse, options, Operands{.weights = lse, .sign = lse});
  KokkosSoftmax::plan_logsumexp(Exec{}, x, lse, {}, Operands{.weights = x})
      .execute(x, lse, Operands{.weights = x});
  KokkosSoftmax::softmax(Exec{}, half, half, options, Operands{.bias = half});
  KokkosSoftmax::softmax(Exec{}, half, half, options, Operands{.bias = View<float*>("bias", 1)});
  KokkosSoftmax::softmax_backward(Exec{}, View<const double**>(y), x, x);
  KokkosSoftmax::log_softmax_backward(y, View<const double**>(x), x, options);
  KokkosSoftmax::plan_softmax_backward(Exec{}, y, x, x, options).execute(y, x, x);
  KokkosSoftmax::plan_log_softmax_backward(half, half, half).execute(half, half, half);
  const View<std::int64_t*> labels("labels", 1);
  const View<float*> of_half("of_half", 1);
  const KokkosSoftmax::CrossEntropyOptions loss_options{.axis = 0};
  using KokkosSoftmax::cross_entropy, KokkosSoftmax::cross_entropy_backward,
      KokkosSoftmax::logsumexp_backward;
  cross_entropy(Exec{}, x, lengths, lse);
  cross_entropy(Exec{}, x, View<const int*>(lengths), lse, loss_options);
  cross_entropy(Exec{}, half, labels, of_half, of_half);
  cross_entropy(Exec{}, View<const double**>(x), labels, lse, lse, {.axis = 0});
  cross_entropy(x, labels, lse);
  cross_entropy(x, labels, lse, {.label_smoothing = 0.1});
  cross_entropy(x, labels, lse, loss_options);
  cross_entropy(x, labels, lse, lse);
  cross_entropy(x, labels, lse, lse, loss_options);
  cross_entropy(lse, View<int>("label"), View<double>("loss"), View<double>("lse"));
  cross_entropy_backward(Exec{}, x, labels, View<const double*>(lse), lse, x);
  cross_entropy_backward(x, lengths, lse, lse, x, loss_options);
  cross_entropy_backward(half, lengths, of_half, of_half, half);
  logsumexp_backward(Exec{}, x, lse, View<const double*>(lse), x);
  logsumexp_backward(half, of_half, of_half, half, {.axis = 0});
  logsumexp_backward(Exec{}, x, lse, lse, x, options, Operands{.bias = x, .mask = mask});
  logsumexp_backward(x, lse, lse, x, options, Operands{.lengths = lengths});
  KokkosSoftmax::SerialSoftmax::invoke(View<const double*>(lse), lse, {.scale = 2.0});
  KokkosSoftmax::SerialLogSumExp::invoke(lse);
  KokkosSoftmax::SerialLogSumExpBackward::invoke(of_half, 1, 1, of_half);
#ifdef KOKKOSSOFTMAX_TEST_WRONG_CALLS
  KokkosSoftmax::softmax(Exec{}, View<int**>("x", 1, 1), y);
  KokkosSoftmax::softmax(Exec{}, x, View<float**>("y", 1, 1));
  KokkosSoftmax::log_softmax(Exec{}, x, View<const double**>(y));
  KokkosSoftmax::log_softmax(Exec{}, x, lse);
  KokkosSoftmax::logsumexp(Exec{}, x, y);
  KokkosSoftmax::logsumexp(Exec{}, View<double>(), View<double>());
  KokkosSoftmax::softmax(1.0, x, y);
  KokkosSoftmax::plan_softmax(Exec{}, x, lse);
  KokkosSoftmax::plan_logsumexp(Exec{}, x, View<float*>("lse", 1));
  KokkosSoftmax::plan_log_softmax(Exec{}, half, y);
  KokkosSoftmax::softmax(x.data(), y);
  KokkosSoftmax::log_softmax(x, y.data(), options);
  KokkosSoftmax::logsumexp(Exec{}, lse, {.axis = 0});
  KokkosSoftmax::plan_softmax(Exec{}, y);
  KokkosSoftmax::plan_logsumexp(x, 1.0, options);
  KokkosSoftmax::softmax(Exec{}, x, y, options,
                         KokkosSoftmax::Operands{.lse = View<float*>("lse", 1)});
  KokkosSoftmax::log_softmax(Exec{}, x, y, options, KokkosSoftmax::Operands{.lse = y});
  KokkosSoftmax::softmax(Exec{}, x, y, options,
                         KokkosSoftmax::Operands{.lse = lse, .max = View<float*>("max", 1)});
  KokkosSoftmax::log_softmax(Exec{}, x, y, options, KokkosSoftmax::Operands{.max = 1.0});
  KokkosSoftmax::log_softmax(Exec{}, x, y, options, Operands{.bias = 1.0});
  KokkosSoftmax::softmax(Exec{}, x, y, options, Operands{.bias = View<float*>("bias", 1)});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.bias = View<double***>()});
  KokkosSoftmax::softmax(Exec{}, x, y, options, Operands{.bias = FarView<double*>()});
  KokkosSoftmax::log_softmax(Exec{}, x, y, options, Operands{.mask = true});
  KokkosSoftmax::softmax(Exec{}, x, y, options, Operands{.mask = View<float*>("mask", 1)});
  KokkosSoftmax::log_softmax(Exec{}, x, y, options, Operands{.mask = View<bool***>()});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.mask = FarView<bool*>()});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.lengths = 3});
  KokkosSoftmax::softmax(Exec{}, x, y, options, Operands{.lengths = View<float*>("lengths", 1)});
  KokkosSoftmax::log_softmax(Exec{}, x, y, options, Operands{.lengths = View<int**>()});
  KokkosSoftmax::softmax(Exec{}, x, y, options, Operands{.lengths = FarView<int*>()});
  KokkosSoftmax::softmax(Exec{}, x, y, options, Operands{.causal = 1});
  KokkosSoftmax::log_softmax(Exec{}, lse, lse, {}, Operands{.causal = KokkosSoftmax::Causal{}});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.lse = lse, .mask = mask});
  KokkosSoftmax::plan_logsumexp(Exec{}, x, lse, options, Operands{.max = lse});
  KokkosSoftmax::plan_softmax(Exec{}, x, y, options, Operands{.mask = View<double*>("mask", 1)});
  KokkosSoftmax::softmax(Exec{}, x, y, options, Operands{.row_bias = x});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options,
                           Operands{.row_bias = View<float*>("row_bias", 1)});
  KokkosSoftmax::log_softmax(Exec{}, x, y, options, Operands{.weights = x});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.weights = 1.0});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options,
                           Operands{.weights = View<float*>("weights", 1)});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.mask = mask, .sign = lse});
  KokkosSoftmax::logsumexp(Exec{}, x, lse, options, Operands{.weights = x, .sign = x});
  KokkosSoftmax::plan_logsumexp(Exec{}, x, lse, options,
                                Operands{.weights = x, .sign = View<float*>("sign", 1)});
  logsumexp_backward(Exec{}, x, lse, lse, x, options, Operands{.weights = x});
  KokkosSoftmax::softmax_backward(1.0, y, x, x);
  KokkosSoftmax::softmax_backward(Exec{}, View<double>(), x, x);
  KokkosSoftmax::log_softmax_backward(Exec{}, View<int**>("y", 1, 1), x, x);
  KokkosSoftmax::log_softmax_backward(Exec{}, FarView<double**>(), x, x);
  KokkosSoftmax::softmax_backward(Exec{}, y, lse, x);
  KokkosSoftmax::softmax_backward(Exec{}, y, View<float**>("dy", 1, 1), x);
  KokkosSoftmax::log_softmax_backward(Exec{}, y, FarView<double**>(), x);
  KokkosSoftmax::log_softmax_backward(Exec{}, y, x, View<const double**>(x));
  KokkosSoftmax::softmax_backward(Exec{}, y, x, FarView<double**>());
  KokkosSoftmax::softmax_backward(Exec{}, y, 1.0, x);
  KokkosSoftmax::softmax_backward(Exec{}, y, x);
  KokkosSoftmax::log_softmax_backward(Exec{}, y, x, {.axis = 0});
  KokkosSoftmax::log_softmax_backward(y, x.data(), x, options);
  KokkosSoftmax::softmax_backward(y, x, options);
  KokkosSoftmax::plan_softmax_backward(Exec{}, y, x, lse);
  KokkosSoftmax::plan_softmax_backward(y.data(), x, x);
  KokkosSoftmax::plan_log_softmax_backward(Exec{}, lse, lse, View<float*>("dx", 1));
  KokkosSoftmax::plan_log_softmax_backward(y, x, options);
  KokkosSoftmax::logsumexp_both_axes(Exec{}, lse, lse, lse);
  KokkosSoftmax::logsumexp_both_axes(Exec{}, View<int**>("x", 1, 1), lse, lse);
  KokkosSoftmax::logsumexp_both_axes(Exec{}, x, lse, x);
  KokkosSoftmax::logsumexp_both_axes(Exec{}, half, lse, lse);
  KokkosSoftmax::logsumexp_both_axes(Exec{}, x, lse, FarView<double*>());
  KokkosSoftmax::segment_softmax(Exec{}, x, offsets, lse);
  KokkosSoftmax::segment_softmax(Exec{}, lse, View<short*>("offsets", 1), lse);
  KokkosSoftmax::segment_softmax(Exec{}, lse, offsets, View<float*>("y", 1));
  KokkosSoftmax::segment_log_softmax(Exec{}, lse, FarView<int*>(), lse);
  KokkosSoftmax::segment_logsumexp(Exec{}, lse, offsets, View<float*>("lse", 1));
  KokkosSoftmax::segment_softmax_backward(Exec{}, lse, lse, offsets, View<const double*>(lse));
  cross_entropy(1.0, x, labels, lse);
  cross_entropy(Exec{}, View<double>(), labels, lse);
  cross_entropy(Exec{}, View<int**>("x", 1, 1), labels, lse);
  cross_entropy(Exec{}, FarView<double**>(), labels, lse);
  cross_entropy(Exec{}, x, 1.0, lse);
  cross_entropy(Exec{}, x, View<int**>("labels", 1, 1), lse);
  cross_entropy(Exec{}, x, lse, lse);
  cross_entropy(Exec{}, x, FarView<int*>(), lse);
  cross_entropy(Exec{}, x, labels, 1.0);
  cross_entropy(Exec{}, x, labels, y);
  cross_entropy(Exec{}, half, labels, View<double*>("loss", 1));
  cross_entropy(Exec{}, x, labels, FarView<double*>());
  cross_entropy(Exec{}, x, labels, lse, 1.0);
  cross_entropy(Exec{}, x, labels, lse, View<double>("lse"));
  cross_entropy(Exec{}, x, labels, lse, View<const double*>(lse));
  cross_entropy(Exec{}, x, labels, lse, FarView<double*>());
  cross_entropy(Exec{}, x, labels);
  cross_entropy(x, labels.data(), lse);
  cross_entropy(x, labels, loss_options);
  cross_entropy(x, labels, lse, lse.data());
  cross_entropy(x, labels, lse.data(), lse, loss_options);
  cross_entropy_backward(1.0, x, labels, lse, lse, x);
  cross_entropy_backward(Exec{}, x, of_half, lse, lse, x);
  cross_entropy_backward(Exec{}, x, labels, y, lse, x);
  cross_entropy_backward(Exec{}, x, labels, lse, of_half, x);
  cross_entropy_backward(Exec{}, x, labels, lse, lse, lse);
  cross_entropy_backward(Exec{}, x, labels, lse, lse, View<const double**>(x));
  cross_entropy_backward(Exec{}, x, labels, lse, lse, FarView<double**>());
  cross_entropy_backward(Exec{}, x, labels, lse, lse);
  cross_entropy_backward(x, 1.0, lse, lse, x);
  cross_entropy_backward(x, labels, lse, lse, 1.0, loss_options);
  logsumexp_backward(1.0, x, lse, lse, x);
  logsumexp_backward(Exec{}, View<int**>("x", 1, 1), lse, lse, x);
  logsumexp_backward(Exec{}, x, of_half, lse, x);
  logsumexp_backward(Exec{}, x, lse, y, x);
  logsumexp_backward(Exec{}, x, lse, FarView<double*>(), x);
  logsumexp_backward(Exec{}, x, lse, lse, half);
  logsumexp_backward(Exec{}, x, lse, lse, x, options, Operands{.lse = lse});
  logsumexp_backward(Exec{}, x, lse, lse, x, options, Operands{.mask = View<float*>("mask", 1)});
  logsumexp_backward(Exec{}, x, lse, lse);
  logsumexp_backward(x, lse.data(), lse, x, options);
  logsumexp_backward(x, lse, 1.0, x, options, Operands{.mask = mask});
  using namespace KokkosSoftmax;
  SerialSoftmax::invoke(x, lse);
  SerialSoftmax::invoke(lse, of_half);
  SerialLogSoftmax::invoke(lse, 1.0);
  SerialLogSumExp::invoke(View<int*>("x", 1));
  SerialSoftmaxBackward::invoke(lse, of_half, lse);
  SerialLogSoftmaxBackward::invoke(y, lse, lse);
  SerialLogSumExpBackward::invoke(lse, 1.0, 1.0, View<const double*>(lse));
#endif
}

}  // namespace

int main() { (void)&calls; }
