// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MIXTURE_SOLVER_HPP
#define MIXTURE_SOLVER_HPP

/// \file
/// Expectation-maximization (EM) for a mixture of normal distributions with diagonal covariances
/// (C. M. Bishop, "Pattern Recognition and Machine Learning", Springer (2006), section 9.2.2). The
/// log-density of point x_n in component k, with its weight, is
///
///   l_nk = log w_k - sum_d [log(2 pi v_kd) + (x_nd - m_kd)^2 / v_kd] / 2.
///
/// The E-step computes, for each point,
///
///   r_nk = exp(l_nk) / sum_j exp(l_nj),   log p(x_n) = log sum_j exp(l_nj),
///
/// the softmax of l_n (the responsibilities of the components) and its log-sum-exp. One call of
/// ThreadVectorSoftmax inside the kernel gives both. l_n exists only in scratch memory. The M-step
/// computes, with N_k = sum_n r_nk,
///
///   w_k = N_k / N,   m_kd = sum_n r_nk x_nd / N_k,   v_kd = sum_n r_nk (x_nd - m_kd)^2 / N_k,
///
/// from sums of differences from the mean of the previous iteration. These are small, so that
/// little cancels.

#include <KokkosSoftmax.hpp>
#include <type_traits>
#include <vector>

namespace mixture {

using Exec = Kokkos::DefaultExecutionSpace;
using Table = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using Vector = Kokkos::View<double*, Exec>;
using Moments = Kokkos::View<double***, Kokkos::LayoutRight, Exec>;

inline constexpr bool on_host = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
inline constexpr int points_per_team = 256;

/// The parameters, on the device.
struct Parameters {
  Vector log_factor;  ///< (k): log w_k - sum_d log(2 pi v_kd) / 2
  Table mean;         ///< (d, k), so that lanes read neighbours
  Table variance;     ///< (d, k)
};

inline int teams_for(int points) { return (points + points_per_team - 1) / points_per_team; }

/// The E-step: responsibility(n, k) = r_nk. Returns sum_n log p(x_n).
inline double expectation(const Exec& exec, const Parameters& parameters, const Table& points,
                          const Table& responsibility) {
  using Team = Kokkos::TeamPolicy<Exec>;
  using Row =
      Kokkos::View<double*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  constexpr int lanes = on_host ? 1 : 8;  // on a host one thread computes the whole row
  const int count = points.extent(0), dimensions = points.extent(1);
  const int components = responsibility.extent(1);

  auto policy = Team(exec, teams_for(count), Kokkos::AUTO, lanes);
  policy.set_scratch_size(0, Kokkos::PerThread(Row::shmem_size(components)));
  double log_likelihood = 0;
  Kokkos::parallel_reduce(
      "mixture::expectation", policy,
      KOKKOS_LAMBDA(const Team::member_type& team, double& sum) {
        const Row log_density(team.thread_scratch(0), components);
        const int first = team.league_rank() * points_per_team;
        const int last = Kokkos::min(first + points_per_team, count);
        double sum_of_team = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, first, last),
            [&](int n, double& part) {
              // All lanes of the thread see the log-densities after this loop.
              Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, components), [&](int k) {
                double twice = 0;
                for (int d = 0; d < dimensions; ++d) {
                  const double away = points(n, d) - parameters.mean(d, k);
                  twice += away * away / parameters.variance(d, k);
                }
                log_density(k) = parameters.log_factor(k) - twice / 2;
              });
              part += KokkosSoftmax::ThreadVectorSoftmax::invoke(
                  team, log_density, Kokkos::subview(responsibility, n, Kokkos::ALL));
            },
            sum_of_team);
        Kokkos::single(Kokkos::PerTeam(team), [&] { sum += sum_of_team; });
      },
      log_likelihood);
  return log_likelihood;
}

/// moments(part, k, ...): the sums over a part of the points of r_nk, and for each d of r_nk a_nd
/// and r_nk a_nd^2, with a_nd = x_nd - m_kd for the present mean. A team computes them for a
/// component.
inline void sum_moments(const Exec& exec, const Table& points, const Table& responsibility,
                        const Parameters& parameters, const Moments& moments) {
  using Team = Kokkos::TeamPolicy<Exec>;
  const int count = points.extent(0), dimensions = points.extent(1);
  const int components = responsibility.extent(1), parts = moments.extent(0);
  const int part_size = (count + parts - 1) / parts;
  Kokkos::parallel_for(
      "mixture::sum_moments", Team(exec, parts * components, Kokkos::AUTO),
      KOKKOS_LAMBDA(const Team::member_type& team) {
        const int k = team.league_rank() % components, part = team.league_rank() / components;
        const int first = Kokkos::min(part * part_size, count);
        const auto range =
            Kokkos::TeamThreadRange(team, first, Kokkos::min(first + part_size, count));
        double r_sum = 0;
        Kokkos::parallel_reduce(
            range, [&](int n, double& sum) { sum += responsibility(n, k); }, r_sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { moments(part, k, 0) = r_sum; });
        for (int d = 0; d < dimensions; ++d) {
          const double mean = parameters.mean(d, k);
          double ra_sum = 0, raa_sum = 0;
          Kokkos::parallel_reduce(
              range,
              [&](int n, double& sum) { sum += responsibility(n, k) * (points(n, d) - mean); },
              ra_sum);
          Kokkos::parallel_reduce(
              range,
              [&](int n, double& sum) {
                const double away = points(n, d) - mean;
                sum += responsibility(n, k) * away * away;
              },
              raa_sum);
          Kokkos::single(Kokkos::PerTeam(team), [&] {
            moments(part, k, 1 + 2 * d) = ra_sum;
            moments(part, k, 2 + 2 * d) = raa_sum;
          });
        }
      });
}

/// The M-step: sets the parameters.
inline void maximization(const Exec& exec, const Table& points, const Table& responsibility,
                         const Parameters& parameters) {
  constexpr int parts = 64;  // so that there are teams enough for a GPU
  const int count = points.extent(0), dimensions = points.extent(1);
  const int components = responsibility.extent(1);
  const Moments moments(Kokkos::view_alloc("moments", Kokkos::WithoutInitializing), parts,
                        components, 1 + 2 * dimensions);
  sum_moments(exec, points, responsibility, parameters, moments);
  Kokkos::parallel_for(
      "mixture::maximization", Kokkos::RangePolicy<Exec>(exec, 0, components),
      KOKKOS_LAMBDA(int k) {
        const auto moment = [&](int i) {
          double sum = 0;
          for (int part = 0; part < parts; ++part) sum += moments(part, k, i);
          return sum;
        };
        const double weight = moment(0);  // N_k
        double log_factor = Kokkos::log(weight / count);
        for (int d = 0; d < dimensions; ++d) {
          const double step = moment(1 + 2 * d) / weight;
          const double variance = moment(2 + 2 * d) / weight - step * step;
          parameters.mean(d, k) += step;
          parameters.variance(d, k) = variance;
          log_factor -= Kokkos::log(2 * Kokkos::numbers::pi * variance) / 2;
        }
        parameters.log_factor(k) = log_factor;
      });
  exec.fence();  // before the moments are freed
}

/// Does `iterations` iterations of EM from the parameters. Returns the log-likelihood of the
/// parameters before each of them, and last that of the result.
inline std::vector<double> fit(const Exec& exec, const Table& points, int iterations,
                               const Parameters& parameters, const Table& responsibility) {
  std::vector<double> log_likelihood{expectation(exec, parameters, points, responsibility)};
  for (int i = 0; i < iterations; ++i) {
    maximization(exec, points, responsibility, parameters);
    log_likelihood.push_back(expectation(exec, parameters, points, responsibility));
  }
  return log_likelihood;
}

}  // namespace mixture

#endif
