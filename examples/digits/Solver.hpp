// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef DIGITS_SOLVER_HPP
#define DIGITS_SOLVER_HPP

/// \file
/// Multinomial logistic regression (C. M. Bishop, "Pattern recognition and machine learning", 2006,
/// section 4.3.4): n images x_i with labels t_i, weights W, and
///
///   log p_i = log_softmax(x_i W)
///   objective = -(1/n) sum_i log p_i(t_i) + (lambda/2) |W|^2
///   gradient = (1/n) X^T (P - T) + lambda W,   T_ic = 1 if t_i = c, else 0.
///
/// The last column of X is 1, and the last row of W, the intercepts, isn't penalized.
///
/// The objective is minimized by the accelerated gradient method of Y. Nesterov, "Introductory
/// lectures on convex optimization", 2004, section 2.2: gradient descent with momentum.

#include <KokkosBlas3_gemm.hpp>
#include <KokkosSoftmax.hpp>
#include <cmath>
#include <cstdio>

namespace digits {

using Exec = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<double**, Exec>;
using Labels = Kokkos::View<int*, Exec>;

/// Images as rows; the last column is 1.
struct Images {
  Matrix x;
  Labels labels;
  int count() const { return x.extent(0); }
};

/// log p of each image and class.
inline void predict(const Exec& exec, const Matrix& x, const Matrix& weights, const Matrix& log_p) {
  KokkosBlas::gemm(exec, "N", "N", 1.0, x, weights, 0.0, log_p);
  KokkosSoftmax::log_softmax(exec, log_p, log_p, {.axis = 1});
}

/// Sets the gradient from the log_p that predict has set. Leaves (P - T) / n in log_p.
inline void set_gradient(const Exec& exec, const Images& images, const Matrix& weights,
                         double lambda, const Matrix& log_p, const Matrix& gradient) {
  using Both = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>;
  const int n = images.count(), classes = weights.extent(1), intercept = weights.extent(0) - 1;
  const Labels labels = images.labels;
  Kokkos::parallel_for(
      "digits::residual", Both(exec, {0, 0}, {n, classes}), KOKKOS_LAMBDA(int i, int c) {
        log_p(i, c) = (Kokkos::exp(log_p(i, c)) - (labels(i) == c)) / n;
      });
  Kokkos::parallel_for(
      "digits::penalty", Both(exec, {0, 0}, {intercept + 1, classes}),
      KOKKOS_LAMBDA(int d, int c) { gradient(d, c) = d < intercept ? lambda * weights(d, c) : 0; });
  KokkosBlas::gemm(exec, "T", "N", 1.0, images.x, log_p, 1.0, gradient);
}

/// The objective, from the log p that predict has set.
inline double objective(const Exec& exec, const Images& images, const Matrix& weights,
                        double lambda, const Matrix& log_p) {
  const int n = images.count(), classes = weights.extent(1), intercept = weights.extent(0) - 1;
  const Labels labels = images.labels;
  double loss = 0, square = 0;
  Kokkos::parallel_reduce(
      "digits::loss", Kokkos::RangePolicy<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(int i, double& sum) { sum -= log_p(i, labels(i)); }, loss);
  Kokkos::parallel_reduce(
      "digits::square", Kokkos::RangePolicy<Exec>(exec, 0, intercept),
      KOKKOS_LAMBDA(int d, double& sum) {
        for (int c = 0; c < classes; ++c) sum += weights(d, c) * weights(d, c);
      },
      square);
  return loss / n + lambda / 2 * square;
}

/// A bound of the second derivatives of the objective: those of log-sum-exp are at most 1/2, and no
/// eigenvalue of X^T X / n exceeds its trace.
inline double curvature(const Exec& exec, const Matrix& x, double lambda) {
  const int n = x.extent(0), columns = x.extent(1);
  double trace = 0;
  Kokkos::parallel_reduce(
      "digits::trace", Kokkos::RangePolicy<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(int i, double& sum) {
        for (int d = 0; d < columns; ++d) sum += x(i, d) * x(i, d);
      },
      trace);
  return trace / n / 2 + lambda;
}

/// The best weights, starting from 0.
inline Matrix fit(const Exec& exec, const Images& images, int classes, double lambda,
                  int iterations) {
  const int features = images.x.extent(1);
  const Matrix weights("weights", features, classes), ahead("ahead", features, classes);
  const Matrix gradient("gradient", features, classes), log_p("log_p", images.count(), classes);

  const double step = 1 / curvature(exec, images.x, lambda);
  const double root = std::sqrt(step * lambda);
  const double momentum = (1 - root) / (1 + root);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    predict(exec, images.x, ahead, log_p);
    if (iteration % (iterations / 8) == 0)
      std::printf("iteration %4d: objective %.8f\n", iteration,
                  objective(exec, images, ahead, lambda, log_p));
    set_gradient(exec, images, ahead, lambda, log_p, gradient);
    Kokkos::parallel_for(
        "digits::step", Kokkos::RangePolicy<Exec>(exec, 0, features), KOKKOS_LAMBDA(int d) {
          for (int c = 0; c < classes; ++c) {
            const double before = weights(d, c);
            weights(d, c) = ahead(d, c) - step * gradient(d, c);
            ahead(d, c) = weights(d, c) + momentum * (weights(d, c) - before);
          }
        });
  }
  exec.fence();
  return weights;
}

}  // namespace digits

#endif
