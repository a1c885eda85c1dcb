// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows divided over clusters of thread blocks: the division of a row, clusters of every size, more
// clusters than the device can hold at one time, and many instances at once.

#include <schedules/cluster/ClusterPlan.hpp>
#include <support/Check.hpp>
#include <support/Devices.hpp>
#include <support/Instances.hpp>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::ClusterLimits;
using KokkosSoftmax::Impl::ClusterPlan;
using KokkosSoftmax::Impl::ClusterProblem;

/// The plan for rows of floats in chunks of 16 bytes.
ClusterPlan plan_for(std::int64_t columns, std::int64_t most_columns,
                     std::int64_t comfortable_columns) {
  return KokkosSoftmax::Impl::make_cluster_plan({.row_chunks = columns / 4, .chunk_bytes = 16},
                                                {.max_teams = 16,
                                                 .max_chunks = most_columns / 4,
                                                 .comfortable_chunks = comfortable_columns / 4});
}

TEST(ClusterPlan, TakesAsFewTeamsAsHoldARowInComfort) {
  EXPECT_EQ(plan_for(30016, 40000, 30016).teams, 1);
  EXPECT_EQ(plan_for(30016 + 32, 40000, 30016).teams, 2);
  EXPECT_EQ(plan_for(16 * 30016, 40000, 30016).teams, 16);
}

TEST(ClusterPlan, TakesAllTeamsWhereTheyAreTooFewForComfort) {
  EXPECT_EQ(plan_for(16 * 30016 + 32, 40000, 30016).teams, 16);
  EXPECT_EQ(plan_for(16 * 40000, 40000, 30016).teams, 16);
}

// `resident` has the number of clusters of 1 to 16 teams that an H200 can hold, for teams of 8
// warps with 3 teams per multiprocessor.
TEST(ClusterPlan, TakesMoreTeamsWhereThatLeavesFewerPlacesEmpty) {
  const ClusterLimits limits{
      .max_teams = 16,
      .max_chunks = 2000,
      .comfortable_chunks = 1000,
      .roomy_chunks = 600,
      .resident = {0, 396, 198, 124, 92, 69, 62, 47, 45, 37, 30, 28, 28, 23, 21, 21, 21}};
  const auto teams = [&](std::int64_t chunks) {
    return make_cluster_plan({.row_chunks = chunks, .chunk_bytes = 128}, limits).teams;
  };
  EXPECT_EQ(teams(1000), 1);
  EXPECT_EQ(teams(4001), 6);  // 62 * 6 = 372 teams are resident, and 69 * 5 = 345 with 5 teams
  EXPECT_EQ(teams(5001), 6);
  EXPECT_EQ(teams(6001), 8);  // 45 * 8 = 360 teams are resident, and 47 * 7 = 329 with 7 teams
  EXPECT_EQ(teams(9001), 12);
}

TEST(ClusterPlan, CoversTheRowInWholeLines) {
  const ClusterLimits limits{.max_teams = 16, .max_chunks = 10003, .comfortable_chunks = 6005};
  for (std::int64_t chunks = 1; chunks < 16 * 10000; chunks += 97)
    for (const int bytes : {8, 16}) {
      const ClusterProblem p{.row_chunks = chunks, .chunk_bytes = bytes};
      const ClusterPlan plan = make_cluster_plan(p, limits);
      ASSERT_LE(plan.teams, limits.max_teams) << chunks;
      ASSERT_LE(plan.chunks_per_team, limits.max_chunks) << chunks;
      ASSERT_EQ(plan.chunks_per_team * bytes % 128, 0) << chunks;
      ASSERT_GE(std::int64_t(plan.teams) * plan.chunks_per_team, chunks);
    }
}

TEST(ClusterPlan, SaysWhatDoesNotFit) {
  const auto fits = [](std::int64_t chunks, std::int64_t max_chunks) {
    return KokkosSoftmax::Impl::fits_cluster(
        {.row_chunks = chunks, .chunk_bytes = 16},
        {.max_teams = 16, .max_chunks = max_chunks, .comfortable_chunks = 1});
  };
  EXPECT_TRUE(fits(16 * 10000, 10000));
  EXPECT_FALSE(fits(16 * 10000 + 1, 10000));
  EXPECT_FALSE(fits(1, 1));  // a team can't even hold one cache line
}

TEST(ClusterPlan, TakesAtLeastTheFewestTeams) {
  const ClusterProblem p{.row_chunks = 100, .chunk_bytes = 128, .fewest_teams = 2};
  const ClusterLimits limits{.max_teams = 8, .max_chunks = 128, .comfortable_chunks = 128};
  EXPECT_EQ(make_cluster_plan(p, limits).teams, 2);
  EXPECT_EQ(make_cluster_plan(p, limits).chunks_per_team, 50);
  EXPECT_FALSE(fits_cluster(p, {.max_teams = 1, .max_chunks = 128, .comfortable_chunks = 128}));
}

template <class C>
class Cluster : public ::testing::Test {
 protected:
  using X = typename C::x_value;
  using Exec = typename C::exec;
  using Right = Kokkos::LayoutRight;

  void SetUp() override {
    if (!has_clusters(Exec{})) GTEST_SKIP() << "no clusters of thread blocks";
  }

  /// A team can hold slightly more columns. The number for half types is small enough that rows of
  /// odd length fit as well.
  static constexpr std::size_t columns_of_a_team =
      sizeof(X) == 8 ? 11000 : (sizeof(X) == 4 ? 18000 : 16000);

  static void expect_right(std::size_t count, std::size_t columns, Function function) {
    const auto& sample = normal_sample<X>(count, columns);
    const Case c{.function = function, .options = {.algorithm = Algorithm::cluster}};
    EXPECT_TRUE(check_matrix<C>(c, sample.rows, sample.expected, Exec{}));
  }

 private:
  const Watchdog m_watchdog{std::chrono::seconds(300)};  // if teams wait for ever
};
TYPED_TEST_SUITE(Cluster, AllScheduleConfigs, ConfigName);

// Aligned and unaligned rows, with segments of different lengths.
TYPED_TEST(Cluster, OfEachSize) {
  for (std::size_t teams = 1; teams <= 16; ++teams)
    for (const std::size_t off : {0, 37})
      for (const Function function : {Function::softmax, Function::log_softmax})
        TestFixture::expect_right(2, teams * TestFixture::columns_of_a_team - off, function);
}

TYPED_TEST(Cluster, MoreThanAreResident) {
  for (const std::size_t columns : {24576, 50257})
    TestFixture::expect_right(700, columns, Function::softmax);
}

// For half types, rows with a small reference use another exponential than rows with a large one.
TYPED_TEST(Cluster, OfEachScale) {
  const auto& sample =
      normal_sample<typename TypeParam::x_value>(3, 3 * TestFixture::columns_of_a_team - 37);
  for (const double scale : {-0.5, 3.0, 30.0, -500.0}) {
    const Expected expected = reference(sample.rows, scale);
    for (const Function function : {Function::softmax, Function::log_softmax}) {
      const Case c{.function = function,
                   .options = {.scale = scale, .algorithm = Algorithm::cluster}};
      EXPECT_TRUE(check_matrix<TypeParam>(c, sample.rows, expected, typename TypeParam::exec{}));
    }
  }
}

TYPED_TEST(Cluster, HostileRows) {
  for (const std::size_t off : {0, 5}) {
    const auto rows =
        hostile_rows<typename TypeParam::x_value>(2 * TestFixture::columns_of_a_team - off);
    for (const double scale : {1.0, -0.7}) {
      const Expected expected = reference(rows, scale);
      for (const Function function : {Function::softmax, Function::log_softmax}) {
        const Case c{.function = function,
                     .options = {.scale = scale, .algorithm = Algorithm::cluster}};
        EXPECT_TRUE(check_matrix<TypeParam>(c, rows, expected, typename TypeParam::exec{}));
      }
    }
  }
}

TYPED_TEST(Cluster, RefusesWhatItCannotHold) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const std::size_t columns = 32 * TestFixture::columns_of_a_team;
  const Field<T, Exec> x(place_right({1, columns})), y(place_right({1, columns}));
  const auto call_with = [&](const Options& options) {
    softmax(Exec{}, x.template view<Kokkos::LayoutRight, 2, const T>(),
            y.template view<Kokkos::LayoutRight, 2>(), options);
  };
  EXPECT_THROW(call_with({.algorithm = Algorithm::cluster}), std::invalid_argument);
  EXPECT_THROW(call_with({.axis = 0, .algorithm = Algorithm::cluster, .reproducible = true}),
               std::invalid_argument);
}

// The thread blocks of a cluster wait only for each other, regardless of which clusters of other
// instances are resident.
TYPED_TEST(Cluster, ManyInstancesAtOnce) {
  expect_right_on<typename TypeParam::value>(many_instances<typename TypeParam::exec>(), 4, 5,
                                             8 * TestFixture::columns_of_a_team,
                                             {.algorithm = Algorithm::cluster});
}

}  // namespace
}  // namespace KokkosSoftmax::Test
