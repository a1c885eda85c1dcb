// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan computes the same result as the function at each execution, and refuses Views of a shape
// other than that for which it was made.

#include <cmath>
#include <support/Check.hpp>
#include <support/Instances.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;

template <class Exec, class X, class Y>
auto make_plan(Function function, const Exec& exec, const X& x, const Y& y,
               const Options& options) {
  if constexpr (Y::rank() + 1 == X::rank())
    return plan_logsumexp(exec, x, y, options);
  else if (function == Function::softmax)
    return plan_softmax(exec, x, y, options);
  else
    return plan_log_softmax(exec, x, y, options);
}

template <class C>
class Plans : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Memory = Field<T, Exec>;

  /// Calls body(x, y) with Views of the input and of the output.
  template <class Body>
  static void with_views(const Case& c, const Memory& x, const Memory& y, const Body& body) {
    const auto x_view = x.template view<Right, 2, const T>();
    if (c.function == Function::logsumexp)
      body(x_view, y.template view<Right, 1>());
    else
      body(x_view, y.template view<Right, 2>());
  }

  static Memory input(const Case& c) {
    Memory x(place<Right>(c.extents, c.x_offset));
    x.assign(rows_to_tensor(normal_rows<T>(1, product(c.extents)).values, c.extents, 1));
    return x;
  }

  static Memory output(const Case& c) { return Memory(place<Right>(c.y_extents(), c.y_offset)); }

  static std::vector<T> result_of_function(const Case& c) {
    const Memory x = input(c), y = output(c);
    with_views(c, x, y, [&](const auto& x_view, const auto& y_view) {
      call(c.function, Exec{}, x_view, y_view, c.options);
    });
    Exec{}.fence();
    return y.read();
  }

  /// Compares two executions of a plan with the function. The second execution uses the Views for
  /// which the plan was made.
  static void expect_bits_of_function(const Case& c) {
    const std::vector<T> expected = result_of_function(c);
    const Memory x = input(c), y = output(c), other_x = input(c), other_y = output(c);
    with_views(c, x, y, [&](const auto& x_view, const auto& y_view) {
      const auto plan = make_plan(c.function, Exec{}, x_view, y_view, c.options);
      with_views(c, other_x, other_y, [&](const auto& other_x_view, const auto& other_y_view) {
        if constexpr (std::is_same_v<decltype(y_view), decltype(other_y_view)>)
          plan.execute(other_x_view, other_y_view);
      });
      plan.execute(x_view, y_view);
      EXPECT_NE(plan.describe().find(to_string(c.function)), std::string::npos) << plan.describe();
    });
    Exec{}.fence();
    EXPECT_EQ(y.read(), expected) << ::testing::PrintToString(c);
    EXPECT_EQ(other_y.read(), expected) << ::testing::PrintToString(c);
  }

  static void expect_one_kernel_each(const Case& c) {
    const Memory x = input(c), y = output(c);
    with_views(c, x, y, [&](const auto& x_view, const auto& y_view) {
      const auto plan = make_plan(c.function, Exec{}, x_view, y_view, c.options);
      plan.execute(x_view, y_view);
      const Events events = record([&] {
        for (int i = 0; i < 10; ++i) plan.execute(x_view, y_view);
      });
      const Events of_function =
          record([&] { call(c.function, Exec{}, x_view, y_view, c.options); });
      ASSERT_EQ(of_function.kernels.size(), 1u) << ::testing::PrintToString(c);
      EXPECT_EQ(events.kernels.size(), 10u) << ::testing::PrintToString(c);
      for (const auto& kernel : events.kernels)
        EXPECT_EQ(kernel.label, of_function.kernels[0].label) << ::testing::PrintToString(c);
      EXPECT_EQ(events.fences, std::vector<std::string>{});
      EXPECT_EQ(events.allocations, std::vector<std::string>{});
      EXPECT_EQ(events.copies, std::vector<std::string>{});
      Exec{}.fence();
    });
  }

  template <class Body>
  static void for_each_case(const Body& body) {
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        for (const Extents& extents :
             {Extents{1000, 7}, Extents{65, 128}, Extents{3, 12671}, Extents{1, 100003}})
          for (const std::size_t offset : {0, 1})
            body(Case{.function = function,
                      .extents = extents,
                      .options = {.axis = axis, .scale = 0.5},
                      .x_offset = offset,
                      .y_offset = offset});
  }

  /// Makes a matrix of 6 x 8 in `memory`; `first` and `strides` in elements.
  static auto matrix(const Memory& memory, std::size_t first, const Extents& strides,
                     const Extents& extents = {6, 8}) {
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    return Kokkos::View<T**, Kokkos::LayoutStride, typename Memory::Device, Unmanaged>(
        memory.data() + first,
        Kokkos::LayoutStride(extents[0], strides[0], extents[1], strides[1]));
  }
};
TYPED_TEST_SUITE(Plans, ValueConfigs, ConfigName);

TYPED_TEST(Plans, BitsOfTheFunction) {
  TestFixture::for_each_case([](const Case& c) { TestFixture::expect_bits_of_function(c); });
}

TYPED_TEST(Plans, OneKernelNoFenceNoAllocation) {
  TestFixture::for_each_case([](const Case& c) { TestFixture::expect_one_kernel_each(c); });
}

TYPED_TEST(Plans, ForcedAlgorithm) {
  using Exec = typename TypeParam::exec;
  std::vector<Algorithm> algorithms = {Algorithm::subgroup, Algorithm::fused_scratch,
                                       Algorithm::online};
  if (!has_gpu_schedules<Exec>) algorithms = {Algorithm::host};
  for (const Algorithm algorithm : algorithms) {
    const Case c{.extents = {65, 15}, .options = {.algorithm = algorithm}};
    TestFixture::expect_bits_of_function(c);
    const auto x = TestFixture::input(c), y = TestFixture::output(c);
    TestFixture::with_views(c, x, y, [&](const auto& x_view, const auto& y_view) {
      const auto plan = make_plan(c.function, Exec{}, x_view, y_view, c.options);
      EXPECT_NE(plan.describe().find(std::string(to_string(algorithm)) + "{"), std::string::npos)
          << plan.describe();
    });
  }
}

TYPED_TEST(Plans, InPlace) {
  using Exec = typename TypeParam::exec;
  const Case c{.extents = {65, 33}};
  const auto expected = TestFixture::result_of_function(c);
  const auto x = TestFixture::input(c);
  const auto view = x.template view<Right, 2>();
  plan_softmax(Exec{}, view, view).execute(view, view);
  Exec{}.fence();
  EXPECT_EQ(x.read(), expected);
}

// The library allocates nothing either when the first work on an instance is the execution of a
// plan. Kokkos itself can allocate memory then.
TYPED_TEST(Plans, AllocatesNothingLater) {
  for (const auto& exec : other_instances(typename TypeParam::exec{}))
    for (const Function function : all_functions) {
      const Case c{.function = function,
                   .extents = {1, 100003},
                   .options = {.algorithm = has_gpu_schedules<typename TypeParam::exec>
                                                ? Algorithm::split_online
                                                : Algorithm::automatic}};
      const auto x = TestFixture::input(c), y = TestFixture::output(c);
      TestFixture::with_views(c, x, y, [&](const auto& x_view, const auto& y_view) {
        const auto plan = make_plan(function, exec, x_view, y_view, c.options);
        for (const auto& label : record([&] { plan.execute(x_view, y_view); }).allocations)
          EXPECT_EQ(label.find("KokkosSoftmax"), std::string::npos) << label;
        exec.fence();
      });
      EXPECT_EQ(y.read(), TestFixture::result_of_function(c));
    }
}

TYPED_TEST(Plans, OnTheDefaultInstance) {
  using Exec = typename TypeParam::exec;
  for (const Function function : all_functions) {
    const Case c{.function = function, .extents = {65, 33}};
    const auto x = TestFixture::input(c), y = TestFixture::output(c);
    TestFixture::with_views(c, x, y, [&](const auto& x_view, const auto& y_view) {
      if constexpr (std::decay_t<decltype(y_view)>::rank() == 1)
        plan_logsumexp(x_view, y_view).execute(x_view, y_view);
      else if (function == Function::softmax)
        plan_softmax(x_view, y_view).execute(x_view, y_view);
      else
        plan_log_softmax(x_view, y_view).execute(x_view, y_view);
    });
    Exec{}.fence();
    EXPECT_EQ(y.read(), TestFixture::result_of_function(c));
  }
}

TYPED_TEST(Plans, NothingToDo) {
  for (const Function function : all_functions)
    for (const Extents& extents : {Extents{0, 33}, Extents{0, 0}}) {
      const Case c{.function = function, .extents = extents};
      const auto x = TestFixture::input(c), y = TestFixture::output(c);
      TestFixture::with_views(c, x, y, [&](const auto& x_view, const auto& y_view) {
        const auto plan =
            make_plan(function, typename TypeParam::exec{}, x_view, y_view, c.options);
        EXPECT_TRUE(record([&] { plan.execute(x_view, y_view); }).kernels.empty());
        EXPECT_NE(plan.describe().find("nothing to do"), std::string::npos) << plan.describe();
      });
    }
}

TYPED_TEST(Plans, RefusesOtherShapes) {
  using Exec = typename TypeParam::exec;
  const Field<typename TypeParam::value, Exec> memory(place_right({400}));
  const auto matrix = [&](auto... arguments) { return TestFixture::matrix(memory, arguments...); };
  const auto x = matrix(0, Extents{8, 1}), y = matrix(200, Extents{8, 1});
  const auto plan = plan_softmax(Exec{}, x, y);
  const auto throws = [&](const auto& other_x, const auto& other_y,
                          std::initializer_list<std::string> parts) {
    return throws_with(parts, [&] { plan.execute(other_x, other_y); });
  };
  const std::string name = full_name(Function::softmax);
  EXPECT_TRUE(throws(matrix(0, Extents{8, 1}, Extents{6, 7}), y,
                     {name, "extent 1 of x", "7", "8", "plan"}));
  EXPECT_TRUE(throws(x, matrix(200, Extents{8, 1}, Extents{5, 8}),
                     {name, "extent 0 of y", "5", "6", "plan"}));
  EXPECT_TRUE(throws(matrix(0, Extents{16, 1}), y, {name, "stride 0 of x", "16", "8", "plan"}));
  EXPECT_TRUE(throws(x, matrix(200, Extents{1, 6}), {name, "stride 0 of y", "1", "8", "plan"}));
  EXPECT_TRUE(throws(matrix(1, Extents{8, 1}), y, {name, "address of x", "16", "plan"}));
  EXPECT_TRUE(throws(x, matrix(201, Extents{8, 1}), {name, "address of y", "16", "plan"}));
  EXPECT_TRUE(throws(x, matrix(8, Extents{8, 1}), {name, "overlap"}));
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

TYPED_TEST(Plans, RefusesWhatTheFunctionRefuses) {
  using Exec = typename TypeParam::exec;
  const Field<typename TypeParam::value, Exec> memory(place_right({400}));
  const auto x = TestFixture::matrix(memory, 0, {8, 1}),
             y = TestFixture::matrix(memory, 200, {8, 1});
  const std::string name = full_name(Function::log_softmax);
  const auto throws = [&](const auto& other_y, const Options& options, const std::string& part) {
    return throws_with({name, part}, [&] { plan_log_softmax(Exec{}, x, other_y, options); });
  };
  EXPECT_TRUE(throws(y, {.axis = 2}, "axis"));
  EXPECT_TRUE(throws(y, {.scale = INFINITY}, "scale"));
  EXPECT_TRUE(throws(TestFixture::matrix(memory, 8, {8, 1}), {}, "overlap"));
  EXPECT_TRUE(throws(TestFixture::matrix(memory, 200, {8, 1}, {6, 7}), {}, "extents"));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
