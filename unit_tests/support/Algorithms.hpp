// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_ALGORITHMS_HPP
#define KOKKOSSOFTMAX_TEST_ALGORITHMS_HPP

/// \file
/// Tests that force each algorithm. An algorithm may refuse a shape by throwing
/// std::invalid_argument, except the shapes for which must_serve() returns true.

#include <array>
#include <iterator>
#include <stdexcept>
#include <string>
#include <support/Check.hpp>
#include <support/Devices.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// All algorithms that can be forced.
inline constexpr auto all_algorithms = [] {
  static_assert(KokkosSoftmax::Impl::algorithm_table[0].algorithm == Algorithm::automatic);
  std::array<Algorithm, std::size(KokkosSoftmax::Impl::algorithm_table) - 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = KokkosSoftmax::Impl::algorithm_table[i + 1].algorithm;
  return all;
}();

/// All algorithms, first those that can be forced.
inline std::vector<Algorithm> all_algorithms_and_automatic() {
  std::vector<Algorithm> algorithms(std::begin(all_algorithms), std::end(all_algorithms));
  algorithms.push_back(Algorithm::automatic);
  return algorithms;
}

/// Those of the algorithms that the library has on an execution space for float and double.
template <class Exec>
std::vector<Algorithm> compiled_for(std::vector<Algorithm> algorithms) {
  if (!has_gpu_schedules<Exec>)
    std::erase_if(algorithms, [](Algorithm algorithm) {
      return algorithm != Algorithm::automatic && algorithm != Algorithm::host;
    });
  return algorithms;
}

/// The shapes that each algorithm must accept at least: dense matrices whose rows are contiguous,
/// or with `strided`, whose columns are contiguous.
template <class C>
bool must_serve(Algorithm algorithm, Function function, std::size_t columns, bool strided) {
  constexpr bool on_host = is_host_space<typename C::exec>;
  constexpr bool is_full_precision = std::is_same_v<typename C::x_value, typename C::value>;
  if (on_host && !(is_full_precision && has_gpu_schedules<typename C::exec>))
    return algorithm == Algorithm::host || algorithm == Algorithm::automatic;
  switch (algorithm) {
    case Algorithm::packed:
      return std::is_same_v<typename C::x_value, typename C::y_value> && !strided &&
             columns <= (on_host ? 64 : 33);
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
    case Algorithm::two_pass_column:
      return strided;
    case Algorithm::cluster_column:
      return has_clusters(typename C::exec{}) && strided && function != Function::logsumexp &&
             columns <= 8192;
    case Algorithm::host:
      return on_host;
    case Algorithm::automatic:
      return true;
  }
  return false;
}

/// Returns false if `call` throws std::invalid_argument. The message must then name the algorithm.
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

/// Returns whether the algorithm accepts the case, a matrix of the layout of C. If it does, the
/// result must be right.
template <class C>
bool serves(const Case& c, const Rows<typename C::value>& rows, const Expected& expected) {
  return is_served(c.options.algorithm, [&] { EXPECT_TRUE(check_matrix<C>(c, rows, expected)); });
}

/// Checks the call with y = x for contiguous rows. An algorithm that must serve these rows must not
/// refuse the call.
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

/// Whether an algorithm holds the rows of all functions in the registers or the scratch memory of a
/// team, or of the teams of a group. Then it refuses rows of 10^7 columns everywhere.
constexpr bool holds_rows(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::packed:
    case Algorithm::subgroup:
    case Algorithm::fused_registers:
    case Algorithm::split:
    case Algorithm::cluster:
    case Algorithm::cluster_column:
      return true;
    default:
      return false;
  }
}

/// Checks each algorithm that isn't left out with each function and each axis.
template <class C>
void expect_algorithms_right(const Rows<typename C::value>& rows, const Expected& expected,
                             Options options, bool (*is_left_out)(Algorithm) = nullptr) {
  for (const Algorithm algorithm : all_algorithms) {
    if (is_left_out != nullptr && is_left_out(algorithm)) continue;
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
}

}  // namespace KokkosSoftmax::Test

#endif
