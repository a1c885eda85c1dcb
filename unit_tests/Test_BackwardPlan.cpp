// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan of a backward pass computes the same result as the backward pass at each execution, and
// refuses Views of a shape other than that for which it was made.

#include <algorithm>
#include <limits>
#include <support/Algorithms.hpp>
#include <support/Backward.hpp>
#include <support/Instances.hpp>
#include <support/Recorder.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;

template <class Exec, class Y, class DY, class DX>
auto make_backward_plan(BackwardFunction function, const Exec& exec, const Y& y, const DY& dy,
                        const DX& dx, const Options& options) {
  if (function == BackwardFunction::softmax_backward)
    return plan_softmax_backward(exec, y, dy, dx, options);
  else
    return plan_log_softmax_backward(exec, y, dy, dx, options);
}

struct BackwardPlanCase {
  BackwardFunction function = BackwardFunction::softmax_backward;
  Extents extents = {};
  Options options = {};
  std::size_t offset = 0;  // elements between an aligned address and the first element
};

std::ostream& operator<<(std::ostream& out, const BackwardPlanCase& c) {
  return out << to_string(c.function) << " of extents (" << c.extents[0] << ", " << c.extents[1]
             << "), axis " << c.options.axis << ", " << to_string(c.options.algorithm)
             << ", offset " << c.offset;
}

/// The arrays of a call and the result that is expected. `reversed`: with other values, those of
/// the rows from the last entry of the last row to the first one.
template <class X, class T, class Exec>
struct BackwardArrays {
  explicit BackwardArrays(const BackwardPlanCase& c, bool reversed = false)
      : y(place<Right>(c.extents, c.offset)),
        dy(place<Right>(c.extents, c.offset)),
        dx(place<Right>(c.extents, c.offset)) {
    const std::size_t columns = c.extents[axis_index(c.extents, c.options.axis)];
    const std::size_t count = columns == 0 ? 0 : product(c.extents) / columns;
    auto sample = backward_sample<X>(c.function, count, columns);
    for (auto* const values : {&sample.y.values, &sample.dy.values})
      if (reversed) std::reverse(values->begin(), values->end());
    y.assign(rows_to_tensor(sample.y.values, c.extents, c.options.axis));
    dy.assign(rows_to_tensor(sample.dy.values, c.extents, c.options.axis));
    expected = reference_backward(c.function, sample.y, sample.dy, c.options.scale);
  }

  auto y_view() const { return y.template view<Right, 2, const X>(); }
  auto dy_view() const { return dy.template view<Right, 2, const X>(); }
  auto dx_view() const { return dx.template view<Right, 2>(); }

  void call(const BackwardPlanCase& c) const {
    call_backward(c.function, Exec{}, y_view(), dy_view(), dx_view(), c.options);
  }
  auto plan(const BackwardPlanCase& c, const Exec& exec = {}) const {
    return make_backward_plan(c.function, exec, y_view(), dy_view(), dx_view(), c.options);
  }
  template <class Plan>
  void execute(const Plan& plan) const {
    plan.execute(y_view(), dy_view(), dx_view());
  }

  ::testing::AssertionResult is_right(const BackwardPlanCase& c, const Field<X, Exec>& got) const {
    auto result =
        are_near<X>(tensor_to_rows(got.template read<T>(), c.extents, c.options.axis), expected);
    result = both(result, got.gaps_are_unchanged(), "something beside dx's elements was written");
    if (!result) result << "\n  in " << ::testing::PrintToString(c);
    return result;
  }
  ::testing::AssertionResult is_right(const BackwardPlanCase& c) const { return is_right(c, dx); }

  Field<X, Exec> y, dy, dx;
  ExpectedNumbers expected;
};

template <class C>
class BackwardPlans : public ::testing::Test {
 protected:
  using X = typename C::x_value;
  using Exec = typename C::exec;
  using Arrays = BackwardArrays<X, typename C::value, Exec>;

  template <class Body>
  static void for_each_case(const Body& body) {
    for (const auto function : backward_functions)
      for (const int axis : {0, 1})
        for (const Extents& extents :
             {Extents{1000, 7}, Extents{65, 128}, Extents{3, 12671}, Extents{1, 100003}})
          for (const std::size_t offset : {0, 1})
            body(BackwardPlanCase{.function = function,
                                  .extents = extents,
                                  .options = {.axis = axis, .scale = 0.5},
                                  .offset = offset});
  }

  using Matrix = Kokkos::View<X**, Kokkos::LayoutStride, typename Field<X, Exec>::Device,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Makes a matrix of 6 x 8 in `memory`; `first` and `strides` in elements.
  static Matrix matrix(const Field<X, Exec>& memory, std::size_t first,
                       const Extents& strides = {8, 1}, const Extents& extents = {6, 8}) {
    return Matrix(memory.data() + first,
                  Kokkos::LayoutStride(extents[0], strides[0], extents[1], strides[1]));
  }
};
TYPED_TEST_SUITE(BackwardPlans, SameTypeConfigs, ConfigName);

TYPED_TEST(BackwardPlans, BitsOfTheFunction) {
  TestFixture::for_each_case([](const BackwardPlanCase& c) {
    const typename TestFixture::Arrays arrays(c), others(c, true);
    const auto plan = arrays.plan(c);
    const auto check = [&](const auto& executed, bool reversed) {
      const typename TestFixture::Arrays of_function(c, reversed);
      of_function.call(c);
      executed.execute(plan);
      typename TypeParam::exec{}.fence();
      EXPECT_TRUE(executed.is_right(c));
      EXPECT_TRUE(same_bits(executed.dx.read(), of_function.dx.read())) << c;
      EXPECT_TRUE(executed.y.is_unchanged() && executed.dy.is_unchanged()) << c;
    };
    check(others, true);
    check(arrays, false);
    EXPECT_NE(plan.describe().find(std::string("KokkosSoftmax::") + to_string(c.function) + " of "),
              std::string::npos)
        << plan.describe();
  });
}

TYPED_TEST(BackwardPlans, OneKernelNoFenceNoAllocation) {
  TestFixture::for_each_case([](const BackwardPlanCase& c) {
    const typename TestFixture::Arrays arrays(c);
    const auto plan = arrays.plan(c);
    arrays.execute(plan);
    const Events events = record([&] {
      for (int i = 0; i < 10; ++i) arrays.execute(plan);
    });
    const Events of_function = record([&] { arrays.call(c); });
    typename TypeParam::exec{}.fence();
    ASSERT_EQ(of_function.kernels.size(), 1u) << c;
    EXPECT_EQ(events.kernels.size(), 10u) << c;
    for (const auto& kernel : events.kernels)
      EXPECT_EQ(kernel.label, of_function.kernels[0].label) << c;
    EXPECT_EQ(events.fences, std::vector<std::string>{});
    EXPECT_EQ(events.allocations, std::vector<std::string>{});
    EXPECT_EQ(events.copies, std::vector<std::string>{});
  });
}

// The description names the schedule that runs.
TYPED_TEST(BackwardPlans, Description) {
  using Exec = typename TypeParam::exec;
  std::vector<Algorithm> algorithms = {Algorithm::automatic, Algorithm::online};
  if (is_host_space<Exec>) algorithms.back() = Algorithm::host;
  for (const auto function : backward_functions)
    for (const Algorithm algorithm : algorithms) {
      const BackwardPlanCase c{
          .function = function, .extents = {65, 15}, .options = {.algorithm = algorithm}};
      const typename TestFixture::Arrays arrays(c);
      const auto plan = arrays.plan(c);
      const Events events = record([&] { arrays.execute(plan); });
      Exec{}.fence();
      EXPECT_TRUE(arrays.is_right(c));
      ASSERT_EQ(events.kernels.size(), 1u);
      const std::string& label = events.kernels[0].label;
      const std::size_t begin = label.find('[') + 1;
      const std::string ran = label.substr(begin, label.find(']') - begin);
      if (algorithm != Algorithm::automatic) {
        EXPECT_EQ(ran, to_string(algorithm));
      }
      for (const std::string& part :
           {std::string("65 rows of 15 columns of ") + TypeParam::values::name + " on " +
                Exec::name() + ": " + ran + "{",
            std::string(" (rule)")})
        EXPECT_NE(plan.describe().find(part), std::string::npos) << plan.describe();
    }
}

// dx can be y or dy, whatever Views the plan was made with.
// Whether a lane computes several neighbouring rows of a strided axis: half types do, and floats in
// clusters, if there are enough rows, all in aligned pairs.
TYPED_TEST(BackwardPlans, ChoiceForPairsOfNeighbours) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  using Matrix = Kokkos::View<X**, Kokkos::LayoutStride, Exec>;
  if (KokkosSoftmax::Impl::is_host_space<Exec>) GTEST_SKIP() << "for GPUs";
  const Exec exec;
  const std::size_t many =
      1024 * static_cast<std::size_t>(KokkosSoftmax::Impl::multiprocessors(exec));
  const auto is_in_pairs = [&](const Matrix& y, const Matrix& dy, Options options) {
    const auto plan = plan_softmax_backward(exec, y, dy, y, options);
    return plan.describe().find("access=vectors_across_rows") != std::string::npos;
  };
  const auto matrix = [](std::size_t columns, std::size_t count) {
    return Kokkos::View<X**, Right, Exec>(Kokkos::view_alloc("y", Kokkos::WithoutInitializing),
                                          columns, count);
  };
  for (const std::size_t columns : {4, 12, 30, 50, 100, 300})
    for (const std::size_t count : {many, many - 2, many + 1, std::size_t(1000)}) {
      const auto y = matrix(columns, count);
      const Kokkos::View<X**, Kokkos::LayoutLeft, Exec> apart(
          Kokkos::view_alloc("dy", Kokkos::WithoutInitializing), columns, count);
      const bool in_cluster = columns > 64;
      bool has_pairs = sizeof(X) == 2 || (sizeof(X) == 4 && in_cluster);
      if (in_cluster)
        has_pairs = has_pairs && is_served(Algorithm::cluster_column, [&] {
                      plan_softmax_backward(exec, y, y, y,
                                            {.axis = 0, .algorithm = Algorithm::cluster_column});
                    });
      const bool in_fours = sizeof(X) == 2 && columns <= 8;
      const bool are_enough = count % (in_fours ? 4 : 2) == 0 && count > 1000;
      EXPECT_EQ(is_in_pairs(y, y, {.axis = 0}), has_pairs && are_enough)
          << columns << " columns, " << count << " rows";
      EXPECT_FALSE(is_in_pairs(y, apart, {.axis = 0}));
      EXPECT_FALSE(is_in_pairs(y, y, {.axis = 0, .reproducible = true}));
    }
}

TYPED_TEST(BackwardPlans, InPlace) {
  for (const auto function : backward_functions)
    for (const Extents& extents : {Extents{65, 33}, Extents{3, 5001}})
      for (const bool in_dy : {false, true})
        for (const bool made_in_place : {false, true}) {
          const BackwardPlanCase c{.function = function, .extents = extents};
          const typename TestFixture::Arrays arrays(c);
          const auto& field = in_dy ? arrays.dy : arrays.y;
          const auto dx = field.template view<Right, 2>();
          const auto plan =
              made_in_place ? make_backward_plan(function, typename TypeParam::exec{},
                                                 arrays.y_view(), arrays.dy_view(), dx, c.options)
                            : arrays.plan(c);
          plan.execute(arrays.y_view(), arrays.dy_view(), dx);
          typename TypeParam::exec{}.fence();
          EXPECT_TRUE(arrays.is_right(c, field));
          EXPECT_TRUE((in_dy ? arrays.y : arrays.dy).is_unchanged());
        }
}

// The library allocates nothing either when the first work on an instance is the execution of a
// plan. Kokkos itself can allocate memory then.
TYPED_TEST(BackwardPlans, AllocatesNothingLater) {
  for (const auto& exec : other_instances(typename TypeParam::exec{}))
    for (const auto function : backward_functions) {
      const BackwardPlanCase c{.function = function, .extents = {1, 100003}};
      const typename TestFixture::Arrays arrays(c);
      const auto plan = arrays.plan(c, exec);
      for (const auto& label : record([&] { arrays.execute(plan); }).allocations)
        EXPECT_EQ(label.find("KokkosSoftmax"), std::string::npos) << label;
      exec.fence();
      EXPECT_TRUE(arrays.is_right(c));
    }
}

TYPED_TEST(BackwardPlans, OnTheDefaultInstance) {
  for (const auto function : backward_functions) {
    const BackwardPlanCase c{
        .function = function, .extents = {65, 33}, .options = {.axis = 0, .scale = 3}};
    const typename TestFixture::Arrays arrays(c);
    const auto y = arrays.y_view(), dy = arrays.dy_view();
    const auto dx = arrays.dx_view();
    if (function == BackwardFunction::softmax_backward)
      plan_softmax_backward(y, dy, dx, c.options).execute(y, dy, dx);
    else
      plan_log_softmax_backward(y, dy, dx, c.options).execute(y, dy, dx);
    typename TypeParam::exec{}.fence();
    EXPECT_TRUE(arrays.is_right(c));
  }
}

TYPED_TEST(BackwardPlans, NothingToDo) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  for (const auto function : backward_functions)
    for (const auto& [rows, columns] : {std::pair{0, 33}, std::pair{33, 0}, std::pair{0, 0}}) {
      const Kokkos::View<X**, Right, Exec> y("y", rows, columns);
      const auto plan = make_backward_plan(function, Exec{}, y, y, y, {});
      EXPECT_TRUE(record([&] { plan.execute(y, y, y); }).kernels.empty());
      EXPECT_NE(plan.describe().find("nothing to do"), std::string::npos) << plan.describe();
    }
}

TYPED_TEST(BackwardPlans, RefusesOtherShapes) {
  using Exec = typename TypeParam::exec;
  using Matrix = typename TestFixture::Matrix;
  const Field<typename TypeParam::x_value, Exec> memory(place_right({600}));
  const auto matrix = [&](auto... arguments) { return TestFixture::matrix(memory, arguments...); };
  const Extents strides{8, 1}, wide_strides{16, 1}, narrow{6, 7};
  const Matrix y = matrix(0), dy = matrix(200), dx = matrix(400);
  const auto plan = plan_log_softmax_backward(Exec{}, y, dy, dx);
  const auto refuses = [&](const Matrix& other_y, const Matrix& other_dy, const Matrix& other_dx,
                           const std::string& part) {
    return throws_with({"KokkosSoftmax::log_softmax_backward: ", part},
                       [&] { plan.execute(other_y, other_dy, other_dx); });
  };
  EXPECT_TRUE(refuses(matrix(0, strides, narrow), dy, dx, "extent 1 of log_y is 7 and not 8"));
  EXPECT_TRUE(refuses(y, matrix(200, strides, narrow), dx, "extent 1 of dy is 7 and not 8"));
  EXPECT_TRUE(refuses(y, dy, matrix(400, strides, narrow), "extent 1 of dx is 7 and not 8"));
  EXPECT_TRUE(refuses(matrix(0, wide_strides), dy, dx, "stride 0 of log_y is 16 and not 8"));
  EXPECT_TRUE(refuses(y, matrix(200, wide_strides), dx, "stride 0 of dy is 16 and not 8"));
  EXPECT_TRUE(refuses(y, dy, matrix(400, wide_strides), "stride 0 of dx is 16 and not 8"));
  EXPECT_TRUE(refuses(matrix(1), dy, dx, "the address of log_y modulo 16"));
  EXPECT_TRUE(refuses(y, matrix(201), dx, "the address of dy modulo 16"));
  EXPECT_TRUE(refuses(y, dy, matrix(401), "the address of dx modulo 16"));
  EXPECT_TRUE(refuses(y, dy, matrix(8), "log_y at"));
  EXPECT_TRUE(refuses(y, dy, matrix(208), "dy at"));
  EXPECT_TRUE(refuses(matrix(16), matrix(24), matrix(16), "dy at"));
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

TYPED_TEST(BackwardPlans, RefusesWhatTheFunctionRefuses) {
  using Exec = typename TypeParam::exec;
  using Matrix = typename TestFixture::Matrix;
  const Field<typename TypeParam::x_value, Exec> memory(place_right({600}));
  const Matrix y = TestFixture::matrix(memory, 0), dy = TestFixture::matrix(memory, 200),
               dx = TestFixture::matrix(memory, 400);
  const Matrix narrow = TestFixture::matrix(memory, 400, {8, 1}, {6, 7});
  const auto refuses = [&](const Matrix& other_dy, const Matrix& other_dx, const Options& options,
                           const std::string& part) {
    return throws_with({"KokkosSoftmax::softmax_backward: ", part},
                       [&] { plan_softmax_backward(Exec{}, y, other_dy, other_dx, options); });
  };
  EXPECT_TRUE(refuses(dy, dx, {.axis = 2}, "axis = 2"));
  EXPECT_TRUE(refuses(dy, dx, {.scale = std::numeric_limits<double>::infinity()}, "scale"));
  EXPECT_TRUE(refuses(narrow, dx, {}, "the extents (6, 7) of dy"));
  EXPECT_TRUE(refuses(dy, narrow, {}, "the extents (6, 7) of dx"));
  EXPECT_TRUE(refuses(dy, TestFixture::matrix(memory, 8), {}, "y at"));
  EXPECT_TRUE(refuses(dy, TestFixture::matrix(memory, 208), {}, "dy at"));
  for (const auto algorithm : {Algorithm::packed, Algorithm::fused_scratch, Algorithm::split})
    EXPECT_TRUE(
        refuses(dy, dx, {.algorithm = algorithm},
                "algorithm = " + std::string(to_string(algorithm)) + " can't serve 6 rows"));
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

}  // namespace
}  // namespace KokkosSoftmax::Test
