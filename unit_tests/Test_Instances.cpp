// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The effects of a call on the caller's execution space. Its kernels run there and nowhere else,
// with the labels of the project, without fences and, after the first call, without allocations.

#include <stdexcept>
#include <support/Algorithms.hpp>
#include <support/Check.hpp>
#include <support/Devices.hpp>
#include <support/Instances.hpp>
#include <support/Recorder.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Instances : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Right = Kokkos::LayoutRight;

  /// Memory for calls on matrices of these extents.
  struct Operands {
    Field<T, Exec> x, y, lse;

    Operands(const Extents& extents, int axis)
        : x(place_right(extents)),
          y(place_right(extents)),
          lse(place_right(without_axis(extents, axis))) {
      x.assign(normal_rows<T>(extents[0], extents[1]).values);
    }

    void call_on(const Exec& exec, Function function, const Options& options) const {
      const auto x_view = x.template view<Right, 2, const T>();
      if (function == Function::logsumexp)
        call(function, exec, x_view, lse.template view<Right, 1>(), options);
      else
        call(function, exec, x_view, y.template view<Right, 2>(), options);
    }
  };

  /// Returns the events of the second of two calls.
  static Events second_call(const Exec& exec, Function function, const Extents& extents,
                            const Options& options) {
    const Operands operands(extents, options.axis);
    operands.call_on(exec, function, options);
    exec.fence();
    const Events events = record([&] { operands.call_on(exec, function, options); });
    exec.fence();
    return events;
  }

  static void expect_on_instance(const Events& events, const Exec& exec, Function function) {
    const std::string prefix = std::string("KokkosSoftmax::") + to_string(function);
    EXPECT_FALSE(events.kernels.empty());
    for (const auto& kernel : events.kernels) {
      EXPECT_EQ(kernel.device, Kokkos::Tools::Experimental::device_id(exec)) << kernel.label;
      EXPECT_EQ(kernel.label.rfind(prefix, 0), 0u) << kernel.label;
    }
  }

  static void expect_undisturbed(const Events& events) {
    EXPECT_EQ(events.regions, std::vector<std::string>{});
    EXPECT_EQ(events.fences, std::vector<std::string>{});
    EXPECT_EQ(events.allocations, std::vector<std::string>{});
    EXPECT_EQ(events.copies, std::vector<std::string>{});
  }

  template <class Body>
  static void for_each_shape(const Body& body) {
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        for (const Extents& extents : {Extents{1000, 7}, Extents{127, 129}, Extents{64, 1024},
                                       Extents{3, 12671}, Extents{1, 100003}, Extents{32769, 1}})
          body(function, extents, Options{.axis = axis});
  }
};
TYPED_TEST_SUITE(Instances, ValueConfigs, ConfigName);

TYPED_TEST(Instances, EveryKernelOnTheCallersInstance) {
  using Exec = typename TypeParam::exec;
  const auto others = other_instances(Exec{});
  // In Kokkos 4.7 all instances of Serial have the same id, and so have all instances of OpenMP. On
  // these spaces the test detects only a kernel in another space.
  ASSERT_TRUE(is_host_space<Exec> || Kokkos::Tools::Experimental::device_id(others[0]) !=
                                         Kokkos::Tools::Experimental::device_id(Exec{}))
      << "the test can't tell instances apart";
  TestFixture::for_each_shape(
      [&](Function function, const Extents& extents, const Options& options) {
        for (const Exec& exec : {Exec{}, others.front(), others.back()})
          TestFixture::expect_on_instance(
              TestFixture::second_call(exec, function, extents, options), exec, function);
      });
}

TYPED_TEST(Instances, NoFenceNoAllocationNoCopy) {
  using Exec = typename TypeParam::exec;
  const Exec exec = other_instances(Exec{})[0];
  TestFixture::for_each_shape(
      [&](Function function, const Extents& extents, const Options& options) {
        TestFixture::expect_undisturbed(TestFixture::second_call(exec, function, extents, options));
      });
}

struct ForcedCall {
  Extents extents;
  int axis;
};

/// Calls that an algorithm must serve by one kernel. None for `split`, which refuses logsumexp, and
/// for `host`, which the other tests of this file run.
std::vector<ForcedCall> calls_that_force(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::packed:
    case Algorithm::subgroup:
      return {{{5000, 15}, 1}};
    case Algorithm::fused_registers:
      return {{{127, 15}, 1}};
    case Algorithm::fused_scratch:
      return {{{127, 1025}, 1}};
    case Algorithm::online:
      return {{{3, 32769}, 1}};
    case Algorithm::split_online:
      return {{{3, 100003}, 1}};
    case Algorithm::cluster:
      return {{{3, 100003}, 1}, {{3, 100000}, 1}};
    case Algorithm::column:
    case Algorithm::split_column:
    case Algorithm::cluster_column:
      return {{{1025, 127}, 0}};
    case Algorithm::split:
    case Algorithm::two_pass_column:
    case Algorithm::host:
    case Algorithm::automatic:
      return {};
  }
  throw std::logic_error("no such algorithm");
}

template <class C>
class ForcedInstances : public Instances<C> {};
TYPED_TEST_SUITE(ForcedInstances, ScheduleConfigs, ConfigName);

// A call is one kernel, that of the forced algorithm, with the label of docs/tools.md.
TYPED_TEST(ForcedInstances, OneKernel) {
  for (const Algorithm algorithm : all_algorithms)
    for (const auto& [extents, axis] : calls_that_force(algorithm))
      for (const Function function : all_functions) {
        const bool in_clusters =
            algorithm == Algorithm::cluster || algorithm == Algorithm::cluster_column;
        if (in_clusters &&
            (!has_clusters(typename TypeParam::exec{}) || function == Function::logsumexp))
          continue;  // these refuse the call, see Test_Algorithms
        const Options options{.axis = axis, .algorithm = algorithm};
        const Events events =
            TestFixture::second_call(typename TypeParam::exec{}, function, extents, options);
        ASSERT_EQ(events.kernels.size(), 1u) << to_string(algorithm);
        EXPECT_EQ(events.kernels[0].label, std::string("KokkosSoftmax::") + to_string(function) +
                                               "[" + std::string(to_string(algorithm)) + "]");
        TestFixture::expect_undisturbed(events);
      }
}

// The kernels of a call in two passes, with labels that tell them apart. logsumexp has no second
// pass.
TYPED_TEST(ForcedInstances, TwoPassesAreThreeKernels) {
  const Options options{.axis = 0, .algorithm = Algorithm::two_pass_column};
  for (const Function function : all_functions) {
    const typename TypeParam::exec exec;
    const Events events = TestFixture::second_call(exec, function, {1025, 127}, options);
    std::vector<std::string> labels;
    for (const auto& kernel : events.kernels) labels.push_back(kernel.label);
    const std::string begin =
        std::string("KokkosSoftmax::") + to_string(function) + "[two_pass_column: ";
    std::vector<std::string> expected{begin + "reduce]", begin + "merge]"};
    if (function != Function::logsumexp) expected.push_back(begin + "write]");
    EXPECT_EQ(labels, expected);
    TestFixture::expect_on_instance(events, exec, function);
    TestFixture::expect_undisturbed(events);
  }
}

TYPED_TEST(Instances, NothingRunsForEmptyOperands) {
  for (const Function function : all_functions)
    for (const Extents& extents : {Extents{0, 33}, Extents{0, 0}}) {
      const Events events =
          TestFixture::second_call(typename TypeParam::exec{}, function, extents, {});
      EXPECT_TRUE(events.kernels.empty());
      TestFixture::expect_undisturbed(events);
    }
}

// Alternating calls on two instances, without a fence between them. Only on GPUs do they run at the
// same time.
TYPED_TEST(Instances, TwoInTurn) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using Right = Kokkos::LayoutRight;
  const auto instances = other_instances(Exec{});
  for (const std::size_t columns : {33, 1025, 32769}) {
    const auto rows = normal_rows<T>(8, columns);
    const Case c{.extents = {8, columns}};
    Field<T, Exec> x(place_right(c.extents));
    std::vector<Field<T, Exec>> y;
    for (int i = 0; i < 4; ++i) y.emplace_back(place_right(c.extents));
    x.assign(rows.values);
    const auto scale = [](int i) { return 0.5 * (i + 1); };
    for (int i = 0; i < 4; ++i)
      softmax(instances[i % instances.size()], x.template view<Right, 2, const T>(),
              y[i].template view<Right, 2>(), {.scale = scale(i)});
    for (const Exec& exec : instances) exec.fence();
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(check_output(c, rows, reference(rows, scale(i)), y[i]));
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
