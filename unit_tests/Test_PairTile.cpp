// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of half types whose entries stay in pairs, in rows of several of them, on the host.

#include <gtest/gtest.h>

#include <Schedule.hpp>
#include <schedules/Online.hpp>
#include <support/HostKernel.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::Fill;
using KokkosSoftmax::Impl::Operation;

template <class V>
class PairTile : public ::testing::Test {
 protected:
  static constexpr int width = 8;
  using Shape = KokkosSoftmax::Impl::Shape<1, 1, 2, width, Fill::guarded>;
  using Kernel = KokkosSoftmax::Impl::OnlineKernel<Kokkos::DefaultHostExecutionSpace, V,
                                                   Operation::logsumexp, Shape>;
  static_assert(std::is_same_v<typename Kernel::Piece,
                               KokkosSoftmax::Impl::PairTile<V, 2, width, 1, Fill::guarded>>);

  static void expect_right(const RowsFor<typename V::X>& rows, double scale) {
    const Case c{.function = Function::logsumexp, .options = {.axis = 1, .scale = scale}};
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
TYPED_TEST_SUITE(PairTile, PairTypes);

/// A part of a tile, a tile, several. The scales reach both exponentials and both signs.
TYPED_TEST(PairTile, SumsRows) {
  for (const std::size_t columns : {8, 16, 24, 32, 40, 1000, 5008})
    for (const double scale : {1.0, -0.7, 40.0, -40.0}) {
      TestFixture::expect_right(normal_sample<typename TypeParam::X>(5, columns).rows, scale);
      TestFixture::expect_right(hostile_rows<typename TypeParam::X>(columns), scale);
    }
}
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
