// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MBAR_SOLVER_HPP
#define MBAR_SOLVER_HPP

/// \file
/// The multistate Bennett acceptance ratio (MBAR) of M. R. Shirts and J. D. Chodera, "Statistically
/// optimal analysis of samples from multiple equilibrium states", J. Chem. Phys. 129, 124105
/// (2008).
///
/// N samples x_n were drawn from K states, N_k of them from state k; u_k(x_n) is the reduced energy
/// of sample n in state k. The reduced free energies solve equation (11) of the paper,
///
///   f_k = -log sum_n exp(-u_k(x_n)) / D_n,   D_n = sum_k N_k exp(f_k - u_k(x_n)),
///
/// up to a common constant; here f_0 = 0. With p_kn = N_k exp(f_k - u_k(x_n)) / D_n, a softmax over
/// the states, that is sum_n p_kn = N_k for each k: a log_softmax over one axis of a K x N matrix
/// followed by a logsumexp over its other axis.

#include <KokkosSoftmax.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "HostMatrix.hpp"

namespace mbar {

using Exec = Kokkos::DefaultExecutionSpace;
// Rows are states. The layout is LayoutRight on every backend: neighbouring samples are neighbours
// in memory, so that reads along both axes are coalesced.
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using Vector = Kokkos::View<double*, Exec>;

/// Sets log_p to log p_kn, and computes log sum_n p_kn, the log of the expected number of samples
/// per state.
inline void assign_samples(const Exec& exec, const Matrix& u, const Vector& f_plus_log_count,
                           const Matrix& log_p, const Vector& log_expected) {
  // one number per state, broadcast along the samples
  const Kokkos::View<const double**, Kokkos::LayoutRight, Exec> of_states(f_plus_log_count.data(),
                                                                          u.extent(0), 1);
  KokkosSoftmax::log_softmax(exec, u, log_p, {.axis = 0, .scale = -1},
                             KokkosSoftmax::Operands{.bias = of_states});
  KokkosSoftmax::logsumexp(exec, log_p, log_expected, {.axis = 1});
}

/// The Hessian of sum_n log D_n - sum_k N_k f_k, whose minimum is the solution:
/// H_ij = delta_ij sum_n p_in - sum_n p_in p_jn. Leaves p in log_p.
inline HostMatrix hessian(const Exec& exec, const Matrix& log_p) {
  using Team = Kokkos::TeamPolicy<Exec>;
  const int states = log_p.extent(0);
  const long samples = log_p.extent(1);
  const Matrix p = log_p;
  Kokkos::parallel_for(
      "mbar::exp", Kokkos::RangePolicy<Exec>(exec, 0, p.size()),
      KOKKOS_LAMBDA(long i) { p.data()[i] = Kokkos::exp(p.data()[i]); });
  const Matrix h("hessian", states, states);
  Kokkos::parallel_for(
      "mbar::hessian", Team(exec, states * states, Kokkos::AUTO),
      KOKKOS_LAMBDA(const Team::member_type& team) {
        const int i = team.league_rank() / states, j = team.league_rank() % states;
        if (j > i) return;
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, samples),
            // p (1 - p) in one sum if i = j: the difference of two sums would cancel
            [&](long n, double& s) { s += p(i, n) * ((i == j) - p(j, n)); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { h(i, j) = h(j, i) = sum; });
      });
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
  return HostMatrix(states, [&](int i, int j) { return host(i, j); });
}

struct Result {
  std::vector<double> f;               ///< free energies, f[0] = 0
  std::vector<double> standard_error;  ///< of f[k] - f[0]
  int iterations = 0;
  bool converged = false;
};

/// The factor that shortens a long Newton step. The objective is a sum of logs of partition
/// functions, which are generalized self-concordant. The factor log(1 + r) / r, with r the range of
/// the step, makes the objective smaller from any starting point, and tends to 1 for small r (T.
/// Sun and Q. Tran-Dinh, Math. Program. 178, 145 (2019)).
inline std::vector<double> damped(std::vector<double> step) {
  const auto [low, high] = std::minmax_element(step.begin(), step.end());
  const double range = *high - *low;
  const double factor = range > 0 ? std::log1p(range) / range : 1;
  for (double& s : step) s *= factor;
  return step;
}

/// Self-consistent iterations, which are cheap and come near to the solution from any starting
/// point, then damped Newton steps.
inline Result solve(const Exec& exec, const Matrix& u, const std::vector<double>& counts) {
  constexpr int self_consistent = 10, most_iterations = 100;
  constexpr double tolerance = 1e-11;
  const int states = u.extent(0);
  const Matrix log_p(Kokkos::view_alloc("log_p", Kokkos::WithoutInitializing), states, u.extent(1));
  const Vector log_expected("log_expected", states), f_plus_log_count("f + log N", states);
  const auto host_expected = Kokkos::create_mirror_view(log_expected);
  const auto host_f = Kokkos::create_mirror_view(f_plus_log_count);

  Result result{std::vector<double>(states), std::vector<double>(states)};
  while (!result.converged && result.iterations < most_iterations) {
    const bool newton = result.iterations++ >= self_consistent;
    // regions for profiling tools: docs/tools.md
    const Kokkos::Profiling::ScopedRegion region(newton ? "mbar::Newton" : "mbar::self_consistent");
    for (int k = 0; k < states; ++k) host_f(k) = result.f[k] + std::log(counts[k]);
    Kokkos::deep_copy(exec, f_plus_log_count, host_f);
    assign_samples(exec, u, f_plus_log_count, log_p, log_expected);
    Kokkos::deep_copy(exec, host_expected, log_expected);
    exec.fence();

    std::vector<double> step(states);
    for (int k = 0; k < states; ++k)
      step[k] = newton ? counts[k] - std::exp(host_expected(k))   // minus the gradient
                       : std::log(counts[k]) - host_expected(k);  // equation (11)
    if (newton) step = damped(grounded_solve(hessian(exec, log_p), step));

    double change = 0;
    for (int k = states - 1; k >= 0; --k) {
      step[k] -= step[0];
      result.f[k] += step[k];
      change = std::max(change, std::abs(step[k]));
    }
    std::printf("%3d  %-15s  largest change of f: %.3e\n", result.iterations,
                newton ? "Newton" : "self-consistent", change);
    result.converged = newton && change < tolerance;
  }

  const Kokkos::Profiling::ScopedRegion region("mbar::standard_errors");
  // Equation (8) of the paper: written with H, the covariance of f is H^+ - diag(1 / N_k).
  assign_samples(exec, u, f_plus_log_count, log_p, log_expected);
  const auto variance = grounded_inverse_diagonal(hessian(exec, log_p));
  for (int k = 1; k < states; ++k)
    result.standard_error[k] = std::sqrt(variance[k] - 1 / counts[k] - 1 / counts[0]);
  return result;
}

}  // namespace mbar

#endif
