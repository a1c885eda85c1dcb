// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows split over teams that wait for one another: on many instances at once, beside a kernel that
// keeps the device busy, with more rows than teams, and through launches of changing shapes, which
// find in the workspace what the one before has left.

#include <support/Check.hpp>
#include <support/Recorder.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Split : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Right = Kokkos::LayoutRight;

  /// A host's lanes can't hold a wide row in registers.
  static constexpr Algorithm split =
      is_host_space<Exec> ? Algorithm::split_online : Algorithm::split;

  /// Softmax on each instance in turn, `calls` times, without a fence in between.
  static void expect_right_on(const std::vector<Exec>& instances, int calls, std::size_t count,
                              std::size_t columns, Algorithm algorithm) {
    const auto& sample = normal_sample<T>(count, columns);
    const bool strided = algorithm == Algorithm::split_column;
    const Case c{.extents = strided ? Extents{columns, count} : Extents{count, columns},
                 .options = {.axis = strided ? 0 : 1, .algorithm = algorithm}};
    Field<T, Exec> x(place_right(c.extents));
    x.assign(rows_to_tensor(sample.rows.values, c.extents, c.options.axis));
    std::vector<Field<T, Exec>> y;
    for (std::size_t i = 0; i < instances.size(); ++i) y.emplace_back(place_right(c.extents));
    for (int k = 0; k < calls; ++k)
      for (std::size_t i = 0; i < instances.size(); ++i)
        softmax(instances[i], x.template view<Right, 2, const T>(), y[i].template view<Right, 2>(),
                c.options);
    for (std::size_t i = 0; i < instances.size(); ++i) {
      instances[i].fence();
      EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y[i])) << "instance " << i;
    }
  }

  /// So many instances that their groups of teams can't all be resident at one time.
  static std::vector<Exec> many_instances() {
    if constexpr (is_host_space<Exec>)
      return other_instances(Exec{});
    else
      return Kokkos::Experimental::partition_space(Exec{}, std::vector<int>(24, 1));
  }
};
TYPED_TEST_SUITE(Split, ValueConfigs, ConfigName);

TYPED_TEST(Split, ManyInstancesAtOnce) {
  const auto instances = TestFixture::many_instances();
  for (const Algorithm algorithm : {TestFixture::split, Algorithm::split_online}) {
    TestFixture::expect_right_on(instances, 4, 1, 100003, algorithm);
    TestFixture::expect_right_on(instances, 2, 5, 65536, algorithm);
  }
  TestFixture::expect_right_on(instances, 4, 1, 100003, Algorithm::split_column);
  TestFixture::expect_right_on(instances, 2, 67, 4099, Algorithm::split_column);
}

TYPED_TEST(Split, MoreRowsThanTeams) {
  for (const Algorithm algorithm : {TestFixture::split, Algorithm::split_online})
    for (const std::size_t columns : {4099, 16384})
      TestFixture::expect_right_on({typename TypeParam::exec{}}, 1, 700, columns, algorithm);
  for (const std::size_t rows : {700, 20000})
    TestFixture::expect_right_on({typename TypeParam::exec{}}, 1, rows, 401,
                                 Algorithm::split_column);
}

// Each launch has other numbers of groups, members and rounds.
TYPED_TEST(Split, ChangingShapesOnOneInstance) {
  using T = typename TypeParam::value;
  const typename TypeParam::exec exec;
  for (int pass = 0; pass < 3; ++pass)
    for (const std::size_t count : {1, 2, 7, 40})
      for (const std::size_t columns : {7, 1000, 20001, 32768, 50000}) {
        if (is_host_space<typename TypeParam::exec> && count * columns > 200000) continue;
        const auto& sample = normal_sample<T>(count, columns);
        for (const Algorithm algorithm : {TestFixture::split, Algorithm::split_online})
          EXPECT_TRUE(check_matrix<TypeParam>({.options = {.algorithm = algorithm}}, sample.rows,
                                              sample.expected, exec));
        EXPECT_TRUE(
            check_matrix<TypeParam>({.options = {.axis = 0, .algorithm = Algorithm::split_column}},
                                    sample.rows, sample.expected, exec));
      }
}

template <class Exec>
void keep_busy(const Exec& exec, const Kokkos::View<double*, typename Exec::memory_space>& result) {
  Kokkos::parallel_for(
      "Test::keep_busy", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(result.extent(0))),
      KOKKOS_LAMBDA(int i) {
        double value = i;
        for (int k = 0; k < 20000; ++k) value = Kokkos::sqrt(value + k);
        result(i) = value;
      });
}

TYPED_TEST(Split, BesideABusyKernel) {
  using Exec = typename TypeParam::exec;
  const auto instances = other_instances(Exec{});
  const int threads = is_host_space<Exec> ? 16 : 2 * Exec{}.concurrency();
  const Kokkos::View<double*, typename Exec::memory_space> result("result", threads);
  for (const Algorithm algorithm :
       {TestFixture::split, Algorithm::split_online, Algorithm::split_column}) {
    keep_busy(instances.back(), result);
    TestFixture::expect_right_on({instances.front()}, 3, 3, 100003, algorithm);
    Kokkos::fence();
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
