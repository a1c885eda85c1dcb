// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_TABLE_HPP
#define KOKKOSSOFTMAXTUNE_TABLE_HPP

#include <KokkosSoftmaxTune_Record.hpp>
#include <iosfwd>
#include <vector>

namespace KokkosSoftmaxTune {

/// Writes the fastest schedules of the jobs as a tuning table. A measured size stands for all above
/// the one before it, the largest for all above. Behind the winner of a point come the fastest ones
/// whose fill asks for less, for problems that the winner doesn't serve. Points where the library's
/// choice takes no more than 1 + margin times as long as the winner get no line, unless margin = 0.
void write_table(std::ostream& out, const std::vector<Job>& jobs, const Record& record,
                 double margin);

}  // namespace KokkosSoftmaxTune

#endif
