// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strided rows divided over clusters of thread blocks: clusters of every size, more clusters than
// the device can hold at one time, many instances at once, and when the rule takes them.
// Test_Columns has the places of rows in memory, special values and the numbers beside y.

#include <launch/LaunchContext.hpp>
#include <support/Choices.hpp>
#include <support/Devices.hpp>
#include <support/Instances.hpp>
#include <support/StridedPlan.hpp>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::Operation;
using KokkosSoftmax::Impl::Schedule;

template <class C>
class ClusterColumn : public ::testing::Test {
 protected:
  using V = typename C::values;
  using X = typename V::X;
  using Exec = typename C::exec;

  void SetUp() override {
    if (!has_clusters(Exec{})) GTEST_SKIP() << "no clusters of thread blocks";
  }

  /// The number of columns that one team of a schedule holds.
  static std::size_t columns_of_a_team(const Schedule& s) {
    return static_cast<std::size_t>(s.items * (s.team_size / s.panels));
  }

  /// Calls check(choice, schedule) for each schedule of `cluster_column`.
  template <Operation operation, class Check>
  static void for_each_schedule(const Check& check) {
    const auto schedules = KokkosSoftmax::Impl::compiled_schedules<operation, Exec, V>();
    int count = 0;
    for (std::size_t s = 0; s < schedules.size(); ++s) {
      if (schedules[s].algorithm != Algorithm::cluster_column) continue;
      ++count;
      check(KokkosSoftmax::Impl::Choice{static_cast<int>(s), nullptr}, schedules[s]);
    }
    EXPECT_GT(count, 0);
  }

  template <Operation operation>
  static void expect_sizes_right(const KokkosSoftmax::Impl::Choice& choice, const Schedule& s) {
    const std::size_t most_teams = s.access == AccessMode::whole_sectors ? 8 : 16;
    const std::size_t count = s.access == AccessMode::vectors_across_rows ? 44 : 43;
    for (std::size_t teams = 2; teams <= most_teams; ++teams)
      for (const std::size_t off : {0, 5}) {
        const std::size_t columns = teams * columns_of_a_team(s) - off;
        const auto& sample = normal_sample<X>(count, columns);
        const Case c{.extents = {columns, count}, .options = {.axis = 0}};
        const auto result =
            check_choice<operation, V, 2>(Exec{}, c, choice, sample.rows, sample.expected);
        ASSERT_TRUE(result) << s << " refuses " << columns << " columns";
        EXPECT_TRUE(*result) << s << " of " << columns << " columns";
      }
  }

  static bool takes_cluster(const std::string& description) {
    return description.find("cluster_column{") != std::string::npos;
  }

 private:
  const Watchdog m_watchdog{std::chrono::seconds(300)};  // if teams wait for ever
};
TYPED_TEST_SUITE(ClusterColumn, AllScheduleConfigs, ConfigName);

TYPED_TEST(ClusterColumn, OfEachSize) {
  TestFixture::template for_each_schedule<Operation::softmax>([](const auto&... choice) {
    TestFixture::template expect_sizes_right<Operation::softmax>(choice...);
  });
  TestFixture::template for_each_schedule<Operation::log_softmax>([](const auto&... choice) {
    TestFixture::template expect_sizes_right<Operation::log_softmax>(choice...);
  });
}

// Fewer columns than teams.
TYPED_TEST(ClusterColumn, OfFewColumns) {
  for (const std::size_t columns : {1, 2, 3}) {
    const auto& sample = normal_sample<typename TypeParam::x_value>(1100, columns);
    EXPECT_TRUE(
        check_matrix<TypeParam>({.options = {.axis = 0, .algorithm = Algorithm::cluster_column}},
                                sample.rows, sample.expected, typename TypeParam::exec{}));
  }
}

// Even and odd numbers of rows, and so teams that overlap or don't.
TYPED_TEST(ClusterColumn, MoreThanAreResident) {
  for (const std::size_t count : {20000, 20001}) {
    const auto& sample = normal_sample<typename TypeParam::x_value>(count, 300);
    EXPECT_TRUE(
        check_matrix<TypeParam>({.options = {.axis = 0, .algorithm = Algorithm::cluster_column}},
                                sample.rows, sample.expected, typename TypeParam::exec{}));
  }
}

TYPED_TEST(ClusterColumn, HostileRows) {
  for (const std::size_t columns : {300, 2000}) {
    auto rows = hostile_rows<typename TypeParam::x_value>(columns);
    for (const double scale : {1.0, -0.7}) {
      const Expected expected = reference(rows, scale);
      for (const Function function : {Function::softmax, Function::log_softmax}) {
        const Case c{
            .function = function,
            .options = {.axis = 0, .scale = scale, .algorithm = Algorithm::cluster_column}};
        EXPECT_TRUE(check_matrix<TypeParam>(c, rows, expected, typename TypeParam::exec{}));
      }
    }
  }
}

TYPED_TEST(ClusterColumn, RefusesWhatItCannotHold) {
  const auto forced = Options{.algorithm = Algorithm::cluster_column};
  EXPECT_NO_THROW(plan_along_columns<TypeParam>(8192, 8, forced));
  EXPECT_THROW(plan_along_columns<TypeParam>(1000000, 8, forced), std::invalid_argument);
  EXPECT_THROW(plan_along_columns<TypeParam>(
                   1000, 8, {.algorithm = Algorithm::cluster_column, .reproducible = true}),
               std::invalid_argument);
}

TYPED_TEST(ClusterColumn, TakenByTheRule) {
  constexpr bool is_half = sizeof(typename TypeParam::x_value) == 2;
  for (const std::size_t columns : {300, 1000, 8192}) {
    EXPECT_TRUE(TestFixture::takes_cluster(plan_along_columns<TypeParam>(columns, 64)));
    EXPECT_EQ(TestFixture::takes_cluster(plan_along_columns<TypeParam>(columns, 20000)), !is_half);
  }
  EXPECT_FALSE(TestFixture::takes_cluster(plan_along_columns<TypeParam>(200, 20000)));
  EXPECT_FALSE(
      TestFixture::takes_cluster(plan_along_columns<TypeParam>(1000, 64, {.reproducible = true})));
  EXPECT_FALSE(TestFixture::takes_cluster(plan_along_columns<TypeParam>(1000000, 8)));
}

// Rows of teams overlap if columns don't begin at sectors. Columns of floats that are too long for
// such clusters take two passes.
TYPED_TEST(ClusterColumn, WritesWholeSectors) {
  if (!std::is_same_v<typename TypeParam::x_value, float> ||
      !std::is_same_v<typename TypeParam::y_value, float>)
    GTEST_SKIP() << "only floats overlap at all lengths";
  for (const std::size_t columns : {300, 600, 1000, 2000}) {
    const std::string odd = plan_along_columns<TypeParam>(columns, 20001);
    EXPECT_TRUE(TestFixture::takes_cluster(odd)) << odd;
    EXPECT_NE(odd.find("access=whole_sectors"), std::string::npos) << odd;
    const std::string even = plan_along_columns<TypeParam>(columns, 20000);
    EXPECT_EQ(even.find("access=whole_sectors"), std::string::npos) << even;
  }
  const std::string longer = plan_along_columns<TypeParam>(3000, 30001);
  EXPECT_FALSE(TestFixture::takes_cluster(longer)) << longer;
  EXPECT_NE(longer.find("two_pass_column{"), std::string::npos) << longer;
}

// Columns that don't begin at sectors, by type and by whether a lane can load two rows at one time.
TYPED_TEST(ClusterColumn, TakenOffSectors) {
  const auto expect = [](std::size_t columns, std::size_t rows, const char* part) {
    const std::string description = plan_along_columns<TypeParam>(columns, rows);
    EXPECT_NE(description.find(part), std::string::npos) << "no " << part << ": " << description;
  };
  const std::size_t many = 20000;
  if (sizeof(typename TypeParam::x_value) == 2) {
    for (const std::size_t columns : {513, 600, 1000}) {
      expect(columns, many + 1, "cluster_column{");
      expect(columns, many + 2, "access=vectors_across_rows");
      expect(columns, many, "access=vectors_across_rows");
    }
  } else if (sizeof(typename TypeParam::x_value) == 8) {
    for (const std::size_t rows : {many + 1, many + 2}) {
      for (const std::size_t columns : {300, 512, 1000, 1024})
        expect(columns, rows, "cluster_column{team_size=8, vector_length=32");
      for (const std::size_t columns : {1025, 1500, 2048})
        expect(columns, rows, "cluster_column{team_size=16, vector_length=32");
      expect(3000, rows, "two_pass_column{");
    }
  } else {
    const char* in_pairs = "access=vectors_across_rows";
    for (const std::size_t columns : {700, 1000, 3000}) {
      expect(columns, many + 2, in_pairs);
      expect(columns, many + 2, "cluster_column{");
    }
    expect(600, many + 2, "access=whole_sectors");
    expect(1000, 1030, "access=whole_sectors");  // too few rows
  }
}

// The thread blocks of a cluster wait only for each other, regardless of which clusters of other
// instances are resident.
TYPED_TEST(ClusterColumn, ManyInstancesAtOnce) {
  if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::y_value>)
    expect_right_on<typename TypeParam::x_value>(
        many_instances<typename TypeParam::exec>(), 4, 300, 2000,
        {.axis = 0, .algorithm = Algorithm::cluster_column});
}

}  // namespace
}  // namespace KokkosSoftmax::Test
