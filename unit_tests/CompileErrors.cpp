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

void calls(const View<double**>& x, const View<double**>& y, const View<double*>& lse,
           const View<Kokkos::Experimental::half_t**>& half) {
  KokkosSoftmax::softmax(Exec{}, x, y);
  KokkosSoftmax::logsumexp(Exec{}, x, lse);
  KokkosSoftmax::plan_logsumexp(Exec{}, x, lse).execute(x, lse);
  const KokkosSoftmax::Options options{.axis = 0};
  KokkosSoftmax::log_softmax(x, y, options);
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands{.lse = lse});
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands{.max = lse});
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands{.lse = lse, .max = lse});
  KokkosSoftmax::softmax(x, y, options, KokkosSoftmax::Operands<View<double*>>{.lse = lse});
  KokkosSoftmax::plan_logsumexp(x, lse, {.scale = 2.0}).execute(x, lse);
  KokkosSoftmax::softmax(Exec{}, half, half);
  KokkosSoftmax::log_softmax(Exec{}, half, View<float**>("y", 1, 1));
#ifdef KOKKOSSOFTMAX_TEST_WRONG_CALLS
  KokkosSoftmax::softmax(Exec{}, View<int**>("x", 1, 1), y);
  KokkosSoftmax::softmax(Exec{}, x, View<float**>("y", 1, 1));
  KokkosSoftmax::log_softmax(Exec{}, x, View<const double**>(y));
  KokkosSoftmax::log_softmax(Exec{}, x, lse);
  KokkosSoftmax::logsumexp(Exec{}, x, y);
  KokkosSoftmax::logsumexp(Exec{}, View<double*****>(), View<double****>());
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
#endif
}

}  // namespace

int main() { (void)&calls; }
