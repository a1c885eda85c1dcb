// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_RUN_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_RUN_HPP

/// \file
/// Runs the random cases that the command line asks for.

#include <iostream>
#include <random_cases/Arrays.hpp>
#include <support/RandomCases.hpp>

namespace KokkosSoftmax::Test {

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
using RandomConfigs =
    Concatenated<OverSpaces<EnabledSpaces>::values,
                 decltype(half_configs<Kokkos::LayoutRight>(EnabledSpaces{}))>::type::types;
#else
using RandomConfigs = EnabledValueConfigs;
#endif
using RandomSameTypeConfigs = decltype(of_same_types(RandomConfigs{}))::types;

/// Makes the call and waits for it. Returns whether the algorithm serves it; only a forced one may
/// refuse it.
template <class Exec, class Call>
bool is_served_unless_forced(Algorithm algorithm, const Call& call) {
  const bool served = is_served(algorithm, call);
  Exec{}.fence();
  EXPECT_TRUE(served || algorithm != Algorithm::automatic) << "the call was refused";
  return served;
}

/// Whether the algorithm serves the case of a seed. If it does, the results must be right.
template <class RandomCase>
bool expect_right(std::uint64_t seed) {
  try {
    RandomCase random_case{Random(seed)};
    std::ostringstream text;
    text << "--seed=" << seed << " --cases=1: " << random_case;
    SCOPED_TRACE(text.str());
    return random_case.expect_right();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "--seed=" << seed << " --cases=1: " << error.what();
    return false;
  }
}

/// Runs cases up to the first one that is wrong.
template <class RandomCase>
void expect_random_cases_right() {
  const RandomCasesToRun& run = random_cases_to_run;
  std::uint64_t cases = 0, served = 0;
  for (; cases < run.cases && !::testing::Test::HasFailure(); ++cases)
    served += expect_right<RandomCase>(run.seed + cases);
  std::cout << "--seed=" << run.seed << " --cases=" << cases << ": " << served
            << " computed, the others refused by a forced algorithm\n";
}

}  // namespace KokkosSoftmax::Test

#endif
