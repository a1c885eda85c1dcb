// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_RUN_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_RUN_HPP

/// \file
/// Runs the random cases that the command line asks for.

#include <array>
#include <iostream>
#include <random_cases/Arrays.hpp>
#include <random_cases/Routes.hpp>
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

/// The route of a case; the function for cases that have no other.
template <class RandomCase>
Route route_of(const RandomCase& random_case) {
  if constexpr (requires { random_case.route(); })
    return random_case.route();
  else
    return Route::function;
}

/// Makes the case of a seed, and counts it if the algorithm serves it. The results must be right
/// then. `served` has a number per route.
template <class RandomCase>
void expect_right(std::uint64_t seed, std::array<std::uint64_t, all_routes.size()>& served) {
  try {
    RandomCase random_case{Random(seed)};
    const Route route = route_of(random_case);
    std::ostringstream text;
    text << "--seed=" << seed << " --cases=1: " << route << ", " << random_case;
    SCOPED_TRACE(text.str());
    served[static_cast<std::size_t>(route)] += random_case.expect_right();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "--seed=" << seed << " --cases=1: " << error.what();
  }
}

/// Runs cases up to the first one that is wrong.
template <class RandomCase>
void expect_random_cases_right() {
  const RandomCasesToRun& run = random_cases_to_run;
  std::uint64_t cases = 0;
  std::array<std::uint64_t, all_routes.size()> served{};
  for (; cases < run.cases && !::testing::Test::HasFailure(); ++cases)
    expect_right<RandomCase>(run.seed + cases, served);
  std::cout << "--seed=" << run.seed << " --cases=" << cases << ": ";
  for (const Route route : all_routes)
    if (const auto count = served[static_cast<std::size_t>(route)]; count > 0)
      std::cout << count << " computed " << route << ", ";
  std::cout << "the others refused by a forced algorithm\n";
}

}  // namespace KokkosSoftmax::Test

#endif
