// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tile takes entries: each multiplied by the scale, whichever way they come.

#include <gtest/gtest.h>

#include <row/Tile.hpp>

namespace KokkosSoftmax::Test {
namespace {

using V = KokkosSoftmax::Impl::ValueTypes<double>;
using Piece = KokkosSoftmax::Impl::Tile<V, 3, 2, 1, KokkosSoftmax::Impl::Fill::guarded>;

constexpr double x[Piece::items][Piece::width] = {{1.5, -2}, {0, 1e300}, {3, -7.25}};

KokkosSoftmax::Impl::KernelArguments<V> arguments_with(double scale) {
  const KokkosSoftmax::Impl::RowProblem<double, double> problem{};
  return {problem, KokkosSoftmax::Options{.scale = scale}};
}

/// function(tile, arguments, chunks) for some scales, among them 1.
template <class Function>
void expect_scaled(const Function& function) {
  for (const double scale : {1.0, -0.7, 0.1, 3.0}) {
    Piece::Raw chunks[Piece::items];
    for (int i = 0; i < Piece::items; ++i)
      for (int k = 0; k < Piece::width; ++k) chunks[i].entry[k] = x[i][k];
    Piece tile;
    function(tile, arguments_with(scale), chunks);
    for (int i = 0; i < Piece::items; ++i)
      for (int k = 0; k < Piece::width; ++k)
        EXPECT_EQ(tile.place(i).entry[k], scale * x[i][k]) << scale << " " << i << " " << k;
  }
}

TEST(Tile, Take) {
  expect_scaled(
      [](Piece& tile, const auto& arguments, const auto& chunks) { tile.take(arguments, chunks); });
}

TEST(Tile, TakeFromScratch) {
  expect_scaled([](Piece& tile, const auto& arguments, const auto& chunks) {
    tile.take_from_scratch(arguments, chunks);
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Test
