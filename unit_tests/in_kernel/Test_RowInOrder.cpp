// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of devices for calls inside kernels, in one thread of a host. (Calls on hosts run the
// library's kernels for hosts.)

#include <support/Backward.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class T>
using Row = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
class RowInOrder : public ::testing::Test {
 protected:
  template <Function function>
  static void check(const Rows<T>& rows, EmptyRows empty_rows = EmptyRows::nan) {
    using Input = Row<const T>;
    const auto expected = reference(rows, 1.0, empty_rows);
    std::vector<T> y(rows.values.size(), poison<T>), lse(rows.count);
    for (std::size_t r = 0; r < rows.count; ++r) {
      const Input x(rows.values.data() + r * rows.columns, rows.columns);
      const RowOptions options{.empty_rows = empty_rows};
      if constexpr (function == Function::logsumexp) {
        lse[r] = KokkosSoftmax::Impl::run_in_one_thread(
            KokkosSoftmax::Impl::LogSumExpCall<Input>(x, {}, options));
      } else {
        const Row<T> out(y.data() + r * rows.columns, rows.columns);
        lse[r] = KokkosSoftmax::Impl::run_in_one_thread(
            KokkosSoftmax::Impl::ForwardCall<function, Input, Row<T>>(x, out, options));
      }
    }
    EXPECT_TRUE(is_accurate(function, rows, expected, function == Function::logsumexp ? lse : y))
        << to_string(function) << " of " << rows.columns << " columns";
    if (function == Function::logsumexp) {
      EXPECT_TRUE(is_accurate_near_zero(rows, expected, lse)) << rows.columns << " columns";
    }
  }
  static void check_functions(const Rows<T>& rows, EmptyRows empty_rows = EmptyRows::nan) {
    check<Function::softmax>(rows, empty_rows);
    check<Function::log_softmax>(rows, empty_rows);
    check<Function::logsumexp>(rows, empty_rows);
  }

  template <BackwardFunction function>
  static void check_backward(std::size_t columns) {
    const auto sample = backward_sample<T>(function, 3, columns);
    std::vector<T> dx(sample.y.values.size(), poison<T>);
    for (std::size_t r = 0; r < 3; ++r) {
      const auto row = [&](auto& values) { return Row<T>(values.data() + r * columns, columns); };
      auto y = sample.y.values, dy = sample.dy.values;
      const Row<T> y_row = row(y), dy_row = row(dy), dx_row = row(dx);
      KokkosSoftmax::Impl::run_in_one_thread(
          KokkosSoftmax::Impl::BackwardCall<function, Row<T>, Row<T>, Row<T>>(
              y_row, dy_row, dx_row, RowOptions{.scale = 0.5}));
    }
    EXPECT_TRUE(are_near<T>(dx, reference_backward(function, sample.y, sample.dy, 0.5)))
        << to_string(function) << " of " << columns << " columns";
  }
};

using ValueTypes = ::testing::Types<double, float>;
TYPED_TEST_SUITE(RowInOrder, ValueTypes);

TYPED_TEST(RowInOrder, Widths) {
  for (const std::size_t columns : widths) {
    if (columns == 0) continue;
    this->check_functions(normal_sample<TypeParam>(3, columns).rows);
    this->template check_backward<BackwardFunction::softmax_backward>(columns);
    this->template check_backward<BackwardFunction::log_softmax_backward>(columns);
  }
}

TYPED_TEST(RowInOrder, HostileRows) {
  for (const std::size_t columns : {1, 4, 33, 600, 9001})
    for (const auto empty_rows : {EmptyRows::nan, EmptyRows::zero})
      this->check_functions(hostile_rows<TypeParam>(columns), empty_rows);
}

TYPED_TEST(RowInOrder, NearZero) {
  for (const std::size_t columns : {1, 2, 7, 33, 500, 600, 4100, 9001, 100003})
    this->template check<Function::logsumexp>(near_zero_rows<TypeParam>(columns));
}

// A running sum that is rescaled at each new maximum would lose digits.
TYPED_TEST(RowInOrder, Ramps) { this->check_functions(two_ramp_rows<TypeParam>(200000)); }

}  // namespace
}  // namespace KokkosSoftmax::Test
