// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The segment of a row that a team of a cluster holds in registers and scratch, tested on the host
// with one team of one thread. The segment is the whole row.

#include <gtest/gtest.h>

#include <algorithm>
#include <backend/Schedule.hpp>
#include <schedules/cluster/AsyncSegment.hpp>
#include <support/HostKernel.hpp>
#include <support/Kernels.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::Operation;

template <class Share, class V>
struct RowInOneShare {
  using Member = Kokkos::TeamPolicy<Kokkos::DefaultHostExecutionSpace>::member_type;

  KokkosSoftmax::Impl::RowArgs<V> arguments;
  std::int64_t chunks;

  void operator()(const Member& member) const {
    const typename Share::Row row(arguments, member.league_rank());
    void* const scratch =
        member.team_scratch(0).get_shmem_aligned(Share::scratch_bytes(chunks), 16);
    Share share(static_cast<char*>(scratch), chunks);
    share.store(arguments, row, 0, 0, share.load(arguments, row, 0, 0));
  }
};

template <class T>
class AsyncSegment : public ::testing::Test {
 protected:
  using V = KokkosSoftmax::Impl::ValueTypes<T>;
  using Exec = Kokkos::DefaultHostExecutionSpace;

  /// Tiles of 8 entries. The rows have no entries in scratch, less than one part there (the entries
  /// that are processed at one time), or many parts. The scales use both exponentials that half
  /// types have.
  template <Operation operation, int width, AccessMode access>
  static void expect_right(Function function) {
    using Shape = KokkosSoftmax::Impl::Shape<1, 1, 8 / width, width, access>;
    using Share = KernelFor<KokkosSoftmax::Impl::AsyncSegment, Exec, operation, V, Shape>;
    const std::size_t step = std::max(4, width);
    for (const std::size_t columns : {step, 2 * step, 3 * step, 4 * step, 9 * step, 250 * step})
      for (const double scale : {1.0, -0.7, 40.0}) {
        const Case c{.function = function, .options = {.axis = 1, .scale = scale}};
        const auto& normal = normal_sample<T>(5, columns).rows;
        EXPECT_TRUE(check_share<Share>(c, normal)) << width;
        const auto hostile = hostile_rows<T>(columns);
        EXPECT_TRUE(check_share<Share>(c, hostile)) << width;
      }
  }

 private:
  template <class Share>
  static ::testing::AssertionResult check_share(const Case& c, const RowsFor<T>& rows) {
    const auto chunks = static_cast<std::int64_t>(rows.columns) / Share::RowTile::width;
    return check_on_host<V>(c, rows, Share::scratch_bytes(chunks) + 16, [&](const auto& problem) {
      return RowInOneShare<Share, V>{{problem, c.options}, chunks};
    });
  }
};

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
using StagedTypes =
    ::testing::Types<float, double, Kokkos::Experimental::half_t, Kokkos::Experimental::bhalf_t>;
#else
using StagedTypes = ::testing::Types<float, double>;
#endif
TYPED_TEST_SUITE(AsyncSegment, StagedTypes);

TYPED_TEST(AsyncSegment, HoldsARow) {
  constexpr int wide = 16 / static_cast<int>(sizeof(TypeParam));
  TestFixture::template expect_right<Operation::softmax, wide, AccessMode::guarded_vectors>(
      Function::softmax);
  TestFixture::template expect_right<Operation::log_softmax, wide, AccessMode::guarded_vectors>(
      Function::log_softmax);
  if constexpr (sizeof(TypeParam) > 2) {  // half types are staged only in pairs
    TestFixture::template expect_right<Operation::softmax, 1, AccessMode::scalar>(
        Function::softmax);
    TestFixture::template expect_right<Operation::log_softmax, 1, AccessMode::scalar>(
        Function::log_softmax);
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
