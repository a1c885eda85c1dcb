// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxTune_Table.hpp>
#include <Tuning.hpp>
#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>

namespace KokkosSoftmaxTune {
namespace {

using KokkosSoftmax::Impl::Fill;
using KokkosSoftmax::Impl::Range;
using KokkosSoftmax::Impl::TuningLine;

struct Timed {
  Schedule schedule;
  double seconds;
};

using Group = std::tuple<Operation, DType, int>;             // with the axis
using Buckets = std::map<std::int64_t, std::vector<Timed>>;  // by rows
using Table = std::map<Group, std::map<std::int64_t, Buckets>>;

Table right_results(const std::vector<Job>& jobs, const Record& record) {
  Table table;
  for (const Job& job : jobs) {
    const Measurement* measurement = record.find(job);
    if (measurement == nullptr || measurement->status != Measurement::Status::right) continue;
    const Point& p = job.point;
    table[{p.operation, p.dtype, p.axis}][p.columns][p.rows].push_back(
        {job.schedule, measurement->seconds});
  }
  return table;
}

/// The fastest of all, and of each fill behind its own but the last, which strided rows are for.
std::vector<Timed> winners(std::vector<Timed> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; });
  std::vector<Timed> chosen = {all.front()};
  for (int fill = static_cast<int>(all.front().schedule.fill) + 1;
       fill < static_cast<int>(Fill::scalar); ++fill) {
    const auto next = std::find_if(all.begin(), all.end(), [&](const Timed& timed) {
      return timed.schedule.fill == static_cast<Fill>(fill);
    });
    if (next != all.end()) chosen.push_back(*next);
  }
  return chosen;
}

/// The sizes above the previous one, up to this one or, for the last, to all.
template <class Map>
Range bucket(const Map& map, typename Map::const_iterator at) {
  Range range;
  if (at != map.begin()) range.first = std::prev(at)->first + 1;
  if (std::next(at) != map.end()) range.last = at->first;
  return range;
}

}  // namespace

void write_table(std::ostream& out, const std::vector<Job>& jobs, const Record& record) {
  const Table table = right_results(jobs, record);
  for (const auto& [group, by_columns] : table) {
    const auto& [operation, dtype, axis] = group;
    out << "\n# " << to_string(operation) << " of " << to_string(dtype) << ", "
        << (axis == 1 ? "contiguous" : "strided") << " rows\n";
    for (auto columns = by_columns.begin(); columns != by_columns.end(); ++columns)
      for (auto rows = columns->second.begin(); rows != columns->second.end(); ++rows)
        for (const Timed& timed : winners(rows->second))
          out << TuningLine{.operation = operation,
                            .types = to_string(dtype),
                            .columns = bucket(by_columns, columns),
                            .rows = bucket(columns->second, rows),
                            .schedule = timed.schedule}
              << "  # " << 1e6 * timed.seconds << " us for " << rows->first << " x "
              << columns->first << "\n";
  }
}

}  // namespace KokkosSoftmaxTune
