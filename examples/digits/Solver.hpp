// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef DIGITS_SOLVER_HPP
#define DIGITS_SOLVER_HPP

/// \file
/// Multinomial logistic regression (C. M. Bishop, "Pattern recognition and machine learning", 2006,
/// section 4.3.4): n images x_i with labels t_i, weights W, and
///
///   v_i = x_i W
///   objective = (1/n) sum_i cross_entropy(v_i, t_i) + (lambda/2) |W|^2
///   gradient = X^T dV + lambda W,   dV the derivative of the objective by V.
///
/// The last column of X is 1, and the last row of W, the intercepts, isn't penalized.
///
/// The objective is minimized by the accelerated gradient method of Y. Nesterov, "Introductory
/// lectures on convex optimization", 2004, section 2.2: gradient descent with momentum.

#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas3_gemm.hpp>
#include <KokkosSoftmax.hpp>
#include <cmath>
#include <cstdio>

namespace digits {

using Exec = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<double**, Exec>;
using Vector = Kokkos::View<double*, Exec>;
using Labels = Kokkos::View<int*, Exec>;

/// n images, and what predict computes for them.
struct Images {
  Images(int n, int columns, int classes)
      : x("x", n, columns),
        labels("labels", n),
        share("share", n),
        v("v", n, classes),
        loss("loss", n),
        lse("lse", n) {
    Kokkos::deep_copy(share, 1.0 / n);
  }
  int count() const { return x.extent(0); }

  Matrix x;  // an image per row; the last column is 1
  Labels labels;
  Vector share;  // 1/n: the derivative of the mean by the loss of an image
  Matrix v;
  Vector loss, lse;  // the cross entropy of each image, and its log-sum-exp
};

inline void predict(const Exec& exec, const Images& images, const Matrix& weights) {
  KokkosBlas::gemm(exec, "N", "N", 1.0, images.x, weights, 0.0, images.v);
  KokkosSoftmax::cross_entropy(exec, images.v, images.labels, images.loss, images.lse);
}

/// Sets the gradient, after predict. Leaves dV in v.
inline void set_gradient(const Exec& exec, const Images& images, const Matrix& weights,
                         double lambda, const Matrix& gradient) {
  KokkosSoftmax::cross_entropy_backward(exec, images.v, images.labels, images.lse, images.share,
                                        images.v);
  Kokkos::deep_copy(exec, gradient, weights);
  Kokkos::deep_copy(exec, Kokkos::subview(gradient, weights.extent(0) - 1, Kokkos::ALL()), 0.0);
  KokkosBlas::gemm(exec, "T", "N", 1.0, images.x, images.v, lambda, gradient);
}

/// The objective, after predict.
inline double objective(const Exec& exec, const Images& images, const Matrix& weights,
                        double lambda) {
  const int classes = weights.extent(1), intercept = weights.extent(0) - 1;
  double square = 0;
  Kokkos::parallel_reduce(
      "digits::square", Kokkos::RangePolicy<Exec>(exec, 0, intercept),
      KOKKOS_LAMBDA(int d, double& sum) {
        for (int c = 0; c < classes; ++c) sum += weights(d, c) * weights(d, c);
      },
      square);
  return KokkosBlas::dot(exec, images.share, images.loss) + lambda / 2 * square;
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
  const Matrix gradient("gradient", features, classes);

  const double step = 1 / curvature(exec, images.x, lambda);
  const double root = std::sqrt(step * lambda);
  const double momentum = (1 - root) / (1 + root);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    predict(exec, images, ahead);
    if (iteration % (iterations / 8) == 0)
      std::printf("iteration %4d: objective %.8f\n", iteration,
                  objective(exec, images, ahead, lambda));
    set_gradient(exec, images, ahead, lambda, gradient);
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
