// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests LogSumExp as the reducer of parallel_reduce at every level of parallelism.

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

// Kernels are in separate functions, because nvcc does not accept device lambdas in the private
// body of a test.

template <class Exec, class X, class Reducer>
void reduce_range(const X& x, const Reducer& reducer) {
  using State = typename Reducer::value_type;
  Kokkos::parallel_reduce(
      "KokkosSoftmaxTest::reduce_range", Kokkos::RangePolicy<Exec>(0, x.extent(0)),
      KOKKOS_LAMBDA(int i, State& state) { state.update(x(i)); }, reducer);
}

/// The levels at which the threads of a team divide a row, each with its Kokkos range.
struct TeamThread {
  template <class Member>
  KOKKOS_FUNCTION static auto range(const Member& member, int n) {
    return Kokkos::TeamThreadRange(member, n);
  }
};
struct TeamVector {
  template <class Member>
  KOKKOS_FUNCTION static auto range(const Member& member, int n) {
    return Kokkos::TeamVectorRange(member, n);
  }
};
struct ThreadVector {
  template <class Member>
  KOKKOS_FUNCTION static auto range(const Member& member, int n) {
    return Kokkos::ThreadVectorRange(member, n);
  }
};

/// Computes lse(i) of row i with one team per row. Each thread of the team gets the result.
template <class Level, class Exec, class X, class L>
void reduce_rows_in_teams(const X& x, const L& lse) {
  using T = typename L::value_type;
  using Policy = Kokkos::TeamPolicy<Exec>;
  const int columns = static_cast<int>(x.extent(1));
  const int team_size = is_host_space<Exec> ? 1 : 4, vector_length = is_host_space<Exec> ? 1 : 8;
  Kokkos::parallel_for(
      "KokkosSoftmaxTest::reduce_rows_in_teams",
      Policy(static_cast<int>(x.extent(0)), team_size, vector_length),
      KOKKOS_LAMBDA(const typename Policy::member_type& member) {
        const int row = member.league_rank();
        LogSumExpState<T> result;
        Kokkos::parallel_reduce(
            Level::range(member, columns),
            [&](int i, LogSumExpState<T>& state) { state.update(x(row, i)); },
            LogSumExp<T, typename Exec::memory_space>(result));
        if (member.team_rank() == member.team_size() - 1)
          Kokkos::single(Kokkos::PerThread(member), [&] { lse(row) = result.value(); });
      });
}

template <class C>
class Reducer : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Memory = Field<T, Exec>;
  using Right = Kokkos::LayoutRight;

  static ::testing::AssertionResult is_value(T got, const Sample<T>& sample, std::size_t row) {
    const long double tolerance = sequential_tolerance<T>(sample.rows.columns);
    const long double truth = sample.expected.logsumexp[row];
    if (is_accurate(Function::logsumexp, got, truth, tolerance))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << got << " instead of " << truth << ", " << sample.rows.columns << " columns, row "
           << row << " " << (sample.rows.names.empty() ? "" : sample.rows.names[row]);
  }

  template <class Level>
  static void expect_right_in_teams(const Sample<T>& sample) {
    const Extents extents{sample.rows.count, sample.rows.columns};
    Memory x(place_right(extents)), lse(place_right({extents[0]}));
    x.assign(sample.rows.values);
    reduce_rows_in_teams<Level, Exec>(x.template view<Right, 2, const T>(),
                                      lse.template view<Right, 1>());
    Exec{}.fence();
    const auto got = lse.read();
    for (std::size_t row = 0; row < got.size(); ++row) EXPECT_TRUE(is_value(got[row], sample, row));
  }

  template <class Level>
  static void expect_right_in_teams() {
    for (const std::size_t columns : {0, 1, 7, 129, 1025})
      expect_right_in_teams<Level>(normal_sample<T>(5, columns));
    for (const std::size_t columns : {1, 33}) {
      const auto rows = hostile_rows<T>(columns);
      expect_right_in_teams<Level>({rows, reference(rows)});
    }
  }
};
TYPED_TEST_SUITE(Reducer, ValueConfigs, ConfigName);

TYPED_TEST(Reducer, RangeIntoHostVariable) {
  using T = typename TypeParam::value;
  for (const std::size_t columns : {0, 1, 33, 32769}) {
    const auto& sample = normal_sample<T>(1, columns);
    typename TestFixture::Memory x(place_right({columns}));
    x.assign(sample.rows.values);
    LogSumExpState<T> state{T(1), T(1)};  // the previous value must have no effect
    reduce_range<typename TypeParam::exec>(x.template view<Kokkos::LayoutRight, 1>(),
                                           LogSumExp<T>(state));
    EXPECT_TRUE(TestFixture::is_value(state.value(), sample, 0));
  }
}

TYPED_TEST(Reducer, RangeIntoView) {
  using T = typename TypeParam::value;
  using Device = typename TestFixture::Memory::Device;
  const auto& sample = normal_sample<T>(1, 12671);
  typename TestFixture::Memory x(place_right({12671}));
  x.assign(sample.rows.values);
  Kokkos::View<LogSumExpState<T>, Device> state("state");
  reduce_range<typename TypeParam::exec>(x.template view<Kokkos::LayoutRight, 1>(),
                                         LogSumExp(state));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, state);
  EXPECT_TRUE(TestFixture::is_value(host().value(), sample, 0));
}

TYPED_TEST(Reducer, TeamThreadRange) { TestFixture::template expect_right_in_teams<TeamThread>(); }

TYPED_TEST(Reducer, TeamVectorRange) { TestFixture::template expect_right_in_teams<TeamVector>(); }

TYPED_TEST(Reducer, ThreadVectorRange) {
  TestFixture::template expect_right_in_teams<ThreadVector>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
