// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the threads of a host share the columns of a row: each part is computed by one thread, and
// the states are merged in the order of the columns.

#include <atomic>
#include <deque>
#include <schedules/HostTeams.hpp>
#include <set>
#include <support/Instances.hpp>
#include <thread>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

/// What happened to the parts of a row.
struct Record {
  explicit Record(std::int64_t parts)
      : reduced(static_cast<std::size_t>(parts)), written(static_cast<std::size_t>(parts)) {}

  std::vector<std::thread::id> reduced;  // by which thread
  std::vector<std::atomic<int>> written;
  std::atomic<int> finished = 0;
  std::atomic<int> wrong_states = 0;
  std::atomic<int> team_size = 1;
};

/// A row in parts, see compute_in_parts().
class RecordedRow {
 public:
  /// Parts [first, last).
  struct State {
    std::int64_t first;
    std::int64_t last;
  };

  explicit RecordedRow(Record& record) : m_record(record) {}

  std::int64_t count() const { return static_cast<std::int64_t>(m_record.reduced.size()); }
  void reduce(std::int64_t p, State& state) const {
    m_record.reduced[static_cast<std::size_t>(p)] = std::this_thread::get_id();
    state = {p, p + 1};
  }
  void merge(State& into, const State& from) const {
    if (into.last != from.first) ++m_record.wrong_states;
    into.last = from.last;
  }
  void finish(const State& all) const {
    expect_all(all);
    ++m_record.finished;
  }
  void write(std::int64_t first, std::int64_t last, const State& all) const {
    expect_all(all);
    for (std::int64_t p = first; p < last; ++p) ++m_record.written[static_cast<std::size_t>(p)];
  }

 private:
  void expect_all(const State& state) const {
    if (state.first != 0 || state.last != count()) ++m_record.wrong_states;
  }

  Record& m_record;
};

template <class Exec>
struct RowsInParts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  std::deque<Record>* records;

  void operator()(const Member& member) const {
    Record& record = (*records)[static_cast<std::size_t>(member.league_rank())];
    record.team_size = member.team_size();
    KokkosSoftmax::Impl::compute_in_parts(member, RecordedRow(record));
  }
};

void expect_each_part_once(const Record& record) {
  for (const auto& written : record.written) EXPECT_EQ(written, 1);
  EXPECT_EQ(record.finished, 1);
  EXPECT_EQ(record.wrong_states, 0);
}

TEST(HostTeams, OneThread) {
  for (const std::int64_t parts : {1, 2, 7}) {
    Record record(parts);
    KokkosSoftmax::Impl::compute_in_parts(RecordedRow(record));
    expect_each_part_once(record);
  }
}

TEST(HostTeams, ThreadsOfATeam) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  for (const Exec& exec : {Exec{}, instance_of_many_threads<Exec>()})
    for (const std::int64_t parts : {1, 2, 7, 64})
      for (const std::size_t rows : {1, 3}) {
        std::deque<Record> records;  // which can't be moved
        for (std::size_t r = 0; r < rows; ++r) records.emplace_back(parts);
        KokkosSoftmax::Impl::launch_host_teams<RecordedRow::State>(
            exec, "test", static_cast<std::int64_t>(rows), RowsInParts<Exec>{&records}, parts);
        exec.fence();
        for (const Record& record : records) expect_each_part_once(record);
        const std::set<std::thread::id> threads(records[0].reduced.begin(),
                                                records[0].reduced.end());
        EXPECT_EQ(static_cast<std::int64_t>(threads.size()),
                  std::min<std::int64_t>(parts, records[0].team_size));
        EXPECT_GE(records[0].team_size, exec.concurrency());
      }
}

TEST(HostTeams, FewLongRowsAreShared) {
  using KokkosSoftmax::Impl::share_rows, KokkosSoftmax::Impl::span_columns;
  EXPECT_TRUE(share_rows(1, span_columns + 1, 2));
  EXPECT_FALSE(share_rows(1, span_columns, 2));
  EXPECT_FALSE(share_rows(2, span_columns + 1, 2));
  EXPECT_FALSE(share_rows(1, span_columns + 1, 1));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
