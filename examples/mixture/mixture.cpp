// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mixture [POINTS [COMPONENTS [DIMENSIONS]]]: fits a mixture of normal distributions to points that
// were drawn from one (Solver.hpp). Returns 0 if the responsibilities and the log-likelihood of the
// first E-step equal those of a reference in long double, up to rounding, and if the log-likelihood
// never falls.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "Reference.hpp"

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int iterations = 20;

struct Comparison {
  bool good;
  double rounding;  ///< what rounding may change in a log-likelihood
};

/// Compares the first E-step with the reference. The error of a log-density is some roundings per
/// dimension, of numbers about as large as the logarithm of the point's density. The errors of its
/// responsibilities are no larger. In the log-likelihood these errors add up, and each addition
/// rounds: the terms of a team are added first, and then the sums of the teams.
Comparison compare(const mixture::Model& model, const mixture::Rows& points,
                   const mixture::Table& responsibility, double log_likelihood) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), responsibility);
  const double of_density = 4 * epsilon * (4 + model.dimensions());
  const int additions = mixture::points_per_team + mixture::teams_for(points.size());
  long double sum = 0, size = 0, largest = 0;
  double worst = 0;
  for (std::size_t n = 0; n < points.size(); ++n) {
    const auto exact = mixture::reference(model, points[n]);
    sum += exact.log_likelihood;
    size += 1 + std::abs(exact.log_likelihood);
    largest = std::max(largest, 1 + std::abs(exact.log_likelihood));
    for (int k = 0; k < model.components(); ++k) {
      const double error = std::abs(host(n, k) - exact.responsibility[k]);
      if (!(error <= worst)) worst = error;  // takes a NaN, too
    }
  }
  const double tolerance = of_density * largest;
  const double rounding = (of_density + epsilon * additions) * size;
  const double error = std::abs(log_likelihood - sum);
  std::printf("first E-step: largest error of a responsibility %.1e, allowed %.1e\n", worst,
              tolerance);
  std::printf("first log-likelihood %.6f, error %.1e, allowed %.1e\n", log_likelihood, error,
              rounding);
  return {worst <= tolerance && error <= rounding, rounding};  // false for a NaN
}

bool run(int count, int components, int dimensions) {
  mixture::Random random(1);
  const mixture::Model model(components, dimensions, random);
  const mixture::Model start = model.start(random);
  const mixture::Rows points = model.draw(count, random);
  std::printf("EM: %d points in %d dimensions, %d components, on %s\n", count, dimensions,
              components, mixture::Exec::name());

  const mixture::Exec exec;
  const auto device = mixture::to_device(points);
  const auto parameters = mixture::to_device(start);
  const mixture::Table responsibility("responsibility", count, components);
  const double first = mixture::expectation(exec, parameters, device, responsibility);
  const auto [first_is_right, rounding] = compare(start, points, responsibility, first);
  bool good = first_is_right;

  const Kokkos::Timer timer;
  const auto log_likelihood = mixture::fit(exec, device, iterations, parameters, responsibility);
  const double seconds = timer.seconds();
  for (int i = 0; i <= iterations; ++i) {
    const double rise = i == 0 ? 0 : log_likelihood[i] - log_likelihood[i - 1];
    std::printf("%3d  log-likelihood per point %.9f  rise %.3e\n", i, log_likelihood[i] / count,
                rise / count);
    good = good && rise >= -2 * rounding;  // both are rounded; false for a NaN
  }
  std::printf(
      "the model that drew the points: %.9f\n",
      mixture::expectation(exec, mixture::to_device(model), device, responsibility) / count);
  std::printf("%.3f s: %.1f million log-densities per second\n", seconds,
              1e-6 * (iterations + 1) * count * components / seconds);
  return good;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const int count = argc > 1 ? std::atoi(argv[1]) : 200000;
  const int components = argc > 2 ? std::atoi(argv[2]) : 8;
  const int dimensions = argc > 3 ? std::atoi(argv[3]) : 4;
  if (components < 1 || dimensions < 1 || count < 100 * components) {
    std::printf("usage: %s [POINTS >= 100 COMPONENTS [COMPONENTS [DIMENSIONS]]]\n", argv[0]);
    return 2;
  }
  const bool good = run(count, components, dimensions);
  std::printf("%s\n", good ? "PASSED: the first E-step is right, and the log-likelihood never falls"
                           : "FAILED: an E-step is wrong, or the log-likelihood falls");
  return good ? 0 : 1;
}
