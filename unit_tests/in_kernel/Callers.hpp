// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_CALLERS_HPP
#define KOKKOSSOFTMAX_TEST_CALLERS_HPP

/// \file
/// Kernels of a user that call the library for each row of a matrix: in one thread, in the lanes of
/// a thread, or in a team.

#include <support/Backward.hpp>
#include <support/Check.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// A team policy without its league.
struct TeamShape {
  int team_size;
  int vector_length;
};

inline std::ostream& operator<<(std::ostream& out, const TeamShape& shape) {
  return out << "team size " << shape.team_size << ", vector length " << shape.vector_length;
}

/// Shapes for tests: of one lane, of parts of a warp, of whole warps, and with lanes left over.
template <class Exec>
std::vector<TeamShape> team_shapes() {
  if (is_host_space<Exec>) {
    std::vector<TeamShape> shapes = {{1, 1}};
    for (int size = 2; size <= std::min(3, Exec{}.concurrency()); ++size)
      shapes.push_back({size, 1});
    return shapes;
  }
  return {{1, 1},   {1, 32},  {4, 32}, {16, 32}, {3, 32}, {5, 1}, {33, 1},
          {100, 1}, {256, 1}, {7, 2},  {4, 8},   {64, 4}, {6, 16}};
}

/// Some of these shapes, others for each number.
template <class Exec>
std::vector<TeamShape> some_team_shapes(std::size_t number) {
  const auto all = team_shapes<Exec>();
  std::vector<TeamShape> some;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i)
    some.push_back(all[(number + 4 * i) % all.size()]);
  return some;
}

// Each caller has the names of its calls, and
//
// - for_each_row(member, rows, body): calls body(row) for the rows of this team, in the lanes that
//   make a call together
// - rows_per_team(team shape)
// - once(member, body): calls body() in one of these lanes, the last thread's if there are several

/// Each lane of a team calls the library for rows of its own.
struct BySerial {
  using Softmax = SerialSoftmax;
  using LogSoftmax = SerialLogSoftmax;
  using LogSumExp = SerialLogSumExp;
  using SoftmaxBackward = SerialSoftmaxBackward;
  using LogSoftmaxBackward = SerialLogSoftmaxBackward;
  using LogSumExpBackward = SerialLogSumExpBackward;
  static constexpr const char* name = "Serial";

  static int rows_per_team(const TeamShape& shape) { return shape.team_size * shape.vector_length; }
  template <class Member, class Body>
  KOKKOS_FUNCTION static void for_each_row(const Member& member, int rows, int vector_length,
                                           const Body& body) {
    const int first =
        (member.league_rank() * member.team_size() + member.team_rank()) * vector_length;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, vector_length), [&](int lane) {
      if (first + lane < rows) body(first + lane);
    });
  }
  template <class Member, class Body>
  KOKKOS_FUNCTION static void once(const Member&, const Body& body) {
    body();
  }
  template <class Call, class Member, class... Arguments>
  KOKKOS_FUNCTION static auto invoke(const Member&, const Arguments&... arguments) {
    return Call::invoke(arguments...);
  }
};

/// Each thread of a team calls the library for rows of its own, some threads for none.
struct ByThreadVector {
  using Softmax = ThreadVectorSoftmax;
  using LogSoftmax = ThreadVectorLogSoftmax;
  using LogSumExp = ThreadVectorLogSumExp;
  using SoftmaxBackward = ThreadVectorSoftmaxBackward;
  using LogSoftmaxBackward = ThreadVectorLogSoftmaxBackward;
  using LogSumExpBackward = ThreadVectorLogSumExpBackward;
  static constexpr const char* name = "ThreadVector";

  static int rows_per_team(const TeamShape& shape) { return shape.team_size; }
  template <class Member, class Body>
  KOKKOS_FUNCTION static void for_each_row(const Member& member, int rows, int /*vector_length*/,
                                           const Body& body) {
    const int first = member.league_rank() * member.team_size();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, member.team_size()), [&](int thread) {
      if (first + thread < rows) body(first + thread);
    });
  }
  template <class Member, class Body>
  KOKKOS_FUNCTION static void once(const Member& member, const Body& body) {
    Kokkos::single(Kokkos::PerThread(member), body);
  }
  template <class Call, class Member, class... Arguments>
  KOKKOS_FUNCTION static auto invoke(const Member& member, const Arguments&... arguments) {
    return Call::invoke(member, arguments...);
  }
};

/// Each team calls the library for one row.
struct ByTeamVector {
  using Softmax = TeamVectorSoftmax;
  using LogSoftmax = TeamVectorLogSoftmax;
  using LogSumExp = TeamVectorLogSumExp;
  using SoftmaxBackward = TeamVectorSoftmaxBackward;
  using LogSoftmaxBackward = TeamVectorLogSoftmaxBackward;
  using LogSumExpBackward = TeamVectorLogSumExpBackward;
  static constexpr const char* name = "TeamVector";

  static int rows_per_team(const TeamShape&) { return 1; }
  template <class Member, class Body>
  KOKKOS_FUNCTION static void for_each_row(const Member& member, int /*rows*/,
                                           int /*vector_length*/, const Body& body) {
    body(member.league_rank());
  }
  template <class Member, class Body>
  KOKKOS_FUNCTION static void once(const Member& member, const Body& body) {
    if (member.team_rank() == member.team_size() - 1)
      Kokkos::single(Kokkos::PerThread(member), body);
  }
  template <class Call, class Member, class... Arguments>
  KOKKOS_FUNCTION static auto invoke(const Member& member, const Arguments&... arguments) {
    return Call::invoke(member, arguments...);
  }
};

/// The policy of a caller's kernel over rows of `columns` columns.
template <class By, class Exec>
auto policy_of(const Exec& exec, int rows, std::int64_t columns, const TeamShape& shape) {
  const int per_team = By::rows_per_team(shape);
  const auto bytes = By::Softmax::scratch_size(columns, shape.team_size);
  return Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<512>>(exec, (rows + per_team - 1) / per_team,
                                                             shape.team_size, shape.vector_length)
      .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)));
}

/// Calls `function` for each row of x. Writes the rows of y (not for logsumexp), and what the calls
/// return to `lse`.
template <class By, Function function, class Exec, class X, class Y, class Lse>
void call_for_rows(const Exec& exec, const TeamShape& shape, const X& x, const Y& y, const Lse& lse,
                   const RowOptions& options) {
  const int rows = static_cast<int>(x.extent(0));
  const auto policy = policy_of<By>(exec, rows, static_cast<std::int64_t>(x.extent(1)), shape);
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  const int vector_length = shape.vector_length;
  Kokkos::parallel_for(
      "KokkosSoftmaxTest::call_for_rows", policy, KOKKOS_LAMBDA(const Member& member) {
        const RowOptions& same = options;  // nvcc: not captured first in an `if constexpr`
        By::for_each_row(member, rows, vector_length, [&](int row) {
          const auto x_row = Kokkos::subview(x, row, Kokkos::ALL);
          [[maybe_unused]] const auto y_row = Kokkos::subview(y, row, Kokkos::ALL);
          typename Lse::value_type of_row;
          if constexpr (function == Function::softmax)
            of_row = By::template invoke<typename By::Softmax>(member, x_row, y_row, same);
          else if constexpr (function == Function::log_softmax)
            of_row = By::template invoke<typename By::LogSoftmax>(member, x_row, y_row, same);
          else
            of_row = By::template invoke<typename By::LogSumExp>(member, x_row, same);
          By::once(member, [&] { lse(row) = of_row; });
        });
      });
}

/// The same for the backward passes with two inputs per entry.
template <class By, BackwardFunction function, class Exec, class Y, class DX>
void call_backward_for_rows(const Exec& exec, const TeamShape& shape, const Y& y, const Y& dy,
                            const DX& dx, const RowOptions& options) {
  const int rows = static_cast<int>(y.extent(0));
  const auto policy = policy_of<By>(exec, rows, static_cast<std::int64_t>(y.extent(1)), shape);
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  const int vector_length = shape.vector_length;
  Kokkos::parallel_for(
      "KokkosSoftmaxTest::call_backward_for_rows", policy, KOKKOS_LAMBDA(const Member& member) {
        By::for_each_row(member, rows, vector_length, [&](int row) {
          using Call =
              std::conditional_t<function == BackwardFunction::softmax_backward,
                                 typename By::SoftmaxBackward, typename By::LogSoftmaxBackward>;
          By::template invoke<Call>(member, Kokkos::subview(y, row, Kokkos::ALL),
                                    Kokkos::subview(dy, row, Kokkos::ALL),
                                    Kokkos::subview(dx, row, Kokkos::ALL), options);
        });
      });
}

/// The same for the backward pass of logsumexp.
template <class By, class Exec, class X, class Lse, class DX>
void call_lse_backward_for_rows(const Exec& exec, const TeamShape& shape, const X& x,
                                const Lse& lse, const Lse& dlse, const DX& dx,
                                const RowOptions& options) {
  const int rows = static_cast<int>(x.extent(0));
  const auto policy = policy_of<By>(exec, rows, static_cast<std::int64_t>(x.extent(1)), shape);
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  const int vector_length = shape.vector_length;
  Kokkos::parallel_for(
      "KokkosSoftmaxTest::call_lse_backward_for_rows", policy, KOKKOS_LAMBDA(const Member& member) {
        By::for_each_row(member, rows, vector_length, [&](int row) {
          By::template invoke<typename By::LogSumExpBackward>(
              member, Kokkos::subview(x, row, Kokkos::ALL), lse(row), dlse(row),
              Kokkos::subview(dx, row, Kokkos::ALL), options);
        });
      });
}

}  // namespace KokkosSoftmax::Test

#endif
