// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_RULE_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_RULE_HPP

/// \file
/// The rule: which variant is taken if no line of a tuning table applies. docs/algorithms.md shows
/// the rule as a table.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <dispatch/KernelRegistry.hpp>
#include <iterator>
#include <schedules/cluster/ClusterPlan.hpp>
#include <span>

namespace KokkosSoftmax::Impl {

template <class Exec, RowOp Op, int function, RowSource Source = PlainSource<typename Op::Types>>
class Rule {
  using V = typename Op::Types;
  using Context = LaunchContext<Exec, V, ArgumentsOf<Source>>;

 public:
  static constexpr int none = -1;

  explicit Rule(const Context& context) : m_context(context) {}

  /// The number of a variant that serves the call, or `none`.
  int choose() const {
    const Algorithm asked = m_context.options.algorithm;
    if (asked == Algorithm::cluster_column) return in_clusters();
    if (is_automatic() && are_limited_columns()) {
      const int variant = for_limited_columns();
      if (variant != none) return variant;
    }
    if (is_automatic() && clusters_pay()) {
      const int variant = in_clusters();
      if (variant != none) return variant;
    }
    if (is_automatic() && two_passes_pay()) {
      const int variant = first_of(Algorithm::two_pass_column, Regime::any_rows);
      if (variant != none) return variant;
    }
    if (takes_few_threads()) {
      const int variant = for_many_columns();
      if (variant != none) return variant;
    }
    if (!is_automatic()) return first_of(asked, Regime::any_rows);
    if (are_few()) {
      const int variant = first_in(preferred(), Regime::few_rows);
      if (variant != none) return variant;
    }
    return first_in(preferred(), Regime::any_rows);
  }

 private:
  using X = typename V::X;
  static constexpr bool are_floats = is_full_precision<V> && sizeof(X) == sizeof(float);
  static constexpr const auto& list = kernel_variants<Exec, Op, function, Source>;
  static_assert(are_distinct(list));
  static constexpr VariantsByAlgorithm<list.size()> by_algorithm{list};

  bool is_automatic() const { return m_context.options.algorithm == Algorithm::automatic; }

  int first_in(const std::array<Algorithm, 7>& algorithms, Regime regime) const {
    for (const Algorithm algorithm : algorithms) {
      if (algorithm == Algorithm::automatic) break;
      const int variant = first_of(algorithm, regime);
      if (variant != none) return variant;
    }
    return none;
  }

  /// The algorithms to try, in order of preference.
  std::array<Algorithm, 7> preferred() const {
    using enum Algorithm;
    if constexpr (is_host_space<Exec>) return {host};
    // The choice depends on the number of columns only, not on the layout or on the number of rows.
    if (m_context.options.reproducible) {
      if constexpr (are_ordered) return {subgroup, fused_registers, online};
      return {subgroup, fused_registers, fused_scratch, online};
    }
    if (m_context.rows_are_neighbours()) {
      if (lane_holds_row()) return {subgroup, column, online};
      if (!splitting_columns_pays()) return {column, online};
      if (two_passes_replace_split()) return {two_pass_column, split_column, column, online};
      return {split_column, column, online};
    }
    // Rows that are read once need no place where they are held (measured on an H200).
    if constexpr (has_row<Source> && !Op::writes_entries) {
      const bool loops = looping_pays();
      if (loops && are_long_limited_rows()) return {online};
      return {subgroup, loops ? online : fused_registers, splitting_pays() ? split_online : online,
              online};
    }
    if constexpr (has_row<Source>) {
      if (are_long_limited_rows())
        return {cluster,       subgroup, fused_registers,
                fused_scratch, split,    splitting_pays() ? split_online : online,
                online};
      const bool is_short = !is_faster_in_clusters();
      return {subgroup,
              is_short ? fused_registers : cluster,
              is_short ? cluster : fused_registers,
              fused_scratch,
              split,
              splitting_pays() ? split_online : online,
              online};
    }
    return {packing_pays() ? packed : subgroup,
            subgroup,
            fused_registers,
            holding_pays() ? fused_scratch : split,
            split,
            splitting_pays() ? split_online : online,
            online};
  }

  /// Whether rows with operands or two inputs that a team holds are faster in the kernels of
  /// clusters, also if the cluster is one team.
  bool is_faster_in_clusters() const {
    constexpr bool has_small_teams = sizeof(X) == 2 && sizeof(typename V::Y) == 2;
    constexpr std::int64_t longest = !knows_rows<Source> ? 8192 : has_small_teams ? 0 : 4096;
    if (m_context.problem().columns > longest) return true;
    // Instructions limit doubles with operands, so that slots without an entry cost time. Shorter
    // rows have as few in a team.
    constexpr std::int64_t longest_in_two_warps = 1024;
    return knows_rows<Source> && sizeof(X) == 8 && m_context.x_contiguous() &&
           m_context.problem().columns > longest_in_two_warps && has_fewer_slots_in_clusters();
  }
  bool has_fewer_slots_in_clusters() const {
    const int of_cluster = first_of(Algorithm::cluster, Regime::any_rows);
    const int of_team = first_of(Algorithm::fused_registers, Regime::any_rows);
    if (of_cluster == none || of_team == none) return of_cluster != none;
    return has_fewer_slots(register_capacity(list[of_cluster].schedule),
                           register_capacity(list[of_team].schedule), 85);
  }
  /// Whether teams of `capacity` columns have at most `percent` of the slots for a row that teams
  /// of `other` columns have.
  bool has_fewer_slots(std::int64_t capacity, std::int64_t other, int percent) const {
    const std::int64_t columns = m_context.problem().columns;
    return 100 * divide_up(columns, capacity) * capacity <=
           percent * divide_up(columns, other) * other;
  }

  /// Whether there are so few rows that all teams are resident at one time, however many lanes they
  /// have.
  bool are_few() const {
    return !m_context.options.reproducible && m_context.x_contiguous() &&
           m_context.problem().rows <= 2 * multiprocessors(m_context.exec);
  }

  /// Whether strided rows take the shapes of `column` that have few threads per row. Calls that ask
  /// for `column` do so for few rows too if a lane can have several rows with operands or two
  /// inputs, so that tests of few rows reach these kernels.
  bool takes_few_threads() const {
    if (is_automatic()) return few_threads_pay();
    return m_context.options.algorithm == Algorithm::column &&
           (few_threads_pay() || (has_row<Source> && Op::writes_entries && has_pairs_per_lane()));
  }
  /// Whether strided rows are faster in the shapes of `column` that have few threads per row.
  bool few_threads_pay() const {
    return !is_host_space<Exec> && !m_context.options.reproducible &&
           m_context.rows_are_neighbours() &&
           (reduces_with_operands ? one_thread_pays() : exceed_resident_columns()) &&
           (!lane_holds_row() || off_sectors() != none);
  }
  /// Whether there are so many strided rows that not all teams of `column` are resident at one
  /// time.
  bool exceed_resident_columns() const {
    constexpr int longest_of_few_threads = 512;
    // per multiprocessor, in teams with 4 threads per row; long columns that are written have 16
    const bool has_many_threads =
        Op::writes_entries && m_context.problem().columns > longest_of_few_threads;
    const int resident_rows = has_many_threads ? 128 : 512;
    return m_context.problem().rows > resident_rows * multiprocessors(m_context.exec);
  }
  /// Whether rows that are only reduced and have operands are faster in teams of one thread. Rows
  /// of a few tiles (64 columns) always are, and longer ones up to a limit if there are enough rows
  /// (measured on an H200, with 2^27 entries).
  bool one_thread_pays() const {
    constexpr int longest_of_few_rows = 64;
    const std::int64_t columns = m_context.problem().columns;
    if (columns <= longest_of_few_rows) return true;
    const int longest = has_weights<Source> || (are_floats && !has_pairs_per_lane()) ? 512 : 1024;
    return columns <= longest && exceed_resident_columns();
  }
  static constexpr bool reduces_with_operands = knows_rows<Source> && !Op::writes_entries;

  /// Whether strided rows that lie side by side are faster in clusters, if these can hold them.
  /// Long columns are: they are read only once. Computation limits the kernels of half types and of
  /// long columns with operands. If these are longer than longest_in_clusters_of_many_rows(), they
  /// are faster in clusters only if `column` has no team for each multiprocessor. Rows with two
  /// inputs are faster in clusters if a lane can load two rows at one time. (Measured on an H200.)
  bool clusters_pay() const {
    if (is_host_space<Exec> || !Op::writes_entries || !m_context.rows_are_neighbours())
      return false;
    const std::int64_t columns = m_context.problem().columns;
    constexpr int longest_in_any_team = 64;
    if (columns <= longest_in_any_team) return false;
    const bool gradients_in_pairs = has_two_inputs<Source> && has_pairs_in_clusters();
    if (!gradients_in_pairs && columns <= longest_in_one_team()) return false;
    constexpr bool moves_fast = is_full_precision<V> && !knows_rows<Source>;
    constexpr int rows_per_team = 32;
    return moves_fast || gradients_in_pairs || columns <= longest_in_clusters_of_many_rows() ||
           are_halfs_without_pairs() ||
           m_context.problem().rows <= rows_per_team * multiprocessors(m_context.exec);
  }
  /// Whether rows are of half types, no lane can load two of them at one time, and `column` would
  /// read them twice (measured on an H200).
  bool are_halfs_without_pairs() const {
    constexpr int longest_in_column = 512;
    constexpr int longest_in_cluster = 2048;
    const std::int64_t columns = m_context.problem().columns;
    return !is_full_precision<V> && !has_row<Source> && columns > longest_in_column &&
           columns <= longest_in_cluster && !has_pairs_per_lane() && !two_passes_pay();
  }
  /// The longest strided rows that are faster in one team. For two inputs: with one row per lane.
  int longest_in_one_team() const {
    if (has_two_inputs<Source> && is_full_precision<V>) return are_floats ? 64 : 128;
    if (knows_rows<Source> && are_floats)
      return few_threads_pay() && has_pairs_per_lane() ? 256 : 128;
    return 256;
  }
  /// Whether the lanes of clusters load entries of two rows at one time.
  bool has_pairs_in_clusters() const {
    const int variant = in_clusters();
    return variant != none && list[variant].schedule.access == AccessMode::vectors_across_rows;
  }
  /// Clusters of teams of eight warps hold up to 2048 columns with one row per lane. With operands,
  /// half types have the most computation per byte, and floats with a bias per entry the least
  /// (measured on an H200, with half types whose results have their own type).
  int longest_in_clusters_of_many_rows() const {
    if (!is_full_precision<V>)
      return !knows_rows<Source> ? 0 : has_pairs_in_clusters() ? 2048 : 1024;
    if constexpr (knows_rows<Source> && sizeof(X) == sizeof(float)) {
      const RowInput& bias = m_context.arguments.inputs.bias;
      const bool has_bias_per_entry =
          bias.outer_stride[m_context.problem().outer_rank - 1] != 0 && bias.column_stride != 0;
      if (has_bias_per_entry) return 4096;
    }
    return 2048;
  }

  /// The variant of `cluster_column`. If the teams would share sectors and neither lanes with two
  /// rows nor overlapping teams can hold a column, long columns are faster in two passes. Teams
  /// with short pieces of a column are only fast if these are whole sectors.
  int in_clusters() const {
    constexpr auto cluster_column = Algorithm::cluster_column;
    if (m_context.shares_sectors()) {
      if (const int variant = in_pairs_off_sectors(); variant != none) return variant;
      const int variant = first_of(cluster_column, Regime::many_rows_off_sectors);
      if (variant != none) return variant;
      constexpr int longest_double = 2048;  // that is faster in parts of sectors than in two passes
      if (is_automatic() && !has_row<Source> && two_passes_pay() &&
          (sizeof(X) < 8 || m_context.problem().columns > longest_double))
        return none;
    }
    constexpr int lanes_of_long_piece = 32;
    const bool any_pieces = !is_automatic() || m_context.columns_are_sectors();
    return first_of(cluster_column, Regime::any_rows, any_pieces ? 1 : lanes_of_long_piece);
  }
  /// The variant of `cluster_column` whose lanes load two rows at one time, or `none`. It is faster
  /// than overlapping teams for long columns (measured on an H200).
  int in_pairs_off_sectors() const {
    constexpr int longest_in_overlapping_teams = 640;
    if (m_context.problem().columns <= longest_in_overlapping_teams) return none;
    return first_of(Algorithm::cluster_column, Regime::many_rows);
  }

  /// Whether `two_pass_column` is faster than other schedules for long strided rows that aren't in
  /// the cache. Few neighbours leave lanes idle.
  bool two_passes_pay() const {
    if (!are_panels_in_memory()) return false;
    return Op::writes_entries ? two_passes_pay_for_output() : two_passes_pay_for_numbers();
  }
  /// Whether x doesn't fit the cache and has strided rows for all lanes of `two_pass_column`.
  bool are_panels_in_memory() const {
    const std::int64_t bytes = m_context.problem().rows * m_context.problem().columns *
                               static_cast<std::int64_t>(sizeof(X));
    return !is_host_space<Exec> && m_context.rows_are_neighbours() && fills_panels() &&
           bytes > last_cache_bytes(m_context.exec);
  }
  /// Computation limits calls with operands, so that they gain only if the teams of `column` were
  /// too few or would share sectors. (Measured on an H200.)
  bool two_passes_pay_for_output() const {
    const bool are_sectors = m_context.columns_are_sectors();
    const int longest_held = is_full_precision<V> ? 1024
                             : has_row<Source>    ? 4096
                             : are_sectors        ? 2560
                                                  : 1280;
    return m_context.problem().columns > longest_held &&
           (!knows_rows<Source> || splitting_columns_pays() ||
            (is_full_precision<V> && !are_sectors));
  }
  /// For rows that are only reduced. Floats are as fast in one kernel, except where
  /// splitting_columns_pays(). (Measured on an H100.)
  bool two_passes_pay_for_numbers() const {
    if (has_row<Source> || (is_full_precision<V> && sizeof(X) == sizeof(float))) return false;
    const int longest_in_one_team = is_full_precision<V>                   ? 512
                                    : m_context.columns_of_x_are_sectors() ? 1536
                                                                           : 2560;
    return m_context.problem().columns > longest_in_one_team;
  }
  /// Whether there are enough neighbours for the lanes of `two_pass_column`.
  bool fills_panels() const {
    constexpr bool computes_much = Op::writes_entries && has_row<Source> && !is_full_precision<V>;
    constexpr int fewest = computes_much ? 256 : sizeof(X) == 8 ? 32 : 64;
    return m_context.neighbours() >= fewest;
  }
  /// Whether `two_pass_column` is faster than `split_column` also if x is in the cache.
  bool two_passes_replace_split() const {
    return (!has_row<Source> || !Op::writes_entries) && fills_panels();
  }

  /// The variant that writes whole sectors, if teams of other variants would share sectors;
  /// otherwise `none`. Half types take many instructions per byte: it isn't faster for short
  /// columns, and for long ones if a lane loads several rows at one time, except results of float
  /// in teams without many empty slots (measured on an H200).
  int off_sectors() const {
    constexpr bool are_halfs = sizeof(X) == 2;
    constexpr int shortest = are_halfs ? 9 : 2;
    constexpr int longest_half_in_pairs = 64;
    const std::int64_t columns = m_context.problem().columns;
    if (!Op::writes_entries || columns < shortest || !m_context.shares_sectors()) return none;
    const int variant = first_of(Algorithm::column, Regime::many_rows_off_sectors);
    if (are_halfs && variant != none && columns > longest_half_in_pairs && has_pairs_per_lane()) {
      const bool is_full = 8 * columns > 7 * register_capacity(list[variant].schedule);
      if (!output_is_wider<V> || !is_full) return none;
    }
    return variant;
  }

  int for_many_columns() const {
    if (const int variant = off_sectors(); variant != none) return variant;
    const int variant = for_many_rows();
    // For half types, it is faster to read rows twice, several rows per load, than to hold them in
    // teams of 16 rows.
    if (!Op::writes_entries || !is_full_precision<V> || variant == none || holds_column(variant))
      return variant;
    const int other = first_of(Algorithm::column, Regime::any_rows);
    return other != none && holds_column(other) ? other : variant;
  }
  /// The shape of `column` for many rows that holds the columns: the first one in the list, unless
  /// a later one has clearly fewer slots. A lane takes as long for an empty slot as for an entry.
  /// (The factor was found on an H200.) For longer columns: see first_of().
  int for_many_rows() const {
    const auto slots = [](int variant) { return register_capacity(list[variant].schedule); };
    int best = none;
    for (const int c : by_algorithm.of(Algorithm::column)) {
      if (!is_candidate(c, Regime::many_rows) || !holds_column(c)) continue;
      if (best != none && list[best].is_limited != list[c].is_limited) break;
      if (best == none || 4 * slots(c) < 3 * slots(best)) best = c;
    }
    return best != none ? best : first_of(Algorithm::column, Regime::many_rows);
  }
  bool holds_column(int variant) const {
    return m_context.problem().columns <= register_capacity(list[variant].schedule);
  }

  /// Whether `packed` is faster than `subgroup`. It is slower if lanes can read rows of their own
  /// in loads of 16 bytes, and if a lane holds a whole short row. (All limits were measured on an
  /// H200.)
  bool packing_pays() const {
    const std::int64_t columns = m_context.problem().columns;
    if constexpr (Op::writes_entries && !is_full_precision<V>)
      return packing_in_words_pays(columns);
    constexpr int shortest = is_full_precision<V> ? 2 * widest<X> + 1 : 5;
    constexpr int longest = 56;  // longer: loads of one entry are as fast
    return columns % widest<X> != 0 && columns >= shortest && columns <= longest;
  }
  /// The same for rows of half types that lanes access in words. In rows with an even number of
  /// chunks, lanes would access the same banks of scratch memory. No shape is for longer rows than
  /// the longest.
  static bool packing_in_words_pays(std::int64_t columns) {
    constexpr std::int64_t slow[] = {56, 120, 130, 131, 200};  // faster in `subgroup`
    constexpr int longest = 201;
    return columns > 1 && columns <= longest && columns % (2 * widest<X>) != 0 &&
           std::find(std::begin(slow), std::end(slow), columns) == std::end(slow);
  }

  /// Whether `split_online` is preferred to `online`. Rows that are read twice should still be in
  /// the cache at the second read, so that only a few can be in progress at one time. Rows that are
  /// read once are divided if there are fewer rows than teams.
  bool splitting_pays() const {
    return Op::writes_entries || m_context.problem().rows < 2 * multiprocessors(m_context.exec);
  }

  /// Whether rows with operands that are only reduced pass through small teams. They are held if
  /// they are few, and if that is faster, except rows that end early: floats that fill a team, and
  /// rows with weights of their own (measured on an H100).
  bool looping_pays() const {
    const int loop = first_of(Algorithm::online, Regime::any_rows);
    if (loop == none || !fills_device(loop)) return false;
    const RowInputs& inputs = m_context.arguments.inputs;
    if (inputs.lengths.data != nullptr || inputs.causal_limit != RowInputs::no_limit) return true;
    if constexpr (has_weights<Source>) return !have_weights_of_their_own();
    const int held = first_of(Algorithm::fused_registers, Regime::any_rows);
    return !are_floats || held == none ||
           4 * m_context.problem().columns < 3 * register_capacity(list[held].schedule);
  }
  /// Whether rows of float or double have weights of their own. The bytes of these take longer than
  /// what small teams save.
  bool have_weights_of_their_own() const {
    if constexpr (has_weights<Source> && is_full_precision<V>) {
      const std::span strides(m_context.arguments.inputs.weights.outer_stride,
                              m_context.problem().outer_rank);
      return std::any_of(strides.begin(), strides.end(), [](auto stride) { return stride != 0; });
    } else {
      return false;
    }
  }
  /// Whether a variant has at least two rows for each team that is resident at one time.
  bool fills_device(int variant) const {
    return m_context.problem().rows >= static_cast<std::int64_t>(2) *
                                           list[variant].schedule.min_teams *
                                           multiprocessors(m_context.exec);
  }

  /// Whether strided rows are so short that a lane has little to do per row, and a lane can't load
  /// several rows at one time. With operands or two inputs, lanes load several rows only if there
  /// are many, and rows that are only reduced are faster in one lane in any case. Many rows of
  /// float with two inputs are faster in `column`. (Measured on an H200.)
  bool lane_holds_row() const {
    // of the shapes of `subgroup` with one lane per row
    constexpr int longest = has_labels<Source> ? 24 : 8;
    if (m_context.problem().columns > longest) return false;
    if (reduces_with_operands || (has_row<Source> && !exceed_resident_columns())) return true;
    if constexpr (has_two_inputs<Source>) return !are_floats && !has_pairs_of_short_rows(longest);
    return !has_pairs_per_lane();
  }
  /// Whether a lane of `column` can load entries of several rows with two inputs at one time, and
  /// has no slots for more than `columns` columns.
  bool has_pairs_of_short_rows(int columns) const {
    const int variant = for_many_rows();
    return variant != none && register_capacity(list[variant].schedule) <= columns;
  }
  /// Whether a lane of `column` can load entries of several rows at one time.
  bool has_pairs_per_lane() const {
    const int variant = for_many_rows();
    return variant != none && list[variant].schedule.access == AccessMode::vectors_across_rows;
  }

  /// Whether `split_column` is faster than `column`. It is for rows that take more work than
  /// waiting for other teams takes, if `column` would have too few teams or would read most cache
  /// lines twice (measured on an H200).
  bool splitting_columns_pays() const {
    constexpr int short_column = 512;
    return m_context.problem().columns > short_column &&
           (has_too_few_columns() ||
            (split_lanes_have_neighbours() && !m_context.columns_are_lines()));
  }

  /// Whether `column` would have too few teams. For rows in memory that are only reduced and have
  /// operands, two passes are faster up to twice as many rows. For rows of double with weights,
  /// `split_column` is faster up to 40 rows per multiprocessor (measured on an H200).
  bool has_too_few_columns() const {
    int fewest_rows = 24;  // per multiprocessor
    if (reduces_with_operands && are_panels_in_memory()) {
      if (has_weights<Source> && sizeof(X) == sizeof(double)) fewest_rows = 40;
      if (first_of(Algorithm::two_pass_column, Regime::any_rows) != none) fewest_rows = 48;
    }
    return m_context.problem().rows < fewest_rows * multiprocessors(m_context.exec);
  }

  /// Whether the only operands of a call are lengths and a causal limit, and its rows are strided.
  bool are_limited_columns() const {
    return Op::writes_entries && !is_host_space<Exec> && has_limits_alone() &&
           m_context.rows_are_neighbours();
  }
  /// The variant of LimitedSource for strided rows, or `none`. Half types that no team holds are
  /// read twice by `column`, and other types by two kernels if no cluster holds them. If teams
  /// would share sectors, `column` reads the sectors of long columns too often. (Measured on an
  /// H200, and clusters of floats on an H100.)
  int for_limited_columns() const {
    constexpr bool are_doubles = sizeof(X) == 8;
    constexpr bool are_halfs = sizeof(X) == 2 && !output_is_wider<V>;
    const bool in_small_teams =
        are_doubles || (sizeof(X) == sizeof(float) && m_context.shares_sectors());
    const int longest_held = in_small_teams ? 128 : 256;
    constexpr int longest_in_cluster = are_doubles ? 2048 : 4096;
    constexpr int longest_in_parts_of_sectors = 2560;
    constexpr int longest_read_once = are_doubles || are_halfs ? 0 : 768;
    const std::int64_t columns = m_context.problem().columns;
    if (columns <= longest_held) return limited_variant(Algorithm::column);
    if (columns <= longest_in_cluster) {
      const int variant = in_clusters();
      if (variant != none && list[variant].is_limited) return variant;
    }
    if (are_halfs && !has_too_few_columns() &&
        (columns <= longest_in_parts_of_sectors || m_context.columns_are_sectors()))
      return limited_variant(Algorithm::column);
    return are_panels_in_memory() && columns > longest_read_once
               ? limited_variant(Algorithm::two_pass_column)
               : none;
  }
  int limited_variant(Algorithm algorithm) const {
    const int variant = first_of(algorithm, Regime::any_rows);
    return variant != none && list[variant].is_limited ? variant : none;
  }

  /// Whether each lane of `split_column` has several neighbouring rows, see Shapes.
  static constexpr bool split_lanes_have_neighbours() {
    for (const auto& variant : list)
      if (variant.schedule.algorithm == Algorithm::split_column)
        return variant.schedule.rows_per_thread > 1;
    return false;
  }

  /// Whether a row that fits one team is held by one team. Rows of doubles are faster in more teams
  /// of fewer lanes, which leave registers for their arithmetic. If there are fewer rows than
  /// multiprocessors, rows are faster in more teams too.
  bool holding_pays() const {
    return Op::writes_entries && sizeof(typename V::Compute) < 8 &&
           m_context.problem().rows >= multiprocessors(m_context.exec);
  }

  /// The first variant that serves, suits the problem and has at least `fewest_lanes` lanes per
  /// vector. If none suits, the last one that serves and has the best access mode and source.
  int first_of(Algorithm algorithm, Regime regime, int fewest_lanes = 1) const {
    int last = none;
    for (const int c : by_algorithm.of(algorithm)) {
      const Schedule& schedule = list[c].schedule;
      if (schedule.vector_length < fewest_lanes || !is_candidate(c, regime)) continue;
      if (last != none && (list[last].schedule.access != schedule.access ||
                           list[last].is_limited != list[c].is_limited))
        break;
      last = c;
      if (suits(algorithm, c)) break;
    }
    return last;
  }
  /// Whether a variant serves the call in a regime.
  bool is_candidate(int variant, Regime regime) const {
    return list[variant].regime == regime && has_order(list[variant]) &&
           has_enough_pairs(list[variant].schedule) && list[variant].serves(m_context);
  }
  /// Whether there are two teams per multiprocessor if a lane has several rows with operands or two
  /// inputs, or several rows in clusters. With fewer rows, lanes with one row are faster (measured
  /// on an H200), if a kernel with one row per lane can hold the column. Calls that ask for an
  /// algorithm don't need as many.
  bool has_enough_pairs(const Schedule& schedule) const {
    if (!is_automatic() || schedule.access != AccessMode::vectors_across_rows ||
        (!has_row<Source> && schedule.algorithm == Algorithm::column))
      return true;
    std::int64_t teams_per_row = 1;
    if (schedule.algorithm == Algorithm::cluster_column) {
      const std::int64_t columns = m_context.problem().columns;
      if (columns > longest_in_clusters_without_pairs()) return true;
      teams_per_row = divide_up(columns, register_capacity(schedule));
    }
    const int rows_per_team = schedule.vector_length * schedule.width * schedule.panels;
    return m_context.problem().rows * teams_per_row >=
           2 * rows_per_team * multiprocessors(m_context.exec);
  }
  /// What clusters hold in lanes with one row each.
  static constexpr std::int64_t longest_in_clusters_without_pairs() {
    std::int64_t longest = 0;
    for (const auto& variant : list)
      if (variant.schedule.algorithm == Algorithm::cluster_column &&
          variant.schedule.access == AccessMode::scalar)
        longest = std::max(longest, most_cluster_teams * register_capacity(variant.schedule));
    return longest;
  }
  /// Whether a variant that serves is preferred to the next ones. `column` also serves rows that
  /// are longer than its tile. `cluster` has teams of rising size, and so has `online` for rows
  /// that are only read; for PlainSource, tuning tables choose among them.
  bool suits(Algorithm algorithm, int variant) const {
    constexpr bool loops_in_small_teams =
        !Op::writes_entries && !std::is_same_v<Source, PlainSource<V>>;
    if (algorithm == Algorithm::column) return holds_column(variant);
    if (algorithm == Algorithm::cluster) return has_large_teams_or_one(variant);
    if (algorithm == Algorithm::cluster_column &&
        (list[variant].is_limited || is_slow_in_large_clusters(list[variant].schedule)))
      return fits_small_cluster(list[variant].schedule);
    if (!loops_in_small_teams || algorithm != Algorithm::online) return true;
    if (m_context.options.reproducible) return loops_a_few_times(variant);
    return fills_device(variant) && !have_weights_of_their_own();
  }
  /// Clusters of several teams are slow if the teams are small. Rows with limits: see
  /// fits_small_team(). (All constants were measured on an H200.)
  bool has_large_teams_or_one(int variant) const {
    const Schedule& s = list[variant].schedule;
    if (list[variant].is_limited) return has_large_team(s) || fits_small_team(s);
    if (m_context.problem().columns <= register_capacity(s)) return true;
    if constexpr (knows_rows<Source> && sizeof(X) == 8) return suits_doubles(s);
    if constexpr (knows_rows<Source> && sizeof(X) == 2 && sizeof(typename V::Y) == 2)
      return suits_halfs(s);
    return has_large_team(s);
  }
  static bool has_large_team(const Schedule& schedule) {
    constexpr int fewest_lanes = 128;
    return schedule.team_size * schedule.vector_length >= fewest_lanes;
  }
  /// For doubles with operands that several teams share: teams of four warps with as many entries
  /// as registers hold are faster than those of eight, unless they have more empty slots. Teams
  /// with few entries per lane are for rows that one of them holds.
  bool suits_doubles(const Schedule& schedule) const {
    constexpr int fewest_entries = 16;
    const std::int64_t capacity = register_capacity(schedule);
    return capacity == most_columns_in_one_team() ||
           (schedule.items * schedule.width >= fewest_entries &&
            has_fewer_slots(capacity, most_columns_in_one_team(), 110));
  }
  /// For half types with operands: teams of two warps are faster if they have clearly fewer empty
  /// slots. Otherwise, one large team that can hold the row is faster than several (except aligned
  /// rows, for which no such team is compiled).
  bool suits_halfs(const Schedule& schedule) const {
    constexpr int lanes_of_small_team = 64;
    const std::int64_t capacity = register_capacity(schedule);
    const int lanes = schedule.team_size * schedule.vector_length;
    if (lanes == lanes_of_small_team && has_fewer_slots(capacity, 2 * capacity, 85)) return true;
    return has_large_team(schedule) && m_context.problem().columns > most_columns_in_one_team();
  }
  /// Whether large teams are faster than large clusters: of teams that have several groups of
  /// threads, for operands and for half types with two inputs, and for doubles whose columns don't
  /// begin at sectors (measured on an H200).
  bool is_slow_in_large_clusters(const Schedule& schedule) const {
    if (!has_row<Source> && sizeof(X) == 8) return !m_context.columns_are_sectors();
    return schedule.panels > 1 &&
           (knows_rows<Source> || (has_two_inputs<Source> && sizeof(X) == 2));
  }
  /// Strided doubles that end early take large teams in place of large clusters, too (measured on
  /// H100 and H200).
  bool fits_small_cluster(const Schedule& schedule) const {
    constexpr int most_teams = 8;
    return m_context.problem().columns <= most_teams * register_capacity(schedule);
  }
  /// What the largest team of `cluster` holds in its registers.
  static constexpr std::int64_t most_columns_in_one_team() {
    std::int64_t most = 0;
    for (const auto& variant : list)
      if (variant.schedule.algorithm == Algorithm::cluster && !variant.is_limited)
        most = std::max(most, register_capacity(variant.schedule));
    return most;
  }
  /// Whether a row with limits is short enough for clusters of small teams, whose scratch memory
  /// holds what their registers don't (measured on an H100).
  bool fits_small_team(const Schedule& schedule) const {
    constexpr int parts = sizeof(X) == sizeof(float) || output_is_wider<V> ? 2 : 4;
    return m_context.problem().columns <= parts * register_capacity(schedule);
  }
  /// Whether the only operands of a call are lengths and a causal limit, and the rows are so long
  /// that LimitedSource takes other algorithms than GeneralSource does (measured on an H100).
  bool are_long_limited_rows() const {
    constexpr std::int64_t longest_in_vector = Op::writes_entries ? 1024 : 512;
    return has_limits_alone() && m_context.x_contiguous() &&
           m_context.problem().columns > longest_in_vector;
  }
  bool has_limits_alone() const {
    if constexpr (std::is_same_v<Source, GeneralSource<V>>)
      return LimitedSource<V>::serves(m_context.arguments);
    else
      return false;
  }
  /// For `reproducible`, whose choice depends on the number of columns alone.
  bool loops_a_few_times(int variant) const {
    constexpr int most = 8;
    return m_context.problem().columns <= most * register_capacity(list[variant].schedule);
  }

  /// Whether the variant adds up the row in the order that the call asks for.
  bool has_order(const KernelVariant<Exec, V, ArgumentsOf<Source>>& variant) const {
    const Options& options = m_context.options;
    return !are_ordered || !options.reproducible || options.algorithm != Algorithm::automatic ||
           variant.in_order.contains(m_context.problem().columns);
  }
  /// Whether calls with Options::reproducible have the bits of calls inside kernels.
  static constexpr bool are_ordered = !is_host_space<Exec> && is_ordered<Source>;

  const Context& m_context;
};

}  // namespace KokkosSoftmax::Impl

#endif
