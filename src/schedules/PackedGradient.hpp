// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_PACKEDGRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_PACKEDGRADIENT_HPP

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <row/Chunk.hpp>
#include <row/GradientArgs.hpp>
#include <schedules/PackedRun.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// The gradient of short rows that are stored back to back in x and in dx. A team moves a run of
/// rows to level-0 scratch memory and back, as PackedKernel does. Between the two moves, 1, 2 or 4
/// lanes replace the entries of a row by the results, a word each in turn. Half types have two
/// entries in a word.
template <class Exec, class Source>
class PackedGradientKernel {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  using Row = GradientRow<X, T>;
  using Numbers = NumbersOfGradientRow<T>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int vector_length = 32;
  static constexpr int team_size = 2;
  static constexpr int lanes = team_size * vector_length;
  static constexpr int chunk_width = widest<X>;
  static constexpr int in_flight = 5;
  static constexpr int word_width = sizeof(X) == 2 ? 2 : 1;
  using Words = WordsOfRow<X, word_width>;
  using Word = typename Words::Word;
  using Run = PackedRun<Exec, V, chunk_width, lanes, in_flight, word_width == 2>;
  static_assert(Source::value_is_scaled_raw);

 public:
  using Arguments = GradientArgs<ArgumentsOf<Source>>;
  /// A lane has 64 registers for doubles, and 56 for other types.
  using Bounds = Kokkos::LaunchBounds<lanes, sizeof(X) == 8 ? 16 : 18>;
  using Policy = Kokkos::TeamPolicy<Exec, Bounds>;

  explicit PackedGradientKernel(const Arguments& arguments)
      : m_arguments(arguments),
        m_log_lanes(log_of_lanes(columns())),
        m_rows_per_team(rows_of_run(columns(), m_log_lanes)) {}

  /// Whether this kernel serves the call and is the fastest one (measured on an H200). Rows of an
  /// even number of chunks would begin in the same banks of scratch memory. Half types have
  /// GradientShortRowsKernel for one chunk, and GradientPartsKernel for longer rows that begin at
  /// halves of chunks. The caller checks that rows are stored back to back from an aligned address.
  static bool serves(const Arguments& arguments) {
    constexpr std::int64_t most_columns = (most_words << most_log_lanes) * word_width;
    constexpr std::int64_t most_in_halves_of_chunks = 80;
    const std::int64_t columns = arguments.problem.columns;
    if (arguments.problem.outer_rank != 1 || columns > most_columns) return false;
    if (word_width == 2 && (columns == chunk_width || (columns > most_in_halves_of_chunks &&
                                                       columns % (chunk_width / 2) == 0)))
      return false;
    return columns % (2 * chunk_width) != 0 &&
           divide_up(arguments.problem.rows, PackedGradientKernel(arguments).m_rows_per_team) <=
               most_teams;
  }

  Policy policy(const Exec& exec) const {
    Policy policy(exec, static_cast<int>(divide_up(m_arguments.problem.rows, m_rows_per_team)),
                  team_size, vector_length);
    policy.set_scratch_size(0, Kokkos::PerTeam(Run::scratch_bytes(m_rows_per_team, columns())));
    return policy;
  }

  /// The numbers of a lane's next row are loaded before it works on a row, so that it doesn't wait
  /// for them.
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int thread_id = member.team_rank() * vector_length + lane_number<vector_length>(member);
    const int lane = thread_id & ((1 << m_log_lanes) - 1);
    const int step = lanes >> m_log_lanes;
    const Run run(member, m_arguments, m_rows_per_team);
    int r = thread_id >> m_log_lanes;
    Numbers numbers(m_arguments, run.number(r < run.rows() ? r : 0));
    run.load(m_arguments, thread_id);
    member.team_barrier();
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (; r < run.rows(); r += step) {
      const Numbers next(m_arguments, run.number(r + step < run.rows() ? r + step : r));
      compute(Row(m_arguments, numbers), run, r, lane);
      numbers = next;
    }
    member.team_barrier();
    run.store(m_arguments, thread_id);
  }

 private:
  static constexpr std::int64_t most_words = 20;  // of a lane in a row
  static constexpr int most_log_lanes = 2;
  static constexpr std::int64_t most_teams = std::int64_t{1} << 25;  // every device can have them

  std::int64_t columns() const { return m_arguments.problem.columns; }

  static int log_of_lanes(std::int64_t columns) {
    int log = 0;
    while ((most_words * word_width << log) < columns) ++log;
    return log;
  }
  /// The rows of a team: as many as `in_flight` chunks per lane hold, and at least as many as there
  /// are groups of lanes.
  static int rows_of_run(std::int64_t columns, int log_lanes) {
    constexpr std::int64_t entries = std::int64_t{in_flight} * lanes * chunk_width;
    const int rows = lanes >> log_lanes;
    return rows * static_cast<int>(std::max<std::int64_t>(1, entries / (rows * columns)));
  }

  /// Works on this lane's part of row r of the run. Lane 0 has the single entry, if there is one.
  KOKKOS_FORCEINLINE_FUNCTION void compute(const Row& of_row, const Run& run, int r,
                                           int lane) const {
    const Words row(run.row(r), r, run.columns());
    const int words = run.columns() / word_width, step = 1 << m_log_lanes;
    const bool has_single = row.has_single && lane == 0;
    if (of_row.is_ignored()) {
      for (int i = lane; i < words; i += step) row.word[i] = Word{};
      if (has_single) *row.single = static_cast<X>(T(0));
      return;
    }
    // The label's entry is computed anew, by the lane that replaces it. It is accessed as the other
    // entries are: in a word, or as the single one.
    const auto label = static_cast<int>(of_row.label);
    const bool is_single = row.has_single && run.row(r) + label == row.single;
    const int word_of_label = (label - row.lead) / word_width;
    const bool has_label = label >= 0 && lane == (is_single ? 0 : word_of_label & (step - 1));
    T x_of_label = T(0);
    if (has_label)
      x_of_label = is_single ? static_cast<T>(*row.single)
                             : entry(row.word[word_of_label], (label - row.lead) % word_width);
    for (int i = lane; i < words; i += step) {
      T x[word_width];
      widen<X, word_width>(row.word[i], x);
      Chunk<X, word_width> dx;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < word_width; ++k) dx.entry[k] = static_cast<X>(of_row(value(x[k])));
      row.word[i] = Kokkos::bit_cast<Word>(dx);
    }
    if (has_single) *row.single = static_cast<X>(of_row(value(static_cast<T>(*row.single))));
    if (!has_label) return;
    const X dx_of_label = static_cast<X>(of_row(value(x_of_label), true));
    if (is_single)
      *row.single = dx_of_label;
    else
      set_entry(row.word[word_of_label], (label - row.lead) % word_width, dx_of_label);
  }

  KOKKOS_FORCEINLINE_FUNCTION static T entry(const Word& word, int place) {
    T x[word_width];
    widen<X, word_width>(word, x);
    return place == 0 ? x[0] : x[word_width - 1];
  }
  KOKKOS_FORCEINLINE_FUNCTION static void set_entry(Word& word, int place, X x) {
    auto entries = Kokkos::bit_cast<Chunk<X, word_width>>(word);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < word_width; ++k)
      if (k == place) entries.entry[k] = x;
    word = Kokkos::bit_cast<Word>(entries);
  }

  KOKKOS_FORCEINLINE_FUNCTION T value(T x) const { return Source(m_arguments).value(x, 0); }

  Arguments m_arguments;
  int m_log_lanes;  // a row has 2^m_log_lanes lanes
  int m_rows_per_team;
};

}  // namespace KokkosSoftmax::Impl

#endif
