// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests every compiled schedule, regardless of the shapes for which the rule chooses it: rows that
// just fit its registers and rows that just don't, rows of whole chunks and others, contiguous and
// strided rows, scaled rows, and different alignments of x and y.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <support/Choices.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::Operation;
using KokkosSoftmax::Impl::Schedule;

/// Returns widths that fill the tile of a schedule in different ways.
std::set<std::size_t> widths_of(const Schedule& s) {
  const auto capacity = static_cast<std::size_t>(register_capacity(s));
  // a chunk across rows is one column wide
  const auto width =
      static_cast<std::size_t>(s.access == AccessMode::vectors_across_rows ? 1 : s.width);
  const std::size_t half = (capacity / 2 + width - 1) / width * width;
  std::set<std::size_t> columns{width,
                                half,
                                capacity - width,
                                capacity,
                                capacity + 1,
                                capacity + width - 1,
                                half + 1,
                                capacity + width,
                                3 * capacity - 1,
                                3 * capacity};
  columns.erase(0);
  // PackedKernel has code of its own for each of the last lengths that a shape of half types serves
  if (s.access == AccessMode::dense_rows)
    for (std::size_t n = capacity - width + 1; n < capacity; ++n) columns.insert(n);
  // PackedPairsKernel has code of its own for each number of pairs per lane.
  if (s.access == AccessMode::dense_pairs)
    for (std::size_t n = half; n < capacity; ++n) columns.insert(n);
  return columns;
}

template <class C>
class Schedules : public ::testing::Test {
 protected:
  using V = typename C::values;
  using Exec = typename C::exec;

  static void expect_right() {
    expect_operation_right<Operation::softmax>();
    expect_operation_right<Operation::log_softmax>();
    expect_operation_right<Operation::logsumexp>();
  }

 private:
  template <Operation operation>
  static void expect_operation_right() {
    const auto schedules = KokkosSoftmax::Impl::compiled_schedules<operation, Exec, V>();
    for (std::size_t s = 0; s < schedules.size(); ++s) {
      const KokkosSoftmax::Impl::Choice choice{static_cast<int>(s), nullptr};
      int served = 0;
      for (const std::size_t columns : widths_of(schedules[s])) {
        // One row, and if rows are short, more rows than a team has. 8 rows are a multiple of every
        // chunk across rows.
        const bool is_short = columns <= 64 || schedules[s].algorithm == Algorithm::packed;
        for (const std::size_t count : {1, is_short ? 700 : 5, is_short ? 712 : 8})
          served += expect_sample_right<operation>(choice, schedules[s],
                                                   normal_sample<typename V::X>(count, columns));
      }
      if (has_tiles(schedules[s].algorithm)) {
        const std::int64_t tiles = 2 * register_capacity(schedules[s]);
        expect_sample_right<operation>(choice, schedules[s], hostile_sample(tiles));
        const Case c{.extents = {5, static_cast<std::size_t>(tiles + 3)},
                     .options = {.axis = 1, .scale = uneven_scale},
                     .x_offset = 1,
                     .y_offset = 3};
        expect_case_right<operation>(c, choice, schedules[s], uneven_sample(tiles + 3));
        const Case side_by_side{.extents = {static_cast<std::size_t>(tiles + 3), 8},
                                .options = {.axis = 0, .scale = uneven_scale}};
        expect_case_right<operation>(side_by_side, choice, schedules[s],
                                     uneven_sample(tiles + 3, 8));
      }
      EXPECT_GT(served, 0) << schedules[s] << " serves nothing";
    }
  }

  /// Whether the algorithm processes a row in several tiles. Then a special value in one tile must
  /// have the right effect on the other tiles.
  static bool has_tiles(Algorithm algorithm) {
    using enum Algorithm;
    for (const Algorithm a : {fused_scratch, online, split, split_online, cluster, column,
                              split_column, cluster_column, two_pass_column})
      if (a == algorithm) return true;
    return false;
  }

  using Sample = SampleFor<typename V::X>;
  static const Sample& hostile_sample(std::int64_t columns) {
    static std::map<std::int64_t, Sample> samples;
    auto& sample = samples[columns];
    if (sample.rows.count == 0) {
      sample.rows = hostile_rows<typename V::X>(static_cast<std::size_t>(columns));
      sample.expected = reference(sample.rows);
    }
    return sample;
  }

  static constexpr double uneven_scale = -0.7;
  static const Sample& uneven_sample(std::int64_t columns, std::size_t count = 5) {
    static std::map<std::pair<std::int64_t, std::size_t>, Sample> samples;
    auto& sample = samples[{columns, count}];
    if (sample.rows.count == 0) {
      sample.rows = normal_sample<typename V::X>(count, static_cast<std::size_t>(columns)).rows;
      sample.expected = reference(sample.rows, uneven_scale);
    }
    return sample;
  }

  /// Checks the sample along both axes. Returns whether the schedule serves one of them.
  template <Operation operation>
  static bool expect_sample_right(const KokkosSoftmax::Impl::Choice& choice,
                                  const Schedule& schedule, const Sample& sample) {
    bool served = false;
    for (const int axis : {0, 1}) {
      const std::size_t count = sample.rows.count;
      const std::size_t columns = sample.rows.columns;
      const Case c{.extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                   .options = {.axis = axis}};
      served = expect_case_right<operation>(c, choice, schedule, sample) || served;
    }
    return served;
  }

  /// Checks the case. Returns whether the schedule serves it.
  template <Operation operation>
  static bool expect_case_right(const Case& c, const KokkosSoftmax::Impl::Choice& choice,
                                const Schedule& schedule, const Sample& sample) {
    const auto result =
        check_choice<operation, V, 2>(Exec{}, c, choice, sample.rows, sample.expected);
    if (result) {
      EXPECT_TRUE(*result) << schedule;
    }
    return result.has_value();
  }
};

TYPED_TEST_SUITE(Schedules, ValueConfigs, ConfigName);
TYPED_TEST(Schedules, AreRight) { TestFixture::expect_right(); }

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
template <class C>
class HalfSchedules : public Schedules<C> {};
TYPED_TEST_SUITE(HalfSchedules, HalfConfigs<Kokkos::LayoutRight>, ConfigName);
TYPED_TEST(HalfSchedules, AreRight) { TestFixture::expect_right(); }
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
