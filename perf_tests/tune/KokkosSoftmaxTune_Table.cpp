// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxTune_Table.hpp>
#include <algorithm>
#include <dispatch/Tuning.hpp>
#include <map>
#include <ostream>
#include <tuple>

namespace KokkosSoftmaxTune {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::Range;
using KokkosSoftmax::Impl::TuningLine;

struct Timed {
  Schedule schedule;
  double seconds;
  bool is_taken;
};

using Group = std::tuple<Operation, std::string, int>;       // with the types and the axis
using Buckets = std::map<std::int64_t, std::vector<Timed>>;  // by rows
using Table = std::map<Group, std::map<std::int64_t, Buckets>>;

Table right_results(const std::vector<Job>& jobs, const Record& record) {
  Table table;
  for (const Job& job : jobs) {
    const Measurement* measurement = record.find(job);
    if (measurement == nullptr || measurement->status != Measurement::Status::right) continue;
    const Point& p = job.point;
    table[{p.operation, p.types, p.axis}][p.columns][p.rows].push_back(
        {job.schedule, measurement->seconds, job.is_taken});
  }
  return table;
}

/// The fastest schedule, and after it the fastest one of each more general access mode, except the
/// last mode (scalar), which is for strided rows.
std::vector<Timed> winners(std::vector<Timed> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; });
  std::vector<Timed> chosen = {all.front()};
  for (int access = static_cast<int>(all.front().schedule.access) + 1;
       access < static_cast<int>(AccessMode::scalar); ++access) {
    const auto next = std::find_if(all.begin(), all.end(), [&](const Timed& timed) {
      return timed.schedule.access == static_cast<AccessMode>(access);
    });
    if (next != all.end()) chosen.push_back(*next);
  }
  return chosen;
}

bool same_schedules(const std::vector<Timed>& a, const std::vector<Timed>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Timed& x, const Timed& y) { return x.schedule == y.schedule; });
}

/// Sizes that stand for all sizes above those of the previous step, and the best schedules for
/// them.
struct Step {
  std::vector<std::int64_t> rows;
  std::vector<Timed> best;
};

/// Whether a line gains enough: it changes nothing if the library's choice is as fast.
bool is_worth_a_line(const std::vector<Timed>& all, const Timed& best, double margin) {
  const auto taken =
      std::find_if(all.begin(), all.end(), [](const Timed& timed) { return timed.is_taken; });
  return taken == all.end() || margin == 0 || best.seconds * (1 + margin) < taken->seconds;
}

/// Neighbouring sizes with the same winners are combined into one step.
std::vector<Step> steps_of(const Buckets& buckets, double margin) {
  std::vector<Step> steps;
  for (const auto& [rows, all] : buckets) {
    std::vector<Timed> best = winners(all);
    if (!is_worth_a_line(all, best.front(), margin)) best.clear();
    if (steps.empty() || !same_schedules(steps.back().best, best)) steps.push_back({{}, best});
    steps.back().rows.push_back(rows);
  }
  return steps;
}

/// The range above `below`, up to `last`, or without end if no step follows.
Range range_above(std::int64_t below, std::int64_t last, bool is_last) {
  return {below + 1, is_last ? Range::unbounded : last};
}

void write_columns(std::ostream& out, TuningLine line, std::int64_t columns,
                   const std::vector<Step>& steps) {
  std::int64_t below = -1;
  for (const Step& step : steps) {
    line.rows = range_above(below, step.rows.back(), &step == &steps.back());
    below = step.rows.back();
    for (const Timed& timed : step.best) {
      line.schedule = timed.schedule;
      out << line << "  # " << 1e6 * timed.seconds << " us for " << step.rows.front() << " x "
          << columns << "\n";
    }
  }
}

}  // namespace

void write_table(std::ostream& out, const std::vector<Job>& jobs, const Record& record,
                 double margin) {
  for (const auto& [group, by_columns] : right_results(jobs, record)) {
    const auto& [operation, types, axis] = group;
    out << "\n# " << to_string(operation) << " of " << types << ", "
        << (axis == 1 ? "contiguous" : "strided") << " rows\n";
    std::int64_t below = -1;
    for (const auto& [columns, buckets] : by_columns) {
      const bool is_last = columns == by_columns.rbegin()->first;
      const TuningLine line{.operation = operation,
                            .types = types,
                            .columns = range_above(below, columns, is_last),
                            .rows = {},
                            .schedule = {}};
      write_columns(out, line, columns, steps_of(buckets, margin));
      below = columns;
    }
  }
}

}  // namespace KokkosSoftmaxTune
