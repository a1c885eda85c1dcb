// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hmm [STATES [LENGTH [SEQUENCES]]]: likelihoods of sequences under a hidden Markov model
// (Solver.hpp). Returns 0 if each equals that of a reference in long double, up to rounding, and if
// the probabilities of all sequences of one length sum to 1.

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "Model.hpp"
#include "Solver.hpp"

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Each step rounds numbers no larger than the result a few times, and a sum rounds its terms.
/// Errors add up.
bool check(const hmm::Model& model, const std::vector<std::vector<int>>& sequences,
           const hmm::Vector& log_likelihood) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), log_likelihood);
  const double tolerance = 4 * epsilon * (sequences[0].size() + model.states());
  double worst = 0;
  bool good = true;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const long double exact = hmm::reference(model, sequences[s]);
    const double error = std::abs((host(s) - exact) / exact);
    worst = std::max(worst, error);
    good = good && error <= tolerance;  // false for a NaN
  }
  std::printf(
      "log-likelihood of the first sequence %.6f, largest relative error %.1e, allowed %.1e\n",
      host(0), worst, tolerance);
  return good;
}

bool check_drawn_sequences(int states, int length, int count) {
  hmm::Random random(1);
  const hmm::Model model(states, 16, random);
  std::vector<std::vector<int>> sequences;
  for (int s = 0; s < count; ++s) sequences.push_back(model.draw(length, random));
  std::printf("Forward algorithm: %d sequences of length %d, %d states, on %s\n", count, length,
              states, hmm::Exec::name());

  const hmm::Exec exec;
  const auto logs = hmm::to_device(model);
  const auto device = hmm::to_device(sequences);
  const hmm::Vector log_likelihood("log_likelihood", count);
  const Kokkos::Timer timer;
  hmm::forward(exec, logs, device, log_likelihood);
  exec.fence();
  const double seconds = timer.seconds();
  const double transitions = double(count) * (length - 1) * states * states;
  std::printf("%.3f s: %.1f million transitions a second\n", seconds, 1e-6 * transitions / seconds);
  return check(model, sequences, log_likelihood);
}

/// All sequences of 6 of 4 symbols: log sum_o p(o) = 0, to the rounding of some 6 steps.
bool check_all_sequences() {
  constexpr int symbols = 4, length = 6, count = 1 << 2 * length;
  hmm::Random random(2);
  const hmm::Model model(8, symbols, random);
  std::vector<std::vector<int>> sequences(count);
  for (int s = 0; s < count; ++s)
    for (int t = 0; t < length; ++t) sequences[s].push_back(s >> 2 * t & 3);

  const hmm::Exec exec;
  const hmm::Vector log_likelihood("log_likelihood", count);
  const Kokkos::View<double, hmm::Exec> total("total");
  hmm::forward(exec, hmm::to_device(model), hmm::to_device(sequences), log_likelihood);
  KokkosSoftmax::logsumexp(exec, log_likelihood, total);
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), total);
  std::printf("log of the sum of the probabilities of all %d sequences of length %d: %.1e\n", count,
              length, host());
  return std::abs(host()) <= 100 * epsilon;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const int states = argc > 1 ? std::atoi(argv[1]) : 32;
  const int length = argc > 2 ? std::atoi(argv[2]) : 200;
  const int count = argc > 3 ? std::atoi(argv[3]) : 500;
  if (states < 1 || length < 1 || count < 1) {
    std::printf("usage: %s [STATES [LENGTH [SEQUENCES]]]\n", argv[0]);
    return 2;
  }
  const bool good = check_drawn_sequences(states, length, count) & check_all_sequences();
  std::printf("%s\n", good ? "PASSED: all likelihoods are right but for rounding"
                           : "FAILED: a likelihood is wrong");
  return good ? 0 : 1;
}
