// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// graph [STEPS]: learns in STEPS steps which neighbours tell the side of a member of Zachary's
// karate club (Solver.hpp). Returns 0 if the first attention and its log-sum-exps are those of
// SciPy (Reference.hpp), if the first gradient is that of central differences, and if the steps
// lower the loss, to that of the reference after as many steps.

#include "Graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "Reference.hpp"
#include "Solver.hpp"

namespace {

using graph::feature_count;

bool is_small(const char* what, double error, double allowed) {
  const bool good = error <= allowed;  // false for a NaN
  std::printf("%-34s %.1e, allowed %.1e%s\n", what, error, allowed, good ? "" : "  WRONG");
  return good;
}

/// The largest difference of the elements from the reference, divided by scale(reference).
template <class Scale>
double largest_difference(const graph::Vector& vector, const double* reference,
                          const Scale& scale) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vector);
  double largest = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const double error = std::abs(host(i) - reference[i]) / scale(reference[i]);
    if (!(error <= largest)) largest = error;  // takes a NaN, too
  }
  return largest;
}

graph::Weights start() {
  graph::Weights weights;
  for (int f = 0; f < feature_count; ++f)
    for (int g = 0; g < feature_count; ++g) weights.w[f][g] = graph::reference_start[f][g];
  return weights;
}

/// Attention is relative to itself, however small it is. Both libraries round some times.
bool check_attention(const graph::Attention& at, double loss) {
  constexpr double tolerance = 2e-14;
  const double attention =
      largest_difference(at.attention, graph::reference_attention, [](double a) { return a; });
  const double lse = largest_difference(at.lse, graph::reference_lse,
                                        [](double v) { return std::max(1.0, std::abs(v)); });
  return is_small("attention, relative to SciPy's:", attention, tolerance) &
         is_small("log-sum-exps, less SciPy's:", lse, tolerance) &
         is_small("loss, less that of the reference:", std::abs(loss - graph::reference_loss),
                  tolerance);
}

/// A central difference with the step h has an error of some h^2 plus a rounding of some epsilon /
/// h.
bool check_gradient(const graph::Exec& exec, const graph::Graph& club,
                    const graph::Weights& weights, const graph::Attention& at) {
  constexpr double h = 1e-5, tolerance = 1e-9;
  const graph::Vector work("work", club.entries());
  const graph::Weights derivative = graph::gradient(exec, club, at, work);
  const graph::Attention moved(club);
  double largest = 0;
  for (int f = 0; f < feature_count; ++f)
    for (int g = 0; g < feature_count; ++g) {
      graph::Weights above = weights, below = weights;
      above.w[f][g] += h;
      below.w[f][g] -= h;
      const double difference =
          (graph::attend(exec, club, above, moved) - graph::attend(exec, club, below, moved)) /
          (2 * h);
      const double error = std::abs(derivative.w[f][g] - difference);
      if (!(error <= largest)) largest = error;  // takes a NaN, too
    }
  return is_small("gradient, less central differences:", largest, tolerance);
}

/// The number of members whose side is predicted.
int predicted(const graph::Exec& exec, const graph::Graph& club, const graph::Attention& at) {
  int count = 0;
  Kokkos::parallel_reduce(
      "graph::predicted", Kokkos::RangePolicy<graph::Exec>(exec, 0, club.vertices()),
      KOKKOS_LAMBDA(int i, int& sum) { sum += at.prediction(i) * club.side(i) > 0; }, count);
  return count;
}

void print(const char* when, const graph::Exec& exec, const graph::Graph& club,
           const graph::Attention& at, double loss) {
  std::printf("%-7s loss %.9f, entropy %.6f, sides of %d members right\n", when, loss,
              graph::mean_entropy(exec, club, at), predicted(exec, club, at));
}

bool run(int steps) {
  const graph::Exec exec;
  const graph::Graph club = graph::karate_club();
  const graph::Attention at(club);
  std::printf("Attention: %d vertices with %d neighbours in all, on %s\n", club.vertices(),
              club.entries(), graph::Exec::name());

  graph::Weights weights = start();
  const double first = graph::attend(exec, club, weights, at);
  print("before:", exec, club, at, first);
  bool good = check_attention(at, first) & check_gradient(exec, club, weights, at);

  const Kokkos::Timer timer;
  graph::descend(exec, club, steps, graph::reference_rate, weights);
  std::printf("%d steps in %.3f s\n", steps, timer.seconds());
  const double last = graph::attend(exec, club, weights, at);
  print("after:", exec, club, at, last);
  good &= last < first;
  if (steps == graph::reference_steps)
    good &= is_small(
        "loss, less that of the reference:", std::abs(last - graph::reference_last_loss), 1e-9);
  return good;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const int steps = argc > 1 ? std::atoi(argv[1]) : graph::reference_steps;
  if (steps < 1) {
    std::printf("usage: %s [STEPS >= 1]\n", argv[0]);
    return 2;
  }
  const bool good = run(steps);
  std::printf("%s\n", good ? "PASSED: the attention is SciPy's, and the steps lower the loss"
                           : "FAILED: an attention or a gradient is wrong, or the loss rises");
  return good ? 0 : 1;
}
