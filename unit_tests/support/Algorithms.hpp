// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_ALGORITHMS_HPP
#define KOKKOSSOFTMAX_TEST_ALGORITHMS_HPP

/// \file
/// Every algorithm, forced. An algorithm may refuse a shape by std::invalid_argument, but not one
/// of those that must_serve() lists.

#include <stdexcept>
#include <string>
#include <support/Check.hpp>
#include <support/Devices.hpp>

namespace KokkosSoftmax::Test {

inline constexpr Algorithm all_algorithms[] = {
    Algorithm::packed,        Algorithm::subgroup, Algorithm::fused_registers,
    Algorithm::fused_scratch, Algorithm::online,   Algorithm::split,
    Algorithm::split_online,  Algorithm::cluster,  Algorithm::column,
    Algorithm::split_column,  Algorithm::host};

/// The least that each algorithm serves: dense matrices whose rows are contiguous or, for
/// `strided`, whose columns are.
template <class C>
bool must_serve(Algorithm algorithm, Function function, std::size_t columns, bool strided) {
  constexpr bool on_host = is_host_space<typename C::exec>;
  constexpr bool is_full_precision = std::is_same_v<typename C::x_value, typename C::value>;
  if (on_host && !is_full_precision)
    return algorithm == Algorithm::host || algorithm == Algorithm::automatic;
  switch (algorithm) {
    case Algorithm::packed:
      return is_full_precision && !strided && columns <= (on_host ? 64 : 33);
    case Algorithm::split:
      return !strided && function != Function::logsumexp && columns <= (on_host ? 16 : 1000000);
    case Algorithm::split_online:
      return !strided;
    case Algorithm::cluster:
      return has_clusters(typename C::exec{}) && is_full_precision && !strided &&
             function != Function::logsumexp && columns <= 150000;
    case Algorithm::subgroup:
      return !strided && columns <= (on_host ? 16 : 33);
    case Algorithm::fused_registers:
      return !strided && columns <= (on_host ? 16 : 8192);
    case Algorithm::fused_scratch:
      return !strided && columns <= 1025;
    case Algorithm::online:
      return !strided;
    case Algorithm::column:
    case Algorithm::split_column:
      return strided;
    case Algorithm::host:
      return on_host;
    case Algorithm::automatic:
      return true;
  }
  return false;
}

/// Whether `call` isn't refused. A refusal has to name the algorithm.
template <class Call>
bool is_served(Algorithm algorithm, const Call& call) {
  try {
    call();
    return true;
  } catch (const std::invalid_argument& error) {
    const std::string name(to_string(algorithm));
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    return false;
  }
}

/// Whether the algorithm serves the case; if it does, the result must be right. A matrix of C's
/// layout.
template <class C>
bool serves(const Case& c, const Rows<typename C::value>& rows, const Expected& expected) {
  return is_served(c.options.algorithm, [&] { EXPECT_TRUE(check_matrix<C>(c, rows, expected)); });
}

/// The same with y = x for contiguous rows. An algorithm that must serve them may not refuse.
template <class C>
void expect_served_in_place(const Case& c, const Rows<typename C::value>& rows,
                            const Expected& expected) {
  using X = typename C::x_value;
  const bool served = is_served(c.options.algorithm, [&] {
    EXPECT_TRUE((check_in_place<Kokkos::LayoutRight, 2, X>(typename C::exec{}, c, rows, expected)));
  });
  if (must_serve<C>(c.options.algorithm, c.function, rows.columns, false)) {
    EXPECT_TRUE(served) << "refused in place: " << ::testing::PrintToString(c);
  }
}

/// Each algorithm, function and axis.
template <class C>
void expect_algorithms_right(const Rows<typename C::value>& rows, const Expected& expected,
                             Options options) {
  for (const Algorithm algorithm : all_algorithms)
    for (const Function function : all_functions)
      for (const int axis : {0, 1}) {
        options.algorithm = algorithm;
        options.axis = axis;
        const Case c{.function = function, .options = options};
        const bool strided = rows.count > 1 && axis == 0;
        const bool served = serves<C>(c, rows, expected);
        if (rows.count > 1 && rows.columns > 0 &&
            must_serve<C>(algorithm, function, rows.columns, strided)) {
          EXPECT_TRUE(served) << ::testing::PrintToString(c) << " refuses " << rows.columns
                              << " columns";
        }
      }
}

}  // namespace KokkosSoftmax::Test

#endif
