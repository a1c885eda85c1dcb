// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward passes inside kernels: right, and with the bits of the functions with
// Options::reproducible.

#include <in_kernel/Callers.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;

constexpr std::size_t backward_widths[] = {1,    3,    8,    9,    16,   33,   64,
                                           129,  255,  256,  257,  512,  513,  1024,
                                           1025, 2048, 2049, 4097, 8193, 12671};

template <class C>
class InKernelBackward : public ::testing::Test {
 protected:
  using Exec = typename C::exec;
  using X = typename C::x_value;
  using T = typename C::value;

  static Field<X, Exec> field_of(const Rows<T>& rows) {
    Field<X, Exec> field(place_right({rows.count, rows.columns}));
    field.assign(rows.values);
    return field;
  }

  template <class By, BackwardFunction function>
  static void check(std::size_t columns, const TeamShape& shape) {
    const Exec exec;
    const double scale = -0.75;
    const auto sample = backward_sample<X>(function, 5, columns);
    const auto y = field_of(sample.y), dy = field_of(sample.dy);
    Field<X, Exec> dx(y.placement()), of_call(y.placement());
    const auto y_view = y.template view<Right, 2, const X>(),
               dy_view = dy.template view<Right, 2, const X>();
    call_backward_for_rows<By, function>(exec, shape, y_view, dy_view, dx.template view<Right, 2>(),
                                         RowOptions{.scale = scale});
    call_backward(function, exec, y_view, dy_view, of_call.template view<Right, 2>(),
                  {.scale = scale, .reproducible = true});
    exec.fence();
    std::ostringstream where;
    where << By::name << " " << to_string(function) << ", " << columns << " columns, " << shape;
    EXPECT_TRUE(are_near<X>(dx.template read<T>(),
                            reference_backward(function, sample.y, sample.dy, scale)))
        << where.str();
    EXPECT_TRUE(same_bits(dx.read(), of_call.read())) << where.str();
    EXPECT_TRUE(dx.gaps_are_unchanged()) << where.str();
  }

  template <class By>
  static void check_lse(std::size_t columns, const TeamShape& shape) {
    const Exec exec;
    const double scale = 0.75;
    const auto& sample = normal_sample<X>(5, columns);
    const auto x = field_of(sample.rows);
    Field<T, Exec> lse(place_right({5})), dlse(place_right({5}));
    dlse.assign(std::vector<T>{T(1), T(-2), T(0.5), T(0), T(3)});
    Field<X, Exec> dx(x.placement()), of_call(x.placement());
    const auto x_view = x.template view<Right, 2, const X>();
    logsumexp(exec, x_view, lse.template view<Right, 1>(), {.scale = scale, .reproducible = true});
    call_lse_backward_for_rows<By>(exec, shape, x_view, lse.template view<Right, 1, const T>(),
                                   dlse.template view<Right, 1, const T>(),
                                   dx.template view<Right, 2>(), RowOptions{.scale = scale});
    logsumexp_backward(exec, x_view, lse.template view<Right, 1, const T>(),
                       dlse.template view<Right, 1, const T>(), of_call.template view<Right, 2>(),
                       {.scale = scale});
    exec.fence();
    // The accuracy of the function itself is tested elsewhere.
    EXPECT_TRUE(same_bits(dx.read(), of_call.read()))
        << By::name << ", " << columns << " columns, " << shape;
    EXPECT_TRUE(dx.gaps_are_unchanged());
  }

  template <class By>
  static void check_caller(std::size_t columns, const TeamShape& shape) {
    check<By, BackwardFunction::softmax_backward>(columns, shape);
    check<By, BackwardFunction::log_softmax_backward>(columns, shape);
    check_lse<By>(columns, shape);
  }
};

/// Without bhalf_t, which differs from half_t in the conversions alone.
#if !KOKKOS_HALF_T_IS_FLOAT
template <class... Exec>
auto with_half_type(TypeList<Exec...>) {
  return typename Concatenated<OverSpaces<TestedSpaces>::values,
                               TypeList<Config<Exec, Kokkos::Experimental::half_t>>...>::type{};
}
using BackwardConfigs = decltype(with_half_type(TestedSpaces{}))::types;
#else
using BackwardConfigs = ValueConfigs;
#endif
TYPED_TEST_SUITE(InKernelBackward, BackwardConfigs, ConfigName);

TYPED_TEST(InKernelBackward, Widths) {
  for (const std::size_t columns : backward_widths)
    for (const TeamShape& shape : some_team_shapes<typename TypeParam::exec>(columns)) {
      if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::value>) {
        TestFixture::template check_caller<BySerial>(columns, shape);
        TestFixture::template check_caller<ByThreadVector>(columns, shape);
      }
      TestFixture::template check_caller<ByTeamVector>(columns, shape);
    }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
