// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_ROUTES_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_ROUTES_HPP

/// \file
/// The routes by which random cases call the library: the function, a plan, or the C interface. The
/// seed of a case decides on its route, so that no case takes the time of three.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <ostream>
#include <random_cases/Random.hpp>
#include <support/Algorithms.hpp>
#include <support/CInterface.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

enum class Route { function, plan, c_interface };
inline constexpr std::array all_routes{Route::function, Route::plan, Route::c_interface};

inline std::ostream& operator<<(std::ostream& out, Route route) {
  constexpr const char* names[] = {"by the function", "by a plan", "by the C interface"};
  return out << names[static_cast<int>(route)];
}

/// Draws the route of a case. It is the function if the drawn one isn't possible.
template <class Exec>
Route random_route(Random& random, bool may_have_plan) {
  const Route route = random.element_of(all_routes);
  const bool is_possible = route == Route::plan          ? may_have_plan
                           : route == Route::c_interface ? has_c_interface<Exec>
                                                         : true;
  return is_possible ? route : Route::function;
}

/// Makes the call and waits for it. Returns whether the algorithm serves it; only a forced one may
/// refuse it.
template <class Exec, class Call>
bool is_served_unless_forced(Algorithm algorithm, const Call& call) {
  const bool served = is_served(algorithm, call);
  Exec{}.fence();
  EXPECT_TRUE(served || algorithm != Algorithm::automatic) << "the call was refused";
  return served;
}

/// Whether two calls with the same arguments have the same bits. On GPUs, rows that are split over
/// teams may have other bits (docs/semantics.md#reproducible), and `automatic` may split them.
template <class Exec>
bool has_same_bits_each_time(const Options& options) {
  constexpr std::array may_split{Algorithm::automatic, Algorithm::split, Algorithm::split_online,
                                 Algorithm::split_column};
  return is_host_space<Exec> || options.reproducible ||
         std::find(may_split.begin(), may_split.end(), options.algorithm) == may_split.end();
}

/// The numbers of several results, for a comparison of their bits.
template <class T>
std::vector<T> joined(std::initializer_list<std::vector<T>> results) {
  std::vector<T> all;
  for (const std::vector<T>& result : results) all.insert(all.end(), result.begin(), result.end());
  return all;
}

/// Makes the call of a case by its route and waits for it. Returns whether the algorithm serves it.
/// The function with the same arguments must give the same results. A case has these members:
///
///     route()        its route
///     call(route)    makes the call by a route
///     results()      all results
///     restore()      restores an input that the call has overwritten
template <class Exec, class RandomCase>
bool is_served_by_route(RandomCase& random_case, const Options& options) {
  const Route route = random_case.route();
  const bool served =
      is_served_unless_forced<Exec>(options.algorithm, [&] { random_case.call(route); });
  if (route == Route::function) return served;
  const auto results = random_case.results();
  random_case.restore();
  const bool function_served =
      is_served_unless_forced<Exec>(options.algorithm, [&] { random_case.call(Route::function); });
  EXPECT_EQ(served, function_served) << "the function is served in another way";
  if (has_same_bits_each_time<Exec>(options)) {
    EXPECT_TRUE(same_bits_except_nan(random_case.results(), results))
        << "the function has other bits";
  }
  return served;
}

}  // namespace KokkosSoftmax::Test

#endif
