// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MIXTURE_MODEL_HPP
#define MIXTURE_MODEL_HPP

/// \file
/// A mixture of normal distributions on the host, points drawn from it, and the parameters from
/// which EM starts.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "Solver.hpp"

namespace mixture {

class Random {
 public:
  explicit Random(std::uint64_t seed) : m_bits(seed) {}
  /// A number in (0, 1). Not from std::uniform_real_distribution, which differs between standard
  /// libraries.
  double uniform() { return ((m_bits() >> 11) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// A number of the standard normal distribution, by Box and Muller's transformation.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 m_bits;
};

using Rows = std::vector<std::vector<double>>;

struct Model {
  std::vector<double> weight;
  Rows mean, variance;  ///< rows are components

  /// The largest component has three times the weight of the smallest. Neighbours overlap.
  Model(int components, int dimensions, Random& random)
      : weight(components),
        mean(components, std::vector<double>(dimensions)),
        variance(components, std::vector<double>(dimensions)) {
    double sum = 0;
    for (double& w : weight) sum += w = random.uniform(1, 3);
    for (double& w : weight) w /= sum;
    for (auto& row : mean)
      for (double& m : row) m = random.uniform(-4, 4);
    for (auto& row : variance)
      for (double& v : row) v = random.uniform(0.5, 2);
  }
  int components() const { return weight.size(); }
  int dimensions() const { return mean[0].size(); }

  /// Parameters from which EM finds this model: equal weights, moved means, wide components.
  Model start(Random& random) const {
    Model model = *this;
    for (double& w : model.weight) w = 1.0 / components();
    for (auto& row : model.mean)
      for (double& m : row) m += random.uniform(-1, 1);
    for (auto& row : model.variance)
      for (double& v : row) v = 3;
    return model;
  }

  Rows draw(int count, Random& random) const {
    Rows points;
    for (int n = 0; n < count; ++n) {
      double rest = random.uniform();
      int k = 0;
      while (k + 1 < components() && (rest -= weight[k]) > 0) ++k;
      std::vector<double> point;
      for (int d = 0; d < dimensions(); ++d)
        point.push_back(mean[k][d] + std::sqrt(variance[k][d]) * random.normal());
      points.push_back(point);
    }
    return points;
  }
};

inline Parameters to_device(const Model& model) {
  const int components = model.components(), dimensions = model.dimensions();
  const Parameters parameters{Vector("log_factor", components),
                              Table("mean", dimensions, components),
                              Table("variance", dimensions, components)};
  const auto log_factor = Kokkos::create_mirror_view(parameters.log_factor);
  const auto mean = Kokkos::create_mirror_view(parameters.mean);
  const auto variance = Kokkos::create_mirror_view(parameters.variance);
  for (int k = 0; k < components; ++k) {
    log_factor(k) = std::log(model.weight[k]);
    for (int d = 0; d < dimensions; ++d) {
      mean(d, k) = model.mean[k][d];
      variance(d, k) = model.variance[k][d];
      log_factor(k) -= std::log(2 * std::numbers::pi * variance(d, k)) / 2;
    }
  }
  Kokkos::deep_copy(parameters.log_factor, log_factor);
  Kokkos::deep_copy(parameters.mean, mean);
  Kokkos::deep_copy(parameters.variance, variance);
  return parameters;
}

inline Table to_device(const Rows& points) {
  const Table device("points", points.size(), points[0].size());
  const auto host = Kokkos::create_mirror_view(device);
  for (std::size_t n = 0; n < points.size(); ++n)
    for (std::size_t d = 0; d < points[n].size(); ++d) host(n, d) = points[n][d];
  Kokkos::deep_copy(device, host);
  return device;
}

}  // namespace mixture

#endif
