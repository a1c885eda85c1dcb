// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_TABLE_HPP
#define KOKKOSSOFTMAXTUNE_TABLE_HPP

#include <KokkosSoftmaxTune_Record.hpp>
#include <iosfwd>
#include <vector>

namespace KokkosSoftmaxTune {

/// Writes the fastest schedules of the jobs as a tuning table. A measured size stands for all sizes
/// above the next smaller one; the largest stands also for all above it. After the winner of a
/// point come the fastest schedules with more general access modes, for problems that the winner
/// doesn't support. A point gets no line if the library's choice takes no more than 1 + margin
/// times as long as the winner, unless margin = 0.
void write_table(std::ostream& out, const std::vector<Job>& jobs, const Record& record,
                 double margin);

}  // namespace KokkosSoftmaxTune

#endif
