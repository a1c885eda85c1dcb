// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile must multiply each entry by the scale, regardless of where it takes the entries from.

#include <gtest/gtest.h>

#include <row/Tile.hpp>

namespace KokkosSoftmax::Test {
namespace {

using V = KokkosSoftmax::Impl::ValueTypes<double>;
using Source = KokkosSoftmax::Impl::PlainSource<V>;
using RowTile =
    KokkosSoftmax::Impl::Tile<Source, 3, 2, 1, KokkosSoftmax::Impl::AccessMode::guarded_vectors>;

constexpr double x[RowTile::items][RowTile::width] = {{1.5, -2}, {0, 1e300}, {3, -7.25}};

KokkosSoftmax::Impl::RowArgs<V> arguments_with(double scale) {
  const KokkosSoftmax::Impl::RowProblem<double, double> problem{};
  return {problem, KokkosSoftmax::Options{.scale = scale}};
}

/// Checks function(tile, arguments, chunks) for several scales, including 1.
template <class Function>
void expect_scaled(const Function& function) {
  for (const double scale : {1.0, -0.7, 0.1, 3.0}) {
    RowTile::Raw chunks[RowTile::items];
    for (int i = 0; i < RowTile::items; ++i)
      for (int k = 0; k < RowTile::width; ++k) chunks[i].entry[k] = x[i][k];
    RowTile tile;
    function(tile, arguments_with(scale), chunks);
    for (int i = 0; i < RowTile::items; ++i)
      for (int k = 0; k < RowTile::width; ++k)
        EXPECT_EQ(tile.chunk(i).entry[k], scale * x[i][k]) << scale << " " << i << " " << k;
  }
}

TEST(Tile, Take) {
  expect_scaled([](RowTile& tile, const auto& arguments, const auto& chunks) {
    tile.take(Source(arguments), KokkosSoftmax::Impl::AnyColumn{}, chunks);
  });
}

TEST(Tile, TakeFromScratch) {
  expect_scaled([](RowTile& tile, const auto& arguments, const auto& chunks) {
    tile.take<true>(Source(arguments), KokkosSoftmax::Impl::AnyColumn{}, chunks);
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Test
