// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// digits [FILE [ITERATIONS]]: learns handwritten digits by multinomial logistic regression
// (Solver.hpp). Returns 0 if the objective and the accuracy on images that were not used for
// training agree with scikit-learn (Reference.hpp): the objective to 1e-5, the accuracy to one
// percentage point.

#include <cstdlib>
#include <exception>

#include "Data.hpp"
#include "Reference.hpp"
#include "Solver.hpp"

namespace {

/// The part of the images whose likeliest class is their label.
double accuracy(const digits::Exec& exec, const digits::Images& images, const digits::Matrix& w) {
  digits::predict(exec, images, w);
  const digits::Labels labels = images.labels;
  const digits::Matrix v = images.v;
  int right = 0;
  Kokkos::parallel_reduce(
      "digits::accuracy", Kokkos::RangePolicy<digits::Exec>(exec, 0, images.count()),
      KOKKOS_LAMBDA(int i, int& count) {
        int best = 0;
        for (int c = 1; c < digits::classes; ++c)
          if (v(i, c) > v(i, best)) best = c;
        count += best == labels(i);
      },
      right);
  return double(right) / images.count();
}

bool is_near(const char* what, double value, double reference, double tolerance) {
  const bool good = std::abs(value - reference) <= tolerance;  // false for a NaN
  std::printf("%-14s %.8f, scikit-learn %.8f, allowed difference %g%s\n", what, value, reference,
              tolerance, good ? "" : "  WRONG");
  return good;
}

bool run(const char* file, int iterations) {
  const auto lines = digits::read_lines(file);
  if (lines.size() <= digits::training_images) throw std::runtime_error("too few images");
  const auto mean = digits::mean_image(lines, digits::training_images);
  const auto training = digits::to_images(lines, 0, digits::training_images, mean);
  const auto test = digits::to_images(lines, digits::training_images, lines.size(), mean);
  std::printf("Digits: %d images to learn, %d for the test, on %s\n", training.count(),
              test.count(), digits::Exec::name());

  const digits::Exec exec;
  const double lambda = digits::penalty / training.count();
  const Kokkos::Timer timer;
  const auto weights = digits::fit(exec, training, digits::classes, lambda, iterations);
  const double seconds = timer.seconds();
  std::printf("%d iterations in %.3f s: %.2f million images a second\n", iterations, seconds,
              1e-6 * iterations * training.count() / seconds);
  digits::predict(exec, training, weights);
  const double objective = digits::objective(exec, training, weights, lambda);
  return is_near("objective", objective, digits::reference_objective, 1e-5) &
         is_near("test accuracy", accuracy(exec, test, weights), digits::reference_accuracy, 0.01);
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const char* file = argc > 1 ? argv[1] : DIGITS_FILE;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 600;
  if (iterations < 8) {
    std::printf("usage: %s [FILE [ITERATIONS >= 8]]\n", argv[0]);
    return 2;
  }
  bool good = false;
  try {
    good = run(file, iterations);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  std::printf("%s\n",
              good ? "PASSED: as good as scikit-learn" : "FAILED: not what scikit-learn has");
  return good ? 0 : 1;
}
