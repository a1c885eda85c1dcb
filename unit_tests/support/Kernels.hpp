// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_KERNELS_HPP
#define KOKKOSSOFTMAX_TEST_KERNELS_HPP

/// \file
/// The kernels of src/ for one operation, for tests that launch them with shapes of their own.

#include <dispatch/OpOf.hpp>
#include <row/Source.hpp>

namespace KokkosSoftmax::Test {

/// A kernel, or a part of one with the same template parameters, for the plain source.
template <template <class, class, class, class> class Kernel, class Exec,
          KokkosSoftmax::Impl::Operation operation, class V, class Shape>
using KernelFor =
    Kernel<Exec,
           KokkosSoftmax::Impl::OneOutput<KokkosSoftmax::Impl::OpOf<operation, V>,
                                          KokkosSoftmax::Impl::function_number<operation, V>>,
           KokkosSoftmax::Impl::PlainSource<V>, Shape>;

}  // namespace KokkosSoftmax::Test

#endif
