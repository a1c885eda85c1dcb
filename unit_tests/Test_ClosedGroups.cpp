// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slow path of the split kernels: groups that are closed before all of their teams have
// started. With the poll limit of the library this is rare. Here the kernels are launched with a
// poll limit of 0, and on GPUs also with one so large that groups become complete, for plans that
// the library doesn't make.

#include <gtest/gtest.h>

#include <algorithm>
#include <dispatch/KernelRegistry.hpp>
#include <launch/HostLaunch.hpp>
#include <support/Check.hpp>
#include <support/Kernels.hpp>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// Whether teams can have more than one thread. Serial has only teams of one thread.
template <class Exec>
inline constexpr bool has_teams = true;
#ifdef KOKKOS_ENABLE_SERIAL
template <>
inline constexpr bool has_teams<Kokkos::Serial> = false;
#endif

template <class C>
class ClosedGroups : public ::testing::Test {
 protected:
  using T = typename C::value;
  using V = KokkosSoftmax::Impl::ValueTypes<T>;
  using Exec = typename C::exec;
  template <int width, KokkosSoftmax::Impl::AccessMode access>
  using ShapeOf =
      std::conditional_t<is_host_space<Exec>, KokkosSoftmax::Impl::Shape<1, 1, 4, width, access>,
                         KokkosSoftmax::Impl::Shape<4, 32, 2, width, access, 4>>;
  using Even =
      ShapeOf<KokkosSoftmax::Impl::widest<T>, KokkosSoftmax::Impl::AccessMode::guarded_vectors>;
  using Odd = std::conditional_t<
      is_host_space<Exec> || sizeof(T) == 8, ShapeOf<1, KokkosSoftmax::Impl::AccessMode::scalar>,
      ShapeOf<KokkosSoftmax::Impl::widest<T>, KokkosSoftmax::Impl::AccessMode::peeled_vectors>>;

  /// On a host, a team has two threads if the space has two. This tests the whole exchange of a
  /// panel, except the part between lanes.
  using Strided = std::conditional_t<
      is_host_space<Exec>,
      KokkosSoftmax::Impl::Shape<has_teams<Exec> ? 2 : 1, 1, 8, 1,
                                 KokkosSoftmax::Impl::AccessMode::scalar, 1,
                                 has_teams<Exec> ? 4 : 1>,
      KokkosSoftmax::Impl::Shape<4, 32, 8, 1, KokkosSoftmax::Impl::AccessMode::scalar, 4, 4>>;

  template <template <class, class, class, class> class Kernel, class Shape>
  using KernelOf = KernelFor<Kernel, Exec, KokkosSoftmax::Impl::Operation::softmax, V, Shape>;

  /// Teams per group.
  template <class K>
  static constexpr std::size_t members = is_host_space<Exec> ? K::max_members : 13;
  /// As many groups as the workspace has room for.
  template <class K>
  static int many_groups() {
    const int teams = KokkosSoftmax::Impl::max_split_teams<K::most_rows>(Exec{});
    return std::min(60, teams / static_cast<int>(members<K>));
  }

  /// Entries in the tile of a team.
  template <class Shape>
  static constexpr std::size_t tile = Shape::threads* Shape::lanes* Shape::items* Shape::width;

  template <template <class, class, class, class> class Kernel, class Shape>
  static void expect_right(std::size_t count, std::size_t columns, int groups, bool in_place,
                           std::uint32_t poll_limit) {
    using K = KernelOf<Kernel, Shape>;
    const Exec exec;
    const auto& sample = normal_sample<T>(count, columns);
    constexpr bool strided =
        std::is_same_v<K, KernelOf<KokkosSoftmax::Impl::SplitColumnKernel, Shape>>;
    const Case c{.extents = strided ? Extents{columns, count} : Extents{count, columns},
                 .options = {.axis = strided ? 0 : 1}};
    Field<T, Exec> x(place_right(c.extents));
    Field<T, Exec> y(place_right(c.extents));
    x.assign(rows_to_tensor(sample.rows.values, c.extents, c.options.axis));
    const auto x_view = x.template view<Kokkos::LayoutRight, 2>();
    const auto y_view = in_place ? x_view : y.template view<Kokkos::LayoutRight, 2>();
    KokkosSoftmax::Impl::SplitPlan plan;
    plan.groups = groups;
    plan.teams_per_row = static_cast<int>(members<K>);
    plan.panel = KokkosSoftmax::Impl::make_panel(
        {.neighbours = static_cast<std::int64_t>(count),
         .contiguous = true,
         .entry_bytes = sizeof(T),
         .most_rows = K::most_rows,
         .slots = Shape::rows_per_thread * Shape::threads * Shape::lanes,
         .max_teams = groups * plan.teams_per_row});
    KokkosSoftmax::Impl::SplitProblem p{};
    p.row_chunks = KokkosSoftmax::Impl::divide_up(static_cast<std::int64_t>(columns), Shape::width);
    p.chunk_bytes = plan.panel.rows * Shape::width * static_cast<int>(sizeof(T));
    plan.chunks_per_team = KokkosSoftmax::Impl::share_chunks(p, plan.teams_per_row);
    plan.rows = static_cast<std::uint32_t>(
        KokkosSoftmax::Impl::divide_up(static_cast<std::int64_t>(count), plan.panel.rows));
    plan.poll_limit = poll_limit;
    const auto problem = KokkosSoftmax::Impl::make_row_problem(
        KokkosSoftmax::Impl::strided_array(x_view), KokkosSoftmax::Impl::strided_array(y_view),
        c.options.axis);
    KokkosSoftmax::Impl::PolicyOf<Exec, Shape, K> policy(exec, groups * plan.teams_per_row,
                                                         Shape::threads, Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(K::scratch_bytes(plan)));
    const auto lease =
        KokkosSoftmax::Impl::SplitWorkspaces<Exec>::singleton().template lease<K::most_rows>(exec);
    Kokkos::parallel_for(
        "Test::closed_groups", policy,
        K{KokkosSoftmax::Impl::RowArgs<V>(problem, Options{}), lease.workspace(), plan});
    exec.fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, in_place ? x : y));
  }

  /// The poll limit of a pass. The teams of a host do not all run at one time and would poll in
  /// vain, so their limit is always 0.
  static std::uint32_t poll_limit_of_pass(int pass) {
    return is_host_space<Exec> || pass < 3 ? 0u : 1u << 20;
  }

  /// Launches several times, because the order in which teams start is random.
  template <template <class, class, class, class> class Kernel, class Shape>
  static void expect_right(std::size_t columns) {
    for (int pass = 0; pass < 5; ++pass)
      for (const bool in_place : {false, true}) {
        const std::uint32_t poll_limit = poll_limit_of_pass(pass);
        expect_right<Kernel, Shape>(1, columns, 1, in_place, poll_limit);
        expect_right<Kernel, Shape>(29, columns, 7, in_place, poll_limit);
        using K = KernelOf<Kernel, Shape>;
        constexpr int panel = K::most_rows;
        // an odd number of rows: panels of the largest size, and a smaller last panel
        const std::size_t many = panel > 1 ? 200 * panel - panel / 2 - 1 : 200;
        expect_right<Kernel, Shape>(many, columns, many_groups<K>(), in_place, poll_limit);
      }
  }

  /// Segments of one tile and of two tiles, in rows that are and that are not a whole number of
  /// chunks, and rows so short that most teams have an empty segment.
  template <template <class, class, class, class> class Kernel>
  static void expect_right() {
    for (const std::size_t tiles : {1, 2}) {
      expect_right<Kernel, Even>(members<KernelOf<Kernel, Even>> * tiles * tile<Even> -
                                 Even::width);
      expect_right<Kernel, Odd>(members<KernelOf<Kernel, Odd>> * tiles * tile<Odd> - 3);
    }
    expect_right<Kernel, Odd>(101);
  }

 private:
  const Watchdog m_watchdog{std::chrono::seconds(300)};  // if teams wait for ever
};
TYPED_TEST_SUITE(ClosedGroups, ScheduleConfigs, ConfigName);

TYPED_TEST(ClosedGroups, OneRowAGroup) {
  using Even = typename TestFixture::Even;
  using K = typename TestFixture::template KernelOf<KokkosSoftmax::Impl::SplitOnceKernel, Even>;
  const std::size_t columns =
      TestFixture::template members<K> * TestFixture::template tile<Even> - Even::width;
  for (int pass = 0; pass < 5; ++pass)
    for (const bool in_place : {false, true})
      for (const int groups : {1, TestFixture::template many_groups<K>()})
        TestFixture::template expect_right<KokkosSoftmax::Impl::SplitOnceKernel, Even>(
            static_cast<std::size_t>(groups), columns, groups, in_place,
            TestFixture::poll_limit_of_pass(pass));
}

TYPED_TEST(ClosedGroups, Held) {
  TestFixture::template expect_right<KokkosSoftmax::Impl::SplitHeldKernel>();
}

TYPED_TEST(ClosedGroups, Column) {
  using Strided = typename TestFixture::Strided;
  if (is_host_space<typename TypeParam::exec> &&
      typename TypeParam::exec{}.concurrency() < Strided::threads)
    GTEST_SKIP() << "a team has " << Strided::threads << " threads: set OMP_NUM_THREADS";
  // panels of one row, of 29 rows, and of the largest number of rows
  for (const std::size_t columns : {std::size_t(5), std::size_t(1001)})
    TestFixture::template expect_right<KokkosSoftmax::Impl::SplitColumnKernel, Strided>(columns);
}

TYPED_TEST(ClosedGroups, Online) {
  TestFixture::template expect_right<KokkosSoftmax::Impl::SplitOnlineKernel>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
