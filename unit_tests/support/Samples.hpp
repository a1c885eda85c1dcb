// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_SAMPLES_HPP
#define KOKKOSSOFTMAX_TEST_SAMPLES_HPP

/// \file
/// The data of the tests.

#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <reference/Reference.hpp>

namespace KokkosSoftmax::Test {

/// Widths at which a schedule, a vectorized load or a loop can go wrong: widths around the sizes of
/// vectors, blocks and buffers, and odd and prime widths. 100003 is prime, and a row of this width
/// does not fit registers.
inline constexpr std::size_t widths[] = {0,    1,    2,    3,     7,     31,    32,
                                         33,   127,  128,  129,   781,   1000,  1023,
                                         1024, 1025, 4096, 12671, 16384, 32769, 100003};

template <class T>
struct Sample {
  Rows<T> rows;
  Expected expected;
};

/// The data for an x of type X: numbers of type X, stored in the type of the computation.
template <class X>
using RowsFor = Rows<typename KokkosSoftmax::Impl::ValueTypes<X>::Compute>;
template <class X>
using SampleFor = Sample<typename KokkosSoftmax::Impl::ValueTypes<X>::Compute>;

/// Returns normally distributed random numbers of standard deviation 3, the same in each run.
template <class X>
RowsFor<X> normal_rows(std::size_t count, std::size_t columns);

/// Returns normal_rows and their reference results for scale 1. They are kept for later calls:
/// tests that differ only in layout or axis share them, because the reference takes longer than the
/// library.
template <class X>
const SampleFor<X>& normal_sample(std::size_t count, std::size_t columns);

/// Returns rows whose entries rise or fall slowly from column to column. They show the error of a
/// running sum that is rescaled each time the maximum rises.
template <class X>
RowsFor<X> ramp_rows(std::size_t columns);

/// Returns the first two of these rows, one that rises and one that falls, for rows so long that
/// the reference would take too long for more of them.
template <class X>
RowsFor<X> two_ramp_rows(std::size_t columns);

/// Returns one row of each kind that is difficult for some implementation: special values, huge and
/// denormal magnitudes, sorted entries, and differences that are small compared with the entries.
template <class X>
RowsFor<X> hostile_rows(std::size_t columns);

/// Returns rows whose log-sum-exps are near 0: one entry near 0 in each, and others far below, or
/// few of them. The entries are multiplied by `factor`.
template <class X>
RowsFor<X> near_zero_rows(std::size_t columns, double factor = 1);

}  // namespace KokkosSoftmax::Test

#endif
