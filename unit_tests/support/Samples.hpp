// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_SAMPLES_HPP
#define KOKKOSSOFTMAX_TEST_SAMPLES_HPP

/// \file
/// The data of the tests.

#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <reference/Reference.hpp>

namespace KokkosSoftmax::Test {

/// Widths at which a schedule, a load width or a loop can go wrong: around the sizes of vectors,
/// blocks and buffers, odd and prime ones. 100003 is prime and wider than any row in registers.
inline constexpr std::size_t widths[] = {0,    1,    2,    3,     7,     31,    32,
                                         33,   127,  128,  129,   781,   1000,  1023,
                                         1024, 1025, 4096, 12671, 16384, 32769, 100003};

template <class T>
struct Sample {
  Rows<T> rows;
  Expected expected;
};

/// The data for an x of type X are numbers of that type, held in the type that is computed in.
template <class X>
using RowsFor = Rows<typename KokkosSoftmax::Impl::ValueTypes<X>::Compute>;
template <class X>
using SampleFor = Sample<typename KokkosSoftmax::Impl::ValueTypes<X>::Compute>;

/// Random numbers of standard deviation 3, the same in each run.
template <class X>
RowsFor<X> normal_rows(std::size_t count, std::size_t columns);

/// normal_rows and their reference for scale 1, kept from call to call: tests that only differ in
/// layout or axis share them, because the reference takes longer than the library.
template <class X>
const SampleFor<X>& normal_sample(std::size_t count, std::size_t columns);

/// A matrix of rows whose entries rise or fall slowly from column to column: what a running sum
/// costs if it is rescaled each time that the maximum rises.
template <class X>
RowsFor<X> ramp_rows(std::size_t columns);

/// The first two of these rows, one that rises and one that falls, for rows so long that more of
/// them would take the reference too long.
template <class X>
RowsFor<X> two_ramp_rows(std::size_t columns);

/// A matrix with a row of each kind that is hard on some implementation: special values, huge and
/// denormal magnitudes, sorted entries, differences that are small against the entries.
template <class X>
RowsFor<X> hostile_rows(std::size_t columns);

}  // namespace KokkosSoftmax::Test

#endif
