// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_INKERNELTESTS_HPP
#define KOKKOSSOFTMAX_TEST_INKERNELTESTS_HPP

/// \file
/// Calls inside kernels: right, with the bits of the functions with Options::reproducible, for any
/// team, layout and memory. The tests of each value type are in a source of their own, because nvcc
/// takes long for their kernels. These sources are compiled as users compile theirs, without the
/// library's options for arithmetic.

#include <in_kernel/Callers.hpp>
#include <limits>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;

/// Numbers of columns around those at which the order of additions or its computation changes.
constexpr std::size_t in_kernel_widths[] = {
    1,    2,    3,    4,    5,    7,    8,    9,    15,   16,    17,    31,    32,  33,
    64,   65,   127,  128,  129,  200,  255,  256,  257,  300,   511,   512,   513, 781,
    1024, 1025, 1999, 2048, 2049, 4096, 5000, 8192, 8193, 12671, 20001, 100003};

template <class C>
class InKernel : public ::testing::Test {
 protected:
  using Exec = typename C::exec;
  using V = typename C::values;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using T = typename C::value;

  /// A matrix x and what calls write, with the entries of a row `Layout` apart.
  template <class Layout>
  struct Arrays {
    Field<X, Exec> x;
    Field<Y, Exec> y;
    Field<T, Exec> lse;

    explicit Arrays(const Rows<T>& rows)
        : x(place<Layout>({rows.count, rows.columns}, 1)),
          y(place<Layout>({rows.count, rows.columns}, 2)),
          lse(place_right({rows.count})) {
      x.assign(rows.values);
    }
    auto x_view() const { return x.template view<Layout, 2, const X>(); }
    auto y_view() const { return y.template view<Layout, 2>(); }
    auto lse_view() const { return lse.template view<Right, 1>(); }
  };

  template <class By, Function function, class Layout>
  static Arrays<Layout> called(const Rows<T>& rows, const TeamShape& shape,
                               const RowOptions& options = {}) {
    const Exec exec;
    Arrays<Layout> arrays(rows);
    call_for_rows<By, function>(exec, shape, arrays.x_view(), arrays.y_view(), arrays.lse_view(),
                                options);
    exec.fence();
    return arrays;
  }

  template <Function function, class Layout>
  static ::testing::AssertionResult is_right(const Arrays<Layout>& arrays, const Rows<T>& rows,
                                             const Expected& expected) {
    auto result =
        is_accurate(Function::logsumexp, rows, lse_beside(expected, function), arrays.lse.read());
    if constexpr (function != Function::logsumexp) {
      auto of_y =
          is_accurate(function, rows, expected, arrays.y.template read<T>(), 0, format_of<Y>());
      if (!of_y) result = of_y;
    }
    result = both(result, arrays.y.gaps_are_unchanged(), "something beside y was written");
    return both(result, arrays.x.is_unchanged(), "x was written");
  }

  /// The log-sum-exps that calls return that write y: NaN for a row with +inf.
  static Expected lse_beside(Expected expected, Function function) {
    for (long double& lse : expected.logsumexp)
      if (function != Function::logsumexp && lse == std::numeric_limits<long double>::infinity())
        lse = std::numeric_limits<long double>::quiet_NaN();
    return expected;
  }

  /// y, or the log-sum-exps of logsumexp, of a call with Options::reproducible.
  template <Function function>
  static auto bits_of_call(const Rows<T>& rows, const RowOptions& options) {
    const Exec exec;
    Arrays<Right> arrays(rows);
    const Options same{.scale = options.scale, .reproducible = true};
    if constexpr (function == Function::logsumexp)
      logsumexp(exec, arrays.x_view(), arrays.lse_view(), same);
    else
      call(function, exec, arrays.x_view(), arrays.y_view(), same);
    exec.fence();
    return results<function>(arrays);
  }
  template <Function function, class Layout>
  static auto results(const Arrays<Layout>& arrays) {
    if constexpr (function == Function::logsumexp)
      return arrays.lse.read();
    else
      return arrays.y.read();
  }

  template <class By, Function function, class Layout, class Bits>
  static void check(std::size_t columns, const TeamShape& shape, const RowOptions& options,
                    const Bits& bits) {
    const auto& sample = normal_sample<X>(5, columns);
    const auto arrays = called<By, function, Layout>(sample.rows, shape, options);
    const auto where = [&] {
      std::ostringstream text;
      text << By::name << " " << to_string(function) << ", " << columns << " columns, " << shape;
      return text.str();
    };
    if (options.scale == 1.0) {
      EXPECT_TRUE((is_right<function>(arrays, sample.rows, sample.expected))) << where();
    }
    EXPECT_TRUE(same_bits(results<function>(arrays), bits)) << where();
  }

  template <Function function, class Layout>
  static void check_callers(std::size_t columns, const std::vector<TeamShape>& shapes,
                            const RowOptions& options) {
    const auto bits = bits_of_call<function>(normal_sample<X>(5, columns).rows, options);
    for (const TeamShape& shape : shapes) {
      if constexpr (std::is_same_v<X, T>)
        if (columns <= 20001) check<BySerial, function, Layout>(columns, shape, options, bits);
      if (columns <= 20001) check<ByThreadVector, function, Layout>(columns, shape, options, bits);
      check<ByTeamVector, function, Layout>(columns, shape, options, bits);
    }
  }
  template <class Layout = Right>
  static void check_functions(std::size_t columns, const RowOptions& options = {}) {
    const auto shapes = some_team_shapes<Exec>(columns);
    check_callers<Function::softmax, Layout>(columns, shapes, options);
    // Each kernel takes nvcc a second and more, so that of half types there are fewer.
    if constexpr (std::is_same_v<X, T>)
      check_callers<Function::log_softmax, Layout>(columns, shapes, options);
    check_callers<Function::logsumexp, Layout>(columns, shapes, options);
  }
};

/// A value type on the tested execution spaces.
template <class X, class... Exec>
auto configs_of(TypeList<Exec...>) {
  return TypeList<Config<Exec, X>...>{};
}

TYPED_TEST_SUITE_P(InKernel);

TYPED_TEST_P(InKernel, Widths) {
  for (const std::size_t columns : in_kernel_widths) this->check_functions(columns);
}

TYPED_TEST_P(InKernel, EveryTeam) {
  for (const std::size_t columns : {12, 300, 1500, 5000, 10000}) {
    const auto shapes = team_shapes<typename TypeParam::exec>();
    TestFixture::template check_callers<Function::softmax, Right>(columns, shapes, {});
  }
}

TYPED_TEST_P(InKernel, StridedRows) {
  if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::value>)
    for (const std::size_t columns : {1, 2, 7, 33, 100, 781, 2049, 12671})
      TestFixture::template check_callers<Function::softmax, Left>(
          columns, some_team_shapes<typename TypeParam::exec>(columns), {});
}

TYPED_TEST_P(InKernel, Scales) {
  for (const double scale : {0.0, -1.0, 0.3, 1e-3, 40.0})
    for (const std::size_t columns : {5, 33, 781, 9001})
      this->check_functions(columns, {.scale = scale});
}

TYPED_TEST_P(InKernel, HostileRows) {
  for (const std::size_t columns : {1, 4, 33, 600, 9001}) {
    const auto rows = hostile_rows<typename TypeParam::x_value>(columns);
    for (const auto empty_rows : {EmptyRows::nan, EmptyRows::zero}) {
      const auto expected = reference(rows, 1.0, empty_rows);
      for (const TeamShape& shape : some_team_shapes<typename TypeParam::exec>(columns)) {
        const auto check = [&]<class By, Function function>() {
          const auto arrays = TestFixture::template called<By, function, Right>(
              rows, shape, {.empty_rows = empty_rows});
          EXPECT_TRUE((TestFixture::template is_right<function>(arrays, rows, expected)))
              << By::name << ", " << columns << " columns, " << shape;
        };
        const auto check_functions = [&]<class By>() {
          check.template operator()<By, Function::softmax>();
          if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::value>)
            check.template operator()<By, Function::log_softmax>();
          check.template operator()<By, Function::logsumexp>();
        };
        if constexpr (std::is_same_v<typename TypeParam::x_value, typename TypeParam::value>)
          check_functions.template operator()<BySerial>();
        check_functions.template operator()<ByThreadVector>();
        check_functions.template operator()<ByTeamVector>();
      }
    }
  }
}

/// logsumexp of rows near 0: digits and bits.
template <class C>
class InKernelNearZero : public InKernel<C> {
 protected:
  using Base = InKernel<C>;
  using T = typename C::value;

  template <class By, class Layout>
  static void check(const Rows<T>& rows, const Expected& expected, const TeamShape& shape,
                    const std::vector<T>& bits) {
    const auto arrays =
        Base::template called<By, Function::logsumexp, Layout>(rows, shape, RowOptions{});
    const auto lse = arrays.lse.read();
    EXPECT_TRUE((Base::template is_right<Function::logsumexp>(arrays, rows, expected)))
        << By::name << ", " << shape;
    EXPECT_TRUE(is_accurate_near_zero(rows, expected, lse)) << By::name << ", " << shape;
    EXPECT_TRUE(same_bits(lse, bits)) << By::name << ", " << rows.columns << " columns, " << shape;
  }
};
TYPED_TEST_SUITE_P(InKernelNearZero);

TYPED_TEST_P(InKernelNearZero, DigitsAndBits) {
  using T = typename TypeParam::value;
  for (const std::size_t columns : {1, 2, 3, 7, 8, 17, 33, 64, 129, 256, 300, 513, 781, 1025, 2049,
                                    5000, 8193, 12671, 100003}) {
    const auto rows = near_zero_rows<T>(columns);
    const auto expected = reference(rows);
    const auto bits = TestFixture::template bits_of_call<Function::logsumexp>(rows, {});
    for (const TeamShape& shape : some_team_shapes<typename TypeParam::exec>(columns)) {
      if (columns <= 20001) {
        TestFixture::template check<BySerial, Right>(rows, expected, shape, bits);
        TestFixture::template check<ByThreadVector, Right>(rows, expected, shape, bits);
      }
      TestFixture::template check<ByTeamVector, Right>(rows, expected, shape, bits);
      TestFixture::template check<ByTeamVector, Left>(rows, expected, shape, bits);
    }
  }
}

TYPED_TEST_P(InKernel, InPlace) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  if constexpr (std::is_same_v<X, typename TypeParam::value>) {
    const Exec exec;
    for (const std::size_t columns : {7, 40, 600, 3000, 9001})
      for (const TeamShape& shape : some_team_shapes<Exec>(columns)) {
        const auto& sample = normal_sample<X>(5, columns);
        const auto check = [&]<class By>() {
          Field<X, Exec> x(place_right({5, columns})), lse(place_right({5}));
          x.assign(sample.rows.values);
          const auto view = x.template view<Right, 2>();
          call_for_rows<By, Function::softmax>(exec, shape, view, view,
                                               lse.template view<Right, 1>(), RowOptions{});
          exec.fence();
          EXPECT_TRUE(is_accurate(Function::softmax, sample.rows, sample.expected, x.read()))
              << By::name << ", " << columns << " columns, " << shape;
        };
        check.template operator()<BySerial>();
        check.template operator()<ByThreadVector>();
        check.template operator()<ByTeamVector>();
      }
  }
}

TYPED_TEST_P(InKernel, NoColumns) {
  const Rows<typename TypeParam::value> rows{3, 0, {}};
  const auto expected = reference(rows);
  for (const TeamShape& shape : team_shapes<typename TypeParam::exec>()) {
    const auto check = [&]<class By>() {
      const auto arrays =
          TestFixture::template called<By, Function::logsumexp, Right>(rows, shape, {});
      EXPECT_TRUE((TestFixture::template is_right<Function::logsumexp>(arrays, rows, expected)))
          << By::name << ", " << shape;
    };
    check.template operator()<BySerial>();
    check.template operator()<ByThreadVector>();
    check.template operator()<ByTeamVector>();
  }
}

/// A kernel whose rows lie in scratch memory, with an extent known at compile time, and which calls
/// the library many times.
template <class Exec, class X>
struct ScratchKernel {
  static constexpr int columns = 96;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = typename Exec::scratch_memory_space;
  using Row = Kokkos::View<X[columns], Scratch, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Matrix =
      Kokkos::View<X**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Matrix x;
  Matrix y;
  int calls;

  static int bytes(int team_size) {
    return static_cast<int>(2 * Row::shmem_size() +
                            TeamVectorSoftmax::scratch_size(columns, team_size));
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const Row in(member.team_scratch(0)), out(member.team_scratch(0));
    const int all = columns;
    const auto each = [&](const auto& body) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, all), body);
      member.team_barrier();
    };
    each([&](int c) { in(c) = x(member.league_rank(), c); });
    for (int i = 0; i < calls; ++i) {
      TeamVectorSoftmax::invoke(member, in, out);
      TeamVectorLogSumExp::invoke(member, out);
    }
    each([&](int c) { y(member.league_rank(), c) = out(c); });
  }
};

TYPED_TEST_P(InKernel, ScratchMemoryAndManyCalls) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::value;
  using Kernel = ScratchKernel<Exec, X>;
  if constexpr (std::is_same_v<X, T>) {
    const Exec exec;
    const auto& sample = normal_sample<X>(5, Kernel::columns);
    for (const TeamShape& shape : team_shapes<Exec>()) {
      Field<X, Exec> x(place_right({5, Kernel::columns})), y(place_right({5, Kernel::columns}));
      x.assign(sample.rows.values);
      Kokkos::parallel_for(
          "KokkosSoftmaxTest::scratch",
          Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<512>>(exec, 5, shape.team_size,
                                                              shape.vector_length)
              .set_scratch_size(0, Kokkos::PerTeam(Kernel::bytes(shape.team_size))),
          Kernel{x.template view<Right, 2>(), y.template view<Right, 2>(), 100});
      exec.fence();
      EXPECT_TRUE(is_accurate(Function::softmax, sample.rows, sample.expected, y.template read<T>(),
                              0, format_of<X>()))
          << shape;
      EXPECT_TRUE(y.gaps_are_unchanged());
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(InKernel, Widths, EveryTeam, StridedRows, Scales, HostileRows, InPlace,
                            NoColumns, ScratchMemoryAndManyCalls);
REGISTER_TYPED_TEST_SUITE_P(InKernelNearZero, DigitsAndBits);

}  // namespace
}  // namespace KokkosSoftmax::Test

#endif
