// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbar [STATES [SAMPLES [SEED]]]: free energies of harmonic oscillators from samples, by MBAR
// (Solver.hpp), compared with the analytic ones. Returns 0 if all are within three standard errors.
// With a SEED of your own a correct run may fail: in about one of a hundred runs a state deviates
// by more.

#include <cstdlib>
#include <exception>

#include "Oscillators.hpp"
#include "Solver.hpp"

namespace {

/// Prints the free energies next to the exact ones. Returns true if MBAR converged and all are
/// within three standard errors.
bool check(const mbar::Oscillators& model, const mbar::Result& result) {
  bool good = result.converged;
  std::printf("\nstate  f           exact       standard error  deviation\n");
  for (int k = 0; k < model.states(); ++k) {
    const double error = result.standard_error[k];
    const double deviation = k == 0 ? 0 : (result.f[k] - model.exact(k)) / error;
    std::printf("%5d  %-10.6f  %-10.6f  %-14.6f  %+.2f\n", k, result.f[k], model.exact(k), error,
                deviation);
    good = good && std::abs(deviation) <= 3;  // false for a NaN
  }
  return good;
}

bool run(int states, int samples, std::uint64_t seed) {
  const mbar::Oscillators model(states, samples);
  const auto u = mbar::reduced_energies<mbar::Matrix>(model, mbar::draw(model, seed));
  std::printf("MBAR: %zu states, %zu samples, on %s\n", u.extent(0), u.extent(1),
              mbar::Exec::name());

  const mbar::Exec exec;
  const Kokkos::Timer timer;
  const auto result = mbar::solve(exec, u, model.counts);
  const double seconds = timer.seconds();
  std::printf("%d iterations in %.3f s: %.1f million matrix entries a second\n", result.iterations,
              seconds, 1e-6 * result.iterations * u.size() / seconds);
  return check(model, result);
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const int states = argc > 1 ? std::atoi(argv[1]) : 16;
  const int samples = argc > 2 ? std::atoi(argv[2]) : 20000;
  const int seed = argc > 3 ? std::atoi(argv[3]) : 1;
  if (states < 2 || samples < 2) {
    std::printf("usage: %s [STATES >= 2 [SAMPLES >= 2 [SEED]]]\n", argv[0]);
    return 2;
  }
  bool good = false;
  try {
    good = run(states, samples, seed);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  std::printf("%s\n", good ? "PASSED: all within 3 standard errors"
                           : "FAILED: not all within 3 standard errors");
  return good ? 0 : 1;
}
