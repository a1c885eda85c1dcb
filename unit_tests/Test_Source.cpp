// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source of the tests' own, whose values depend on the column, through every schedule. So a
// schedule gives a source the right column for each entry, and computes with nothing but values.

#include <dispatch/KernelRegistry.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

using namespace KokkosSoftmax::Impl;

/// v = scale * x + column
template <class V>
class ColumnSource {
 public:
  using Types = V;
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr bool value_is_scaled_raw = false;

  KOKKOS_FUNCTION explicit ColumnSource(const RowArgs<V>& arguments)
      : m_scale(arguments.scale), m_padding(arguments.padding) {}

  KOKKOS_FUNCTION X padding() const { return m_padding; }
  KOKKOS_FUNCTION T value(T x, std::int64_t column) const {
    return m_scale * x + static_cast<T>(column);
  }

 private:
  T m_scale;
  X m_padding;
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

/// Rows of the values themselves.
template <class T>
Rows<T> with_columns(const Rows<T>& rows, T scale) {
  Rows<T> values = rows;
  for (std::size_t i = 0; i < values.values.size(); ++i)
    values.values[i] = scale * rows.values[i] + static_cast<T>(i % rows.columns);
  return values;
}

template <class C>
class Source : public ::testing::Test {
 protected:
  using Exec = typename C::exec;
  using T = typename C::value;
  using V = ValueTypes<T>;
  using S = ShapesOf<Exec, V>;
  static constexpr double scale = 0.75;

  /// Runs all shapes of a list that serve a matrix; at least one must.
  template <Operation operation, Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, class List>
  static void run(std::size_t rows, std::size_t columns, int axis) {
    int served = 0;
    run_all<operation, algorithm, Launch, Kernel>(typename Ends<List>::type{}, rows, columns, axis,
                                                  served);
    EXPECT_GT(served, 0) << to_string(algorithm) << " serves no matrix of " << columns
                         << " columns";
  }

  /// All operations that the schedule is for.
  template <Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, class List>
  static void run_reads_and_writes(std::size_t rows, std::size_t columns, int axis) {
    run<Operation::softmax, algorithm, Launch, Kernel, List>(rows, columns, axis);
    run<Operation::log_softmax, algorithm, Launch, Kernel, List>(rows, columns, axis);
    run<Operation::logsumexp, algorithm, Launch, Kernel, List>(rows, columns, axis);
  }

  template <Operation operation>
  static Case case_of(std::size_t rows, std::size_t columns, int axis) {
    return {.function = operation == Operation::softmax       ? Function::softmax
                        : operation == Operation::log_softmax ? Function::log_softmax
                                                              : Function::logsumexp,
            .extents = axis == 1 ? Extents{rows, columns} : Extents{columns, rows},
            .options = {.axis = axis, .scale = scale}};
  }

  /// Calls launch(context) and checks y. False if `serves(context)` says no.
  template <Operation operation, class Serves, class DoLaunch>
  static bool check(std::size_t count, std::size_t columns, int axis, const Serves& serves,
                    const DoLaunch& launch) {
    using L = Kokkos::LayoutRight;
    const Case c = case_of<operation>(count, columns, axis);
    const auto& rows = normal_sample<T>(count, columns).rows;
    Field<T, Exec> x(place<L>(c.extents, 0)), y(place<L>(c.y_extents(), 0));
    x.assign(rows_to_tensor(rows.values, c.extents, axis));
    const auto problem =
        make_row_problem(strided_array(x.template view<L, 2, const T>()),
                         operation == Operation::logsumexp ? strided_array(y.template view<L, 1>())
                                                           : strided_array(y.template view<L, 2>()),
                         axis);
    const Exec exec;
    const LaunchContext<Exec, V> context(exec, problem, c.options);
    if (!serves(context)) return false;
    launch(context);
    exec.fence();
    const auto values = with_columns(rows, static_cast<T>(scale));
    EXPECT_TRUE(check_output(c, values, reference(values, 1), y));
    return true;
  }

 private:
  template <Operation operation, Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, class... Shape>
  static void run_all(ShapeList<Shape...>, std::size_t rows, std::size_t columns, int axis,
                      int& served) {
    using Op = OpOf<operation, V>;
    const auto run_one = [&]<class L>(const Schedule& schedule) {
      served += check<operation>(
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
    (run_one.template
     operator()<Launch<algorithm, Exec, Shape, Kernel<Exec, Op, ColumnSource<V>, Shape>, Op, V>>(
         make_schedule<Shape>(algorithm)),
     ...);
  }
};
TYPED_TEST_SUITE(Source, ValueConfigs, ConfigName);

TYPED_TEST(Source, Packed) {
  TestFixture::template run_reads_and_writes<Algorithm::packed, TeamLaunch, PackedKernel,
                                             typename TestFixture::S::Packed>(77, 9, 1);
}

TYPED_TEST(Source, Subgroup) {
  TestFixture::template run_reads_and_writes<Algorithm::subgroup, TeamLaunch, SubgroupKernel,
                                             typename TestFixture::S::Subgroup>(77, 8, 1);
}

TYPED_TEST(Source, FusedRegisters) {
  TestFixture::template run_reads_and_writes<Algorithm::fused_registers, TeamLaunch,
                                             FusedRegistersKernel,
                                             typename TestFixture::S::FusedRegisters>(5, 16, 1);
}

TYPED_TEST(Source, FusedScratch) {
  TestFixture::template run_reads_and_writes<Algorithm::fused_scratch, TeamLaunch,
                                             FusedScratchKernel,
                                             typename TestFixture::S::FusedScratch>(5, 1000, 1);
}

TYPED_TEST(Source, Online) {
  TestFixture::template run_reads_and_writes<Algorithm::online, TeamLaunch, OnlineKernel,
                                             typename TestFixture::S::Online>(5, 10001, 1);
}

TYPED_TEST(Source, Split) {
  using S = typename TestFixture::S;
  TestFixture::template run<Operation::softmax, Algorithm::split, SplitLaunch, SplitOnceKernel,
                            typename S::SplitOnce>(1, 16, 1);
  TestFixture::template run<Operation::softmax, Algorithm::split, SplitLaunch, SplitHeldKernel,
                            typename S::Split>(5, 1024, 1);
}

TYPED_TEST(Source, SplitOnline) {
  TestFixture::template run_reads_and_writes<Algorithm::split_online, SplitLaunch,
                                             SplitOnlineKernel,
                                             typename TestFixture::S::SplitOnline>(5, 10001, 1);
}

TYPED_TEST(Source, Column) {
  using S = typename TestFixture::S;
  TestFixture::template run<Operation::softmax, Algorithm::column, TeamLaunch, ColumnHeldKernel,
                            typename S::ColumnHeld>(70, 16, 0);
  TestFixture::template run<Operation::softmax, Algorithm::column, TeamLaunch, ColumnHeldKernel,
                            typename S::ManyColumnsHeld>(72, 4, 0);
  TestFixture::template run_reads_and_writes<Algorithm::column, TeamLaunch, ColumnKernel,
                                             typename S::LongColumn>(70, 1001, 0);
}

TYPED_TEST(Source, SplitColumn) {
  TestFixture::template run_reads_and_writes<Algorithm::split_column, SplitLaunch,
                                             SplitColumnKernel,
                                             typename TestFixture::S::SplitColumn>(7, 3001, 0);
}

#if defined(KOKKOS_ENABLE_CUDA)
TYPED_TEST(Source, Cluster) {
  using Exec = typename TestFixture::Exec;
  if constexpr (is_cuda<Exec>)
    TestFixture::template run<Operation::softmax, Algorithm::cluster, ClusterLaunch, ClusterKernel,
                              typename TestFixture::S::Cluster>(5, 50001, 1);
}
#endif

TYPED_TEST(Source, Host) {
  using Exec = typename TestFixture::Exec;
  using V = typename TestFixture::V;
  if constexpr (is_host_space<Exec>) {
    const auto always = [](const auto&) { return true; };
    for (const int axis : {0, 1})
      for (const std::size_t columns : {7, 512, 2000}) {
        TestFixture::template check<Operation::softmax>(
            9, columns, axis, always, [](const auto& context) {
              HostLaunch<Exec, SoftmaxOp<V>, ColumnSource<V>>::launch(context);
            });
        TestFixture::template check<Operation::logsumexp>(
            9, columns, axis, always, [](const auto& context) {
              HostLaunch<Exec, LogSumExpOp<V>, ColumnSource<V>>::launch(context);
            });
      }
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
