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
/// A team processes a sequence. Its threads process the states j. The vector lanes of a thread
/// write the terms of a sum over i to the thread's scratch memory and call ThreadVectorLogSumExp
/// for them.

#include <KokkosSoftmax.hpp>
#include <type_traits>

namespace hmm {

using Exec = Kokkos::DefaultExecutionSpace;
using Table = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using Vector = Kokkos::View<double*, Exec>;
using Sequences = Kokkos::View<int**, Kokkos::LayoutRight, Exec>;

inline constexpr bool on_host = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;

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
  using Row =
      Kokkos::View<double*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using LogSumExp = KokkosSoftmax::ThreadVectorLogSumExp;
  const int count = sequences.extent(0), length = sequences.extent(1);
  const int states = model.start.extent(0);
  // On a host one thread computes the whole sum. On a GPU there is one row of terms per thread, so
  // that threads with more lanes need less scratch memory for long rows.
  const int lanes = on_host ? 1 : states <= 64 ? 8 : 32;

  auto policy = Team(exec, count, Kokkos::AUTO, lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(2 * Row::shmem_size(states)),
                          Kokkos::PerThread(Row::shmem_size(states)));
  Kokkos::parallel_for(
      "hmm::forward", policy, KOKKOS_LAMBDA(const Team::member_type& team) {
        const int s = team.league_rank();
        Row alpha(team.team_scratch(0), states), next(team.team_scratch(0), states);
        const Row terms(team.thread_scratch(0), states);
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, states), [&](int j) {
          alpha(j) = model.start(j) + model.emission(sequences(s, 0), j);
        });
        team.team_barrier();

        for (int t = 1; t < length; ++t) {
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, states), [&](int j) {
            // All lanes see the terms after this loop, and all lanes get the sum.
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, states),
                                 [&](int i) { terms(i) = alpha(i) + model.transition(j, i); });
            const double sum = LogSumExp::invoke(team, terms);
            Kokkos::single(Kokkos::PerThread(team),
                           [&] { next(j) = sum + model.emission(sequences(s, t), j); });
          });
          team.team_barrier();
          Kokkos::kokkos_swap(alpha, next);
        }

        // One thread of the team; the call has no barrier.
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1), [&](int) {
          const double sum = LogSumExp::invoke(team, alpha);
          Kokkos::single(Kokkos::PerThread(team), [&] { log_likelihood(s) = sum; });
        });
      });
}

}  // namespace hmm

#endif
