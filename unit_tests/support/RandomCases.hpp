// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_HPP

#include <cstddef>
#include <cstdint>

namespace KokkosSoftmax::Test {

/// Which random cases each suite of them runs: those of the seeds seed, seed + 1, ... The command
/// line sets them: --seed=S --cases=N.
struct RandomCasesToRun {
  std::uint64_t seed = 1;
  std::uint64_t cases = 100;  // per execution space and pair of value types
};
inline RandomCasesToRun random_cases_to_run;

}  // namespace KokkosSoftmax::Test

#endif
