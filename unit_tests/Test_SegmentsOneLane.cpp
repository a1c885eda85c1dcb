// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of ragged rows for GPUs, run on hosts with teams of one lane: the windows, the
// batches of short rows, and the division of long rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <reference/Accuracy.hpp>
#include <support/Config.hpp>
#include <support/OneLane.hpp>
#include <support/RaggedRows.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class SegmentsOneLane : public ::testing::Test {
 protected:
  using T = typename C::value;

  static RaggedRows<T> rows_of(const std::vector<std::size_t>& lengths) {
    RaggedRows<T> ragged;
    std::mt19937_64 generator(7);
    std::normal_distribution<double> normal(0, 3);
    for (const std::size_t length : lengths) {
      Rows<T> row{.count = 1, .columns = length, .values = std::vector<T>(length)};
      for (T& v : row.values) v = static_cast<T>(normal(generator));
      ragged.rows.push_back(row);
    }
    return ragged;
  }

  static void check(const RaggedRows<T>& ragged) {
    const auto offsets = ragged.template offsets<std::int32_t>();
    const std::vector<T> x = ragged.entries(T(1));
    std::vector<T> y(x.size(), T(-7)), lse(ragged.rows.size(), T(-7));
    RaggedProblem<T, T> problem;
    problem.rows = static_cast<std::int64_t>(ragged.rows.size());
    problem.entries = static_cast<std::int64_t>(x.size());
    problem.offset = {offsets.data(), false};
    problem.x = x.data();
    problem.y = y.data();
    problem.of_rows = lse.data();
    launch(RaggedOperation::softmax, problem);
    expect_right(Function::softmax, ragged, y);
    launch(RaggedOperation::log_softmax, problem);
    expect_right(Function::log_softmax, ragged, y);
    launch(RaggedOperation::logsumexp, problem);
    for (std::size_t r = 0; r < ragged.rows.size(); ++r)
      EXPECT_TRUE(is_accurate(Function::logsumexp, ragged.rows[r], reference(ragged.rows[r]),
                              std::vector<T>{lse[r]}))
          << "row " << r;
  }

 private:
  static void launch(RaggedOperation operation, const RaggedProblem<T, T>& problem) {
    const typename C::exec exec;
    launch_on_one_lane(exec, operation, problem, 1);
    exec.fence();
  }

  static void expect_right(Function function, const RaggedRows<T>& ragged,
                           const std::vector<T>& got) {
    for_each_row(ragged, got, [&](std::size_t r, const std::vector<T>& values) {
      EXPECT_TRUE(is_accurate(function, ragged.rows[r], reference(ragged.rows[r]), values))
          << "row " << r << " of " << values.size() << " entries";
    });
    EXPECT_TRUE(others_are(ragged, got, T(-7)));
  }
};

template <class... Exec>
constexpr auto hosts_of(TypeList<Exec...>) {
  return
      typename Concatenated<std::conditional_t<is_host_space<Exec>, TypeList<Exec>, TypeList<>>...,
                            TypeList<>>::type{};
}
using OneLaneConfigs = OverSpaces<decltype(hosts_of(EnabledSpaces{}))>::values::types;
TYPED_TEST_SUITE(SegmentsOneLane, OneLaneConfigs, ConfigName);

TYPED_TEST(SegmentsOneLane, LengthsOnBorders) {
  for (const std::size_t length :
       {0, 1, 2, 28, 29, 30, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 200, 1000}) {
    TestFixture::check(TestFixture::rows_of({length}));
    TestFixture::check(TestFixture::rows_of({length, length, 3, 0, length, 40, length, length}));
  }
}

TYPED_TEST(SegmentsOneLane, RandomLengths) {
  std::mt19937 generator(11);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<std::size_t> lengths(200);
    for (auto& length : lengths) {
      const unsigned kind = generator() % 10;
      length = generator() % (kind < 6 ? 5 : kind < 8 ? 40 : kind < 9 ? 150 : 600);
    }
    TestFixture::check(TestFixture::rows_of(lengths));
  }
}

// Rows whose mean length suits a team, and some that are too long for one.
TYPED_TEST(SegmentsOneLane, OneRowPerTeam) {
  std::mt19937 generator(5);
  for (const unsigned most : {20u, 30u, 150u}) {
    std::vector<std::size_t> lengths = {0, 31, 32, 33, 127, 128, 129, 0, 300};
    while (lengths.size() < 200) lengths.push_back(generator() % most);
    std::shuffle(lengths.begin(), lengths.end(), generator);
    TestFixture::check(TestFixture::rows_of(lengths));
    lengths.push_back(1000);
    TestFixture::check(TestFixture::rows_of(lengths));
  }
}

// Rows that share a reference, and rows that don't.
TYPED_TEST(SegmentsOneLane, EqualEntriesAtDifferentLevels) {
  using T = typename TestFixture::T;
  for (const T distance : {T(0), T(1), T(60), T(64), T(70), T(3e4), T(1e8)}) {
    RaggedRows<T> ragged;
    for (std::size_t r = 0; r < 60; ++r) {
      const std::size_t columns = 1 + r % 13;
      ragged.rows.push_back(
          {.count = 1,
           .columns = columns,
           .values = std::vector<T>(columns, static_cast<T>(r % 3) * distance - T(3.625))});
    }
    TestFixture::check(ragged);
  }
}

TYPED_TEST(SegmentsOneLane, ManyRowsWithoutEntries) {
  std::vector<std::size_t> lengths(3000, 0);
  for (std::size_t r = 0; r < lengths.size(); r += 7) lengths[r] = r % 5;
  TestFixture::check(TestFixture::rows_of(lengths));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
