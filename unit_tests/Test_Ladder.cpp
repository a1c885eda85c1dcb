// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the baselines of perf_tests/ladder with the data of the library's tests, because a
// comparison with a wrong baseline would be worthless. The baselines use plain summation, so their
// error bound grows with the length of the row.

#include <KokkosSoftmaxLadder.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Ladder : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Memory = Field<T, Exec>;
  using X = decltype(std::declval<Memory>().template view<Kokkos::LayoutRight, 2, const T>());
  using Y = decltype(std::declval<Memory>().template view<Kokkos::LayoutRight, 2>());
  using Step = KokkosSoftmaxLadder::Step<Exec, X, Y>;

  /// Runs a step, or prepares it and runs it twice, and checks the contents of y.
  static ::testing::AssertionResult check_step(const Step& step, const Rows<T>& rows,
                                               const Expected& expected, bool prepared) {
    const Extents extents{rows.count, rows.columns};
    Memory x(place_right(extents)), y(place_right(extents));
    x.assign(rows.values);
    const Exec exec;
    const auto x_view = x.template view<Kokkos::LayoutRight, 2, const T>();
    const auto y_view = y.template view<Kokkos::LayoutRight, 2>();
    if (prepared) {
      const auto run = step.prepare(exec, x_view, y_view);
      run();
      run();
    } else {
      step.run(exec, x_view, y_view);
    }
    exec.fence();
    auto result = is_accurate(Function::softmax, rows, expected, y.read(),
                              sequential_tolerance<T>(rows.columns));
    result = both(result, y.gaps_are_unchanged(), "something beside y's elements was written");
    return both(result, x.is_unchanged(), "x was written");
  }

  static void expect_right(const Rows<T>& rows, const Expected& expected) {
    for (const Step& step : KokkosSoftmaxLadder::steps<Exec, X, Y>()) {
      const bool serves = step.can_serve(rows.count, rows.columns, Exec{});
      EXPECT_TRUE(serves || rows.columns > 2048) << step.name;
      if (!serves) {
        EXPECT_THROW((void)check_step(step, rows, expected, false), std::invalid_argument)
            << step.name;
        continue;
      }
      for (const bool prepared : {false, true})
        EXPECT_TRUE(check_step(step, rows, expected, prepared))
            << step.name << ", " << rows.count << " rows, " << rows.columns << " columns";
    }
  }
};
TYPED_TEST_SUITE(Ladder, ValueConfigs, ConfigName);

TYPED_TEST(Ladder, HasTheTenSteps) {
  const char* names[] = {
      "naive",           "thread_per_row",          "thread_per_row_online", "team_scratch",
      "team_shuffle",    "fused_one_row",           "fused_persistent",      "tiled_three_pass",
      "online_two_pass", "online_two_pass_reversed"};
  const auto steps = KokkosSoftmaxLadder::steps<typename TypeParam::exec, typename TestFixture::X,
                                                typename TestFixture::Y>();
  ASSERT_EQ(steps.size(), std::size(names));
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].name, names[i]);
}

TYPED_TEST(Ladder, EveryWidth) {
  for (const std::size_t columns : widths)
    for (const std::size_t count : {0, 1, 3}) {
      const auto& sample = normal_sample<typename TypeParam::value>(count, columns);
      TestFixture::expect_right(sample.rows, sample.expected);
    }
}

TYPED_TEST(Ladder, ManyRows) {
  for (const std::size_t columns : {7, 33, 781}) {
    const auto& sample = normal_sample<typename TypeParam::value>(127, columns);
    TestFixture::expect_right(sample.rows, sample.expected);
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
