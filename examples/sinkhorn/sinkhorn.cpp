// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sinkhorn [POINTS [EPS]]: optimal transport between a square and a disc of POINTS points each
// (Solver.hpp), with eps from 1 down to EPS. Returns 0 if the cost is as near to that of the linear
// program as eps permits (Bounds.hpp). It is compared with the value in Reference.hpp, if POINTS is
// the number of points there, and with a dual bound for every number of points.

#include <cstdlib>

#include "Bounds.hpp"
#include "Clouds.hpp"
#include "Reference.hpp"
#include "Solver.hpp"

namespace {

bool is_between(const char* what, double value, double low, double high) {
  const bool good = low <= value && value <= high;  // false for a NaN
  std::printf("%-28s %+.3e, allowed %+.3e to %+.3e%s\n", what, value, low, high,
              good ? "" : "  WRONG");
  return good;
}

bool check(const sinkhorn::Bounds& bounds, int points) {
  const double rounding = 1e-12;
  const double low = bounds.low - rounding, high = bounds.high + rounding;
  std::printf("row sums off by %.1e\ntransport cost %.9f, dual bound %.9f\n", bounds.row_error,
              bounds.cost, bounds.dual);
  bool good = is_between("cost - dual bound:", bounds.cost - bounds.dual, low, high);
  if (points == sinkhorn::reference_points) {
    const double exact = sinkhorn::reference_cost;
    std::printf("linear program %.9f\n", exact);
    good &= is_between("cost - linear program:", bounds.cost - exact, low, high);
    good &= is_between("linear program - dual bound:", exact - bounds.dual, -rounding, high - low);
  }
  return good;
}

bool run(int points, double eps) {
  const double tolerance = 1e-3;
  const sinkhorn::Exec exec;
  const sinkhorn::Cloud x(sinkhorn::square(points)), y(sinkhorn::disc(points));
  std::printf("Sinkhorn: %d to %d points, on %s\n", x.size(), y.size(), sinkhorn::Exec::name());

  const Kokkos::Timer timer;
  const int iterations = sinkhorn::solve_with_scaling(exec, x, y, eps, tolerance);
  const double seconds = timer.seconds();
  const double entries = 2.0 * iterations * points * points;
  std::printf("%d iterations in %.3f s: %.1f million matrix entries a second\n", iterations,
              seconds, 1e-6 * entries / seconds);
  const auto bounds = sinkhorn::bounds(exec, x, y, eps);
  return check(bounds, points) && bounds.row_error <= tolerance;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const int points = argc > 1 ? std::atoi(argv[1]) : sinkhorn::reference_points;
  const double eps = argc > 2 ? std::atof(argv[2]) : 1e-4;
  if (points < 2 || !(eps > 0 && eps <= 1)) {
    std::printf("usage: %s [POINTS >= 2 [EPS, at most 1]]\n", argv[0]);
    return 2;
  }
  const bool good = run(points, eps);
  std::printf("%s\n", good ? "PASSED: as near to the linear program as eps allows"
                           : "FAILED: not converged or too far from the linear program");
  return good ? 0 : 1;
}
