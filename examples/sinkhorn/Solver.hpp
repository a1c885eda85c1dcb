// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SINKHORN_SOLVER_HPP
#define SINKHORN_SOLVER_HPP

/// \file
/// Entropic optimal transport by Sinkhorn's algorithm (M. Cuturi, "Sinkhorn distances", NeurIPS
/// 2013) in the log domain (G. Peyre and M. Cuturi, "Computational optimal transport", Found.
/// Trends Mach. Learn. 11, 355 (2019), section 4.4).
///
/// n points x_i and m points y_j have weights 1/n and 1/m; the cost is c_ij = |x_i - y_j|^2. The
/// plan p_ij = exp((f_i + g_j - c_ij) / eps) / (n m) has the right row sums if
///
///   f_i = -eps log (1/m) sum_j exp((g_j - c_ij) / eps)
///
/// and it has the right column sums if the same equation holds with f and g exchanged. The
/// algorithm makes both equations true in turn. exp(-c_ij / eps) by itself would underflow: for eps
/// = 1e-4 from c = 0.075 on.

#include <KokkosSoftmax.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sinkhorn {

using Exec = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using Vector = Kokkos::View<double*, Exec>;
/// A vector as a matrix with one column, which is broadcast along the rows of a Matrix.
using Column = Kokkos::View<const double**, Kokkos::LayoutRight, Exec>;
using Points = Kokkos::View<double* [2], Exec>;

struct Cloud {
  Points points;
  Vector potential;  ///< f of the first cloud, g of the second
  Vector lse;        ///< work space

  explicit Cloud(const Points& p)
      : points(p), potential("potential", p.extent(0)), lse("lse", p.extent(0)) {}
  int size() const { return points.extent(0); }
};

KOKKOS_INLINE_FUNCTION double cost(const Points& x, int i, const Points& y, int j) {
  const double dx = x(i, 0) - y(j, 0), dy = x(i, 1) - y(j, 1);
  return dx * dx + dy * dy;
}

/// -c_ij. The potentials are added to it by the calls of logsumexp.
inline Matrix negative_costs(const Exec& exec, const Cloud& x, const Cloud& y) {
  using Both = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2, Kokkos::Iterate::Right>>;
  const Matrix matrix(Kokkos::view_alloc(exec, "matrix", Kokkos::WithoutInitializing), x.size(),
                      y.size());
  const Points from = x.points, to = y.points;
  Kokkos::parallel_for(
      "sinkhorn::costs", Both(exec, {0, 0}, {x.size(), y.size()}),
      KOKKOS_LAMBDA(int i, int j) { matrix(i, j) = -cost(from, i, to, j); });
  return matrix;
}

/// Moves the potential of `own` towards the one that makes its sums of the plan right; with
/// relaxation = 1, exactly to it. Returns the error of the sums before: sum_i |a_i - 1/n|, with a_i
/// the sum of row (column) i.
inline double update(const Exec& exec, const Cloud& own, int others, double eps,
                     double relaxation) {
  const Vector potential = own.potential, lse = own.lse;
  double error = 0;
  Kokkos::parallel_reduce(
      "sinkhorn::update", Kokkos::RangePolicy<Exec>(exec, 0, own.size()),
      KOKKOS_LAMBDA(int i, double& sum) {
        const double step = -eps * (lse(i) - Kokkos::log(double(others))) - potential(i);
        sum += Kokkos::fabs(Kokkos::expm1(-step / eps));
        potential(i) += relaxation * step;
      },
      error);
  return error / own.size();
}

/// Iterates for one eps, starting from the potentials of the clouds, until the error of the row
/// sums is below `tolerance`. The last iterations have no over-relaxation: they leave the column
/// sums right and improve the row sums. Returns the number of iterations.
inline int solve(const Exec& exec, const Cloud& x, const Cloud& y, const Matrix& matrix, double eps,
                 double tolerance) {
  // Steps that are longer than Sinkhorn's: A. Thibault, L. Chizat, C. Dossal and N. Papadakis,
  // "Overrelaxed Sinkhorn-Knopp algorithm for regularized optimal transport", Algorithms 14, 143
  // (2021). The smallest eps takes several times fewer iterations with them.
  constexpr double over_relaxation = 1.8;
  constexpr int most_iterations = 5000;
  // of (g_j - c_ij) / eps along the rows, and of (f_i - c_ij) / eps along the columns
  const Column f(x.potential.data(), x.size(), 1);
  const KokkosSoftmax::Operands with_g{.bias = y.potential, .scale_biases = true};
  const KokkosSoftmax::Operands with_f{.bias = f, .scale_biases = true};
  const auto rows =
      KokkosSoftmax::plan_logsumexp(exec, matrix, x.lse, {.axis = 1, .scale = 1 / eps}, with_g);
  const auto columns =
      KokkosSoftmax::plan_logsumexp(exec, matrix, y.lse, {.axis = 0, .scale = 1 / eps}, with_f);
  double relaxation = over_relaxation;
  for (int iteration = 1;; ++iteration) {
    rows.execute(matrix, x.lse, with_g);
    const double error = update(exec, x, y.size(), eps, relaxation);
    columns.execute(matrix, y.lse, with_f);
    update(exec, y, x.size(), eps, relaxation);
    if (iteration == most_iterations) return iteration;
    if (error < tolerance) {
      if (relaxation == 1) return iteration;
      relaxation = 1;
    }
  }
}

/// Halves eps from 1 down to `last`. Each solution is the start of the next one, and only the last
/// one must be accurate. Returns the number of iterations.
inline int solve_with_scaling(const Exec& exec, const Cloud& x, const Cloud& y, double last,
                              double tolerance) {
  const Matrix matrix = negative_costs(exec, x, y);
  int all_iterations = 0;
  for (double eps = 1;; eps = std::max(eps / 2, last)) {
    const int iterations = solve(exec, x, y, matrix, eps, eps > last ? 1e-2 : tolerance);
    std::printf("eps %.3e  %4d iterations\n", eps, iterations);
    all_iterations += iterations;
    if (eps <= last) return all_iterations;
  }
}

}  // namespace sinkhorn

#endif
