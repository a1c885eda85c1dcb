// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef HMM_MODEL_HPP
#define HMM_MODEL_HPP

/// \file
/// A hidden Markov model with random probabilities on the host, sequences drawn from it, and the
/// likelihood of a sequence in long double.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "Solver.hpp"

namespace hmm {

class Random {
 public:
  explicit Random(std::uint64_t seed) : m_bits(seed) {}
  /// A number in (0, 1). Not from std::uniform_real_distribution, which differs between standard
  /// libraries.
  double operator()() { return ((m_bits() >> 11) + 0.5) * 0x1p-53; }
  /// A random index, drawn with the probabilities in p.
  int operator()(const std::vector<double>& p) {
    double rest = (*this)();
    int i = 0;
    while (i + 1 < int(p.size()) && (rest -= p[i]) > 0) ++i;
    return i;
  }

 private:
  std::mt19937_64 m_bits;
};

struct Model {
  using Rows = std::vector<std::vector<double>>;
  std::vector<double> start;
  Rows transition, emission;  ///< rows are states

  Model(int states, int symbols, Random& random) : start(probabilities(states, states, 0, random)) {
    // From each state only the next few states (in a circle) can be reached: the other logs are
    // -inf.
    const int reach = std::min(states, 6);
    for (int i = 0; i < states; ++i) {
      transition.push_back(probabilities(states, reach, i, random));
      emission.push_back(probabilities(symbols, symbols, 0, random));
    }
  }
  int states() const { return start.size(); }
  int symbols() const { return emission[0].size(); }

  std::vector<int> draw(int length, Random& random) const {
    std::vector<int> sequence;
    for (int t = 0, state = random(start); t < length; ++t, state = random(transition[state]))
      sequence.push_back(random(emission[state]));
    return sequence;
  }

 private:
  /// `count` random probabilities from index `first` on, continued at index 0 after the end; 0
  /// elsewhere.
  static std::vector<double> probabilities(int size, int count, int first, Random& random) {
    std::vector<double> p(size);
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += p[(first + i) % size] = -std::log(random());
    for (double& each : p) each /= sum;
    return p;
  }
};

/// The model's logs on the device.
inline LogModel to_device(const Model& model) {
  const int states = model.states(), symbols = model.symbols();
  const LogModel logs{Vector("start", states), Table("transition", states, states),
                      Table("emission", symbols, states)};
  const auto start = Kokkos::create_mirror_view(logs.start);
  const auto transition = Kokkos::create_mirror_view(logs.transition);
  const auto emission = Kokkos::create_mirror_view(logs.emission);
  for (int i = 0; i < states; ++i) {
    start(i) = std::log(model.start[i]);
    for (int j = 0; j < states; ++j) transition(j, i) = std::log(model.transition[i][j]);
    for (int o = 0; o < symbols; ++o) emission(o, i) = std::log(model.emission[i][o]);
  }
  Kokkos::deep_copy(logs.start, start);
  Kokkos::deep_copy(logs.transition, transition);
  Kokkos::deep_copy(logs.emission, emission);
  return logs;
}

inline Sequences to_device(const std::vector<std::vector<int>>& sequences) {
  const Sequences device("sequences", sequences.size(), sequences[0].size());
  const auto host = Kokkos::create_mirror_view(device);
  for (std::size_t s = 0; s < sequences.size(); ++s)
    for (std::size_t t = 0; t < sequences[s].size(); ++t) host(s, t) = sequences[s][t];
  Kokkos::deep_copy(device, host);
  return device;
}

/// log p(sequence) computed in another way: probabilities in long double, scaled to the sum 1 at
/// each step (Rabiner, section V.A), without a log-sum-exp.
inline long double reference(const Model& model, const std::vector<int>& sequence) {
  const int states = model.states();
  std::vector<long double> alpha(model.start.begin(), model.start.end()), next(states);
  long double log_likelihood = 0;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    if (t > 0) {
      std::fill(next.begin(), next.end(), 0);
      for (int i = 0; i < states; ++i)
        for (int j = 0; j < states; ++j) next[j] += alpha[i] * model.transition[i][j];
      alpha.swap(next);
    }
    long double sum = 0;
    for (int j = 0; j < states; ++j) sum += alpha[j] *= model.emission[j][sequence[t]];
    for (auto& each : alpha) each /= sum;
    log_likelihood += std::log(sum);
  }
  return log_likelihood;
}

}  // namespace hmm

#endif
