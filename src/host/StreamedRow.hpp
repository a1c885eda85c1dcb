// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_STREAMEDROW_HPP
#define KOKKOSSOFTMAX_SRC_HOST_STREAMEDROW_HPP

/// \file
/// The output of a row as a function of its columns. Whole cache lines can be written past the
/// caches.

#include <host/Prefetch.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Calls f(c, access) for the vectors of columns [first, last), where access loads and stores: all
/// elements of a vector, except in the last one.
template <class L, class F>
KOKKOSSOFTMAX_HOST_FUNCTION void for_each_vector(std::int64_t first, std::int64_t last,
                                                 const F& f) {
  std::int64_t c = first;
  for (; c + L::width <= last; c += L::width) f(c, L{});
  if (c < last) f(c, FirstElements<typename L::T, L::width>(static_cast<int>(last - c)));
}

/// Writes columns [first, last), fewer than a cache line has.
template <class L, class Y, class Result>
KOKKOSSOFTMAX_HOST_FUNCTION void write_part_of_line(Y* y, std::int64_t first, std::int64_t last,
                                                    const Result& result) {
  for (std::int64_t c = first; c < last; c += L::width) {
    const FirstElements<typename L::T, L::width> some(
        static_cast<int>(smaller(last - c, L::width)));
    some.store_in_parts(y + c, result(c, some));
  }
}

/// y[c] = result(c, access) for columns [first, last), where access loads the elements of the
/// vector that begins at column c. Whole cache lines are written past the caches.
template <class L, class Y, class Result>
KOKKOSSOFTMAX_HOST_FUNCTION void stream_columns(Y* y, std::int64_t first, std::int64_t last,
                                                const Result& result) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(Y));
  std::int64_t c = first + smaller(to_cache_line(y + first), last - first);
  write_part_of_line<L>(y, first, c, result);
  for (; c + line <= last; c += line)
    for (std::int64_t k = c; k < c + line; k += L::width) L::stream_to(y + k, result(k, L{}));
  write_part_of_line<L>(y, c, last, result);
}

/// Calls compute(job, has_ends) for rows dx of a job, which are streamed only if that takes less
/// time: short rows that aren't whole cache lines are mostly ends. If `has_ends`, compute()
/// prefetches the end of each row before it: streamed stores wait for earlier ordinary ones, and
/// those for their lines.
template <class Job, class Compute>
void with_streams(Job job, const Compute& compute) {
  constexpr std::int64_t least_bytes_with_ends = 2048;  // measured on AMD's Zen 4
  const std::int64_t bytes = job.columns * static_cast<std::int64_t>(sizeof(*job.dx));
  const bool has_ends = !are_whole_lines(job.dx, job.dx_stride, job.columns);
  if (has_ends && bytes < least_bytes_with_ends) job.streams = false;
  compute(job, has_ends && job.streams);
  if (job.streams) end_streams();
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
