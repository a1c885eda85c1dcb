// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_HOSTROW_HPP
#define KOKKOSSOFTMAX_IMPL_HOSTROW_HPP

/// \file
/// One row on the calling thread of a host, for calls inside kernels. The functions run the vector
/// kernels of the library and give the bits of a call with Options::reproducible.

#include <KokkosSoftmax_Options.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>

namespace KokkosSoftmax::Impl {

/// Entries of one row.
template <class T>
struct StridedRow {
  T* data;
  std::int64_t stride;  ///< in elements
};

// The functions are instantiated in src/launch/HostRow.cpp for all ValueTypes.

/// Writes the output of the row x to y (not for logsumexp) and returns the log-sum-exp: NaN for a
/// row with +inf if a row is written.
template <Operation operation, class Tx, class Ty>
typename ValueTypes<Tx, Ty>::Compute compute_row_on_host(StridedRow<const Tx> x, StridedRow<Ty> y,
                                                         std::int64_t columns, double scale,
                                                         EmptyRows empty_rows);

template <BackwardOperation operation, class T>
void compute_row_on_host(StridedRow<const T> y, StridedRow<const T> dy, StridedRow<T> dx,
                         std::int64_t columns, double scale);

/// The backward pass of logsumexp.
template <class T>
void compute_row_on_host(StridedRow<const T> x, typename ValueTypes<T>::Compute lse,
                         typename ValueTypes<T>::Compute dlse, StridedRow<T> dx,
                         std::int64_t columns, double scale);

}  // namespace KokkosSoftmax::Impl

#endif
