// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MIXTURE_REFERENCE_HPP
#define MIXTURE_REFERENCE_HPP

/// \file
/// The E-step for one point in long double, from the formulas.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "Model.hpp"

namespace mixture {

struct PointReference {
  std::vector<long double> responsibility;
  long double log_likelihood;  ///< log p(x_n)
};

inline PointReference reference(const Model& model, const std::vector<double>& point) {
  constexpr long double two_pi = 2 * std::numbers::pi_v<long double>;
  std::vector<long double> terms;
  for (int k = 0; k < model.components(); ++k) {
    long double log_density = std::log(static_cast<long double>(model.weight[k]));
    for (int d = 0; d < model.dimensions(); ++d) {
      const long double variance = model.variance[k][d];
      const long double away = static_cast<long double>(point[d]) - model.mean[k][d];
      log_density -= (std::log(two_pi * variance) + away * away / variance) / 2;
    }
    terms.push_back(log_density);
  }
  const long double max = *std::max_element(terms.begin(), terms.end());
  long double sum = 0;
  for (auto& term : terms) sum += term = std::exp(term - max);
  for (auto& term : terms) term /= sum;
  return {terms, max + std::log(sum)};
}

}  // namespace mixture

#endif
