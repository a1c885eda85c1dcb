// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SINKHORN_BOUNDS_HPP
#define SINKHORN_BOUNDS_HPP

/// \file
/// What the potentials say about the linear program min <p, c> over all plans p. Let OT be its
/// value and p the plan after an iteration. The column sums of p are right, and the error of its
/// row sums a_i is e = sum_i |a_i - 1/n|.
///
/// 1. p is the best entropic plan for its own row sums. So <p, c> exceeds the best cost for these
///    row sums by at most eps times the difference of the entropies of both plans. The entropy of
///    p is at most H(a) + log m, and that of every plan is at least H(a). So the excess is at most
///    eps log m.
/// 2. The best costs for the row sums a and 1/n differ by at most e/2 max c, because the mass e/2
///    must move to other rows.
/// 3. f_i = min_j (c_ij - g_j) and g are feasible in the dual program: mean f + mean g <= OT. This
///    f is within eps log m of the potential of the entropic plan.
///
/// Hence dual <= OT, and <p, c> - OT as well as <p, c> - dual lie between -e/2 max c and
/// eps log m + e/2 max c.

#include <cmath>

#include "Solver.hpp"

namespace sinkhorn {

struct Bounds {
  double cost = 0;       ///< <p, c>
  double dual = 0;       ///< a lower bound of OT
  double row_error = 0;  ///< e
  double low = 0;        ///< of <p, c> - OT
  double high = 0;
};

inline double mean(const Exec& exec, const Vector& v) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "sinkhorn::mean", Kokkos::RangePolicy<Exec>(exec, 0, v.size()),
      KOKKOS_LAMBDA(int i, double& s) { s += v(i); }, sum);
  return sum / v.size();
}

/// The bounds, for the potentials that the clouds have.
inline Bounds bounds(const Exec& exec, const Cloud& x, const Cloud& y, double eps) {
  const Points from = x.points, to = y.points;
  const Vector f = x.potential, g = y.potential;
  const int n = x.size(), m = y.size();
  const Vector row_cost("row_cost", n), row_error("row_error", n), row_min("row_min", n);
  double max_cost = 0;
  Kokkos::parallel_reduce(
      "sinkhorn::bounds", Kokkos::RangePolicy<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(int i, double& largest) {
        double row_sum = 0, least = cost(from, i, to, 0) - g(0);
        for (int j = 0; j < m; ++j) {
          const double c = cost(from, i, to, j);
          const double n_times_p = Kokkos::exp((f(i) + g(j) - c) / eps) / m;
          row_sum += n_times_p;
          row_cost(i) += n_times_p * c;
          least = Kokkos::fmin(least, c - g(j));
          largest = Kokkos::fmax(largest, c);
        }
        row_error(i) = Kokkos::fabs(row_sum - 1);
        row_min(i) = least;
      },
      Kokkos::Max<double>(max_cost));

  Bounds result;
  result.cost = mean(exec, row_cost);
  result.dual = mean(exec, row_min) + mean(exec, g);
  result.row_error = mean(exec, row_error);
  result.low = -result.row_error / 2 * max_cost;
  result.high = eps * std::log(double(m)) - result.low;
  return result;
}

}  // namespace sinkhorn

#endif
