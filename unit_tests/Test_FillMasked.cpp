// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the masked columns of a row are filled: each entry once, at any address, and none beside
// them.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <op/FillMasked.hpp>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

/// 1 for each time that an entry is written.
template <class Y, class Fill>
void expect_each_entry_once(std::int64_t first, std::int64_t stride, std::int64_t count,
                            const Fill& fill) {
  constexpr int threads = 32;
  std::vector<int> written(static_cast<std::size_t>(first + stride * count + 64));
  alignas(16) Y memory[4096];
  for (int thread = 0; thread < threads; ++thread) {
    std::fill(std::begin(memory), std::end(memory), Y(0));
    fill(memory + first, thread, threads);
    for (std::size_t i = 0; i < written.size(); ++i) written[i] += memory[i] == Y(1);
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::int64_t from_first = static_cast<std::int64_t>(i) - first;
    const bool is_entry =
        from_first >= 0 && from_first < stride * count && from_first % stride == 0;
    ASSERT_EQ(written[i], is_entry ? 1 : 0) << i << " of " << count << " from " << first;
  }
}

template <class Y>
class FillMasked : public ::testing::Test {};
using FilledTypes = ::testing::Types<float, double, std::uint16_t>;
TYPED_TEST_SUITE(FillMasked, FilledTypes);

TYPED_TEST(FillMasked, NeighboursAtAnyAddress) {
  for (std::int64_t first = 0; first < 9; ++first)
    for (const std::int64_t count : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 500, 1023})
      expect_each_entry_once<TypeParam>(
          first, 1, count, [&](TypeParam* to, int thread, int threads) {
            KokkosSoftmax::Impl::fill(to, count, TypeParam(1), thread, threads);
          });
}

TYPED_TEST(FillMasked, Strided) {
  for (const std::int64_t stride : {2, 5})
    for (const std::int64_t count : {0, 1, 31, 32, 33, 100})
      expect_each_entry_once<TypeParam>(
          3, stride, count, [&](TypeParam* to, int thread, int threads) {
            KokkosSoftmax::Impl::fill_strided(to, stride, count, TypeParam(1), thread, threads);
          });
}

}  // namespace
}  // namespace KokkosSoftmax::Test
