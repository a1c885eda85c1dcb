// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_RANDOM_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_RANDOM_HPP

/// \file
/// The random numbers of the random cases.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

namespace KokkosSoftmax::Test {

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_engine(seed) {}

  std::size_t below(std::size_t n) { return m_engine() % n; }
  std::size_t up_to(std::size_t n) { return 1 + below(n); }  // at least 1
  bool one_in(std::size_t n) { return below(n) == 0; }
  double uniform() { return static_cast<double>(m_engine() >> 11) * 0x1p-53; }

  /// Nearly normally distributed with standard deviation 1.
  double normal() {
    double sum = -3;
    for (int i = 0; i < 6; ++i) sum += uniform();
    return sum * 1.41421356;
  }

  template <class Range>
  auto element_of(const Range& range) {
    return std::begin(range)[below(std::size(range))];
  }

 private:
  std::mt19937_64 m_engine;
};

}  // namespace KokkosSoftmax::Test

#endif
