// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every schedule that is compiled, whatever the rule takes it for: rows that just fit its
// registers, that just don't, with and without edges, contiguous and strided, scaled and at
// addresses of x and y that differ.

#include <gtest/gtest.h>

#include <Compiled.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <map>
#include <set>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::Operation;
using KokkosSoftmax::Impl::Schedule;

/// Widths at which a schedule's tile is filled in different ways.
std::set<std::size_t> widths_of(const Schedule& s) {
  const auto capacity = static_cast<std::size_t>(
      s.algorithm == Algorithm::packed ? s.items * s.width : register_capacity(s));
  const auto width = static_cast<std::size_t>(s.width);
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
  return columns;
}

template <class C>
class Schedules : public ::testing::Test {
 protected:
  using V = typename C::values;
  using Exec = typename C::exec;

  static void expect_right() {
    expect_operation_right<Operation::softmax>(Function::softmax);
    expect_operation_right<Operation::log_softmax>(Function::log_softmax);
    expect_operation_right<Operation::logsumexp>(Function::logsumexp);
  }

 private:
  template <Operation operation>
  static void expect_operation_right(Function function) {
    const auto schedules = KokkosSoftmax::Impl::compiled_schedules<operation, Exec, V>();
    for (std::size_t s = 0; s < schedules.size(); ++s) {
      const KokkosSoftmax::Impl::Choice choice{static_cast<int>(s), nullptr};
      int served = 0;
      for (const std::size_t columns : widths_of(schedules[s])) {
        // one, and more than a team has where they are short
        for (const std::size_t count : {std::size_t(1), std::size_t(columns <= 64 ? 700 : 5)})
          served += expect_sample_right<operation>(function, choice, schedules[s],
                                                   normal_sample<typename V::X>(count, columns));
      }
      if (has_tiles(schedules[s].algorithm)) {
        const std::int64_t tiles = 2 * register_capacity(schedules[s]);
        expect_sample_right<operation>(function, choice, schedules[s], hostile_sample(tiles));
        const Case c{.function = function,
                     .extents = {5, static_cast<std::size_t>(tiles + 3)},
                     .options = {.axis = 1, .scale = uneven_scale},
                     .x_offset = 1,
                     .y_offset = 3};
        expect_case_right<operation>(c, choice, schedules[s], uneven_sample(tiles + 3));
      }
      EXPECT_GT(served, 0) << schedules[s] << " serves nothing";
    }
  }

  /// Special values in one tile, and what another makes of them.
  static bool has_tiles(Algorithm algorithm) {
    using enum Algorithm;
    for (const Algorithm a :
         {fused_scratch, online, split, split_online, cluster, column, split_column})
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
  static const Sample& uneven_sample(std::int64_t columns) {
    static std::map<std::int64_t, Sample> samples;
    auto& sample = samples[columns];
    if (sample.rows.count == 0) {
      sample.rows = normal_sample<typename V::X>(5, static_cast<std::size_t>(columns)).rows;
      sample.expected = reference(sample.rows, uneven_scale);
    }
    return sample;
  }

  /// Along both axes; whether the schedule serves one.
  template <Operation operation>
  static bool expect_sample_right(Function function, const KokkosSoftmax::Impl::Choice& choice,
                                  const Schedule& schedule, const Sample& sample) {
    bool served = false;
    for (const int axis : {0, 1}) {
      const std::size_t count = sample.rows.count;
      const std::size_t columns = sample.rows.columns;
      const Case c{.function = function,
                   .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                   .options = {.axis = axis}};
      served = expect_case_right<operation>(c, choice, schedule, sample) || served;
    }
    return served;
  }

  /// Whether the schedule serves the case.
  template <Operation operation>
  static bool expect_case_right(const Case& c, const KokkosSoftmax::Impl::Choice& choice,
                                const Schedule& schedule, const Sample& sample) {
    constexpr int y_rank = operation == Operation::logsumexp ? 1 : 2;
    const Exec exec;
    Field<typename V::X, Exec> x(place<Kokkos::LayoutRight>(c.extents, c.x_offset));
    Field<typename V::Y, Exec> y(place<Kokkos::LayoutRight>(c.y_extents(), c.y_offset));
    const auto problem = KokkosSoftmax::Impl::make_row_problem(
        KokkosSoftmax::Impl::strided_array(
            x.template view<Kokkos::LayoutRight, 2, const typename V::X>()),
        KokkosSoftmax::Impl::strided_array(y.template view<Kokkos::LayoutRight, y_rank>()),
        c.options.axis);
    if (!KokkosSoftmax::Impl::serves<operation>(exec, problem, c.options, choice)) return false;
    x.assign(rows_to_tensor(sample.rows.values, c.extents, c.options.axis));
    KokkosSoftmax::Impl::launch<operation>(exec, problem, c.options, choice);
    exec.fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y)) << schedule;
    return true;
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
