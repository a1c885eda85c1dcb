// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the protocol of docs/split.md on the host, with groups of several teams that run at the
// same time. Each lane is a thread. The test controls which teams arrive before their group is
// closed and which teams are late, and checks the workspace after each launch. Every result is
// compared with the reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <backend/Schedule.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <random>
#include <schedules/split/Planning.hpp>
#include <schedules/split/Split.hpp>
#include <schedules/split/SplitColumn.hpp>
#include <support/Check.hpp>
#include <support/Kernels.hpp>
#include <support/ThreadTeams.hpp>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::LaunchWord;
using KokkosSoftmax::Impl::SplitPlan;
using KokkosSoftmax::Impl::SplitWorkspace;

/// Whether late teams can be tested in place. A team that is excluded from its group reads entries
/// that the other teams overwrite at the same time, and discards the result. ThreadSanitizer
/// reports these reads.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool late_teams_in_place = false;
#else
inline constexpr bool late_teams_in_place = true;
#endif

/// A workspace that belongs to the test, for `teams` teams that work on `rows` rows at one time.
class TestWorkspace {
 public:
  static constexpr std::uint32_t max_epoch = 0x7fffffffu;

  TestWorkspace(int teams, int rows)
      : m_groups(static_cast<std::size_t>(teams), 0u),
        m_words(static_cast<std::size_t>(teams * rows * SplitWorkspace::words_per_team), 0u) {}

  SplitWorkspace pointers() {
    SplitWorkspace space;
    space.launches = &m_launches;
    space.finished = &m_finished;
    space.claimed = &m_claimed;
    space.groups = m_groups.data();
    space.words = m_words.data();
    space.all_words = static_cast<int>(m_words.size());
    space.launch = ++m_launch;
    return space;
  }

  std::uint32_t epoch() const { return LaunchWord(m_launches).epoch; }
  void set_epoch(std::uint32_t epoch) { m_launches = LaunchWord::of(m_launch, epoch); }

  // These can be called while a launch runs.
  int finished() { return static_cast<int>(KokkosSoftmax::Impl::load_relaxed(&m_finished)); }
  int arrivals(int group) { return static_cast<int>(word_of(group) & 0xffffu); }
  bool is_closed(int group) { return (word_of(group) & 0x80000000u) != 0u; }

  /// Fills all words with messages whose tags run through [first, last] repeatedly.
  void fill_with_tags(std::uint32_t first, std::uint32_t last) {
    std::uint32_t tag = first;
    for (std::uint64_t& word : m_words) {
      word = std::uint64_t(tag) << 32 | 0x40400000u;
      tag = tag == last ? first : tag + 1;
    }
  }

  bool words_are_cleared() const {
    return std::all_of(m_words.begin(), m_words.end(), [](std::uint64_t w) { return w == 0u; });
  }

  /// Checks the state in which each launch must leave the workspace, as the next launch relies on
  /// it.
  void expect_ready() const {
    EXPECT_EQ(m_finished, 0u);
    EXPECT_EQ(m_claimed, 0u);
    EXPECT_EQ(LaunchWord(m_launches).done, m_launch);
    for (const std::uint32_t word : m_groups) EXPECT_EQ(word, 0u);
    EXPECT_LE(epoch(), max_epoch);
    for (const std::uint64_t word : m_words) {
      EXPECT_LE(word >> 32, epoch());
      if (word >> 32 > epoch()) return;
    }
  }

 private:
  std::uint32_t word_of(int group) {
    return KokkosSoftmax::Impl::load_relaxed(&m_groups[static_cast<std::size_t>(group)]);
  }

  std::uint64_t m_launches = 0;
  std::uint32_t m_finished = 0, m_claimed = 0, m_launch = 0;
  std::vector<std::uint32_t> m_groups;
  std::vector<std::uint64_t> m_words;
};

/// A launch and the behaviour of its teams.
struct Launch {
  enum class Late { never, after_closing, after_all_others };

  std::size_t count;    // rows
  std::size_t columns;  // entries of a row
  int groups;
  int teams_per_row;
  bool in_place = false;
  bool with_max = false;  // whether the maxima of the rows are asked for, if the function has them
  std::uint32_t poll_limit = 1u << 30;
  /// The number of teams of a group that arrive in time. No team polls for the others before this
  /// many teams have arrived, and the remaining teams are late. If all of teams_per_row arrive, the
  /// group can't be closed even with a poll limit of 0.
  int arrivals = 0;
  Late late = Late::never;
  int delays = 0;  // if not 0, teams start after random delays with this seed
  double scale = 1.0;
};

std::ostream& operator<<(std::ostream& out, const Launch& l) {
  return out << l.count << " rows of " << l.columns << " columns, " << l.groups << " groups of "
             << l.teams_per_row << " teams, " << (l.in_place ? "in place, " : "") << "poll limit "
             << l.poll_limit << ", " << l.arrivals << " arrivals, late " << static_cast<int>(l.late)
             << ", delays " << l.delays << ", scale " << l.scale;
}

TeamGates gates_of(const Launch& l, TestWorkspace& workspace) {
  using Late = Launch::Late;
  TeamGates gates;
  gates.before_start = [&l, &workspace](int rank) {
    const int group = rank / l.teams_per_row, index = rank % l.teams_per_row;
    if (l.delays != 0) {
      std::minstd_rand random(static_cast<unsigned>(1000 * l.delays + rank));
      for (int k = static_cast<int>(random() % 200); k > 0; --k) std::this_thread::yield();
    }
    if (l.late == Late::never || index < l.arrivals) return;
    if (l.late == Late::after_closing) wait_until([&] { return workspace.is_closed(group); });
    if (l.late == Late::after_all_others)
      wait_until([&] { return workspace.finished() >= l.groups * l.arrivals; });
  };
  if (l.arrivals > 0)
    gates.before_first_barrier = [&l, &workspace](int rank) {
      wait_until([&] { return workspace.arrivals(rank / l.teams_per_row) >= l.arrivals; });
      // The last team has arrived and is delayed: the others poll for it until their limit.
      if (l.arrivals == l.teams_per_row && rank % l.teams_per_row == l.arrivals - 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
  return gates;
}

/// One of the split kernels for an operation and a type.
template <template <class, class, class, class> class Kernel,
          KokkosSoftmax::Impl::Operation operation_, class T>
struct SplitTeamsConfig {
  using value = T;
  static constexpr auto operation = operation_;
  template <class Shape>
  using KernelOf =
      KernelFor<Kernel, ThreadTeams, operation_, KokkosSoftmax::Impl::ValueTypes<T>, Shape>;
};

struct SplitTeamsName {
  template <class C>
  static std::string GetName(int) {
    using K =
        typename C::template KernelOf<KokkosSoftmax::Impl::Shape<1, 4, 4, 1, AccessMode::scalar>>;
    const std::string kind = K::most_rows > 1       ? "column"
                             : K::one_row_per_group ? "once"
                             : K::holds_shares      ? "held"
                                                    : "online";
    const char* function = C::operation == KokkosSoftmax::Impl::Operation::softmax ? "softmax"
                           : C::operation == KokkosSoftmax::Impl::Operation::log_softmax
                               ? "log_softmax"
                               : "logsumexp";
    return kind + "_" + function + "_" + (sizeof(typename C::value) == 4 ? "float" : "double");
  }
};

template <class C>
class SplitTeams : public ::testing::Test {
 protected:
  using T = typename C::value;
  using V = KokkosSoftmax::Impl::ValueTypes<T>;
  using Host = Kokkos::DefaultHostExecutionSpace;
  using Late = Launch::Late;

  static constexpr bool is_column =
      C::template KernelOf<KokkosSoftmax::Impl::Shape<1, 4, 4, 1, AccessMode::scalar>>::most_rows >
      1;
  static constexpr bool one_row_per_group = C::template KernelOf<
      KokkosSoftmax::Impl::Shape<1, 4, 4, 1, AccessMode::scalar>>::one_row_per_group;
  static constexpr bool holds_shares = C::template KernelOf<
      KokkosSoftmax::Impl::Shape<1, 4, 4, 1, AccessMode::scalar>>::holds_shares;
  static constexpr Function function =
      C::operation == KokkosSoftmax::Impl::Operation::softmax       ? Function::softmax
      : C::operation == KokkosSoftmax::Impl::Operation::log_softmax ? Function::log_softmax
                                                                    : Function::logsumexp;
  static constexpr bool can_be_in_place = function != Function::logsumexp;

  /// Teams of one thread with four lanes, and of two threads with two lanes, which also merge the
  /// states of their threads.
  using OneThread =
      std::conditional_t<is_column,
                         KokkosSoftmax::Impl::Shape<1, 4, 8, 1, AccessMode::scalar, 1, 4>,
                         KokkosSoftmax::Impl::Shape<1, 4, 2, KokkosSoftmax::Impl::widest<T>,
                                                    AccessMode::guarded_vectors>>;
  using TwoThreads =
      std::conditional_t<is_column,
                         KokkosSoftmax::Impl::Shape<2, 2, 8, 1, AccessMode::scalar, 1, 4>,
                         KokkosSoftmax::Impl::Shape<2, 2, 4, 2, AccessMode::peeled_vectors>>;

  template <class Shape>
  static constexpr std::size_t tile = Shape::threads* Shape::lanes* Shape::items* Shape::width;
  /// The number of columns of a row that almost fills the tiles of `members` members.
  template <class Shape>
  static constexpr std::size_t columns_for(std::size_t members) {
    return members * tile<Shape> -
           (Shape::access == AccessMode::guarded_vectors ? Shape::width : 1);
  }

  template <class Shape>
  static TestWorkspace make_workspace(int teams) {
    return {teams, C::template KernelOf<Shape>::most_rows};
  }

  /// Checks one launch. Earlier launches can have used the workspace.
  template <class Shape>
  static void expect_right(const Launch& l, TestWorkspace& workspace) {
    using K = typename C::template KernelOf<Shape>;
    const auto rows = normal_rows<T>(l.count, l.columns);
    const Case c{.function = function,
                 .extents = is_column ? Extents{l.columns, l.count} : Extents{l.count, l.columns},
                 .options = {.axis = is_column ? 0 : 1, .scale = l.scale}};
    Field<T, Host> x(place_right(c.extents)), y(place_right(c.y_extents()));
    Field<T, Host> max(place_right({l.count}));
    x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
    const SplitPlan plan = plan_of<Shape>(l);
    auto problem = problem_of(c, x, l.in_place ? x : y);
    problem.max = can_be_in_place && l.with_max ? max.data() : nullptr;
    problem.max_stride = 1;
    const K kernel{KokkosSoftmax::Impl::RowArgs<V>(problem, c.options), workspace.pointers(), plan};
    const std::uint32_t epoch = workspace.epoch();
    run_teams(kernel, l.groups * l.teams_per_row, Shape::threads, Shape::lanes,
              K::scratch_bytes(plan), gates_of(l, workspace));
    EXPECT_TRUE(check_output(c, rows, reference(rows, l.scale), l.in_place ? x : y)) << l;
    if (problem.max != nullptr) {
      EXPECT_EQ(max.read(), max_of_rows(rows, static_cast<T>(l.scale))) << l;
    }
    EXPECT_TRUE(max.gaps_are_unchanged()) << l;
    workspace.expect_ready();
    // A launch uses the tags of its rounds: at most one per row, and one for closing.
    const std::uint32_t next = epoch + plan.rows + 1;
    const bool wraps = next > TestWorkspace::max_epoch;
    EXPECT_EQ(workspace.epoch(), wraps ? 0u : next) << l;
    EXPECT_TRUE(!wraps || workspace.words_are_cleared()) << l;
  }

  /// Checks one launch with a new workspace.
  template <class Shape>
  static void expect_right(const Launch& l) {
    TestWorkspace workspace = make_workspace<Shape>(l.groups * l.teams_per_row);
    expect_right<Shape>(l, workspace);
  }

  /// Calls body(launch) with problems that the kernel can serve: rows (or panels of rows) for one
  /// group and for two, a few more, and so many that groups claim some; segments of one tile, of
  /// two tiles, and empty segments for most teams; in place and not in place.
  template <class Shape, class Body>
  static void for_each_problem(int teams_per_row, const Body& body) {
    const std::size_t few = Shape::access == AccessMode::guarded_vectors ? Shape::width : 1;
    const std::size_t all = columns_for<Shape>(static_cast<std::size_t>(teams_per_row));
    const struct {
      std::size_t columns, panels;
    } problems[] = {{all, 1}, {all, 2}, {all, 3}, {all, 9}, {2 * all, 9}, {few, 3}};
    int number = teams_per_row;
    for (const auto& [columns, panels] : problems) {
      if (one_row_per_group && (panels > 2 || columns != all)) continue;
      // the last panel of several is smaller
      const std::size_t most_rows = C::template KernelOf<Shape>::most_rows;
      const std::size_t count = panels * most_rows - (panels > 1 && is_column ? 1 : 0);
      body(Launch{.count = count,
                  .columns = columns,
                  .groups = panels == 1 ? 1 : 2,
                  .teams_per_row = teams_per_row,
                  .in_place = can_be_in_place && ++number % 2 == 0,
                  .with_max = number % 3 != 0});
    }
  }

 private:
  static std::vector<T> max_of_rows(const Rows<T>& rows, T scale) {
    std::vector<T> max;
    for (auto row = rows.values.begin(); row != rows.values.end();
         row += static_cast<std::ptrdiff_t>(rows.columns))
      max.push_back(scale *
                    *std::max_element(row, row + static_cast<std::ptrdiff_t>(rows.columns)));
    return max;
  }

  template <class Shape>
  static SplitPlan plan_of(const Launch& l) {
    using KokkosSoftmax::Impl::divide_up;
    using K = typename C::template KernelOf<Shape>;
    const auto count = static_cast<std::int64_t>(l.count);
    SplitPlan plan;
    plan.groups = l.groups;
    plan.teams_per_row = l.teams_per_row;
    if (is_column)
      plan.panel = KokkosSoftmax::Impl::make_panel(
          {.neighbours = count,
           .contiguous = true,
           .entry_bytes = sizeof(T),
           .most_rows = K::most_rows,
           .slots = Shape::rows_per_thread * Shape::threads * Shape::lanes,
           .max_teams = l.groups * l.teams_per_row});
    plan.chunks_per_team =
        divide_up(divide_up(static_cast<std::int64_t>(l.columns), std::int64_t(Shape::width)),
                  std::int64_t(l.teams_per_row));
    plan.rows = static_cast<std::uint32_t>(divide_up(count, std::int64_t(plan.panel.rows)));
    plan.poll_limit = l.poll_limit;
    return plan;
  }

  static auto problem_of(const Case& c, const Field<T, Host>& x, const Field<T, Host>& y) {
    using L = Kokkos::LayoutRight;
    using KokkosSoftmax::Impl::strided_array;
    constexpr int y_rank = function == Function::logsumexp ? 1 : 2;
    return KokkosSoftmax::Impl::make_row_problem(strided_array(x.template view<L, 2, const T>()),
                                                 strided_array(y.template view<L, y_rank>()),
                                                 c.options.axis);
  }

  const Watchdog m_watchdog{std::chrono::seconds(300)};
};

using SplitTeamsConfigs =
    ::testing::Types<SplitTeamsConfig<KokkosSoftmax::Impl::SplitOnceKernel,
                                      KokkosSoftmax::Impl::Operation::softmax, float>,
                     SplitTeamsConfig<KokkosSoftmax::Impl::SplitOnceKernel,
                                      KokkosSoftmax::Impl::Operation::log_softmax, double>,
                     SplitTeamsConfig<KokkosSoftmax::Impl::SplitHeldKernel,
                                      KokkosSoftmax::Impl::Operation::softmax, double>,
                     SplitTeamsConfig<KokkosSoftmax::Impl::SplitHeldKernel,
                                      KokkosSoftmax::Impl::Operation::log_softmax, float>,
                     SplitTeamsConfig<KokkosSoftmax::Impl::SplitOnlineKernel,
                                      KokkosSoftmax::Impl::Operation::softmax, float>,
                     SplitTeamsConfig<KokkosSoftmax::Impl::SplitOnlineKernel,
                                      KokkosSoftmax::Impl::Operation::logsumexp, double>,
                     SplitTeamsConfig<KokkosSoftmax::Impl::SplitColumnKernel,
                                      KokkosSoftmax::Impl::Operation::softmax, double>,
                     SplitTeamsConfig<KokkosSoftmax::Impl::SplitColumnKernel,
                                      KokkosSoftmax::Impl::Operation::logsumexp, float>>;
TYPED_TEST_SUITE(SplitTeams, SplitTeamsConfigs, SplitTeamsName);

TYPED_TEST(SplitTeams, CompleteGroups) {
  const auto check = [&]<class Shape>(std::type_identity<Shape>) {
    for (const int members : {1, 2, 3, 4})
      TestFixture::template for_each_problem<Shape>(
          members, [](const Launch& l) { TestFixture::template expect_right<Shape>(l); });
  };
  check(std::type_identity<typename TestFixture::OneThread>{});
  check(std::type_identity<typename TestFixture::TwoThreads>{});
}

// A team that reaches its poll limit finds that all teams have arrived, and continues to wait.
TYPED_TEST(SplitTeams, CompleteGroupsCannotBeClosed) {
  using Shape = typename TestFixture::OneThread;
  for (const int members : {2, 4})
    TestFixture::template for_each_problem<Shape>(members, [&](Launch l) {
      l.poll_limit = 0;
      l.arrivals = members;
      TestFixture::template expect_right<Shape>(l);
    });
}

// All numbers of members with which a group can be closed. The remaining teams start when the group
// is closed, or when all other teams have finished: then they prepare the workspace for the next
// launch.
TYPED_TEST(SplitTeams, ClosedGroups) {
  using Late = typename TestFixture::Late;
  const auto check = [&]<class Shape>(std::type_identity<Shape>) {
    for (const int members : {1, 2, 3})
      for (const Late late : {Late::after_closing, Late::after_all_others})
        TestFixture::template for_each_problem<Shape>(4, [&](Launch l) {
          l.in_place = l.in_place && late_teams_in_place;
          l.poll_limit = 0;
          l.arrivals = members;
          l.late = late;
          TestFixture::template expect_right<Shape>(l);
        });
  };
  check(std::type_identity<typename TestFixture::OneThread>{});
  check(std::type_identity<typename TestFixture::TwoThreads>{});
}

// The library plans at most as many groups as rows. The kernels that read rows twice do not need
// that: the teams of a group without rows leave.
TYPED_TEST(SplitTeams, GroupsWithoutRows) {
  if (TestFixture::holds_shares) GTEST_SKIP() << "the kernel needs a row per group";
  const auto check = [&]<class Shape>(std::type_identity<Shape>) {
    for (const int members : {1, 3})
      for (const std::uint32_t poll_limit : {0u, 1u << 30})
        TestFixture::template for_each_problem<Shape>(members, [&](Launch l) {
          l.groups += 2;
          l.in_place = l.in_place && late_teams_in_place;
          l.poll_limit = poll_limit;
          TestFixture::template expect_right<Shape>(l);
        });
  };
  check(std::type_identity<typename TestFixture::OneThread>{});
  check(std::type_identity<typename TestFixture::TwoThreads>{});
}

// It is random which groups are closed and with which members; the results must be right in any
// case. The launches use one workspace one after the other and differ in shapes and data.
TYPED_TEST(SplitTeams, ManyLaunchesOnOneWorkspace) {
  using Shape = typename TestFixture::OneThread;
  TestWorkspace workspace = TestFixture::template make_workspace<Shape>(8);
  int launch = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (const int members : {4, 3, 1, 2})
      TestFixture::template for_each_problem<Shape>(members, [&](Launch l) {
        l.in_place = l.in_place && late_teams_in_place;
        constexpr std::uint32_t poll_limits[] = {1u << 30, 0, 1, 3, 20};
        l.poll_limit = poll_limits[launch % 5];
        l.delays = ++launch;
        l.scale = 0.25 * (launch % 7 + 1);
        TestFixture::template expect_right<Shape>(l, workspace);
      });
}

// Tags repeat after 2^31 rows. Words with a tag that will be used again must be cleared before.
TYPED_TEST(SplitTeams, EpochComesRound) {
  using Shape = typename TestFixture::OneThread;
  using Late = typename TestFixture::Late;
  for (const std::uint32_t before : {0u, 1u, 2u, 3u, 8u}) {
    TestWorkspace workspace = TestFixture::template make_workspace<Shape>(8);
    workspace.fill_with_tags(1, 40);  // tags of the launches after the epoch has wrapped
    workspace.set_epoch(TestWorkspace::max_epoch - before);
    int launch = 0;
    for (int pass = 0; pass < 2; ++pass)
      TestFixture::template for_each_problem<Shape>(4, [&](Launch l) {
        if (++launch % 3 == 0) {
          l.poll_limit = 0;
          l.arrivals = 2;
          l.late = Late::after_closing;
          l.in_place = l.in_place && late_teams_in_place;
        }
        l.scale = 0.25 * (launch % 7 + 1);
        TestFixture::template expect_right<Shape>(l, workspace);
      });
    EXPECT_LT(workspace.epoch(), 1000u) << "no launch was beyond the last epoch";
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
