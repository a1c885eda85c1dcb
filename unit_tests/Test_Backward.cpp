// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward passes: right with every algorithm, layout, axis and alignment, in place, with
// masked entries and special values, and as the derivatives of the forward passes.

#include <limits>
#include <support/Algorithms.hpp>
#include <support/Backward.hpp>
#include <support/Instances.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
using Strided = Kokkos::LayoutStride;

/// A call, and how its tensors lie in memory.
struct BackwardCase {
  BackwardFunction function = BackwardFunction::softmax_backward;
  Extents extents = {};
  Options options = {};
  std::size_t y_offset = 0;  // elements between an aligned address and the first element
  std::size_t dy_offset = 0;
  std::size_t dx_offset = 0;
};

std::ostream& operator<<(std::ostream& out, const BackwardCase& c) {
  out << to_string(c.function) << " of extents (";
  for (std::size_t d = 0; d < c.extents.size(); ++d) out << (d == 0 ? "" : ", ") << c.extents[d];
  return out << "), axis " << c.options.axis << ", scale " << c.options.scale << ", "
             << to_string(c.options.algorithm) << ", offsets " << c.y_offset << ", " << c.dy_offset
             << " and " << c.dx_offset;
}

template <class C>
class Backward : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  /// Calls the function on tensors of layouts LY, LDY and LDX and checks dx.
  template <class LY, class LDY, class LDX, int rank = 2>
  static ::testing::AssertionResult check(const BackwardCase& c, const BackwardSample<T>& sample,
                                          const ExpectedNumbers& expected) {
    const int axis = c.options.axis;
    Field<X, Exec> y(place<LY>(c.extents, c.y_offset)), dy(place<LDY>(c.extents, c.dy_offset)),
        dx(place<LDX>(c.extents, c.dx_offset));
    y.assign(rows_to_tensor(sample.y.values, c.extents, axis));
    dy.assign(rows_to_tensor(sample.dy.values, c.extents, axis));
    const Exec exec;
    call_backward(c.function, exec, y.template view<LY, rank, const X>(),
                  dy.template view<LDY, rank, const X>(), dx.template view<LDX, rank>(), c.options);
    exec.fence();
    auto result = are_near<X>(tensor_to_rows(dx.template read<T>(), c.extents, axis), expected);
    result = both(result, dx.gaps_are_unchanged(), "something beside dx's elements was written");
    result = both(result, y.is_unchanged() && dy.is_unchanged(), "an input was written");
    if (!result) result << "\n  in " << ::testing::PrintToString(c);
    return result;
  }
  template <class L>
  static ::testing::AssertionResult check(const BackwardCase& c, const BackwardSample<T>& sample) {
    return check<L, L, L>(c, sample,
                          reference_backward(c.function, sample.y, sample.dy, c.options.scale));
  }
};

TYPED_TEST_SUITE(Backward, SameTypeConfigs, ConfigName);

struct MatrixOf {
  std::size_t count, columns;
};

TYPED_TEST(Backward, EveryAlgorithm) {
  using X = typename TypeParam::x_value;
  const auto algorithms = all_algorithms_and_automatic();
  for (const auto& [count, columns] :
       {MatrixOf{1, 1}, MatrixOf{70, 1}, MatrixOf{70, 4}, MatrixOf{70, 7}, MatrixOf{70, 16},
        MatrixOf{70, 33}, MatrixOf{33, 128}, MatrixOf{33, 300}, MatrixOf{9, 1024},
        MatrixOf{9, 1025}, MatrixOf{1, 5001}, MatrixOf{5, 5001}, MatrixOf{2, 8192},
        MatrixOf{3, 20001}, MatrixOf{2, 40000}})
    for (const auto function : backward_functions) {
      const auto sample = backward_sample<X>(function, count, columns);
      const auto expected = reference_backward(function, sample.y, sample.dy, -0.75);
      for (const int axis : {0, 1})
        for (const Algorithm algorithm : algorithms) {
          const BackwardCase c{
              .function = function,
              .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
              .options = {.axis = axis, .scale = -0.75, .algorithm = algorithm}};
          const bool served = is_served(algorithm, [&] {
            EXPECT_TRUE((TestFixture::template check<Right, Right, Right>(c, sample, expected)));
          });
          EXPECT_TRUE(served || algorithm != Algorithm::automatic);
        }
    }
}

TYPED_TEST(Backward, LayoutsAndAlignment) {
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {3, 5, 32, 128, 781, 5001})
    for (const auto function : backward_functions) {
      const auto sample = backward_sample<X>(function, 33, columns);
      const auto expected = reference_backward(function, sample.y, sample.dy);
      for (const int axis : {0, 1})
        for (const std::size_t offset : {0, 1, 3}) {
          const BackwardCase c{.function = function,
                               .extents = axis == 1 ? Extents{33, columns} : Extents{columns, 33},
                               .options = {.axis = axis},
                               .y_offset = offset,
                               .dy_offset = 3 - offset,
                               .dx_offset = offset == 1 ? std::size_t(2) : offset};
          EXPECT_TRUE((TestFixture::template check<Right, Right, Right>(c, sample, expected)));
          EXPECT_TRUE((TestFixture::template check<Left, Left, Left>(c, sample, expected)));
          EXPECT_TRUE((TestFixture::template check<Right, Left, Strided>(c, sample, expected)));
          EXPECT_TRUE((TestFixture::template check<Strided, Right, Left>(c, sample, expected)));
        }
    }
}

// Rows that several threads, or teams of a device, share.
TYPED_TEST(Backward, FewWideRows) {
  using X = typename TypeParam::x_value;
  for (const std::size_t count : {1, 2, 3})
    for (const auto function : backward_functions) {
      const auto sample = backward_sample<X>(function, count, 200001);
      const auto expected = reference_backward(function, sample.y, sample.dy);
      for (const int axis : {0, 1}) {
        const BackwardCase c{.function = function,
                             .extents = axis == 1 ? Extents{count, 200001} : Extents{200001, count},
                             .options = {.axis = axis}};
        EXPECT_TRUE((TestFixture::template check<Right, Right, Right>(c, sample, expected)));
      }
    }
}

// Threads of a host share the columns of such rows, and those of two panels.
TYPED_TEST(Backward, LongRowsSideBySide) {
  using X = typename TypeParam::x_value;
  for (const auto& [count, columns] : {MatrixOf{21, 9001}, MatrixOf{530, 4101}})
    for (const auto function : backward_functions) {
      const auto sample = backward_sample<X>(function, count, columns);
      const BackwardCase c{
          .function = function, .extents = {columns, count}, .options = {.axis = 0}};
      EXPECT_TRUE((TestFixture::template check<Right>(c, sample)));
    }
}

TYPED_TEST(Backward, RanksOneFourAndEight) {
  using X = typename TypeParam::x_value;
  const Extents extents{3, 5, 7, 9};
  for (const auto function : backward_functions) {
    for (const int axis : {0, 1, 2, 3}) {
      const std::size_t columns = extents[static_cast<std::size_t>(axis)];
      const auto sample = backward_sample<X>(function, product(extents) / columns, columns);
      const auto expected = reference_backward(function, sample.y, sample.dy);
      const BackwardCase c{.function = function, .extents = extents, .options = {.axis = axis}};
      EXPECT_TRUE((TestFixture::template check<Right, Left, Right, 4>(c, sample, expected)));
      EXPECT_TRUE((TestFixture::template check<Strided, Right, Strided, 4>(c, sample, expected)));
    }
    const Extents of_rank_8{1, 3, 2, 1, 5, 1, 1, 4};
    for (const int axis : {1, 4, -1}) {
      const std::size_t columns = of_rank_8[axis_index(of_rank_8, axis)];
      const auto sample = backward_sample<X>(function, product(of_rank_8) / columns, columns);
      const auto expected = reference_backward(function, sample.y, sample.dy);
      const BackwardCase c{.function = function, .extents = of_rank_8, .options = {.axis = axis}};
      EXPECT_TRUE((TestFixture::template check<Strided, Right, Left, 8>(c, sample, expected)));
    }
    const auto sample = backward_sample<X>(function, 1, 100);
    const auto expected = reference_backward(function, sample.y, sample.dy);
    const BackwardCase c{.function = function, .extents = {100}};
    EXPECT_TRUE((TestFixture::template check<Right, Strided, Left, 1>(c, sample, expected)));
  }
}

TYPED_TEST(Backward, InPlace) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  for (const std::size_t columns : {7, 128, 5001, 40001})
    for (const auto function : backward_functions)
      for (const int axis : {0, 1})
        for (const bool in_dy : {true, false}) {
          const auto sample = backward_sample<X>(function, 5, columns);
          const Extents extents = axis == 1 ? Extents{5, columns} : Extents{columns, 5};
          Field<X, Exec> y(place<Right>(extents)), dy(place<Right>(extents));
          y.assign(rows_to_tensor(sample.y.values, extents, axis));
          dy.assign(rows_to_tensor(sample.dy.values, extents, axis));
          auto& dx = in_dy ? dy : y;
          call_backward(function, Exec{}, y.template view<Right, 2, const X>(),
                        dy.template view<Right, 2, const X>(), dx.template view<Right, 2>(),
                        {.axis = axis});
          Exec{}.fence();
          EXPECT_TRUE(are_near<X>(tensor_to_rows(dx.template read<T>(), extents, axis),
                                  reference_backward(function, sample.y, sample.dy)));
          EXPECT_TRUE(dx.gaps_are_unchanged());
        }
}

// Masked entries have y = 0: they get 0 and count for nothing, even if dy is NaN there.
TYPED_TEST(Backward, MaskedEntries) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(),
              infinity = std::numeric_limits<T>::infinity();
  for (const std::size_t columns : {9, 130, 5001})
    for (const auto function : backward_functions) {
      const T masked = function == BackwardFunction::softmax_backward ? T(0) : -infinity;
      auto sample = backward_sample<X>(function, 6, columns);
      for (std::size_t i = 0; i < sample.y.values.size(); ++i)
        if (i % 3 == 1 || i / columns == 2) {  // row 2 as a whole
          sample.y.values[i] = masked;
          sample.dy.values[i] = i % 2 == 0 ? nan : infinity;
        }
      sample.dy.values[4 * columns] = nan;  // row 4 has a NaN that counts
      for (const int axis : {0, 1})
        for (const bool reproducible : {false, true}) {
          const BackwardCase c{.function = function,
                               .extents = axis == 1 ? Extents{6, columns} : Extents{columns, 6},
                               .options = {.axis = axis, .reproducible = reproducible}};
          EXPECT_TRUE((TestFixture::template check<Right>(c, sample)));
        }
    }
}

// Neighbouring rows, of which a lane can load entries of two or four at one time
// (NeighbourPairs), if all three arrays have them side by side at aligned addresses.
TYPED_TEST(Backward, NeighbouringRows) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(),
              infinity = std::numeric_limits<T>::infinity();
  struct Offsets {
    std::size_t y, dy, dx;
  };
  for (const auto& [count, columns] :
       {MatrixOf{132, 3}, MatrixOf{132, 8}, MatrixOf{70, 8}, MatrixOf{70, 13}, MatrixOf{71, 13},
        MatrixOf{66, 30}, MatrixOf{34, 50}, MatrixOf{34, 100}, MatrixOf{34, 250},
        MatrixOf{130, 600}, MatrixOf{66, 3000}})
    for (const auto function : backward_functions) {
      const T masked = function == BackwardFunction::softmax_backward ? T(0) : -infinity;
      auto sample = backward_sample<X>(function, count, columns);
      for (std::size_t i = 0; i < sample.y.values.size(); ++i) {
        const std::size_t row = i / columns;
        if (row == 4 || row == 7) continue;
        if (i % 7 == 3 || row == 2) {  // row 2 as a whole
          sample.y.values[i] = masked;
          sample.dy.values[i] = i % 2 == 0 ? nan : infinity;
        }
      }
      sample.dy.values[4 * columns] = nan;
      sample.dy.values[7 * columns] = infinity;
      const auto expected = reference_backward(function, sample.y, sample.dy, -1.5);
      for (const Algorithm algorithm : {Algorithm::column, Algorithm::cluster_column})
        for (const auto& offsets : {Offsets{0, 0, 0}, Offsets{2, 2, 2}, Offsets{1, 0, 0},
                                    Offsets{0, 1, 0}, Offsets{0, 0, 1}}) {
          const BackwardCase c{.function = function,
                               .extents = {columns, count},
                               .options = {.axis = 0, .scale = -1.5, .algorithm = algorithm},
                               .y_offset = offsets.y,
                               .dy_offset = offsets.dy,
                               .dx_offset = offsets.dx};
          is_served(algorithm, [&] {
            EXPECT_TRUE((TestFixture::template check<Right, Right, Right>(c, sample, expected)));
            EXPECT_TRUE((TestFixture::template check<Right, Left, Right>(c, sample, expected)));
            EXPECT_TRUE((TestFixture::template check<Right, Right, Left>(c, sample, expected)));
          });
        }
    }
}

// The same with an outer axis beside the neighbours.
TYPED_TEST(Backward, NeighbouringRowsOfTwoAxes) {
  using X = typename TypeParam::x_value;
  for (const std::size_t neighbours : {std::size_t(64), std::size_t(66), std::size_t(65)})
    for (const std::size_t columns : {7, 40, 200})
      for (const auto function : backward_functions) {
        const auto sample = backward_sample<X>(function, 3 * neighbours, columns);
        const auto expected = reference_backward(function, sample.y, sample.dy);
        for (const Algorithm algorithm : {Algorithm::column, Algorithm::cluster_column}) {
          const BackwardCase c{.function = function,
                               .extents = {3, columns, neighbours},
                               .options = {.axis = 1, .algorithm = algorithm}};
          is_served(algorithm, [&] {
            EXPECT_TRUE((TestFixture::template check<Right, Right, Right, 3>(c, sample, expected)));
            EXPECT_TRUE(
                (TestFixture::template check<Right, Strided, Right, 3>(c, sample, expected)));
          });
        }
      }
}

// An infinite dy makes dx NaN in its entry and infinite in the others, except in masked ones. With
// the scale 0, it makes dx NaN in all of them.
TYPED_TEST(Backward, InfiniteEntries) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(),
              infinity = std::numeric_limits<T>::infinity();
  for (const std::size_t columns : {9, 130, 5001})
    for (const auto function : backward_functions) {
      auto sample = backward_sample<X>(function, 5, columns);
      const auto y = [&](std::size_t row, std::size_t c) -> T& {
        return sample.y.values[row * columns + c];
      };
      const auto dy = [&](std::size_t row, std::size_t c) -> T& {
        return sample.dy.values[row * columns + c];
      };
      for (std::size_t row = 0; row < 5; ++row)
        y(row, 7) = function == BackwardFunction::softmax_backward ? T(0) : -infinity;
      dy(0, 3) = infinity;
      dy(1, columns - 1) = -infinity;
      dy(2, 0) = infinity;
      dy(2, 5) = -infinity;
      y(3, 4) = nan;
      for (const int axis : {0, 1})
        for (const double scale : {1.0, -0.5, 0.0}) {
          const BackwardCase c{.function = function,
                               .extents = axis == 1 ? Extents{5, columns} : Extents{columns, 5},
                               .options = {.axis = axis, .scale = scale}};
          EXPECT_TRUE((TestFixture::template check<Right>(c, sample)));
        }
    }
}

// Many equal terms, whose additions are all rounded in the same direction.
TYPED_TEST(Backward, EqualEntries) {
  using T = typename TypeParam::value;
  using X = typename TypeParam::x_value;
  for (const std::size_t columns : {130, 511, 2039, 8190, 70001})
    for (const double derivative : {0.3, 0.7, 1.1, 1.9})
      for (const auto function : backward_functions) {
        const auto p = 1 / static_cast<double>(columns);
        const double y = function == BackwardFunction::softmax_backward ? p : std::log(p);
        const auto rows_of = [&](double value) {
          const auto rounded = static_cast<T>(static_cast<X>(static_cast<T>(value)));
          return Rows<T>{
              .count = 2, .columns = columns, .values = std::vector<T>(2 * columns, rounded)};
        };
        const BackwardSample<T> sample{rows_of(y), rows_of(derivative)};
        for (const int axis : {0, 1}) {
          const BackwardCase c{.function = function,
                               .extents = axis == 1 ? Extents{2, columns} : Extents{columns, 2},
                               .options = {.axis = axis}};
          EXPECT_TRUE((TestFixture::template check<Right>(c, sample)));
        }
      }
}

TYPED_TEST(Backward, ScaleZeroGivesZero) {
  using X = typename TypeParam::x_value;
  for (const auto function : backward_functions) {
    const auto sample = backward_sample<X>(function, 5, 300);
    const BackwardCase c{.function = function, .extents = {5, 300}, .options = {.scale = 0}};
    EXPECT_TRUE((TestFixture::template check<Right>(c, sample)));
  }
}

// The derivative of L = sum_ij w_ij * y_ij by x, from the forward function itself.
TYPED_TEST(Backward, CentralDifferences) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  if constexpr (std::is_same_v<X, double>) {
    constexpr std::size_t count = 3, columns = 20;
    constexpr double scale = 1.5, step = 1e-5;
    const auto x = normal_rows<X>(count, columns);
    const auto w = normal_rows<X>(columns, count).values;
    for (const auto function : backward_functions) {
      const bool is_log = function == BackwardFunction::log_softmax_backward;
      const auto y_of = [&](const Rows<X>& rows) {
        const Expected expected = reference(rows, scale);
        return is_log ? expected.log_softmax : expected.softmax;
      };
      const auto loss = [&](const Rows<X>& rows) {
        long double sum = 0;
        const auto y = y_of(rows);
        for (std::size_t i = 0; i < y.size(); ++i) sum += w[i] * y[i];
        return sum;
      };
      const auto y = y_of(x);
      Field<X, Exec> y_field(place<Right>({count, columns})), dy(place<Right>({count, columns})),
          dx(place<Right>({count, columns}));
      y_field.assign(std::vector<X>(y.begin(), y.end()));
      dy.assign(w);
      call_backward(function, Exec{}, y_field.template view<Right, 2, const X>(),
                    dy.template view<Right, 2, const X>(), dx.template view<Right, 2>(),
                    {.scale = scale});
      Exec{}.fence();
      const auto got = dx.read();
      for (std::size_t row = 0; row < count; ++row) {
        double sum = 0;
        for (std::size_t c = 0; c < columns; ++c) {
          const std::size_t i = row * columns + c;
          auto above = x, below = x;
          above.values[i] += step;
          below.values[i] -= step;
          const auto difference = static_cast<double>((loss(above) - loss(below)) /
                                                      (above.values[i] - below.values[i]));
          EXPECT_NEAR(got[i], difference, 1e-8) << to_string(function) << " " << i;
          sum += got[i];
        }
        EXPECT_NEAR(sum, 0, 1e-14 * columns);  // a constant added to a row of x changes nothing
      }
    }
  }
}

// The bits of a row depend neither on the rows beside it, nor on the layout of a matrix, nor on the
// number of threads.
TYPED_TEST(Backward, Reproducible) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = 33;
  for (const std::size_t columns : {5, 33, 300, 5001, 20001})
    for (const auto function : backward_functions) {
      const auto sample = backward_sample<X>(function, count, columns);
      const auto results_of = [&]<class L>(L, std::size_t first, std::size_t rows,
                                           std::size_t offset, const Exec& exec = Exec{}) {
        const Extents extents{rows, columns};
        Field<X, Exec> y(place<L>(extents, offset)), dy(place<L>(extents, offset)),
            dx(place<L>(extents));
        const auto part = [&](const auto& values) {
          const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first * columns);
          return std::vector(begin, begin + static_cast<std::ptrdiff_t>(rows * columns));
        };
        y.assign(part(sample.y.values));
        dy.assign(part(sample.dy.values));
        call_backward(function, exec, y.template view<L, 2, const X>(),
                      dy.template view<L, 2, const X>(), dx.template view<L, 2>(),
                      {.reproducible = true});
        exec.fence();
        return dx.read();
      };
      const std::vector<X> all = results_of(Right{}, 0, count, 0);
      for (const std::size_t row : {0, 7, 32}) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * columns);
        const std::vector<X> alone(begin, begin + static_cast<std::ptrdiff_t>(columns));
        EXPECT_TRUE(same_bits(alone, results_of(Right{}, row, 1, 1))) << columns << ", row " << row;
      }
      EXPECT_TRUE(same_bits(all, results_of(Left{}, 0, count, 0))) << columns << " columns";
      for (const Exec& exec : {other_instances(Exec{})[0], instance_of_many_threads<Exec>()})
        EXPECT_TRUE(same_bits(all, results_of(Left{}, 0, count, 0, exec))) << columns << " columns";
    }
}

TYPED_TEST(Backward, OneKernelWithoutFences) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Right, Exec> y("y", 9, 1000), dy("dy", 9, 1000), dx("dx", 9, 1000);
  const Exec exec;
  for (const auto function : backward_functions) {
    call_backward(function, exec, y, dy, dx, {});
    const Events events = record([&] { call_backward(function, exec, y, dy, dx, {}); });
    ASSERT_EQ(events.kernels.size(), 1u);
    EXPECT_NE(
        events.kernels[0].label.find(std::string("KokkosSoftmax::") + to_string(function) + "["),
        std::string::npos)
        << events.kernels[0].label;
    EXPECT_EQ(events.fences, std::vector<std::string>{});
    EXPECT_EQ(events.allocations, std::vector<std::string>{});
  }
  exec.fence();
}

TYPED_TEST(Backward, EmptyExtentsWriteNothing) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Right, Exec> rows("rows", 0, 5), columns("columns", 5, 0);
  softmax_backward(rows, rows, rows);
  log_softmax_backward(columns, columns, columns);
}

TYPED_TEST(Backward, WrongArgumentsThrow) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  const Kokkos::View<X**, Right, Exec> y("y", 9, 10), dy("dy", 9, 10), dx("dx", 9, 10);
  const Kokkos::View<X**, Right, Exec> wide("wide", 9, 11);
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax_backward:", "(9, 11) of dy", "y (9, 10)"},
                          [&] { softmax_backward(y, wide, dx); }));
  EXPECT_TRUE(
      throws_with({"KokkosSoftmax::log_softmax_backward:", "(9, 11) of dx", "log_y (9, 10)"},
                  [&] { log_softmax_backward(y, dy, wide); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax_backward:", "axis = 2", "y has rank 2"},
                          [&] { softmax_backward(y, dy, dx, {.axis = 2}); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax_backward:", "scale", "finite"}, [&] {
    softmax_backward(y, dy, dx, {.scale = std::numeric_limits<double>::infinity()});
  }));
  const auto shifted =
      Kokkos::subview(wide, Kokkos::ALL(), std::make_pair(std::size_t(1), std::size_t(11)));
  const auto first =
      Kokkos::subview(wide, Kokkos::ALL(), std::make_pair(std::size_t(0), std::size_t(10)));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax_backward:", "y at", "dx at", "overlap"},
                          [&] { softmax_backward(first, dy, shifted); }));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::log_softmax_backward:", "dy at", "dx at", "overlap"},
                          [&] { log_softmax_backward(y, first, shifted); }));
  softmax_backward(y, y, y);
  Exec{}.fence();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
