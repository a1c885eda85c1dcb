// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTTEAMS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTTEAMS_HPP

/// \file
/// How the threads of a host divide the work of a launch: each thread has a block of rows, or all
/// threads of a team share the columns of a row or of a panel.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <backend/DivideUp.hpp>
#include <cstdint>
#include <host/Jobs.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// n * i / parts without overflow: where part i of n items begins.
constexpr std::int64_t begin_of_part(std::int64_t n, std::int64_t i, std::int64_t parts) {
  return n / parts * i + n % parts * i / parts;
}

/// Calls f(first row, number of rows) for the parts of rows [first, last) that are in one group of
/// `neighbours` rows: those with the same indices along all outer axes except the fastest.
template <class F>
void for_each_group(std::int64_t first, std::int64_t last, std::int64_t neighbours, const F& f) {
  while (first < last) {
    const std::int64_t end = std::min(last, (first / neighbours + 1) * neighbours);
    f(first, end - first);
    first = end;
  }
}

/// Launches `kernel` once per block.
template <class Exec, class Kernel>
void launch_host_blocks(const Exec& exec, const std::string& label, const Kernel& kernel) {
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, kernel.blocks),
      kernel);
}

/// Memory that all threads of a team share, for `count` objects.
template <class S, class Member>
S* team_array(const Member& member, std::int64_t count) {
  const auto bytes = static_cast<std::uintptr_t>(count) * sizeof(S) + alignof(S);
  const auto p = reinterpret_cast<std::uintptr_t>(member.team_scratch(1).get_shmem(bytes));
  return reinterpret_cast<S*>((p + alignof(S) - 1) / alignof(S) * alignof(S));
}
template <class S>
std::size_t team_array_bytes(std::int64_t count) {
  return static_cast<std::size_t>(count) * sizeof(S) + alignof(S) + 64;
}

/// Launches `kernel` with a league of teams, each of which has an array of `count` objects of type
/// S. Each team has as many threads as it can have.
template <class S, class Exec, class Kernel>
void launch_host_teams(const Exec& exec, const std::string& label, std::int64_t league,
                       const Kernel& kernel, std::int64_t count) {
  const auto scratch = Kokkos::PerTeam(team_array_bytes<S>(count));
  Kokkos::TeamPolicy<Exec> policy(exec, static_cast<int>(league), 1);
  policy.set_scratch_size(1, scratch);
  const int team_size = policy.team_size_max(kernel, Kokkos::ParallelForTag());
  policy = Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(league), team_size);
  policy.set_scratch_size(1, scratch);
  Kokkos::parallel_for(label, policy, kernel);
}

/// The largest number of threads that work at the same time.
template <class Member>
std::int64_t threads_of(const Member& member) {
  return static_cast<std::int64_t>(member.league_size()) * member.team_size();
}

/// A row or a panel in parts has
///
/// - State: what is kept of some columns
/// - count(): the number of parts. It doesn't depend on the number of threads.
/// - reduce(p, state): makes `state` that of part p
/// - merge(into, from)
/// - finish(state): writes what there is one number of per row
/// - write(first, last, state): writes the entries of parts [first, last), given the state of all
///   parts. It begins with the last part, which a cache still holds.
///
/// The states are merged in order, so that the result doesn't depend on the number of threads.
template <class InParts>
void compute_in_parts(const InParts& work) {
  using State = typename InParts::State;
  State all;
  work.reduce(0, all);
  for (std::int64_t p = 1; p < work.count(); ++p) {
    State part;
    work.reduce(p, part);
    work.merge(all, part);
  }
  work.finish(all);
  work.write(0, work.count(), all);
}

/// The same by all threads of a team, which has an array of work.count() states.
template <class Member, class InParts>
void compute_in_parts(const Member& member, const InParts& work) {
  using State = typename InParts::State;
  const std::int64_t parts = work.count();
  State* const states = team_array<State>(member, parts);
  const std::int64_t first = begin_of_part(parts, member.team_rank(), member.team_size());
  const std::int64_t last = begin_of_part(parts, member.team_rank() + 1, member.team_size());
  for (std::int64_t p = first; p < last; ++p) work.reduce(p, states[p]);
  member.team_barrier();
  State all = states[0];
  for (std::int64_t p = 1; p < parts; ++p) work.merge(all, states[p]);
  if (member.team_rank() == 0) work.finish(all);
  if (first < last) work.write(first, last, all);
  member.team_barrier();  // the next row or panel of this team uses the array again
}

/// The spans of a row.
class HostSpans {
 public:
  explicit HostSpans(std::int64_t columns) : m_columns(columns) {}

  std::int64_t count() const { return divide_up(m_columns, span_columns); }
  /// The columns of span s.
  std::int64_t begin(std::int64_t s) const { return s * span_columns; }
  std::int64_t end(std::int64_t s) const { return std::min(m_columns, (s + 1) * span_columns); }
  std::int64_t size(std::int64_t s) const { return end(s) - begin(s); }

 private:
  std::int64_t m_columns;
};

/// Whether all threads of a team share each row, in place of dividing the rows among them. A row of
/// one span is computed by one thread.
inline bool share_rows(std::int64_t rows, std::int64_t columns, std::int64_t threads) {
  return rows < threads && columns > span_columns;
}

/// The columns of rows that lie side by side, in parts for the threads of a team.
class HostColumnParts {
 public:
  /// Fewer columns take less time than the threads of a team need to synchronize.
  static constexpr std::int64_t min_columns = 4096;
  static constexpr std::int64_t most = 64;

  /// `most_parts`: 1 if a thread works alone
  explicit HostColumnParts(std::int64_t columns, std::int64_t most_parts = most)
      : m_columns(columns), m_count(columns < min_columns ? 1 : most_parts) {}

  std::int64_t count() const { return m_count; }
  /// Where the columns of part p begin. The last part ends at begin(count()).
  std::int64_t begin(std::int64_t p) const { return begin_of_part(m_columns, p, count()); }

 private:
  std::int64_t m_columns;
  std::int64_t m_count;
};

/// Whether all threads of a team share each panel, in place of dividing the rows among them.
/// \param groups  of rows that lie side by side
/// \param lines   the number of cache lines of a column of all groups
inline bool share_panels(std::int64_t groups, std::int64_t lines, std::int64_t columns,
                         std::int64_t threads) {
  if (threads == 1 || columns < HostColumnParts::min_columns) return false;
  if (lines < 2 * threads) return true;
  // Threads with less than a page of each column read and write slowly. With fewer columns per
  // thread, they would merge the states of the parts in a tenth of the time or more.
  constexpr std::int64_t lines_of_page = 64;
  constexpr std::int64_t min_columns_per_thread = 1024;
  return groups < threads && lines < lines_of_page * threads &&
         columns > HostColumnParts::min_columns && columns >= min_columns_per_thread * threads;
}

}  // namespace KokkosSoftmax::Impl

#endif
