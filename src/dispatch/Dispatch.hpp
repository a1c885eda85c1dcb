// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_DISPATCH_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_DISPATCH_HPP

/// \file
/// From a problem to a launched kernel: the choice among the candidates, and its launch. Included
/// by the translation units that instantiate the functions of KokkosSoftmax_Launch.hpp.

#include <dispatch/Compiled.hpp>
#include <dispatch/KernelRegistry.hpp>
#include <dispatch/Tuning.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <sstream>

namespace KokkosSoftmax::Impl {

/// A line of a tuning table whose schedule is compiled for an execution space.
struct TunedCandidate {
  const TuningLine* line;
  int candidate;
};

/// The lines for (operation, Exec, V), found once.
template <Operation operation, class Exec, class V>
const std::vector<TunedCandidate>& tuned_candidates() {
  static const auto tuned = [] {
    std::vector<TunedCandidate> found;
    const std::vector<Schedule> schedules = compiled_schedules<operation, Exec, V>();
    for (const TuningLine& line : tuning_lines()) {
      const auto schedule = std::find(schedules.begin(), schedules.end(), line.schedule);
      if (line.operation == operation && line.types == V::name && schedule != schedules.end())
        found.push_back({&line, static_cast<int>(schedule - schedules.begin())});
    }
    return found;
  }();
  return tuned;
}

/// Whose tuning tables apply.
template <class Exec>
int architecture(const Exec& exec) {
  if constexpr (is_cuda<Exec>) {
    const auto& device = device_properties(exec);
    return 10 * device.major + device.minor;
  } else {
    return any_architecture;
  }
}

template <class Exec, class V, Operation operation>
class Dispatch {
 public:
  using X = typename V::X;

  Dispatch(const Exec& exec, const RowProblem<X, typename V::Y>& problem, const Options& options)
      : m_call(exec, problem, options) {}

  Choice choose() const {
    if (const TunedCandidate* tuned = by_tables()) return {tuned->candidate, tuned->line};
    const int candidate = by_rule();
    if (candidate == none) throw_cannot_serve();
    return {candidate, nullptr};
  }

  void prepare(const Choice& choice) const { list[choice.candidate].prepare(m_call.exec); }
  void launch(const Choice& choice) const { list[choice.candidate].launch(m_call); }

  bool serves(const Choice& choice) const { return list[choice.candidate].serves(m_call); }

 private:
  static constexpr const auto& list = candidates<Exec, V, operation>;
  static_assert(are_distinct(list));
  static constexpr CandidatesByAlgorithm<list.size()> by_algorithm{list};
  static constexpr int none = -1;

  /// The first line that applies to the problem and serves it.
  const TunedCandidate* by_tables() const {
    const auto& tuned = tuned_candidates<operation, Exec, V>();
    // reproducible: a line may hold for some numbers of rows alone
    if (tuned.empty() || m_call.options.reproducible) return nullptr;
    const int device = architecture(m_call.exec);
    for (const TunedCandidate& t : tuned)
      if (t.line->applies(m_call.problem().rows, m_call.problem().columns, device) &&
          is_eligible(t.line->schedule.algorithm) && list[t.candidate].serves(m_call))
        return &t;
    return nullptr;
  }

  /// Tables know no strides. On a GPU a schedule that is fast for contiguous rows isn't for strided
  /// ones, and the other way round.
  bool is_eligible(Algorithm algorithm) const {
    if (m_call.options.algorithm != Algorithm::automatic)
      return algorithm == m_call.options.algorithm;
    return is_host_space<Exec> || has_row_in_each_lane(algorithm) == m_call.rows_are_neighbours();
  }

  int by_rule() const {
    const Algorithm asked = m_call.options.algorithm;
    if ((asked == Algorithm::automatic || asked == Algorithm::column) && are_many_columns()) {
      const int candidate = for_many_columns();
      if (candidate != none) return candidate;
    }
    if (asked != Algorithm::automatic) return first_of(asked, Use::any_rows);
    if (are_few()) {
      const int candidate = first_in(preferred(), Use::few_rows);
      if (candidate != none) return candidate;
    }
    return first_in(preferred(), Use::any_rows);
  }

  int first_in(const std::array<Algorithm, 7>& algorithms, Use use) const {
    for (const Algorithm algorithm : algorithms) {
      if (algorithm == Algorithm::automatic) break;
      const int candidate = first_of(algorithm, use);
      if (candidate != none) return candidate;
    }
    return none;
  }

  /// The algorithms to try, best first.
  std::array<Algorithm, 7> preferred() const {
    using enum Algorithm;
    if constexpr (is_host_space<Exec>) return {host};
    // by the columns alone, whatever the layout and the number of rows
    if (m_call.options.reproducible) return {subgroup, fused_registers, fused_scratch, online};
    if (m_call.rows_are_neighbours())
      return {lane_holds_row()           ? subgroup
              : splitting_columns_pays() ? split_column
                                         : column,
              column, online};
    return {packing_pays() ? packed : subgroup,
            subgroup,
            fused_registers,
            holding_pays() ? fused_scratch : split,
            split,
            splitting_pays() ? split_online : online,
            online};
  }

  /// All teams are resident at one time, however many lanes they have.
  bool are_few() const {
    return !m_call.options.reproducible && m_call.x_contiguous() &&
           m_call.problem().rows <= 2 * multiprocessors(m_call.exec);
  }

  /// Not all teams of `column` are resident at one time, even if a row has but a few lanes.
  bool are_many_columns() const {
    constexpr int resident_rows = 512;  // of a multiprocessor, with 4 threads for each
    return !is_host_space<Exec> && !m_call.options.reproducible && m_call.rows_are_neighbours() &&
           !lane_holds_row() &&
           m_call.problem().rows > resident_rows * multiprocessors(m_call.exec);
  }

  int for_many_columns() const {
    const int candidate = first_of(Algorithm::column, Use::many_rows);
    // Half types are faster read twice, several rows in a load, than held by teams of 16 rows.
    if (operation == Operation::logsumexp || !packs<V> || candidate == none ||
        holds_column(candidate))
      return candidate;
    const int other = first_of(Algorithm::column, Use::any_rows);
    return other != none && holds_column(other) ? other : candidate;
  }
  bool holds_column(int candidate) const {
    return m_call.problem().columns <= register_capacity(list[candidate].schedule);
  }

  /// Lanes that take 16 bytes at a time from rows of their own are faster than the way through
  /// scratch, and so are lanes that hold a whole short row.
  bool packing_pays() const {
    constexpr int longest = 56;  // beyond, one entry a load is as fast, by measurements on an H200
    const std::int64_t columns = m_call.problem().columns;
    return columns % widest<X> != 0 && columns > 2 * widest<X> && columns <= longest;
  }

  /// Rows that are read twice should be in the cache the second time, so that few can be under way;
  /// rows that are read once are split where there are fewer than teams.
  bool splitting_pays() const {
    return operation != Operation::logsumexp ||
           m_call.problem().rows < 2 * multiprocessors(m_call.exec);
  }

  /// Strided rows that are so short that a lane has little to do with one, and can't load several
  /// at one time.
  bool lane_holds_row() const {
    constexpr int longest = 8;  // of the shapes of `subgroup` with one lane a row
    if (m_call.problem().columns > longest) return false;
    const int in_chunks = first_of(Algorithm::column, Use::many_rows);
    return in_chunks == none || list[in_chunks].schedule.fill != Fill::neighbours;
  }

  /// For columns that are more work than waiting for others, where `column` would have too few
  /// teams, or would read most cache lines twice; by measurements on an H200.
  bool splitting_columns_pays() const {
    constexpr int rows_per_team = 32;
    constexpr int short_column = 512;
    const bool few = 4 * m_call.problem().rows < 3 * rows_per_team * multiprocessors(m_call.exec);
    return m_call.problem().columns > short_column &&
           (few || (split_lanes_have_neighbours() && !m_call.columns_are_lines()));
  }

  /// Whether the lanes of `split_column` have several neighbouring rows each, see Shapes.
  static constexpr bool split_lanes_have_neighbours() {
    for (const auto& candidate : list)
      if (candidate.schedule.algorithm == Algorithm::split_column)
        return candidate.schedule.rows_per_thread > 1;
    return false;
  }

  /// A float row in one team, where it fits. Doubles are faster in more teams of fewer lanes, with
  /// registers for their arithmetic; rows that are fewer than multiprocessors too.
  bool holding_pays() const {
    return operation != Operation::logsumexp && sizeof(typename V::Compute) < 8 &&
           m_call.problem().rows >= multiprocessors(m_call.exec);
  }

  /// The first candidate that serves. `column` serves rows that are longer than its tile too: those
  /// get the last one that meets them in the best way.
  int first_of(Algorithm algorithm, Use use) const {
    int last = none;
    for (const int c : by_algorithm.of(algorithm)) {
      const Schedule& schedule = list[c].schedule;
      if (list[c].use != use || !list[c].serves(m_call)) continue;
      if (last != none && list[last].schedule.fill != schedule.fill) break;
      last = c;
      if (algorithm != Algorithm::column || holds_column(c)) break;
    }
    return last;
  }

  [[noreturn]] void throw_cannot_serve() const {
    throw_invalid(operation, "algorithm = ", to_string(m_call.options.algorithm), " can't serve ",
                  m_call.problem().rows, " rows of ", m_call.problem().columns, " columns of ",
                  V::name, " with column stride ", m_call.problem().x_column_stride, " on ",
                  Exec::name(),
                  " (see docs/algorithms.md for what each algorithm can hold): use "
                  "Algorithm::automatic");
  }

  const Call<Exec, V> m_call;
};

template <Operation operation, class Exec, class Tx, class Ty>
Choice choose(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options) {
  const Dispatch<Exec, ValueTypes<Tx, Ty>, operation> dispatch(exec, problem, options);
  const Choice choice = dispatch.choose();
  dispatch.prepare(choice);
  return choice;
}

template <Operation operation, class Exec, class Tx, class Ty>
void launch(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options,
            const Choice& choice) {
  Dispatch<Exec, ValueTypes<Tx, Ty>, operation>(exec, problem, options).launch(choice);
}

template <Operation operation, class Exec, class Tx, class Ty>
void launch(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options) {
  const Dispatch<Exec, ValueTypes<Tx, Ty>, operation> dispatch(exec, problem, options);
  dispatch.launch(dispatch.choose());
}

template <Operation operation, class Exec, class V>
std::string describe(const Choice& choice) {
  std::ostringstream text;
  text << candidates<Exec, V, operation>[choice.candidate].schedule;
  if (const TuningLine* line = choice.line)
    text << " (" << line->table << ":" << line->number << ": columns " << line->columns << ", rows "
         << line->rows << ")";
  else
    text << " (rule)";
  return text.str();
}

template <Operation operation, class Exec, class V>
std::vector<Schedule> compiled_schedules() {
  std::vector<Schedule> schedules;
  for (const auto& candidate : candidates<Exec, V, operation>)
    schedules.push_back(candidate.schedule);
  return schedules;
}

template <Operation operation, class Exec, class Tx, class Ty>
bool serves(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options,
            const Choice& choice) {
  return Dispatch<Exec, ValueTypes<Tx, Ty>, operation>(exec, problem, options).serves(choice);
}

}  // namespace KokkosSoftmax::Impl

#endif
