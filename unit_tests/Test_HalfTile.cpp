// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of half types whose entries stay in pairs, tested on the host: rows of several tiles for
// logsumexp, rows of one tile for log_softmax.

#include <gtest/gtest.h>

#include <backend/Schedule.hpp>
#include <schedules/FusedRegisters.hpp>
#include <schedules/Online.hpp>
#include <support/HostKernel.hpp>
#include <support/Kernels.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::Operation;

template <class V>
class HalfTile : public ::testing::Test {
 protected:
  static constexpr int width = 8;
  using Host = Kokkos::DefaultHostExecutionSpace;
  template <AccessMode access>
  using Shape = KokkosSoftmax::Impl::Shape<1, 1, 2, width, access>;
  template <AccessMode access, bool loads_full_tiles>
  using Tile = KokkosSoftmax::Impl::HalfTile<KokkosSoftmax::Impl::PlainSource<V>, 2, width, 1,
                                             access, loads_full_tiles>;

  static void expect_sums_right(const RowsFor<typename V::X>& rows, double scale) {
    using Kernel = KernelFor<KokkosSoftmax::Impl::OnlineKernel, Host, Operation::logsumexp, V,
                             Shape<AccessMode::guarded_vectors>>;
    static_assert(
        std::is_same_v<typename Kernel::RowTile, Tile<AccessMode::guarded_vectors, true>>);
    expect_right<Kernel>({.function = Function::logsumexp, .options = {.axis = 1, .scale = scale}},
                         rows);
  }

  static void expect_logarithms_right(const RowsFor<typename V::X>& rows, double scale) {
    using Kernel = KernelFor<KokkosSoftmax::Impl::FusedRegistersKernel, Host,
                             Operation::log_softmax, V, Shape<AccessMode::guarded_vectors>>;
    static_assert(
        std::is_same_v<typename Kernel::Share, Tile<AccessMode::guarded_vectors, false>> ==
        (sizeof(typename V::Y) == 2));
    expect_right<Kernel>(
        {.function = Function::log_softmax, .options = {.axis = 1, .scale = scale}}, rows);
  }

 private:
  template <class Kernel>
  static void expect_right(const Case& c, const RowsFor<typename V::X>& rows) {
    EXPECT_TRUE(check_on_host<V>(c, rows,
                                 Kernel::scratch_bytes(static_cast<std::int64_t>(rows.columns)),
                                 [&](const auto& problem) {
                                   return Kernel{{problem, c.options}};
                                 }));
  }
};

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
using Half = Kokkos::Experimental::half_t;
using Bhalf = Kokkos::Experimental::bhalf_t;
using PairTypes =
    ::testing::Types<KokkosSoftmax::Impl::ValueTypes<Half>, KokkosSoftmax::Impl::ValueTypes<Bhalf>,
                     KokkosSoftmax::Impl::ValueTypes<Half, float>,
                     KokkosSoftmax::Impl::ValueTypes<Bhalf, float>>;
TYPED_TEST_SUITE(HalfTile, PairTypes);

/// Rows of a part of a tile, of one tile, and of several tiles. The scales use both exponentials
/// and both signs.
TYPED_TEST(HalfTile, SumsRows) {
  for (const std::size_t columns : {8, 16, 24, 32, 40, 1000, 5008})
    for (const double scale : {1.0, -0.7, 40.0, -40.0}) {
      TestFixture::expect_sums_right(normal_sample<typename TypeParam::X>(5, columns).rows, scale);
      TestFixture::expect_sums_right(hostile_rows<typename TypeParam::X>(columns), scale);
    }
}

/// Rows of a part of a tile and of one tile, with the same scales.
TYPED_TEST(HalfTile, TakesLogarithms) {
  for (const std::size_t columns : {8, 16})
    for (const double scale : {1.0, -0.7, 40.0, -40.0}) {
      TestFixture::expect_logarithms_right(normal_sample<typename TypeParam::X>(5, columns).rows,
                                           scale);
      TestFixture::expect_logarithms_right(hostile_rows<typename TypeParam::X>(columns), scale);
    }
}

// The rounding error of a large logarithm must not appear in a result that is small.
TYPED_TEST(HalfTile, KeepsSmallLogarithms) {
  RowsFor<typename TypeParam::X> rows{0, 8, {}};
  for (float largest = -44; largest <= 44; largest += 0.25f, ++rows.count)
    for (const float below : {0.f, 11.f, 12.f, 13.f, 14.f, 15.f, 16.f, 17.f})
      rows.values.push_back(
          static_cast<float>(static_cast<typename TypeParam::X>(largest - below)));
  TestFixture::expect_logarithms_right(rows, 1.0);
}
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
