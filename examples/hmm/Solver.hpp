// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef HMM_SOLVER_HPP
#define HMM_SOLVER_HPP

/// \file
/// The forward algorithm of hidden Markov models (L. R. Rabiner, "A tutorial on hidden Markov
/// models and selected applications in speech recognition", Proc. IEEE 77, 257 (1989), section
/// III.A), in the log domain. With alpha_t(j) = log p(o_0 ... o_t, state j at t),
///
///   alpha_t(j) = log sum_i exp(alpha_{t-1}(i) + log a_ij) + log b_j(o_t),
///   log p(o) = log sum_j exp(alpha_{T-1}(j)).
///
/// A team processes a sequence. Its threads process the states j, and the vector lanes of a thread
/// compute the sum over i with the reducer LogSumExp.

#include <KokkosSoftmax.hpp>

namespace hmm {

using Exec = Kokkos::DefaultExecutionSpace;
using Table = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using Vector = Kokkos::View<double*, Exec>;
using Sequences = Kokkos::View<int**, Kokkos::LayoutRight, Exec>;

/// Logs of probabilities; -inf for impossible events.
struct LogModel {
  Vector start;      ///< of each state
  Table transition;  ///< (j, i): from state i to state j, so that lanes read neighbours
  Table emission;    ///< (o, j): of symbol o in state j
};

/// log_likelihood(s) = log p(sequence s).
inline void forward(const Exec& exec, const LogModel& model, const Sequences& sequences,
                    const Vector& log_likelihood) {
  using Team = Kokkos::TeamPolicy<Exec>;
  using Alpha =
      Kokkos::View<double*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using State = KokkosSoftmax::LogSumExpState<double>;
  constexpr int lanes = 8;  // on a GPU; on a host one thread computes the whole sum
  const int count = sequences.extent(0), length = sequences.extent(1);
  const int states = model.start.extent(0);

  auto policy = Team(exec, count, Kokkos::AUTO, lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(2 * Alpha::shmem_size(states)));
  Kokkos::parallel_for(
      "hmm::forward", policy, KOKKOS_LAMBDA(const Team::member_type& team) {
        const int s = team.league_rank();
        Alpha alpha(team.team_scratch(0), states), next(team.team_scratch(0), states);
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, states), [&](int j) {
          alpha(j) = model.start(j) + model.emission(sequences(s, 0), j);
        });
        team.team_barrier();

        for (int t = 1; t < length; ++t) {
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, states), [&](int j) {
            State sum;
            Kokkos::parallel_reduce(
                Kokkos::ThreadVectorRange(team, states),
                [&](int i, State& part) { part.update(alpha(i) + model.transition(j, i)); },
                KokkosSoftmax::LogSumExp(sum));
            Kokkos::single(Kokkos::PerThread(team),
                           [&] { next(j) = sum.value() + model.emission(sequences(s, t), j); });
          });
          team.team_barrier();
          Kokkos::kokkos_swap(alpha, next);
        }

        State sum;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, states),
            [&](int j, State& part) { part.update(alpha(j)); }, KokkosSoftmax::LogSumExp(sum));
        Kokkos::single(Kokkos::PerTeam(team), [&] { log_likelihood(s) = sum.value(); });
      });
}

}  // namespace hmm

#endif
