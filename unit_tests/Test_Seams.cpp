// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source and an operation of the tests' own, through every schedule. So a schedule gives a source
// the right column for each entry, and reduces and writes what the operation says.

#include <dispatch/KernelRegistry.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <seams/ColumnSource.hpp>
#include <seams/SquareSumOp.hpp>
#include <support/Check.hpp>
#include <utility>

namespace KokkosSoftmax::Test {
namespace {

using namespace KokkosSoftmax::Impl;

template <class... Op>
struct OpList {};

/// The library's operations with ColumnSource.
struct WithColumnSource {
  static constexpr const char* name = "ColumnSource";
  template <class V>
  using Source = ColumnSource<V>;
  template <class V>
  using FirstOp = OpList<SoftmaxOp<V>>;
  template <class V>
  using AllOps = OpList<SoftmaxOp<V>, LogSoftmaxOp<V>, LogSumExpOp<V>>;

  template <class T, class Exec>
  static ::testing::AssertionResult check(const Case& c, const Rows<T>& rows,
                                          const Field<T, Exec>& y) {
    Rows<T> values = rows;
    for (std::size_t i = 0; i < values.values.size(); ++i)
      values.values[i] =
          static_cast<T>(c.options.scale) * rows.values[i] + static_cast<T>(i % rows.columns);
    return check_output(c, values, reference(values, 1), y);
  }
};

/// SquareSumOp with the library's source.
struct WithSquareSumOp {
  static constexpr const char* name = "SquareSumOp";
  template <class V>
  using Source = PlainSource<V>;
  template <class V>
  using FirstOp = OpList<SquareSumOp<V>>;
  template <class V>
  using AllOps = FirstOp<V>;

  template <class T, class Exec>
  static ::testing::AssertionResult check(const Case& c, const Rows<T>& rows,
                                          const Field<T, Exec>& y) {
    const std::vector<T> results = tensor_to_rows(y.template read<T>(), c.extents, c.options.axis);
    for (std::size_t r = 0; r < rows.count; ++r) {
      long double sum = 0;
      for (std::size_t j = 0; j < rows.columns; ++j) {
        const long double v = c.options.scale * rows.values[r * rows.columns + j];
        sum += v * v;
      }
      const long double bound = 16 * std::numeric_limits<T>::epsilon() * sum;
      for (std::size_t j = 0; j < rows.columns; ++j)
        if (!(std::abs(results[r * rows.columns + j] - sum) <= bound))
          return ::testing::AssertionFailure()
                 << "row " << r << ", column " << j << ": " << results[r * rows.columns + j]
                 << ", expected " << sum;
    }
    return y.gaps_are_unchanged() ? ::testing::AssertionSuccess()
                                  : ::testing::AssertionFailure() << "wrote beside y";
  }
};

template <class Exec, class X, class With_>
struct SeamConfig : Config<Exec, X> {
  using With = With_;
};

template <class... Exec>
auto seam_configs(TypeList<Exec...>) {
  return typename Concatenated<
      TypeList<SeamConfig<Exec, double, WithColumnSource>,
               SeamConfig<Exec, float, WithColumnSource>, SeamConfig<Exec, double, WithSquareSumOp>,
               SeamConfig<Exec, float, WithSquareSumOp>>...>::type{};
}
using SeamConfigs = decltype(seam_configs(TestedSpaces{}))::types;

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
  using S = ShapesOf<Exec, V>;
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

  template <class Op>
  static Case case_of(std::size_t rows, std::size_t columns, int axis) {
    return {.function = std::is_same_v<Op, LogSumExpOp<V>>    ? Function::logsumexp
                        : std::is_same_v<Op, LogSoftmaxOp<V>> ? Function::log_softmax
                                                              : Function::softmax,
            .extents = axis == 1 ? Extents{rows, columns} : Extents{columns, rows},
            .options = {.axis = axis, .scale = 0.75}};
  }

  /// Calls launch(context) and checks y. False if `serves(context)` says no.
  template <class Op, class Serves, class DoLaunch>
  static bool check(std::size_t count, std::size_t columns, int axis, const Serves& serves,
                    const DoLaunch& launch) {
    using L = Kokkos::LayoutRight;
    const Case c = case_of<Op>(count, columns, axis);
    const auto& rows = normal_sample<T>(count, columns).rows;
    Field<T, Exec> x(place<L>(c.extents, 0)), y(place<L>(c.y_extents(), 0));
    x.assign(rows_to_tensor(rows.values, c.extents, axis));
    const auto problem =
        make_row_problem(strided_array(x.template view<L, 2, const T>()),
                         Op::writes_entries ? strided_array(y.template view<L, 2>())
                                            : strided_array(y.template view<L, 1>()),
                         axis);
    const Exec exec;
    const LaunchContext<Exec, V> context(exec, problem, c.options);
    if (!serves(context)) return false;
    launch(context);
    exec.fence();
    EXPECT_TRUE(With::check(c, rows, y)) << Op::name;
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
            L::prepare(context.exec);
            L::launch(context);
          });
    };
    return (run_one.template
            operator()<Launch<algorithm, Exec, Shape, Kernel<Exec, Op, Source, Shape>, Op, V>>(
                make_schedule<Shape>(algorithm)) |
            ...);
  }
};
TYPED_TEST_SUITE(Seams, SeamConfigs, SeamName);

#define SEAMS_TEST(name, ops, algorithm, Launch, Kernel, List, ...)                               \
  TYPED_TEST(Seams, name) {                                                                       \
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

#if defined(KOKKOS_ENABLE_CUDA)
TYPED_TEST(Seams, Cluster) {
  using F = TestFixture;
  if constexpr (is_cuda<typename F::Exec>)
    F::template run<Algorithm::cluster, ClusterLaunch, ClusterKernel, typename F::S::Cluster>(
        typename F::FirstOp{}, 5, 50001, 1);
}
#endif

TYPED_TEST(Seams, Host) {
  using F = TestFixture;
  if constexpr (is_host_space<typename F::Exec>)
    for (const int axis : {0, 1})
      for (const std::size_t columns : {7, 512, 2000})
        F::run_host(typename F::AllOps{}, 9, columns, axis);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
