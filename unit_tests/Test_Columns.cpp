// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strided rows that are neighbours in memory. If their positions allow it, the entries of several
// rows are moved in one load.

#include <launch/LaunchContext.hpp>
#include <row/GeneralSource.hpp>
#include <support/BesideY.hpp>
#include <support/Choices.hpp>
#include <support/Devices.hpp>
#include <support/StridedPlan.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::Operation;

/// Tests every schedule of `column`, `cluster_column` and `two_pass_column`, regardless of the
/// numbers of rows for which the rule chooses it.
template <class C>
class Columns : public ::testing::Test {
 protected:
  using V = typename C::values;
  using X = typename V::X;
  using Exec = typename C::exec;
  using Sample = SampleFor<X>;

  /// Checks rows along the middle axis of a tensor in which `neighbours` rows are neighbours in
  /// memory. Returns the number of schedules that serve them: those that load chunks across rows,
  /// those that store whole sectors, and all.
  struct Served {
    int in_chunks = 0, in_sectors = 0, all = 0;
  };
  static Served expect_right(const Sample& sample, std::size_t neighbours, Case c,
                             bool in_place = false) {
    c.extents = {sample.rows.count / neighbours, sample.rows.columns, neighbours};
    c.options.axis = 1;
    Served served;
    expect_operation_right<Operation::softmax>(sample, c, in_place, served);
    expect_operation_right<Operation::log_softmax>(sample, c, in_place, served);
    if (!in_place) expect_operation_right<Operation::logsumexp>(sample, c, false, served);
    return served;
  }

  /// For half types, hosts have only the schedules of Algorithm::host.
  static constexpr bool has_schedules = !(is_host_space<Exec> && sizeof(X) == 2);

  static bool is_tested(Algorithm algorithm) {
    return algorithm == Algorithm::column || algorithm == Algorithm::cluster_column ||
           algorithm == Algorithm::two_pass_column;
  }

  /// Repeats the rows until their number is a multiple of `count`.
  static Rows<typename C::value> repeated(const Rows<typename C::value>& rows, std::size_t count) {
    auto more = rows;
    while (more.count % count != 0) {
      const std::size_t from = more.count % rows.count * rows.columns;
      for (std::size_t i = 0; i < rows.columns; ++i) more.values.push_back(rows.values[from + i]);
      ++more.count;
    }
    return more;
  }

 private:
  template <Operation operation>
  static void expect_operation_right(const Sample& sample, const Case& c, bool in_place,
                                     Served& served) {
    const auto schedules = KokkosSoftmax::Impl::compiled_schedules<operation, Exec, V>();
    for (std::size_t s = 0; s < schedules.size(); ++s) {
      if (!is_tested(schedules[s].algorithm)) continue;
      const auto result = check_choice<operation, V, 3>(Exec{}, c, {static_cast<int>(s), nullptr},
                                                        sample.rows, sample.expected, in_place);
      if (!result) continue;
      EXPECT_TRUE(*result) << schedules[s];
      ++served.all;
      served.in_chunks += schedules[s].access == AccessMode::vectors_across_rows;
      served.in_sectors += schedules[s].access == AccessMode::whole_sectors;
    }
  }
};
TYPED_TEST_SUITE(Columns, AllScheduleConfigs, ConfigName);

// Numbers of neighbours and addresses that allow chunks of 8, 4 or 2 rows, or no chunks.
TYPED_TEST(Columns, AnyPlaces) {
  for (const std::size_t columns : {3, 21, 300})
    for (const std::size_t neighbours : {5, 6, 12, 96})
      for (const auto& [x_offset, y_offset] :
           {std::pair<std::size_t, std::size_t>{0, 0}, {1, 0}, {0, 1}, {2, 0}, {0, 2}, {4, 4}}) {
        const auto served = TestFixture::expect_right(
            normal_sample<typename TypeParam::x_value>(3 * neighbours, columns), neighbours,
            {.x_offset = x_offset, .y_offset = y_offset});
        if (!TestFixture::has_schedules) continue;
        EXPECT_GT(served.all, 0);
        const bool pairs = neighbours % 2 == 0 && x_offset % 2 == 0;
        if (!pairs) {
          EXPECT_EQ(served.in_chunks, 0);
        } else if (y_offset % 2 == 0 && columns == 3) {
          EXPECT_GT(served.in_chunks, 0);
        }
      }
}

// Neighbours that fill several teams, whose borders are at other places of sectors in each column.
TYPED_TEST(Columns, SectorsOfTwoTeams) {
  for (const std::size_t columns : {3, 8, 45})
    for (const std::size_t neighbours : {601, 1000})
      for (const std::size_t y_offset : {0, 1, 5}) {
        const auto served = TestFixture::expect_right(
            normal_sample<typename TypeParam::x_value>(2 * neighbours, columns), neighbours,
            {.y_offset = y_offset});
        if (TestFixture::has_schedules && columns <= 8) {
          EXPECT_GT(served.in_sectors, 0);
        }
      }
}

TYPED_TEST(Columns, InPlace) {
  if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::y_value>)
    for (const std::size_t columns : {3, 21, 100, 700})
      for (const std::size_t neighbours : {7, 8})
        TestFixture::expect_right(
            normal_sample<typename TypeParam::x_value>(3 * neighbours, columns), neighbours, {},
            true);
  else
    GTEST_SKIP() << "x and y have different types";
}

TYPED_TEST(Columns, HostileRows) {
  for (const std::size_t columns : {3, 21, 64, 1025})
    for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero}) {
      const auto rows =
          TestFixture::repeated(hostile_rows<typename TypeParam::x_value>(columns), 8);
      TestFixture::expect_right({rows, reference(rows, 1.0, empty_rows)}, 8,
                                {.options = {.empty_rows = empty_rows}});
    }
}

TYPED_TEST(Columns, Scaled) {
  for (const std::size_t columns : {3, 21, 300})
    for (const double scale : {-0.7, 0.0, 20.0}) {
      const auto& rows = normal_sample<typename TypeParam::x_value>(16, columns).rows;
      TestFixture::expect_right({rows, reference(rows, scale)}, 8, {.options = {.scale = scale}});
    }
}

// The log-sum-exp and the maximum of each row, where the rows of teams overlap, too.
TYPED_TEST(Columns, NumbersBesideY) {
  using V = typename TypeParam::values;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr auto softmax = Operation::softmax;
  constexpr std::size_t columns = 7, neighbours = 601, count = 2 * neighbours;
  const auto& sample = normal_sample<typename TypeParam::x_value>(count, columns);
  const Case c{.extents = {2, columns, neighbours}, .options = {.axis = 1}};
  const auto schedules = KokkosSoftmax::Impl::compiled_schedules<softmax, Exec, V>();
  for (std::size_t s = 0; s < schedules.size(); ++s) {
    if (!TestFixture::is_tested(schedules[s].algorithm)) continue;
    SCOPED_TRACE(::testing::PrintToString(schedules[s]));
    const auto beside = place<Kokkos::LayoutRight>({count});
    Field<T, Exec> lse(beside), max(beside);
    const auto result = check_choice<softmax, V, 3>(
        Exec{}, c, {static_cast<int>(s), nullptr}, sample.rows, sample.expected, false,
        [&](auto& problem) {
          problem.lse = lse.template view<Kokkos::LayoutRight, 1>().data();
          problem.max = max.template view<Kokkos::LayoutRight, 1>().data();
          problem.lse_stride = problem.max_stride = 1;
        });
    if (!result) continue;
    EXPECT_TRUE(*result);
    EXPECT_TRUE(is_lse_beside<typename TypeParam::x_value>(sample.rows, sample.expected, lse));
    EXPECT_TRUE(is_max_beside(sample.rows, 1.0, max));
  }
}

/// Tests which problems the schedules with chunks across rows serve.
class RowsInChunks : public ::testing::Test {
 protected:
  using Exec = Kokkos::DefaultHostExecutionSpace;
  using Values = KokkosSoftmax::Impl::ValueTypes<float>;
  using Problem = KokkosSoftmax::Impl::RowProblem<float, float>;

  /// 3 times 8 rows of 21 columns, served with chunks of 2, 4 and 8 rows.
  Problem problem = {.x = aligned(1),
                     .y = aligned(2),
                     .rows = 24,
                     .columns = 21,
                     .x_column_stride = 16,
                     .y_column_stride = 32,
                     .outer_rank = 2,
                     .outer = {{3, 1024, 2048}, {8, 1, 1}, {1, 0, 0}}};

  bool serves(int width) const {
    const Exec exec;
    const Options options;
    const KokkosSoftmax::Impl::LaunchContext<Exec, Values> call(exec, problem, options);
    return call.access_serves({.algorithm = Algorithm::column,
                               .width = width,
                               .access = AccessMode::vectors_across_rows});
  }

 private:
  static float* aligned(std::uintptr_t kib) { return reinterpret_cast<float*>(1024 * kib); }
};

TEST_F(RowsInChunks, WhereAllIsAligned) {
  EXPECT_TRUE(serves(2));
  EXPECT_TRUE(serves(4));
  EXPECT_TRUE(serves(8));
}

TEST_F(RowsInChunks, NotBesideAnAlignedAddress) {
  problem.x += 2;
  EXPECT_TRUE(serves(2));
  EXPECT_FALSE(serves(4));
  problem.x -= 2;
  problem.y += 1;
  EXPECT_FALSE(serves(2));
}

TEST_F(RowsInChunks, NotWithOddStrides) {
  for (std::int64_t* stride : {&problem.x_column_stride, &problem.y_column_stride,
                               &problem.outer[0].x_stride, &problem.outer[0].y_stride}) {
    *stride += 2;
    EXPECT_TRUE(serves(2));
    EXPECT_FALSE(serves(4));
    *stride -= 1;
    EXPECT_FALSE(serves(2));
    *stride -= 1;
  }
}

TEST_F(RowsInChunks, NotAcrossGaps) {
  problem.outer[1] = {8, 2, 1};
  EXPECT_FALSE(serves(2));
  problem.outer[1] = {8, 1, 2};
  EXPECT_FALSE(serves(2));
  problem.outer[1] = {6, 1, 1};  // 6 neighbours are no multiple of 4
  EXPECT_TRUE(serves(2));
  EXPECT_FALSE(serves(4));
}

TEST_F(RowsInChunks, WhereverASingleValueOfEachGoes) {
  problem.y_column_stride = 0;
  problem.y += 1;
  problem.outer[0].y_stride = 7;
  problem.outer[1].y_stride = 3;
  EXPECT_TRUE(serves(4));
}

TEST_F(RowsInChunks, NotReproducibly) {
  const Exec exec;
  const Options options{.reproducible = true};
  const KokkosSoftmax::Impl::LaunchContext<Exec, Values> call(exec, problem, options);
  EXPECT_FALSE(call.access_serves(
      {.algorithm = Algorithm::column, .width = 2, .access = AccessMode::vectors_across_rows}));
}

/// Tests for which operands the schedules with chunks across rows serve.
class InputsInChunks : public ::testing::Test {
 protected:
  using Values = KokkosSoftmax::Impl::ValueTypes<float>;
  using Arguments = KokkosSoftmax::Impl::GeneralArgs<Values>;

  /// 3 times 8 rows, without operands.
  InputsInChunks() {
    problem.columns = 21;
    problem.rows = 24;
    problem.outer_rank = 2;
    problem.outer[0].extent = 3;
    problem.outer[1].extent = 8;
  }

  bool serve(int width) const { return Arguments(problem, Options{}).inputs_in_chunks(width); }

  Arguments::Problem problem{};
};

TEST_F(InputsInChunks, WithoutOperands) { EXPECT_TRUE(serve(8)); }

TEST_F(InputsInChunks, AnywhereIfTheRowsShareThem) {
  problem.inputs.bias = {reinterpret_cast<const float*>(1028), 1, {21, 0}};
  problem.inputs.mask = {reinterpret_cast<const unsigned char*>(1025), 3, {1, 0}};
  EXPECT_TRUE(serve(8));
}

TEST_F(InputsInChunks, WhereTheyAreAligned) {
  for (KokkosSoftmax::Impl::RowInput* input : {&problem.inputs.bias, &problem.inputs.mask}) {
    const int bytes = input == &problem.inputs.bias ? 4 : 1;
    *input = {reinterpret_cast<const void*>(std::uintptr_t(1024)), 16, {512, 1}};
    EXPECT_TRUE(serve(8));
    input->data = reinterpret_cast<const void*>(std::uintptr_t(1024 + 2 * bytes));
    EXPECT_TRUE(serve(2));
    EXPECT_FALSE(serve(4));
    input->data = reinterpret_cast<const void*>(std::uintptr_t(1024 + bytes));
    EXPECT_FALSE(serve(2));
    *input = {reinterpret_cast<const void*>(std::uintptr_t(1024)), 17, {512, 1}};
    EXPECT_FALSE(serve(2));
    *input = {reinterpret_cast<const void*>(std::uintptr_t(1024)), 16, {513, 1}};
    EXPECT_FALSE(serve(2));
    *input = {reinterpret_cast<const void*>(std::uintptr_t(1024)), 16, {512, 2}};
    EXPECT_FALSE(serve(2));
    *input = {};
  }
}

/// Tests which schedule the rule chooses, with the description of plans.
template <class C>
class ColumnRule : public ::testing::Test {
 protected:
  using Exec = typename C::exec;

  static std::string of(std::size_t columns, std::size_t rows) {
    return plan_along_columns<C>(columns, rows);
  }

  /// More rows than `column` can have resident on a device at one time.
  static std::size_t many() {
    return 1024 * static_cast<std::size_t>(KokkosSoftmax::Impl::multiprocessors(Exec{}));
  }

  /// The number of slots for a row in the registers of a team of `column` or a lane of `subgroup`.
  static std::size_t slots_of_row(const std::string& description) {
    const auto number = [&](const std::string& name) -> std::size_t {
      const std::size_t at = description.find(name + "=");
      return at == std::string::npos ? 1 : std::stoul(description.substr(at + name.size() + 1));
    };
    const bool in_column = description.find("column{") != std::string::npos;
    const std::size_t threads = in_column ? number("team_size") / number("panels") : 1;
    return number("items") * threads;
  }

  static ::testing::AssertionResult has(const std::string& description, const char* part) {
    if (description.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "no \"" << part << "\" in " << description;
  }
};
TYPED_TEST_SUITE(ColumnRule, AllScheduleConfigs, ConfigName);

TYPED_TEST(ColumnRule, TakesSeveralRowsALane) {
  if constexpr (is_host_space<typename TypeParam::exec>) {
    GTEST_SKIP() << "a host has a rule of its own";
  } else {
    const std::size_t many = TestFixture::many();
    EXPECT_TRUE(TestFixture::has(TestFixture::of(3, many), "access=vectors_across_rows"));
    EXPECT_TRUE(TestFixture::has(
        TestFixture::of(3, many + 1),
        sizeof(typename TypeParam::x_value) == 2 ? "subgroup{" : "access=whole_sectors"));
    if (sizeof(typename TypeParam::value) == 4) {
      EXPECT_TRUE(TestFixture::has(TestFixture::of(21, many), "access=vectors_across_rows"));
      const char* of_520 = sizeof(typename TypeParam::x_value) == 2 ? "access=vectors_across_rows"
                           : has_clusters(typename TypeParam::exec{})
                               ? "cluster_column{"
                               : "team_size=32, vector_length=16";
      EXPECT_TRUE(TestFixture::has(TestFixture::of(520, many), of_520));
    }
    // 2 rows beyond a sector: in chunks, except that teams would write parts of sectors. Long
    // columns of half types are faster in chunks in any case.
    for (const std::size_t rows : {many + 1, many + 2})
      for (const std::size_t columns : {21, 100}) {
        const bool in_chunks =
            sizeof(typename TypeParam::x_value) == 2 && columns == 100 && rows == many + 2;
        EXPECT_TRUE(
            TestFixture::has(TestFixture::of(columns, rows),
                             in_chunks ? "access=vectors_across_rows" : "access=whole_sectors"))
            << columns << " columns, " << rows << " rows";
      }
  }
}

// A lane takes as long for a slot without an entry as for an entry.
TYPED_TEST(ColumnRule, HasFewEmptySlots) {
  if constexpr (is_host_space<typename TypeParam::exec>) {
    GTEST_SKIP() << "a host has a rule of its own";
  } else {
    const std::size_t many = TestFixture::many();
    for (const std::size_t rows : {many, many + 1, many + 2, many + 4, many + 8})
      for (const std::size_t columns : {2, 3, 5, 6, 8, 9, 12, 17, 24, 33, 48, 65, 100, 128}) {
        const std::string description = TestFixture::of(columns, rows);
        const auto slots = TestFixture::slots_of_row(description);
        EXPECT_GE(slots, columns) << description;
        EXPECT_LE(slots, std::max<std::size_t>(16, 2 * columns)) << description;
      }
  }
}

TYPED_TEST(ColumnRule, SpreadsFewRows) {
  if constexpr (is_host_space<typename TypeParam::exec>) {
    GTEST_SKIP() << "a host has a rule of its own";
  } else {
    EXPECT_TRUE(TestFixture::has(TestFixture::of(21, 64), "column{team_size=8"));
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
