// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MBAR_OSCILLATORS_HPP
#define MBAR_OSCILLATORS_HPP

/// \file
/// K harmonic oscillators u_k(x) = stiffness_k (x - center_k)^2 / 2. Neighbours overlap. exp(-u_k)
/// is a normal density except for its integral sqrt(2 pi / stiffness_k). So samples can be drawn
/// exactly, and f_k - f_0 = log(stiffness_k / stiffness_0) / 2 is known.

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace mbar {

struct Oscillators {
  std::vector<double> center, stiffness, counts;

  /// Each oscillator is as wide as its distance to the next one. The last one is a hundredth as
  /// wide as the first, and the states have different numbers of samples.
  Oscillators(int states, int samples) {
    for (int k = 0; k < states; ++k) {
      const double width = std::pow(0.01, k / std::max(1.0, states - 1.0));
      center.push_back(k == 0 ? 0 : center.back() + width);
      stiffness.push_back(1 / (width * width));
      counts.push_back(k % 2 ? samples / 2 : samples);
    }
  }
  int states() const { return counts.size(); }
  double exact(int k) const { return std::log(stiffness[k] / stiffness[0]) / 2; }
};

/// Positions of the samples, state after state. They come from Box and Muller's transformation and
/// not from std::normal_distribution, which gives other numbers with another standard library.
inline std::vector<double> draw(const Oscillators& model, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  const auto uniform = [&] { return ((bits() >> 11) + 0.5) * 0x1p-53; };
  std::vector<double> x;
  for (int k = 0; k < model.states(); ++k)
    for (int n = 0; n < model.counts[k]; ++n) {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      const double angle = 2 * std::numbers::pi * uniform();
      x.push_back(model.center[k] + radius * std::cos(angle) / std::sqrt(model.stiffness[k]));
    }
  return x;
}

/// The matrix u_k(x_n) on the device.
template <class Matrix>
Matrix reduced_energies(const Oscillators& model, const std::vector<double>& x) {
  Matrix u(Kokkos::view_alloc("u", Kokkos::WithoutInitializing), model.states(), x.size());
  const auto host = Kokkos::create_mirror_view(u);
  for (int k = 0; k < model.states(); ++k)
    for (std::size_t n = 0; n < x.size(); ++n) {
      const double away = x[n] - model.center[k];
      host(k, n) = model.stiffness[k] * away * away / 2;
    }
  Kokkos::deep_copy(u, host);
  return u;
}

}  // namespace mbar

#endif
