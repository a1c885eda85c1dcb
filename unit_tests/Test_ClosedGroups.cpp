// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slow way of the split kernels: groups that are closed before all of their teams have started.
// With the library's patience that hardly ever happens; here the kernels are launched without any.

#include <gtest/gtest.h>

#include <Candidates.hpp>
#include <algorithm>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class ClosedGroups : public ::testing::Test {
 protected:
  using T = typename C::value;
  using V = KokkosSoftmax::Impl::ValueTypes<T>;
  using Exec = typename C::exec;
  using Shape =
      std::conditional_t<is_host_space<Exec>,
                         KokkosSoftmax::Impl::Shape<1, 1, 4, KokkosSoftmax::Impl::widest<T>,
                                                    KokkosSoftmax::Impl::Fill::guarded>,
                         KokkosSoftmax::Impl::Shape<4, 32, 2, KokkosSoftmax::Impl::widest<T>,
                                                    KokkosSoftmax::Impl::Fill::guarded, 4>>;
  /// Of a team: one tile, or two with a share that doesn't fit the registers.
  static constexpr int tile = Shape::threads * Shape::lanes * Shape::items * Shape::width;

  template <template <class, class, KokkosSoftmax::Impl::Operation, class> class Kernel>
  static void expect_right(std::size_t count, int teams_per_row, int tiles, int groups,
                           bool in_place) {
    using K = Kernel<Exec, V, KokkosSoftmax::Impl::Operation::softmax, Shape>;
    const Exec exec;
    const std::size_t columns =
        static_cast<std::size_t>(tiles * tile * teams_per_row - Shape::width);
    const auto& sample = normal_sample<T>(count, columns);
    const Case c{.extents = {count, columns}};
    Field<T, Exec> x(place_right(c.extents));
    Field<T, Exec> y(place_right(c.extents));
    x.assign(sample.rows.values);
    const auto x_view = x.template view<Kokkos::LayoutRight, 2>();
    const auto y_view = in_place ? x_view : y.template view<Kokkos::LayoutRight, 2>();
    KokkosSoftmax::Impl::SplitPlan plan;
    plan.groups = groups;
    plan.teams_per_row = teams_per_row;
    plan.chunks_per_team = tiles * tile / Shape::width;
    plan.rows = static_cast<std::uint32_t>(count);
    plan.patience = 0;
    const auto problem = KokkosSoftmax::Impl::make_row_problem(
        KokkosSoftmax::Impl::strided_array(x_view), KokkosSoftmax::Impl::strided_array(y_view), 1);
    KokkosSoftmax::Impl::PolicyOf<Exec, Shape> policy(exec, groups * teams_per_row, Shape::threads,
                                                      Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(K::scratch_bytes(plan)));
    Kokkos::parallel_for("Test::closed_groups", policy,
                         K{KokkosSoftmax::Impl::KernelArguments<V>(problem, Options{}),
                           KokkosSoftmax::Impl::SplitWorkspaces<Exec>::of(exec), plan});
    exec.fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, in_place ? x : y));
  }

  static constexpr int members = is_host_space<Exec> ? 1 : 13;
  /// As many groups as the workspace has room for.
  static int many_groups() {
    return std::min(60, KokkosSoftmax::Impl::max_split_teams(Exec{}) / members);
  }

  /// Several times: which teams start first is chance.
  template <template <class, class, KokkosSoftmax::Impl::Operation, class> class Kernel>
  static void expect_right(int tiles) {
    for (int pass = 0; pass < 5; ++pass)
      for (const bool in_place : {false, true}) {
        expect_right<Kernel>(1, members, tiles, 1, in_place);
        expect_right<Kernel>(29, members, tiles, 7, in_place);
        expect_right<Kernel>(200, members, tiles, many_groups(), in_place);
      }
  }
};
TYPED_TEST_SUITE(ClosedGroups, ValueConfigs, ConfigName);

TYPED_TEST(ClosedGroups, OneRowAGroup) {
  for (int pass = 0; pass < 5; ++pass)
    for (const bool in_place : {false, true})
      for (const int groups : {1, TestFixture::many_groups()})
        TestFixture::template expect_right<KokkosSoftmax::Impl::SplitOnceKernel>(
            static_cast<std::size_t>(groups), TestFixture::members, 1, groups, in_place);
}

TYPED_TEST(ClosedGroups, Held) {
  TestFixture::template expect_right<KokkosSoftmax::Impl::SplitHeldKernel>(1);
  TestFixture::template expect_right<KokkosSoftmax::Impl::SplitHeldKernel>(2);
}

TYPED_TEST(ClosedGroups, Online) {
  TestFixture::template expect_right<KokkosSoftmax::Impl::SplitOnlineKernel>(1);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
