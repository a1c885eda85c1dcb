// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SINKHORN_CLOUDS_HPP
#define SINKHORN_CLOUDS_HPP

/// \file
/// The two point clouds, the same as in make_reference.py. They are low-discrepancy sequences,
/// which every language computes with the same points.

#include <cmath>
#include <numbers>

#include "Solver.hpp"

namespace sinkhorn {

inline double fraction(double t) { return t - std::floor(t); }

/// n points in the unit square: the additive recurrence of the plastic ratio.
inline Points square(int n) {
  constexpr double ratio = 1.324717957244746;
  const Points points("square", n);
  const auto host = Kokkos::create_mirror_view(points);
  for (int i = 0; i < n; ++i) {
    host(i, 0) = fraction(0.5 + i / ratio);
    host(i, 1) = fraction(0.5 + i / (ratio * ratio));
  }
  Kokkos::deep_copy(points, host);
  return points;
}

/// n points in the disc of radius 1/2 around (1, 1/2): a sunflower spiral.
inline Points disc(int n) {
  constexpr double ratio = std::numbers::phi;
  const Points points("disc", n);
  const auto host = Kokkos::create_mirror_view(points);
  for (int j = 0; j < n; ++j) {
    const double radius = 0.5 * std::sqrt((j + 0.5) / n);
    const double angle = 2 * std::numbers::pi * fraction(j / ratio);
    host(j, 0) = 1 + radius * std::cos(angle);
    host(j, 1) = 0.5 + radius * std::sin(angle);
  }
  Kokkos::deep_copy(points, host);
  return points;
}

}  // namespace sinkhorn

#endif
