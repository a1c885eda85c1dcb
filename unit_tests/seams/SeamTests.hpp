// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_SEAMTESTS_HPP
#define KOKKOSSOFTMAX_TEST_SEAMTESTS_HPP

/// \file
/// Runs a source or an operation of the tests' own through every schedule. So a schedule gives a
/// source the right column for each entry, and reduces and writes what the operation says.
///
///   INSTANTIATE_TYPED_TEST_SUITE_P(name, Seams, SeamConfigs<With>, SeamName);
///
/// With has the name, Source<V>, FirstOp<V> and AllOps<V> (an OpList each), and check(case, rows,
/// y).

#include <dispatch/KernelRegistry.hpp>
#include <dispatch/OpOf.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <launch/HostLaunch.hpp>
#include <support/Check.hpp>
#include <utility>

namespace KokkosSoftmax::Test {
namespace {

using namespace KokkosSoftmax::Impl;

template <class... Op>
struct OpList {};

template <class Exec, class X, class With_>
struct SeamConfig : Config<Exec, X> {
  using With = With_;
};

#ifdef KOKKOS_ENABLE_SERIAL
inline constexpr bool has_serial_beside =
    !std::is_same_v<Kokkos::Serial, Kokkos::DefaultHostExecutionSpace>;
#else
inline constexpr bool has_serial_beside = false;
#endif

/// float on GPUs; there double would take half a minute more to compile. Two spaces of hosts share
/// the types, because their kernels are instances of the same templates.
template <class Exec, class With>
using SeamConfigsOf = std::conditional_t<
    !is_host_space<Exec> || !std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>,
    TypeList<SeamConfig<Exec, float, With>>,
    std::conditional_t<has_serial_beside, TypeList<SeamConfig<Exec, double, With>>,
                       TypeList<SeamConfig<Exec, double, With>, SeamConfig<Exec, float, With>>>>;
template <class With, class... Exec>
auto seam_configs(TypeList<Exec...>) {
  return typename Concatenated<SeamConfigsOf<Exec, With>...>::type{};
}
template <class With>
using SeamConfigs = typename decltype(seam_configs<With>(ScheduleSpaces{}))::types;

struct SeamName {
  template <class C>
  static std::string GetName(int) {
    return std::string(C::exec::name()) + "_" + C::values::name + "_" + C::With::name;
  }
};

/// The first and the last shape of a list: on GPUs the fastest and the most general kernel.
template <class List>
struct Ends {
  using type = List;
};
template <class First, class Second, class... Rest>
struct Ends<ShapeList<First, Second, Rest...>> {
  template <class S, class... More>
  struct Last : Last<More...> {};
  template <class S>
  struct Last<S> {
    using type = S;
  };
  using type = ShapeList<First, typename Last<Second, Rest...>::type>;
};

template <class C>
class Seams : public ::testing::Test {
 protected:
  using Exec = typename C::exec;
  using With = typename C::With;
  using T = typename C::value;
  using V = ValueTypes<T>;
  using S = ShapesOf<Exec, PlainSource<V>>;
  using Source = typename With::template Source<V>;
  using FirstOp = typename With::template FirstOp<V>;
  /// On GPUs, double has only the first operation, because each kernel takes half a second to
  /// compile. The access modes of double are among those of float.
  using AllOps = std::conditional_t<is_host_space<Exec> || sizeof(T) == 4,
                                    typename With::template AllOps<V>, FirstOp>;

  /// Runs the operations with all shapes of a list that serve a matrix; at least one must.
  template <Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, class List, class... Op>
  static void run(OpList<Op...>, std::size_t rows, std::size_t columns, int axis) {
    const auto served_by = [&]<class O>(O) {
      return run_shapes<O, algorithm, Launch, Kernel>(typename Ends<List>::type{}, rows, columns,
                                                      axis);
    };
    EXPECT_TRUE((served_by(std::type_identity<Op>{}) && ...))
        << to_string(algorithm) << " serves no matrix of " << columns << " columns";
  }

  /// The function of the library that has the name of an output; softmax for other outputs.
  static Function function_named(const std::string& name) {
    for (const Function function : all_functions)
      if (name == to_string(function)) return function;
    return Function::softmax;
  }

  static Case case_of(const char* output, std::size_t rows, std::size_t columns, int axis) {
    return {.function = function_named(output),
            .extents = axis == 1 ? Extents{rows, columns} : Extents{columns, rows},
            .options = {.axis = axis, .scale = 0.75}};
  }

  /// Calls launch(context) for each output of an operation and checks y. False if
  /// `serves(context)` says no.
  template <class Op, class Serves, class DoLaunch>
  static bool check(std::size_t count, std::size_t columns, int axis, const Serves& serves,
                    const DoLaunch& launch) {
    bool all = true;
    for (int function = 0; function < static_cast<int>(Op::Outputs::size); ++function)
      all &= check_output_number<Op>(function, count, columns, axis, serves, launch);
    return all;
  }
  template <class Op, class Serves, class DoLaunch>
  static bool check_output_number(int function, std::size_t count, std::size_t columns, int axis,
                                  const Serves& serves, const DoLaunch& launch) {
    using L = Kokkos::LayoutRight;
    const Case c = case_of(Op::Outputs::names[function], count, columns, axis);
    const auto& rows = normal_sample<T>(count, columns).rows;
    Field<T, Exec> x(place<L>(c.extents, 0)), y(place<L>(c.y_extents(), 0));
    x.assign(rows_to_tensor(rows.values, c.extents, axis));
    auto problem = make_row_problem(strided_array(x.template view<L, 2, const T>()),
                                    Op::writes_entries ? strided_array(y.template view<L, 2>())
                                                       : strided_array(y.template view<L, 1>()),
                                    axis);
    problem.function = function;
    const Exec exec;
    const LaunchContext<Exec, V> context(exec, problem, c.options);
    if (!serves(context)) return false;
    launch(context);
    exec.fence();
    EXPECT_TRUE(With::check(c, rows, y)) << Op::Outputs::names[function];
    return true;
  }

  /// The same with a schedule of hosts.
  template <class... Op>
  static void run_host(OpList<Op...>, std::size_t rows, std::size_t columns, int axis) {
    (check_host<Op>(rows, columns, axis), ...);
  }

 private:
  template <class Op>
  static void check_host(std::size_t rows, std::size_t columns, int axis) {
    check<Op>(
        rows, columns, axis, [](const auto&) { return true; },
        [](const auto& context) { HostLaunch<Exec, Op, Source>::launch(context); });
  }

  template <class O, Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, class... Shape>
  static bool run_shapes(ShapeList<Shape...>, std::size_t rows, std::size_t columns, int axis) {
    using Op = typename O::type;
    const auto run_one = [&]<class L>(const Schedule& schedule) {
      return check<Op>(
          rows, columns, axis,
          [&](const auto& context) {
            return context.access_serves(schedule) && holds(schedule, context.problem().columns) &&
                   L::fits_device(context);
          },
          [](const auto& context) {
            L::prepare(context);
            L::launch(context);
          });
    };
    return (run_one.template
            operator()<Launch<algorithm, Exec, Shape, Kernel<Exec, Op, Source, Shape>, Op, V>>(
                make_schedule<Shape>(algorithm)) |
            ...);
  }
};
TYPED_TEST_SUITE_P(Seams);

#define SEAMS_TEST(name, ops, algorithm, Launch, Kernel, List, ...)                               \
  TYPED_TEST_P(Seams, name) {                                                                     \
    using F = TestFixture;                                                                        \
    F::template run<Algorithm::algorithm, Launch, Kernel, typename F::S::List>(typename F::ops{}, \
                                                                               __VA_ARGS__);      \
  }

SEAMS_TEST(Packed, AllOps, packed, TeamLaunch, PackedKernel, Packed, 77, 9, 1)
SEAMS_TEST(Subgroup, AllOps, subgroup, TeamLaunch, SubgroupKernel, Subgroup, 77, 8, 1)
SEAMS_TEST(FusedRegisters, AllOps, fused_registers, TeamLaunch, FusedRegistersKernel,
           FusedRegisters, 5, 16, 1)
SEAMS_TEST(FusedScratch, AllOps, fused_scratch, TeamLaunch, FusedScratchKernel, FusedScratch, 5,
           1000, 1)
SEAMS_TEST(Online, AllOps, online, TeamLaunch, OnlineKernel, Online, 5, 10001, 1)
SEAMS_TEST(SplitOnce, FirstOp, split, SplitLaunch, SplitOnceKernel, SplitOnce, 1, 16, 1)
SEAMS_TEST(Split, FirstOp, split, SplitLaunch, SplitHeldKernel, Split, 5, 1024, 1)
SEAMS_TEST(SplitOnline, AllOps, split_online, SplitLaunch, SplitOnlineKernel, SplitOnline, 5, 10001,
           1)
SEAMS_TEST(ColumnHeld, FirstOp, column, TeamLaunch, ColumnHeldKernel, ColumnHeld, 70, 16, 0)
SEAMS_TEST(ManyColumnsHeld, FirstOp, column, TeamLaunch, ColumnHeldKernel, ManyColumnsHeld, 72, 4,
           0)
SEAMS_TEST(Column, AllOps, column, TeamLaunch, ColumnKernel, LongColumn, 70, 1001, 0)
SEAMS_TEST(SplitColumn, AllOps, split_column, SplitLaunch, SplitColumnKernel, SplitColumn, 7, 3001,
           0)
SEAMS_TEST(TwoPassColumn, FirstOp, two_pass_column, TwoPassLaunch, TwoPassColumnKernels,
           TwoPassColumn, 77, 3001, 0)

TYPED_TEST_P(Seams, Cluster) {
  using F = TestFixture;
  if constexpr (is_cuda<typename F::Exec>)
    F::template run<Algorithm::cluster, ClusterLaunch, ClusterKernel, typename F::S::Cluster>(
        typename F::FirstOp{}, 5, 50001, 1);
}

TYPED_TEST_P(Seams, ClusterColumn) {
  using F = TestFixture;
  if constexpr (is_cuda<typename F::Exec>)
    F::template run<Algorithm::cluster_column, ClusterLaunch, ClusterColumnKernel,
                    typename F::S::ClusterColumn>(typename F::FirstOp{}, 70, 1001, 0);
}

TYPED_TEST_P(Seams, Host) {
  using F = TestFixture;
  if constexpr (is_host_space<typename F::Exec>)
    for (const int axis : {0, 1})
      for (const std::size_t columns : {7, 512, 2000})
        F::run_host(typename F::AllOps{}, 9, columns, axis);
}

REGISTER_TYPED_TEST_SUITE_P(Seams, Packed, Subgroup, FusedRegisters, FusedScratch, Online,
                            SplitOnce, Split, SplitOnline, ColumnHeld, ManyColumnsHeld, Column,
                            SplitColumn, TwoPassColumn, Cluster, ClusterColumn, Host);

}  // namespace
}  // namespace KokkosSoftmax::Test

#endif
